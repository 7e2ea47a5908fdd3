"""How a daemon comes and goes: takes its place, looks after it, and leaves when it is time.

A process that a client started answers that client first, and only then looks whether the place of
the daemon is free. Told to end, it finishes what runs.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from time import monotonic

import msgspec

from hookline._version import __file__ as _version_file
from hookline._version import __version__
from hookline.daemon.connection import SILENCE
from hookline.daemon.control import GRACE, DaemonStatus
from hookline.daemon.frames import ClientRequest, Respond
from hookline.daemon.instance import Claim, InstanceError, claim
from hookline.daemon.judging import STUCK, JudgingThread, Watchdog
from hookline.daemon.log import Log
from hookline.daemon.process import (
    count_descriptors,
    find_limit,
    freeze_heap,
    keep_memory,
    read_memory,
    read_start_time,
    silence,
    trim_memory,
)
from hookline.daemon.server import FORGET, Server, ServerLimits
from hookline.model.outcome import Reply

__all__ = ["IDLE", "Daemon", "find_home"]

IDLE = 1800.0
"""Seconds without an event after which the daemon goes."""

_LOOK = 2.0
_SOON = 0.2
_PACKAGE_READ = 1.0
_LAST = 5.0
"""Seconds that events get to end after they were cancelled."""
_VALUED = {"--home", "--user-config", "--config", "--timeout"}


def find_home(argv: tuple[str, ...]) -> str | None:
    """The home that a client's command line names; None when a daemon cannot stay for it."""
    home = ""
    words = iter(argv)
    for word in words:
        if word in _VALUED:
            value = next(words, "")
            # As clients read it, and `hookline hook`: the last of two counts.
            home = value if word == "--home" else home
    return home if os.path.isabs(home) and "\0" not in home else None


