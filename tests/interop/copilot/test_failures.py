"""When a hook, the daemon or all of hookline breaks, Copilot CLI does not get through."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Session
from interop.arena import Arena, arena, config, conversation, rule
from interop.copilot.telling import heard, warned
from interop.copilot.wording import command, commands

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST = "pre_tool_use", "post_tool_use"

# ── a hook ──

HANG = "echo $$ > {root}/hanging; exec sleep 3600"

BROKEN = config(
    rule("crashes", PRE, match=command("touch crashed"), run="exit 3"),
    rule("is killed", PRE, match=command("touch killed"), run="kill -KILL $$"),
    rule("hangs", PRE, match=command("touch hung"), run=HANG, timeout="1s"),
    rule("raves", PRE, match=command("touch raved"), run="""echo '{"verdict": "maybe"}'"""),
    rule("is not there", PRE, match=command("touch missing"), run=["{root}/no-such-program"]),
    rule("says why", PRE, match=command("touch both"), deny="MK_BOTH"),
    rule("breaks beside it", PRE, match=command("touch both"), run="exit 3"),
    rule("crashes late", POST, match=command("touch late"), run="exit 3"),
)
NAMES = ("plain", "crashed", "killed", "hung", "raved", "missing", "both", "late", "last")


@pytest.fixture(scope="module")
def broken(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=BROKEN) as made:
        yield made


@pytest.fixture(scope="module")
def played(broken: Arena) -> Session:
    return broken.play(commands(*(f"touch {name}" for name in NAMES)))


@pytest.mark.parametrize(
    ("name", "hook"),
    [
        pytest.param("crashed", "crashes", marks=pytest.mark.proves("copilot", "failure.crash")),
        pytest.param("killed", "is killed", marks=pytest.mark.proves("copilot", "failure.signal")),
        pytest.param("hung", "hangs", marks=pytest.mark.proves("copilot", "failure.hang")),
        pytest.param("raved", "raves", marks=pytest.mark.proves("copilot", "failure.nonsense")),
        pytest.param(
            "missing", "is not there", marks=pytest.mark.proves("copilot", "failure.missing")
        ),
    ],
    ids=["crash", "signal", "hang", "nonsense", "missing"],
)
def test_what_a_broken_guard_should_have_judged_does_not_run(
    broken: Arena, played: Session, name: str, hook: str
) -> None:
    assert broken.ran("plain")
    assert broken.ran("last")
    assert not broken.ran(name)
    assert hook in heard(played, f"touch {name}")


@pytest.mark.proves("copilot", "failure.hang")
def test_a_guard_that_hangs_is_cut_off_and_gone(broken: Arena, played: Session) -> None:
    process = int(broken.beside("hanging"))
    assert not os.path.exists(f"/proc/{process}")
    assert broken.ran("last"), "the session went on"


@pytest.mark.proves("copilot", "several.deny-and-failure")
def test_a_deny_beside_a_broken_hook_still_says_why(broken: Arena, played: Session) -> None:
    assert not broken.ran("both")
    assert "MK_BOTH" in heard(played, "touch both")


@pytest.mark.proves("copilot", "failure.after-the-tool")
def test_a_hook_that_breaks_after_the_tool_takes_nothing_from_the_model(
    broken: Arena, played: Session
) -> None:
    assert broken.ran("late")
    assert "completed with exit code 0" in heard(played, "touch late")


# ── the daemon ──

# Hooks are children of whoever judges the event. Only the daemon is killed, not who steps in.
KILL = "test $HOOKLINE_ATTEMPT = 1 || exit 0; echo $PPID >> {root}/daemons; kill -KILL $PPID"

KILLED = config(
    rule("kills", PRE, match=command("touch kill-*"), run=KILL, priority=1),
    rule("denied", PRE, match=command("touch *denied"), deny="MK_DENIED"),
    rule("redacted", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("kills after", POST, match=command("cat secret.txt"), run=KILL, priority=1),
)


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    files = {"secret.txt": "MK_SECRET\n", "open.txt": "MK_OPEN\n"}
    with arena(CLIENT, copilot, config=KILLED, files=files) as made:
        yield made


@pytest.fixture(scope="module")
def killed(place: Arena) -> Session:
    words = ("touch one", "touch kill-denied", "touch two", "touch later-denied")
    return place.play(commands(*words, "cat open.txt", "cat secret.txt"))


@pytest.mark.proves("copilot", "failure.daemon-killed")
def test_an_event_during_which_the_daemon_is_killed_is_still_denied(
    place: Arena, killed: Session
) -> None:
    assert place.beside("daemons"), "a daemon was killed"
    assert place.ran("one")
    assert not place.ran("kill-denied")
    assert "MK_DENIED" in heard(killed, "touch kill-denied")


@pytest.mark.proves("copilot", "failure.daemon-killed")
def test_after_the_daemon_was_killed_the_next_event_is_judged_as_before(
    place: Arena, killed: Session
) -> None:
    assert place.ran("two")
    assert not place.ran("later-denied")
    assert "MK_DENIED" in heard(killed, "touch later-denied")


@pytest.mark.proves("copilot", "failure.daemon-killed-after-the-tool")
def test_output_is_redacted_though_the_daemon_is_killed_over_it(
    place: Arena, killed: Session
) -> None:
    assert len(place.beside("daemons").split()) == 2
    assert "MK_OPEN" in heard(killed, "cat open.txt")
    assert "MK_REDACTED" in heard(killed, "cat secret.txt")
    assert "MK_SECRET" not in killed.sent


@pytest.mark.proves("copilot", "daemon.starts-again")
def test_a_new_daemon_takes_the_place_of_one_that_was_killed(place: Arena, killed: Session) -> None:
    gone = {int(line) for line in place.beside("daemons").split()}
    assert len(gone) >= 2
    place.play(commands("touch three"))
    now = json.loads(place.hookline("daemon", "status", "--json").stdout)
    assert now["pid"] not in gone
    assert place.ran("three")


# ── hookline itself ──


@pytest.fixture
def whole(copilot: Program) -> Iterator[Arena]:
    with arena(
        CLIENT, copilot, config=config(rule("no", PRE, match=command("x"), deny="no"))
    ) as it:
        yield it


def hook_file(place: Arena) -> Path:
    """What ``hookline install`` has written."""
    return Path(place.room.home, ".copilot", "hooks", "hookline.json")


@pytest.mark.proves("copilot", "failure.hookline-gone")
def test_where_hookline_is_gone_nothing_gets_to_the_model_or_runs(whole: Arena) -> None:
    installed = hook_file(whole).read_text()
    hook_file(whole).write_text(installed.replace("hookline-client", "gone"))
    without = whole.play(commands("touch without"))
    assert not whole.ran("without")
    assert conversation(without) == []
    assert "hookline doctor" in warned(without)
    hook_file(whole).write_text(installed)
    whole.play(commands("touch with"))
    assert whole.ran("with")


@pytest.mark.proves("copilot", "failure.hookline-gone")
def test_where_hookline_goes_in_the_middle_the_tools_do_not_run_and_the_model_hears_why(
    whole: Arena,
) -> None:
    hooks = json.loads(hook_file(whole).read_text())
    for entry in (*hooks["hooks"]["preToolUse"], *hooks["hooks"]["permissionRequest"]):
        entry["bash"] = entry["bash"].replace("hookline-client", "gone")
    hook_file(whole).write_text(json.dumps(hooks))
    without = whole.play(commands("touch without"))
    assert not whole.ran("without")
    assert "hookline doctor" in heard(without, "touch without")


@pytest.mark.proves("copilot", "failure.broken-config")
def test_where_the_config_cannot_be_read_nothing_gets_to_the_model_or_runs(whole: Arena) -> None:
    text = whole.user_config.read_text()
    whole.user_config.write_text(text[:-5])
    without = whole.play(commands("touch without"))
    assert not whole.ran("without")
    assert conversation(without) == []
    assert "hookline.yaml" in warned(without)
    whole.user_config.write_text(text)
    whole.play(commands("touch with"))
    assert whole.ran("with")
