"""Claude Code's settings, written from entries."""

from hookline.dialects._write import JsonWriter
from hookline.dialects.claude_code.matchers import TOOL_EVENTS

__all__ = ["WRITER", "ClaudeWriter"]


class ClaudeWriter(JsonWriter):
    """Groups with a matcher; seconds, and a word on failure in each hook."""

    path = ".claude/settings.json"
    says = frozenset({"matcher", "timeout", "background", "fails_closed"})
    matched = TOOL_EVENTS
    heeds = frozenset({"shell", "headers"})
    notes = frozenset({"from", "source"})
    grouped = True
    closing = ("onFailure", "block")


WRITER = ClaudeWriter()
