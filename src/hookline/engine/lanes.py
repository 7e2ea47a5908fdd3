"""Hooks of other platforms that run one after another, as their own platform runs them.

Knows order; must not know handlers, or how answers are merged.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from hookline.engine.merge import fit
from hookline.engine.plan import Bound
from hookline.model.answers import NO_REWRITE, PASS, Answer, Verdict
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import Event
from hookline.model.hook import Lane
from hookline.model.outcome import Run
from hookline.model.rewriting import native_input, rewritten
from hookline.model.tools import ToolTable

__all__ = ["run_lanes"]

RunOne: TypeAlias = Callable[[Bound, Event], Awaitable[Run | None]]


async def run_lanes(
    hooks: Sequence[Bound], event: Event, run: RunOne, table: ToolTable
) -> list[Run]:
    """The runs of one tier: lanes at the same time, and in each of them one after another."""
    lanes: dict[object, list[Bound]] = {}
    for bound in hooks:
        lane = bound.hook.lane
        lanes.setdefault(id(bound) if lane is None else lane.name, []).append(bound)
    import asyncio  # slow to load, and most events have no lanes

    runs = await asyncio.gather(*(_run_lane(each, event, run, table) for each in lanes.values()))
    order = {id(bound.hook): place for place, bound in enumerate(hooks)}
    return sorted((run for lane in runs for run in lane), key=lambda run: order[id(run.hook)])


async def _run_lane(
    lane: Sequence[Bound], event: Event, run_one: RunOne, table: ToolTable
) -> list[Run]:
    rule = lane[0].hook.lane
    if rule is not None and rule.first_rewrites:
        import asyncio

        found = await asyncio.gather(*(run_one(bound, event) for bound in lane))
        return _keep_first_rewrite([run for run in found if run is not None])
    runs: list[Run] = []
    for bound in lane:
        run = await run_one(bound, event)
        if run is None:
            continue
        rule = bound.hook.lane
        if rule is not None and rule.last_counts and not run.failed and _speaks(run, rule):
            runs = [each if each.failed else replace(each, superseded=True) for each in runs]
        runs.append(run)
        if rule is not None and _ends(run, rule):
            break
        if rule is not None and rule.piped:
            event = _as_rewritten(event, run.answer, table)
    return runs


def _keep_first_rewrite(runs: list[Run]) -> list[Run]:
    is_taken = False
    for place, run in enumerate(runs):
        if run.failed or not run.counts or not run.answer.rewrite:
            continue
        if is_taken:
            answer = replace(run.answer, rewrite=NO_REWRITE)
            runs[place] = replace(run, answer=answer)
        is_taken = True
    return runs


def _ends(run: Run, rule: Lane) -> bool:
    verdict = run.answer.verdict
    return (rule.deny_ends and verdict >= Verdict.DENY) or (
        rule.halt_ends and verdict is Verdict.HALT
    )


def _speaks(run: Run, rule: Lane) -> bool:
    return rule.silence_counts or run.answer is not PASS


def _as_rewritten(event: Event, answer: Answer, table: ToolTable) -> Event:
    """What the next in the lane sees; an answer that does not count changes nothing."""
    try:
        answer, _ = fit(answer, event)
    except HandlerAnswerError:
        return event
    if answer.rewrite.input is not None:
        patch = native_input(event, answer.rewrite.input, table)
        answer = replace(answer, rewrite=replace(answer.rewrite, input=patch))
    return rewritten(event, answer.rewrite, table)
