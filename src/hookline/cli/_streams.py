"""The agent's own streams, read and written by a deadline, as the thin clients do it.

An agent whose own timeout hits lets the tool run, so nothing here waits for longer than we have.
The descriptors are shared with whoever started us, and so are never made non-blocking.
"""

import _thread
import os
import select
from time import monotonic
from typing import TYPE_CHECKING

from hookline.cli._ending import Ended
from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import TextIO

__all__ = ["GRACE", "deliver", "read"]

_PIECE = 1 << 16
_TURN = 0.05
"""Seconds to wait before another look around."""
GRACE = 0.25
"""Seconds for a last word, when the time is over."""


def read(stream: "TextIO | None", until: float, told: "Collection[int]" = ()) -> bytes:
    """All that comes, to its end. Raises HooklineError when that is not there in time.

    Raises Ended as soon as a signal is ``told`` of.
    """
    if stream is None:  # as Python has it when the descriptor is closed
        raise HooklineError("there is no payload: stdin is closed")
    number = _number(stream)
    if number is None or not hasattr(select, "poll"):
        return stream.buffer.read()
    poll = select.poll()
    poll.register(number, select.POLLIN)
    pieces: list[bytes] = []
    while True:
        if told:
            raise Ended("it was told to end before the payload had come")
        left = until - monotonic()
        if left <= 0:
            raise HooklineError("the payload did not come to its end in time")
        if not poll.poll(min(left, _TURN) * 1000):
            continue
        try:
            piece = os.read(number, _PIECE)
        except BlockingIOError:
            continue
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def deliver(
    contents: "list[tuple[TextIO | None, bytes]]", until: float, told: "Collection[int]" = ()
) -> list[bool]:
    """Writes each content to its stream, all at once; says which of them arrived in time.

    An agent may read either stream to its end first, and a write may wait for ever: Python begins
    one anew that a signal interrupts. So each has a thread. Once a signal is ``told`` of, there is
    not much time left, but an answer that we have is not thrown away.
    """
    writings = [_Writing(stream, content) for stream, content in contents]
    for writing in writings:
        writing.start()
    for writing in writings:
        while not writing.is_over(min(max(until - monotonic(), 0.0), _TURN)):
            if told:
                until, told = min(until, monotonic() + GRACE), ()
            if monotonic() >= until:
                break
    return [writing.is_done for writing in writings]


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

    def is_over(self, seconds: float) -> bool:
        """Whether nothing more will be written, after so long at most."""
        return self._over.acquire(timeout=seconds)

    @property
    def is_done(self) -> bool:
        """Whether all of it is written."""
        return not self._left

    def _write(self) -> None:
        assert self._stream is not None
        number = _number(self._stream)
        try:
            while self._left:
                self._left = self._left[self._write_some(self._stream, number) :]
        except (OSError, ValueError):  # nobody listens, or the disk is full
            pass
        finally:
            self._over.release()

    def _write_some(self, stream: "TextIO", number: int | None) -> int:
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
