"""A halt ends the run of Codex where the client lets it; else nothing more gets through."""

from collections.abc import Iterator, Sequence

import pytest

from hookline.lab.clients._codex_talk import Talk
from hookline.lab.ports import Program, Session
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, config, conversation, rule
from interop.codex.ground import Spoken, command, guarded, halting, notice, speak
from interop.codex.telling import heard, shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


def halting_once(reason: str, file: str) -> str:
    """A program that halts when this file is in the project, and takes it away."""
    return f"if rm {{root}}/project/{file} 2>&-; then {halting(reason)}; fi"


HOOKS = config(
    rule("before", "pre_tool_use", match=command("touch at-pre"), run=halting("MK_PRE")),
    rule("after", "post_tool_use", match=command("touch at-post"), run=halting("MK_POST")),
    rule("asking", "before_llm_call", run=halting_once("MK_ASKING", "at-asking")),
    rule("answered", "after_llm_call", run=halting_once("MK_ANSWERED", "at-answered")),
    rule("on", "stop", run="if grep -q MK_SAID_STOP; then echo MK_GO_ON >&2; exit 2; fi"),
    rule("end", "stop", run=halting("MK_STOPPED", "MK_SAID_STOP_NOW")),
    rule("word", "stop", run=notice("MK_WORD")),
    max_follow_ups=2,
)

ROUNDS = {
    "MK_ROUND_PRE": (Shell("touch one"), Shell("touch at-pre"), Shell("touch never-pre")),
    "MK_ROUND_POST": (Shell("touch two"), Shell("touch at-post"), Shell("touch never-post")),
    "MK_ROUND_ASKING": (Shell("touch at-asking"), Shell("touch never-asking")),
    "MK_ROUND_ANSWERED": (Shell("touch at-answered"), Shell("touch never-answered")),
    "MK_ROUND_LAST": (Shell("touch last"),),
}


def rounds() -> Iterator[Turn]:
    for acts in ROUNDS.values():
        yield from (Turn(do=(act,)) for act in acts)
        yield Turn("MK_ROUND_OVER")


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    with guarded(codex, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def halted(place: Arena) -> Session:
    def talk(it: Talk) -> Sequence[str]:
        return [it.say(each) for each in ROUNDS]

    script = Script(prompt="MK_ROUND_PRE", turns=tuple(rounds()))
    return speak(place, script, talk).session


@pytest.mark.proves("codex", "PreToolUse.halt=latch")
def test_a_halt_before_a_tool_refuses_it_and_all_that_follow(place: Arena, halted: Session) -> None:
    assert place.ran("one")
    assert not place.ran("at-pre")
    assert not place.ran("never-pre")
    assert "MK_PRE" in heard(halted, "touch at-pre")
    assert "MK_PRE" in heard(halted, "touch never-pre")


@pytest.mark.proves("codex", "PostToolUse.halt=latch")
def test_a_halt_after_a_tool_refuses_all_that_follow(place: Arena, halted: Session) -> None:
    assert place.ran("two")
    assert place.ran("at-post")
    assert not place.ran("never-post")
    assert "MK_POST" in heard(halted, "touch never-post")


@pytest.mark.proves("codex", "PreModelRequest.halt=latch")
def test_a_halt_before_a_request_to_the_model_refuses_what_the_model_then_wants(
    place: Arena, halted: Session
) -> None:
    assert not place.ran("never-asking")
    assert "MK_ASKING" in heard(halted, "touch never-asking")


@pytest.mark.proves("codex", "PostModelRequest.halt=latch")
def test_a_halt_after_an_answer_of_the_model_refuses_what_it_wants(
    place: Arena, halted: Session
) -> None:
    assert not place.ran("never-answered")
    assert "MK_ANSWERED" in heard(halted, "touch never-answered")


def test_the_persons_next_prompt_is_obeyed_again(place: Arena, halted: Session) -> None:
    assert place.ran("two")
    assert place.ran("last")
    assert "MK_ROUND_LAST" in halted.sent


# ── when the model wants to stop ──


@pytest.fixture(scope="module")
def stopped(place: Arena, halted: Session) -> Spoken:
    turns = tuple(Turn(f"MK_SAID_STOP {number}") for number in range(5))
    return speak(place, Script(prompt="MK_STOPPING", turns=turns))


@pytest.mark.proves("codex", "Stop.fires", "Stop.follow_up", "continuation.goes-on")
def test_a_model_that_wants_to_stop_is_sent_on_with_the_reason(stopped: Spoken) -> None:
    asked = conversation(stopped.session)
    assert len(asked) > 1
    assert "MK_GO_ON" not in str(asked[0].body)
    assert "MK_GO_ON" in str(asked[1].body)


@pytest.mark.proves("codex", "limits.follow-ups", "continuation.is-capped")
def test_it_is_sent_on_no_more_often_than_the_config_says(stopped: Spoken) -> None:
    """The client itself would go on for ever."""
    assert len(conversation(stopped.session)) == 1 + 2


@pytest.mark.proves("codex", "Stop.notice")
def test_a_notice_at_the_end_is_shown_to_the_person(stopped: Spoken) -> None:
    assert "MK_WORD" in shown(stopped.talk, "stop")
    assert "MK_WORD" not in stopped.session.sent


@pytest.mark.proves("codex", "Stop.halt")
def test_a_halt_at_the_end_beats_the_hook_that_wants_to_go_on(
    place: Arena, stopped: Spoken
) -> None:
    assert "MK_GO_ON" in stopped.session.sent, "without the halt it does go on"
    script = Script(prompt="MK_STOPPING", turns=(Turn("MK_SAID_STOP_NOW"),))
    ended = speak(place, script)
    assert len(conversation(ended.session)) == 1
    assert "stopped" in [run.status for run in ended.talk.hook_runs if run.event == "stop"]
