"""What a session remembers: a latch until the next prompt, and how often an agent was kept going."""

import pytest
from msgspec.structs import replace

from hookline.model.answers import Verdict, follow_up
from hookline.model.denials import Denial
from hookline.model.events import (
    Agent,
    Event,
    InstructionsLoaded,
    PreToolUse,
    SessionResume,
    SessionStart,
    Setup,
    Stop,
    UserPromptSubmit,
)
from hookline.model.memory import SessionMemory, capped, closed, combined, latched, on_event
from hookline.model.outcome import Outcome

HALTED = SessionMemory(latch="enough")


def stop(active: bool = True, agent: str = "root") -> Stop:
    return Stop(stop_hook_active=active, agent=Agent(name=agent))


def test_a_latch_denies_every_gate_with_the_same_reason() -> None:
    held = latched(HALTED, PreToolUse())
    assert held is not None
    assert (held.verdict, held.reason) == (Verdict.DENY, "enough")


@pytest.mark.parametrize("event", [SessionStart(), Stop()])
def test_a_latch_neither_touches_other_events_nor_keeps_an_agent_going(event: object) -> None:
    assert latched(HALTED, event) is None  # type: ignore[arg-type]


def test_without_a_latch_nothing_is_held() -> None:
    assert latched(SessionMemory(), PreToolUse()) is None


def test_the_persons_next_prompt_opens_the_latch() -> None:
    assert on_event(HALTED, UserPromptSubmit(prompt="go on"), has_stop_flag=True).latch == ""


def test_what_one_agent_tells_another_opens_no_latch() -> None:
    prompt = UserPromptSubmit(prompt="go on", agent=Agent(name="helper", depth=1))
    assert on_event(HALTED, prompt, has_stop_flag=True) == HALTED


def test_what_a_client_says_by_itself_opens_no_latch_and_takes_nothing_from_what_was_denied() -> (
    None
):
    memory = replace(
        HALTED,
        denials=(Denial(call="x", hook="kept", reason="no", acts=()),),
        follow_ups={"root": 3},
    )
    prompt = UserPromptSubmit(prompt="a task has ended", automatic=True)
    for has_stop_flag in (True, False):
        assert on_event(memory, prompt, has_stop_flag=has_stop_flag) == memory


def test_our_own_follow_up_is_not_the_persons_prompt() -> None:
    memory = SessionMemory(latch="enough", last_follow_up="run the tests", follow_ups={"root": 3})
    seen = on_event(memory, UserPromptSubmit(prompt="run the tests"), has_stop_flag=False)
    assert seen == memory


def test_a_stop_that_is_no_continuation_starts_the_count_again() -> None:
    memory = SessionMemory(follow_ups={"root": 5, "helper": 2})
    seen = on_event(memory, stop(active=False), has_stop_flag=True)
    assert seen.follow_ups == {"root": 0, "helper": 2}


def test_a_stop_that_is_a_continuation_keeps_the_count() -> None:
    memory = SessionMemory(follow_ups={"root": 5})
    assert on_event(memory, stop(), has_stop_flag=True) == memory


def test_without_the_flag_only_a_prompt_starts_the_count_again() -> None:
    memory = SessionMemory(follow_ups={"root": 5})
    assert on_event(memory, stop(active=False), has_stop_flag=False) == memory
    assert on_event(memory, UserPromptSubmit(prompt="x"), has_stop_flag=False).follow_ups == {}


def test_follow_ups_are_counted_per_agent_and_end_at_the_limit() -> None:
    memory = SessionMemory()
    for _ in range(3):
        memory, outcome = capped(memory, Outcome(event=stop(), answer=follow_up("more")), limit=3)
        assert outcome.answer.follow_up == ("more",)
    memory, other = capped(memory, Outcome(event=stop(agent="b"), answer=follow_up("x")), limit=3)
    assert other.answer.follow_up == ("x",)

    memory, outcome = capped(memory, Outcome(event=stop(), answer=follow_up("more")), limit=3)

    assert outcome.answer.follow_up == ()
    assert "3 times" in outcome.answer.notice[0]


def test_an_outcome_without_a_follow_up_changes_nothing() -> None:
    outcome = Outcome(event=stop())
    assert capped(HALTED, outcome, limit=1) == (HALTED, outcome)


def test_overlapping_events_do_not_undo_each_others_changes() -> None:
    before = SessionMemory(follow_ups={"root": 1})
    counted = SessionMemory(follow_ups={"root": 2}, last_follow_up="more")
    halted_meanwhile = SessionMemory(latch="enough", follow_ups={"root": 1, "b": 4})

    stored = combined(before, counted, halted_meanwhile)

    assert stored.latch == "enough"
    assert stored.follow_ups == {"root": 2, "b": 4}
    assert combined(before, SessionMemory(), halted_meanwhile).follow_ups == {}


@pytest.mark.parametrize("active", [True, False])
def test_a_stop_that_is_asked_about_twice_counts_once(active: bool) -> None:
    """The process that answered first may have died before its answer left."""
    event = stop(active=active)
    memory = SessionMemory(follow_ups={"root": 3})
    counts = []
    for _ in range(2):
        memory = on_event(memory, event, has_stop_flag=True)
        memory, _ = capped(memory, Outcome(event=event, answer=follow_up("more")), limit=8)
        counts.append(memory.follow_ups["root"])
    assert counts == ([4, 4] if active else [1, 1])


def test_the_last_time_stays_the_last_when_asked_about_twice() -> None:
    memory = SessionMemory(follow_ups={"root": 2})
    event = stop()
    for _ in range(2):
        outcome = Outcome(event=event, answer=follow_up("more"))
        memory, outcome = capped(memory, outcome, limit=3)
        assert outcome.answer.follow_up == ("more",)
    memory, outcome = capped(memory, Outcome(event=stop(), answer=follow_up("more")), limit=3)
    assert not outcome.answer.follow_up


@pytest.mark.parametrize("event", [SessionStart(), SessionResume(), Setup(), InstructionsLoaded()])
def test_a_halt_before_the_first_prompt_holds_that_prompt_back_and_the_next_one_opens_it(
    event: Event,
) -> None:
    memory = closed(SessionMemory(), event, "enough")
    prompt = UserPromptSubmit(prompt="go on")

    memory = on_event(memory, prompt, has_stop_flag=True)
    held = latched(memory, prompt)
    assert held is not None
    assert held.reason == "enough"
    assert latched(memory, PreToolUse()) is not None

    memory = on_event(memory, prompt, has_stop_flag=True)
    assert latched(memory, prompt) is None


def test_a_halt_in_the_middle_of_a_turn_is_opened_by_the_next_prompt() -> None:
    memory = closed(SessionMemory(), PreToolUse(), "enough")
    assert on_event(memory, UserPromptSubmit(prompt="go on"), has_stop_flag=True).latch == ""


def test_a_prompt_that_was_held_back_is_not_held_again_by_an_event_beside_it() -> None:
    before = SessionMemory(latch="enough", holds_prompt=True)
    after = SessionMemory(latch="enough")
    assert not combined(before, after, before).holds_prompt


def test_a_line_that_one_event_adds_survives_what_another_delivers() -> None:
    before = SessionMemory(carried=("a",))
    added = replace(before, carried=("a", "b"))

    assert combined(before, SessionMemory(), added).carried == ("b",)
    assert combined(SessionMemory(), SessionMemory(carried=("c",)), added).carried == (
        "a",
        "b",
        "c",
    )
    assert combined(before, added, SessionMemory()).carried == ("b",)
