"""Hooks under the keys that Claude Code's files have, which Copilot CLI knows as well."""

import json
from pathlib import Path

from interop.arena import Arena

__all__ = ["PASCAL", "use_pascal_keys"]

PASCAL = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "agentStop": "Stop",
    "notification": "Notification",
    "errorOccurred": "ErrorOccurred",
}


def use_pascal_keys(place: Arena) -> None:
    """Turns what was installed into the file of a person who prefers those keys."""
    file = Path(place.room.home, ".copilot", "hooks", "hookline.json")
    installed = json.loads(file.read_text(encoding="utf-8"))
    hooks = {}
    for camel, entries in installed["hooks"].items():
        if camel in PASCAL:
            called = json.dumps(entries).replace(
                f"hook copilot {camel}", f"hook copilot {PASCAL[camel]}"
            )
            hooks[PASCAL[camel]] = json.loads(called)
    file.write_text(json.dumps(installed | {"hooks": hooks}), encoding="utf-8")
