"""Ends a daemon from another process, and nothing else that only has its number."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from hookline._version import __version__
from hookline.daemon.ending import GRACE
from hookline.daemon.instance import Holder, connect, holder, is_held_by
from hookline.daemon.peers import peer_pid
from hookline.model.errors import HooklineError

__all__ = ["end", "until"]

_PATIENCE = GRACE + 10.0
"""Seconds that a daemon which was told to end gets for it: what it runs has some of its own."""

_LAST = 10.0
_POLL = 0.05


def end(home: str, found: Holder) -> bool:
    """Whether it had to be killed. Raises HooklineError when it does not end, or may be another."""

    def gone() -> bool:
        return holder(home, __version__) != found

    with suppress(ProcessLookupError), _signalling(found.pid) as send:
        _make_sure(home, found)
        send(signal.SIGTERM)
        send(signal.SIGCONT)  # one that was frozen hears nothing else
        if not until(gone, _PATIENCE):
            send(signal.SIGKILL)
            if not until(gone, _LAST):
                raise HooklineError(f"process {found.pid} was killed, and its lock is still held")
            return True
    if not until(gone, _LAST):
        raise HooklineError(f"process {found.pid} is gone, and its lock is still held")
    return False


@contextmanager
def _signalling(pid: int) -> Iterator[Callable[[signal.Signals], None]]:
    """What sends signals to the process that has this number now, and never to a later one."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except (OSError, AttributeError):
        # Neither every system nor every kernel has it.
        yield lambda number: os.kill(pid, number)
        return
    try:
        yield lambda number: signal.pidfd_send_signal(process, number)
    finally:
        os.close(process)


def _make_sure(home: str, found: Holder) -> None:
    """Raises HooklineError unless the system says, too, that this process is the daemon.

    Anything can be written into a file, and in a container that shares the home the same number is
    another process.
    """
    listening: int | None = -1
    with suppress(OSError), connect(home, __version__, 1.0) as sock:
        listening = peer_pid(sock)
    if listening in {None, found.pid} or is_held_by(home, __version__, found.pid):
        return
    if listening != -1:
        raise HooklineError(
            f"the daemon calls itself process {found.pid}, and is not that one here: "
            "stop it in the container where it runs"
        )
    raise HooklineError(
        f"the lock file names process {found.pid}, and nothing else says that it is the daemon, "
        f"so it was left alone; if you know that it is: kill {found.pid}"
    )


def until(done: Callable[[], bool], seconds: float) -> bool:
    """Waits for it; False when the time was not enough."""
    deadline = monotonic() + seconds
    while not done():
        if monotonic() >= deadline:
            return False
        time.sleep(_POLL)
    return True
