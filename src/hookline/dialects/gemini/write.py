"""Gemini CLI's settings, written from entries: milliseconds, and names for hooks."""

from typing import Any

from hookline.dialects._write import JsonWriter
from hookline.dialects.gemini.entries import TOOL_EVENTS
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "GeminiWriter"]


class GeminiWriter(JsonWriter):
    """Definitions with a matcher, each of which may ask for a sequence."""

    path = ".gemini/settings.json"
    says = frozenset({"matcher", "timeout", "env", "name", "sequential"})
    matched = frozenset(TOOL_EVENTS)
    searches = True
    grouped = True
    units = 1000

    def group(self, entry: NativeEntry) -> dict[str, Any]:
        """The matcher, and whether hooks wait for each other."""
        return {**super().group(entry), **({"sequential": True} if entry.sequential else {})}


WRITER = GeminiWriter()
