"""Tells an event loop that a child has exited, and leaves the child unreaped until asked.

As long as it is unreaped its number cannot pass to a stranger, so its group can still be
signalled safely. Knows exit notices; must not know pipes, deadlines or signals.
"""

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Protocol

__all__ = ["Watch", "watch"]

# None sends every child down the portable path, as on a system without pidfds.
open_pidfd: Callable[[int], int] | None = getattr(os, "pidfd_open", None)


class Watch(Protocol):
    """A standing order to report one child's exit."""

    def reap(self) -> int | None:
        """The exit code of the exited child, negative for a signal; None when it was lost."""
        ...

    def close(self) -> None: ...


def watch(loop: AbstractEventLoop, pid: int, on_exit: Callable[[], None]) -> Watch:
    """Call ``on_exit`` once, from the loop, when the child ``pid`` has exited."""
    if open_pidfd is not None:
        # Out of descriptors, or in a sandbox that forbids the call, a thread still works.
        with suppress(OSError):
            return _DescriptorWatch(loop, pid, open_pidfd(pid), on_exit)
    return _ThreadWatch(loop, pid, on_exit)


class _DescriptorWatch:
    def __init__(
        self, loop: AbstractEventLoop, pid: int, pidfd: int, on_exit: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._pid = pid
        self._pidfd = pidfd
        self._on_exit = on_exit
        try:
            loop.add_reader(pidfd, self._readable)
        except BaseException:
            os.close(pidfd)
            raise

    def _readable(self) -> None:
        # An exited child's pidfd stays readable: still registered, it would spin the loop.
        self._loop.remove_reader(self._pidfd)
        self._on_exit()

    def reap(self) -> int | None:
        return _reap(self._pid)

    def close(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)


class _ThreadWatch:
    """One thread per child, not a pool: a full pool would hide the exit of the next child."""

    def __init__(self, loop: AbstractEventLoop, pid: int, on_exit: Callable[[], None]) -> None:
        self._loop = loop
        self._pid = pid
        self._on_exit = on_exit
        self._code: int | None = None
        Thread(target=self._wait, name=f"watch-{pid}", daemon=True).start()

    def _wait(self) -> None:
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        else:
            # macOS before Python 3.13 can only wait by reaping. The group's number stays taken
            # while a member lives, so signalling it a moment later is still all but safe.
            self._code = _reap(self._pid)
        with suppress(RuntimeError):  # the loop was closed: nobody is left to tell
            self._loop.call_soon_threadsafe(self._on_exit)

    def reap(self) -> int | None:
        return _reap(self._pid) if hasattr(os, "waitid") else self._code

    def close(self) -> None:
        """Nothing to undo: the thread ends with the child."""


def _reap(pid: int) -> int | None:
    # Popen.wait() reports 0 for a status it lost (SIGCHLD ignored, a foreign waitpid); to a
    # caller who reads 0 as consent that would be a lie.
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None
