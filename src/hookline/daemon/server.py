"""The listening socket, its connections, and what they share: turns, room, keep-alives, counts.

Knows how many of everything there may be; must not know why the process is here or when it goes.
"""

import asyncio
import os
import resource
import select
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from time import monotonic

from msgspec import Struct

from hookline.daemon.budget import Budget
from hookline.daemon.connection import SILENCE, Connection
from hookline.daemon.frames import Calls, Request, Respond
from hookline.daemon.host import Counts
from hookline.daemon.pace import Pace
from hookline.daemon.sessions import Sessions
from hookline.daemon.turns import Turns
from hookline.daemon.watching import watching
from hookline.model.outcome import Reply

__all__ = ["Limits", "Server", "peer_pid", "peer_uid"]

_KEEP_ALIVE = 0.4  # clients are promised one every half second
_ACCEPTED_AT_ONCE = 64
_SAID_AGAIN = 60.0
_BREATH = 0.1  # seconds without accepting when there are no descriptors left

# SO_PEERCRED: process, user, group. LOCAL_PEERCRED elsewhere: an xucred, whose version comes first.
_PEER = (
    (socket.SOL_SOCKET, socket.SO_PEERCRED, "iII")
    if hasattr(socket, "SO_PEERCRED")
    else (0, 1, "2Ih66x")
)


class Limits(Struct, frozen=True, kw_only=True):
    """How much is taken on at once. The rest waits, or is sent to be answered elsewhere."""

    # Most of these only wait for a program of theirs. Far fewer would let a handful of slow hooks
    # hold up the events of every other session.
    at_once: int = max(32, 4 * (os.cpu_count() or 1))
    waiting: int = 1024
    held: int = 512 << 20
    connections: int = 2048


