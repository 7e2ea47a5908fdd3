"""Waiting, signals and the agent's own descriptors, for the thin client in Python.

Keeps the rules of io.c, one to one; see there.
"""

import _thread
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
TURN = 0.05  # how long we wait before we look around, where nothing wakes us


class Signals:
    """What we are told by signals, and the descriptor by which that wakes us."""

    told = False
    wakeup = noted = -1

    @classmethod
    def heed(cls) -> None:
        """Note the signals that ask us to end, but for those that our parent ignores."""
        for number in (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT):
            if _signal.getsignal(number) is not _signal.SIG_IGN:
                _signal.signal(number, cls._note)
        try:
            cls.wakeup, cls.noted = posix.pipe()
        except OSError:
            return  # no descriptors left: then we wait in short turns
        posix.set_blocking(cls.noted, False)
        _signal.set_wakeup_fd(cls.noted, warn_on_full_buffer=False)

    @classmethod
    def give_back(cls) -> None:
        """Leave the descriptors to what is needed more; from now on we wait in short turns."""
        if cls.wakeup >= 0:
            _signal.set_wakeup_fd(-1)
            posix.close(cls.wakeup)
            posix.close(cls.noted)
            cls.wakeup = cls.noted = -1

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
        turn = left if Signals.wakeup >= 0 else min(left, TURN)
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
            try:
                posix.open("/dev/null", posix.O_RDONLY)
            except OSError:
                posix.open("/", posix.O_RDONLY)


def deliver(out: bytes, err: bytes, until: float) -> bool:
    """Write both streams at once; False when stdout could not be written to its end.

    They are shared with whoever started us, so they are never made non-blocking: a write may wait
    for ever, and Python begins one anew that a signal interrupts. So each has a thread.
    """
    streams = [_Stream(number, text) for number, text in ((1, out), (2, err)) if text]
    for stream in streams:
        stream.start(until)
    for stream in streams:
        until = stream.wait(until)
    return not out or streams[0].written


class _Stream:
    """One of the agent's descriptors, and what is to be written to it."""

    def __init__(self, number: int, text: bytes) -> None:
        self._number = number
        self._left = memoryview(text)
        self._over = _thread.allocate_lock()
        self._over.acquire()
        self.written = False

    def start(self, until: float) -> None:
        """Begin to write."""
        try:
            _thread.start_new_thread(self._write, ())
        except (RuntimeError, MemoryError):
            self._write(until)  # there is no room for a thread: then as far as it goes here

    def _write(self, until: float | None = None) -> None:
        try:
            while self._left and (until is None or self._has_room(until)):
                try:
                    self._left = self._left[posix.write(self._number, self._left[:PIECE]) :]
                except BlockingIOError:  # somebody has made it non-blocking
                    self._has_room(time.monotonic() + TURN)
            self.written = not self._left
        except OSError:
            pass
        finally:
            self._over.release()

    def _has_room(self, until: float) -> bool:
        events = {self._number: select.POLLOUT}
        if wait(events, until):
            return True
        until = min(until, time.monotonic() + GRACE)
        return Signals.told and bool(wait(events, until, heeding=False))

    def wait(self, until: float) -> float:
        """Wait for its end; returns until when there is time for more.

        Told to end, we do not throw away an answer that we have, but do not wait long for its
        reader either.
        """
        heeding = True
        while not self._over.acquire(timeout=TURN):
            if heeding and Signals.told:
                heeding, until = False, min(until, time.monotonic() + GRACE)
            if time.monotonic() >= until:
                break
        return until
