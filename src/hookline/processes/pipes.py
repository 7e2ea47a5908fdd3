"""The three pipes of a child, pumped by the event loop without ever blocking it.

Knows descriptors and bytes; must not know processes, deadlines or signals.
"""

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable
from time import monotonic

__all__ = ["Inlet", "Outlet"]

# What a pipe holds by default, and still below the size where malloc turns to mmap.
CHUNK = 65536

# What even the smallest pipe takes at once while it is empty.
SAFE = 4096

# Draining must end even while somebody keeps writing; an unprivileged pipe holds 1 MiB at most.
DRAIN_CHUNKS = 16


class Inlet:
    """Feeds the child's stdin; a child that does not want it is no error."""

    __slots__ = ("_data", "_loop", "_open", "_pipe", "_waiting")

    def __init__(self, loop: AbstractEventLoop, pipe: int, data: bytes) -> None:
        self._loop = loop
        self._pipe = pipe
        self._data = memoryview(data)
        self._waiting = False
        self._open = True

    def begin(self) -> None:
        """Write at once what the pipe takes, the rest as it takes more."""
        if len(self._data) > SAFE:
            os.set_blocking(self._pipe, False)
        self._write()

    def _write(self) -> None:
        # One write per turn: a reader that keeps up must not keep the loop from everyone else.
        try:
            self._data = self._data[os.write(self._pipe, self._data) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._data = self._data[:0]
        if not self._data:
            self.close()
        elif not self._waiting:
            self._waiting = True
            self._loop.add_writer(self._pipe, self._write)

    def close(self) -> None:
        """Give the child its end of input; harmless when already done."""
        if self._waiting:
            self._waiting = False
            self._loop.remove_writer(self._pipe)
        if self._open:
            self._open = False
            os.close(self._pipe)


class Outlet:
    """Collects one output stream up to a cap; what comes after it is read and dropped."""

    __slots__ = (
        "_buffer",
        "_cap",
        "_listening",
        "_loop",
        "_on_change",
        "_pipe",
        "cut",
        "last_data",
        "open",
    )

    def __init__(
        self, loop: AbstractEventLoop, pipe: int, cap: int, on_change: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._pipe = pipe
        self._cap = cap
        self._on_change = on_change  # called at the end of the stream and when it is first cut
        # Not a list of chunks: a child writing byte by byte would cost forty times its output.
        self._buffer = bytearray()
        self.cut = False
        self.open = True
        self._listening = False
        self.last_data = 0.0

    def begin(self) -> None:
        """Make it ready to be read."""
        os.set_blocking(self._pipe, False)

    def listen(self) -> None:
        """Read what comes as it comes; harmless when already done."""
        if self.open and not self._listening:
            self._loop.add_reader(self._pipe, self._read)
            self._listening = True

    @property
    def data(self) -> bytes:
        return bytes(self._buffer)

    def drain(self) -> None:
        """Take what is in the pipe right now."""
        for _ in range(DRAIN_CHUNKS):
            if not (self.open and self._read()):
                return

    def _read(self) -> bool:
        """Read once; False when there was nothing to read yet."""
        try:
            chunk = os.read(self._pipe, CHUNK)
        except BlockingIOError:
            return False
        if chunk:
            self._keep(chunk)
        else:
            self.close()
            self._on_change()
        return True

    def _keep(self, chunk: bytes) -> None:
        self.last_data = monotonic()
        room = self._cap - len(self._buffer)
        if len(chunk) <= room:
            self._buffer += chunk
            return
        self._buffer += chunk[:room]
        if not self.cut:
            self.cut = True
            self._on_change()

    def close(self) -> None:
        """Stop listening; harmless when already done."""
        if self.open:
            self.open = False
            if self._listening:
                self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
