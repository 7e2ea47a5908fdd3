"""Processes that run Python hooks: a few for each project, started on demand, ended when idle.

Knows processes and their channel; must not know what a request asks for.
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path
from subprocess import Popen

import msgspec

from hookline.handlers._exchange import signal_name, tail
from hookline.handlers._per_loop import PerLoop
from hookline.handlers._worker_protocol import REPLY_CAP, Reply
from hookline.model.errors import HandlerAnswerError, HandlerCrashed, HandlerUnavailable
from hookline.processes.start import Watch, watch
from hookline.processes.strays import Mark, kill_strays

__all__ = ["Worker", "Workers", "workers"]

AT_ONCE = 4
"""How many calls may run side by side for one key; further ones wait."""
IDLE_SECONDS = 60.0

# What was said before this much more was said explains nothing.
_STDERR_KEPT = 64 * 1024
# SIGKILL cannot be refused, but a process that waits for a dead disk takes it late.
_PATIENCE = 0.5
# The last reply of a process may still be on its way when its exit is already known.
_LAST_WORDS = 0.05
# More than a pipe holds: a process that got away and keeps printing must not keep us.
_LAST_READS = 16

# Isolated (-I), so that neither the caller's PYTHON* nor the directory it runs in is asked for
# code; the two packages it needs may then have to be shown to it.
_START = """
import sys
sys.path += sys.argv[1:]
from hookline.handlers._python_worker import main
main()
"""
_ENVIRONMENT = {"PATH": os.defpath}

_replies = msgspec.json.Decoder(Reply)


class Worker:
    """One process, and all we hold of it."""

    def __init__(self, process: Popen[bytes], mark: Mark, stderr: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = process
        self._mark = mark
        self._stderr = stderr
        self._heard = b""
        self._reader = asyncio.StreamReader()
        self._writer: asyncio.StreamWriter | None = None
        self._exit_code: int | None = None
        self._retired = False
        self.gone: asyncio.Future[None] = self._loop.create_future()
        self.idle_timer: asyncio.TimerHandle | None = None
        os.set_blocking(stderr, False)
        self._loop.add_reader(stderr, self._hear)
        self._watch: Watch = watch(self._loop, process.pid, self._on_exit)

    @classmethod
    async def start(cls) -> "Worker":
        """A process that waits for its first request."""
        ours, theirs = socket.socketpair()
        stderr, write_end = os.pipe()
        mark = Mark()
        try:
            worker = cls(_spawn(theirs, write_end, mark), mark, stderr)
        except BaseException:
            ours.close()
            os.close(stderr)
            raise
        finally:
            theirs.close()
            os.close(write_end)
        try:
            worker._reader, worker._writer = await asyncio.open_connection(
                sock=ours, limit=REPLY_CAP
            )
        except BaseException:
            ours.close()
            await worker.end()
            raise
        return worker

    @property
    def pid(self) -> int:
        """The number of the process, which is that of its group too."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not been seen to exit."""
        return not self.gone.done()

    async def ask(self, number: int, request: bytes) -> Reply:
        """The reply to one request. After any failure the worker is of no more use."""
        assert self._writer is not None
        self._heard = b""
        try:
            self._writer.write(request + b"\n")
            await self._writer.drain()
            line = await self._reader.readline()
        except ValueError as error:
            raise HandlerAnswerError(f"the reply is longer than {REPLY_CAP:,} bytes") from error
        except ConnectionError:
            line = b""
        if not line.endswith(b"\n"):
            raise HandlerCrashed(await self._last_words())
        try:
            reply = _replies.decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise HandlerAnswerError(f"not a reply: {error}") from error
        if reply.id != number:
            raise HandlerAnswerError("the reply belongs to another request")
        return reply

    def retire(self) -> None:
        """End an idle worker at once. A process that left its group is a service, and stays."""
        self._retired = True
        self._kill_group()
        self._hang_up()

    async def end(self) -> None:
        """End a worker that failed, with every process it started, and wait until it is gone."""
        if self.alive:
            # Now, while the tree below a living leader still shows those that left its group.
            kill_strays(self.pid, self._mark)
            self._kill_group()
        self._hang_up()
        await asyncio.wait([self.gone], timeout=_PATIENCE)

    async def _last_words(self) -> str:
        await asyncio.wait([self.gone], timeout=_PATIENCE)
        code = self._exit_code
        if code is None:
            how = "vanished"  # it is late to die, or somebody else took its exit code
        elif code < 0:
            how = f"was killed by {signal_name(-code)}"
        else:
            how = f"ended its process with exit code {code}"
        return f"{how} instead of answering{tail(self._heard)}"

    def _hang_up(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()

    def _kill_group(self) -> None:
        if not self.alive:
            return  # it was reaped, and its number may be another's by now
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _on_exit(self) -> None:
        # Before it is reaped, since until then its number is nobody else's.
        self._kill_group()
        if not self._retired:
            kill_strays(self.pid, self._mark)
        self._exit_code = self._watch.reap()
        self._watch.close()
        # Popen would wait again, and warn that nobody did, unless it believes to know the code.
        self._process.returncode = self._exit_code or 0
        for _ in range(_LAST_READS):
            if not self._hear():
                break
        self._stop_hearing()
        self.gone.set_result(None)
        # A process that the hook forked may hold the channel open for ever.
        self._loop.call_later(_LAST_WORDS, self._reader.feed_eof)

    def _hear(self) -> bool:
        """Take what was printed, once; False when there is nothing more for now."""
        try:
            chunk = os.read(self._stderr, _STDERR_KEPT)
        except BlockingIOError:
            return False
        self._heard = (self._heard + chunk)[-_STDERR_KEPT:]
        if not chunk:
            self._loop.remove_reader(self._stderr)
        return bool(chunk)

    def _stop_hearing(self) -> None:
        self._loop.remove_reader(self._stderr)
        os.close(self._stderr)


class Workers:
    """The workers of one event loop, apart for each key: what shares a process shares its state."""

    def __init__(self) -> None:
        self._lanes: dict[Hashable, _Lane] = {}

    async def ask(self, key: Hashable, number: int, request: bytes) -> Reply:
        """The reply of a worker for ``key``; one that does not reply properly is ended."""
        lane = self._lanes.setdefault(key, _Lane())
        async with lane.slots:
            worker = lane.take() or await Worker.start()
            lane.busy.add(worker)
            try:
                reply = await worker.ask(number, request)
            except BaseException:
                await worker.end()
                raise
            finally:
                lane.busy.discard(worker)
            lane.put_back(worker)
            return reply

    def all(self) -> list[Worker]:
        """Every worker there is, busy or idle."""
        return [worker for lane in self._lanes.values() for worker in (*lane.idle, *lane.busy)]

    async def aclose(self) -> None:
        """End every worker."""
        idle = [worker for lane in self._lanes.values() for worker in lane.clear()]
        await asyncio.gather(*(worker.end() for worker in self.all()))
        if idle:
            await asyncio.wait([worker.gone for worker in idle], timeout=_PATIENCE)


class _Lane:
    """The workers of one key."""

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(AT_ONCE)
        self.idle: list[Worker] = []
        self.busy: set[Worker] = set()

    def take(self) -> Worker | None:
        """An idle worker, the one used last, so that the others may end."""
        while self.idle:
            worker = self.idle.pop()
            assert worker.idle_timer is not None
            worker.idle_timer.cancel()
            if worker.alive:
                return worker
            worker.retire()
        return None

    def clear(self) -> list[Worker]:
        """The idle workers, which are told to end."""
        idle = list(self.idle)
        for worker in idle:
            assert worker.idle_timer is not None
            worker.idle_timer.cancel()
            self._retire(worker)
        return idle

    def put_back(self, worker: Worker) -> None:
        """Keep a worker for the next call, but not for ever."""
        self.idle.append(worker)
        loop = asyncio.get_running_loop()
        worker.idle_timer = loop.call_later(IDLE_SECONDS, self._retire, worker)

    def _retire(self, worker: Worker) -> None:
        self.idle.remove(worker)
        worker.retire()


async def _close(kept: Workers) -> None:
    await kept.aclose()


workers = PerLoop(Workers, _close)


def _spawn(channel: socket.socket, output: int, mark: Mark) -> Popen[bytes]:
    own = Path(__file__).parents[2]
    libraries = [str(own), os.path.dirname(os.path.dirname(msgspec.__file__))]
    try:
        return Popen(  # noqa: S603 - our own interpreter and our own program
            [sys.executable, "-I", "-u", "-c", _START, *libraries],
            stdin=channel.fileno(),
            stdout=output,
            stderr=output,
            cwd="/",
            env=mark.on(_ENVIRONMENT),
            start_new_session=True,
        )
    except OSError as error:
        raise HandlerUnavailable(
            f"cannot start Python ({sys.executable}): {error.strerror}"
        ) from error
