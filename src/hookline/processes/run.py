"""One child process from start to burial: a deadline, output caps, and nothing left behind.

Knows the order in which a run ends; must not know what the program is or what its output means.
"""

import asyncio
import json
import os
import signal
import sys
from asyncio import AbstractEventLoop
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from msgspec import Struct

from hookline.processes.start import CannotStart, Started, Watch, start, watch
from hookline.processes.strays import Mark, guarded, kill_strays

__all__ = ["Finished", "Inlet", "Outlet", "run", "run_behind"]

# What the program itself wrote is in the pipe when it exits. Only helpers it left running, such
# as the far end of `> >(tee log)`, may still add to that: they get a few scheduler turns after
# their last word, and no flood of words can make it many.
QUIET = 0.02
LINGER = 0.1

# A program that is over sooner has left all it said in its pipes, and is asked for it then: being
# told of each pipe's end would cost as much as all else we do. One that says more than a pipe
# holds waits this long for its listener, once.
DEAF = 0.002

# SIGKILL cannot be refused but can be late (a dead network disk) or forbidden (a setuid program).
PATIENCE = 1.0


class Finished(Struct, frozen=True):
    """How a program ended and what it said."""

    exit_code: int | None
    """Negative for a signal; None when we ended it, or when its status was taken from us."""
    stdout: bytes
    stderr: bytes
    timed_out: bool
    stdout_cut: bool
    """More than the cap was written, and the program was killed for it."""
    stderr_cut: bool
    """More than the cap was written, and the rest was dropped."""
    seconds: float


