"""The hook files of GitHub's agents, by their own rules: in order, and a crash denies a tool.

Knows what both agents share; where each looks is for its own folder.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.dialects._copilot.entries import (
    EVERYTHING,
    MATCHED,
    Reading,
    added_variables,
    by_claude_rules,
    is_settings,
)
from hookline.dialects._copilot.names import camel_name, is_pascal
from hookline.dialects._copilot.tools import CLAUDE_NAMES, call_for
from hookline.dialects._entries import voided
from hookline.dialects._files import Files
from hookline.dialects._located import UnreadableText, read_json, read_object
from hookline.dialects._patterns import whole
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import Hook, Lane, Layer, OnError, Start
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, Voids
from hookline.model.tools import ToolKind

__all__ = ["CopilotFiles", "in_repository", "is_in", "is_vscodes"]

_OTHER_FIELDS = {"notification": "kind", "preCompact": "trigger"}
# Moments of other platforms at which Copilot would fire one of its events.
_ALSO = {
    "sessionStart": ("session_resume",),
    "userPromptSubmitted": ("steering_submit", "follow_up_submit"),
}


def in_repository(path: str) -> bool:
    """Whether a file is one of those that every agent of GitHub's runs."""
    return is_in(os.path.dirname(path), ".github/hooks") and path.endswith(".json")


def is_vscodes(content: bytes) -> bool:
    """Whether a file has no version and only VS Code's names of events: then it is VS Code's."""
    try:
        root = read_json(content)
    except UnreadableText:
        return False
    events = root.members["hooks"].members if "hooks" in root.members else {}
    return bool(events) and "version" not in root.members and all(map(is_pascal, events))


def is_in(folder: str, *places: str) -> bool:
    """Whether a folder is one of these, by the end of its path."""
    return any(f"/{os.path.normpath(folder)}".endswith(f"/{place}") for place in places)


class CopilotFiles(Files):
    """What both agents do with a file."""

    default_timeout = 30.0

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """The repository's hook files, the last name first, as Copilot runs them."""
        if not is_in(directory, ".github/hooks"):
            return None
        return [name for name in sorted(names, reverse=True) if name.endswith(".json")]

    def runners(self, path: str) -> frozenset[str]:
        """Of a repository's hook files, every agent of GitHub's and VS Code."""
        every = frozenset({"copilot", "copilot-cloud", "vscode"})
        return every if in_repository(path) else self.run_by

    # ── what is in them ─────────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """What stands in a file."""
        try:
            root = read_object(content)
        except UnreadableText as error:
            flaw = NativeFlaw(error.line, error.message, "Copilot rejects the file", Voids.FILE)
            return NativeFile(dialect=self.dialect, path=path, flaws=(flaw,))
        reading = Reading(path, self.codec.support)
        entries = tuple(reading.events(root))
        void = next((flaw.message for flaw in reading.flaws if flaw.voids is Voids.FILE), "")
        if void:
            entries = voided(entries, f"Copilot runs no hook of this file: {void}")
        off = root.get("disableAllHooks") is True
        return NativeFile(
            dialect=self.dialect,
            path=path,
            entries=entries,
            flaws=tuple(reading.flaws),
            off="`disableAllHooks` in it is true" if off else "",
        )

    # ── rules ───────────────────────────────────────────────────────────────────────────────

    def canonical(self, native: str) -> tuple[str, ...]:
        """With the moments that are events of their own elsewhere."""
        return (*super().canonical(native), *_ALSO.get(camel_name(native), ()))

    def _field(self, event: Event, kind: str) -> str:
        word = self.codec.native_word(kind, event)
        return str(getattr(event, _OTHER_FIELDS[kind], "")) if word is None else word

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """A regex for the whole name; Claude Code's rules in groups and under its event names."""
        kind, matcher = camel_name(entry.event), entry.matcher
        if matcher is None or entry.flaw or kind not in MATCHED:
            return True
        claude = by_claude_rules(entry)
        if claude and matcher in {"", *EVERYTHING}:
            return True
        if not isinstance(event, ToolEvent):
            value = event.agent.name if kind == "subagentStart" else self._field(event, kind)
            return whole(matcher, value)
        name = _runtime_name(event, kind)
        called = CLAUDE_NAMES.get(name, name)
        if not claude:
            names = {name, called} if is_pascal(entry.event) else {name}
            return any(whole(matcher, each) for each in names)
        accepted = {name, called, *({"Task"} if called == "Agent" else ())}
        return not accepted.isdisjoint(matcher.split("|")) or whole(matcher, called)

    def on_error(self, entry: NativeEntry) -> OnError:
        """A hook that crashes before a tool denies it; what Copilot never runs denies nothing."""
        guards = camel_name(entry.event) == "preToolUse" and not entry.flaw
        return OnError.BLOCK if guards else OnError.WARN

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane | None:
        """One after another; before a tool each sees the last one's arguments, until a deny."""
        kind = camel_name(entry.event)
        before = kind == "preToolUse"
        return Lane(name=f"{self.dialect} {kind}", piped=before, deny_ends=before)

    def variables(self, path: str) -> Mapping[str, str]:
        """Where the file is, and its plugin."""
        return added_variables(path)

    def start(self, entry: NativeEntry) -> Start:
        """In bash, in the project or a directory of it."""
        return Start(interpreter=("bash", "-c"), directory=entry.directory, variables=entry.env)

    def _hook(self, *given: Any) -> Hook:
        """With the variables that headers may use."""
        hook = super()._hook(*given)
        entry: NativeEntry = given[1][0]
        allowed = () if entry.flaw else entry.options.get("allowedEnvVars", ())
        return replace(hook, env=tuple(allowed)) if allowed else hook

    def _placed(self, entry: NativeEntry, project_dir: str) -> NativeEntry:
        """Plugins name the project in braces."""
        if project_dir and isinstance(entry.command, str):
            command = entry.command.replace("{{project_dir}}", project_dir)
            entry = replace(entry, command=command)
        return super()._placed(entry, project_dir)

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """A repository's settings that switch hooks off leave those of the policy only."""
        if any(file.off and _is_repository_settings(file.path) for file in files):
            files = [file for file in files if "/policy.d/" in file.path]
        return super().hooks(files, layer=layer, project_dir=project_dir)


def _is_repository_settings(path: str) -> bool:
    return is_settings(path) and is_in(os.path.dirname(path), ".github/copilot")


def _runtime_name(event: ToolEvent, kind: str) -> str:
    """The tool as Copilot calls it, which has other names where permission is asked."""
    tool = event.tool
    if kind == "permissionRequest" and tool.mcp is not None:
        return f"{tool.mcp.server}/{tool.mcp.tool}"
    changes = tool.kind in {ToolKind.WRITE, ToolKind.EDIT} and tool.path is not None
    return "edit" if kind == "permissionRequest" and changes else call_for(tool)[0]
