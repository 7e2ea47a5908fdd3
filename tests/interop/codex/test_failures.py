"""When a hook, the daemon or the config breaks, Codex does not get through."""

import json
import os
from collections.abc import Iterator

import pytest

from hookline.lab.ports import Program, Session
from hookline.lab.script import Shell
from interop.arena import Arena, config, conversation, rule
from interop.codex.ground import command, commands, guarded, one_by_one
from interop.codex.telling import heard

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST = "pre_tool_use", "post_tool_use"

# ── a hook ──

HANG = "echo $$ > {root}/hanging; exec sleep 3600"

BROKEN = config(
    rule("crashes", PRE, match=command("touch crashed"), run="exit 3"),
    rule("is killed", PRE, match=command("touch killed"), run="kill -KILL $$"),
    rule("hangs", PRE, match=command("touch hung"), run=HANG, timeout="1s"),
    rule("raves", PRE, match=command("touch raved"), run="""echo '{"verdict": "maybe"}'"""),
    rule("is mute", PRE, match=command("touch muted"), run="exit 2"),
    rule("says why", PRE, match=command("touch both"), deny="MK_BOTH"),
    rule("breaks beside it", PRE, match=command("touch both"), run="exit 3"),
    rule("crashes late", POST, match=command("echo MK_LATE"), run="exit 3"),
)
NAMES = ("plain", "crashed", "killed", "hung", "raved", "muted", "both", "last")


@pytest.fixture(scope="module")
def broken(codex: Program) -> Iterator[Arena]:
    with guarded(codex, config=BROKEN) as made:
        yield made


@pytest.fixture(scope="module")
def played(broken: Arena) -> Session:
    return broken.play(commands(*(f"touch {name}" for name in NAMES), "echo MK_LATE"))


@pytest.mark.parametrize(
    ("name", "hook"),
    [
        pytest.param("crashed", "crashes", marks=pytest.mark.proves("codex", "failure.crash")),
        pytest.param("killed", "is killed", marks=pytest.mark.proves("codex", "failure.signal")),
        pytest.param("hung", "hangs", marks=pytest.mark.proves("codex", "failure.hang")),
        pytest.param("raved", "raves", marks=pytest.mark.proves("codex", "failure.nonsense")),
        pytest.param(
            "muted", "gave no reason", marks=pytest.mark.proves("codex", "failure.no-reason")
        ),
    ],
    ids=["crash", "signal", "hang", "nonsense", "no-reason"],
)
def test_what_a_broken_guard_should_have_judged_does_not_run(
    broken: Arena, played: Session, name: str, hook: str
) -> None:
    """The client itself would have let it run in all of these."""
    assert broken.ran("plain")
    assert broken.ran("last")
    assert not broken.ran(name)
    assert hook in heard(played, f"touch {name}")


@pytest.mark.proves("codex", "failure.hang")
def test_a_guard_that_hangs_is_cut_off_and_gone(broken: Arena, played: Session) -> None:
    process = int(broken.beside("hanging"))
    assert not os.path.exists(f"/proc/{process}")
    assert broken.ran("last"), "the session went on"


@pytest.mark.proves("codex", "several.deny-and-failure")
def test_a_deny_beside_a_broken_hook_still_says_why(broken: Arena, played: Session) -> None:
    assert not broken.ran("both")
    assert "MK_BOTH" in heard(played, "touch both")


@pytest.mark.proves("codex", "failure.after-the-tool")
def test_a_hook_that_breaks_after_the_tool_takes_nothing_from_the_model(played: Session) -> None:
    assert "Output:\nMK_LATE" in heard(played, "echo MK_LATE")


# ── the daemon ──

# Hooks are children of whoever judges the event. Only the daemon is killed, not who steps in.
KILL = "test $HOOKLINE_ATTEMPT = 1 || exit 0; echo $PPID >> {root}/daemons; kill -KILL $PPID"

KILLED = config(
    rule("kills", PRE, match=command("touch kill-*"), run=KILL, priority=1),
    rule("kills after", POST, match=command("cat secret.txt"), run=KILL, priority=1),
    rule("denied", PRE, match=command("touch *denied"), deny="MK_DENIED"),
    rule("redacted", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
)


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    files = {"secret.txt": "MK_SECRET\n", "open.txt": "MK_OPEN\n"}
    with guarded(codex, config=KILLED, files=files) as made:
        yield made


@pytest.fixture(scope="module")
def killed(place: Arena) -> Session:
    words = ("touch one", "touch kill-denied", "touch two", "touch later-denied")
    return place.play(commands(*words, "cat open.txt", "cat secret.txt", "touch three"))


@pytest.mark.proves("codex", "failure.daemon-killed")
def test_an_event_during_which_the_daemon_is_killed_is_still_denied(
    place: Arena, killed: Session
) -> None:
    assert place.beside("daemons"), "a daemon was killed"
    assert place.ran("one")
    assert not place.ran("kill-denied")
    assert "MK_DENIED" in heard(killed, "touch kill-denied")


@pytest.mark.proves("codex", "failure.daemon-killed")
def test_the_events_after_the_daemon_was_killed_are_judged_as_before(
    place: Arena, killed: Session
) -> None:
    assert place.ran("two")
    assert not place.ran("later-denied")
    assert "MK_DENIED" in heard(killed, "touch later-denied")


@pytest.mark.proves("codex", "failure.daemon-killed-after-the-tool")
def test_output_is_redacted_though_the_daemon_is_killed_while_it_is_judged(
    place: Arena, killed: Session
) -> None:
    assert len(set(place.beside("daemons").split())) == 2, "that was another daemon"
    assert "MK_OPEN" in heard(killed, "cat open.txt")
    assert "MK_REDACTED" in heard(killed, "cat secret.txt")
    assert "MK_SECRET" not in killed.sent
    assert place.ran("three")


# ── the config ──


@pytest.mark.proves("codex", "failure.broken-config")
def test_an_agent_that_breaks_the_config_of_its_guard_gets_nothing_more_done(
    codex: Program,
) -> None:
    denying = config(rule("denied", PRE, match=command("touch denied"), deny="MK_DENIED"))
    with guarded(codex, config=denying) as open_to_all:
        path = str(open_to_all.user_config)
        script = one_by_one(
            Shell("touch before"),
            Shell(f"printf %s {json.dumps(json.dumps('{'))} > '{path}'"),
            Shell("touch after"),
            Shell("touch denied"),
        )
        session = open_to_all.play(script)
    assert set(session.changed) == {"before"}
    assert "hookline.yaml" in heard(session, "touch after")
    assert len(conversation(session)) == len(script.turns) + 1
