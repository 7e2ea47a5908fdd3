"""Events that have their turn in one moment: begun by one call, written down by one commit.

Must not know how they are judged, nor what is written of them.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Protocol, TypeAlias

from hookline.daemon.sessions import QUICK

__all__ = ["Books", "Rounds"]


class Books(Protocol):
    """Where events are written down before they are answered."""

    def begin(self) -> None:
        """Several events are judged together: what is written down may wait for the ``end``."""

    def end(self, done: Callable[[str], None]) -> None:
        """Calls ``done`` when all of it is written down for good. Never raises.

        With a warning where it may not be: verdicts are given all the same.
        """

    async def aclose(self) -> None:
        """Writes what is left, and closes."""


class _Begun(Protocol):
    def start(self) -> None:
        """Begins the event, which has its turn."""

    def conclude(self, message: bytes) -> None:
        """Answers it."""


_Held: TypeAlias = list[tuple[_Begun, bytes]]


class Rounds:
    """Begins events together, and holds their answers until all of them are in the books."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, books: Books | None, note: Callable[[str], None]
    ) -> None:
        self._loop = loop
        self._books = books
        self._note = note
        self._starting: list[_Begun] = []
        self._held: _Held | None = None

    def start_soon(self, event: _Begun) -> None:
        """All that have their turn in one moment are started by one call."""
        if not self._starting:
            self._loop.call_soon(self._start)
        self._starting.append(event)

    def _start(self) -> None:
        starting: Sequence[_Begun] = self._starting
        self._starting = []
        if self._books is None or len(starting) == 1:
            while starting:
                starting = self._start_each(starting)
            return
        while starting:
            held: _Held = []
            self._books.begin()
            self._held = held
            try:
                starting = self._start_each(starting)
            finally:
                self._held = None
                self._books.end(partial(self._conclude_each, held))

    def _start_each(self, starting: Sequence[_Begun]) -> Sequence[_Begun]:
        """Those that were not begun: behind one that took long nobody waits for the others."""
        began = monotonic()
        for place, event in enumerate(starting, 1):
            try:
                event.start()
            except Exception as error:
                self._loop.call_exception_handler(
                    {"message": "an event could not be begun", "exception": error}
                )
            if monotonic() - began > QUICK:
                return starting[place:]
        return ()

    def conclude(self, event: _Begun, message: bytes) -> None:
        """The event is judged: it is answered when it is written down."""
        if self._held is None:
            event.conclude(message)  # then that it is judged means that it is written down
        else:
            self._held.append((event, message))

    def _conclude_each(self, held: _Held, warning: str) -> None:
        if warning:
            self._note(warning)
        for event, message in held:
            try:
                event.conclude(message)
            except Exception as error:  # the others wait for theirs
                self._note(f"an answer could not be given: {type(error).__name__}: {error}")
