"""Cursor's ``hooks.json``, written from entries."""

from collections.abc import Sequence
from typing import Any

from hookline.dialects._write import JsonWriter, searched
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "CursorWriter"]


class CursorWriter(JsonWriter):
    """Flat entries, each with its own matcher and its own word on failure."""

    path = ".cursor/hooks.json"
    says = frozenset({"matcher", "timeout", "fails_closed"})
    matched = frozenset({"preToolUse", "postToolUse", "postToolUseFailure"})
    version = 1

    def matcher(self, names: Sequence[str]) -> str:
        """A regex that is found anywhere, so it says where it begins and ends."""
        return searched(names)

    def hook(self, entry: NativeEntry) -> dict[str, Any]:
        """A command."""
        found: dict[str, Any] = {"command": entry.command}
        if entry.timeout is not None:
            found["timeout"] = int(entry.timeout)
        if entry.fails_closed:
            found["failClosed"] = True
        return found


WRITER = CursorWriter()
