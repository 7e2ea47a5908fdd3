"""What all platforms' hook files have in common: from entries to hooks, under platform rules.

A platform says where its files are, how an entry reads, and what its rules are; how that becomes
hooks of ours, and what can run here, is the same everywhere.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from shlex import join
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect
from hookline.model.errors import IllegalValueError
from hookline.model.events import Event, PostToolUse, PostToolUseFailure, ToolEvent
from hookline.model.hook import HandlerSpec, Hook, Lane, Layer, OnError, Source, Start
from hookline.model.native import NativeEntry, NativeFile, NativePlace, Where
from hookline.model.ports import Caller, Match

__all__ = ["PLUGIN_ROOTS", "Files", "NativeMatcher", "is_hookline", "with_plugin_root"]

# `hookline hook …`, by name, by path, through Python, or inside a line for the shell; and the thin
# clients, which are told first which Python they may start.
_WORD = r"(?:'[^']*'|\"[^\"]*\"|\\.|[^\s'\"\\])+"
_HOOKLINE = re.compile(
    r"(?:^|[\s'\"/;&|(])hookline['\"]?\s+hook\s|-m\s+hookline\s+hook\s"
    rf"|(?:hookline-client|hookline/client/thin\.py)['\"]?\s+{_WORD}\s+hook\s"
)

# In a path of these characters a shell finds nothing to expand or split.
_PLAIN_PATH = re.compile(r"[\w./@%+,:=-]+")
PLUGIN_ROOTS = ("CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT")
"""The variables by which a plugin's hooks know its directory."""


class Files(ABC):
    """One platform's hook files."""

    codec: ClassVar[JsonDialect]
    default_timeout: ClassVar[float]
    run_by: ClassVar[frozenset[str]]
    """The dialects of all clients that run these files themselves."""

    adopts: ClassVar[frozenset[str]] = frozenset()
    """The dialects whose files this client runs too, by its own rules."""

    also: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Moments of other platforms at which this one would fire one of its events."""

    @property
    def dialect(self) -> str:
        """Whose files these are."""
        return self.codec.id

    def in_mode(self, mode: str) -> "Files":
        """The same under another version of the platform's rules; most have one only."""
        raise IllegalValueError(f"`mode` means nothing for files of {self.codec.support.client}")

    # ── what each platform says ─────────────────────────────────────────────────────────────

    @abstractmethod
    def owns(self, path: str, content: bytes) -> bool:
        """Whether a file is one of this platform's hook files."""

    @abstractmethod
    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """Which files of a directory hold hooks, in order; None for a foreign directory."""

    @abstractmethod
    def places(self, where: Where) -> Sequence[NativePlace]:
        """Everywhere this platform looks, what counts first first."""

    @abstractmethod
    def read(self, path: str, content: bytes) -> NativeFile:
        """What stands in a file."""

    @abstractmethod
    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """Whether the entry's matcher and conditions hold, by this platform's rules.

        Raises HandlerError when that cannot be told.
        """

    def runners(self, path: str) -> frozenset[str]:
        """The dialects of all clients that run this one file themselves."""
        return self.run_by

    def canonical(self, native: str) -> tuple[str, ...]:
        """The canonical events for a native one, however the file spells it."""
        row = self.codec.support.find(native)
        return (row.event if row is not None else "other", *self.also.get(native, ()))

    @property
    def awaits_success(self) -> bool:
        """Whether this platform fires its event after a tool for those that succeed alone."""
        rows = self.codec.support.events.values()
        return any(row.event == PostToolUseFailure.event_id() for row in rows)

    def native(self, entry: NativeEntry) -> str:
        """The event's name as payloads of this platform have it."""
        return entry.event

    def on_error(self, entry: NativeEntry) -> OnError:
        """What a failure of this entry means: nothing, unless the entry or platform says so."""
        return OnError.BLOCK if entry.fails_closed else OnError.WARN

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane | None:
        """The lane for an entry among all for the same event; None when it runs beside them."""
        return None

    def variables(self, path: str) -> Mapping[str, str]:
        """What the platform adds to the environment of a file's hooks, whatever they say."""
        return {}

    def start(self, entry: NativeEntry) -> Start:
        """How its program is started."""
        return Start(
            directory=entry.directory, variables=entry.env, background=entry.background, in_cwd=True
        )

    def twin(self, entry: NativeEntry) -> object:
        """Equal for entries of one event of which the platform runs only the first; or None."""
        return None

    def handler(self, entry: NativeEntry) -> HandlerSpec:
        """What runs."""
        if entry.elsewhere:
            return HandlerSpec("native", {"why": entry.flaw, "elsewhere": True})
        if entry.flaw:
            return _unrunnable(entry.flaw)
        if entry.type == "command" and entry.command:
            command = entry.command
            return HandlerSpec(
                "command", {"run": command if isinstance(command, str) else [*command]}
            )
        if entry.type == "http" and entry.url:
            headers = dict(entry.options.get("headers", {}))
            return HandlerSpec("http", {"http": {"url": entry.url, "headers": headers}})
        if entry.type == "builtin":
            values = {"use": entry.command, "with": dict(entry.options.get("with", {}))}
            return HandlerSpec("builtin", values)
        return _unrunnable(f"hooks of type `{entry.type}` cannot be run here yet")

    # ── from entries to hooks ───────────────────────────────────────────────────────────────

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """The hooks of files that this platform reads together."""
        placed = [
            (file, entry)
            for file in files
            if not file.off
            for entry in file.entries
            if not is_hookline(entry.command)
        ]
        groups: dict[object, list[tuple[NativeFile, NativeEntry]]] = {}
        for file, entry in placed:
            twin = self.twin(entry)
            key = (entry.event, twin) if twin is not None else id(entry)
            groups.setdefault(key, []).append((file, entry))
        by_event: dict[str, list[NativeEntry]] = {}
        for twins in groups.values():
            by_event.setdefault(twins[0][1].event, []).append(twins[0][1])
        return tuple(
            self._hook(file, twins, by_event[twins[0].event], layer, project_dir)
            for group in groups.values()
            for file, twins in [(group[0][0], [entry for _, entry in group])]
        )

    def _hook(
        self,
        file: NativeFile,
        twins: Sequence[NativeEntry],
        siblings: Sequence[NativeEntry],
        layer: Layer,
        project_dir: str,
    ) -> Hook:
        entry = twins[0]
        handler = self.handler(self._placed(entry, project_dir))
        return Hook(
            name=entry.name,
            events=self.canonical(entry.event),
            handler=handler,
            match=NativeMatcher(self, tuple(twins), self.runners(file.path)),
            timeout=entry.timeout or self.default_timeout,
            on_error=self.on_error(entry),
            source=Source(file.path, entry.line, layer),
            project_dir=project_dir,
            speaks=self.dialect,
            native=self.native(entry),
            run_by=self.runners(file.path),
            start=self.start(entry),
            lane=self.lane(entry, siblings),
        )

    def _placed(self, entry: NativeEntry, project_dir: str) -> NativeEntry:
        """With the project's directory written out, so that trusting the hook pins its script."""
        variable = self.codec.support.project_variable
        command = entry.command
        if not variable or not isinstance(command, str) or not _PLAIN_PATH.fullmatch(project_dir):
            return entry
        written = re.sub(rf"\$(?:{variable}\b|\{{{variable}\}})", lambda _: project_dir, command)
        return replace(entry, command=written)


