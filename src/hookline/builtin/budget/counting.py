"""Takes in what events and transcripts tell of usage.

Of each session either its transcript counts, where it can be read, or its events: both tell of the
same calls, and only a transcript names them, so that a session made from another one can be told
apart from it.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from hookline.model.ports import Caller, State, Transcript
from hookline.model.usage import Mark, ModelCall, TranscriptUsage, read_count, read_tokens
from hookline.pricing import find_window
from hookline.store.usage import (
    SessionUsage,
    day_of,
    digest,
    keep_call,
    keep_session,
    keep_zone,
    open_zone,
    read_session,
    read_zone,
)
from hookline.workspace import checkout_at, with_workspace

__all__ = ["Counted", "count"]

# A clock that is further off than this is not believed.
_AHEAD = 86_400.0
_EARLIEST = 1_500_000_000.0


class Counted(Struct, frozen=True):
    """A session with this event counted."""

    usage: SessionUsage
    today: str
    is_complete: bool
    """Whether all that its transcript tells was read."""


def count(event: Event, caller: Caller, state: State, *, needs_window: bool) -> Counted:
    """Counts what this event tells. Raises HooklineError when it cannot be stored."""
    key, now = digest(event.dialect, event.session_id), time.time()
    transcript = caller.transcript(event.dialect) if caller.transcript is not None else None
    files = transcript.list_files(event) if transcript is not None else ()
    with state.read() as connection:
        before, name = read_session(connection, key), read_zone(connection) or _machine_zone()
    zone = open_zone(name)
    today = day_of(now, zone)
    begun = before or SessionUsage(
        session=key, agent=event.dialect, repository=_repository(event, caller)
    )
    read = dict(_read_files(transcript, files, begun.marks)) if transcript is not None else {}
    told, own = list(read.values()), _own_call(event)
    calls = [call for each in told for call in each.calls]

    def update(usage: SessionUsage) -> SessionUsage:
        after = _update(usage, event, told, own)
        if after.window is None and after.model and needs_window:
            after = replace(after, window=find_window(after.model) or 0)
        marks = {key: each.mark for key, each in read.items()}
        return replace(after, day=today, marks={**usage.marks, **marks})

    after = update(begun)
    is_complete = all(each.complete for each in told)
    # A session in which nothing was done has used nothing.
    is_idle = before is None and not calls and isinstance(event, SessionStart | SessionEnd)
    if is_idle or (after == before and own is None):
        return Counted(after, today, is_complete)
    with state.write() as connection:
        # Another event of the session may have been counted since it was read.
        after = update(read_session(connection, key) or begun)
        keep_zone(connection, name)
        keep_session(connection, after)
        for call in calls if after.source == "transcript" else filter(None, [own]):
            known = call.time is not None and _EARLIEST < call.time < now + _AHEAD
            day = day_of(call.time, zone) if known and call.time else today
            keep_call(connection, after, call, day)
    return Counted(after, today, is_complete)


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


def _read_files(
    transcript: Transcript, files: Iterable[str], marks: Mapping[str, Mark]
) -> Iterator[tuple[str, TranscriptUsage]]:
    for key, path in ((digest(path), path) for path in files):
        with suppress(OSError, ValueError):
            told = transcript.read_usage(path, marks.get(key))
            if told.mark != marks.get(key):
                yield key, told


def _own_call(event: Event) -> ModelCall | None:
    """The call that the event itself tells of."""
    tokens = read_tokens(event.usage or {}) if isinstance(event, TurnEvent) else None
    if not isinstance(event, TurnEvent) or tokens is None or not tokens.total:
        return None
    usd: Any = event.cost_usd
    return ModelCall(
        id=event.id,
        model=event.model,
        tokens=tokens,
        # Platforms say 0 where they do not know.
        usd=float(usd) if isinstance(usd, int | float) and 0 < usd < 1e6 else None,
        is_sub=event.agent.depth > 0,
    )


def _update(
    usage: SessionUsage, event: Event, told: Sequence[TranscriptUsage], own: ModelCall | None
) -> SessionUsage:
    """The session's conversation as it is with this event."""
    context, window, model = usage.context, None, usage.model
    for each in told:
        window = each.window or window
        if each.context is not None:
            context = each.context or None
            model = next((call.model for call in reversed(each.calls) if not call.is_sub), model)
    if own is not None and not own.is_sub:
        context, model = own.tokens.total, own.model or model
    if not event.agent.depth:
        if (stated := event.budget) is not None:
            context = context if stated.used_tokens is None else read_count(stated.used_tokens)
            window = read_count(stated.effective_limit) or window
        if isinstance(event, CompactionEvent) and event.context_limit:
            window = read_count(event.context_limit) or window
        if isinstance(event, PreCompact) and event.input_tokens:
            context = read_count(event.input_tokens)
        is_new = isinstance(event, SessionStart) and event.source in ("clear", "compact")
        if is_new or isinstance(event, PostCompact):
            context = None
    if window is None and (not usage.model or model == usage.model):
        window = usage.window
    source = usage.source or ("transcript" if told else "event" if own else "")
    return replace(usage, context=context, window=window, model=model, source=source)


def _machine_zone() -> str:
    _, _, name = os.path.realpath("/etc/localtime").partition("/zoneinfo/")
    name = name.removeprefix("posix/")
    return "UTC" if open_zone(name) is UTC else name
