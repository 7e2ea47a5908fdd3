"""One client's connection: takes its request in, has it answered, and knows when it is gone.

Speaks to the socket directly. A transport of asyncio's costs a task and three turns of the loop for
each connection, which is more than all that is done here.
"""

import asyncio
import socket
from time import monotonic

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
from hookline.daemon.outlet import Outlet
from hookline.daemon.pace import Pace
from hookline.daemon.sessions import depth_of, session_of

__all__ = ["SILENCE", "Connection"]

SILENCE = 60.0
"""Seconds after which a client that stopped in the middle of a request or an answer is dropped."""

_CHUNK = 1 << 16
_LARGE_CHUNK = 1 << 18
_MOST_EARLY = 1 << 16


class Connection:
    """A socket and what is going on over it."""

    __slots__ = (
        "_acknowledged",
        "_arrived",
        "_decoder",
        "_depth",
        "_early",
        "_fd",
        "_held",
        "_host",
        "_outlet",
        "_owing",
        "_pace",
        "_queued",
        "_reading",
        "_request",
        "_session",
        "_since",
        "_sock",
        "_task",
        "moved",
        "open",
        "used",
    )

    def __init__(self, host: Host, sock: socket.socket, *, since: float | None = None) -> None:
        """``since``: the client started this very process then, so there is no other to ask."""
        self._host = host
        self._sock = sock
        self._fd = sock.fileno()
        self._since = since
        self._decoder = Decoder(host.calls)
        self._early, self._arrived = b"", 0.0
        self._owing = self._acknowledged = self._queued = self._reading = False
        self._held = self._depth = 0
        self._request: Request | None = None
        self._session = ""
        self._task: asyncio.Task[None] | None = None
        self._pace = Pace.LATER
        self._outlet = Outlet(host.loop, sock, host.budget, self)
        self.moved = monotonic()
        """When the client last did something."""
        self.used = False
        """Whether it has ever begun a request."""
        self.open = True

    @property
    def idle(self) -> bool:
        """Whether nothing is owed to the client, and it owes us nothing."""
        return not self._owing and not self._outlet.waiting

    # Reading

    def watch(self) -> None:
        """Hears of what comes, and of the client's end."""
        if self.open and not self._reading:
            self._reading = True
            self._host.watching.add(self._fd, self.on_readable)

    def _unwatch(self) -> None:
        if self._reading:
            self._reading = False
            self._host.watching.remove(self._fd)

    def on_readable(self, pace: Pace) -> None:
        """Takes what has come."""
        try:
            data = self._sock.recv(_LARGE_CHUNK if self._held > SMALL else _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
        elif self._request is not None or not (self._owing or self.idle):
            # It is read only when its turn comes; a client that says much ahead has to wait.
            self._early += data
            if len(self._early) > _MOST_EARLY:
                self._unwatch()
        else:
            self._pace = pace
            self._take(data)

    def _take(self, data: bytes) -> None:
        decoder = self._decoder
        try:
            if data:
                decoder.feed(data)
            elif not decoder.empty:
                decoder.read_header()
            if decoder.length is None:
                return
            self.moved = monotonic()
            if not self._owing:
                self._begin(decoder.length)
            if not decoder.complete:
                self.acknowledge()
                return
            request = decoder.take(self._arrived)
        except TooLarge as error:
            self._outlet.say(ACKNOWLEDGED + busy(str(error)))
            self.close()
        except FrameError as error:
            self._host.note(f"a client was sent away: {error}")
            if self._owing:
                self._conclude(busy(str(error)))
            self.close()
        else:
            self._dispatch(request)

    def _begin(self, length: int) -> None:
        """A request begins: from here on the client is owed an answer."""
        # Ours has waited since it started us: what it asks lay in the socket while Python loaded.
        self._arrived = self.moved if self._since is None or self.used else self._since
        self._owing = self.used = True
        self._acknowledged = False
        if self._host.budget.take(length, self._resume):
            self._held = length
        else:
            self._unwatch()
            self.acknowledge()

    def _resume(self) -> None:
        """There is room for the request now."""
        self._held = self._decoder.length or 0
        self.moved = monotonic()
        self.watch()

    def acknowledge(self) -> None:
        """Tells the client that its answer will come; once, and not any more when it has come."""
        if self._owing and not self._acknowledged:
            self._acknowledged = True
            self._host.pending(self)
            self._outlet.say(ACKNOWLEDGED)

    def _acknowledge_unless_answered(self) -> None:
        if self._pace is Pace.TOGETHER:  # what shares a commit is answered a turn later
            self._host.acknowledge_soon(self)
        else:
            self.acknowledge()

    # Answering

    def _dispatch(self, request: Request) -> None:
        host = self._host
        if request.version != host.version and self._since is None:
            self._conclude(other_version(host.version))
            return
        own = host.own_answer(request)
        if own is not None:
            self._conclude(answer(own))
            return
        why = host.refusal(request)
        if why:
            self._conclude(busy(why))
            return
        self._session, self._depth = session_of(request), depth_of(request)
        known = host.seen(self._session, request)
        # The acknowledgement goes with the answer where that is sure to come at once.
        if not known or self._pace is Pace.LATER:
            self.acknowledge()
        if self.open:
            self._queue_up(request)

    def _queue_up(self, request: Request) -> None:
        turns = self._host.turns
        if turns.enter(self._session, self._depth):
            self._request = request
            if self._pace is Pace.NOW:
                self._start()
            else:
                self._host.loop.call_soon(self._start)
        elif turns.wait(self._session, self._depth, self._turn):
            self._request, self._queued = request, True
            self._acknowledge_unless_answered()
        else:
            self._conclude(busy("too many events are waiting"))

    def _turn(self) -> None:
        """It is this event's turn, said from within another event's end."""
        self._queued = False
        self._host.loop.call_soon(self._start)

    def _start(self) -> None:
        if not self.open:
            self._ended()
            self._conclude(b"")
            return
        began = monotonic()
        task = begun(self._host.loop, self._answer())
        self._host.timed(self._session, monotonic() - began)
        if not task.done():
            self._task = task
            self._acknowledge_unless_answered()

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
            self._ended()
            self._conclude(message or b"")
            if message is None:
                self.close()

    def _ended(self) -> None:
        self._request = self._task = None
        self._host.turns.leave(self._session, self._depth)

    def _conclude(self, message: bytes) -> None:
        """Sends what ends this request, if anything does."""
        self._owing = False
        self._host.settled(self)
        held, self._held = self._held, 0
        self._host.budget.give_back(held)
        if self.open and message:
            self._outlet.say(message if self._acknowledged else ACKNOWLEDGED + message)
            if self._outlet.waiting:
                self.moved = monotonic()
                self._host.pending(self)
            self._next()

    def _next(self) -> None:
        """Goes on with what the client has said meanwhile, once it has all of its answer."""
        if not self.open or self._outlet.waiting:
            return
        if self._early or not self._decoder.empty:
            early, self._early = self._early, b""
            # Not from within: much could be said ahead, and each answer would be a call deeper.
            self._host.loop.call_soon(self._further, early)
        self.watch()

    def _further(self, early: bytes) -> None:
        if self.open:
            self._pace = Pace.LATER
            self._take(early)

    # Writing

    def keep_alive(self, now: float) -> None:
        """Tells a waiting client that we are here; drops one that has stopped in the middle."""
        stalled = self._request is None and not self._queued and self._held > 0
        if (stalled or self._outlet.waiting) and now - self.moved > SILENCE:
            self._host.note(f"a client was dropped: it did nothing for {SILENCE:g} s")
            self.close()
        elif self._owing and not self._outlet.waiting:
            self._outlet.say(KEEP_ALIVE)

    def on_taken(self, everything: bool) -> None:
        """The client has taken something of what it was told."""
        self.moved = monotonic()
        if everything and not self._owing:
            self._host.settled(self)
            self._next()

    def on_broken(self) -> None:
        """Nobody takes what is said."""
        self.close()

    # Ending

    def send_away(self) -> None:
        """An event that has not begun is to be answered elsewhere."""
        if self._queued:
            self._leave_queue()
            self._request = None
            self._conclude(busy("the daemon stops"))

    def cancel(self) -> None:
        """Ends the event; the client has to ask elsewhere."""
        if self._task is not None:
            self._task.cancel()

    def _leave_queue(self) -> None:
        self._queued = False
        self._host.turns.give_up(self._session, self._depth, self._turn)

    def close(self) -> None:
        """The end, whoever wants it. An event that nobody waits for any more is cancelled."""
        if not self.open:
            return
        self.open = False
        self._unwatch()
        self._outlet.close()
        self._sock.close()
        host, unanswered = self._host, self._owing
        host.budget.give_up(self._resume)
        if self._queued:
            self._leave_queue()
            self._request = None
        if self._task is not None:
            self._task.cancel()  # what it holds is given back at its end
        elif self._request is None:
            held, self._held = self._held, 0
            host.budget.give_back(held)
        self._owing = False
        host.settled(self)
        host.closed(self, unanswered)
