"""Codex's ``hooks.json``, written from entries: plain JSON, since one unknown key voids it all."""

import math
from typing import Any

from hookline.dialects._write import JsonWriter
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "CodexWriter"]

_AT_THE_END = "SessionEnd"
_MOMENTARY = {_AT_THE_END, "Interrupt"}
_LONGEST = 3.0


class CodexWriter(JsonWriter):
    """Groups with a matcher, and whole seconds."""

    path = ".codex/hooks.json"
    says = frozenset({"matcher", "timeout", "background"})
    matched = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse"})
    notes = frozenset({"key"})
    grouped = True

    def can_say(self, field: str, event: str) -> bool:
        """Codex waits for hooks at the end of a session, whatever they say."""
        return super().can_say(field, event) and (field, event) != ("background", _AT_THE_END)

    def granted(self, event: str, seconds: float) -> float:
        """When a session or a turn is cut short no hook gets more than a moment."""
        given = float(max(math.ceil(seconds), 1))
        return min(given, _LONGEST) if event in _MOMENTARY else given

    def hook(self, entry: NativeEntry) -> dict[str, Any]:
        """A command."""
        found: dict[str, Any] = {"type": "command", "command": entry.command}
        if entry.timeout is not None:
            found["timeout"] = int(entry.timeout)
        if entry.background:
            found["async"] = True
        return found


WRITER = CodexWriter()
