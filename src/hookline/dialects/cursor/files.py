"""Cursor's hook files, by Cursor's own rules: flat entries, and a switch to fail closed in each.

One moment has several events there. A hook on one of those for a single kind of tool runs for
that kind only, whichever platform the call comes from.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.dialects._entries import names_any, number, shown_to
from hookline.dialects._files import Files
from hookline.dialects._located import Located, UnreadableText, read_object
from hookline.dialects._patterns import found, is_pattern
from hookline.dialects.cursor import DIALECT
from hookline.model.errors import nearest
from hookline.model.events import AfterLlmCall, Event, ToolEvent
from hookline.model.hook import Hook, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, NativePlace, Voids, Where
from hookline.model.tools import ToolKind

__all__ = ["FILES", "CursorFiles"]

_K = ToolKind
# Events for one kind of tool; the editor's completions are nobody's tool call.
_KINDS: Mapping[str, frozenset[ToolKind]] = {
    "beforeShellExecution": frozenset({_K.SHELL}),
    "afterShellExecution": frozenset({_K.SHELL}),
    "beforeMCPExecution": frozenset({_K.MCP}),
    "afterMCPExecution": frozenset({_K.MCP}),
    "beforeReadFile": frozenset({_K.READ}),
    "afterFileEdit": frozenset({_K.WRITE, _K.EDIT}),
    "beforeTabFileRead": frozenset(),
    "afterTabFileEdit": frozenset(),
}
# What a matcher is held against: a key of the payload, or one word for the event.
_KEYS = {
    "preToolUse": "tool_name",
    "postToolUse": "tool_name",
    "postToolUseFailure": "tool_name",
    "subagentStart": "subagent_type",
    "subagentStop": "subagent_type",
    "beforeShellExecution": "command",
    "afterShellExecution": "command",
}
_WORDS = {
    "beforeReadFile": "Read",
    "afterFileEdit": "Write",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "stop": "Stop",
    "afterAgentResponse": "AgentResponse",
    "afterAgentThought": "AgentThought",
}
# Moments of other platforms at which Cursor would fire one of its events.
_ALSO = {
    "sessionStart": ("session_resume",),
    "beforeSubmitPrompt": ("steering_submit", "follow_up_submit"),
    "preCompact": ("before_compaction",),
    "afterShellExecution": ("post_tool_use_failure",),
}
_ONLY_HERE = {
    *_KINDS,
    "beforeSubmitPrompt",
    "afterAgentResponse",
    "afterAgentThought",
    "workspaceOpen",
}


class CursorFiles(Files):
    """The hook files of Cursor."""

    codec = DIALECT
    default_timeout = 60.0
    run_by = frozenset({"cursor"})
    also = _ALSO

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """``hooks.json`` in its places, and files with events of no other platform."""
        if path.endswith(("/.cursor/hooks.json", "/etc/cursor/hooks.json")):
            return True
        return path.endswith(".json") and names_any(content, _ONLY_HERE)

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """The one file."""
        if os.path.basename(os.path.normpath(directory)) != ".cursor":
            return None
        return [name for name in ("hooks.json",) if name in names]

    def places(self, where: Where) -> Sequence[NativePlace]:
        """Its own files, the machine's first, and those of Claude Code that it runs as well."""
        own = (
            (os.path.join(where.root, "etc/cursor/hooks.json"), Layer.MANAGED, "enterprise"),
            (os.path.join(where.project, ".cursor/hooks.json"), Layer.PROJECT, "project"),
            (os.path.join(where.home, ".cursor/hooks.json"), Layer.USER, "user"),
        )
        claude = (
            (os.path.join(where.project, ".claude/settings.local.json"), Layer.PROJECT, "local"),
            (os.path.join(where.project, ".claude/settings.json"), Layer.PROJECT, "project"),
            (os.path.join(where.home, ".claude/settings.json"), Layer.USER, "user"),
        )
        return tuple(
            NativePlace(path=path, layer=layer, scope=scope, dialect=dialect)
            for dialect, places in (("", own), ("claude-code", claude))
            for path, layer, scope in places
        )

    # ── what is in them ─────────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """What stands in a file."""
        try:
            root = read_object(content)
        except UnreadableText as error:
            flaw = NativeFlaw(error.line, error.message, "Cursor runs nothing in it", Voids.FILE)
            return NativeFile(dialect=self.dialect, path=path, flaws=(flaw,))
        reading = Reading()
        entries = tuple(reading.events(root))
        return NativeFile(
            dialect=self.dialect, path=path, entries=entries, flaws=tuple(reading.flaws)
        )

    # ── rules ───────────────────────────────────────────────────────────────────────────────

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """The event's kind of tool, then a regex that is found anywhere."""
        if not _is_about(entry.event, event):
            return False
        matcher = entry.matcher or "*"
        key, word = _KEYS.get(entry.event, ""), _WORDS.get(entry.event, "")
        if matcher == "*" or not (key or word) or not is_pattern(matcher):
            return True
        value = word or str(shown_to(entry, event, self.codec).get(key, ""))
        return found(matcher, value)

    def start(self, entry: NativeEntry) -> Start:
        """Where its file is for: a project, or the person's own folder of settings."""
        return Start(directory=entry.directory, variables=entry.env)

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """Each in the directory that its file is for."""
        placed = [_in(file, _directory(file.path, project_dir)) for file in files]
        return super().hooks(placed, layer=layer, project_dir=project_dir)