class Server:
    """Answers requests over any number of connections."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        respond: Respond,
        *,
        version: str,
        note: Callable[[str], None],
        limits: Limits | None = None,
        own_answer: Callable[[Request], Reply | None] = lambda request: None,
        on_request: Callable[[Request], None] = lambda request: None,
        on_closed: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_request`` hears of every event before it is judged, ``on_closed`` of every end."""
        self.loop = loop
        self.watching = watching(loop)
        self.respond = respond
        self.version = version
        self.note = note
        self.limits = limits or Limits()
        self.own_answer = own_answer
        self.turns = Turns(at_once=self.limits.at_once, waiting=self.limits.waiting)
        self.budget = Budget(self.limits.held)
        self.calls = Calls()
        self.counts = Counts()
        self.last_request = monotonic()
        self._on_request = on_request
        self._on_closed = on_closed
        self._quiet: asyncio.Future[None] | None = None
        self._listener: socket.socket | None = None
        self._more = select.poll()
        self._uid = os.getuid()
        # Hooks need descriptors, too.
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = min(self.limits.connections, soft // 2 if soft > 0 else sys.maxsize)
        self._connections: dict[Connection, None] = {}
        self._pending: dict[Connection, None] = {}
        self._ticking = False
        self._overdue: dict[Connection, None] = {}
        self._sessions = Sessions()
        self._refusing = ""
        self._paused = False
        self._said_paused = -_SAID_AGAIN

    # What connections are told and tell

    def pending(self, connection: Connection) -> None:
        """Keep-alives go to all by one timer, which runs only while anybody waits."""
        self._pending[connection] = None
        if not self._ticking:
            self._ticking = True
            self.loop.call_later(_KEEP_ALIVE, self._tick)

    def acknowledge_soon(self, connection: Connection) -> None:
        """One turn of the loop commits what waits, and the next one sends the answers."""
        if not self._overdue:
            self.loop.call_soon(self.loop.call_soon, self._acknowledge_overdue)
        self._overdue[connection] = None

    def _acknowledge_overdue(self) -> None:
        overdue, self._overdue = self._overdue, {}
        for connection in overdue:
            connection.acknowledge()

    def settled(self, connection: Connection) -> None:
        """The connection waits for nothing."""
        self._pending.pop(connection, None)
        self._rouse()

    def _tick(self) -> None:
        now = monotonic()
        for connection in tuple(self._pending):
            connection.keep_alive(now)
        self._ticking = bool(self._pending)
        if self._ticking:
            self.loop.call_later(_KEEP_ALIVE, self._tick)

    def refusal(self, request: Request) -> str:
        """Why requests are refused, while they are."""
        if self._refusing:
            self.counts.refused += 1
        return self._refusing

    def seen(self, session: str, request: Request) -> bool:
        """Counts a request, and says whether the last one of its session was quick."""
        self.last_request = monotonic()
        self._on_request(request)
        return self._sessions.seen(session, self.last_request)

    def timed(self, session: str, seconds: float) -> None:
        """An event that is slow to begin must not hold up its own acknowledgement."""
        self._sessions.timed(session, seconds)

    def failed(self, request: Request, error: BaseException) -> None:
        """For whoever reads the log: where it went wrong, in which call."""
        self.counts.failed += 1
        where = "".join(traceback.format_exception(error))
        self.note(f"event {request.id}: no answer could be made: {where}")

    def closed(self, connection: Connection, unanswered: bool) -> None:
        """Forgets the connection."""
        self._connections.pop(connection, None)
        if unanswered:
            self.counts.abandoned += 1
            self.note("a client went away before its answer; its event was ended")
        self._rouse()
        self._on_closed()

    def _rouse(self) -> None:
        if self._quiet is not None and not self._quiet.done():
            self._quiet.set_result(None)

    # State

    @property
    def busy(self) -> bool:
        """Whether anybody is owed an answer or the rest of one, or hooks are still being ended."""
        return self.turns.running > 0 or any(not each.idle for each in self._connections)

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    def sessions(self) -> int:
        """How many sessions have asked something lately."""
        return self._sessions.recent(monotonic())

    # Listening

    def listen(self, listener: socket.socket) -> None:
        """Accepts on this socket from now on, and no longer on the one before."""
        self.stop_listening()
        listener.setblocking(False)
        self._listener = listener
        self._more = select.poll()
        self._more.register(listener, select.POLLIN)
        self._paused = False
        self.watching.add(listener.fileno(), self._accept)

    def adopt(self, sock: socket.socket, since: float) -> Connection:
        """Serves a client that is connected already: the one that started this process then."""
        sock.setblocking(False)
        connection = Connection(self, sock, since=since)
        self._connections[connection] = None
        connection.watch()
        return connection

    def _accept(self, pace: Pace) -> None:
        """Takes in whoever has come. Several at once are all acknowledged before any is judged."""
        assert self._listener is not None
        fresh: list[Connection] = []
        for _ in range(_ACCEPTED_AT_ONCE):
            if len(self._connections) >= self._most and not self._room():
                self._pause_accepting("there are as many connections as there may be")
                break
            try:
                sock = self._accepted(self._listener)
            except (BlockingIOError, InterruptedError, ConnectionError):
                break  # whoever it was has gone again
            except OSError as error:
                self._pause_accepting(error.strerror or "there are no descriptors left")
                break
            if sock is not None:
                connection = Connection(self, sock)
                self._connections[connection] = None
                fresh.append(connection)
            # Asking costs less than being told by an error that nobody else is there.
            if not self._more.poll(0):
                break
        pace = pace if pace is Pace.NOW and len(fresh) == 1 else Pace.LATER
        for connection in fresh:
            connection.on_readable(pace)
            connection.watch()

    def _accepted(self, listener: socket.socket) -> socket.socket | None:
        """The next connection; None when it is not of our own user. Raises OSError."""
        sock = listener.accept()[0]
        sock.setblocking(False)
        uid = peer_uid(sock)
        if uid == self._uid:
            return sock
        self.note(f"refused a connection of user {uid}: only our own user may ask")
        sock.close()
        return None

    def _room(self) -> bool:
        """Makes room by ending the connection that has been idle longest."""
        oldest = next((each for each in self._connections if each.idle), None)
        if oldest is not None:
            oldest.close()
        return oldest is not None

    def _pause_accepting(self, why: str) -> None:
        assert self._listener is not None
        now = monotonic()
        if now - self._said_paused > _SAID_AGAIN:
            self._said_paused = now
            self.note(f"no connection is accepted for a moment: {why}")
        self._paused = True
        self.watching.remove(self._listener.fileno())
        self.loop.call_later(_BREATH, self._resume_accepting)

    def _resume_accepting(self) -> None:
        if self._listener is not None and self._paused:
            self._paused = False
            self.watching.add(self._listener.fileno(), self._accept)

    def sweep(self) -> None:
        """Ends connections over which nothing was ever asked."""
        since = monotonic() - SILENCE
        for connection in tuple(self._connections):
            if not connection.used and connection.moved < since:
                connection.close()

    # Ending

    def stop_listening(self) -> None:
        """Nobody new comes in; whoever had been let in by the system already still does."""
        if self._listener is None:
            return
        self._accept(Pace.NOW)
        listener, self._listener = self._listener, None
        if not self._paused:
            self.watching.remove(listener.fileno())
        listener.close()

    async def until_quiet(self, seconds: float) -> bool:
        """Waits until nobody is owed anything; False when the time was not enough."""
        deadline = monotonic() + seconds
        while self.busy:
            self._quiet = self.loop.create_future()
            timer = self.loop.call_at(deadline - monotonic() + self.loop.time(), self._rouse)
            await self._quiet
            timer.cancel()
            if monotonic() >= deadline:
                return not self.busy
        return True

    def refuse(self, why: str) -> None:
        """From now on clients are told to ask elsewhere; so are those that wait for their turn."""
        self._refusing = why
        for connection in tuple(self._connections):
            connection.send_away()

    def cancel(self) -> None:
        """Ends whatever runs."""
        for connection in tuple(self._connections):
            connection.cancel()

    def close(self) -> None:
        """Ends every connection."""
        self.stop_listening()
        for connection in tuple(self._connections):
            connection.close()
        self.watching.close()


def peer_uid(sock: socket.socket) -> int:
    """Whose process is at the other end."""
    return _peer(sock)[1]


def peer_pid(sock: socket.socket) -> int | None:
    """Its number, as it is called here; None where the system does not tell."""
    return _peer(sock)[0] if hasattr(socket, "SO_PEERCRED") else None


def _peer(sock: socket.socket) -> tuple[int, ...]:
    level, option, layout = _PEER
    return struct.unpack(layout, sock.getsockopt(level, option, struct.calcsize(layout)))
