"""Law 6: who runs when, who sees what, and who runs not at all."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from hookline.model.answers import PASS, Answer, Rewrite, Verdict, context, deny, halt, rewrite
from hookline.model.events import Event, Other, PreToolUse, UserPromptSubmit
from hookline.model.hook import Mode, OnError
from hookline.model.outcome import Outcome, Substitution
from hookline.model.ports import Call
from hookline.model.tools import tool
from support.engines import bound, command_of, fire, shell
from support.strategies import bare_event


def ran(outcome: Outcome) -> list[str]:
    return [run.hook.name for run in outcome.runs]


def reporting(event: Event) -> Answer:
    return context(command_of(event))


def test_an_event_that_no_hook_is_on_passes_untouched() -> None:
    event = Other(native_event="Unheard")

    outcome = fire([bound("h", deny("no"))], event)

    assert outcome == Outcome(event=event)


def test_a_hook_runs_on_each_of_its_events_and_on_no_other() -> None:
    hook = bound("h", PASS, events=("stop", "session_end"))

    assert ran(fire([hook], bare_event("stop"))) == ["h"]
    assert ran(fire([hook], bare_event("session_end"))) == ["h"]
    assert ran(fire([hook], bare_event("pre_tool_use"))) == []


def test_a_hook_whose_condition_does_not_hold_does_not_run() -> None:
    hooks = [
        bound("ls only", deny("no"), when=lambda event: command_of(event) == "ls"),
        bound(
            "ls only, slowly", deny("no"), when=lambda event: command_of(event) == "ls", waits=True
        ),
    ]

    assert ran(fire(hooks, shell("pwd"))) == []
    assert ran(fire(hooks, shell("ls"))) == ["ls only", "ls only, slowly"]


def test_hooks_of_one_priority_run_at_the_same_time() -> None:
    """Each waits until the other has begun: one after the other, neither would ever answer."""
    begun = {"a": asyncio.Event(), "b": asyncio.Event()}

    def begins_and_waits_for(other: str) -> Callable[[Call], Coroutine[Any, Any, None]]:
        async def pause(call: Call) -> None:
            begun[call.hook.name].set()
            await begun[other].wait()

        return pause

    outcome = fire(
        [
            bound("a", context("a"), pause=begins_and_waits_for("b"), on_error=OnError.BLOCK),
            bound("b", context("b"), pause=begins_and_waits_for("a"), on_error=OnError.BLOCK),
        ],
        shell("ls"),
    )

    assert outcome.answer == context("a", "b")


def test_a_later_priority_begins_only_when_the_earlier_one_is_done() -> None:
    steps: list[str] = []

    async def step(call: Call) -> None:
        steps.append(f"{call.hook.name} begins")
        await asyncio.sleep(1)
        steps.append(f"{call.hook.name} ends")

    fire(
        [bound("late", PASS, pause=step, priority=60), bound("early", PASS, pause=step)],
        shell("ls"),
    )

    assert steps == ["early begins", "early ends", "late begins", "late ends"]


def test_hooks_that_wait_and_hooks_that_do_not_share_a_tier_in_configured_order() -> None:
    hooks = [
        bound("a", context("a"), waits=True),
        bound("b", context("b")),
        bound("c", context("c"), waits=True),
    ]

    outcome = fire(hooks, shell("ls"))

    assert outcome.answer == context("a", "b", "c")
    assert ran(outcome) == ["a", "b", "c"]


@pytest.mark.parametrize("waits", [False, True])
def test_a_tier_sees_what_the_tier_before_made_of_the_input(waits: bool) -> None:
    hooks = [
        bound("sees the first", reporting, priority=10, waits=waits),
        bound("first", rewrite(command="ls -a"), priority=10, waits=waits),
        bound("sees the second", reporting, priority=20, waits=waits),
        bound("second", rewrite(command="ls -al"), priority=20, waits=waits),
        bound("sees the last", reporting, priority=30, waits=waits),
    ]

    outcome = fire(hooks, shell("ls"))

    assert outcome.answer.context == ("ls", "ls -a", "ls -al")
    assert outcome.final is not None
    assert command_of(outcome.final) == "ls -al"
    assert outcome.answer.rewrite == Rewrite(input={"command": "ls -al"})
    assert outcome.event is outcome.runs[0].seen


def test_a_prompt_is_piped_on_like_a_tools_input() -> None:
    def loud(event: Event) -> Answer:
        assert isinstance(event, UserPromptSubmit)
        return rewrite(prompt=event.prompt.upper())

    on = ("user_prompt_submit",)
    outcome = fire(
        [bound("a", rewrite(prompt="hello"), events=on), bound("b", loud, events=on, priority=60)],
        UserPromptSubmit(prompt="hi"),
    )

    assert isinstance(outcome.final, UserPromptSubmit)
    assert outcome.final.prompt == outcome.answer.rewrite.prompt == "HELLO"


def test_two_of_one_tier_that_want_different_things_are_reported_and_the_later_counts() -> None:
    hooks = [
        bound("quiet", Answer(rewrite=Rewrite(input={"command": "ls -q", "timeout": 5}))),
        bound("long", Answer(rewrite=Rewrite(input={"command": "ls -l", "timeout": 5}))),
    ]

    outcome = fire(hooks, shell("ls"))

    assert outcome.substitutions == (
        Substitution(
            "rewrite of input.command by `quiet`",
            "rewrite of input.command by `long`",
            "both have the same priority; the one configured later counts",
        ),
    )
    assert outcome.answer.rewrite.input == {"command": "ls -l", "timeout": 5}


def test_two_that_mean_one_key_by_different_names_disagree_too() -> None:
    event = PreToolUse(tool=tool("exec_command", cmd="ls"))

    outcome = fire(
        [bound("normal", rewrite(command="pwd")), bound("native", rewrite(cmd="id"))], event
    )

    assert [each.was for each in outcome.substitutions] == ["rewrite of input.cmd by `normal`"]
    assert outcome.answer.rewrite.input == {"cmd": "id"}


def test_a_disagreement_with_a_hook_that_is_only_observed_is_none() -> None:
    hooks = [
        bound("observed", rewrite(command="a"), mode=Mode.OBSERVE),
        bound("enforced", rewrite(command="b")),
    ]

    outcome = fire(hooks, shell("ls"))

    assert outcome.substitutions == ()
    assert outcome.answer.rewrite.input == {"command": "b"}


@pytest.mark.parametrize("ends", [deny("no"), halt("over")], ids=["deny", "halt"])
@pytest.mark.parametrize("waits", [False, True])
def test_deny_and_halt_end_the_chain_but_not_for_hooks_marked_always(
    ends: Answer, waits: bool
) -> None:
    hooks = [
        bound("ends it", ends, waits=waits),
        bound("same tier", context("heard"), waits=waits),
        bound("later", context("unheard"), priority=60, waits=waits),
        bound("always", context("audited"), priority=60, always=True, waits=waits),
        bound("last", context("unheard"), priority=70, waits=waits),
    ]

    outcome = fire(hooks, shell("ls"))

    assert ran(outcome) == ["ends it", "same tier", "always"]
    assert outcome.answer.context == ("heard", "audited")
    assert outcome.verdict is ends.verdict


def test_a_halt_of_a_hook_marked_always_counts_after_a_deny() -> None:
    hooks = [bound("deny", deny("no")), bound("halt", halt("over"), priority=60, always=True)]

    assert fire(hooks, shell("ls")).verdict is Verdict.HALT


def test_what_is_only_observed_ends_nothing_and_changes_nothing() -> None:
    hooks = [
        bound("would deny", deny("no"), mode=Mode.OBSERVE),
        bound("would rewrite", rewrite(command="x"), mode=Mode.OBSERVE),
        bound("would grant", Answer(verdict=Verdict.ALLOW), mode=Mode.OBSERVE),
        bound("later", reporting, priority=60),
    ]

    outcome = fire(hooks, shell("ls"))

    assert outcome.answer == context("ls")
    assert outcome.final is None
    assert [run.answer.verdict for run in outcome.runs][:1] == [Verdict.DENY]


def test_identical_hooks_run_once_at_the_first_ones_place() -> None:
    hooks = [
        bound("a", context("a"), same_as="twin"),
        bound("b", context("b")),
        bound("c", context("c"), same_as="twin"),
    ]

    outcome = fire(hooks, shell("ls"))

    assert ran(outcome) == ["a", "b"]


@pytest.mark.parametrize(
    "different",
    [
        {"priority": 60},
        {"events": ("pre_tool_use", "stop")},
        {"project_dir": "/elsewhere"},
        {"env": ("PATH",)},
        {"speaks": "codex"},
        {"when": lambda event: True},
    ],
    ids=lambda keys: next(iter(keys)),
)
def test_hooks_that_differ_in_what_they_do_or_when_all_run(different: dict[str, Any]) -> None:
    hooks = [bound("a", PASS, same_as="x"), bound("b", PASS, same_as="x", **different)]

    assert sorted(ran(fire(hooks, shell("ls")))) == ["a", "b"]


def test_of_identical_hooks_the_strictest_rule_for_failure_counts() -> None:
    failure = OSError("disk")
    hooks = [
        bound("a", failure, same_as="twin", on_error=OnError.IGNORE),
        bound("b", failure, same_as="twin", on_error=OnError.BLOCK),
        bound("c", failure, same_as="twin", on_error=OnError.WARN),
    ]

    assert fire(hooks, shell("ls")).verdict is Verdict.DENY


def test_an_identical_hook_that_is_only_observed_does_not_weaken_the_one_in_force() -> None:
    hooks = [
        bound("observed", deny("no"), same_as="twin", mode=Mode.OBSERVE),
        bound("enforced", deny("no"), same_as="twin"),
    ]

    assert fire(hooks, shell("ls")).verdict is Verdict.DENY
