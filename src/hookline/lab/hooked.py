"""Puts hookline into a room as a person would: install, and at the end the journal.

Always through the command line in a process of its own, so that what is tried is what people run.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.lab.ports import Room
from hookline.model.errors import HooklineError
from hookline.processes import CannotStart, Finished
from hookline.processes import run as run_process

__all__ = ["call_hookline", "install_hookline", "journal"]

_TIMEOUT = 120.0
_MOST = 10_000


def call_hookline(
    room: Room, *words: str, env: Mapping[str, str] | None = None, timeout: float = _TIMEOUT
) -> Finished:
    """Run ``hookline WORDS`` in the room's project. Raises HooklineError when it cannot start."""
    argv = (sys.executable, "-m", "hookline", *words)
    there = {**room.env, **(env or {})}
    try:
        return asyncio.run(
            run_process(argv, stdin=b"", cwd=room.project, env=there, timeout=timeout)
        )
    except CannotStart as error:
        raise HooklineError(str(error)) from error


def install_hookline(room: Room, dialect: str, *options: str) -> None:
    """Install hookline into the client's settings. Raises HooklineError."""
    words = ("install", dialect, *options)
    ran = call_hookline(room, *words)
    if ran.exit_code != 0:
        said = (ran.stderr or ran.stdout).decode(errors="replace").strip()
        why = "it did not end in time" if ran.timed_out else said.removeprefix("error:").strip()
        raise HooklineError(f"`hookline {' '.join(words)}` failed in the session's room: {why}")


def journal(room: Room) -> Sequence[Mapping[str, Any]]:
    """Every event that hookline judged in this room, the oldest first."""
    ran = call_hookline(room, "log", "--json", "-n", str(_MOST))
    if ran.exit_code:
        return ()  # nothing was written down
    return tuple(json.loads(line) for line in ran.stdout.splitlines())
