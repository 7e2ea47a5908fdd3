"""One process beside the daemon, as the daemon sees it: what is said to it, and what it says."""

import socket
from collections.abc import Callable
from contextlib import suppress
from subprocess import Popen

import msgspec
from msgspec import Struct

from hookline.daemon.pace import Pace

__all__ = ["ASK", "CLIENT", "DISMISS", "Mate", "Share"]

CLIENT, ASK, DISMISS = b"c", b"?", b"."
"""What the daemon says: here is a client, how are you, finish what you have and go."""

_SILENCE = 8.0
"""Seconds that it may take to answer a question; it has to load hookline first."""
_READ = 1 << 16


class Share(Struct, frozen=True, kw_only=True):
    """What a process says of itself, and the sum of what several say."""

    sessions: int = 0
    answered: int = 0
    running: int = 0
    waiting: int = 0
    refused: int = 0
    abandoned: int = 0
    failed: int = 0
    connections: int = 0
    held: int = 0
    memory: int = 0
    descriptors: int = 0
    busy: float = 0.0
    """For which part of the time since it last said so."""

    def __add__(self, other: "Share") -> "Share":
        names = self.__struct_fields__
        return Share(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def past(self) -> "Share":
        """What of it is still true when the process has gone."""
        return Share(
            answered=self.answered,
            refused=self.refused,
            abandoned=self.abandoned,
            failed=self.failed,
        )


class Mate:
    """Knows the socket between the two, and the process at its other end."""

    def __init__(
        self,
        channel: socket.socket,
        process: "Popen[bytes]",
        *,
        on_ready: "Callable[[Mate], None]",
        on_gone: "Callable[[Mate], None]",
    ) -> None:
        channel.setblocking(False)
        self._channel = channel
        self.process = process
        self.pid = process.pid
        self.share = Share()
        self.dismissed = False
        self._on_ready = on_ready
        self._on_gone = on_gone
        self._ready = False
        self._heard = b""
        self._asked_at: float | None = None

    def fileno(self) -> int:
        """Of the socket."""
        return self._channel.fileno()

    # What is said to it

    def take(self, sock: socket.socket) -> bool:
        """Hands a client on; False when that cannot be now."""
        try:
            socket.send_fds(self._channel, [CLIENT], [sock.fileno()])
        except OSError:  # it is slow to take them, or gone
            return False
        return True

    def ask(self, now: float) -> None:
        """How it is; the answer is ``share``. Said again while there is none."""
        self._asked_at = self._asked_at or now
        self._say(DISMISS + ASK if self.dismissed else ASK)

    def dismiss(self) -> None:
        """It finishes what it has and ends."""
        self.dismissed = True
        self._say(DISMISS)

    def _say(self, word: bytes) -> None:
        with suppress(OSError):  # that it hears nothing is noticed by what it does not answer
            self._channel.send(word)

    def terminate(self) -> None:
        """It ends soon: what waits there is sent elsewhere."""
        with suppress(OSError):
            self.process.terminate()

    def kill(self) -> None:
        """It ends now."""
        with suppress(OSError):
            self.process.kill()

    # What it says

    def is_silent(self, now: float) -> bool:
        """Whether it has been asked, and long since."""
        return self._asked_at is not None and now - self._asked_at > _SILENCE

    def on_readable(self, pace: Pace) -> None:
        """Takes what it says: lines, each of which is a ``Share``; the first means it is ready."""
        try:
            heard = self._channel.recv(_READ)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            heard = b""
        if not heard:
            self._on_gone(self)
            return
        *lines, self._heard = (self._heard + heard).split(b"\n")
        if not lines:
            return
        self._asked_at = None
        with suppress(msgspec.MsgspecError):
            self.share = msgspec.json.decode(lines[-1], type=Share)
        if not self._ready and not self.dismissed:
            self._ready = True
            self._on_ready(self)

    def close(self) -> None:
        """Says and hears nothing more."""
        self._channel.close()
