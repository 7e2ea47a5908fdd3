"""Waiting, signals and the agent's own descriptors, for the thin client in Python.

Keeps the rules of io.c, one to one; see there.
"""

import posix
import select
import time

__all__ = ["GRACE", "Signals", "deliver", "hold_standard_descriptors", "wait"]

TYPE_CHECKING = False  # spares us the import of typing
if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal  # what `signal` wraps in enumerations, at the price of a millisecond

PIECE = 4096  # POSIX: a pipe that polls writable takes PIPE_BUF bytes at once
GRACE = 0.25  # for a last word, when the time is over


class Signals:
    """What we are told by signals, and the descriptor by which that wakes us."""

    told = False
    wakeup = -1

    @classmethod
    def heed(cls) -> None:
        """Note the signals that ask us to end, but for those that our parent ignores."""
        for number in (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT):
            if _signal.getsignal(number) is not _signal.SIG_IGN:
                _signal.signal(number, cls._note)
        try:
            cls.wakeup, noted = posix.pipe()
        except OSError:
            return  # no descriptors left: then we wait in short turns
        posix.set_blocking(noted, False)
        _signal.set_wakeup_fd(noted, warn_on_full_buffer=False)

    @classmethod
    def _note(cls, number: int, frame: object) -> None:
        cls.told = True


def wait(events: dict[int, int], until: float, *, heeding: bool = True) -> dict[int, int]:
    """What is ready, by descriptor; empty when it is late, or when we were told to end.

    Looks once even when it is late already: what has arrived counts.
    """
    poll = select.poll()
    for number, wanted in events.items():
        poll.register(number, wanted)
    if heeding and Signals.wakeup >= 0:
        poll.register(Signals.wakeup, select.POLLIN)
    while not (heeding and Signals.told):
        left = max(until - time.monotonic(), 0)
        turn = left if Signals.wakeup >= 0 else min(left, 0.05)
        ready = dict(poll.poll(min(turn, 86400) * 1000))
        ready.pop(Signals.wakeup, None)
        if ready or left == 0:
            return ready
    return {}


def hold_standard_descriptors() -> None:
    """What we open must not become somebody's stdin; a closed stdout stays unwritable."""
    for number in range(3):
        try:
            posix.fstat(number)
        except OSError:
            posix.open("/dev/null", posix.O_RDONLY)


def deliver(out: bytes, err: bytes, until: float) -> bool:
    """Write both streams at once; False when stdout could not be written to its end.

    They are shared with whoever started us, so they are never made non-blocking.
    """
    left = {1: memoryview(out), 2: memoryview(err)}
    heeding, lost = True, False
    while left[1] or left[2]:
        wanted = {number: select.POLLOUT for number, rest in left.items() if rest}
        ready = wait(wanted, until, heeding=heeding)
        if not ready and heeding and Signals.told:
            heeding = False
            until = min(until, time.monotonic() + GRACE)
        elif not ready:
            break
        for number in ready:
            try:
                left[number] = left[number][posix.write(number, left[number][:PIECE]) :]
            except BlockingIOError:
                continue
            except OSError:
                lost = lost or number == 1
                left[number] = left[number][:0]
    return not lost and not left[1]
