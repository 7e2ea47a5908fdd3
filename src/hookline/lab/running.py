"""Runs a client in a place: bounded in time and output, spoken with or left alone.

Knows pipes and limits; must not know what the client is or what it says.
"""

import fcntl
import os
import signal
import struct
import termios
from collections.abc import Callable, Iterable
from contextlib import suppress
from select import POLLIN, POLLOUT, poll
from threading import Condition, Thread, Timer
from time import monotonic
from typing import TypeAlias

from msgspec import Struct

from hookline.lab.isolation import Place
from hookline.lab.ports import Launch
from hookline.model.errors import HooklineError

__all__ = ["CAP", "Ran", "Running", "run"]

# Between being asked to end and being killed.
_GRACE = 2.0
# What a client's helpers, which hold its pipes, may still add to what it said.
_LINGER = 1.0
# Wide, so that what is looked for stands on one line.
_ROWS, _COLUMNS = 50, 200

_Three: TypeAlias = tuple[int, int, int]


class Ran(Struct, frozen=True, kw_only=True):
    """How a client ended and what it said."""

    exit_code: int | None
    """Negative for a signal; None when it was ended at a limit of ours."""
    stdout: bytes
    stderr: bytes
    seconds: float
    cut: str = ""
    """Which limit it was ended at, in words; empty when it ended by itself."""


