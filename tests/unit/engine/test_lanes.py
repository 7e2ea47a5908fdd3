"""Hooks of other platforms run in the order their platform runs them, inside their tier."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.engine.plan import Bound
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, allow, context, deny, rewrite
from hookline.model.events import Event
from hookline.model.hook import Lane, OnError
from hookline.model.outcome import Outcome
from hookline.model.ports import Call
from support.engines import bound, command_of, fire, shell

ONE_BY_ONE = Lane(name="one by one")
PIPED = Lane(name="piped", piped=True)
FAST = Lane(name="fast", deny_ends=True)
LAST = Lane(name="last", last_counts=True)


def laned(lane: Lane, name: str, says: Any, **options: Any) -> Bound:
    made = bound(name, says, waits=True, **options)
    return Bound(replace(made.hook, lane=lane), made.handler)


def ran(outcome: Outcome) -> list[str]:
    return [run.hook.name for run in outcome.runs]


def reporting(event: Event) -> Answer:
    return context(command_of(event))


def begins(order: list[str], name: str) -> Callable[[Call], Coroutine[Any, Any, None]]:
    async def pause(call: Call) -> None:
        order.append(f"{name} begins")
        await asyncio.sleep(0)
        order.append(f"{name} ends")

    return pause


def test_hooks_of_one_lane_run_one_after_another() -> None:
    order: list[str] = []
    hooks = [
        Bound(replace(made.hook, lane=ONE_BY_ONE), made.handler)
        for name in ("a", "b")
        for made in [bound(name, PASS, pause=begins(order, name))]
    ]

    fire(hooks, shell("ls"))

    assert order == ["a begins", "a ends", "b begins", "b ends"]


def test_lanes_and_single_hooks_of_a_tier_run_at_the_same_time() -> None:
    """Each waits until the other has begun: one after the other, neither would ever answer."""
    begun = {"laned": asyncio.Event(), "single": asyncio.Event()}

    def waits_for(own: str, other: str) -> Callable[[Call], Coroutine[Any, Any, None]]:
        async def pause(call: Call) -> None:
            begun[own].set()
            await begun[other].wait()

        return pause

    made = bound("laned", PASS, pause=waits_for("laned", "single"))
    single = bound("single", PASS, pause=waits_for("single", "laned"))

    outcome = fire([Bound(replace(made.hook, lane=PIPED), made.handler), single], shell("ls"))

    assert ran(outcome) == ["laned", "single"]


def test_runs_are_told_in_configured_order_whatever_lane_they_are_in() -> None:
    hooks = [
        laned(PIPED, "a", PASS),
        bound("b", PASS, waits=True),
        laned(PIPED, "c", PASS),
        laned(FAST, "d", PASS),
    ]

    assert ran(fire(hooks, shell("ls"))) == ["a", "b", "c", "d"]


def test_in_a_piped_lane_each_sees_what_those_before_it_made_of_the_input() -> None:
    hooks = [
        laned(PIPED, "a", rewrite(command="ls -a")),
        laned(PIPED, "b", lambda event: rewrite(command=command_of(event) + " -l")),
        laned(PIPED, "c", reporting),
    ]

    outcome = fire(hooks, shell("ls"))

    assert outcome.answer.context == ("ls -a -l",)
    assert outcome.final is not None
    assert command_of(outcome.final) == "ls -a -l"
    assert not outcome.substitutions, "who saw the first rewrite does not disagree with it"


def test_in_any_other_lane_all_see_the_same_input() -> None:
    hooks = [
        laned(ONE_BY_ONE, "a", rewrite(command="ls -a")),
        laned(ONE_BY_ONE, "b", reporting),
    ]

    assert fire(hooks, shell("ls")).answer.context == ("ls",)


def test_a_rewrite_that_does_not_count_is_not_piped_on() -> None:
    nonsense = Answer(rewrite=Rewrite(output="no such thing before a tool runs"))
    hooks = [laned(PIPED, "a", nonsense), laned(PIPED, "b", reporting)]

    assert "ls" in fire(hooks, shell("ls")).answer.context


def test_a_deny_ends_a_lane_in_which_it_does() -> None:
    hooks = [laned(FAST, "a", deny("no")), laned(FAST, "b", deny("never heard"))]

    outcome = fire(hooks, shell("ls"))

    assert ran(outcome) == ["a"]
    assert outcome.reason.startswith("no")


def test_a_deny_does_not_end_any_other_lane() -> None:
    hooks = [laned(PIPED, "a", deny("one")), laned(PIPED, "b", deny("two"))]

    assert ran(fire(hooks, shell("ls"))) == ["a", "b"]


def test_where_the_last_counts_an_earlier_answer_is_only_written_down() -> None:
    outcome = fire([laned(LAST, "a", deny("no")), laned(LAST, "b", PASS)], shell("ls"))

    assert outcome.verdict is Verdict.PASS
    assert [(run.hook.name, run.superseded) for run in outcome.runs] == [("a", True), ("b", False)]
    assert outcome.as_json()["runs"][0]["superseded"] is True


def test_where_the_last_counts_a_failed_one_leaves_the_earlier_answer_standing() -> None:
    broken = laned(LAST, "b", RuntimeError("boom"), on_error=OnError.WARN)

    outcome = fire([laned(LAST, "a", deny("no")), broken], shell("ls"))

    assert outcome.verdict is Verdict.DENY


@pytest.mark.parametrize("lane", [ONE_BY_ONE, PIPED, FAST, LAST])
def test_no_lane_takes_anything_from_a_hook_outside_of_it(lane: Lane) -> None:
    hooks = [bound("guard", deny("no")), laned(lane, "a", allow("fine")), laned(lane, "b", PASS)]

    assert fire(hooks, shell("ls")).verdict is Verdict.DENY
