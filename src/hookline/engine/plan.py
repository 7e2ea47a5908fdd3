"""Which hooks run on which event, in which order; worked out once for a list of hooks."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import EVENTS, Event
from hookline.model.hook import Hook, Mode
from hookline.model.ports import Handler

__all__ = ["Bound", "Tier", "plan"]


class Bound:
    """A hook and the handler that runs it, with what the hot loop asks of them at hand."""

    __slots__ = ("always", "answer", "counts", "handler", "hook", "match")

    def __init__(self, hook: Hook, handler: Handler) -> None:
        self.hook: Final = hook
        self.handler: Final = handler
        self.answer: Final = handler.answer if handler.instant else None
        self.match: Final = hook.match
        self.always: Final = hook.always
        self.counts: Final = hook.mode is Mode.ENFORCE


class Tier(Struct, frozen=True):
    """Hooks of one priority, in configured order; they run at the same time."""

    hooks: tuple[Bound, ...]
    instant: bool


def plan(hooks: Iterable[Bound]) -> Mapping[type[Event], tuple[Tier, ...]]:
    """Tiers by event class, ascending by priority; identical hooks once."""
    unique = _deduplicated(hooks)
    events = dict.fromkeys(event for bound in unique for event in bound.hook.events)
    return {
        EVENTS[event]: _tiers([bound for bound in unique if event in bound.hook.events])
        for event in events
    }


def _tiers(hooks: list[Bound]) -> tuple[Tier, ...]:
    priority = attrgetter("hook.priority")
    return tuple(
        Tier(hooks=(tier := tuple(group)), instant=all(map(_is_instant, tier)))
        for _, group in groupby(sorted(hooks, key=priority), key=priority)
    )


def _is_instant(bound: Bound) -> bool:
    """Whether it can run on the spot; in a lane it has to be its turn."""
    return bound.handler.instant and bound.hook.lane is None


def _deduplicated(hooks: Iterable[Bound]) -> list[Bound]:
    """Identical hooks as one, at its first place, with the strictest of what they say."""
    unique: dict[tuple[object, ...], Bound] = {}
    for bound in hooks:
        identity = bound.hook.identity()
        first = unique.get(identity)
        unique[identity] = bound if first is None else _strictest(first, bound)
    return list(unique.values())


def _strictest(first: Bound, second: Bound) -> Bound:
    one, other = first.hook, second.hook
    both_observe = one.mode is other.mode is Mode.OBSERVE
    hook = replace(
        one,
        on_error=max(one.on_error, other.on_error, key=attrgetter("strictness")),
        guard=one.guard or other.guard,
        always=one.always or other.always,
        mode=Mode.OBSERVE if both_observe else Mode.ENFORCE,
    )
    return Bound(hook, first.handler)
