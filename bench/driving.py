"""Many connections to a daemon from one process, each asking again as soon as it is answered."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter, perf_counter_ns

from msgspec import Struct

from bench.scenes import COMMANDS, agent_env, payload
from bench.stage import Stage
from hookline._version import __version__
from hookline.daemon.frames import encode_request
from hookline.daemon.instance import connect, holder

__all__ = ["Driven", "cpu_us", "drive", "requests"]

_MARK = "@@@@@@@@"


class Driven(Struct, frozen=True, kw_only=True):
    """What came of a drive."""

    seconds: float
    us: list[float]
    """Of each event, from the first byte sent to the last one received."""

    cpu_us: float
    """What all of them cost the daemon; waiting for a core is not in it."""

    @property
    def per_event(self) -> float:
        """Microseconds of the daemon's."""
        return self.cpu_us / len(self.us)

    @property
    def per_second(self) -> float:
        """Events."""
        return len(self.us) / self.seconds


def requests(stage: Stage, session: str, *, first: int = 0, size: int = 2048) -> Iterator[bytes]:
    """Frames without end, no two of which have the same id or command."""
    env = agent_env(str(stage.root), stage.project)
    shapes = [
        encode_request(
            stage.words,
            version=__version__,
            event="0" * 24 + _MARK,
            cwd=stage.project,
            env=env,
            stdin=payload(which, stage.project, size=size, session=session, digits=_MARK),
        )
        for which in range(len(COMMANDS))
    ]
    number = first
    while True:
        # Digits for the mark, byte for byte: no length in the frame changes.
        yield shapes[number % len(shapes)].replace(_MARK.encode(), b"%08d" % number)
        number += 1


class _Asking(asyncio.Protocol):
    """One connection: sends a request, waits for its answer, sends the next."""

    def __init__(
        self, frames: Iterator[bytes], count: int, until: float, done: "asyncio.Future[None]"
    ) -> None:
        self._frames = frames
        self._left = count
        self._until = until
        self._done = done
        self._got = bytearray()
        self._sent = 0
        self.us: list[float] = []
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def ask(self) -> None:
        """The next request, or the end."""
        assert self.transport is not None
        if not self._left or perf_counter() > self._until:
            if not self._done.done():
                self._done.set_result(None)
            return
        self._left -= 1
        frame = next(self._frames)
        self._sent = perf_counter_ns()
        self.transport.write(frame)

    def data_received(self, data: bytes) -> None:
        self._got += data
        start = 0
        while start < len(self._got) and self._got[start] in b"AK":
            start += 1
        del self._got[:start]
        if not self._got:
            return
        if self._got[0] != ord("R"):
            self._fail(f"the daemon refused: {bytes(self._got[3:])!r}")
            return
        if len(self._got) < 10:
            return
        length = 10 + int.from_bytes(self._got[2:6]) + int.from_bytes(self._got[6:10])
        if len(self._got) < length:
            return
        if self._got[1] != 0:
            self._fail(f"an event ended with {self._got[1]}: {bytes(self._got[10:length])!r}")
            return
        del self._got[:length]
        self.us.append((perf_counter_ns() - self._sent) / 1e3)
        self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(f"the daemon closed the connection: {exc}")

    def _fail(self, why: str) -> None:
        if not self._done.done():
            self._done.set_exception(RuntimeError(why))


def cpu_us(pid: int) -> float:
    """What a process has computed so far, in microseconds; 0 where the system does not tell."""
    spent = 0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread that has ended meanwhile
            spent += int(file.read_text(encoding="ascii").split()[0])
    return spent / 1e3


def _same(one: _Asking) -> _Asking:
    """What makes the protocol of a connection, where it is there already."""
    return one


def drive(
    stage: Stage,
    *,
    connections: int,
    events: int,
    first: int = 0,
    size: int = 2048,
    seconds: float = inf,
) -> Driven:
    """So many events over so many connections, each a session of its own.

    ``seconds``: as many of them as are answered in that time.
    """
    share = max(events // connections, 1)
    found = holder(stage.home, __version__)
    assert found is not None
    pid = found.pid

    async def go() -> Driven:
        loop = asyncio.get_running_loop()
        asking = []
        for which in range(connections):
            done: asyncio.Future[None] = loop.create_future()
            begin = first + which * share
            frames = requests(stage, f"bench-{which}", first=begin, size=size)
            one = _Asking(frames, share, perf_counter() + seconds, done)
            sock = connect(stage.home, __version__, 5.0)
            sock.setblocking(False)
            await loop.create_connection(partial(_same, one), sock=sock)
            asking.append((one, done))
        before, started = cpu_us(pid), perf_counter_ns()
        for one, _ in asking:
            one.ask()
        await asyncio.gather(*(done for _, done in asking))
        took = (perf_counter_ns() - started) / 1e9
        for one, _ in asking:
            if one.transport is not None:
                one.transport.abort()
        return Driven(
            seconds=took, cpu_us=cpu_us(pid) - before, us=[us for one, _ in asking for us in one.us]
        )

    return asyncio.run(go())