class Daemon:
    """One process's life: as the daemon, or as the helper of the one client that started it."""

    def __init__(
        self,
        respond: Respond,
        *,
        home: str | None = None,
        client: socket.socket | None = None,
        idle: float = IDLE,
        grace: float = GRACE,
        stuck: float = STUCK,
        stays: bool = True,
        limits: ServerLimits | None = None,
        log: Log | None = None,
        look_after: Callable[[str], Awaitable[None]] | None = None,
        on_end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Either ``home`` is given or ``client``, whose request names it.

        ``stuck`` seconds without a turn of the loop end the process once it is the daemon. Unless
        it ``stays`` it never becomes that.
        ``look_after`` is called with the home each minute, ``on_end`` when no event runs any more.
        """
        self._respond = respond
        self._home = home
        self._client = client
        self._idle = idle
        self._grace = grace
        self._stuck = stuck
        self._stays = stays
        self._limits = limits
        self._log = log or Log()
        self._look_after_home = look_after
        self._on_end = on_end
        self._claim: Claim | None = None
        self._began = monotonic()
        self._package = _read_package()
        self._package_read = self._began
        self._complaint = ""
        self._told_to_end = False
        self._has_settled = False
        self._is_frozen = False
        self._judge: JudgingThread
        self._server: Server
        self._watchdog: Watchdog
        self._end: asyncio.Future[str]

    async def run(self) -> bool:
        """Serves until it is time to go; whether it ever was the daemon."""
        loop = asyncio.get_running_loop()
        self._end = loop.create_future()
        keep_memory()  # before there is a second thread
        self._judge = JudgingThread(
            loop, self._respond, look_after=self._look_after_sessions, on_end=self._on_end
        )
        self._server = Server(
            self._judge,
            version=__version__,
            note=self._log.note,
            limits=self._limits,
            own_answers={("daemon",): self._answer_own},
            on_request=self._on_request,
            on_answer=self._settle,
            on_closed=self._on_closed,
            on_lost=self._on_lost,
        )
        self._watchdog = Watchdog(self._judge, self._stuck, lambda: self._log.number)
        loop.set_exception_handler(self._log.on_exception)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_signal, number)
        loop.add_signal_handler(signal.SIGCONT, self._look_after)
        if self._home is not None:
            self._settle()
        if self._client is not None:
            self._server.adopt(self._client, read_start_time())
            loop.call_later(SILENCE, self._on_silence)
        try:
            why = await self._end
            if self._claim is not None:
                self._log.note(f"leaving: {why}")
        finally:
            was_daemon = self._claim is not None
            await self._leave()
            self._watchdog.rest()
        return was_daemon

    # Coming

    def _on_request(self, request: ClientRequest) -> None:
        """Hears of each event before it is judged."""
        if self._home is None:
            same = request.version == __version__
            self._home = (find_home(request.argv) if same else None) or ""
            # The client that started us has its answer first, unless that takes long.
            self._server.loop.call_later(_SOON, self._settle)
        elif (now := monotonic()) - self._package_read > _PACKAGE_READ:
            self._package_read = now
            if _read_package() != self._package:
                self._retire("hookline has changed on the disk")

    def _settle(self) -> None:
        """Becomes the daemon of its home if there is none; looks for that once."""
        if self._has_settled or self._end.done():
            return
        self._has_settled = True
        home = self._home
        if not home or not self._stays:
            self._retire("there is nothing to stay for")
            return
        self._log.at(home)
        why = find_limit()
        if why:
            self._log.note(f"this process does not stay as the daemon: {why}")
            self._retire("its limits are not for all")
            return
        try:
            self._claim = claim(home, __version__)
            if self._claim is None:
                self._retire("another daemon is there already")
                return
            self._server.listen(self._claim.bind())
            silence()
        except (InstanceError, OSError) as error:
            self._log.note(f"no daemon can stay here: {error}")
            self._retire("no daemon can stay here")
            return
        self._watchdog.watch()
        self._log.note(f"started, version {__version__}, in {self._claim.path}")
        self._look_after()
        self._look_soon()

    # Staying

    def _look_soon(self) -> None:
        if not self._end.done():
            self._server.loop.call_later(min(_LOOK, self._idle / 4), self._look)

    def _look(self) -> None:
        self._look_after()
        self._server.sweep()
        if not self._server.busy and monotonic() - self._server.last_request > self._idle:
            self._retire(f"nothing was asked for {self._idle:g} s")
        elif monotonic() - self._server.last_request > FORGET:
            self._server.calls.clear()
        if self._server.budget.has_let_go():
            trim_memory()
        if not self._is_frozen and not self._server.busy and self._server.counts.answered:
            self._is_frozen = True
            freeze_heap()
        self._look_soon()

    def _look_after(self) -> None:
        """Sees to it that clients find us, and that we are the one they should find."""
        held = self._claim
        if held is None or self._end.done():
            return
        try:
            if not held.is_current():
                self._move(held)
            elif not held.is_reachable():
                self._log.note("the socket was removed or replaced: there is a new one")
                self._server.listen(held.repair())
            self._complaint = ""
        except (InstanceError, OSError) as error:
            if self._complaint != str(error):
                self._complaint = str(error)
                self._log.note(f"clients cannot find this daemon: {error}")

    def _move(self, held: Claim) -> None:
        """The directory or the lock was removed or replaced; whoever takes the new one stays."""
        assert self._home
        fresh = claim(self._home, __version__)
        if fresh is None:
            self._retire("another daemon has taken its place")
            return
        held.drop()
        self._claim = fresh
        self._log.note("the directory was removed or replaced: there is a new one")
        self._server.listen(fresh.bind())

    async def _look_after_sessions(self) -> None:
        """On the judging thread: whoever is not the daemon leaves it to the one who is."""
        if self._look_after_home is not None and self._claim is not None and self._home:
            await self._look_after_home(self._home)

    def _answer_own(self, request: ClientRequest) -> Reply:
        if request.argv[:2] != ("daemon", "status"):
            return Reply(stderr=b"a daemon answers `daemon status` only\n", exit_code=64)
        return Reply(stdout=msgspec.json.encode(self.status()))

    def status(self) -> DaemonStatus:
        """What this daemon says of itself."""
        server, counts = self._server, self._server.counts
        return DaemonStatus(
            pid=os.getpid(),
            version=__version__,
            uptime=round(monotonic() - self._began, 3),
            sessions=server.count_sessions(),
            answered=counts.answered,
            running=server.scheduler.running,
            waiting=server.scheduler.waiting,
            refused=counts.refused,
            abandoned=counts.abandoned,
            failed=counts.failed,
            connections=server.connections,
            held=server.budget.held,
            memory=read_memory(),
            descriptors=count_descriptors(),
            socket=self._claim.socket if self._claim else "",
            home=self._home or "",
            idle=self._idle,
            stopping=self._end.done(),
        )

    # Going

    def _on_closed(self) -> None:
        """The client that started us has gone; without the daemon's place there is nothing left."""
        if self._home:
            self._settle()  # the judging thread sent the answer, and this thread hears of both
        if self._claim is None and not self._server.connections:
            self._retire("its client has gone")

    def _on_silence(self) -> None:
        if self._home is None:
            self._server.sweep()

    def _on_signal(self, number: signal.Signals) -> None:
        """Told once, what runs is finished; told again, it is not."""
        if self._told_to_end:
            self._server.cancel()
        self._told_to_end = True
        self._server.refuse("the daemon stops")
        self._retire(f"told to by {number.name}")

    def _retire(self, why: str) -> None:
        if not self._end.done():
            self._end.set_result(why)

    def _on_lost(self) -> None:
        self._log.note("an event holds up all others: this daemon takes no more and is replaced")
        self._retire("its judging thread does not come back")

    async def _leave(self) -> None:
        """Finishes what runs, while others may already take the place.

        Unless we were told to end there is no hurry: every event has a deadline of its own.
        """
        server = self._server
        if self._claim is not None:
            self._claim.release()
        server.stop_listening()
        while not await server.until_quiet(self._grace) and not self._told_to_end:
            pass
        server.cancel()
        await server.until_quiet(_LAST)
        server.close()
        await self._judge.close(GRACE)


def _read_package() -> tuple[int, int, int] | None:
    """What tells the installed package from another one in its place."""
    try:
        found = os.stat(_version_file)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
