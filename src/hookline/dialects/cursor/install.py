"""Cursor's hooks.json: where it is, and our entries in it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from hookline.dialects._install import JsonSettings
from hookline.dialects.cursor.codec import Cursor
from hookline.model.installing import Call, Entry, Scope, Target

__all__ = ["INSTALLER", "CursorHooks"]

_BEFORE_TOOLS = "preToolUse"
_CONTINUED = {"stop", "subagentStop"}
_TOLD_BEFORE = "postToolUse tells the same"


class CursorHooks(JsonSettings):
    """``~/.cursor/hooks.json``, and ``.cursor/hooks.json`` in a project.

    Commands and MCP calls have events of their own, on which a question can be put to the person;
    preToolUse comes before them and can only deny, so there they are left to those events. Whether
    a workspace is trusted cannot be seen from outside.
    """

    id = "cursor"
    support = Cursor.support
    clients = ("cursor", "cursor-agent")
    user_file = project_file = ".cursor/hooks.json"
    grouped = False
    frame: ClassVar[Mapping[str, object]] = {"version": 1}
    left_out: ClassVar[Mapping[str, str]] = {
        "afterShellExecution": _TOLD_BEFORE,
        "afterMCPExecution": _TOLD_BEFORE,
        "afterFileEdit": _TOLD_BEFORE,
    }
    matcher: ClassVar[str] = "^(?!Shell$|MCP:)"

    def handler(self, event: str, call: Call) -> Mapping[str, object]:
        """Seconds; a gate that crashes, hangs or answers nonsense stays shut."""
        entry: dict[str, object] = {
            "command": self.line(event, call),
            "timeout": self.timeout(event, call),
        }
        if self.closes(event):
            entry["failClosed"] = True
        if event == _BEFORE_TOOLS:
            entry["matcher"] = self.matcher
        if event in _CONTINUED:
            entry["loop_limit"] = self.support.stop_cap
        return entry

    def add(self, target: Target, content: bytes | None, call: Call) -> bytes:
        """As everywhere, but that a project's file also runs in the cloud."""
        installer = _IN_PROJECTS if target.scope is Scope.PROJECT else self
        return JsonSettings.add(installer, target, content, call)

    def inspect(self, target: Target, content: bytes) -> Sequence[Entry]:
        """Our entries; what our own matcher leaves out is asked about elsewhere."""
        ours = {CursorHooks.matcher, _IN_PROJECTS.matcher}
        return [
            replace(entry, matcher="")
            if entry.event == _BEFORE_TOOLS and entry.matcher in ours
            else entry
            for entry in super().inspect(target, content)
        ]


class _InProjects(CursorHooks):
    """Cloud agents run a project's hooks, and tell of no MCP call but by preToolUse."""

    matcher = "^(?!Shell$)"


_IN_PROJECTS = _InProjects()
INSTALLER = CursorHooks()
