"""Sub-agents and stopping: hooks reach into both, and keep Gemini CLI going."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Agent, Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, texts, witness
from interop.gemini.hooks import command, halt, notice, saying, when
from interop.gemini.telling import heard, shown, told_at

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HELPER = "MK_HELPER do your part"
OTHER = "MK_OTHER do a forbidden part"


def once(text: str) -> str:
    """A program that keeps an agent going the first time it wants to stop."""
    mark = f"{{root}}/{text}"
    return f"test -e {mark} && exit 0; touch {mark}; echo {text} >&2; exit 2"


PRE, POST = "pre_tool_use", "post_tool_use"
HOOKS = config(
    witness("stop", PRE, POST),
    rule("denied", PRE, match=command("touch sub-denied"), deny="MK_DENIED"),
    rule("other", PRE, match=command("touch sub-original"), rewrite={"input": {"command": "touch sub-other"}}),
    rule("redact", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("no helper", PRE, match={"tool": "agent"}, run=when("MK_OTHER", "echo MK_NO_HELPER >&2; exit 2")),
    rule("keep", "stop", run=once("MK_GO_ON")),
    rule("keep too", "stop", run=once("MK_ALSO_THIS")),
    rule("tell", "stop", run=notice("MK_STOPPING")),
    rule("more", "stop", run=saying(context=["MK_STOP_CONTEXT"])),
)  # fmt: skip

SCRIPT = Script(
    prompt="MK_PROMPT",
    files={"secret.txt": "MK_SECRET\n"},
    turns=(
        Turn(
            do=(
                Agent(
                    HELPER,
                    (
                        Turn(do=(Shell("touch sub-ran"),)),
                        Turn(do=(Shell("touch sub-denied"),)),
                        Turn(do=(Shell("touch sub-original"),)),
                        Turn(do=(Shell("cat secret.txt"),)),
                        Turn("MK_REPORT"),
                    ),
                ),
            )
        ),
        Turn(do=(Agent(OTHER, (Turn(do=(Shell("touch other-ran"),)),)),)),
        Turn("MK_ENOUGH_OF_ALL"),
        Turn(do=(Shell("touch went-on"),)),
        Turn("MK_REALLY_ENOUGH"),
    ),
)


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS, files=SCRIPT.files) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


# ── sub-agents ──


@pytest.mark.proves("gemini", "subagent.deny")
def test_a_sub_agents_command_is_denied_and_its_twin_runs(place: Arena, played: Session) -> None:
    assert place.ran("sub-ran")
    assert not place.ran("sub-denied")
    assert "MK_DENIED" in heard(played, "touch sub-denied", HELPER)


@pytest.mark.proves("gemini", "subagent.input")
def test_a_sub_agents_rewritten_command_is_the_one_that_runs(place: Arena, played: Session) -> None:
    assert place.ran("sub-other")
    assert not place.ran("sub-original")


@pytest.mark.proves("gemini", "subagent.output")
def test_redacted_output_is_what_a_sub_agent_sees(played: Session) -> None:
    assert "MK_REDACTED" in heard(played, "cat secret.txt", HELPER)
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("gemini", "subagent.fires")
def test_hooks_are_shown_what_a_sub_agent_calls(place: Arena, played: Session) -> None:
    called = [each["tool"].get("command") for each in place.witnessed() if "tool" in each]
    assert called.count("touch sub-ran") == 2, "before and after"


@pytest.mark.proves("gemini", "subagent.deny")
def test_a_sub_agent_that_is_denied_never_begins_and_its_twin_does(
    place: Arena, played: Session
) -> None:
    assert conversation(played, HELPER)
    assert "MK_REPORT" in heard(played, "MK_HELPER")
    assert not conversation(played, OTHER)
    assert not place.ran("other-ran")
    assert "MK_NO_HELPER" in heard(played, "MK_OTHER")


# ── stopping ──


@pytest.mark.proves("gemini", "AfterAgent.fires", "AfterAgent.follow_up", "continuation.happens")
def test_the_agent_is_kept_going_and_then_may_stop(place: Arena, played: Session) -> None:
    assert place.ran("went-on")
    assert "MK_GO_ON" in told_at(played, -1)
    assert b"MK_REALLY_ENOUGH" in played.stdout
    assert played.exit_code == 0
    assert place.natives().count("AfterAgent") == 2


@pytest.mark.proves("gemini", "several.follow-ups")
def test_of_two_hooks_that_keep_it_going_the_model_hears_both(played: Session) -> None:
    first = next(each for each in conversation(played) if "MK_GO_ON" in texts(each.body))
    assert "MK_ALSO_THIS" in texts(first.body)


@pytest.mark.proves("gemini", "AfterAgent.notice", "AfterAgent.context=notice")
def test_what_else_is_said_at_the_stop_is_shown_to_the_person(played: Session) -> None:
    for text in ("MK_STOPPING", "MK_STOP_CONTEXT"):
        assert text in shown(played)
        assert text not in played.sent


ENDLESS = config(
    rule("on and on", "stop", run=when("MK_STUBBORN", "echo MK_AGAIN >&2; exit 2")),
    rule("but no more", "stop", run=when("MK_STUBBORN_HALT", halt("MK_HALT"))),
    rule("tell", "stop", run=notice("MK_STOPPING")),
    max_follow_ups=3,
)


@pytest.fixture(scope="module")
def endless(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=ENDLESS) as made:
        yield made


def stubborn(word: str) -> Script:
    return Script(prompt="MK_PROMPT", turns=(Turn(word),) * 20)


@pytest.mark.proves("gemini", "continuation.capped")
def test_an_agent_is_kept_going_only_as_often_as_the_config_says(endless: Arena) -> None:
    played = endless.play(stubborn("MK_STUBBORN"))
    assert len(conversation(played)) == 1 + 3
    assert told_at(played, -1).count("MK_AGAIN") == 3
    assert played.exit_code == 0


@pytest.mark.proves("gemini", "AfterAgent.halt")
def test_a_halt_at_the_stop_outweighs_what_would_keep_it_going(endless: Arena) -> None:
    played = endless.play(stubborn("MK_STUBBORN_HALT"))
    assert len(conversation(played)) == 1
    assert "MK_AGAIN" not in played.sent
    assert "MK_HALT" in shown(played)
