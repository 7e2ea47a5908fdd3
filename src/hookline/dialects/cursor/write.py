"""Cursor's ``hooks.json``, written from entries."""

from hookline.dialects._write import JsonWriter

__all__ = ["WRITER", "CursorWriter"]


class CursorWriter(JsonWriter):
    """Flat entries, each with its own matcher and its own word on failure."""

    path = ".cursor/hooks.json"
    says = frozenset({"matcher", "timeout", "fails_closed"})
    matched = frozenset({"preToolUse", "postToolUse", "postToolUseFailure"})
    searches = True
    version = 1
    typed = False


WRITER = CursorWriter()
