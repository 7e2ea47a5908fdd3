"""Who is calling: several clients run Claude Code's settings, so the payload is asked as well.

Knows the shapes in ``dialects/*/shape.toml``; must not know how any client is answered.
"""

import os
from codecs import BOM_UTF8
from collections.abc import Collection, Mapping
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from hookline import registry
from hookline.model.outcome import Substitution
from hookline.model.ports import peek_payload

__all__ = ["Callers", "EventForm", "Fit", "Form", "Likeness", "PayloadShape", "recognise", "shape"]


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
        for key in (*self.never, *own.never):
            if key not in own.needs and _has(data, key):
                return Likeness(Fit.FOREIGN, f"it never sends `{key}`")
        if isinstance(said, str) and said not in self.events and not self._is_alike(said):
            return Likeness(Fit.FOREIGN, f"it has no event `{said[:60]}`")
        needed = (*((self.names,) if self.names else ()), *self.needs, *own.needs)
        missing = [key for key in needed if not _has(data, key)]
        marks = (mark for mark in self.marks if all(_has(data, key) for key in mark.split("+")))
        mark = next(marks, "")
        if self.always_marked and not mark:
            return Likeness(
                Fit.FOREIGN, f"it always sends `{self.marks[0].replace('+', '` and `')}`"
            )
        if missing and len(missing) == len(needed):
            return Likeness(Fit.FOREIGN, "it sends nothing of what is there")
        if missing:
            return Likeness(Fit.LACKING, f"it always sends `{missing[0]}`", len(missing))
        if isinstance(said, str) and own is _ANY:
            return Likeness(Fit.LACKING, f"`{said[:60]}` is no event that we know of it", 1)
        if mark or own.sure:
            return Likeness(Fit.SURE, f"only it sends `{mark or said}`")
        return Likeness(Fit.POSSIBLE, "it could have sent this")

    def _is_alike(self, name: str) -> bool:
        """Whether an event that we do not know is spelled as this client spells its events."""
        return any(_style(each) == _style(name) for each in self.events)


class PayloadShape(Struct, frozen=True, forbid_unknown_fields=True):
    """A client's payloads, and the variables that it sets for its hooks and nobody else does."""

    forms: tuple[Form, ...]
    variables: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    """The keys of its answers, where an answer with any other key beside them may be void."""
    reads_only: Mapping[str, str] = {}
    """Events on which a single key counts, and only with exit 0, though others count elsewhere."""

    def judge(self, data: Mapping[str, Any], event: str | None) -> Likeness:
        """How well a payload fits this client, in the form that it fits best."""
        if len(self.forms) == 1:
            return self.forms[0].judge(data, event)
        return max((form.judge(data, event) for form in self.forms), key=lambda each: each.rank)

    def is_void(self, exit_code: int, answer: Mapping[str, Any], event: str) -> bool:
        """Whether this client throws an answer away, whatever it says."""
        if event in self.reads_only:
            return exit_code != 0 or self.reads_only[event] not in answer
        return exit_code == 0 and bool(self.answers) and not set(answer) <= set(self.answers)

    def is_set(self, env: Mapping[str, str]) -> bool:
        """Whether this client's variables are there, its own or inherited."""
        return any(name in env for name in self.variables)


_ANY = EventForm()
_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "object": (dict,),
}


def _has(data: Mapping[str, Any], key: str) -> bool:
    name, sign, rest = _split_key(key)
    return name in data and (not sign or _holds(data[name], sign, rest))


@cache  # there are as many as the shapes name, and every event of every agent asks for them
def _split_key(key: str) -> tuple[str, str, str]:
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


_DIALECTS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "dialects")


class Callers(Struct, frozen=True, kw_only=True):
    """The dialects that the caller may speak, the likeliest first, and why."""

    named: str | None
    ids: tuple[str, ...]
    why: str = ""
    is_certain: bool = True
    """Whether somebody is named, or the payload has all that one of these clients sends."""

    @property
    def readers(self) -> tuple[str, ...]:
        """Everybody whom the reply is to block: a payload never rules out the client named."""
        return self.ids if self.named in {None, *self.ids} else (*self.ids, str(self.named))

    def notes(self) -> tuple[Substitution, ...]:
        """For the outcome's record, when the answer is not simply in the dialect named."""
        if self.ids == (self.named,):
            return ()
        was = f"dialect {self.named}" if self.named else "no dialect"
        now = " and ".join(self.ids)
        return (Substitution(was, f"dialect {now}", self.why),)


