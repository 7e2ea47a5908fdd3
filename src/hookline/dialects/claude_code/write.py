"""Claude Code's settings, written from entries."""

from typing import Any

from hookline.dialects._write import JsonWriter
from hookline.dialects.claude_code.matchers import TOOL_EVENTS
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "ClaudeWriter"]


class ClaudeWriter(JsonWriter):
    """Groups with a matcher; seconds, and a word on failure in each hook."""

    path = ".claude/settings.json"
    says = frozenset({"matcher", "timeout", "background", "fails_closed"})
    matched = TOOL_EVENTS
    heeds = frozenset({"shell", "headers"})
    notes = frozenset({"from", "source"})
    grouped = True

    def hook(self, entry: NativeEntry) -> dict[str, Any]:
        """A command."""
        found: dict[str, Any] = {"type": "command", "command": entry.command}
        if entry.timeout is not None:
            found["timeout"] = int(entry.timeout)
        if entry.background:
            found["async"] = True
        if entry.fails_closed:
            found["onFailure"] = "block"
        return found


WRITER = ClaudeWriter()