async def run(
    argv: Sequence[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    output_cap: int = 10_000_000,
    grace: float = 0.2,
    umask: int = -1,
) -> Finished:
    """Run a program to its end, or to ours: SIGTERM at ``timeout``, SIGKILL ``grace`` later.

    Whatever is left of its process group dies with it. So does what has left the group, unless
    the program ended by itself and that process holds none of its pipes: then it is a service
    the program meant to start. Raises ``CannotStart`` when the program never ran.
    """
    mark = Mark()
    with guarded(mark):
        started = monotonic()
        program = await start(argv, cwd=cwd, env=mark.on(env), umask=umask)
        child = _Child(asyncio.get_running_loop(), program, mark, stdin, output_cap)
        timed_out = await child.finish(started, timeout, grace)
    stdout, stderr = child.stdout, child.stderr
    return Finished(
        exit_code=None if timed_out or stdout.cut else child.exit_code,
        stdout=stdout.data,
        stderr=stderr.data,
        timed_out=timed_out,
        stdout_cut=stdout.cut,
        stderr_cut=stderr.cut,
        seconds=monotonic() - started,
    )


class _Child:
    """The started program and all we hold of it: pipes, exit notice, number."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        started: Started,
        mark: Mark,
        stdin: bytes,
        output_cap: int,
    ) -> None:
        self._loop = loop
        self._process = started.process
        self._mark = mark
        self._stdin = Inlet(loop, started.stdin, stdin)
        self.stdout = Outlet(loop, started.stdout, output_cap, self._wake)
        self.stderr = Outlet(loop, started.stderr, output_cap, self._wake)
        self._watch: Watch | None = None
        self._alarm: asyncio.Future[None] | None = None
        self._exited = False
        self._terminated = False
        self._released = False
        self.exit_code: int | None = None

    async def finish(self, started: float, timeout: float, grace: float) -> bool:
        """From its first moment to its burial; whether it took too long."""
        timed_out = False
        try:
            self.begin()
            if not await self.until(self.is_over, started + min(timeout, DEAF)):
                self.listen()
                timed_out = not await self.until(self.is_over, started + timeout)
            if timed_out:
                await self.terminate(grace)
            else:
                await self.linger()
        finally:
            await self.bury()
        return timed_out

    def begin(self) -> None:
        """Start feeding it; whatever fails here, ``bury`` undoes it."""
        self._watch = watch(self._loop, self._process.pid, self._on_exit)
        self.stdout.begin()
        self.stderr.begin()
        self._stdin.begin()

    def listen(self) -> None:
        """Hear what it says while it says it."""
        self.stdout.listen()
        self.stderr.listen()

    def is_over(self) -> bool:
        """Whether there is nothing more to wait for: it exited, or said more than we take."""
        return self._exited or self.stdout.cut

    def is_silent(self) -> bool:
        """Whether nothing more can be heard of it, from the program or from its helpers."""
        return self._exited and not (self.stdout.open or self.stderr.open)

    async def until(self, done: Callable[[], bool], deadline: float) -> bool:
        """Wait for ``done``; False when the deadline came first."""
        while not done():
            remaining = deadline - monotonic()
            if remaining <= 0:
                return False
            self._alarm = self._loop.create_future()
            timer = self._loop.call_later(remaining, self._wake)
            try:
                await self._alarm
            finally:
                timer.cancel()
        return True

    async def linger(self) -> None:
        """Hear out the helpers of an exited program, but only briefly."""
        if self.is_silent():
            return
        self.listen()
        began = monotonic()
        while not self.stdout.cut:
            last_word = max(began, self.stdout.last_data, self.stderr.last_data)
            limit = min(last_word + QUIET, began + LINGER)
            if limit <= monotonic() or await self.until(self.is_silent, limit):
                return

    async def terminate(self, grace: float) -> None:
        """Ask the group to end; one that left the group asked for no such courtesy."""
        self._terminated = True
        kill_strays(self._process.pid, self._mark)
        self._signal_group(signal.SIGTERM)
        await self.until(self.is_silent, monotonic() + grace)

    async def bury(self) -> None:
        """Kill what is left, reap, release; complete even while being cancelled."""
        self._kill()
        limit = monotonic() + PATIENCE
        cancelled: asyncio.CancelledError | None = None
        while not self._exited and monotonic() < limit:
            try:
                await self.until(lambda: self._exited, limit)
            except asyncio.CancelledError as error:
                cancelled = error
        self._release()
        if cancelled:
            raise cancelled

    def _kill(self) -> None:
        went_by_itself = self.is_silent() and not self._terminated and not self.stdout.cut
        if went_by_itself:
            self._signal_group(signal.SIGKILL)
            return
        # Once before, while the tree below a living leader still shows them, frozen so that none
        # leaves the group behind our back; once after, when nobody can start another.
        self._signal_group(signal.SIGSTOP)
        kill_strays(self._process.pid, self._mark)
        self._signal_group(signal.SIGKILL)
        kill_strays(self._process.pid, self._mark)

    def _signal_group(self, number: signal.Signals) -> None:
        # Always before reaping: until then the leader's number, which names the group, is taken.
        # Permission is denied when the whole group is setuid; macOS denies it for zombies too.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _on_exit(self) -> None:
        self._exited = True
        if self._released:  # it outlived our patience, and no one else would reap it
            self._reap()
            return
        self.stdout.drain()
        self.stderr.drain()
        self._wake()

    def _release(self) -> None:
        self._stdin.close()
        self.stdout.close()
        self.stderr.close()
        self._released = True
        if self._exited:
            self._reap()

    def _reap(self) -> None:
        assert self._watch is not None
        self.exit_code = self._watch.reap()
        self._watch.close()
        # Popen would reap again, and warn that nobody did, unless it believes to know the code.
        self._process.returncode = self.exit_code or 0

    def _wake(self) -> None:
        if self._alarm and not self._alarm.done():
            self._alarm.set_result(None)


_SUPERVISOR = str(Path(__file__).with_name("_supervisor.py"))

# To start an interpreter that imports next to nothing, on a machine that is busy.
_START_SECONDS = 10.0


async def run_behind(
    argv: Sequence[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    umask: int = -1,
) -> None:
    """Start a program with its input, and go on; its whole group is killed at ``timeout``.

    What it prints goes nowhere. Raises ``CannotStart`` when it never ran.
    """
    order = {"argv": list(argv), "cwd": cwd, "env": dict(env), "timeout": timeout}
    order["stdin"] = b64encode(stdin).decode()
    finished = await run(
        [sys.executable, "-I", "-S", _SUPERVISOR],
        stdin=json.dumps(order).encode(),
        cwd="/",
        env={},
        timeout=_START_SECONDS,
        umask=umask,
    )
    if finished.exit_code != 0:
        why = finished.stderr.decode("utf-8", "replace").strip() or "its supervisor did not start"
        raise CannotStart(f"cannot start {argv[0]!r}: {why}")


# What a pipe holds by default, and still below the size where malloc turns to mmap.
CHUNK = 65536

# What even the smallest pipe takes at once while it is empty.
SAFE = 4096

# Draining must end even while somebody keeps writing; an unprivileged pipe holds 1 MiB at most.
DRAIN_CHUNKS = 16


class Inlet:
    """Feeds the child's stdin; a child that does not want it is no error."""

    __slots__ = ("_data", "_loop", "_open", "_pipe", "_waiting")

    def __init__(self, loop: AbstractEventLoop, pipe: int, data: bytes) -> None:
        self._loop = loop
        self._pipe = pipe
        self._data = memoryview(data)
        self._waiting = False
        self._open = True

    def begin(self) -> None:
        """Write at once what the pipe takes, the rest as it takes more."""
        if len(self._data) > SAFE:
            os.set_blocking(self._pipe, False)
        self._write()

    def _write(self) -> None:
        # One write per turn: a reader that keeps up must not keep the loop from everyone else.
        try:
            self._data = self._data[os.write(self._pipe, self._data) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._data = self._data[:0]
        if not self._data:
            self.close()
        elif not self._waiting:
            self._waiting = True
            self._loop.add_writer(self._pipe, self._write)

    def close(self) -> None:
        """Give the child its end of input; harmless when already done."""
        if self._waiting:
            self._waiting = False
            self._loop.remove_writer(self._pipe)
        if self._open:
            self._open = False
            os.close(self._pipe)


class Outlet:
    """Collects one output stream up to a cap; what comes after it is read and dropped."""

    __slots__ = (
        "_buffer",
        "_cap",
        "_listening",
        "_loop",
        "_on_change",
        "_pipe",
        "cut",
        "last_data",
        "open",
    )

    def __init__(
        self, loop: AbstractEventLoop, pipe: int, cap: int, on_change: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._pipe = pipe
        self._cap = cap
        self._on_change = on_change  # called at the end of the stream and when it is first cut
        # Not a list of chunks: a child writing byte by byte would cost forty times its output.
        self._buffer = bytearray()
        self.cut = False
        self.open = True
        self._listening = False
        self.last_data = 0.0

    def begin(self) -> None:
        """Make it ready to be read."""
        os.set_blocking(self._pipe, False)

    def listen(self) -> None:
        """Read what comes as it comes; harmless when already done."""
        if self.open and not self._listening:
            self._loop.add_reader(self._pipe, self._read)
            self._listening = True

    @property
    def data(self) -> bytes:
        return bytes(self._buffer)

    def drain(self) -> None:
        """Take what is in the pipe right now."""
        for _ in range(DRAIN_CHUNKS):
            if not (self.open and self._read()):
                return

    def _read(self) -> bool:
        """Read once; False when there was nothing to read yet."""
        try:
            chunk = os.read(self._pipe, CHUNK)
        except BlockingIOError:
            return False
        if chunk:
            self._keep(chunk)
        else:
            self.close()
            self._on_change()
        return True

    def _keep(self, chunk: bytes) -> None:
        self.last_data = monotonic()
        room = self._cap - len(self._buffer)
        if len(chunk) <= room:
            self._buffer += chunk
            return
        self._buffer += chunk[:room]
        if not self.cut:
            self.cut = True
            self._on_change()

    def close(self) -> None:
        """Stop listening; harmless when already done."""
        if self.open:
            self.open = False
            if self._listening:
                self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
