"""Ends a daemon whose loop turns no more: it would hold its place, and nobody could be heard.

It cannot be done by anything that the loop, or Python at all, would have to run.
"""

import asyncio
import faulthandler
import signal
from collections.abc import Callable
from contextlib import suppress

__all__ = ["STUCK", "Watchdog"]

STUCK = 30.0
"""Seconds without a turn of the loop after which the process is ended."""

_MOST = 2.0
_TOLD = 5.0
"""Seconds that the loop has for a turn when the process is told to end."""


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
        if self._next is not None:
            self._next.cancel()
        self._next = self._loop.call_later(min(_MOST, self._limit / 4), self.watch)
        self._end_after(self._limit)

    def heed(self, on_told: Callable[[signal.Signals], None]) -> None:
        """Calls ``on_told`` when a signal asks us to end; a loop that hangs is ended then."""

        def told(number: signal.Signals) -> None:
            self.watch()
            on_told(number)

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._loop.add_signal_handler(number, told, number)
            # Beside it, and in place of the loop's own, which begins a call anew that waits.
            signal.signal(number, lambda *_: self._end_after(min(self._limit, _TOLD)))

    def _end_after(self, seconds: float) -> None:
        # What it writes are names of files and functions, and the numbers of lines.
        file = self._number()
        with suppress(RuntimeError):  # no thread is to be had now; the next time there may be one
            faulthandler.dump_traceback_later(seconds, exit=True, file=2 if file is None else file)

    def rest(self) -> None:
        """The loop has to turn no more."""
        if self._next is not None:
            self._next.cancel()
            faulthandler.cancel_dump_traceback_later()
