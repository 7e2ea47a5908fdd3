"""How several hooks of one event run together, there and here.

Compares what both platforms' rules say of their own entries.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hookline.converting.platforms import Platform
from hookline.converting.report import Finding, kept, lost, replaced
from hookline.model.hook import Lane
from hookline.model.native import NativeEntry

__all__ = ["in_order", "order_findings"]

_BESIDE = "side by side"


def in_order(
    was: Sequence[NativeEntry], now: Sequence[NativeEntry], origin: Platform, target: Platform
) -> tuple[NativeEntry, ...]:
    """The new entries of one event, one after another where the old ones were."""
    sequential = any(origin.rules.lane(entry, was) is not None for entry in was)
    return tuple(
        replace(entry, sequential=True)
        if sequential and target.writer.can_say("sequential", entry.event)
        else entry
        for entry in now
    )


def order_findings(
    entry: NativeEntry,
    was: Sequence[NativeEntry],
    made: NativeEntry,
    now: Sequence[NativeEntry],
    sides: tuple[Platform, Platform],
) -> Iterator[Finding]:
    """What became of the order among several hooks of one event, and of their priorities."""
    origin, target = sides
    before, after = origin.rules.lane(entry, was), _lane(made, now, target)
    finding = _compared(before, after, target)
    if len(was) > 1:
        yield replace(finding, on=made.event)
    if entry.priority is not None:
        number = str(entry.priority)
        if made.priority == entry.priority:
            yield kept("priority", number, on=made.event)
        elif after is not None:
            why = f"{target.client} runs hooks as they stand in the file"
            yield replaced("priority", number, "its place in the file", why, on=made.event)
        else:
            why = f"{target.client} runs hooks side by side"
            yield lost("priority", number, why, on=made.event)


def _lane(made: NativeEntry, now: Sequence[NativeEntry], target: Platform) -> Lane | None:
    placed = target.writer.placed
    return target.rules.lane(placed(made), [placed(each) for each in now])


def _compared(before: Lane | None, after: Lane | None, target: Platform) -> Finding:
    was, now = _said(before), _said(after)
    if before is None:
        if after is None:
            return kept("order", was)
        return replaced("order", was, now, f"{target.client} runs them one after another")
    if after is None:
        return lost("order", was, f"{target.client} runs them side by side", now=now)
    if before.piped and not after.piped:
        why = f"{target.client} shows each of them the first input, whatever others changed"
        return lost("order", was, why, now=now)
    if was == now:
        return kept("order", was)
    return replaced("order", was, now, f"these are {target.client}'s rules for several hooks")


def _said(lane: Lane | None) -> str:
    if lane is None:
        return _BESIDE
    parts = ["one after another"]
    parts += ["each sees what the last one changed"] if lane.piped else []
    parts += ["a deny ends it"] if lane.deny_ends else []
    parts += ["only the last one counts"] if lane.last_counts else []
    return ", ".join(parts)
