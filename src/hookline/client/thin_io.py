"""Waiting, signals, the agent's own descriptors and the talk with whoever judges.

Keeps the rules of io.c and exchange.c, one to one; see there. `hookline hook` and the daemon keep
them, too. Imports only modules written in C: the thin client waits for them at each event.
"""

import _thread
import posix
import select
import time

__all__ = [
    "GRACE",
    "DaemonTalk",
    "Signals",
    "TurnedAway",
    "Unanswered",
    "deliver",
    "find_directory",
    "find_number",
    "find_run_dir",
    "hold_standard_descriptors",
    "is_ours_alone",
    "read_payload",
    "wait",
]

TYPE_CHECKING = False  # spares us the import of typing
if TYPE_CHECKING:
    import signal as _signal
    from _socket import socket as Socket
    from typing import TextIO

    Reply = tuple[bytes, bytes, int]
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


def find_number(stream: "TextIO | None") -> int:
    """Its descriptor; -1 when that was closed, and may be another file by now."""
    return -1 if stream is None else stream.fileno()


def read_payload(number: int, until: float) -> "bytes | None":
    """All that comes, to its end; None when it is late, or when we were told to end."""
    pieces: list[bytes] = []
    while wait({number: select.POLLIN}, until) and time.monotonic() < until:
        try:
            piece = posix.read(number, 1 << 20)
        except BlockingIOError:
            continue
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
    return None


def deliver(out: bytes, err: bytes, until: float, numbers: tuple[int, int] = (1, 2)) -> bool:
    """Write both streams at once; False when stdout could not be written to its end.

    They are shared with whoever started us, so they are never made non-blocking: a write may wait
    for ever, and Python begins one anew that a signal interrupts. So each has a thread.
    """
    pairs = zip(numbers, (out, err), strict=True)
    streams = [_Stream(number, text) for number, text in pairs if text]
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


# The daemon, and what is said to it


def find_directory() -> tuple[bytes, bool]:
    """Where we are, or were before it was removed; empty when nobody can say it. And if it is gone.

    The name that it had still tells whose project this is.
    """
    try:
        return posix.getcwdb(), False
    except OSError:
        pass
    try:
        name, deleted, rest = posix.readlink(b"/proc/self/cwd").rpartition(b" (deleted)")
        removed = posix.stat(".").st_nlink == 0  # else it may be called so, and be out of reach
    except OSError:
        return b"", True
    known = removed and deleted and not rest and name.startswith(b"/")
    return (name if known else b""), True


def find_run_dir(
    home: str, version: str, *, users: str = "/run/user", mounts: "str | None" = None
) -> str:
    """Where the socket of the daemon is; it asks no variable.

    ``mounts`` tells one set of mounts from another. A container that shares our directories has
    other files under the same names, so its daemon must not judge for us, nor ours for it.
    """
    key = 0xCBF29CE484222325
    for byte in f"{home}\0{version}\0{_mounts() if mounts is None else mounts}".encode(
        "utf-8", "surrogateescape"
    ):
        key = (key ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    own = f"{users}/{posix.getuid()}"
    try:
        is_private = is_ours_alone(posix.lstat(own))
    except OSError:
        is_private = False
    return f"{own}/hookline-{key:016x}" if is_private else f"{home}/run-{key:016x}"


def _mounts() -> str:
    """The number of the namespace that we see our files in; empty where there is none."""
    try:
        return str(posix.stat("/proc/self/ns/mnt").st_ino)
    except OSError:
        return ""


def is_ours_alone(found: posix.stat_result) -> bool:
    """Whether this is a directory that nobody else can look into or write to."""
    return found.st_mode == 0o040700 and found.st_uid == posix.getuid()


class Unanswered(Exception):
    """There is no answer, and this is why."""


class TurnedAway(Unanswered):
    """The event was turned away before any of its hooks ran."""


class DaemonTalk:
    """One request and what comes back."""

    def __init__(self, socket: "Socket", request: bytes) -> None:
        socket.setblocking(False)
        self._socket = socket
        self._left = memoryview(request)
        self._heard = bytearray()
        self.acknowledged = False

    def converse(self, deadline: float, acknowledged_by: float, silent_for: float) -> "Reply":
        """The answer. Raises Unanswered."""
        patience = acknowledged_by
        number = self._socket.fileno()
        self._send_some()
        while True:
            events = select.POLLIN | (select.POLLOUT if self._left else 0)
            ready = wait({number: events}, min(patience, deadline))
            if not ready:
                over = time.monotonic() >= deadline
                late = "the time that it had is over" if over else "the daemon was silent too long"
                raise Unanswered(late)
            if ready[number] & select.POLLOUT:
                self._send_some()
            if ready[number] & ~select.POLLOUT:
                ended = self._hear_some()
                answer = self._understood()
                if answer is not None:
                    return answer
                if ended:
                    raise Unanswered("the process that was asked ended without an answer")
                if self.acknowledged:
                    patience = time.monotonic() + silent_for
            if time.monotonic() >= deadline:
                raise Unanswered("the time that it had is over")

    def _send_some(self) -> None:
        try:
            while self._left:
                self._left = self._left[self._socket.send(self._left) :]
        except BlockingIOError:
            pass
        except OSError:
            self._left = self._left[:0]  # it takes no more; it may still have something to say

    def _hear_some(self) -> bool:
        try:
            piece = self._socket.recv(1 << 18)
        except BlockingIOError:
            return False
        except OSError:
            return True
        self._heard += piece
        return not piece

    def _understood(self) -> "Reply | None":
        heard = self._heard
        while heard:
            kind = heard[0]
            if kind in b"AK":
                self.acknowledged = self.acknowledged or kind == ord("A")
                del heard[:1]
            elif kind in b"VB":
                if len(heard) < 3 or len(heard) - 3 < int.from_bytes(heard[1:3], "big"):
                    return None
                raise TurnedAway("the daemon turned the event away")
            elif kind == ord("R"):
                return _answer(heard)
            else:
                raise Unanswered("what came back is not the protocol")
        return None


def _answer(heard: bytearray) -> "Reply | None":
    end = 10 + int.from_bytes(heard[2:6], "big")
    last = end + int.from_bytes(heard[6:10], "big")
    if len(heard) < 10 or len(heard) < last:
        return None
    return bytes(heard[10:end]), bytes(heard[end:last]), heard[1]
