"""The agent's own streams, read and written by a deadline, as the thin clients do it.

An agent whose own timeout hits lets the tool run, so nothing here waits for longer than we have.
The descriptors are shared with whoever started us, and so are never made non-blocking.
"""

import _thread
import os
import select
from time import monotonic
from typing import TYPE_CHECKING

from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["deliver", "read"]

_PIECE = 1 << 16
_TURN = 0.05
"""Seconds to wait before another look, at what somebody else has made non-blocking."""
_LONGEST = 86_400.0


def read(stream: "TextIO | None", until: float) -> bytes:
    """All that comes, to its end. Raises HooklineError when that is not there in time."""
    if stream is None:  # as Python has it when the descriptor is closed
        raise HooklineError("there is no payload: stdin is closed")
    number = _number(stream)
    if number is None or not hasattr(select, "poll"):
        return stream.buffer.read()
    poll = select.poll()
    poll.register(number, select.POLLIN)
    pieces: list[bytes] = []
    while True:
        left = min(until - monotonic(), _LONGEST)
        if left <= 0 or not poll.poll(left * 1000):
            raise HooklineError("the payload did not come to its end in time")
        try:
            piece = os.read(number, _PIECE)
        except BlockingIOError:
            continue
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def deliver(contents: "list[tuple[TextIO | None, bytes]]", until: float) -> list[bool]:
    """Writes each content to its stream, all at once; says which of them arrived in time.

    An agent may read either stream to its end first, and a write may wait for ever: Python begins
    one anew that a signal interrupts. So each has a thread.
    """
    writings = [_Writing(stream, content) for stream, content in contents]
    for writing in writings:
        writing.start()
    return [writing.is_done(until) for writing in writings]


class _Writing:
    """What is to be written to a stream."""

    def __init__(self, stream: "TextIO | None", content: bytes) -> None:
        self._stream = stream
        self._left = memoryview(content)
        self._over = _thread.allocate_lock()
        self._over.acquire()

    def start(self) -> None:
        """Begins; what there is nothing to write of is over at once."""
        if not self._left or self._stream is None:
            self._over.release()
            return
        try:
            _thread.start_new_thread(self._write, ())
        except (RuntimeError, MemoryError):  # no thread can be had: better late than never
            self._write()

    def is_done(self, until: float) -> bool:
        """Whether all of it is written, once it is or it is too late."""
        self._over.acquire(timeout=min(max(until - monotonic(), 0.0), _LONGEST))
        return not self._left

    def _write(self) -> None:
        assert self._stream is not None
        number = _number(self._stream)
        try:
            while self._left:
                self._left = self._left[self._written(self._stream, number) :]
        except (OSError, ValueError):  # nobody listens, or the disk is full
            pass
        self._over.release()

    def _written(self, stream: "TextIO", number: int | None) -> int:
        if number is None:  # it is no descriptor, and takes everything
            return stream.buffer.write(self._left)
        try:
            return os.write(number, self._left[:_PIECE])
        except BlockingIOError:
            select.select((), (number,), (), _TURN)
            return 0


def _number(stream: "TextIO") -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # a stream in memory
        return None
