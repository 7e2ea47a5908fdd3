"""Finds and kills the processes of a run that left its process group.

Two trails lead to them on Linux: the tree below the leader, and a mark in the environment that
every descendant inherits, also one whose parents are long gone. Elsewhere there is no trail and
nothing is found. Must not know pipes or deadlines.
"""

import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from secrets import token_hex
from subprocess import DEVNULL, Popen
from time import monotonic, sleep

__all__ = ["Mark", "guard_runs", "guarded", "kill_strays"]

VARIABLE = "HOOKLINE_RUN"

# Each round kills what the one before had no time to see; a fork bomb may not hold us for long.
ROUNDS_SECONDS = 0.5

# One that moves on faster than a round takes is missed by chance, so a few rounds have to find
# nobody. It can only be among the newest processes, and looking at those is quick.
EMPTY_ROUNDS = 5
NEWEST = 50

# A program shows no environment while it is being started, which its starter may not wait for:
# on a machine with much to do that takes longer than our way here.
STARTING_SECONDS = 0.1
STARTING_PAUSE = 0.0005

# In /proc/PID/stat it is the 51st, and the first two are the number and the name.
_ENVIRONMENT_END = 51 - 3


class Mark:
    """A token unique to one run, carried in its environment."""

    __slots__ = ("token",)

    def __init__(self, token: str = "") -> None:
        self.token = token or token_hex(8)

    def on(self, env: Mapping[str, str]) -> dict[str, str]:
        """``env`` with this mark added to those of the runs it is nested in."""
        outer = env.get(VARIABLE)
        return {**env, VARIABLE: f"{outer}.{self.token}" if outer else self.token}

    def bearers(self, among: int | None = None, *, patient: bool = False) -> Iterator[int]:
        """Every living process with this mark that we may look at, among so many of the newest.

        ``patient`` waits for programs that are only just being started. Not for who looks again
        and again: meanwhile one that moves on would be gone.
        """
        needle = self.token.encode()
        starting: list[int] = []
        for pid in _all_processes()[:among]:
            shown = _environment(pid)
            if needle in shown:
                yield pid
            elif patient and not shown and _has_program(pid):
                starting.append(pid)
        # All of them together, since there may be many.
        last_look = monotonic() + STARTING_SECONDS
        for pid in starting:
            while _is_starting(pid) and monotonic() < last_look:
                sleep(STARTING_PAUSE)
            if needle in _environment(pid):
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


def _environment(pid: int) -> bytes:
    """What it was started with; empty where we may not look, and where there is none."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb", buffering=0) as environ:
        return environ.read()
    return b""


def _has_program(pid: int) -> bool:
    """A thread of the kernel and a zombie have none, and nobody else's can be looked at."""
    with suppress(OSError):
        return bool(os.readlink(f"/proc/{pid}/exe"))
    return False


def _is_starting(pid: int) -> bool:
    """Whether there is no place yet for its environment; where that is only empty, there is."""
    with suppress(OSError, IndexError):
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as stat:
            fields = stat.read().rpartition(b")")[2].split()
        return fields[_ENVIRONMENT_END] == b"0" and _has_program(pid)
    return False


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


_GUARDIAN = str(Path(__file__).with_name("_guardian.py"))


class _Guarding:
    """The guardian, started with the first run, and what it has to know."""

    def __init__(self) -> None:
        self.wanted = False
        self._under_way: set[str] = set()
        self._pipe = -1
        self._process: Popen[bytes] | None = None

    def begin(self, token: str) -> None:
        self._under_way.add(token)
        if not self._say(f"+{token}\n"):
            self._start()

    def end(self, token: str) -> None:
        self._under_way.discard(token)
        self._say(f"-{token}\n")

    def _say(self, line: str) -> bool:
        if self._pipe < 0:
            return False
        try:
            os.write(self._pipe, line.encode())
        except BlockingIOError:
            return True  # it is there, and is slow; at worst it looks for one that has ended
        except OSError:
            return False  # somebody has killed it
        return True

    def _start(self) -> None:
        """A new one, which is told all that is under way."""
        self._forget()
        # Without one, runs are as they are everywhere else: it is never worth failing for.
        with suppress(OSError):
            theirs, self._pipe = os.pipe()
            try:
                os.set_blocking(self._pipe, False)
                self._process = Popen(  # noqa: S603 - our own interpreter and our own program
                    [sys.executable, "-I", "-S", _GUARDIAN],
                    stdin=theirs,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    cwd="/",
                    env={},
                    start_new_session=True,
                )
            finally:
                os.close(theirs)
        if self._process is not None:
            for token in self._under_way:
                self._say(f"+{token}\n")

    def _forget(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe = -1
        if self._process is not None:
            self._process.poll()
            self._process.returncode = 0  # it may outlive us, and nobody waits for it
        self._process = None


_guarding = _Guarding()


def guard_runs() -> None:
    """From now on the programs that this process runs end with it, however it ends."""
    _guarding.wanted = True


@contextmanager
def guarded(mark: Mark) -> Iterator[None]:
    """For the length of one run, if runs are to be guarded here."""
    if not _guarding.wanted:
        yield
        return
    # Before it is started: we may be gone before we know its number.
    _guarding.begin(mark.token)
    try:
        yield
    finally:
        _guarding.end(mark.token)
