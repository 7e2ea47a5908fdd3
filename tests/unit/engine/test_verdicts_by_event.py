"""Law 4: which verdict means what on which event, for every pair of the two."""

from itertools import product

import pytest

from hookline.model.answers import Answer, Verdict, follow_up, halt
from hookline.model.hook import OnError
from hookline.model.outcome import Outcome
from support.engines import bound, fire
from support.lifecycle import ALL, ASKING, CONTINUING, DENYING, GRANTING
from support.strategies import bare_event


def said(verdict: Verdict, event: str) -> Outcome:
    answer = Answer(verdict=verdict, reason="because")
    return fire([bound("h", answer, events=(event,))], bare_event(event))


def changes(outcome: Outcome) -> list[tuple[str, str]]:
    return [(each.was, each.now) for each in outcome.substitutions]


def became_text(outcome: Outcome, verdict: str) -> bool:
    """The words reached the model or the person, and the record says which."""
    model, person = outcome.answer.context, outcome.answer.notice
    return (
        outcome.verdict is Verdict.PASS
        and (changes(outcome), model, person)
        in (([(verdict, "context")], ("because",), ()), ([(verdict, "notice")], (), ("because",)))
        and outcome.answer.follow_up == ()
    )


@pytest.mark.parametrize("event", ALL)
def test_allow_grants_where_a_question_can_be_skipped_and_is_pass_on_record_elsewhere(
    event: str,
) -> None:
    outcome = said(Verdict.ALLOW, event)

    if event in GRANTING:
        assert (outcome.verdict, changes(outcome)) == (Verdict.ALLOW, [])
    else:
        assert (outcome.verdict, changes(outcome)) == (Verdict.PASS, [("allow", "pass")])


@pytest.mark.parametrize("event", ALL)
def test_pass_is_pass(event: str) -> None:
    outcome = said(Verdict.PASS, event)

    assert (outcome.verdict, changes(outcome)) == (Verdict.PASS, [])


@pytest.mark.parametrize("event", ALL)
def test_ask_asks_where_somebody_can_be_asked_else_denies_else_becomes_text(event: str) -> None:
    outcome = said(Verdict.ASK, event)

    if event in ASKING:
        assert (outcome.verdict, changes(outcome)) == (Verdict.ASK, [])
    elif event in DENYING:
        assert (outcome.verdict, changes(outcome)) == (Verdict.DENY, [("ask", "deny")])
        assert outcome.reason.startswith("because")
    else:
        assert became_text(outcome, "ask")


@pytest.mark.parametrize("event", ALL)
def test_deny_denies_on_gates_and_outputs_continues_on_stops_and_is_text_elsewhere(
    event: str,
) -> None:
    outcome = said(Verdict.DENY, event)

    if event in CONTINUING:
        assert (outcome.verdict, changes(outcome)) == (Verdict.PASS, [])
        assert outcome.answer.follow_up == ("because",)
    elif event in DENYING:
        assert (outcome.verdict, changes(outcome)) == (Verdict.DENY, [])
        assert outcome.reason.startswith("because")
    else:
        assert became_text(outcome, "deny")


@pytest.mark.parametrize("event", ALL)
def test_halt_halts_everywhere(event: str) -> None:
    outcome = said(Verdict.HALT, event)

    assert (outcome.verdict, changes(outcome)) == (Verdict.HALT, [])
    assert outcome.reason.startswith("because")


@pytest.mark.parametrize(("event", "on_error"), list(product(ALL, OnError)))
def test_a_failed_hook_denies_where_deny_is_possible_and_never_more_than_it_was_asked_to(
    event: str, on_error: OnError
) -> None:
    failing = bound("h", OSError("disk full"), events=(event,), on_error=on_error)

    outcome = fire([failing], bare_event(event))

    assert [run.failed for run in outcome.runs] == ["OSError: disk full"]
    answer = outcome.answer
    if on_error is OnError.IGNORE:
        assert answer == Answer()
    elif on_error is OnError.BLOCK and event in DENYING:
        assert answer.verdict is Verdict.DENY
        assert "hook `h` failed: OSError: disk full" in answer.reason
        assert answer == Answer(verdict=Verdict.DENY, reason=answer.reason)
    else:
        assert answer == Answer(notice=("hook `h` failed: OSError: disk full",))


@pytest.mark.parametrize("event", ALL)
def test_follow_up_keeps_an_agent_going_on_the_stop_events_and_is_text_elsewhere(
    event: str,
) -> None:
    outcome = fire([bound("h", follow_up("because"), events=(event,))], bare_event(event))

    if event in CONTINUING:
        assert outcome.answer == follow_up("because")
        assert changes(outcome) == []
    else:
        assert became_text(outcome, "follow_up")


@pytest.mark.parametrize("event", sorted(CONTINUING))
@pytest.mark.parametrize("priorities", [(10, 90), (90, 10), (50, 50)])
def test_halt_beats_follow_up(event: str, priorities: tuple[int, int]) -> None:
    hooks = [
        bound("more", follow_up("go on"), events=(event,), priority=priorities[0]),
        bound("deny", Answer(verdict=Verdict.DENY, reason="fix"), events=(event,), priority=10),
        bound("end", halt("enough"), events=(event,), priority=priorities[1]),
    ]

    outcome = fire(hooks, bare_event(event))

    assert outcome.verdict is Verdict.HALT
    assert outcome.answer.follow_up == ()


@pytest.mark.parametrize("event", sorted(CONTINUING))
def test_a_deny_that_keeps_an_agent_going_does_not_end_the_chain(event: str) -> None:
    hooks = [
        bound("tests", Answer(verdict=Verdict.DENY, reason="tests fail"), events=(event,)),
        bound("lint", follow_up("lint fails"), events=(event,), priority=60),
    ]

    outcome = fire(hooks, bare_event(event))

    assert outcome.answer.follow_up == ("tests fail", "lint fails")
