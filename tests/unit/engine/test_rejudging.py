"""Law 5, case by case: what the guards say of the final input, and what is kept of it."""

import pytest

from hookline.model.answers import (
    PASS,
    Answer,
    Rewrite,
    Verdict,
    allow,
    ask,
    deny,
    halt,
    rewrite,
)
from hookline.model.events import Event, PromptTransformed
from hookline.model.hook import Mode, OnError
from hookline.model.outcome import Outcome
from support.engines import bound, command_of, fire, shell


def no_force(event: Event) -> Answer:
    return deny("force") if "--force" in command_of(event) else PASS


def again(outcome: Outcome) -> list[str]:
    return [run.hook.name for run in outcome.runs if run.rejudged]


forces = bound("forces", rewrite(command="push --force"), priority=40)


@pytest.mark.parametrize("priority", [20, 40, 60])
@pytest.mark.parametrize("waits", [False, True])
def test_a_guard_stops_a_rewrite_whatever_its_own_priority(priority: int, waits: bool) -> None:
    guard = bound("guard", no_force, guard=True, priority=priority, waits=waits)

    assert fire([guard, forces], shell("push")).verdict is Verdict.DENY


def test_a_hook_that_is_no_guard_is_not_asked_again() -> None:
    outcome = fire([bound("h", no_force, priority=20), forces], shell("push"))

    assert outcome.verdict is Verdict.PASS
    assert again(outcome) == []


def test_without_a_rewrite_nobody_is_asked_again() -> None:
    outcome = fire([bound("guard", no_force, guard=True)], shell("push"))

    assert again(outcome) == []


def test_a_rewrite_that_changes_nothing_is_none() -> None:
    same = bound("same", rewrite(command="push"), priority=40)

    outcome = fire([bound("guard", no_force, guard=True, priority=20), same], shell("push"))

    assert again(outcome) == []
    assert outcome.final is None


def test_a_guard_that_matches_only_the_final_input_judges_it() -> None:
    guard = bound(
        "guard", deny("no"), guard=True, priority=20, when=lambda e: "--force" in command_of(e)
    )

    outcome = fire([guard, forces], shell("push"))

    assert outcome.verdict is Verdict.DENY
    assert again(outcome) == ["guard"]
    assert outcome.runs[-1].seen is outcome.final


def test_a_guard_that_matches_only_the_original_input_is_not_asked_again() -> None:
    guard = bound(
        "guard", ask("hm"), guard=True, priority=20, when=lambda e: command_of(e) == "push"
    )

    outcome = fire([guard, forces], shell("push"))

    assert outcome.verdict is Verdict.ASK
    assert again(outcome) == []


def test_a_guard_that_has_seen_the_final_input_is_not_asked_again() -> None:
    guard = bound("guard", no_force, guard=True, priority=60)

    assert again(fire([forces, guard], shell("push"))) == []


def test_a_guard_that_is_only_observed_is_not_asked_again() -> None:
    guard = bound("guard", no_force, guard=True, priority=20, mode=Mode.OBSERVE)

    outcome = fire([guard, forces], shell("push"))

    assert outcome.verdict is Verdict.PASS
    assert again(outcome) == []


def test_once_denied_nobody_is_asked_again() -> None:
    hooks = [
        bound("guard", no_force, guard=True, priority=20),
        forces,
        bound("denies", deny("no"), priority=40),
    ]

    outcome = fire(hooks, shell("push"))

    assert outcome.verdict is Verdict.DENY
    assert again(outcome) == []


def test_a_guard_that_would_change_the_final_input_once_more_means_deny() -> None:
    grows = bound(
        "grows", lambda event: rewrite(command=command_of(event) + " -v"), guard=True, priority=40
    )

    outcome = fire([grows], shell("push"))

    assert outcome.verdict is Verdict.DENY
    assert "hook `grows` would change the rewritten input once more" in outcome.reason


def test_two_guards_that_rewrite_against_each_other_mean_deny() -> None:
    hooks = [
        bound("quiet", rewrite(command="push -q"), guard=True, priority=20),
        bound("loud", rewrite(command="push -v"), guard=True, priority=30),
    ]

    assert fire(hooks, shell("push")).verdict is Verdict.DENY


def test_a_guard_that_leaves_its_own_rewrite_alone_settles() -> None:
    settles = bound(
        "lease",
        Answer(context=("use a lease",), rewrite=Rewrite(input={"command": "push --lease"})),
        guard=True,
    )

    outcome = fire([settles], shell("push"))

    assert outcome.verdict is Verdict.PASS
    assert outcome.answer.rewrite.input == {"command": "push --lease"}
    assert outcome.answer.context == ("use a lease",)


