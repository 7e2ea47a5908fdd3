"""A program that is talked to line by line, and is gone with all that it started when we are done.

Knows pipes, caps and burial; must not know what is said.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from hookline.processes.start import Started, start, watch
from hookline.processes.strays import Mark, guarded, kill_strays

__all__ = ["SaidTooMuch", "Talk", "talking"]

# A program that was told that nobody listens any more may still put its things in order.
GRACE = 0.3
PATIENCE = 1.0
STDERR = 4096

# What a line costs of the cap at least: a million empty ones take as long as a million full ones.
LEAST = 1024


class SaidTooMuch(Exception):
    """More than was to be listened to."""


class Talk:
    """What can be said to a running program, and what it says."""

    def __init__(self, started: Started, reader: asyncio.StreamReader, cap: int) -> None:
        self._started = started
        self._reader = reader
        self._left = cap
        self.stderr = bytearray()
        """The beginning of what it complained about."""

    async def say(self, line: bytes) -> None:
        """One line, which a program that has gone does not get."""
        loop = asyncio.get_running_loop()
        data = memoryview(line + b"\n")
        with suppress(BrokenPipeError):
            while data:
                try:
                    data = data[os.write(self._started.stdin, data) :]
                except BlockingIOError:
                    free = loop.create_future()
                    loop.add_writer(self._started.stdin, _done, free)
                    try:
                        await free
                    finally:
                        loop.remove_writer(self._started.stdin)

    async def hear(self) -> bytes | None:
        """Its next line, or None when there will be none. Raises SaidTooMuch."""
        try:
            line = await self._reader.readline()
        except ValueError as error:
            raise SaidTooMuch from error
        self._left -= max(len(line), LEAST)
        if self._left < 0:
            raise SaidTooMuch
        return line or None


@asynccontextmanager
async def talking(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], output_cap: int, line_cap: int
) -> AsyncIterator[Talk]:
    """A started program, for as long as the block lasts. Raises CannotStart."""
    loop = asyncio.get_running_loop()
    mark = Mark()
    with guarded(mark):
        started = await start(argv, cwd=cwd, env=mark.on(env))
        exited = asyncio.Event()
        watched = watch(loop, started.process.pid, exited.set)
        try:
            for pipe in (started.stdin, started.stdout, started.stderr):
                os.set_blocking(pipe, False)
            reader = asyncio.StreamReader(limit=line_cap)
            talk = Talk(started, reader, output_cap)
            transport, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(started.stdout, "rb", 0)
            )
            loop.add_reader(started.stderr, _overhear, loop, started.stderr, talk.stderr)
            try:
                yield talk
            finally:
                loop.remove_reader(started.stderr)
                transport.close()
        finally:
            await _bury(started, mark, exited)
            started.process.returncode = watched.reap() or 0 if exited.is_set() else 0
            watched.close()


def _done(free: "asyncio.Future[None]") -> None:
    if not free.done():
        free.set_result(None)


def _overhear(loop: asyncio.AbstractEventLoop, pipe: int, kept: bytearray) -> None:
    try:
        chunk = os.read(pipe, 65536)
    except BlockingIOError:
        return
    if not chunk:
        loop.remove_reader(pipe)
    kept += chunk[: max(STDERR - len(kept), 0)]


async def _bury(started: Started, mark: Mark, exited: asyncio.Event) -> None:
    """Lets it end by itself for a moment, then ends it and whatever it has left behind.

    It is not reaped yet: until then its number, which names its group, is nobody else's.
    """
    os.close(started.stdin)
    os.close(started.stderr)
    with suppress(TimeoutError, asyncio.CancelledError):
        await asyncio.wait_for(exited.wait(), GRACE)
    pid = started.process.pid
    kill_strays(pid, mark)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    kill_strays(pid, mark)
    with suppress(TimeoutError, asyncio.CancelledError):
        await asyncio.wait_for(exited.wait(), PATIENCE)
