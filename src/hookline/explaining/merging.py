"""How the answers of all hooks became one outcome, told from the record in sentences.

Knows the laws of merging as words; must not know what is in force now.
"""

from collections.abc import Iterator, Sequence

from hookline.explaining.recorded import (
    counted,
    deciders,
    is_latched,
    was_answered_before,
)
from hookline.model.errors import sentence
from hookline.model.events import EVENTS, Event
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.verdicts import BLOCKING, Verdict

__all__ = ["how_merged"]


def how_merged(recorded: Recorded) -> Iterator[str]:
    """One sentence for each thing that made the outcome what it is."""
    kind = EVENTS.get(recorded.event)
    if recorded.failure:
        yield _unjudged(recorded, kind)
        return
    if was_answered_before(recorded):
        yield (
            "No hook was asked: the same call had come in through another entry a moment before, "
            "and that answer was given again."
        )
        return
    if is_latched(recorded):
        yield (
            "No hook was asked: the session had been halted, and every gate stays closed until "
            "the person's next prompt."
        )
        return
    yield _verdict(recorded)
    for run in recorded.runs:
        yield from _of_run(run, recorded, kind)


def _unjudged(recorded: Recorded, kind: type[Event] | None) -> str:
    why = sentence(recorded.failure)
    if kind is None or (kind.gate and not kind.continues):
        return f"No hook's word counted: {why} What cannot be judged is not let through."
    return f"No hook's word counted: {why} Nothing can be held back on `{recorded.event}`."


def _verdict(recorded: Recorded) -> str:
    verdict = recorded.verdict
    spoken = [run for run in counted(recorded) if run.verdict != Verdict.PASS]
    if not recorded.runs:
        return "No hook ran, so the decision was left to the client."
    if verdict == Verdict.PASS and (going := deciders(recorded)):
        return f"{_who(going)} kept the agent going; on `{recorded.event}` a deny means that."
    if verdict == Verdict.PASS:
        why = "none of what was said counts here" if spoken else "no hook held it back"
        return f"pass: {why}, so the decision was left to the client."
    winners = deciders(recorded)
    if not winners:
        return f"{verdict}: {sentence(recorded.reason or 'no hook of the record said so')}"
    if verdict == Verdict.ALLOW:
        return f"allow: {_who(winners)} allowed it, and no hook asked, denied or halted."
    others = sorted(
        {run.verdict for run in spoken if run not in winners},
        key=lambda word: -_strictness(word),
    )
    if not others:
        return f"{verdict}: {_who(winners)} said so, and nothing stricter was said."
    return f"{verdict}: {_who(winners)} said so, the strictest of {verdict}, {', '.join(others)}."


def _strictness(word: str) -> int:
    return Verdict(word).strictness if word in set(Verdict) else 0


def _who(runs: Sequence[RecordedRun]) -> str:
    names = dict.fromkeys(f"`{run.hook}` ({run.source})" for run in runs)
    return " and ".join(names)


def _of_run(run: RecordedRun, recorded: Recorded, kind: type[Event] | None) -> Iterator[str]:
    who = f"`{run.hook}`"
    if run.failed is not None:
        yield f"{who} failed: {sentence(run.failed)} {_policy(run, kind)}"
    if run.mode == "observe" and run.verdict != Verdict.PASS:
        yield f"{who} would have said {run.verdict}; `mode: observe` only writes that down."
    if run.superseded:
        yield f"{who} was overruled by a later hook of its file, as its own platform has it."
    if run.rejudged:
        yield f"{who} judged the input once more, after another hook had rewritten it."
    softened = run.verdict in BLOCKING and recorded.verdict == Verdict.PASS
    if softened and run in counted(recorded) and kind is not None and not kind.continues:
        yield f"{who} said {run.verdict}, and nothing can be held back on `{recorded.event}`."


def _policy(run: RecordedRun, kind: type[Event] | None) -> str:
    if run.verdict == Verdict.DENY:
        return "With `on_error: block`, as guards have it, that is a deny."
    told = "notice" in run.effects
    if told and kind is not None and (kind.gate or kind.hides):
        return "With `on_error: warn`, the person is told and the event goes on."
    return (
        "The person is told and the event goes on."
        if told
        else "With `on_error: ignore`, so be it."
    )
