"""Who is calling: several clients run Claude Code's settings, so the payload is asked as well.

Knows the shapes in ``dialects/*/shape.toml``; must not know how any client is answered.
"""

import os
from codecs import BOM_UTF8
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from hookline import registry
from hookline.model.outcome import Substitution
from hookline.model.payloads import peeked
from hookline.model.shapes import Fit, Shape

__all__ = ["Callers", "recognise", "shape"]


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
def shape(name: str) -> Shape | None:
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
            return msgspec.json.decode(file.read(), type=Shape)
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
        return _alone(named)  # it cannot be told from others, so it is believed
    data = _object(payload)
    if data is None:
        return _unreadable(named, env)
    if named and own is not None and own.judge(data, event).fit is Fit.SURE:
        return _alone(named)
    ids, why = _by_payload(named, event, data)
    if len(ids) > 1:
        ids = _by_variables(ids, named, env)
    fits = (each.judge(data, event).fit for name, each in _shapes().items() if name in ids)
    is_certain = named is not None or any(fit >= Fit.POSSIBLE for fit in fits)
    return Callers(named=named, ids=ids, why=why, is_certain=is_certain)


@lru_cache(64)
def _alone(named: str) -> Callers:
    return Callers(named=named, ids=(named,))


def _object(payload: bytes) -> dict[str, Any] | None:
    try:
        data = peeked(payload.removeprefix(BOM_UTF8))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _shapes() -> dict[str, Shape]:
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
