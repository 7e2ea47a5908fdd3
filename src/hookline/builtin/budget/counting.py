"""Takes in what events and transcripts tell of usage.

Of each session either its events count or its transcript: both tell of the same calls. A transcript
that cannot be read tells nothing, and the agent goes on.
"""

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import (
    CompactionEvent,
    Event,
    PostCompact,
    PreCompact,
    SessionEnd,
    SessionStart,
    TurnEvent,
)
from hookline.model.ports import Caller, State
from hookline.model.usage import ModelCall, TranscriptUsage, read_count, read_tokens
from hookline.store.usage import (
    SessionUsage,
    day_of,
    digest,
    keep_call,
    keep_mark,
    keep_session,
    keep_zone,
    open_zone,
    read_mark,
    read_session,
    read_zone,
)
from hookline.workspace import checkout_at, with_workspace

__all__ = ["Counted", "count", "machine_zone", "session_key"]

_NEW = ("clear", "compact")
# A clock that is further off than this is not believed.
_AHEAD = 86_400.0
_EARLIEST = 1_500_000_000.0


class Counted(Struct, frozen=True):
    """A session with this event counted."""

    usage: SessionUsage
    complete: bool = True
    """Whether all that its transcript tells was read."""


class _Read(Struct, frozen=True):
    path: str
    told: TranscriptUsage


def count(event: Event, caller: Caller, state: State, time_zone: str) -> Counted:
    """Counts what this event tells. Raises HooklineError when it cannot be stored.

    ``time_zone`` is where days end, if the person says it; else it is what it was.
    """
    key, now = session_key(event), time.time()
    with state.read() as connection:
        before = read_session(connection, key)
        read = list(_read_transcripts(event, caller, connection))
    usage = before or _begin(event, caller, key)
    own = _own_call(event)
    calls = [call for each in read for call in each.told.calls]
    source = usage.source or ("event" if own else "transcript" if calls else "")
    if own is not None and source == "event":
        calls = [own]
    elif source != "transcript":
        calls = []
    after = replace(_update(usage, event, read, own), source=source)
    news = [each for each in read if each.told.mark.offset]
    # A session in which nothing was done has used nothing.
    is_idle = before is None and not calls and isinstance(event, SessionStart | SessionEnd)
    if (calls or news or after != before) and not is_idle:
        with state.write() as connection:
            stored = read_zone(connection)
            name = time_zone or stored or machine_zone()
            if name != stored:
                keep_zone(connection, name)
            zone = open_zone(name)
            keep_session(connection, after, now)
            for call in calls:
                keep_call(connection, after, call, day_of(_believe(call.time, now), zone))
            for each in news:
                keep_mark(connection, each.path, each.told.mark, now)
    return Counted(after, all(each.told.complete for each in read))


def session_key(event: Event) -> str:
    """Under which a session is kept."""
    return digest(event.dialect, event.session_id)


def _begin(event: Event, caller: Caller, key: str) -> SessionUsage:
    return SessionUsage(session=key, agent=event.dialect, repository=_repository(event, caller))


def _repository(event: Event, caller: Caller) -> str:
    """``owner/name``, else the directory's own name with what tells it from others of that name."""
    workspace = with_workspace(event, caller).workspace
    if workspace is not None and workspace.repository:
        return workspace.repository
    directory = caller.project_dir or event.cwd
    checkout = checkout_at(directory)
    place = os.path.realpath(checkout.common_dir if checkout else directory)
    name = os.path.basename(place.removesuffix("/.git"))
    return f"{name} ({digest(place)[:6]})" if name else ""


def _read_transcripts(
    event: Event, caller: Caller, connection: sqlite3.Connection
) -> Iterator[_Read]:
    transcript = caller.transcript(event.dialect) if caller.transcript is not None else None
    if transcript is None:
        return
    for path in transcript.list_files(event):
        mark = read_mark(connection, path)
        with suppress(OSError, ValueError):
            told = transcript.read_usage(path, mark)
            if told.mark != mark:
                yield _Read(path, told)


def _own_call(event: Event) -> ModelCall | None:
    """The call that the event itself tells of."""
    if not isinstance(event, TurnEvent) or not event.usage:
        return None
    tokens = read_tokens(event.usage)
    if tokens is None or not tokens.total:
        return None
    return ModelCall(
        id=event.id,
        model=event.model,
        tokens=tokens,
        usd=_read_dollars(event.cost_usd),
        is_sub=event.agent.depth > 0,
    )


def _read_dollars(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e6 else None


def _update(
    usage: SessionUsage, event: Event, read: Sequence[_Read], own: ModelCall | None
) -> SessionUsage:
    """The session's conversation as it is with this event."""
    context, window, model = usage.context, usage.window, usage.model
    for each in read:
        window = each.told.window or window
        if each.told.has_context:
            context = each.told.context
            model = next((c.model for c in reversed(each.told.calls) if not c.is_sub), model)
    if own is not None and not own.is_sub:
        context, model = own.tokens.total, own.model
    if event.budget is not None:
        context = read_count(event.budget.used_tokens) if event.budget.used_tokens else context
        window = read_count(event.budget.effective_limit) or window
    if isinstance(event, CompactionEvent) and event.context_limit:
        window = read_count(event.context_limit) or window
    if isinstance(event, PreCompact) and event.input_tokens and not event.agent.depth:
        context = read_count(event.input_tokens)
    if _begins_anew(event):
        context = None
    if model != usage.model and window == 0:
        window = None  # another one may be known
    return replace(usage, context=context, window=window, model=model)


def _begins_anew(event: Event) -> bool:
    if event.agent.depth:
        return False
    is_new = isinstance(event, SessionStart) and event.source in _NEW
    return is_new or isinstance(event, PostCompact)


def _believe(told: float | None, now: float) -> float:
    return told if told is not None and _EARLIEST < told < now + _AHEAD else now


def machine_zone() -> str:
    """The name of this machine's time zone."""
    with suppress(OSError):
        _, found, name = os.path.realpath("/etc/localtime").partition("/zoneinfo/")
        name = name.removeprefix("posix/")
        if found and open_zone(name) is not UTC:
            return name
    return "UTC"
