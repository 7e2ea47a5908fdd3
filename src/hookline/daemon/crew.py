"""Processes beside the daemon, for when one core is not enough: sessions are shared out among them.

Every client comes to the daemon. One whose session is another process's is handed on before a byte
of it was read, and that process hears all of it. A session stays with one process, so whatever is
remembered of it for a moment is where its next event comes. Nothing depends on that but whether a
call that comes twice is judged twice: when there is one process more or less some sessions move,
and who cannot be told or handed on is answered by the daemon. Must not know what is asked, nor how
processes are started.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from subprocess import Popen, TimeoutExpired
from time import monotonic
from typing import TypeAlias
from zlib import crc32

from hookline.daemon.mates import Mate, Share
from hookline.daemon.sessions import session_in
from hookline.daemon.watching import Watching

__all__ = ["MANY", "Crew", "Start", "most_beside"]

MANY = 3
"""More than so many are never beside a daemon, which hands on all that they get."""

_PEEKED = 1 << 16
_BUSY, _CALM = 0.75, 0.2  # parts of the time
_GROWS_EVERY = 2.0
_CALM_FOR = 30.0
_AFTER_FAILURE = 60.0
_LAST = 5.0
_LOOK = 1.0

Start: TypeAlias = Callable[[str, socket.socket], "Popen[bytes]"]
"""Starts a process that answers, for a home, whoever comes to it through this socket."""


def most_beside() -> int:
    """How many processes come beside the daemon: with it, one for each core that is ours."""
    if not hasattr(os, "sched_getaffinity"):
        return 0  # nor is it known there how a connection is handed on unread
    return min(len(os.sched_getaffinity(0)) - 1, MANY)


class Crew:
    """Those that are there, how many there should be, and whose session is whose."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        watching: Watching,
        *,
        start: Callable[[socket.socket], "Popen[bytes]"],
        most: int,
        least: int = 0,
        note: Callable[[str], None],
    ) -> None:
        self.changes = 0
        """Grows whenever sessions may belong to others than before."""
        self._loop = loop
        self._watching = watching
        self._start = start
        self._most = most
        self._least = least
        self._note = note
        self._mates: list[Mate] = []
        self._sharing: list[Mate] = []
        """Those of them to whom clients are handed on."""
        self._ended: list[tuple[Popen[bytes], float]] = []
        self._past = self._shared = Share()
        self._considered = self._looked = (monotonic(), watching.idle())
        self._grows_from = 0.0
        self._busy_at = monotonic()
        self._all_gone: asyncio.Future[None] | None = None
        for _ in range(least):
            self._grow(monotonic())

    # Whose client this is

    def takes(self, sock: socket.socket) -> bool | None:
        """Whether another process has this client now; None when it has not said anything yet."""
        if not self._sharing:
            return False
        try:
            said = sock.recv(_PEEKED, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return False
        session = session_in(said)
        which = crc32(session) % (len(self._sharing) + 1) if session else 0
        return which > 0 and self._sharing[which - 1].take(sock)

    # How many there should be

    def consider(self, *, sessions: int, at_once: int) -> None:
        """To be called when events come: in how many sessions, and how many at once.

        One session alone cannot be shared out; and where each event waits for the one before it,
        nobody would be answered sooner.
        """
        now = monotonic()
        self._considered, busy = self._busy_since(self._considered, now)
        shareable = busy > _BUSY and at_once > 1 and sessions > 1
        if shareable and len(self._mates) < self._most and now >= self._grows_from:
            self._grow(now)

    def _busy_since(
        self, before: tuple[float, float], now: float
    ) -> tuple[tuple[float, float], float]:
        """The clocks as they are now, and how much of the time since then there was work to do."""
        then, idle_then = before
        idle = self._watching.idle()
        return (now, idle), 1.0 - (idle - idle_then) / max(now - then, 0.001)

    def _grow(self, now: float) -> None:
        self._grows_from = now + _GROWS_EVERY
        try:
            ours, process = self._started()
        except OSError as error:
            self._grows_from = now + _AFTER_FAILURE
            self._note(f"no process could be started beside this one: {error}")
            return
        mate = Mate(ours, process, on_ready=self._on_ready, on_gone=self._on_gone)
        self._mates.append(mate)
        self._watching.add(ours.fileno(), mate.on_readable)

    def _started(self) -> tuple[socket.socket, "Popen[bytes]"]:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                return ours, self._start(theirs)
            except BaseException:
                ours.close()
                raise

    def _on_ready(self, mate: Mate) -> None:
        self._sharing.append(mate)
        self.changes += 1
        self._note(f"process {mate.pid} answers beside this one: there is much to do")

    def _on_gone(self, mate: Mate) -> None:
        """It has ended, however that came; whoever it had asks elsewhere."""
        self._watching.remove(mate.fileno())
        mate.close()
        self._mates.remove(mate)
        self._past = self._past + mate.share.past()
        self._ended.append((mate.process, monotonic()))
        if not mate.dismissed:
            self._stop_sharing(mate)
            self._grows_from = monotonic() + _AFTER_FAILURE
            self._note(f"process {mate.pid} beside this one has ended unasked")
        if self._all_gone is not None and not self._mates and not self._all_gone.done():
            self._all_gone.set_result(None)

    def _stop_sharing(self, mate: Mate) -> None:
        if mate in self._sharing:
            self._sharing.remove(mate)
            self.changes += 1

    def look(self) -> bool:
        """To be called now and then: ends those that do nothing, or of which nothing is needed.

        Whether anything was asked of them since the last time.
        """
        now = monotonic()
        self._looked, busy = self._busy_since(self._looked, now)
        if max([busy, *(mate.share.busy for mate in self._mates)]) > _CALM:
            self._busy_at = now
        self._bury(now)
        for mate in tuple(self._mates):
            if mate.is_silent(now):
                self._note(f"process {mate.pid} beside this one says nothing and is killed")
                mate.kill()
            else:
                mate.ask(now)
        if now - self._busy_at > _CALM_FOR and len(self._sharing) > self._least:
            self._dismiss(self._sharing[-1])
        if len(self._mates) < self._least and now >= self._grows_from:
            self._grow(now)
        before, self._shared = self._shared, self.share()
        asked = self._shared.running + self._shared.waiting > 0
        return asked or self._shared.answered != before.answered

    def _bury(self, now: float) -> None:
        """Hears of the end of those that have gone; helps those that do not come to it."""
        for process, since in self._ended:
            if process.poll() is None and now - since > _LAST:
                process.kill()
        self._ended = [each for each in self._ended if each[0].returncode is None]

    def _dismiss(self, mate: Mate) -> None:
        self._stop_sharing(mate)
        mate.dismiss()

    # What they have done

    def pids(self) -> tuple[int, ...]:
        """The numbers of those that are there."""
        return tuple(mate.pid for mate in self._mates)

    def share(self) -> Share:
        """What all of them together said of themselves when they were last asked."""
        together = self._past
        for mate in self._mates:
            together = together + mate.share
        return together

    # The end

    def dismiss(self) -> None:
        """All of them finish what they have and go; nobody comes any more."""
        self._most = self._least = 0
        for mate in tuple(self._mates):
            self._dismiss(mate)

    def terminate(self) -> None:
        """The same, but somebody waits for it: what has not begun there is sent elsewhere.

        Told again, what has begun is ended, too.
        """
        self.dismiss()
        for mate in self._mates:
            mate.terminate()

    async def until_gone(self, seconds: float, *, told: Callable[[], bool]) -> None:
        """Waits until they have ended.

        Only where we were ``told`` to end it is within so many seconds: else there is no hurry.
        """
        told_at = None
        while self._mates:
            self._all_gone = self._loop.create_future()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._all_gone
            self.look()
            told_at = told_at or (monotonic() if told() else None)
            if told_at is not None and monotonic() - told_at > seconds:
                for mate in self._mates:
                    mate.kill()
        for process, _ in self._ended:
            # It has closed its socket, which is the last thing that it does.
            try:
                process.wait(_LAST)
            except TimeoutExpired:
                process.kill()
