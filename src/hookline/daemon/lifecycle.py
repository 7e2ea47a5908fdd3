"""How a daemon comes and goes: takes its place, looks after it, and leaves when it is time.

A process that a client started answers that client first, and only then looks whether the place of
the daemon is free. Told to end, it finishes what runs.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from importlib import import_module
from time import monotonic

import msgspec

from hookline._version import __file__ as _version_file
from hookline._version import __version__
from hookline.daemon import watching
from hookline.daemon.beginning import started
from hookline.daemon.burdens import burden
from hookline.daemon.clean import (
    descriptors,
    keep_memory,
    memory,
    settle,
    silence,
    trim,
)
from hookline.daemon.connection import SILENCE
from hookline.daemon.ending import GRACE, wind_down
from hookline.daemon.frames import Request, Respond
from hookline.daemon.homes import home_of
from hookline.daemon.instance import Claim, InstanceError, claim
from hookline.daemon.log import Log
from hookline.daemon.server import FORGET, Limits, Server
from hookline.daemon.status import Status
from hookline.daemon.watchdog import STUCK, Watchdog
from hookline.model.outcome import Reply

__all__ = ["IDLE", "Daemon", "new_loop"]

IDLE = 1800.0
"""Seconds without an event after which the daemon goes."""

_LOOK = 2.0
_SOON = 0.2


def new_loop() -> asyncio.AbstractEventLoop:
    """A faster loop where one is installed, else one of our own."""
    try:
        faster = import_module("uvloop")
    except ImportError:
        return watching.new_loop()
    loop: asyncio.AbstractEventLoop = faster.new_event_loop()
    return loop


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
        limits: Limits | None = None,
        log: Log | None = None,
        on_end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Either ``home`` is given or ``client``, whose request names it.

        ``stuck`` seconds without a turn of the loop end the process once it is the daemon. Unless
        it ``stays`` it never becomes that.
        ``on_end`` is called at the end, when no event runs any more.
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
        self._version = __version__
        self._on_end = on_end
        self._claim: Claim | None = None
        self._began = monotonic()
        self._package = _package()
        self._said = ""
        self._told_to_end = False
        self._loaded = False
        self._server: Server
        self._watchdog: Watchdog
        self._end: asyncio.Future[str]

    async def run(self) -> bool:
        """Serves until it is time to go; whether it ever was the daemon."""
        loop = asyncio.get_running_loop()
        self._end = loop.create_future()
        self._server = Server(
            loop,
            self._respond,
            version=self._version,
            note=self._log.note,
            limits=self._limits,
            own_answers={("daemon",): self._own_answer},
            on_request=self._on_request,
            on_closed=self._on_closed,
        )
        self._watchdog = Watchdog(loop, self._stuck, lambda: self._log.number)
        loop.set_exception_handler(self._log.on_exception)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_told, number)
        loop.add_signal_handler(signal.SIGCONT, self._look_after)
        if self._home is not None:
            self._settle(self._home)
        if self._client is not None:
            self._server.adopt(self._client, started())
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

    def _on_request(self, request: Request) -> None:
        """Hears of the first event, and of some later on, before they are judged."""
        if self._home is None:
            self._home = home_of(request.argv) or ""
            same = request.version == self._version
            # After the first step of its answer, which for most events is the last one, too.
            self._server.loop.call_soon(self._settle, self._home if same else "")
        elif _package() != self._package:
            self._server.loop.call_soon(self._retire, "hookline has changed on the disk")

    def _settle(self, home: str) -> None:
        """Becomes the daemon of this home if there is none."""
        if not home or not self._stays:
            self._retire("there is nothing to stay for")
            return
        self._log.at(home)
        why = burden()
        if why:
            self._log.note(f"this process does not stay as the daemon: {why}")
            self._retire("its limits are not for all")
            return
        try:
            self._claim = claim(home, self._version)
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
        self._log.note(f"started, version {self._version}, in {self._claim.path}")
        self._look_after()
        self._keep_looking()
        # Not at once: whoever started us is not to wait for what this loads.
        self._server.loop.call_later(_SOON, keep_memory)

    # Staying

    def _keep_looking(self) -> None:
        if not self._end.done():
            self._server.loop.call_later(min(_LOOK, self._idle / 4), self._look)

    def _look(self) -> None:
        self._look_after()
        self._server.sweep()
        if not self._server.busy and monotonic() - self._server.last_request > self._idle:
            self._retire(f"nothing was asked for {self._idle:g} s")
        elif monotonic() - self._server.last_request > FORGET:
            self._server.calls.forget()
        if self._server.budget.has_let_go():
            trim()
        if not self._loaded and not self._server.busy and self._server.counts.answered:
            self._loaded = True
            settle()
        self._keep_looking()

    def _look_after(self) -> None:
        """Sees to it that clients find us, and that we are the one they should find."""
        held = self._claim
        if held is None or self._end.done():
            return
        try:
            if not held.holds():
                self._move(held)
            elif not held.reachable():
                self._log.note("the socket was removed or replaced: there is a new one")
                self._server.listen(held.mend())
            self._said = ""
        except (InstanceError, OSError) as error:
            if self._said != str(error):
                self._said = str(error)
                self._log.note(f"clients cannot find this daemon: {error}")

    def _move(self, held: Claim) -> None:
        """The directory or the lock was removed or replaced; whoever takes the new one stays."""
        assert self._home
        fresh = claim(self._home, self._version)
        if fresh is None:
            self._retire("another daemon has taken its place")
            return
        held.drop()
        self._claim = fresh
        self._log.note("the directory was removed or replaced: there is a new one")
        self._server.listen(fresh.bind())

    def _own_answer(self, request: Request) -> Reply:
        if request.argv[:2] != ("daemon", "status"):
            return Reply(stderr=b"a daemon answers `daemon status` only\n", exit_code=64)
        return Reply(stdout=msgspec.json.encode(self.status()))

    def status(self) -> Status:
        """What this daemon says of itself."""
        server, counts = self._server, self._server.counts
        return Status(
            pid=os.getpid(),
            version=self._version,
            uptime=round(monotonic() - self._began, 3),
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
            socket=self._claim.socket if self._claim else "",
            home=self._home or "",
            idle=self._idle,
            stopping=self._end.done(),
        )

    # Going

    def _on_closed(self) -> None:
        """The client that started us has gone; without the daemon's place there is nothing left."""
        if self._claim is None and not self._server.connections:
            self._retire("its client has gone")

    def _on_silence(self) -> None:
        if self._home is None:
            self._server.sweep()

    def _on_told(self, number: signal.Signals) -> None:
        """Told once, what runs is finished; told again, it is not."""
        if self._told_to_end:
            self._server.cancel()
        self._told_to_end = True
        self._server.refuse("the daemon stops")
        self._retire(f"told to by {number.name}")

    def _retire(self, why: str) -> None:
        if not self._end.done():
            self._end.set_result(why)

    async def _leave(self) -> None:
        """Finishes what runs, while others may already take the place."""
        server = self._server
        if self._claim is not None:
            self._claim.release()
        server.stop_listening()
        await wind_down(server, self._grace, told=lambda: self._told_to_end, on_end=self._on_end)
        server.watching.close()


def _package() -> tuple[int, int, int] | None:
    """What tells the installed package from another one in its place."""
    try:
        found = os.stat(_version_file)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
