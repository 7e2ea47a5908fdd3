"""Says things to a client that may be slow to listen."""

import asyncio
import socket
from typing import Protocol

from hookline.daemon.budget import Budget

__all__ = ["Outlet"]


class _Owner(Protocol):
    def on_taken(self, everything: bool) -> None:
        """After some waiting, something of what was said has been taken."""

    def on_broken(self) -> None:
        """Nobody takes it any more."""


class Outlet:
    """Sends at once what the client takes at once, and keeps the rest until it can be sent."""

    __slots__ = ("_budget", "_loop", "_owner", "_sock", "_unsent")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        budget: Budget,
        owner: _Owner,
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._budget = budget
        self._owner = owner
        self._unsent: memoryview | None = None

    @property
    def waiting(self) -> bool:
        """Whether something has still to be sent."""
        return self._unsent is not None

    def say(self, message: bytes) -> None:
        """Sends it, after whatever has not been sent yet."""
        if self._unsent is not None:
            self._keep(memoryview(bytes(self._unsent) + message))
            return
        sent = self._sent(message)
        if 0 <= sent < len(message):
            self._keep(memoryview(message)[sent:])
            self._loop.add_writer(self._sock.fileno(), self._on_writable)

    def _sent(self, message: bytes | memoryview) -> int:
        """How much was taken; -1 when the connection is broken."""
        try:
            return self._sock.send(message)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self._owner.on_broken()
            return -1

    def _keep(self, unsent: memoryview | None) -> None:
        size, before = len(unsent or b""), len(self._unsent or b"")
        self._unsent = unsent
        if size > before:
            self._budget.hold(size - before)
        else:
            self._budget.give_back(before - size)

    def _on_writable(self) -> None:
        assert self._unsent is not None
        sent = self._sent(self._unsent)
        if 0 <= sent < len(self._unsent or b""):
            self._keep(self._unsent[sent:])
            self._owner.on_taken(everything=False)
        elif sent >= 0:
            self.close()
            self._owner.on_taken(everything=True)

    def close(self) -> None:
        """Sends nothing more. To be called before the socket is closed."""
        if self._unsent is not None:
            self._loop.remove_writer(self._sock.fileno())
            self._keep(None)