def _directory(path: str, project_dir: str) -> str:
    """The project that a file is in; the folder of any other file."""
    folder = os.path.dirname(path)
    owner = os.path.dirname(folder)
    in_project = project_dir and f"{owner}/".startswith(f"{project_dir.rstrip('/')}/")
    return owner if in_project and os.path.basename(folder) == ".cursor" else folder


def _in(file: NativeFile, directory: str) -> NativeFile:
    entries = tuple(replace(entry, directory=directory) for entry in file.entries)
    return replace(file, entries=entries)


def _is_about(native: str, event: Event) -> bool:
    """Whether Cursor would fire this of its several events for one moment."""
    kinds = _KINDS.get(native)
    if kinds is not None and isinstance(event, ToolEvent):
        kind = _K.MCP if event.tool.mcp is not None else event.tool.kind
        return kind in kinds
    if isinstance(event, AfterLlmCall):
        return (native == "afterAgentThought") == _is_thought(event)
    return True


def _is_thought(event: AfterLlmCall) -> bool:
    parts = event.messages[-1].get("content") if event.messages else None
    return isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("type") == "thinking" for part in parts
    )


FILES = CursorFiles()


_TYPES = ("command", "prompt")
_ENTRY_KEYS = {"type", "command", "timeout", "matcher", "failClosed"}
_SLOW = 1000


class Reading:
    """One pass over a file; the mistakes found are in ``flaws``.

    Cursor is closed source: where nobody has said what it does with a mistake, the entry is kept as
    one that fails, under what the entry itself says of failure.
    """

    def __init__(self) -> None:
        self.flaws: list[NativeFlaw] = []

    def events(self, root: Located) -> Iterator[NativeEntry]:
        """Every entry."""
        if root.get("version") not in (None, 1):
            message = "`version` must be 1: of any other nothing is known"
            self._flaw(root.line_of("version"), message, 'write `"version": 1`', Voids.NOTHING)
        events = root.members.get("hooks", Located({}, root.line))
        if not isinstance(events.value, dict):
            self._flaw(events.line, "`hooks` must be an object of events", "", Voids.FILE)
        for event, entries in events.members.items():
            unknown = ""
            if DIALECT.support.find(event) is None:
                hint = nearest(event, DIALECT.support.events)
                unknown = self._flaw(
                    entries.line, f"Cursor has no event `{event}`, and nothing there runs", hint
                )
            elif not isinstance(entries.value, list):
                self._flaw(entries.line, f"`{event}` must be a list of hooks")
            for entry in entries.items:
                yield self._entry(event, entry, unknown)

    def _entry(self, event: str, entry: Located, flaw: str) -> NativeEntry:
        said: Mapping[str, Any] = entry.plain() if isinstance(entry.value, dict) else {}
        kind, command, matcher = (said.get(key) for key in ("type", "command", "matcher"))
        flaw = flaw or self._mistake(entry, said)
        return NativeEntry(
            event=event,
            type=kind if isinstance(kind, str) else "command",
            command=command if isinstance(command, str) else "",
            matcher=matcher if isinstance(matcher, str) else None,
            timeout=self._timeout(entry, said),
            fails_closed=True if said.get("failClosed") is True else None,
            options={key: value for key, value in said.items() if key not in _ENTRY_KEYS},
            line=entry.line,
            flaw=flaw,
        )

    def _mistake(self, entry: Located, said: Mapping[str, Any]) -> str:
        kind, matcher = said.get("type", "command"), said.get("matcher")
        needed = "prompt" if kind == "prompt" else "command"
        if not isinstance(entry.value, dict):
            return self._flaw(entry.line, "a hook must be an object")
        if "hooks" in said:
            hint = "put `matcher` beside `command`"
            return self._flaw(entry.line, "Cursor's hooks stand in no groups", hint)
        if kind not in _TYPES:
            message = f"`type` is one of {', '.join(_TYPES)}, not `{kind}`"
            return self._flaw(entry.line_of("type"), message)
        if not isinstance(said.get(needed), str) or not said[needed].strip():
            return self._flaw(entry.line_of(needed), f"the hook has no `{needed}`")
        if matcher is not None and not isinstance(matcher, str):
            return self._flaw(entry.line_of("matcher"), "`matcher` must be a text")
        if matcher and matcher != "*" and not is_pattern(matcher):
            line = entry.line_of("matcher")
            return self._flaw(line, f"the matcher `{matcher}` is no regex")
        if not isinstance(said.get("failClosed", False), bool):
            return self._flaw(entry.line_of("failClosed"), "`failClosed` must be true or false")
        return ""

    def _timeout(self, entry: Located, said: Mapping[str, Any]) -> float | None:
        if said.get("timeout") is None:
            return None
        given, line = number(said["timeout"]), entry.line_of("timeout")
        if given is None or given <= 0:
            message = "`timeout` must be a number of seconds above 0"
            self._flaw(line, message, "", Voids.NOTHING)
            return None
        if given >= _SLOW:
            message = f"`timeout` is in seconds: this is {given / 60:.0f} minutes"
            self._flaw(line, message, f"write {given / 1000:g}", Voids.NOTHING)
        return given

    def _flaw(self, line: int, message: str, hint: str = "", voids: Voids = Voids.ENTRY) -> str:
        self.flaws.append(NativeFlaw(line, message, hint, voids))
        return message
