"""One small hook file for each platform, with a program that denies by that platform's contract.

Every file guards shell commands, and has a second hook where the platform lets it say more.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["EXAMPLES", "Example", "place"]


class Example(NamedTuple):
    """A platform's file, and the program it calls."""

    file: str
    text: str
    program: str
    """A shell script that denies what mentions MK_BAD, in this platform's words."""


def _json(data: object) -> str:
    return json.dumps(data, indent=2) + "\n"


def _script(deny: str) -> str:
    return f"""#!/bin/sh
if [ "$1" = hook ]; then echo before_tool_call; exit 0; fi
case "$(cat)" in *MK_BAD*) {deny} ;; esac
exit 0
"""


def _says(body: object) -> str:
    return f"echo '{json.dumps(body)}'"


_EXIT = _script("echo MK_DENY >&2; exit 2")
_RUN = "{project}/guard.sh"
_COPILOT = Example(
    ".github/hooks/guard.json",
    _json(
        {
            "version": 1,
            "hooks": {
                "preToolUse": [
                    {"type": "command", "bash": _RUN, "timeoutSec": 7, "env": {"LEVEL": "high"}}
                ],
                "agentStop": [{"type": "command", "bash": "exit 0", "cwd": "."}],
            },
        }
    ),
    _script(_says({"permissionDecision": "deny", "permissionDecisionReason": "MK_DENY"})),
)

EXAMPLES: Mapping[str, Example] = {
    "claude-code": Example(
        ".claude/settings.json",
        _json(
            {
                "hooks": {
                    "PreToolUse": [
                        {
                            "matcher": "Bash",
                            "hooks": [{"type": "command", "command": _RUN, "timeout": 7}],
                        }
                    ],
                    "SessionStart": [{"hooks": [{"type": "command", "command": "echo hello"}]}],
                }
            }
        ),
        _EXIT,
    ),
    "codex": Example(
        ".codex/hooks.json",
        _json(
            {
                "hooks": {
                    "PreToolUse": [
                        {
                            "matcher": "^Bash$",
                            "hooks": [{"type": "command", "command": _RUN, "timeout": 7}],
                        }
                    ],
                    "Stop": [{"hooks": [{"type": "command", "command": "exit 0"}]}],
                }
            }
        ),
        _EXIT,
    ),
    "gemini": Example(
        ".gemini/settings.json",
        _json(
            {
                "hooks": {
                    "BeforeTool": [
                        {
                            "matcher": "run_shell_command",
                            "sequential": True,
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": _RUN,
                                    "name": "guard",
                                    "timeout": 7000,
                                    "env": {"LEVEL": "high"},
                                }
                            ],
                        }
                    ],
                    "BeforeModel": [{"hooks": [{"type": "command", "command": "exit 0"}]}],
                }
            }
        ),
        _EXIT,
    ),
    "cursor": Example(
        ".cursor/hooks.json",
        _json(
            {
                "version": 1,
                "hooks": {
                    "beforeShellExecution": [{"command": _RUN, "timeout": 7, "failClosed": True}],
                    "stop": [{"command": "exit 0"}],
                },
            }
        ),
        _script(_says({"permission": "deny", "user_message": "MK_DENY"})),
    ),
    "copilot": _COPILOT,
    "copilot-cloud": _COPILOT,
    "vscode": Example(
        ".github/hooks/guard.json",
        _json(
            {
                "hooks": {
                    "PreToolUse": [{"type": "command", "command": _RUN, "timeout": 7}],
                    "PreCompact": [{"type": "command", "command": "exit 0"}],
                }
            }
        ),
        _EXIT,
    ),
    "docker-agent": Example(
        "agent.yaml",
        """agents:
  root:
    model: openai/gpt-5
    hooks:
      pre_tool_use:
        - matcher: shell
          hooks:
            - type: command
              command: "{project}/guard.sh"
              timeout: 7
      turn_start:
        - type: command
          command: echo hello
""",
        _EXIT,
    ),
    "kodelet": Example(
        ".kodelet/hooks/guard", "", _script(_says({"blocked": True, "reason": "MK_DENY"}))
    ),
    "basecoat": Example(
        "hooks.json",
        _json(
            {
                "version": 1,
                "hooks": {
                    "PreToolUse": [
                        {"type": "command", "command": _RUN, "timeoutSec": 7, "priority": 10}
                    ],
                    "OnBudgetExceeded": [{"type": "command", "command": "exit 0"}],
                },
            }
        ),
        _script(_says({"action": "block", "reason": "MK_DENY"})),
    ),
}


def place(name: str, project: Path) -> Path:
    """Puts a platform's example into a project; returns its file."""
    example = EXAMPLES[name]
    program = project / "guard.sh"
    file = project / example.file
    file.parent.mkdir(parents=True, exist_ok=True)
    if name == "kodelet":
        program = file
    else:
        file.write_text(example.text.replace("{project}", str(project)), encoding="utf-8")
    program.write_text(example.program, encoding="utf-8")
    program.chmod(0o755)
    return file
