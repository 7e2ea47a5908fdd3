"""What a client that is slow to listen has not taken yet."""

import asyncio
from typing import TYPE_CHECKING, Protocol

from hookline.daemon.budget import Budget

if TYPE_CHECKING:
    from socket import socket

__all__ = ["Outlet", "sent"]


class _Owner(Protocol):
    def on_taken(self, everything: bool) -> None:
        """After some waiting, something of what was said has been taken."""

    def close(self) -> None:
        """Nobody takes it any more."""


def sent(sock: "socket", message: bytes | memoryview) -> int:
    """How much of it was taken; -1 when the connection is broken."""
    try:
        return sock.send(message)
    except (BlockingIOError, InterruptedError):
        return 0
    except OSError:
        return -1


class Outlet:
    """Keeps what a client has not taken until it can be sent."""

    __slots__ = ("_budget", "_loop", "_owner", "_sock", "_unsent")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: "socket",
        budget: Budget,
        owner: _Owner,
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._budget = budget
        self._owner = owner
        self._unsent = memoryview(b"")
        loop.add_writer(sock.fileno(), self._on_writable)

    def say(self, message: bytes | memoryview) -> None:
        """Sends it after whatever has not been sent yet."""
        self._keep(
            memoryview(bytes(self._unsent) + message) if self._unsent else memoryview(message)
        )

    def _keep(self, unsent: memoryview) -> None:
        more = len(unsent) - len(self._unsent)
        self._unsent = unsent
        if more > 0:
            self._budget.hold(more)
        else:
            self._budget.give_back(-more)

    def _on_writable(self) -> None:
        taken = sent(self._sock, self._unsent)
        if taken < 0:
            self._owner.close()
        elif taken < len(self._unsent):
            self._keep(self._unsent[taken:])
            self._owner.on_taken(everything=False)
        else:
            self.close()
            self._owner.on_taken(everything=True)

    def close(self) -> None:
        """Sends nothing more. To be called before the socket is closed."""
        self._loop.remove_writer(self._sock.fileno())
        self._keep(memoryview(b""))
