"""The hook files of GitHub's agents, written from entries."""

from hookline.dialects._write import JsonWriter

__all__ = ["CopilotWriter"]


class CopilotWriter(JsonWriter):
    """Flat entries in a file of their own, with a command for bash."""

    path = ".github/hooks/hookline.json"
    says = frozenset({"matcher", "timeout", "env"})
    matched = frozenset({"preToolUse", "postToolUse", "permissionRequest"})
    heeds = frozenset({"headers", "allowedEnvVars"})
    notes = frozenset({"run_by"})
    version = 1
    windows_keys = ("powershell",)
    command_key = "bash"
    timeout_key = "timeoutSec"
