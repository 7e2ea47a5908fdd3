"""What a client's payloads look like, as data, and how well a payload fits. Pure values.

Knows keys; must not know any client, nor what follows from a fit.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cache
from typing import Any

from msgspec import Struct

__all__ = ["EventForm", "Fit", "Form", "Likeness", "Shape"]


class Fit(IntEnum):
    """How well a payload fits a client, best last."""

    FOREIGN = 0
    """It has what this client never sends."""
    LACKING = 1
    """It lacks something that this client always sends."""
    POSSIBLE = 2
    SURE = 3
    """It has what only this client sends."""


class Likeness(Struct, frozen=True):
    """A fit, and what it rests on."""

    fit: Fit
    why: str = ""
    lacks: int = 0
    """How many keys are missing that should be there."""

    @property
    def rank(self) -> tuple[int, int]:
        """Greater is better."""
        return (self.fit, -self.lacks)


class EventForm(Struct, frozen=True, forbid_unknown_fields=True):
    """What one event adds to the keys that all events of a form have."""

    needs: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    sure: bool = False
    """No other client names an event like this."""


class Form(Struct, frozen=True, forbid_unknown_fields=True):
    """One way in which a client writes its payloads.

    A key is written as ``name``, ``name:text`` (or number, object), ``name=one|other`` for its
    values, or ``name~part`` for a text that it contains.
    """

    events: Mapping[str, EventForm]
    names: str = "hook_event_name"
    """The key that names the event; empty where the payload does not say."""
    needs: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """Keys that only this client sends; several in one word, joined by ``+``, count together."""
    always_marked: bool = False
    """Without any of its marks a payload is not this client's, however broken it may be."""

    def judge(self, data: Mapping[str, Any], event: str | None) -> Likeness:
        """How well a payload fits this form. ``event`` is the one on the command line."""
        said = data.get(self.names) if self.names else None
        own = self.events.get(said if isinstance(said, str) else event or "", _ANY)
        stray = _first_of(data, _never(self.never, own.never, own.needs))
        if stray:
            return Likeness(Fit.FOREIGN, f"it never sends `{stray}`")
        if isinstance(said, str) and said not in self.events and not self._alike(said):
            return Likeness(Fit.FOREIGN, f"it has no event `{said[:60]}`")
        needed, plain, others = _needed(self.names, self.needs, own.needs)
        missing = []
        if not (data.keys() >= plain and _all(data, others)):
            missing = [key for key in needed if not _has(data, key)]
        mark = next((mark for mark, keys in _marks(self.marks) if _all(data, keys)), "")
        if self.always_marked and not mark:
            return Likeness(Fit.FOREIGN, f"it always sends `{self.marks[0]}`")
        if missing and len(missing) == len(needed):
            return Likeness(Fit.FOREIGN, "it sends nothing of what is there")
        if missing:
            return Likeness(Fit.LACKING, f"it always sends `{missing[0]}`", len(missing))
        if isinstance(said, str) and own is _ANY:
            return Likeness(Fit.LACKING, f"`{said[:60]}` is no event that we know of it", 1)
        if mark or own.sure:
            return Likeness(Fit.SURE, f"only it sends `{mark or said}`")
        return Likeness(Fit.POSSIBLE, "it could have sent this")

    def _alike(self, name: str) -> bool:
        """Whether an event that we do not know is spelled as this client spells its events."""
        return any(_style(each) == _style(name) for each in self.events)


class Shape(Struct, frozen=True, forbid_unknown_fields=True):
    """A client's payloads, and the variables that it sets for its hooks and nobody else does."""

    forms: tuple[Form, ...]
    variables: tuple[str, ...] = ()
    denies_by_exit: bool = False
    """Through another client's file only exit 2 is promised to deny, in whatever words."""

    def judge(self, data: Mapping[str, Any], event: str | None) -> Likeness:
        """How well a payload fits this client, in the form that it fits best."""
        if len(self.forms) == 1:
            return self.forms[0].judge(data, event)
        return max((form.judge(data, event) for form in self.forms), key=lambda each: each.rank)

    def is_set(self, env: Mapping[str, str]) -> bool:
        """Whether this client's variables are there, its own or inherited."""
        return any(name in env for name in self.variables)


_ANY = EventForm()
_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "object": (dict,),
}


def _all(data: Mapping[str, Any], keys: Iterable[str]) -> bool:
    return all(_has(data, key) for key in keys)


def _has(data: Mapping[str, Any], key: str) -> bool:
    name, sign, rest = _taken_apart(key)
    return name in data and (not sign or _holds(data[name], sign, rest))


@cache
def _never(
    all_events: tuple[str, ...], own: tuple[str, ...], needs: tuple[str, ...]
) -> tuple[frozenset[str], tuple[str, ...]]:
    """The keys that an event never has: by their names alone, and those with a condition."""
    return _parted(tuple(key for key in (*all_events, *own) if key not in needs))


@cache
def _needed(
    name: str, all_events: tuple[str, ...], own: tuple[str, ...]
) -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    """The keys that an event always has: all, by their names alone, and those with a condition."""
    keys = (*((name,) if name else ()), *all_events, *own)
    return keys, *_parted(keys)


@cache
def _marks(marks: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each mark with the keys that count together for it."""
    return tuple((mark, tuple(mark.split("+"))) for mark in marks)


def _parted(keys: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    plain = frozenset(key for key in keys if not _taken_apart(key)[1])
    return plain, tuple(key for key in keys if key not in plain)


def _first_of(data: Mapping[str, Any], keys: tuple[frozenset[str], tuple[str, ...]]) -> str:
    """One of these keys that is there; empty when none is."""
    plain, others = keys
    if not plain.isdisjoint(data):
        return min(plain.intersection(data))
    return next((key for key in others if _has(data, key)), "")


@cache
def _taken_apart(key: str) -> tuple[str, str, str]:
    for sign in ":=~":
        name, found, rest = key.partition(sign)
        if found:
            return name, sign, rest
    return key, "", ""


def _holds(value: Any, sign: str, rest: str) -> bool:
    if sign == ":":
        return isinstance(value, _KINDS[rest]) and not isinstance(value, bool)
    if not isinstance(value, str):
        return False
    return value in rest.split("|") if sign == "=" else rest in value


def _style(name: str) -> tuple[bool, bool]:
    """PascalCase, camelCase and snake_case apart."""
    return name[:1].isupper(), "_" in name or name.islower()
