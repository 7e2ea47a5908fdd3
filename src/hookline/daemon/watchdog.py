"""Ends a daemon whose loop turns no more: it would hold its place, and nobody could be heard.

It cannot be done by anything that the loop, or Python at all, would have to run.
"""

import asyncio
import faulthandler
from collections.abc import Callable
from contextlib import suppress

__all__ = ["STUCK", "Watchdog"]

STUCK = 30.0
"""Seconds without a turn of the loop after which the process is ended."""

_MOST = 2.0


class Watchdog:
    """A thread of the interpreter's own that needs to hear of us again and again."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, limit: float, number: Callable[[], int | None]
    ) -> None:
        """``number`` is the descriptor that says at the end where every thread was."""
        self._loop = loop
        self._limit = limit
        self._number = number
        self._next: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """From now on the loop has to turn."""
        # What it writes are names of files and functions, and the numbers of lines.
        file = self._number()
        self._next = self._loop.call_later(min(_MOST, self._limit / 4), self.watch)
        with suppress(RuntimeError):  # no thread is to be had now; the next time there may be one
            faulthandler.dump_traceback_later(
                self._limit, exit=True, file=2 if file is None else file
            )

    def rest(self) -> None:
        """The loop has to turn no more."""
        if self._next is not None:
            self._next.cancel()
            faulthandler.cancel_dump_traceback_later()
