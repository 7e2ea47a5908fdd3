"""Laws 1, 3 and 6 on whole engines: fake handlers, generated hooks, real select-run-merge."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, allow, rewrite
from hookline.model.errors import HandlerCrashed
from hookline.model.events import Event
from hookline.model.hook import Layer, Mode, OnError, Source
from hookline.model.outcome import Outcome
from hookline.model.ports import NOBODY
from support.engines import bound, command_of, finishing_in, fire, run, shell, untimed, waiting
from support.strategies import answers, any_event, priorities, rewrites

HELD_BACK = (Verdict.ASK, Verdict.DENY, Verdict.HALT)
CONTINUING = ("stop", "subagent_stop", "teammate_idle", "task_completed")
flags = st.booleans()


def hooks_on(event: Event, rewritten: st.SearchStrategy[Rewrite]) -> st.SearchStrategy[list[Bound]]:
    """Hooks that answer this event always the same, at any priority and in any role."""
    roles: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {"priority": priorities, "guard": flags, "always": flags},
        optional={"mode": st.just(Mode.OBSERVE)},
    )
    entries = st.lists(st.tuples(answers(rewritten), roles), min_size=1, max_size=5)
    return entries.map(
        lambda chosen: [
            bound(f"h{number}", answer, events=(event.event_id(),), **keys)
            for number, (answer, keys) in enumerate(chosen)
        ]
    )


def cases(events: st.SearchStrategy[Event]) -> st.SearchStrategy[tuple[Event, list[Bound]]]:
    return events.flatmap(
        lambda event: st.tuples(st.just(event), hooks_on(event, rewrites(sorted(event.rewrites))))
    )


def names(hooks: Sequence[Bound]) -> list[str]:
    return [each.hook.name for each in hooks]


def first_runs(outcome: Outcome) -> list[str]:
    return [run.hook.name for run in outcome.runs if not run.rejudged]


# Law 1: merging


@settings(max_examples=200)
@given(cases(any_event()), st.data())
def test_the_outcome_does_not_depend_on_who_finishes_first(
    case: tuple[Event, list[Bound]], data: st.DataObject
) -> None:
    event, hooks = case
    order = data.draw(st.permutations(names(hooks)), label="finishing order")

    at_once = fire(hooks, event)
    in_some_order = fire(waiting(hooks, finishing_in(order)), event)

    assert untimed(in_some_order) == untimed(at_once)


@settings(max_examples=200)
@given(cases(any_event()), answers(rewrites(())), priorities, st.data())
def test_one_more_hook_never_lowers_an_ask_a_deny_or_a_halt(
    case: tuple[Event, list[Bound]], said: Answer, priority: int, data: st.DataObject
) -> None:
    event, hooks = case
    place = data.draw(st.integers(0, len(hooks)))
    more = bound("one more", said, events=(event.event_id(),), priority=priority)
    before = fire(hooks, event).verdict

    after = fire([*hooks[:place], more, *hooks[place:]], event).verdict

    if before in HELD_BACK:
        # A deny ends the chain (law 6), so a later halt may not be heard; that is still a deny.
        ends_the_chain = fire([more], event).verdict is Verdict.DENY
        assert after >= (min(before, Verdict.DENY) if ends_the_chain else before)


@given(cases(any_event()), priorities, st.sampled_from([PASS, Answer()]), st.data())
def test_a_hook_that_passes_changes_nothing_wherever_it_stands(
    case: tuple[Event, list[Bound]], priority: int, nothing: Answer, data: st.DataObject
) -> None:
    event, hooks = case
    place = data.draw(st.integers(0, len(hooks)))
    silent = bound("silent", nothing, events=(event.event_id(),), priority=priority, guard=True)

    without = fire(hooks, event)
    beside = fire([*hooks[:place], silent, *hooks[place:]], event)

    assert beside.answer == without.answer
    assert beside.substitutions == without.substitutions
    assert beside.final == without.final


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(priorities, st.sampled_from("abc"), st.none() | st.sampled_from("abc")),
        min_size=1,
        max_size=5,
    )
)
def test_an_allow_holds_only_if_its_hook_saw_the_final_input(
    players: list[tuple[int, str, str | None]],
) -> None:
    def says(grants: str, turns: str | None) -> Callable[[Event], Answer]:
        otherwise = rewrite(command=turns) if turns else PASS
        return lambda event: allow("fine") if command_of(event) == grants else otherwise

    hooks = [
        bound(f"h{number}", says(grants, turns), priority=priority)
        for number, (priority, grants, turns) in enumerate(players)
    ]

    outcome = fire(hooks, shell("a"))

    final = outcome.final or outcome.event
    granted = [run for run in outcome.runs if run.answer.verdict is Verdict.ALLOW]
    assert (outcome.verdict is Verdict.ALLOW) == any(run.seen is final for run in granted)
    dropped = [run for run in granted if run.seen is not final]
    assert [(each.was, each.now) for each in outcome.substitutions if each.was == "allow"] == [
        ("allow", "pass")
    ] * len(dropped)


@given(st.lists(st.tuples(st.sampled_from(Layer), answers()), min_size=1, max_size=4), flags)
def test_a_projects_allow_is_pass_unless_the_user_lets_projects_allow(
    said: list[tuple[Layer, Answer]], project_allow: bool
) -> None:
    hooks = [
        bound(f"h{number}", replace(answer, rewrite=Rewrite()), source=Source("f", 1, layer))
        for number, (layer, answer) in enumerate(said)
    ]
    trusted = [
        answer.verdict
        for layer, answer in said
        if answer.verdict is not Verdict.ALLOW or project_allow or layer < Layer.PROJECT
    ]
    distrusted = len(said) - len(trusted)

    outcome = fire(hooks, shell("ls"), project_allow=project_allow)

    assert (outcome.verdict is Verdict.ALLOW) == (
        Verdict.ALLOW in trusted and not set(HELD_BACK) & set(trusted)
    )
    downgraded = [each for each in outcome.substitutions if "project_allow" in each.why]
    assert [(each.was, each.now) for each in downgraded] == [("allow", "pass")] * distrusted


# Law 3: failure

failures = st.sampled_from(
    [
        HandlerCrashed("exit code 7"),
        ValueError("no\nluck"),
        TimeoutError(),
        RecursionError("too deep"),
        MemoryError(),
        StopAsyncIteration(),
        ExceptionGroup("several", [OSError("disk")]),
    ]
)


@settings(max_examples=200)
@given(cases(any_event()), failures, st.sampled_from(OnError), priorities, flags, st.data())
def test_a_failed_hook_does_what_its_on_error_says_and_the_other_verdicts_survive(
    case: tuple[Event, list[Bound]],
    failure: Exception,
    on_error: OnError,
    priority: int,
    waits: bool,
    data: st.DataObject,
) -> None:
    event, others = case
    place = data.draw(st.integers(0, len(others)))
    failing = bound(
        "failing",
        failure,
        waits=waits,
        events=(event.event_id(),),
        on_error=on_error,
        priority=priority,
    )

    alone = fire([failing], event)
    without = fire(others, event)
    beside = fire([*others[:place], failing, *others[place:]], event)

    assert [run.failed is not None for run in alone.runs] == [True]
    blocks = on_error is OnError.BLOCK and (event.gate or event.hides) and not event.continues
    assert alone.verdict is (Verdict.DENY if blocks else Verdict.PASS)
    if blocks:
        assert beside.verdict >= Verdict.DENY or "failing" not in first_runs(beside)
    else:
        assert len(alone.answer.notice) == (on_error is not OnError.IGNORE)
        assert replace(beside.answer, notice=()) == replace(without.answer, notice=())
        heard = alone.answer.notice if "failing" in first_runs(beside) else ()
        assert sorted(beside.answer.notice) == sorted((*without.answer.notice, *heard))


@given(any_event(CONTINUING), failures, st.sampled_from(OnError), flags)
def test_a_failed_hook_never_keeps_an_agent_going(
    event: Event, failure: Exception, on_error: OnError, waits: bool
) -> None:
    failing = bound("f", failure, waits=waits, events=CONTINUING, on_error=on_error)

    outcome = fire([failing], event)

    assert outcome.answer.follow_up == ()
    assert outcome.verdict is Verdict.PASS


# Law 6: order


@given(cases(any_event()))
def test_hooks_run_by_ascending_priority_and_ties_in_configured_order(
    case: tuple[Event, list[Bound]],
) -> None:
    event, hooks = case
    ran = first_runs(fire(hooks, event))

    by_priority = names(sorted(hooks, key=lambda each: each.hook.priority))
    assert ran == [name for name in by_priority if name in ran]


@given(cases(any_event()))
def test_after_a_deny_or_a_halt_only_hooks_marked_always_run(
    case: tuple[Event, list[Bound]],
) -> None:
    event, hooks = case
    outcome = fire(hooks, event)
    enders = [
        each.hook.priority
        for each in hooks
        if each.counts and fire([each], event).verdict >= Verdict.DENY
    ]
    last_tier = min(enders, default=100)

    assert set(first_runs(outcome)) == {
        each.hook.name for each in hooks if each.always or each.hook.priority <= last_tier
    }


@given(
    st.lists(
        st.tuples(st.sampled_from(OnError), st.sampled_from(Mode), flags, flags),
        min_size=2,
        max_size=4,
    )
)
def test_identical_hooks_run_once_as_the_strictest_of_them(
    twins: list[tuple[OnError, Mode, bool, bool]],
) -> None:
    hooks = [
        bound(f"h{number}", PASS, same_as="h0", on_error=e, mode=m, guard=g, always=a)
        for number, (e, m, g, a) in enumerate(twins)
    ]

    (only,) = fire(hooks, shell("ls")).runs

    strictest = next(e for e in reversed(OnError) if e in {twin[0] for twin in twins})
    assert only.hook == replace(
        hooks[0].hook,
        on_error=strictest,
        mode=Mode.ENFORCE if any(twin[1] is Mode.ENFORCE for twin in twins) else Mode.OBSERVE,
        guard=any(twin[2] for twin in twins),
        always=any(twin[3] for twin in twins),
    )


# Derived events: further events of one moment


@settings(max_examples=200)
@given(cases(any_event()), cases(any_event()), flags)
def test_a_further_event_of_the_moment_lowers_nothing_and_asks_no_hook_twice(
    case: tuple[Event, list[Bound]], further: tuple[Event, list[Bound]], ended: bool
) -> None:
    (event, hooks), (other, more) = case, further
    both = [
        Bound(replace(each.hook, events=(event.event_id(), other.event_id())), each.handler)
        for each in hooks
    ]
    renamed = [Bound(replace(each.hook, name=f"m{each.hook.name}"), each.handler) for each in more]
    engine = Engine([*both, *renamed])

    async def judge() -> tuple[Outcome, Outcome]:
        first = await engine.handle(event)
        return first, await engine.extend(first, other, NOBODY, ended=ended)

    before, after = run(judge())

    if before.verdict in HELD_BACK:
        assert after.verdict >= before.verdict
    assert after.event is before.event
    asked = [run.hook.name for run in after.runs if not run.rejudged]
    assert len(asked) == len(set(asked))
    assert set(before.answer.context) <= set(after.answer.context) or after.substitutions
