"""A hook written for one platform, run for an event of another: the doing of ``hookline adapt``.

The engine runs one hook under its own platform's rules; what the session remembers holds here as
it does for hooks of our own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from msgspec import Raw, Struct
from msgspec.structs import replace

from hookline import registry
from hookline.config.types import Config
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.errors import HooklineError, UnknownNameError
from hookline.model.events import EVENTS, CompactionEvent, Event, PromptEvent, ToolEvent
from hookline.model.hook import Hook, Layer, Source
from hookline.model.memory import SessionMemory
from hookline.model.native import NativeEntry, NativeFile, NativePlace, Where
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller, Client, Match, PinnedFiles, Services
from hookline.model.text import visible
from hookline.pipeline.judge import judge_in_session
from hookline.store.sessions import SessionMemories

__all__ = ["Adaptation", "ask_hook"]


class Adaptation(Struct, frozen=True, kw_only=True):
    """One hook of one platform."""

    origin: str
    entry: NativeEntry
    matchers: tuple[str, ...] = ()
    """Any of these will do; empty for everything."""
    file: str = ""
    """The file it was written in; one of the project's unless said."""


# Events of one family tell the same things, and one may stand for another.
_FAMILIES = (ToolEvent, PromptEvent, CompactionEvent)

# What readers note about a file: which other clients run it, and whether it is ours.
_RUN_BY_US: Mapping[str, Any] = {"run_by": (), "ours": False}


class _Files(Protocol):
    def read(self, path: str, content: bytes) -> NativeFile: ...

    def places(self, where: Where) -> Sequence[NativePlace]: ...

    def matches(self, entry: NativeEntry, event: Event) -> bool: ...

    def variables(self, path: str) -> Mapping[str, str]: ...

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> Sequence[Hook]: ...


class _Matcher(Struct, frozen=True):
    """The old platform's rules; who delivered the event makes no difference here."""

    files: Any
    entries: tuple[NativeEntry, ...]

    def find(self, event: Event, caller: Caller) -> Match | None:
        """The match, by any of the matchers."""
        for entry in self.entries:
            if entry.agent and entry.agent != event.agent.name:
                continue
            if self.files.matches(entry, event):
                return Match()
        return None

    def identity(self) -> object:
        """Its own."""
        return id(self)


class _InPlace(PinnedFiles):
    """The new platform trusted the line that names the program; there are no copies."""

    def stand_in(self, path: str) -> str | None:
        return None


_SERVICES = Services(codec=registry.dialect, builtin=registry.builtin, pins=lambda hook: _InPlace())


async def ask_hook(
    what: Adaptation, event: Event, caller: Caller, *, client: Client, home: str
) -> Outcome:
    """What the hook says of the event. Raises HooklineError when it cannot even be asked."""
    hook = _make_hook(what, caller)
    module = registry.handlers()[hook.handler.kind]
    engine = Engine([Bound(hook, module.make(hook, _SERVICES))], tools=registry.tools)
    session = f"adapt:{event.dialect}:{event.session_id}" if event.session_id else ""
    return await judge_in_session(
        event,
        caller,
        client=client,
        config=Config(),
        engine=_Recast(engine, hook, _recast_event(event, hook)),
        memories=_OwnMemories(SessionMemories(home), repr(what)),
        sessions=(session,),
    )


class _Recast(Struct, frozen=True):
    """The engine, asked about the event that the hook is for."""

    engine: Engine
    hook: Hook
    moment: Event

    async def handle(self, event: Event, caller: Caller) -> Outcome:
        """The outcome for the event that the new platform sent."""
        outcome = await self.engine.handle(self.moment, caller)
        final = outcome.final
        if final is not None and type(final) is not type(event):
            final = _recast(final, type(event))
        return replace(outcome, event=event, final=final)


class _OwnMemories(Struct, frozen=True):
    """Each entry counts its own follow-ups; a latch that one of them set holds for all."""

    memories: SessionMemories
    entry: str

    def read(self, session: str) -> SessionMemory:
        """What is remembered of this entry in the session."""
        own = self.memories.read(self._own_name(session))
        return _with_latch(own, self.memories.read(session))

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what an event has changed."""
        blank = SessionMemory()
        shared = (_with_latch(blank, each) for each in (before, after))
        self.memories.write(session, *shared)
        own = (_with_latch(each, blank) for each in (before, after))
        self.memories.write(self._own_name(session), *own)

    def _own_name(self, session: str) -> str:
        return f"{session}:{self.entry}" if session else ""


def _with_latch(memory: SessionMemory, other: SessionMemory) -> SessionMemory:
    return replace(memory, latch=other.latch, holds_prompt=other.holds_prompt)


def _make_hook(what: Adaptation, caller: Caller) -> Hook:
    files = registry.native_files().get(what.origin)
    if files is None:
        raise UnknownNameError("platform with hook files", what.origin, registry.native_files())
    rules = cast(_Files, files)
    path = _file_of(what, caller) or _usual_path(rules, caller.project_dir)
    entry = replace(
        what.entry,
        options={**_RUN_BY_US, **what.entry.options},
        env={**rules.variables(path), **what.entry.env},
    )
    # An empty file of the platform's own kind, with this one entry in it.
    file = replace(rules.read(path, b"{}"), entries=(entry,), flaws=(), off="")
    found = rules.hooks([file], layer=Layer.USER, project_dir=caller.project_dir)
    if not found:
        raise HooklineError("the command calls hookline itself, which must not run inside hookline")
    given: Sequence[str | None] = what.matchers or (None,)
    asked = cast(Any, found[0].match).entries[0]
    entries = tuple(replace(asked, matcher=each) for each in given)
    name = found[0].name or f"{what.origin} {entry.event}"
    # The path above is only the usual one, so nobody is sent there to look.
    source = Source(layer=Layer.USER)
    return replace(found[0], name=name, match=_Matcher(rules, entries), source=source)


def _file_of(what: Adaptation, caller: Caller) -> str:
    home = caller.env.get("HOME", "")
    return f"{home}{what.file[1:]}" if home and what.file.startswith("~/") else what.file


def _usual_path(rules: _Files, project: str) -> str:
    places = rules.places(Where(project=project, home=project))
    return next(
        (place.path for place in places if place.layer is Layer.PROJECT and not place.dialect),
        f"{project}/hooks",
    )


def _recast_event(event: Event, hook: Hook) -> Event:
    """The event as one that the hook is for; the new platform may have had only the nearest.

    Raises HooklineError when it is about something else.
    """
    if event.event_id() in hook.events:
        return event
    cls = EVENTS[hook.events[0]]
    if not any(isinstance(event, family) and issubclass(cls, family) for family in _FAMILIES):
        named = event.native_event or event.event_id()
        raise HooklineError(f"the hook is for {cls.event_id()}, and this is `{visible(named)}`")
    return _recast(event, cls)


def _recast(event: Event, cls: type[Event]) -> Event:
    shared = {name: getattr(event, name) for name in cls.__struct_fields__ if hasattr(event, name)}
    return cls(**{**shared, "raw": Raw(b"null")})
