"""Recorded events against another config: what would have come out otherwise, and how often.

Knows how to lay two outcomes side by side; must not know where events or configs come from.
"""

from collections.abc import Iterable, Iterator, Set
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from hookline.explaining.cases import Case, recorded_outcome
from hookline.explaining.judging import Doing, Judge, Judged
from hookline.explaining.recorded import counted, deciders, is_latched, was_answered_before
from hookline.model.answers import Verdict
from hookline.model.events import EVENTS
from hookline.model.journal import Recorded

__all__ = ["CHANGES", "Difference", "Report", "Side", "replay"]

CHANGES = ("milder", "unknown", "stricter", "text")
"""What is worse than the same, the worst first; ``unknown`` where that depends on a hook that was
not run and of which nothing is known."""


class Side(Struct, frozen=True, kw_only=True):
    """One of the two outcomes: what was decided, by whom, in which words."""

    verdict: str
    reasons: tuple[str, ...]
    texts: tuple[str, ...]
    """What else was said, but for what builtins tell of the moment."""
    by: tuple[str, ...]
    """The hooks that decided, with file and line."""

    @property
    def strictness(self) -> tuple[int, bool]:
        """By which two are compared; to keep an agent going is stricter than to let it stop."""
        goes_on = any(text.startswith("follow_up") for text in self.texts)
        return Verdict(self.verdict).strictness, goes_on


_Doubted: TypeAlias = tuple[Side, Set[Doing]]
"""One side, and the hooks of it that were not run and of which nothing is known."""


class Difference(Struct, frozen=True, kw_only=True):
    """One event that comes out otherwise."""

    change: str
    """``milder``, ``unknown``, ``stricter`` or ``text``."""
    name: str
    event: str
    subject: str
    was: Side
    now: Side
    approximate: bool
    """What was stored of the event is not all there was: it may differ for that alone."""
    unknown: tuple[str, ...] = ()
    """Hooks that were not run, and might have said more."""


class Report(Struct, kw_only=True):
    """What came of a replay."""

    counts: dict[str, int]
    """``same``, ``milder``, ``unknown``, ``stricter`` and ``text``."""
    approximate: dict[str, int]
    """The same for events that were stored redacted or cut."""
    skipped: dict[str, int]
    """Events that could not be compared, by the reason."""
    unread: list[tuple[str, str]]
    """Some of those that could not be read, each with what is wrong with it."""
    by_two: bool
    """Whether two configs are compared on the same payloads, rather than one with the record."""
    recalled: dict[str, int]
    """Hooks that were not run but taken to say what they said, and on how many events."""
    unknown: dict[str, int]
    """Hooks that were not run and counted as pass, and on how many events."""
    notes: list[str]
    """What is to be known of the configs that were asked."""
    differences: list[Difference]

    @property
    def differs(self) -> bool:
        """Whether anything that is known for certain comes out otherwise."""
        # Of a payload that is not whole two configs still say for certain that they differ.
        return any(
            self.counts[change] or (self.by_two and self.approximate[change]) for change in CHANGES
        )

    @property
    def judged(self) -> int:
        """How many events were judged again."""
        return sum(self.counts.values()) + sum(self.approximate.values())


async def replay(
    cases: Iterable[Case], now: Judge, then: Judge | None = None, *, examples: int = 10
) -> Report:
    """Every case judged again, against its record or against another judge.

    Of each kind of difference ``examples`` are kept. Raises HooklineError when a config is wrong.
    """
    report = Report(
        counts=dict.fromkeys(("same", *CHANGES), 0),
        approximate=dict.fromkeys(("same", *CHANGES), 0),
        skipped={},
        unread=[],
        by_two=then is not None,
        recalled={},
        unknown={},
        notes=[],
        differences=[],
    )
    for case in cases:
        why = _skipped(case, then is None)
        if why:
            _count(report.skipped, why)
            if case.event is None and len(report.unread) < examples:
                report.unread.append((case.name, case.why))
            continue
        judged = await now.judge(case)
        before = (await then.judge(case)) if then is not None else None
        _enter(report, case, before, judged, examples)
    report.notes += dict.fromkeys((*now.notes, *(then.notes if then is not None else ())))
    return report


def _skipped(case: Case, by_record: bool) -> str:
    """Why a case cannot be compared; empty when it can."""
    if case.event is None:
        return "it could not be read"
    then = case.then
    if then is None:
        return "nothing is known of how it came out" if by_record else ""
    if was_answered_before(then):
        return "the same call had been answered a moment before"
    if by_record and is_latched(then):
        return "the session had been halted"
    if by_record and then.failure:
        return "it could not be judged when it happened"
    return ""


def _enter(
    report: Report, case: Case, before: Judged | None, judged: Judged, examples: int
) -> None:
    then = recorded_outcome(before.outcome) if before is not None else case.then
    assert then is not None
    was, now = _side(then), _side(recorded_outcome(judged.outcome))
    others = before.unknown if before is not None else {}
    unknown = tuple(dict.fromkeys((*judged.unknown.values(), *others.values())))
    for name in judged.recalled:
        _count(report.recalled, name)
    for name in unknown:
        _count(report.unknown, name)
    change = _change(was, now)
    # Those that are the same on both sides say the same.
    mine = judged.unknown.keys()
    if not _is_certain(change, (was, others.keys() - mine), (now, mine - others.keys())):
        change = "unknown"
    approximate = case.then is not None and case.then.approximate
    tally = report.approximate if approximate else report.counts
    tally[change] += 1
    alike = [each for each in report.differences if each.change == change]
    if change == "same" or len(alike) >= examples:
        return
    event = judged.outcome.event
    report.differences.append(
        Difference(
            change=change,
            name=case.name,
            event=event.event_id(),
            subject=case.then.subject if case.then is not None else "",
            was=was,
            now=now,
            approximate=approximate,
            unknown=unknown,
        )
    )


def _change(was: Side, now: Side) -> str:
    if now.strictness != was.strictness:
        return "stricter" if now.strictness > was.strictness else "milder"
    return "same" if (was.reasons, was.texts) == (now.reasons, now.texts) else "text"


def _is_certain(change: str, was: _Doubted, now: _Doubted) -> bool:
    """Whether it is so whatever the hooks would say that were not run.

    One more hook makes the stricter side stricter still, unless that says pass: it may allow.
    """
    if change not in {"stricter", "milder"}:
        return not was[1] and not now[1]
    strict, mild = (now, was) if change == "stricter" else (was, now)
    return not mild[1] and not (strict[1] and strict[0].verdict == Verdict.PASS)


def _side(recorded: Recorded) -> Side:
    decided = deciders(recorded)
    return Side(
        verdict=recorded.verdict,
        # By hook, not as merged: there they are signed with a line that moves with every edit.
        reasons=tuple(dict.fromkeys(run.reason for run in decided if run.reason)),
        texts=tuple(_texts(recorded)),
        by=tuple(dict.fromkeys(f"{run.hook} ({run.source})" for run in decided)),
    )


def _texts(recorded: Recorded) -> Iterator[str]:
    kind = EVENTS.get(recorded.event)
    keeps_going = kind is not None and kind.continues
    for run in counted(recorded):
        if keeps_going and run.verdict == Verdict.DENY:
            yield f"follow_up: {run.reason}"
        for key, value in sorted(run.effects.items()):
            if key == "metadata" or (run.handler == "builtin" and key != "rewrite"):
                continue
            yield f"{key}: {_text(value)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def _count(tally: dict[str, int], key: str) -> None:
    tally[key] = tally.get(key, 0) + 1
