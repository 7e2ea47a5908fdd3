"""One client's connection: takes its request in, has it answered, and knows when it is gone."""

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from hookline.daemon.begun import begun
from hookline.daemon.budget import SMALL
from hookline.daemon.frames import (
    ACKNOWLEDGED,
    KEEP_ALIVE,
    Decoder,
    FrameError,
    Request,
    TooLarge,
    answer,
    busy,
    other_version,
)
from hookline.daemon.host import Host
from hookline.daemon.line import Line
from hookline.daemon.pace import Pace
from hookline.daemon.sessions import QUICK, Session, depth_of, session_of

if TYPE_CHECKING:
    from socket import socket

__all__ = ["SILENCE", "Connection"]

SILENCE = 60.0
"""Seconds after which a client that stopped in the middle of a request or an answer is dropped."""

_MOST_EARLY = 1 << 16


class Connection(Line):
    """A client and what is going on with it."""

    __slots__ = (
        "_acknowledged",
        "_arrived",
        "_decoder",
        "_depth",
        "_early",
        "_going_on",
        "_held",
        "_owing",
        "_pace",
        "_queued",
        "_request",
        "_session",
        "_since",
        "_task",
        "moved",
        "used",
    )

    def __init__(
        self, host: Host, sock: "socket", now: float, *, since: float | None = None
    ) -> None:
        """``since``: the client started this very process then, so there is no other to ask."""
        super().__init__(host, sock)
        self._since = since
        self._early, self._arrived = b"", 0.0
        self._owing = self._acknowledged = self._queued = self._going_on = False
        self._held = self._depth = 0
        self._request: Request | None = None
        self._session: Session
        self._task: asyncio.Task[None] | None = None
        # For a request that comes in pieces; few do.
        self._decoder: Decoder | None = None
        self._pace = Pace.LATER
        self.moved = now
        """When the client last did something."""
        self.used = False
        """Whether it has ever begun a request."""

    @property
    def idle(self) -> bool:
        """Whether nothing is owed to the client, and it owes us nothing."""
        return not self._owing and self._outlet is None

    # Reading

    def on_readable(self, pace: Pace) -> None:
        """Takes what has come."""
        data = self.heard(much=self._held > SMALL)
        if not data:
            if data is not None:
                self.close()
        elif self._request is not None or self._going_on or not (self._owing or self.idle):
            # It is read only when its turn comes; a client that says much ahead has to wait.
            self._early += data
            if len(self._early) > _MOST_EARLY:
                self.unwatch()
        else:
            self._pace = pace
            self._take(data)

    def _take(self, data: bytes) -> None:
        now = monotonic()
        if self._decoder is None:
            request = self._host.calls.usual(data, self._beginning(now))
            if request is not None:
                self.moved = now
                self._begin(len(data))
                self._dispatch(request)
                return
            self._decoder = Decoder(self._host.calls)
        self._piece_together(self._decoder, data, now)

    def _piece_together(self, decoder: Decoder, data: bytes, now: float) -> None:
        try:
            if data:
                decoder.feed(data)
            elif not decoder.empty:
                decoder.read_header()
            if decoder.length is None:
                return
            self.moved = now
            if not self._owing:
                self._arrived = self._beginning(now)
                self._begin(decoder.length)
            if not decoder.complete:
                self.acknowledge()
                return
            request = decoder.take(self._arrived)
        except TooLarge as error:
            self.say(ACKNOWLEDGED + busy(str(error)))
            self.close()
        except FrameError as error:
            self._host.note(f"a client was sent away: {error}")
            if self._owing:
                self.conclude(busy(str(error)))
            self.close()
        else:
            self._host.budget.give_up(self._resume)  # it came all the same
            if decoder.empty:
                self._decoder = None
            self._dispatch(request)

    def _beginning(self, now: float) -> float:
        # Ours has waited since it started us: what it asks lay in the socket while Python loaded.
        return now if self._since is None or self.used else self._since

    def _begin(self, length: int) -> None:
        """A request begins: from here on the client is owed an answer."""
        self._owing = self.used = True
        self._acknowledged = False
        if self._host.budget.take(length, self._resume):
            self._held = length
        else:
            self.unwatch()
            self.acknowledge()

    def _resume(self) -> None:
        """There is room for the request now."""
        assert self._decoder is not None
        self._held = self._decoder.length or 0
        self.moved = monotonic()
        self.watch()

    def acknowledge(self) -> None:
        """Tells the client that its answer will come; once, and not any more when it has come."""
        if self._owing and not self._acknowledged:
            self._acknowledged = True
            self._host.waiting.add(self)
            self.say(ACKNOWLEDGED)

    # Answering

    def _dispatch(self, request: Request) -> None:
        host = self._host
        if request.version != host.version and self._since is None:
            self.conclude(other_version(host.version))
            return
        own = host.own_answers.get(request.argv[:1])
        if own is not None:
            self.conclude(answer(own(request)))
            return
        if host.refusing:
            host.counts.refused += 1
            self.conclude(busy(host.refusing))
            return
        self._depth = depth_of(request)
        self._session = session = host.seen(session_of(request), request, self.moved)
        # The acknowledgement goes with the answer where that is sure to come at once.
        if self._pace is Pace.LATER or not session.quick:
            self.acknowledge()
        if self.open:
            self._queue_up(request, session)

    def _queue_up(self, request: Request, session: Session) -> None:
        turns = self._host.turns
        if turns.enter(session.name, self._depth):
            self._request = request
            if self._pace is Pace.NOW:
                self.start()
                return
            self._host.rounds.start_soon(self)
        elif turns.wait(session.name, self._depth, self._turn):
            self._request, self._queued = request, True
        else:
            self.conclude(busy("too many events are waiting"))
            return
        if self._pace is Pace.TOGETHER:  # what shares a commit is answered in a moment
            self._host.waiting.acknowledge_soon(self, self.moved)
        else:
            self.acknowledge()

    def _turn(self) -> None:
        """It is this event's turn, said from within another event's end."""
        self._queued = False
        self._host.rounds.start_soon(self)

    def start(self) -> None:
        """Begins the event, which has its turn."""
        host, session = self._host, self._session
        began = monotonic()
        if not session.quick:
            host.speak_up()
        elif began > host.waiting.overdue_at:
            host.waiting.acknowledge_overdue(began)
        if not self.open:
            self.conclude(b"")
            return
        self._task = begun(host.loop, self._answer())
        # An event that is slow to begin must not hold up its own acknowledgement.
        session.quick = monotonic() - began < QUICK
        if self._task is not None and self._pace is Pace.NOW:
            self.acknowledge()

    async def _answer(self) -> None:
        request = self._request
        assert request is not None
        # A refusal would say that nothing has run. So when there is no answer the client is left
        # without a word: it asks elsewhere, and counts that as another attempt on its event.
        message: bytes | None = None
        try:
            reply = await self._host.respond(request)
            message = answer(reply)
            self._host.counts.answered += 1
        except asyncio.CancelledError:
            pass  # either nobody listens any more, or we have to end
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            # Never an answer of our own making: the client has another way to get a real one.
            self._host.failed(request, error)
        finally:
            request = None
            if message is None:
                self.conclude(b"")
                self.close()
            else:
                self._host.rounds.conclude(self, message)

    def conclude(self, message: bytes) -> None:
        """Sends what ends this request, if anything does; what it had of ours is free again."""
        host, had_turn = self._host, self._request is not None and not self._queued
        self._request = self._task = None
        self._owing = False
        if self.open and message:  # first of all, since somebody waits for it
            self.say(message if self._acknowledged else ACKNOWLEDGED + message)
        if had_turn:
            host.turns.leave(self._session.name, self._depth)
        host.settled(self)
        held, self._held = self._held, 0
        host.budget.give_back(held)
        if self.open and message:
            if self._outlet is not None:
                self.moved = monotonic()
                host.waiting.add(self)
            self._next()

    def _next(self) -> None:
        """Goes on with what the client has said meanwhile, once it has all of its answer."""
        if not self.open or self._outlet is not None:
            return
        if (self._early or self._decoder is not None) and not self._going_on:
            # Not from within: much could be said ahead, and each answer would be a call deeper.
            self._going_on = True
            self._host.loop.call_soon(self._go_on)
        self.watch()

    def _go_on(self) -> None:
        self._going_on = False
        early, self._early = self._early, b""
        if self.open:
            self._pace = Pace.LATER
            self.watch()
            self._take(early)

    # Writing

    def keep_alive(self, now: float) -> None:
        """Tells a waiting client that we are here; drops one that has stopped in the middle."""
        stalled = self._request is None and not self._queued and self._held > 0
        if (stalled or self._outlet is not None) and now - self.moved > SILENCE:
            self._host.note(f"a client was dropped: it did nothing for {SILENCE:g} s")
            self.close()
        elif self._owing and self._outlet is None:
            self.say(KEEP_ALIVE)

    def on_taken(self, everything: bool) -> None:
        """The client has taken something of what it was told."""
        self.moved = monotonic()
        if everything:
            self._outlet = None
            if not self._owing:
                self._host.settled(self)
                self._next()

    # Ending

    def send_away(self) -> None:
        """An event that has not begun is to be answered elsewhere."""
        if self._queued:
            self._leave_queue()
            self.conclude(busy("the daemon stops"))

    def cancel(self) -> None:
        """Ends the event; the client has to ask elsewhere."""
        if self._task is not None:
            self._task.cancel()

    def _leave_queue(self) -> None:
        self._queued, self._request = False, None
        self._host.turns.give_up(self._session.name, self._depth, self._turn)

    def close(self) -> None:
        """The end, whoever wants it. An event that nobody waits for any more is cancelled."""
        if not self.open:
            return
        self.hang_up()
        host, unanswered = self._host, self._owing
        host.budget.give_up(self._resume)
        if self._queued:
            self._leave_queue()
        if self._task is not None:
            self._task.cancel()  # what it holds is given back at its end
        elif self._request is None:
            held, self._held = self._held, 0
            host.budget.give_back(held)
        self._owing = False
        host.closed(self, unanswered)
