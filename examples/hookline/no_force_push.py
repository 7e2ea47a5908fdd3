#!/usr/bin/env python3
"""A hook program in one file: run it as `run: ./no_force_push.py`, or import its function."""

import hookline
from hookline import Answer, PreToolUse, deny, hook


@hook("pre_tool_use", tool="shell")
def no_force_push(event: PreToolUse) -> Answer | None:
    """Denies a push that overwrites what nobody has looked at."""
    command = event.tool.command or ""
    if "git push" in command and ("--force" in command.split() or "-f" in command.split()):
        return deny("Use --force-with-lease: it does not overwrite what you have not seen.")
    return None


if __name__ == "__main__":
    hookline.main()
