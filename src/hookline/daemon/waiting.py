"""Who waits for an answer, and hears meanwhile that we are there: acknowledgements, keep-alives.

All of them by one timer each, which runs only while anybody waits.
"""

import asyncio
from math import inf
from time import monotonic
from typing import Protocol

__all__ = ["Waiting"]

_KEEP_ALIVE = 0.4  # clients are promised one every half second
# Of the quarter of a second that clients wait for an acknowledgement, so much is waited for the
# answer that would do as well.
_PUT_OFF = 0.02


class _Client(Protocol):
    def acknowledge(self) -> None:
        """Tells the client that its answer will come, unless it knows."""

    def keep_alive(self, now: float) -> None:
        """Tells it that we are still here."""


class Waiting:
    """Clients that are owed something."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._pending: dict[_Client, None] = {}
        self._ticking = False
        self._overdue: dict[_Client, float] = {}
        self._putting_off = False
        self.overdue_at = inf
        """No acknowledgement that was put off is due before."""

    def add(self, client: _Client) -> None:
        """Gets keep-alives from now on."""
        self._pending[client] = None
        if not self._ticking:
            self._ticking = True
            self._loop.call_later(_KEEP_ALIVE, self._tick)

    def remove(self, client: _Client) -> None:
        """Waits for nothing any more."""
        self._overdue.pop(client, None)
        self._pending.pop(client, None)

    def _tick(self) -> None:
        now = monotonic()
        try:
            for client in tuple(self._pending):
                client.keep_alive(now)
        finally:  # whatever happens to one of them, the others wait on
            self._ticking = bool(self._pending)
            if self._ticking:
                self._loop.call_later(_KEEP_ALIVE, self._tick)

    def acknowledge_soon(self, client: _Client, now: float) -> None:
        """Puts it off: what shares a commit with others is mostly answered before it is due."""
        due = now + _PUT_OFF
        if not self._overdue:
            self.overdue_at = due
        self._overdue[client] = due
        if not self._putting_off:
            self._putting_off = True
            self._loop.call_later(_PUT_OFF, self._on_put_off)

    def _on_put_off(self) -> None:
        self.acknowledge_overdue(monotonic())
        self._putting_off = bool(self._overdue)
        if self._putting_off:
            self._loop.call_later(_PUT_OFF, self._on_put_off)

    def acknowledge_overdue(self, now: float = inf) -> None:
        """Those that are due by now, of which the first was put off first."""
        while self._overdue:
            client, self.overdue_at = next(iter(self._overdue.items()))
            if self.overdue_at > now:
                return
            del self._overdue[client]
            client.acknowledge()
        self.overdue_at = inf
