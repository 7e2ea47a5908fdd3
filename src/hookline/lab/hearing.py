"""Hears what comes out of a pipe or a terminal while somebody may read along."""

import os
from collections.abc import Callable
from select import POLLIN, poll
from threading import Condition, Thread
from time import monotonic

__all__ = ["CAP", "TICK", "Heard"]

CAP = 20_000_000
"""More than this is not kept."""

TICK = 50
"""In milliseconds: how soon a thread that waits for a pipe sees that it need not any longer."""

_CHUNK = 65536


class Heard:
    """What comes out of one pipe, kept up to the cap while somebody may read along."""

    def __init__(self, descriptor: int, too_much: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._too_much = too_much
        self._news = Condition()
        self._data = bytearray()
        self._told = 0
        self._over = False
        self._stopped = False
        self._thread = Thread(target=self._pump, name="lab-pump", daemon=True)
        self._thread.start()

    def _pump(self) -> None:
        ready = poll()
        ready.register(self._descriptor, POLLIN)
        while not self._stopped:
            if not ready.poll(TICK):
                continue
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:  # a terminal that nobody is at any more
                chunk = b""
            if not chunk:
                break
            with self._news:
                self._data += chunk[: CAP - len(self._data)]
                full = len(self._data) >= CAP
                self._news.notify_all()
            if full:
                self._too_much()
        with self._news:
            self._over = True
            self._news.notify_all()

    def until(self, texts: tuple[bytes, ...], deadline: float) -> bytes | None:
        """What nobody was told up to the first of ``texts``; at the deadline None."""

        def ends() -> list[int]:
            found = ((self._data.find(text, self._told), len(text)) for text in texts)
            return [at + length for at, length in found if at >= 0]

        with self._news:
            ready = self._news.wait_for(
                lambda: self._over or ends(), max(0.0, deadline - monotonic())
            )
            if not ready:
                return None
            end = min(ends(), default=len(self._data))
            said = bytes(self._data[self._told : end])
            self._told = end
            return said

    def rest(self, deadline: float) -> None:
        """Until the pipe is closed on all its other ends, or the deadline."""
        with self._news:
            self._news.wait_for(lambda: self._over, max(0.0, deadline - monotonic()))

    def close(self) -> bytes:
        """All that was heard until now."""
        self._stopped = True
        self._thread.join()
        os.close(self._descriptor)
        return bytes(self._data)
