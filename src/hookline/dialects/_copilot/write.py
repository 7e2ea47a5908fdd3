"""The hook files of GitHub's agents, written from entries."""

from typing import Any

from hookline.dialects._write import JsonWriter
from hookline.model.native import NativeEntry

__all__ = ["CopilotWriter"]


class CopilotWriter(JsonWriter):
    """Flat entries in a file of their own, with a command for bash."""

    path = ".github/hooks/hookline.json"
    says = frozenset({"matcher", "timeout", "env"})
    matched = frozenset({"preToolUse", "postToolUse", "permissionRequest"})
    heeds = frozenset({"headers", "allowedEnvVars"})
    notes = frozenset({"run_by"})
    version = 1

    def hook(self, entry: NativeEntry) -> dict[str, Any]:
        """A command."""
        found: dict[str, Any] = {"type": "command", "bash": entry.command}
        if entry.timeout is not None:
            found["timeoutSec"] = int(entry.timeout)
        if entry.env:
            found["env"] = dict(entry.env)
        return found
