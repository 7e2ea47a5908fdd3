"""Cursor's ``hooks.json``, written from entries."""

from collections.abc import Sequence

from hookline.dialects._write import JsonWriter, searched

__all__ = ["WRITER", "CursorWriter"]


class CursorWriter(JsonWriter):
    """Flat entries, each with its own matcher and its own word on failure."""

    path = ".cursor/hooks.json"
    says = frozenset({"matcher", "timeout", "fails_closed"})
    matched = frozenset({"preToolUse", "postToolUse", "postToolUseFailure"})
    version = 1
    typed = False

    def matcher(self, names: Sequence[str]) -> str:
        """A regex that is found anywhere, so it says where it begins and ends."""
        return searched(names)


WRITER = CursorWriter()
