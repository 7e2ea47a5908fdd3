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

from hookline.daemon.connection import SILENCE, Connection
from hookline.daemon.frames import CallCache, ClientRequest
from hookline.daemon.instance import peer_uid
from hookline.daemon.judging import JudgingThread
from hookline.daemon.scheduler import MemoryBudget, RecentSessions, Scheduler
from hookline.model.outcome import Reply

__all__ = ["FORGET", "Counts", "Server", "ServerLimits"]

FORGET = 60.0
"""Seconds after the last request for which nothing of anybody's environment is kept."""

_KEEP_ALIVE = 0.4  # clients are promised one every half second
_SILENT = 5
"""After so many keep-alives without a turn of the judging thread clients hear of us no more."""
_LOST = 2.0
"""Seconds that the judging thread computes without a turn before it is taken for lost."""
_SAID_AGAIN = 60.0
_BREATH = 0.1  # seconds without accepting when there are no descriptors left


class ServerLimits(Struct, frozen=True, kw_only=True):
    """How much is taken on at once. The rest waits, or is sent to be answered elsewhere."""

    # Most of these only wait for a program of theirs. Far fewer would let a handful of slow hooks
    # hold up the events of every other session.
    at_once: int = max(32, 4 * (os.cpu_count() or 1))
    waiting: int = 1024
    held: int = 512 << 20
    connections: int = 2048


class Counts(Struct):
    """What has happened since the start."""

    answered: int = 0
    refused: int = 0
    abandoned: int = 0
    failed: int = 0


