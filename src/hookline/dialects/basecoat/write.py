"""BaseCoat's ``hooks.json``, written from entries."""

from typing import Any

from hookline.dialects._write import JsonWriter
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "BaseCoatWriter"]


class BaseCoatWriter(JsonWriter):
    """Flat entries with a priority; there are no matchers."""

    path = "hooks.json"
    says = frozenset({"timeout", "env", "priority"})
    heeds = frozenset({"shell"})
    version = 1

    def hook(self, entry: NativeEntry) -> dict[str, Any]:
        """A command."""
        found: dict[str, Any] = {"type": "command", "command": entry.command}
        if entry.timeout is not None:
            found["timeoutSec"] = int(entry.timeout)
        if entry.env:
            found["env"] = dict(entry.env)
        if entry.priority is not None:
            found["priority"] = entry.priority
        return found


WRITER = BaseCoatWriter()
