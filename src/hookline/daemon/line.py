"""One client's socket: hears when something has come, and says what has to be said.

Knows bytes and whether they were taken; must not know what they mean.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from hookline.daemon.host import Host
from hookline.daemon.outlet import Outlet, sent
from hookline.daemon.pace import Pace

if TYPE_CHECKING:
    from socket import socket

__all__ = ["Line"]

_CHUNK, _LARGE_CHUNK = 1 << 16, 1 << 18


class Line(ABC):
    """Speaks to the socket directly.

    A transport of asyncio's costs a task and three turns of the loop for each connection, which is
    more than all that is done here.
    """

    __slots__ = ("_fd", "_host", "_outlet", "_reading", "_sock", "open")

    def __init__(self, host: Host, sock: "socket") -> None:
        self._host = host
        self._sock = sock
        self._fd = sock.fileno()
        self._reading = False
        # What could not be sent at once; nearly everything can.
        self._outlet: Outlet | None = None
        self.open = True

    def watch(self) -> None:
        """Hears of what comes, and of the client's end."""
        if self.open and not self._reading:
            self._reading = True
            self._host.watching.add(self._fd, self.on_readable)

    def heard(self, *, much: bool) -> bytes | None:
        """What has come: None when nothing has, and nothing at all when nothing more will."""
        try:
            return self._sock.recv(_LARGE_CHUNK if much else _CHUNK)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""

    def unwatch(self) -> None:
        """Lets what comes wait in the socket."""
        if self._reading:
            self._reading = False
            self._host.watching.remove(self._fd)

    def say(self, message: bytes) -> None:
        """Sends it, after whatever has not been taken yet."""
        if self._outlet is not None:
            self._outlet.say(message)
            return
        taken = sent(self._sock, message)
        if taken < 0:
            self.close()
        elif taken < len(message):
            self._outlet = Outlet(self._host.loop, self._sock, self._host.budget, self)
            self._outlet.say(message[taken:])

    def hang_up(self) -> None:
        """Nothing is heard or said any more."""
        self.open = False
        self.unwatch()
        if self._outlet is not None:
            self._outlet.close()
            self._outlet = None
        self._sock.close()

    @abstractmethod
    def on_readable(self, pace: Pace) -> None:
        """Takes what has come."""

    @abstractmethod
    def on_taken(self, everything: bool) -> None:
        """After some waiting, something of what was said has been taken."""

    @abstractmethod
    def close(self) -> None:
        """The end, whoever wants it; that of whatever nobody takes any more, too."""
