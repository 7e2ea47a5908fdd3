"""A hook written for one platform, run for an event of another: the doing of ``hookline adapt``.

The engine runs one hook under its own platform's rules; what the session remembers holds here as
it does for hooks of our own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from msgspec import Raw, Struct
from msgspec.structs import replace

from hookline import registry
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.errors import HooklineError, UnknownNameError
from hookline.model.events import EVENTS, CompactionEvent, Event, PromptEvent, ToolEvent
from hookline.model.hook import Hook, Layer, Source
from hookline.model.memory import MAX_FOLLOW_UPS, capped, latched, on_event
from hookline.model.native import NativeEntry, NativeFile, NativePlace, Where
from hookline.model.outcome import Outcome, Translated
from hookline.model.ports import Caller, Match, PinnedFiles, Services
from hookline.model.support import Support
from hookline.model.text import visible
from hookline.store.memory import SessionMemories

__all__ = ["Adaptation", "Speaker", "adapted"]


class Speaker(Protocol):
    """Whoever is calling."""

    @property
    def support(self) -> Support:
        """What it supports."""

    def translate(self, outcome: Outcome) -> Translated:
        """The outcome as far as it can be taken."""


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


async def adapted(
    what: Adaptation, event: Event, caller: Caller, *, speaker: Speaker, home: str
) -> Outcome:
    """What the hook says of the event. Raises HooklineError when it cannot even be asked."""
    hook = _hook(what, caller)
    moment = _as_expected(event, hook)
    memories = SessionMemories(home)
    session = f"adapt:{event.dialect}:{event.session_id}" if event.session_id else ""
    # Each entry counts its own follow-ups; a latch that one of them set holds for all.
    own = f"{session}:{what!r}" if session else ""
    support = speaker.support
    limit = min(MAX_FOLLOW_UPS, support.stop_cap or MAX_FOLLOW_UPS)
    names = (session, own)
    before = [memories.read(name) for name in names]
    shared, page = (on_event(each, event, has_stop_flag=support.has_stop_flag) for each in before)
    outcome = latched(shared, event)
    if outcome is None:
        module = registry.handlers()[hook.handler.kind]
        engine = Engine([Bound(hook, module.make(hook, _SERVICES))], tools=registry.tools)
        outcome = _as_asked(await engine.handle(moment, caller), event)
        page, outcome = capped(page, outcome, limit=limit)
        latch = speaker.translate(outcome).latch
        if latch:
            shared = replace(shared, latch=latch)
    for name, old, new in zip(names, before, (shared, page), strict=True):
        memories.write(name, old, new)
    return outcome


def _hook(what: Adaptation, caller: Caller) -> Hook:
    files = registry.native_files().get(what.origin)
    if files is None:
        raise UnknownNameError("platform with hook files", what.origin, registry.native_files())
    rules = cast(_Files, files)
    entry = replace(what.entry, options={**_RUN_BY_US, **what.entry.options})
    path = what.file or _usual_path(rules, caller.project_dir)
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


def _usual_path(rules: _Files, project: str) -> str:
    places = rules.places(Where(project=project, home=project))
    return next(
        (place.path for place in places if place.layer is Layer.PROJECT and not place.dialect),
        f"{project}/hooks",
    )


def _as_expected(event: Event, hook: Hook) -> Event:
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


def _as_asked(outcome: Outcome, event: Event) -> Outcome:
    """The outcome for the event that the new platform sent."""
    final = outcome.final
    if final is not None and type(final) is not type(event):
        final = _recast(final, type(event))
    return replace(outcome, event=event, final=final)


def _recast(event: Event, cls: type[Event]) -> Event:
    shared = {name: getattr(event, name) for name in cls.__struct_fields__ if hasattr(event, name)}
    return cls(**{**shared, "raw": Raw(b"null")})
