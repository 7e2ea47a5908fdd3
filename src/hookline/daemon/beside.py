"""The life of a process beside the daemon: answers whom the daemon hands on, and goes when told.

It has no place of its own that clients could find. When the daemon is gone it finishes what it has.
"""

import asyncio
import signal
import socket
from time import monotonic

import msgspec

from hookline._version import __version__
from hookline.daemon.clean import descriptors, keep_memory, memory, settle, silence, trim
from hookline.daemon.ending import GRACE, wind_down
from hookline.daemon.frames import Respond
from hookline.daemon.log import Log
from hookline.daemon.mates import CLIENT, DISMISS, Share
from hookline.daemon.pace import Pace
from hookline.daemon.rounds import Books
from hookline.daemon.server import FORGET, Limits, Server
from hookline.daemon.watchdog import STUCK, Watchdog

__all__ = ["Beside"]

_AT_ONCE = 64
_SETTLED_AFTER = 500
"""Events, after which all is loaded that most of them need."""


class Beside:
    """One process's life, next to the daemon's."""

    def __init__(
        self,
        respond: Respond,
        *,
        home: str,
        channel: socket.socket,
        grace: float = GRACE,
        stuck: float = STUCK,
        limits: Limits | None = None,
        log: Log | None = None,
        version: str = __version__,
        books: Books | None = None,
    ) -> None:
        """``channel`` is the socket through which the daemon hands clients on."""
        self._respond = respond
        self._home = home
        self._channel = channel
        self._grace = grace
        self._stuck = stuck
        self._limits = limits
        self._log = log or Log()
        self._version = version
        self._books = books
        self._told_to_end = self._settled = False
        self._server: Server
        self._hearing = True
        self._reported = (monotonic(), 0.0)
        self._end: asyncio.Future[None]

    async def run(self) -> None:
        """Serves until it is time to go."""
        loop = asyncio.get_running_loop()
        self._end = loop.create_future()
        self._log.at(self._home)
        server = self._server = Server(
            loop,
            self._respond,
            version=self._version,
            note=self._log.note,
            limits=self._limits,
            books=self._books,
        )
        watchdog = Watchdog(loop, self._stuck, lambda: self._log.number)
        loop.set_exception_handler(self._log.on_exception)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_told)
        silence()
        keep_memory()
        watchdog.watch()
        self._channel.setblocking(False)
        server.watching.add(self._channel.fileno(), self._on_daemon)
        server.more = self._on_daemon
        self._report()
        try:
            await self._end
        finally:
            # Meanwhile the daemon may still ask how we are.
            await wind_down(server, self._grace, told=lambda: self._told_to_end, books=self._books)
            watchdog.rest()
            self._report()
            self._stop_hearing()
            server.watching.close()
            self._channel.close()  # only now: it tells the daemon that we are gone

    # What the daemon says

    def _on_daemon(self, pace: Pace) -> None:
        """Takes the clients that were handed on, and whatever else was said."""
        fresh: list[socket.socket] = []
        for _ in range(_AT_ONCE):
            try:
                word, numbers, _, _ = socket.recv_fds(self._channel, 1, 1, socket.MSG_CMSG_CLOEXEC)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                word, numbers = b"", []
            fresh += [
                socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=number)
                for number in numbers
            ]
            if word != CLIENT:
                self._hear(word)
            if not word:
                break
        self._server.receive(fresh, pace)

    def _hear(self, word: bytes) -> None:
        if not word:
            # Whoever still asks here would keep us for ever.
            self._server.refuse("the daemon has gone")
            self._stop_hearing()
            self._retire()
        elif word == DISMISS:
            self._retire()
        else:
            self._report()
            self._look()

    def _report(self) -> None:
        server, counts = self._server, self._server.counts
        share = Share(
            sessions=server.sessions(),
            answered=counts.answered,
            running=server.turns.running,
            waiting=server.turns.waiting,
            refused=counts.refused,
            abandoned=counts.abandoned,
            failed=counts.failed,
            connections=server.connections,
            held=server.budget.held,
            memory=memory(),
            descriptors=descriptors(),
            busy=self._busy(),
        )
        try:
            self._channel.send(msgspec.json.encode(share) + b"\n")
        except OSError:
            return  # it does not listen now, and asks again

    def _busy(self) -> float:
        now, idle = monotonic(), self._server.watching.idle()
        (then, idle_then), self._reported = self._reported, (now, idle)
        return 1.0 - (idle - idle_then) / max(now - then, 0.001)

    def _look(self) -> None:
        """As often as the daemon asks."""
        server = self._server
        server.sweep()
        if monotonic() - server.last_request > FORGET:
            server.calls.forget()
        if server.budget.has_let_go():
            trim()
        if not self._settled and server.counts.answered > _SETTLED_AFTER:
            self._settled = True
            settle()

    # Going

    def _on_told(self) -> None:
        """Told once, what runs is finished; told again, it is not."""
        if self._told_to_end:
            self._server.cancel()
        self._told_to_end = True
        self._server.refuse("the daemon stops")
        self._retire()

    def _stop_hearing(self) -> None:
        if self._hearing:
            self._hearing = False
            self._server.watching.remove(self._channel.fileno())

    def _retire(self) -> None:
        if not self._end.done():
            self._end.set_result(None)
