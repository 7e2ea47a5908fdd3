"""The listening socket, its connections, and what they share: turns, room, keep-alives, counts.

Knows how many of everything there may be; must not know why the process is here or when it goes.
"""

import asyncio
import os
import resource
import select
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from time import monotonic

from msgspec import Struct

from hookline.daemon.budget import Budget
from hookline.daemon.connection import SILENCE, Connection
from hookline.daemon.frames import Calls, Request, Respond
from hookline.daemon.host import Counts
from hookline.daemon.pace import Pace
from hookline.daemon.peers import peer_uid
from hookline.daemon.rounds import Rounds
from hookline.daemon.sessions import Session, Sessions
from hookline.daemon.turns import Turns
from hookline.daemon.waiting import Waiting
from hookline.daemon.watching import watching
from hookline.model.outcome import Reply

__all__ = ["FORGET", "Limits", "Server"]

FORGET = 60.0
"""Seconds after the last request for which nothing of anybody's environment is kept."""

_ACCEPTED_AT_ONCE = 64
_SAID_AGAIN = 60.0
_BREATH = 0.1  # seconds without accepting when there are no descriptors left
_APART = 0.001  # seconds between clients of which neither is in a crowd
_HEARD_OF = 1.0  # seconds between requests of which whoever started us hears


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
        own_answers: Mapping[tuple[str, ...], Callable[[Request], Reply]] | None = None,
        on_request: Callable[[Request], None] = lambda request: None,
        on_closed: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_request`` hears of the first event, and later of one in a second, before they are
        judged; ``on_closed`` of every end."""
        self.loop = loop
        self.watching = watching(loop)
        self.waiting = Waiting(loop)
        self.respond = respond
        self.version = version
        self.note = note
        self.limits = limits or Limits()
        self.rounds = Rounds(loop, None, note)
        self.own_answers = own_answers or {}
        self.turns = Turns(at_once=self.limits.at_once, waiting=self.limits.waiting)
        self.budget = Budget(self.limits.held)
        self.calls = Calls(version)
        self.counts = Counts()
        self.last_request = monotonic()
        self._on_request = on_request
        self._on_closed = on_closed
        self._quiet: asyncio.Future[None] | None = None
        self._listener: socket.socket | None = None
        self._somebody = select.poll()
        self._accepted_at = self._heard_at = -_SAID_AGAIN
        self._uid = os.getuid()
        # Hooks need descriptors, too.
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = min(self.limits.connections, soft // 2 if soft > 0 else sys.maxsize)
        self._connections: dict[Connection, None] = {}
        self._sessions = Sessions()
        self.refusing = ""
        self._paused = False
        self._said_paused = -_SAID_AGAIN

    # What connections are told and tell

    def speak_up(self) -> None:
        """Everybody who has come hears of us; an event that has its turn waits for that."""
        full = self._paused or len(self._connections) >= self._most
        try:
            if self._listener is not None and not full:
                self._accept(Pace.LATER)
            self.waiting.acknowledge_overdue()
        except Exception as error:  # another client's trouble
            self.note(f"somebody could not be heard: {type(error).__name__}: {error}")

    def settled(self, connection: Connection) -> None:
        """The connection waits for nothing."""
        self.waiting.remove(connection)
        if self._quiet is not None:
            self._rouse()

    def seen(self, name: str, request: Request, now: float) -> Session:
        """Counts a request, and says what is known of its session."""
        self.last_request = now
        if now - self._heard_at > _HEARD_OF:
            self._heard_at = now
            self._on_request(request)
        return self._sessions.seen(name, now)

    def failed(self, request: Request, error: BaseException) -> None:
        """For whoever reads the log: where it went wrong, in which call."""
        self.counts.failed += 1
        where = "".join(traceback.format_exception(error))
        self.note(f"event {request.id}: no answer could be made: {where}")

    def closed(self, connection: Connection, unanswered: bool) -> None:
        """Forgets the connection."""
        self._connections.pop(connection, None)
        self.waiting.remove(connection)
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
        self._somebody = select.poll()
        self._somebody.register(listener, select.POLLIN)
        self._paused = False
        self.watching.add(listener.fileno(), self._accept)

    def adopt(self, sock: socket.socket, since: float) -> Connection:
        """Serves a client that is connected already: the one that started this process then."""
        sock.setblocking(False)
        connection = Connection(self, sock, monotonic(), since=since)
        self._connections[connection] = None
        connection.watch()
        return connection

    def _accept(self, pace: Pace) -> None:
        """Takes in whoever has come. Of a crowd all are heard before anyone is judged."""
        now = monotonic()
        alone = pace is Pace.NOW and now - self._accepted_at > _APART
        self._accepted_at = now
        fresh: list[Connection] = []
        for _ in range(1 if alone else _ACCEPTED_AT_ONCE):
            if fresh and len(self._connections) >= self._most:
                break  # those are heard before anybody has to make room for more
            connection = self._accept_one(now)
            if connection is None:
                break
            fresh.append(connection)
        if len(fresh) > 1 and pace is Pace.NOW:
            pace = Pace.TOGETHER
        for connection in fresh:
            connection.on_readable(pace)
            connection.watch()

    def _accept_one(self, now: float) -> Connection | None:
        """Whoever is next; None when there is nobody now, or nobody who may ask."""
        assert self._listener is not None
        if len(self._connections) >= self._most:
            if not self._somebody.poll(0):
                return None
            if not self._room():
                self._pause_accepting("there are as many connections as there may be")
                return None
        while True:
            try:
                sock, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionError):
                return None  # whoever it was has gone again
            except OSError as error:
                self._pause_accepting(error.strerror or "there are no descriptors left")
                return None
            if self._is_ours(sock):
                connection = Connection(self, sock, now)
                self._connections[connection] = None
                return connection
            sock.close()

    def _is_ours(self, sock: socket.socket) -> bool:
        """Whether our own user is at the other end."""
        try:
            sock.setblocking(False)
            uid = peer_uid(sock)
        except OSError:
            return False  # it has gone already
        if uid != self._uid:
            self.note(f"refused a connection of user {uid}: only our own user may ask")
        return uid == self._uid

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
        self._accept(Pace.LATER)
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
        self.refusing = why
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