class NativeMatcher(Struct, frozen=True):
    """The condition of one native hook; several entries when the platform runs them as one."""

    files: Files
    entries: tuple[NativeEntry, ...]
    run_by: frozenset[str]

    def find(self, event: Event, caller: Caller) -> Match | None:
        """Never on an event that a client delivered who runs this file by itself."""
        if event.dialect in self.run_by:
            return None
        for entry in self.entries:
            if entry.agent and entry.agent != event.agent.name:
                continue
            if event.event_id() == "other" and event.native_event != entry.event:
                continue
            if _has_failed(event) and self.files.awaits_success:
                continue
            if self.files.matches(entry, event):
                return Match(path=event.tool.path if isinstance(event, ToolEvent) else None)
        return None

    def identity(self) -> object:
        """What the entries say, wherever in their file they stand."""
        return self.files.dialect, repr([replace(entry, line=0) for entry in self.entries])


def with_plugin_root(entry: NativeEntry) -> NativeEntry:
    """With a plugin's directory written out, so that trusting the hook pins its script."""
    command = entry.command
    for name in PLUGIN_ROOTS:
        root = entry.env.get(name, "")
        if isinstance(command, str) and _PLAIN_PATH.fullmatch(root):
            command = re.sub(rf"\$(?:{name}\b|\{{{name}\}})", lambda _: root, command)  # noqa: B023
    return replace(entry, command=command)


def is_hookline(command: str | Sequence[str]) -> bool:
    """Whether a command calls hookline itself, which must not run inside hookline."""
    line = command if isinstance(command, str) else join(command)
    return _HOOKLINE.search(line + " ") is not None


def _has_failed(event: Event) -> bool:
    return isinstance(event, PostToolUse) and event.tool.ok is False


def _unrunnable(why: str) -> HandlerSpec:
    values: Mapping[str, Any] = {"why": why}
    return HandlerSpec("native", values)
