"""A place where only loopback is: clients run in it, and the model listens in it.

Knows the process that holds the place (``_inside.py``) and how to speak with it; must not know
what a client is. Where the kernel has no network namespace for us, the place is this machine.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import Any

from hookline.model.errors import HooklineError

__all__ = ["Place", "place"]

_INSIDE = str(Path(__file__).with_name("_inside.py"))
_PATIENCE = 20.0


class Place:
    """Where clients run: all that they start ends with it."""

    def __init__(self, holder: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._holder = holder
        self._control = control
        self._lines = control.makefile("rb")
        self._speaking = Lock()
        self._news = Condition()
        self._answers: list[dict[str, Any]] = []
        self._exits: dict[int, int] = {}
        self._gone = False
        self._ear: Thread | None = None
        self.isolated = False
        """Whether the kernel keeps what runs here to loopback."""
        self.why_not = ""
        """Why it does not."""
        self.listener: socket.socket | None = None
        """Listens on a port of loopback in there; whoever serves it takes a ``dup()``."""

    def begin(self) -> bool:
        """Hear what became of it; False when a client cannot run there."""
        data, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
        if not data:
            raise HooklineError(
                "the lab's own helper process ended before it began; "
                f"does `{sys.executable} -I -c pass` work here?"
            )
        said = json.loads(data)
        self.isolated, self.why_not = said["isolated"], said["why"]
        if not descriptors:
            return False
        self.listener = socket.socket(fileno=descriptors[0])
        self._ear = Thread(target=self._hear, name="lab-place", daemon=True)
        self._ear.start()
        return True

    @property
    def port(self) -> int:
        """Where the model listens."""
        assert self.listener is not None
        port: int = self.listener.getsockname()[1]
        return port

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        stdio: tuple[int, int, int],
        terminal: bool = False,
    ) -> int:
        """Start a program here as leader of its own session; its number.

        With ``terminal``, the first of ``stdio`` is one, and becomes the session's.
        """
        how = {"argv": list(argv), "env": dict(env), "cwd": cwd, "terminal": terminal}
        order = {"start": how}
        answer = self._ask(order, stdio)
        if "started" not in answer:
            raise HooklineError(f"cannot start `{argv[0]}`: {answer['failed']}")
        pid: int = answer["started"]
        return pid

    def exit_code(self, pid: int, timeout: float) -> int | None:
        """How a program that was started here ended; None while it runs, after this long."""
        with self._news:
            self._news.wait_for(lambda: pid in self._exits or self._gone, timeout)
            if self._gone and pid not in self._exits:
                raise HooklineError("the lab's own helper process was killed; run it again")
            return self._exits.get(pid)

    def signal(self, pid: int, number: int) -> None:
        """A signal to the group of a program that was started here, if it has not ended."""
        with suppress(OSError):
            self._send({"signal": [pid, number]}, ())

    def close(self) -> None:
        """End whatever runs here, and the place itself."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        try:
            self._holder.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait()
        if self._ear is not None:
            self._ear.join()
        if self.listener is not None:
            self.listener.close()
        self._lines.close()
        self._control.close()

    def _ask(self, order: Mapping[str, Any], descriptors: Sequence[int]) -> dict[str, Any]:
        try:
            self._send(order, descriptors)
        except OSError as error:
            raise HooklineError(f"the lab's own helper process is gone: {error}") from error
        with self._news:
            if not self._news.wait_for(lambda: self._answers or self._gone, _PATIENCE):
                raise HooklineError("the lab's own helper process does not answer")
            if not self._answers:
                raise HooklineError("the lab's own helper process was killed; run it again")
            return self._answers.pop(0)

    def _send(self, order: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        line = json.dumps(order).encode() + b"\n"
        with self._speaking:
            sent = socket.send_fds(self._control, [line], descriptors) if descriptors else 0
            self._control.sendall(line[sent:])

    def _hear(self) -> None:
        with suppress(OSError, ValueError):
            for line in self._lines:
                self._note(json.loads(line))
        with self._news:
            self._gone = True
            self._news.notify_all()

    def _note(self, message: dict[str, Any]) -> None:
        with self._news:
            if "exited" in message:
                self._exits[message["exited"]] = message["code"]
            else:
                self._answers.append(message)
            self._news.notify_all()


@contextmanager
def place(*, isolate: bool = True) -> Iterator[Place]:
    """A place for the clients of one session; what they started is gone when it is left."""
    held = _opened("isolate") if isolate else _opened("plain")
    if held.listener is None:
        why = held.why_not
        held.close()
        held = _opened("plain")
        held.why_not = why
    try:
        yield held
    finally:
        held.close()


def _opened(how: str) -> Place:
    ours, theirs = socket.socketpair()
    try:
        holder = subprocess.Popen(  # noqa: S603 - our own interpreter and our own program
            [sys.executable, "-I", "-S", _INSIDE, str(theirs.fileno()), how],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.defpath},
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    held = Place(holder, ours)
    try:
        held.begin()
    except BaseException:
        held.close()
        raise
    return held
