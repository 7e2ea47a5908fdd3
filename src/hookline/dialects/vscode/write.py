"""VS Code's hook files, written from entries. It has no matchers: a hook there sees every tool."""

from typing import Any

from hookline.dialects._write import JsonWriter
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "VSCodeWriter"]


class VSCodeWriter(JsonWriter):
    """Flat entries in a file of their own."""

    path = ".github/hooks/hookline.json"
    says = frozenset({"timeout", "env"})

    def hook(self, entry: NativeEntry) -> dict[str, Any]:
        """A command."""
        found: dict[str, Any] = {"type": "command", "command": entry.command}
        if entry.timeout is not None:
            found["timeout"] = int(entry.timeout)
        if entry.env:
            found["env"] = dict(entry.env)
        return found


WRITER = VSCodeWriter()
