"""Whether an MCP tool is as the person has pinned it, by what is on disk: no server is started."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hookline.model.errors import HandlerUnavailable, TrustError
from hookline.model.events import Event
from hookline.model.ports import Caller
from hookline.model.text import visible
from hookline.pinning.definitions import Definition, Surroundings, definitions
from hookline.pinning.pins import Change, Pin, redefined
from hookline.pinning.store import PinStore, Standing

__all__ = ["Found", "check_now", "found"]

_LONGEST = 1_500
_LONGEST_NAME = 100
_MOST = 10
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_AGAIN = "`hookline mcp check` shows it, and `hookline mcp pin` in a terminal accepts it"


class Found(Struct, frozen=True):
    """What is wrong with a tool."""

    reason: str
    changed: bool = False
    """It was another one when it was pinned."""
    shown: str = ""
    """How it is different, in the server's own words: for the person, and for no model."""


def found(readings: Iterable[tuple[str, str]], event: Event, caller: Caller) -> Found | None:
    """What is wrong with the tool that a call names, or None. ``readings`` are its possible names.

    Raises HandlerUnavailable when that cannot be told.
    """
    where = _where(event, caller)
    standing = _standing(caller, where)
    names = list(readings)
    pins = list(_pins(standing, names, event.dialect))
    if not pins:
        return Found("nobody has pinned it: `hookline mcp pin` in a terminal shows what it is")
    # A file that somebody adds must not make less of a change that was seen.
    wrong = [*_seen(standing, pins), *_undefined(standing, pins, names, where, event.dialect)]
    return max(wrong, key=lambda each: each.changed, default=None)


def _seen(standing: Standing, pins: Sequence[tuple[Pin, str]]) -> Iterator[Found]:
    """What checks have seen of the tool since it was pinned."""
    for pin, tool in pins:
        for each in standing.seen.changes.get(pin.key, ()):
            if each.tool == tool and each.kind != "added":
                reason = f"what it says of itself is not what was pinned ({each.kind}); {_AGAIN}"
                yield Found(reason, True, _shown(each.text))


def _undefined(
    standing: Standing,
    pins: Sequence[tuple[Pin, str]],
    names: Sequence[tuple[str, str]],
    where: Surroundings,
    dialect: str,
) -> Iterator[Found]:
    """Whichever server the client may mean must be one that was pinned, with that tool."""
    pinned = {_plain(pin.name) for pin, _ in pins}
    meant = pinned | {_plain(server) for server, _ in names}
    every, flaws = definitions(where)
    servers = [each for each in every if _plain(each.name) in meant and _concerns(each, dialect)]
    for server in servers:
        change = redefined(server, standing.pins)
        if change is not None and _plain(server.name) in pinned:
            reason = f"a server of that name is not the one that was pinned; {_AGAIN}"
            yield Found(reason, True, _shown(change.text))
        elif change is not None:
            named = _named(server.name)
            yield Found(f"it may be a tool of {named}, which nobody has pinned; {_AGAIN}")
    for flaw in flaws:
        if dialect in {flaw.client, "canonical"}:
            yield Found("its server may be in a file that cannot be read", shown=_shown(flaw.text))
    known = [(pin, tool) for pin, tool in pins if any(map(pin.is_as, servers))]
    if not known:
        yield Found("its server is in no file that hookline knows, so the pin may mean another")
    for pin, tool in known:
        if tool not in pin.tools:
            yield Found(f"it is not among the pinned tools of {_named(pin.name)}; {_AGAIN}")


def check_now(event: Event, caller: Caller, seconds: float) -> list[str]:
    """Asks the servers that are pinned; what the person should know of it."""
    import asyncio

    from hookline.pinning.checking import check

    where = _where(event, caller)
    _standing(caller, where)
    store = PinStore(caller.home)
    try:
        done = asyncio.run(check(store, where, altogether=seconds))
    except TrustError as error:
        return [f"MCP servers could not be compared with their pins: {error}"]
    told = [_told(each) for each in done.changes[:_MOST]]
    rest = len(done.changes) - len(told)
    more = [f"and {rest} changes more; `hookline mcp check` shows them"] if rest else []
    return [*told, *more, *map(_shown, done.flaws)]


def _told(change: Change) -> str:
    tool = f", tool `{change.tool[:_LONGEST_NAME]}`" if change.tool else ""
    said = f"\n{change.text}" if change.text else ""
    return _shown(f"MCP server `{change.server[:_LONGEST_NAME]}`{tool}: {change.kind}{said}")


def _where(event: Event, caller: Caller) -> Surroundings:
    project = caller.project_dir or event.cwd
    home = caller.env.get("HOME", "")
    return Surroundings(project=project, home=home, env=caller.env, cwd=event.cwd)


def _standing(caller: Caller, where: Surroundings) -> Standing:
    if not os.path.isabs(caller.home):
        raise HandlerUnavailable("hookline keeps no state here, so there are no pins to look at")
    try:
        return PinStore(caller.home).standing(where.project)
    except TrustError as error:
        raise HandlerUnavailable(str(error)) from error


def _pins(
    standing: Standing, readings: Iterable[tuple[str, str]], dialect: str
) -> Iterator[tuple[Pin, str]]:
    """Every pin that a call may be about, and the tool it would be there."""
    pins = [pin for pin in standing.pins if _concerns(pin, dialect)]
    for server, tool in readings:
        for pin in pins:
            if _is_called(pin, server) or (not server and tool in pin.tools):
                yield pin, tool if tool in pin.tools else _same(tool, pin)


def _concerns(server: Pin | Definition, dialect: str) -> bool:
    """Whether a client knows this server; who speaks no client's dialect may be any of them."""
    return dialect in server.clients or dialect == "canonical"


def _same(tool: str, pin: Pin) -> str:
    """The pinned tool that a client writes like this."""
    return next((name for name in pin.tools if _plain(name) == _plain(tool)), tool)


def _is_called(pin: Pin, server: str) -> bool:
    """Cursor gives the command line or the address in place of the name."""
    return bool(server) and (_plain(pin.name) == _plain(server) or pin.origin == server)


def _plain(name: str) -> str:
    """As clients write a name into the name of a tool."""
    return _ODD.sub("_", name)


def _named(name: str) -> str:
    """A repository's own word, which a model will read."""
    return f"`{visible(name[:_LONGEST_NAME])}`"


def _shown(text: str) -> str:
    return visible(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