@pytest.mark.parametrize("stop", [deny("never"), halt("over")], ids=["deny", "halt"])
def test_what_a_guard_says_of_the_final_input_is_not_lowered_by_a_rewrite_beside_it(
    stop: Answer,
) -> None:
    with_rewrite = Answer(
        verdict=stop.verdict, reason=stop.reason, rewrite=Rewrite(input={"command": "true"})
    )
    guard = bound(
        "guard", with_rewrite, guard=True, priority=20, when=lambda e: "--force" in command_of(e)
    )

    outcome = fire([guard, forces], shell("push"))

    assert outcome.verdict is stop.verdict


def test_what_a_guard_says_twice_is_heard_once() -> None:
    said = Answer(verdict=Verdict.ASK, reason="sure?", context=("careful",), notice=("look",))

    outcome = fire([bound("guard", said, guard=True, priority=20), forces], shell("push"))

    assert again(outcome) == ["guard"]
    assert outcome.reason.count("sure?") == 1
    assert (outcome.answer.context, outcome.answer.notice) == (("careful",), ("look",))


def test_what_a_guard_adds_about_the_final_input_is_heard() -> None:
    guard = bound(
        "guard",
        lambda event: Answer(
            verdict=Verdict.ASK, reason="sure?", context=("careful", command_of(event))
        ),
        guard=True,
        priority=20,
    )

    outcome = fire([guard, forces], shell("push"))

    assert outcome.reason.count("sure?") == 1
    assert outcome.answer.context == ("careful", "push", "push --force")


def test_another_reason_for_the_same_verdict_is_heard_too() -> None:
    guard = bound("guard", lambda event: ask(f"{command_of(event)}?"), guard=True, priority=20)

    reason = fire([guard, forces], shell("push")).reason

    assert "push?" in reason
    assert "push --force?" in reason


def test_an_allow_of_the_original_input_is_no_allow_of_the_final_one() -> None:
    grants = bound(
        "grants",
        lambda event: allow() if command_of(event) == "push" else PASS,
        guard=True,
        priority=20,
    )

    outcome = fire([grants, forces], shell("push"))

    assert outcome.verdict is Verdict.PASS
    assert [(each.was, each.now) for each in outcome.substitutions] == [("allow", "pass")]


def test_an_allow_that_a_guard_repeats_for_the_final_input_holds() -> None:
    grants = bound("grants", allow("pushing is fine"), guard=True, priority=20)

    outcome = fire([grants, forces], shell("push"))

    assert outcome.verdict is Verdict.ALLOW


def test_a_guard_that_allows_with_a_rewrite_and_allows_the_result_too_has_allowed_it() -> None:
    both = Answer(verdict=Verdict.ALLOW, rewrite=Rewrite(input={"command": "push --lease"}))

    assert fire([bound("h", both, guard=True)], shell("push")).verdict is Verdict.ALLOW


def test_an_allow_that_comes_only_with_the_final_input_holds() -> None:
    grants = bound(
        "grants",
        lambda event: allow() if "--force" in command_of(event) else PASS,
        guard=True,
        priority=20,
    )

    assert fire([grants, forces], shell("push")).verdict is Verdict.ALLOW


def test_a_guard_that_fails_on_the_final_input_blocks_it() -> None:
    def picky(event: Event) -> Answer:
        if "--force" in command_of(event):
            raise OSError("disk")
        return PASS

    guard = bound("guard", picky, guard=True, priority=20, on_error=OnError.BLOCK)

    outcome = fire([guard, forces], shell("push"))

    assert outcome.verdict is Verdict.DENY
    assert outcome.runs[-1].failed == "OSError: disk"


def test_where_nothing_can_be_denied_a_rewrite_that_does_not_settle_denies_nothing() -> None:
    """A hook on a gate event and on this one is a guard, and is asked again on both."""

    def grows(event: Event) -> Answer:
        return rewrite(prompt=event.matchable("prompt") + "!")

    hook = bound("grows", grows, guard=True, events=("user_prompt_submit", "prompt_transformed"))

    outcome = fire([hook], PromptTransformed(prompt="hi"))

    assert outcome.verdict is Verdict.PASS


def test_an_allow_does_not_hold_for_variables_that_another_hook_sets() -> None:
    """``LD_PRELOAD`` turns an allowed command into another one."""
    hooks = [bound("allows", allow()), bound("sets", rewrite(env={"LD_PRELOAD": "x"}))]

    outcome = fire(hooks, shell("git status"))

    assert outcome.verdict is Verdict.PASS
    assert any(change.was == "allow" for change in outcome.substitutions)


def test_a_hook_may_allow_what_it_sets_itself() -> None:
    both = Answer(verdict=Verdict.ALLOW, rewrite=Rewrite(env={"A": "1"}))

    assert fire([bound("h", both)], shell("git status")).verdict is Verdict.ALLOW
