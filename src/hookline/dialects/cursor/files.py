"""Cursor's hook files, by Cursor's own rules: flat entries, and a switch to fail closed in each.

One moment has several events there. A hook on one of those for a single kind of tool runs for
that kind only, whichever platform the call comes from.
"""

import os
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hookline.dialects._entries import names_any, shown_to
from hookline.dialects._files import Files
from hookline.dialects._located import UnreadableText, read_object
from hookline.dialects._patterns import found, is_pattern
from hookline.dialects.cursor import DIALECT
from hookline.dialects.cursor.entries import Reading
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