@cache
def shape(name: str) -> PayloadShape | None:
    """What the payloads of a dialect look like; None for one that does not say."""
    # Read as data: importing every dialect only to ask costs as much as Python's own start. And
    # from the JSON that `make generate` makes of `shape.toml`, which is quicker still.
    folder = os.path.join(
        os.path.dirname(os.path.dirname(__file__)), "dialects", name.replace("-", "_")
    )
    if name not in registry.dialect_names():
        return None
    try:
        with open(os.path.join(folder, "shape.json"), "rb") as file:
            return msgspec.json.decode(file.read(), type=PayloadShape)
    except FileNotFoundError:
        return None


def recognise(
    named: str | None, event: str | None, payload: bytes, env: Mapping[str, str]
) -> Callers:
    """The callers that remain possible: by the payload first, then by their variables.

    Empty when nobody was named and the payload is nobody's.
    """
    own = shape(named) if named else None
    if named and own is None:
        return _believe(named)  # it cannot be told from others, so it is believed
    data = _object(payload)
    if data is None:
        return _unreadable(named, env)
    if named and own is not None and own.judge(data, event).fit is Fit.SURE:
        return _believe(named)
    ids, why = _by_payload(named, event, data)
    if len(ids) > 1:
        ids = _by_variables(ids, named, env)
    fits = (each.judge(data, event).fit for name, each in _shapes().items() if name in ids)
    is_certain = named is not None or any(fit >= Fit.POSSIBLE for fit in fits)
    return Callers(named=named, ids=ids, why=why, is_certain=is_certain)


@lru_cache(64)
def _believe(named: str) -> Callers:
    return Callers(named=named, ids=(named,))


def _object(payload: bytes) -> dict[str, Any] | None:
    try:
        data = peek_payload(payload.removeprefix(BOM_UTF8))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _shapes() -> dict[str, PayloadShape]:
    return {name: found for name in registry.dialect_names() if (found := shape(name))}


def _by_payload(
    named: str | None, event: str | None, data: Mapping[str, Any]
) -> tuple[tuple[str, ...], str]:
    """Those that the payload fits best.

    Where nobody's payload is complete, the one named comes before those that miss the least: a
    client that changed its keys since we looked is still the one whose file this is.
    """
    seen = {name: each.judge(data, event) for name, each in _shapes().items()}
    best = max(each.rank for each in seen.values())
    if best[0] == Fit.FOREIGN:
        return ((named,) if named else ()), "the payload is no client's that we know"
    ids = {name for name, each in seen.items() if each.rank == best}
    if named and (best[0] < Fit.POSSIBLE or seen[named].fit == best[0]):
        ids |= {named}
    why = f"the payload: {seen[min(ids)].why}"
    if named and named not in ids:
        client = registry.dialect(named).support.client
        why = f"the payload is not {client}'s: {seen[named].why}"
    elif len(ids) > 1:
        why = "the payload could be from any of them"
    return _in_order(ids, named), why


def _in_order(ids: Collection[str], named: str | None) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda name: (name != named, name)))


def _by_variables(
    ids: tuple[str, ...], named: str | None, env: Mapping[str, str]
) -> tuple[str, ...]:
    """Without those that always set variables and did not, where another one did.

    An agent inside another inherits variables: one that is there says nothing against a client that
    sets none. And the one named stays, since something may have cleared the environment.
    """
    shapes = _shapes()
    if not any(shapes[name].is_set(env) for name in ids):
        return ids
    return tuple(
        name
        for name in ids
        if name == named or not shapes[name].variables or shapes[name].is_set(env)
    )


def _unreadable(named: str | None, env: Mapping[str, str]) -> Callers:
    """The callers of a payload that tells nothing: the one named, and whose variables are set."""
    found = {name for name, each in _shapes().items() if each.is_set(env)}
    why = "the payload cannot be read, and the variables of these are set"
    ids = _in_order(found | ({named} if named else set()), named)
    return Callers(named=named, ids=ids, why=why, is_certain=named is not None)
