"""Finds and kills the processes of a run that left its process group.

Two trails lead to them on Linux: the tree below the leader, and a mark in the environment that
every descendant inherits, also one whose parents are long gone. Elsewhere there is no trail and
nothing is found. Must not know pipes or deadlines.
"""

import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from secrets import token_hex
from time import monotonic

__all__ = ["Mark", "kill_strays"]

VARIABLE = "HOOKLINE_RUN"

# Each round kills what the one before had no time to see; a fork bomb may not hold us for long.
ROUNDS_SECONDS = 0.5

# One that moves on faster than a round takes is missed by chance, so a few rounds have to find
# nobody. It can only be among the newest processes, and looking at those is quick.
EMPTY_ROUNDS = 5
NEWEST = 50


class Mark:
    """A token unique to one run, carried in its environment."""

    __slots__ = ("token",)

    def __init__(self, token: str = "") -> None:
        self.token = token or token_hex(8)

    def on(self, env: Mapping[str, str]) -> dict[str, str]:
        """``env`` with this mark added to those of the runs it is nested in."""
        outer = env.get(VARIABLE)
        return {**env, VARIABLE: f"{outer}.{self.token}" if outer else self.token}

    def bearers(self, among: int | None = None) -> Iterator[int]:
        """Every living process with this mark that we may look at, among so many of the newest."""
        needle = self.token.encode()
        for pid in _all_processes()[:among]:
            with suppress(OSError), open(f"/proc/{pid}/environ", "rb", buffering=0) as environ:
                if needle in environ.read():
                    yield pid


def kill_strays(leader: int, mark: Mark) -> None:
    """Kill all of the run's processes outside the leader's group, which ``killpg`` would miss."""
    killed: set[int] = set()
    last_round = monotonic() + ROUNDS_SECONDS
    found = _kill_round(chain(_descendants(leader), mark.bearers()), leader, killed)
    empty = 0 if found else EMPTY_ROUNDS - 2
    while empty < EMPTY_ROUNDS and monotonic() < last_round:
        found = _kill_round(chain(_descendants(leader), mark.bearers(NEWEST)), leader, killed)
        empty = 0 if found else empty + 1


def _kill_round(pids: Iterable[int], leader: int, killed: set[int]) -> bool:
    fresh = [pid for pid in pids if pid not in killed and _kill_outside(leader, pid)]
    killed.update(fresh)
    return bool(fresh)


def _kill_outside(group: int, pid: int) -> bool:
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) != group:
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def _all_processes() -> list[int]:
    """Newest first: one that keeps forking away from us is found before it can."""
    try:
        return sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True)
    except OSError:  # no such thing here, or no descriptor left to read it with
        return []


def _descendants(root: int) -> list[int]:
    """All at once: after the first kill the tree is no longer in one piece."""
    family = [root]
    for pid in family:
        family += _children(pid)
    return family[1:]


def _children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as children:
                yield from map(int, children.read().split())
