"""Which process an event came from, and whether that process is still there.

A number alone says nothing once its process has ended, so it goes with the time of its start.
"""

import os
from contextlib import suppress

from msgspec import Struct

__all__ = ["Stat", "find_agent", "is_running", "read_stat"]

# What may stand between an agent and the line that it runs for a hook.
_BETWEEN = frozenset(
    {"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "tcsh", "csh", "env", "busybox"}
)


class Stat(Struct, frozen=True):
    """What ``/proc/PID/stat`` says of a process."""

    name: str
    has_ended: bool
    """Whether only its parent has yet to hear that it is gone."""
    parent: int
    started: int
    """In ticks since the machine was started."""


def read_stat(pid: int) -> Stat | None:
    """The process with this number; None where there is none, or the system has no ``/proc``."""
    with suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            # The name is in brackets, and may hold some itself.
            name, _, rest = file.read().partition(b"(")[2].rpartition(b")")
        fields = rest.split()
        return Stat(os.fsdecode(name), fields[0] in b"ZX", int(fields[1]), int(fields[19]))
    return None


def find_agent(client: int) -> tuple[int, int]:
    """The nearest ancestor of our client that is no shell: its number and start; (0, 0) for none.

    Agents start a shell for the line that they were given, and some start one for each hook file.
    """
    found = read_stat(client)
    pid = found.parent if found is not None else 0
    while pid > 1:
        found = read_stat(pid)
        if found is None:
            break
        if _find_program(pid, found) not in _BETWEEN:
            return pid, found.started
        pid = found.parent
    return 0, 0


def is_running(pid: int, started: int) -> bool:
    """Whether that very process is still there."""
    found = read_stat(pid)
    return found is not None and found.started == started and not found.has_ended


def _find_program(pid: int, stat: Stat) -> str:
    """What a process runs: one that runs a script has the script's name, and a shell's program."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).removesuffix(" (deleted)")
    except OSError:
        return stat.name
