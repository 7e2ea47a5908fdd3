"""Codex's ``hooks.json``, written from entries: plain JSON, since one unknown key voids it all."""

import math

from hookline.dialects._write import JsonWriter

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
    windows_keys = ("commandWindows", "command_windows")

    def can_say(self, field: str, event: str) -> bool:
        """Codex waits for hooks at the end of a session, whatever they say."""
        return super().can_say(field, event) and (field, event) != ("background", _AT_THE_END)

    def granted(self, event: str, seconds: float) -> float:
        """When a session or a turn is cut short no hook gets more than a moment."""
        given = float(max(math.ceil(seconds), 1))
        return min(given, _LONGEST) if event in _MOMENTARY else given


WRITER = CodexWriter()
