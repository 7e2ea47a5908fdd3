"""One client's connection: takes its request in, has it answered, and knows when it is gone."""

import asyncio
from _thread import RLock
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from hookline.daemon.frames import (
    ACKNOWLEDGED,
    KEEP_ALIVE,
    ClientRequest,
    Decoder,
    FrameError,
    TooLarge,
    encode_answer,
    encode_busy,
    encode_other_version,
)
from hookline.daemon.instance import peer_pid
from hookline.daemon.scheduler import SMALL, find_depth, find_session
from hookline.model.outcome import Reply

if TYPE_CHECKING:
    from socket import socket

    from hookline.daemon.judging import Job
    from hookline.daemon.server import Server

__all__ = ["SILENCE", "Connection"]

SILENCE = 60.0
"""Seconds after which a client that stopped in the middle of a request or an answer is dropped."""

_CHUNK, _LARGE_CHUNK = 1 << 16, 1 << 18
_MOST_AHEAD = 1 << 16


class Connection:
    """A client and what is going on with it.

    The loop tells when its socket is ready. A transport would cost a task and three turns of the
    loop for each client, and a client asks one thing.
    """

    __slots__ = (
        *("_ahead", "_arrived", "_decoder", "_delivered", "_depth", "_held", "_job", "_lock"),
        *("_loop", "_number", "_owing", "_reading", "_request", "_resuming", "_server", "_session"),
        *("_since", "_sock", "_unsent", "_waiting", "moved", "open", "used"),
    )

    def __init__(
        self, server: "Server", sock: "socket", now: float, *, since: float | None = None
    ) -> None:
        """``since``: the client started this very process then, so there is no other to ask."""
        self._server = server
        self._loop: asyncio.AbstractEventLoop = server.loop
        self._sock = sock
        # Not the socket itself: asyncio writes a description of one that it does not know yet.
        self._number = sock.fileno()
        self._since = since
        self._decoder = Decoder(server.calls, peer_pid(sock) or 0)
        self._arrived = 0.0
        self._ahead = b""
        """What came while the client was still owed an answer."""
        self._resuming = False
        self._unsent = memoryview(b"")
        """What the client has not taken yet; nearly always nothing."""
        self._owing = self._reading = False
        self._lock = RLock()
        """For whoever writes, or closes the socket, while an event is being judged."""
        self._delivered: bytes | None = None
        """What the client has not taken yet of an answer that the judging thread sent."""
        self._held = self._depth = 0
        self._session = ""
        self._request: ClientRequest | None = None
        """The event that waits for its turn or has it."""
        self._waiting = False
        """Whether it waits for its turn."""
        self._job: Job | None = None
        self.open = True
        self.moved = now
        """When the client last did something."""
        self.used = False
        """Whether it has ever begun a request."""
        self.resume_reading()

    @property
    def idle(self) -> bool:
        """Whether nothing is owed to the client, and it owes us nothing."""
        return not self._owing and not self._unsent

    # Reading

    def resume_reading(self) -> None:
        """Hears of what comes, and of the client's end."""
        if self.open and not self._reading:
            self._reading = True
            self._loop.add_reader(self._number, self.read)

    def _pause_reading(self) -> None:
        """Lets what comes wait in the socket."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._number)

    def read(self) -> None:
        """Takes what has come."""
        try:
            data = self._sock.recv(_LARGE_CHUNK if self._held > SMALL else _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
        elif self._request is not None or self._resuming or (self._unsent and not self._owing):
            # It is read only when its turn comes; a client that says much ahead has to wait.
            self._ahead += data
            if len(self._ahead) > _MOST_AHEAD:
                self._pause_reading()
        else:
            self._take(data)

    def _take(self, data: bytes) -> None:
        """Goes on with the request of which this is a part."""
        decoder, now = self._decoder, monotonic()
        try:
            if data:
                decoder.feed(data)
            else:
                decoder.read_header()
            if decoder.length is None:
                return
            self.moved = now
            if not self._owing:
                self._begin(decoder.length, now)
            if not decoder.complete or not self.open:
                return
            request = decoder.take(self._arrived)
        except TooLarge as error:
            self._send(ACKNOWLEDGED + encode_busy(str(error)))
            self.close()
        except FrameError as error:
            self._server.note(f"a client was sent away: {error}")
            if self._owing:
                self._conclude(encode_busy(str(error)))
            self.close()
        else:
            self._server.budget.give_up(self._take_room)  # it came all the same
            self.resume_reading()
            self._dispatch(request)

    def _begin(self, length: int, now: float) -> None:
        """A request begins: from here on the client is owed an answer, and is told so."""
        # Ours has waited since it started us: what it asks lay in the socket while Python loaded.
        first = self._since is not None and not self.used
        self._arrived = self._since if first and self._since is not None else now
        self._owing = self.used = True
        if self._server.budget.take(length, self._take_room):
            self._held = length
        else:
            self._pause_reading()
        self._server.owe(self)
        self._send(ACKNOWLEDGED)

    def _take_room(self) -> None:
        """There is room for the request now."""
        self._held = self._decoder.length or 0
        self.moved = monotonic()
        self.resume_reading()

    # Answering

    def _dispatch(self, request: ClientRequest) -> None:
        server = self._server
        if request.version != server.version and self._since is None:
            self._conclude(encode_other_version(server.version))
            return
        own = server.own_answers.get(request.argv[:1])
        if own is not None:
            self._conclude(encode_answer(own(request)))
            return
        if why := server.refusing:
            server.counts.refused += 1
            self._conclude(encode_busy(why))
            return
        self._session, self._depth = find_session(request), find_depth(request)
        server.on_event(request, self._session, self.moved)
        scheduler = server.scheduler
        if scheduler.enter(self._session, self._depth):
            self._request = request
            self._start()
        elif scheduler.wait(self._session, self._depth, self._start):
            self._request, self._waiting = request, True
        else:
            self._conclude(encode_busy("too many events are waiting"))

    def _start(self) -> None:
        """It is this event's turn."""
        assert self._request is not None
        self._waiting = False
        self._job = self._server.judge.submit(self._request, self._deliver, self._on_judged)

    def _deliver(self, reply: Reply) -> None:
        """Sends the answer, or as much of it as is taken at once. On the judging thread."""
        message = encode_answer(reply)
        with self._lock:
            self._delivered = message
            if self.open and not self._unsent:
                with suppress(OSError):  # the main thread finds out about it, too
                    self._delivered = message[self._sock.send(message) :]

    def _on_judged(self, error: BaseException | None) -> None:
        request, rest = self._request, self._delivered
        assert request is not None
        self._delivered = None
        if rest is not None:
            self._conclude(rest)
            self._server.on_answer()
            return
        # Never an answer of our own making, and no refusal, which would say that nothing has run.
        # Without a word the client asks elsewhere, and counts that as another attempt.
        if error is not None:
            self._server.on_failure(request, error)
        self._conclude(b"")
        self.close()

    def _conclude(self, message: bytes) -> None:
        """Sends what ends this request, if anything does; what it had of ours is free again."""
        server, had_turn = self._server, self._request is not None and not self._waiting
        self._request = self._job = None
        self._owing = self._waiting = False
        if self.open and message:  # first of all, since somebody waits for it
            self._send(message)
        if had_turn:
            server.scheduler.leave(self._session, self._depth)
        held, self._held = self._held, 0
        server.budget.give_back(held)
        if self._unsent:
            self.moved = monotonic()
        else:
            server.settle(self)
            self._go_on_soon()

    def _go_on_soon(self) -> None:
        """Goes on with what the client has said meanwhile, once it has all of its answer."""
        if self.open and (self._ahead or not self._decoder.empty) and not self._resuming:
            # Not from within: much could be said ahead, and each answer would be a call deeper.
            self._resuming = True
            self._loop.call_soon(self._go_on)
        self.resume_reading()

    def _go_on(self) -> None:
        self._resuming = False
        ahead, self._ahead = self._ahead, b""
        if self.open:
            self.resume_reading()
            self._take(ahead)

    # Writing

    def _send(self, message: bytes) -> None:
        """Sends it, after whatever has not been taken yet."""
        if self._unsent:
            self._keep(memoryview(bytes(self._unsent) + message))
        elif self.open and (rest := self._write(memoryview(message))):
            self._keep(rest)
            self._loop.add_writer(self._number, self._on_writable)

    def _write(self, message: memoryview) -> memoryview:
        """What of it was not taken; nothing when the connection is broken."""
        try:
            return message[self._sock.send(message) :]
        except (BlockingIOError, InterruptedError):
            return message
        except OSError:
            self.close()
            return message[:0]

    def _keep(self, unsent: memoryview) -> None:
        more = len(unsent) - len(self._unsent)
        self._unsent = unsent or memoryview(b"")  # an empty view would keep all of the answer
        if more > 0:
            self._server.budget.hold(more)
        else:
            self._server.budget.give_back(-more)

    def _on_writable(self) -> None:
        rest = self._write(self._unsent)
        if not self.open:
            return
        self.moved = monotonic()
        self._keep(rest)
        if not rest:
            self._loop.remove_writer(self._number)
            if not self._owing:
                self._server.settle(self)
                self._go_on_soon()

    def keep_alive(self, now: float) -> None:
        """Tells a waiting client that we are here; drops one that has stopped in the middle."""
        stalled = self._request is None and self._held > 0
        if (stalled or self._unsent) and now - self.moved > SILENCE:
            self._server.note(f"a client was dropped: it did nothing for {SILENCE:g} s")
            self.close()
        elif self._owing and not self._unsent and not self._server.is_silent:
            with self._lock:  # nothing may come behind an answer
                if self._delivered is None:
                    self._send(KEEP_ALIVE)

    # Ending

    def send_away(self, why: str) -> None:
        """Has an event that has not begun answered elsewhere."""
        if self._waiting or (self._job is not None and self._job.withdraw()):
            self._leave_queue()
            self._conclude(encode_busy(why))

    def abandon(self) -> None:
        """Has an event answered elsewhere that was begun and does not come back."""
        if self._job is not None and self._since is None:
            self._owing = False
            self.close()

    def cancel(self) -> None:
        """Ends the event; the client has to ask elsewhere."""
        if self._job is not None:
            self._job.cancel()

    def _leave_queue(self) -> None:
        if self._waiting:
            self._waiting, self._request = False, None
            self._server.scheduler.give_up(self._session, self._depth, self._start)

    def close(self) -> None:
        """The end, whoever wants it. An event that nobody waits for any more is cancelled."""
        if not self.open:
            return
        with self._lock:  # from here on the judging thread does not touch the socket
            self.open = False
        self._pause_reading()
        if self._unsent:
            self._loop.remove_writer(self._number)
            self._keep(memoryview(b""))
        self._sock.close()
        server, unanswered = self._server, self._owing and self._delivered != b""
        server.budget.give_up(self._take_room)
        self._leave_queue()
        self._owing = False
        if self._job is not None and not self._job.withdraw():
            self._job.cancel()  # what it holds is given back at its end
        else:
            self._conclude(b"")
        server.on_close(self, unanswered)