class Running:
    """A client between its start and its end; a ``Dialogue`` for those who speak with it."""

    def __init__(self, place: Place, launch: Launch, cwd: str) -> None:
        self._place = place
        self._began = monotonic()
        self._deadline = self._began + launch.timeout
        self._timeout = launch.timeout
        self._cut = ""
        ours, theirs = _terminal() if launch.terminal else _pipes()
        try:
            self.pid = place.start(
                launch.argv, env=launch.env, cwd=cwd, stdio=theirs, terminal=launch.terminal
            )
        except BaseException:
            _close(ours)
            raise
        finally:
            _close(theirs)
        self._stdin, stdout, stderr = ours
        os.set_blocking(self._stdin, False)
        self._feeder: Thread | None = None
        self._over = False
        self._stdout = Heard(stdout, self._flooded)
        self._stderr = Heard(stderr, self._flooded)
        self._alarm = Timer(launch.timeout, self._late)
        self._alarm.daemon = True
        self._alarm.start()

    def feed(self, data: bytes) -> None:
        """Bytes to its stdin in its own time, and then the end of it."""
        self._feeder = Thread(target=self._feed, args=(data,), name="lab-feed", daemon=True)
        self._feeder.start()

    def _feed(self, data: bytes) -> None:
        with suppress(HooklineError):  # it need not read what it does not want
            self.write(data)
        self.end_input()

    def write(self, data: bytes) -> None:
        """Bytes to its stdin, at once. Raises HooklineError when it no longer listens."""
        view = memoryview(data)
        ready = poll()
        ready.register(self._stdin, POLLOUT)
        while view:
            if self._over or monotonic() > self._deadline:
                raise HooklineError("the client ended, or did not read its input in time")
            if ready.poll(_TICK):
                try:
                    view = view[os.write(self._stdin, view) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise HooklineError(f"the client no longer reads its input: {error}") from error

    def readline(self) -> bytes:
        """Its next line on stdout; empty when it has said its last."""
        return self._next(b"\n")

    def read_until(self, *texts: bytes) -> bytes:
        """What it says from here to the first of ``texts``, that included."""
        said = self._next(*texts)
        if not said.endswith(texts):
            raise HooklineError(f"the client ended without saying {texts[-1]!r}")
        return said

    def _next(self, *texts: bytes) -> bytes:
        said = self._stdout.until(texts, self._deadline)
        if said is None:
            raise HooklineError(f"the client did not answer within {self._timeout:g} seconds")
        return said

    def end_input(self) -> None:
        """Let its stdin end, as most clients take for a sign to end themselves."""
        if self._stdin >= 0:
            os.close(self._stdin)
        self._stdin = -1

    def hang_up(self) -> None:
        """As if the person had closed the terminal, unless it ends by itself in a moment."""
        if self._place.exit_code(self.pid, _GRACE) is None:
            self._signal(signal.SIGHUP)

    def wait(self) -> Ran:
        """Until it ends, by itself or at a limit; what is left of its group ends with it."""
        code: int | None = None
        try:
            code = self._exit_code()
            # Helpers of the client may hold its pipes for ever: what it said itself is in them.
            limit = monotonic() + _LINGER
            self._stdout.rest(limit)
            self._stderr.rest(limit)
        finally:
            ran = self._finish(code)
        return ran

    def close(self) -> Ran:
        """End it now if it has not ended, and hear what it said."""
        self.end_input()
        self._signal(signal.SIGTERM)
        return self.wait()

    def _exit_code(self) -> int | None:
        code = self._place.exit_code(self.pid, max(0.0, self._deadline - monotonic()))
        if code is None:
            code = self._place.exit_code(self.pid, _GRACE + _LINGER)
        if code is None:
            self._signal(signal.SIGKILL)
            code = self._place.exit_code(self.pid, _LINGER)
        return code

    def _finish(self, code: int | None) -> Ran:
        self._alarm.cancel()
        self._over = True
        if self._feeder is not None:
            self._feeder.join()
        self.end_input()
        return Ran(
            exit_code=None if self._cut else code,
            stdout=self._stdout.close(),
            stderr=self._stderr.close(),
            seconds=monotonic() - self._began,
            cut=self._cut,
        )

    def _late(self) -> None:
        self._cut_off(f"it took longer than {self._timeout:g} seconds")

    def _flooded(self) -> None:
        self._cut_off(f"it wrote more than {CAP // 1_000_000} MB")

    def _cut_off(self, why: str) -> None:
        if self._cut:
            return
        self._cut = why
        self._signal(signal.SIGTERM)
        killing = Timer(_GRACE, self._signal, [signal.SIGKILL])
        killing.daemon = True
        killing.start()

    def _signal(self, number: signal.Signals) -> None:
        self._place.signal(self.pid, number)


def _pipes() -> tuple[_Three, _Three]:
    """Our ends and theirs of stdin, stdout and stderr."""
    inlet, outlet, errors = os.pipe(), os.pipe(), os.pipe()
    return (inlet[1], outlet[0], errors[0]), (inlet[0], outlet[1], errors[1])


def _terminal() -> tuple[_Three, _Three]:
    """The same for one terminal, which is all three to them; nothing ever comes from our third."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    silent, no_errors = os.pipe()
    os.close(no_errors)
    return (os.dup(ours), ours, silent), (theirs, os.dup(theirs), os.dup(theirs))


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def run(place: Place, launch: Launch, cwd: str) -> Ran:
    """Run a client to its end, or to ours. Raises HooklineError when it cannot be started."""
    running = Running(place, launch, cwd)
    if launch.talk is None:
        running.feed(launch.stdin)
        return running.wait()
    try:
        running.write(launch.stdin)
        launch.talk(running)
        running.end_input()
        if launch.terminal:
            running.hang_up()
    except BaseException:
        running.close()
        raise
    return running.wait()


CAP = 20_000_000
"""More than this is not kept."""

_TICK = 50
"""In milliseconds: how soon a thread that waits for a pipe sees that it need not any longer."""

_CHUNK = 65536


class Heard:
    """What comes out of one pipe, kept up to the cap while somebody may read along."""

    def __init__(self, descriptor: int, too_much: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._too_much = too_much
        self._news = Condition()
        self._data = bytearray()
        self._told = 0
        self._over = False
        self._stopped = False
        self._thread = Thread(target=self._pump, name="lab-pump", daemon=True)
        self._thread.start()

    def _pump(self) -> None:
        ready = poll()
        ready.register(self._descriptor, POLLIN)
        while not self._stopped:
            if not ready.poll(_TICK):
                continue
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:  # a terminal that nobody is at any more
                chunk = b""
            if not chunk:
                break
            with self._news:
                self._data += chunk[: CAP - len(self._data)]
                full = len(self._data) >= CAP
                self._news.notify_all()
            if full:
                self._too_much()
        with self._news:
            self._over = True
            self._news.notify_all()

    def until(self, texts: tuple[bytes, ...], deadline: float) -> bytes | None:
        """What nobody was told up to the first of ``texts``; at the deadline None."""

        def ends() -> list[int]:
            found = ((self._data.find(text, self._told), len(text)) for text in texts)
            return [at + length for at, length in found if at >= 0]

        with self._news:
            ready = self._news.wait_for(
                lambda: self._over or ends(), max(0.0, deadline - monotonic())
            )
            if not ready:
                return None
            end = min(ends(), default=len(self._data))
            said = bytes(self._data[self._told : end])
            self._told = end
            return said

    def rest(self, deadline: float) -> None:
        """Until the pipe is closed on all its other ends, or the deadline."""
        with self._news:
            self._news.wait_for(lambda: self._over, max(0.0, deadline - monotonic()))

    def close(self) -> bytes:
        """All that was heard until now."""
        self._stopped = True
        self._thread.join()
        os.close(self._descriptor)
        return bytes(self._data)
