"""What a person's commands do with a running daemon: ask it, wait for it, end it."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic

import msgspec
from msgspec import Struct

from hookline._version import __version__
from hookline.client.thin_io import DaemonTalk, Unanswered
from hookline.daemon.frames import encode_request
from hookline.daemon.instance import LockHolder, connect, find_holder, is_held_by, peer_pid
from hookline.model.errors import HooklineError
from hookline.model.outcome import Reply

__all__ = ["GRACE", "DaemonStatus", "ask", "ask_status", "stop", "wait_until"]

GRACE = 30.0
"""Seconds that running events get when the daemon is told to end."""
_PATIENCE = GRACE + 10.0
"""Seconds that a daemon which was told to end gets for it: what it runs has some of its own."""

_LAST = 10.0
_POLL = 0.05


class DaemonStatus(Struct, frozen=True, kw_only=True):
    """What a daemon says of itself."""

    pid: int
    version: str
    uptime: float
    """Seconds."""
    sessions: int
    """That have asked something in the last quarter of an hour."""
    answered: int
    running: int
    waiting: int
    refused: int
    abandoned: int
    failed: int
    connections: int
    held: int
    """Bytes of requests and answers in hand."""
    memory: int
    """Bytes of this process in memory; 0 where the system does not tell."""
    descriptors: int
    socket: str
    home: str
    idle: float
    stopping: bool


def ask(home: str, argv: tuple[str, ...], *, version: str, timeout: float = 2.0) -> Reply | None:
    """The daemon's answer; None when there is no daemon, or none that answers."""
    request = encode_request(argv, version=version, event=os.urandom(16).hex())
    with suppress(OSError, Unanswered), connect(home, version, timeout) as sock:
        # Keep-alives alone are no answer, so the whole has one deadline.
        reply = DaemonTalk(sock, request).converse(monotonic() + timeout, inf, inf)
        return Reply(stdout=reply[0], stderr=reply[1], exit_code=reply[2])
    return None


def ask_status(home: str, *, version: str, timeout: float = 2.0) -> DaemonStatus | None:
    """What the daemon says of itself; None when there is none that answers."""
    reply = ask(home, ("daemon", "status"), version=version, timeout=timeout)
    if reply is None:
        return None
    try:
        return msgspec.json.decode(reply.stdout, type=DaemonStatus)
    except msgspec.MsgspecError:
        return None


def stop(home: str, found: LockHolder) -> bool:
    """Ends the daemon from outside; whether it had to be killed.

    Raises HooklineError when it does not end, or may be another process.
    """

    def is_gone() -> bool:
        return find_holder(home, __version__) != found

    with suppress(ProcessLookupError), _open_process(found.pid) as send:
        _check_holder(home, found)
        send(signal.SIGTERM)
        send(signal.SIGCONT)  # one that was frozen hears nothing else
        if not wait_until(is_gone, _PATIENCE):
            send(signal.SIGKILL)
            if not wait_until(is_gone, _LAST):
                raise HooklineError(f"process {found.pid} was killed, and its lock is still held")
            return True
    if not wait_until(is_gone, _LAST):
        raise HooklineError(f"process {found.pid} is is_gone, and its lock is still held")
    return False


@contextmanager
def _open_process(pid: int) -> Iterator[Callable[[signal.Signals], None]]:
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


def _check_holder(home: str, found: LockHolder) -> None:
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


def wait_until(done: Callable[[], bool], seconds: float) -> bool:
    """Waits for it; False when the time was not enough."""
    deadline = monotonic() + seconds
    while not done():
        if monotonic() >= deadline:
            return False
        time.sleep(_POLL)
    return True
