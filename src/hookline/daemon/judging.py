"""The thread that judges, with an event loop of its own, and the watchdog of both threads.

The main thread has the sockets and never runs a hook, so a client is acknowledged whatever is being
judged. Requests cross by ``call_soon_threadsafe``. An answer is sent from where it was made: a turn
of the main thread first would cost its client as much again. Must not know who asks.
"""

import asyncio
import faulthandler
import time
from _thread import allocate_lock
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread
from typing import Any

from hookline.daemon.frames import ClientRequest, Respond
from hookline.model.outcome import Reply

__all__ = ["STUCK", "Deliver", "Done", "Job", "JudgingThread", "Watchdog"]

STUCK = 30.0
"""Seconds without a turn of either loop after which the process is ended."""

_MOST = 2.0
_LOOK = 60.0

Deliver = Callable[[Reply], None]
"""Sends a reply, on the judging thread."""

Done = Callable[[BaseException | None], None]
"""Hears on the main thread that a job ended, and by which error if by any."""


class JudgingThread:
    """Judges requests on its thread. All of its methods are for the main one."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        respond: Respond,
        *,
        look_after: Callable[[], Awaitable[None]] | None = None,
        on_end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """``loop`` is the main thread's. ``look_after`` is called each minute and before the end,
        ``on_end`` at the end; both on the judging thread.
        """
        self.main = loop
        self.own = asyncio.new_event_loop()
        self.respond = respond
        self._look_after = look_after
        self._on_end = on_end
        self._asked = self._answered = 0
        self._is_closing = False
        self._stopping = asyncio.Event()
        self._ended: asyncio.Future[None] = loop.create_future()
        self.own.set_exception_handler(self._hand_over_exception)
        # Nobody waits for a thread that hangs.
        self._thread = Thread(target=self._run, name="hookline-judge", daemon=True)
        self._thread.start()

    def submit(self, request: ClientRequest, deliver: Deliver, done: Done) -> "Job":
        """Has the request judged."""
        job = Job(self, request, deliver, done)
        self.own.call_soon_threadsafe(job.start)
        return job

    def ping(self) -> bool:
        """Whether the thread has turned since it was asked before; asks once more if so."""
        turned = self._answered == self._asked or self._is_closing
        if turned and not self._is_closing:
            self._asked += 1
            self.own.call_soon_threadsafe(self._answer_ping, self._asked)
        return turned

    def read_cpu_seconds(self) -> float:
        """How long the thread has computed; 0 where the system does not tell."""
        ident = (
            None if self._is_closing else self._thread.ident
        )  # a clock of its own, while it lives
        with suppress(AttributeError, OSError):
            return 0.0 if ident is None else time.clock_gettime(time.pthread_getcpuclockid(ident))
        return 0.0

    async def close(self, seconds: float) -> None:
        """Ends the thread; one that has not ended after so many seconds is left behind."""
        self._is_closing = True
        self.own.call_soon_threadsafe(self._stopping.set)
        await asyncio.wait([self._ended], timeout=seconds)

    # On the judging thread

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self.own) as runner:
                runner.run(self._serve())
        finally:
            with suppress(RuntimeError):  # the main loop did not wait for us
                self.main.call_soon_threadsafe(self._ended.set_result, None)

    async def _serve(self) -> None:
        while self._look_after is not None and not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _LOOK)
            try:
                await self._look_after()
            except Exception as error:  # the daemon is there for events, whatever became of this
                self.own.call_exception_handler({"message": str(error), "exception": error})
        await self._stopping.wait()
        if self._on_end is not None:
            await self._on_end()

    def _answer_ping(self, number: int) -> None:
        self._answered = number

    def _hand_over_exception(
        self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> None:
        self.main.call_soon_threadsafe(self.main.call_exception_handler, context)


class Job:
    """One request that is being judged, or waits in the judging thread for that."""

    __slots__ = ("_claim", "_deliver", "_done", "_judge", "_request", "_task")

    def __init__(
        self, judge: JudgingThread, request: ClientRequest, deliver: Deliver, done: Done
    ) -> None:
        self._judge = judge
        self._request: ClientRequest | None = request
        self._deliver = deliver
        self._done = done
        self._task: asyncio.Task[None] | None = None
        # Whoever has it decides: either the event begins, or it is withdrawn.
        self._claim = allocate_lock()

    def withdraw(self) -> bool:
        """Takes it back unless it has begun; then nothing more is heard of it."""
        return self._claim.acquire(blocking=False)

    def cancel(self) -> None:
        """Ends it. How it ended is told all the same."""
        self._judge.own.call_soon_threadsafe(self._cancel)

    # On the judging thread

    def start(self) -> None:
        """Begins, unless it was withdrawn."""
        if self._claim.acquire(blocking=False):
            self._task = self._judge.own.create_task(self._answer())

    def _cancel(self) -> None:
        if self._task is not None:
            # Behind the first step of the task: one that never ran would tell nobody of its end.
            self._judge.own.call_soon(self._task.cancel)

    async def _answer(self) -> None:
        failure: BaseException | None = None
        request, self._request = self._request, None
        assert request is not None
        try:
            self._deliver(await self._judge.respond(request))
        except asyncio.CancelledError:
            pass  # either nobody listens any more, or we have to end
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            failure = error
        finally:
            request = None
            self._judge.main.call_soon_threadsafe(self._done, failure)


class Watchdog:
    """Ends a daemon of which one loop turns no more: it would hold its place for nothing.

    A thread of the interpreter's own does it, since no Python may be able to run. It says where
    every thread was: names of files and functions, and numbers of lines.
    """

    def __init__(
        self, judge: JudgingThread, limit: float, number: Callable[[], int | None]
    ) -> None:
        """``number`` is the descriptor that is written to at the end."""
        self._judge = judge
        self._limit = limit
        self._number = number
        self._next: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """From now on both loops have to turn."""
        self._next = self._judge.main.call_later(min(_MOST, self._limit / 4), self.watch)
        if self._judge.ping():
            file = self._number()
            with suppress(RuntimeError):  # no thread is to be had now; the next time there may be
                faulthandler.dump_traceback_later(
                    self._limit, exit=True, file=2 if file is None else file
                )

    def rest(self) -> None:
        """The loops have to turn no more."""
        if self._next is not None:
            self._next.cancel()
            faulthandler.cancel_dump_traceback_later()
