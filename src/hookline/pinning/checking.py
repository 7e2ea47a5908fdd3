"""Compares servers with their pins: starts those that were pinned as they are defined now."""

import asyncio
from collections.abc import Iterable, Sequence
from math import inf
from time import monotonic
from typing import Any

from msgspec import Struct

from hookline.pinning.asking import CannotAsk, tools_of
from hookline.pinning.definitions import Definition, Surroundings, definitions
from hookline.pinning.pins import Change, Pin, compared, redefined
from hookline.pinning.store import PinStore, Standing

__all__ = ["SECONDS", "Checked", "asked", "check", "pin_for"]

SECONDS = 20.0
"""For one server, which may have to fetch itself first."""

_AT_ONCE = 4


class Checked(Struct, frozen=True, kw_only=True):
    """What a check has found."""

    servers: tuple[str, ...] = ()
    """Those that were asked and are as they were pinned."""
    changes: tuple[Change, ...] = ()
    flaws: tuple[str, ...] = ()
    """What could not be read."""


async def asked(
    servers: Iterable[Definition],
    where: Surroundings,
    *,
    timeout: float = SECONDS,
    altogether: float = inf,
) -> list[dict[str, Any] | CannotAsk]:
    """What each server says of its tools, or why it could not be asked.

    ``timeout`` is for each of them, and ``altogether`` for all.
    """
    turns = asyncio.Semaphore(_AT_ONCE)
    deadline = monotonic() + altogether

    async def one(server: Definition) -> dict[str, Any] | CannotAsk:
        async with turns:
            left = min(timeout, deadline - monotonic())
            if left <= 0:
                return CannotAsk("there was no time left for it")
            try:
                return await tools_of(server, where, timeout=left)
            except CannotAsk as error:
                return error

    return list(await asyncio.gather(*map(one, servers)))


async def check(
    store: PinStore,
    where: Surroundings,
    *,
    names: Sequence[str] = (),
    timeout: float = SECONDS,
    altogether: float = inf,
) -> Checked:
    """Asks every pinned server that is defined as it was pinned, and remembers what is different.

    Nothing else is started: a server that nobody has pinned, or that is now another command, is a
    program of somebody's choosing.
    """
    standing = store.standing(where.project)
    servers, flaws = definitions(where)
    known = [each for each in servers if not names or each.name in names]
    otherwise = [change for each in known if (change := redefined(each, standing.pins))]
    same = [(pin, each) for each in known for pin in standing.pins if pin.is_as(each)]
    found: list[tuple[Pin, Sequence[Change]]] = []
    pinned = [each for _, each in same]
    answers = await asked(pinned, where, timeout=timeout, altogether=altogether)
    for (pin, _), answer in zip(same, answers, strict=True):
        if isinstance(answer, CannotAsk):
            found.append((pin, [Change(server=pin.name, kind="not reached", text=str(answer))]))
        else:
            found.append((pin, compared(pin, answer)))
    store.saw(found)
    fine = sorted(pin.name for pin, changed in found if not changed)
    told = [each for _, changed in found for each in changed]
    notes = [*(flaw.text for flaw in flaws), *([standing.note] if standing.note else [])]
    return Checked(servers=tuple(fine), changes=(*told, *otherwise), flaws=tuple(notes))


def pin_for(standing: Standing, server: Definition) -> Pin | None:
    """The pin of a server, of its definition as it is now before any other."""
    ours = [pin for pin in standing.pins if pin.is_of(server)]
    return next((pin for pin in ours if pin.is_as(server)), ours[0] if ours else None)