class Server:
    """Answers requests over any number of connections, on the thread that has the sockets."""

    def __init__(
        self,
        judge: JudgingThread,
        *,
        version: str,
        note: Callable[[str], None],
        limits: ServerLimits | None = None,
        own_answers: Mapping[tuple[str, ...], Callable[[ClientRequest], Reply]] | None = None,
        on_request: Callable[[ClientRequest], None] = lambda request: None,
        on_answer: Callable[[], None] = lambda: None,
        on_closed: Callable[[], None] = lambda: None,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_request`` hears of each event, ``on_answer`` when it is answered, ``on_closed`` of
        every end of a connection, ``on_lost`` of a judging thread that does not come back.
        """
        self.loop = judge.main
        self.judge = judge
        self.version = version
        self.note = note
        self.own_answers = own_answers or {}
        """Who answers a question about the daemon itself, by its first word."""
        limits = limits or ServerLimits()
        self.scheduler = Scheduler(at_once=limits.at_once, waiting=limits.waiting)
        self.budget = MemoryBudget(limits.held)
        self.calls = CallCache()
        self.counts = Counts()
        self.last_request = monotonic()
        self.refusing = ""
        """Why no request is taken now; empty when it is."""
        self._on_request = on_request
        self._on_answer = on_answer
        self._on_closed = on_closed
        self._on_lost = on_lost
        self._connections: dict[Connection, None] = {}
        # Hooks need descriptors, too.
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = min(limits.connections, soft // 2 if soft > 0 else sys.maxsize)
        self._sessions = RecentSessions()
        self._owed: dict[Connection, None] = {}
        self._ticking = False
        self._missed, self._spent, self._lost = 0, 0.0, False
        self._quiet: asyncio.Future[None] | None = None
        self._listener: socket.socket | None = None
        self._somebody = select.poll()
        self._paused = False
        self._said_paused = -_SAID_AGAIN
        self._uid = os.getuid()

    # Who is owed something, and hears meanwhile that we are there

    def owe(self, connection: Connection) -> None:
        """The client gets keep-alives from now on."""
        self._owed[connection] = None
        if not self._ticking:
            self._ticking = True
            self.loop.call_later(_KEEP_ALIVE, self._tick)

    def settle(self, connection: Connection) -> None:
        """The client waits for nothing more."""
        self._owed.pop(connection, None)
        self._rouse()

    def _tick(self) -> None:
        now = monotonic()
        try:
            self._look_at_judge()
            for connection in tuple(self._owed):
                connection.keep_alive(now)
        finally:  # whatever happens to one of them, the others wait on
            self._ticking = bool(self._owed)
            if self._ticking:
                self.loop.call_later(_KEEP_ALIVE, self._tick)

    @property
    def is_silent(self) -> bool:
        """Whether clients are to ask elsewhere, since nobody knows when judging goes on."""
        # Counted by our own turns: a process that was frozen comes back with no time lost.
        return self._missed >= _SILENT

    def _look_at_judge(self) -> None:
        """Sends clients elsewhere when one event holds up the thread that judges for too long."""
        spent = self.judge.read_cpu_seconds()
        if self.judge.ping():
            self._missed, self._spent = 0, spent
            return
        self._missed += 1
        # By its own clock: on a busy machine it may get little time. Where nobody else may come to
        # us, our own client has no other to ask.
        if not self._lost and self._listener is not None and spent - self._spent > _LOST:
            self._lost = True
            self._on_lost()
            self.refuse("an event holds up all others")
            for connection in tuple(self._owed):
                connection.abandon()

    # What connections tell

    def on_event(self, request: ClientRequest, session: str, now: float) -> None:
        """Counts an event that is about to be judged."""
        self.last_request = now
        self._sessions.add(session, now)
        self._on_request(request)

    def on_answer(self) -> None:
        """Counts an answer that was given."""
        self.counts.answered += 1
        self._on_answer()

    def on_failure(self, request: ClientRequest, error: BaseException) -> None:
        """For whoever reads the log: where it went wrong, in which call."""
        self.counts.failed += 1
        where = "".join(traceback.format_exception(error))
        self.note(f"event {request.id}: no answer could be made: {where}")

    def on_close(self, connection: Connection, unanswered: bool) -> None:
        """Forgets the connection."""
        self._connections.pop(connection, None)
        self._owed.pop(connection, None)
        if unanswered:
            self.counts.abandoned += 1
            self.note("a client went away before its answer; its event was ended")
        self._rouse()
        self._on_closed()

    # State

    @property
    def busy(self) -> bool:
        """Whether anybody is owed an answer or the rest of one, or hooks are still being ended."""
        return self.scheduler.running > 0 or any(not each.idle for each in self._connections)

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    def count_sessions(self) -> int:
        """How many sessions have asked something lately."""
        return self._sessions.count(monotonic())

    # Listening

    def listen(self, listener: socket.socket) -> None:
        """Accepts on this socket from now on, and no longer on the one before."""
        self.stop_listening()
        listener.setblocking(False)
        self._listener = listener
        self._somebody = select.poll()
        self._somebody.register(listener, select.POLLIN)
        self._paused = False
        self.loop.add_reader(listener, self._accept)

    def adopt(self, sock: socket.socket, since: float) -> None:
        """Serves a client that is connected already: the one that started this process then."""
        sock.setblocking(False)
        self._connections[Connection(self, sock, monotonic(), since=since)] = None

    def _accept(self) -> None:
        """Takes in whoever is next; of others that wait the loop tells again."""
        # Asking for one more would mostly be in vain, and take turns from the judging thread.
        if (connection := self._accept_one()) is not None:
            connection.read()

    def _accept_one(self) -> Connection | None:
        """Whoever is next; None when there is nobody now, or no room."""
        assert self._listener is not None
        if len(self._connections) >= self._most:
            if not self._somebody.poll(0):
                return None
            oldest = next((each for each in self._connections if each.idle), None)
            if oldest is None:
                self._pause_accepting("there are as many connections as there may be")
                return None
            oldest.close()
        while True:
            try:
                sock, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionError):
                return None  # whoever it was has gone again
            except OSError as error:
                self._pause_accepting(error.strerror or "there are no descriptors left")
                return None
            if self._is_ours(sock):
                connection = Connection(self, sock, monotonic())
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

    def _pause_accepting(self, why: str) -> None:
        assert self._listener is not None
        now = monotonic()
        if now - self._said_paused > _SAID_AGAIN:
            self._said_paused = now
            self.note(f"no connection is accepted for a moment: {why}")
        self._paused = True
        self.loop.remove_reader(self._listener)
        self.loop.call_later(_BREATH, self._resume_accepting)

    def _resume_accepting(self) -> None:
        if self._listener is not None and self._paused:
            self._paused = False
            self.loop.add_reader(self._listener, self._accept)

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
        while (connection := self._accept_one()) is not None:
            connection.read()
        listener, self._listener = self._listener, None
        self.loop.remove_reader(listener)
        listener.close()

    async def until_quiet(self, seconds: float) -> bool:
        """Waits until nobody is owed anything; False when the time was not enough."""
        deadline = monotonic() + seconds
        while self.busy and (left := deadline - monotonic()) > 0:
            self._quiet = self.loop.create_future()
            await asyncio.wait([self._quiet], timeout=left)
        return not self.busy

    def _rouse(self) -> None:
        if self._quiet is not None and not self._quiet.done():
            self._quiet.set_result(None)

    def refuse(self, why: str) -> None:
        """From now on clients are told to ask elsewhere; so are those that have not begun."""
        self.refusing = why
        for connection in tuple(self._connections):
            connection.send_away(why)

    def cancel(self) -> None:
        """Ends whatever runs."""
        for connection in tuple(self._connections):
            connection.cancel()

    def close(self) -> None:
        """Ends every connection."""
        self.stop_listening()
        for connection in tuple(self._connections):
            connection.close()
