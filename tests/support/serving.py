"""A daemon's clients and processes for tests: real sockets, real processes, nothing left behind."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import unpack
from typing import Any, NamedTuple

from hookline._version import __version__
from hookline.client.thin_io import find_run_dir
from hookline.daemon.control import DaemonStatus, ask_status
from hookline.daemon.frames import encode_request
from hookline.daemon.instance import connect

__all__ = ["EVENT", "Daemons", "Said", "Talk", "children", "daemons", "eventually", "request"]

PROCESS = Path(__file__).with_name("daemon_process.py")
EVENT = "0123456789abcdef" * 2


def eventually(done: Callable[[], Any], seconds: float = 30.0) -> Any:
    """The first true value; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (value := done()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
    return value


def request(payload: object = b"", *argv: str, **fields: Any) -> bytes:
    """A request whose payload is these bytes, or this as JSON."""
    stdin = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    fields = {"version": __version__, "event": EVENT, "cwd": "/", **fields}
    return encode_request(argv or ("hook", "canonical"), stdin=stdin, **fields)


class Said(NamedTuple):
    """One message of the daemon's."""

    kind: str
    text: bytes = b""
    stderr: bytes = b""
    code: int = 0


class Talk:
    """A client's end of a connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.settimeout(30)

    def send(self, data: bytes) -> "Talk":
        self.sock.sendall(data)
        return self

    def next(self) -> Said:
        """The next message; kind is empty at the end."""
        kind = self._exactly(1, or_end=True).decode()
        if kind in {"V", "B"}:
            return Said(kind, self._exactly(unpack(">H", self._exactly(2))[0]))
        if kind == "R":
            code, out, err = unpack(">BII", self._exactly(9))
            return Said(kind, self._exactly(out), self._exactly(err), code)
        assert kind in {"A", "K", ""}, kind
        return Said(kind)

    def answer(self) -> Said:
        """What ends the request, after its acknowledgement and any number of keep-alives.

        Without even an acknowledgement there can only be the end of the connection.
        """
        if (first := self.next()).kind != "A":
            assert first.kind == "", first
            return first
        while (said := self.next()).kind == "K":
            pass
        return said

    def _exactly(self, count: int, or_end: bool = False) -> bytes:
        got = bytearray()
        while len(got) < count:
            try:
                more = self.sock.recv(min(count - len(got), 1 << 20))
            except ConnectionResetError:
                more = b""
            if not more:
                assert or_end, "it ended within a message"
                break
            got += more
        return bytes(got)

    def close(self) -> None:
        self.sock.close()


class Daemons:
    """Daemons of one home, all of which are gone at the end."""

    def __init__(self, home: Path) -> None:
        self.home = str(home)
        self.processes: list[subprocess.Popen[bytes]] = []
        self._talks: list[Talk] = []

    @property
    def dir(self) -> Path:
        return Path(find_run_dir(self.home, __version__))

    @property
    def log(self) -> str:
        file = Path(self.home, "logs/daemon.log")
        return file.read_text() if file.exists() else ""

    def start(
        self, *, descriptors: int = 0, inherits: tuple[int, ...] = (), **options: Any
    ) -> subprocess.Popen[bytes]:
        """A process that wants to be the daemon; it may open at most so many ``descriptors``."""

        def limit() -> None:
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        stdin = options.pop("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(
            [sys.executable, str(PROCESS), json.dumps({"home": self.home, **options})],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
            pass_fds=inherits,
        )
        self.processes.append(process)
        return process

    def running(self, **options: Any) -> subprocess.Popen[bytes]:
        """A daemon that answers."""
        process = self.start(**options)
        eventually(lambda: self.status(pid=process.pid))
        return process

    def helper(self, payload: object = b"", **options: Any) -> Talk:
        """The way without a daemon: a process that is started for one client."""
        ours, theirs = socket.socketpair()
        fields = options.pop("fields", {})
        words = options.pop("words", ("hook", "canonical", "--home", self.home))
        self.start(home=None, fd=0, stdin=theirs, **options)
        theirs.close()
        talk = Talk(ours)
        self._talks.append(talk)
        return talk.send(request(payload, *words, **fields))

    def status(self, pid: int | None = None) -> DaemonStatus | None:
        found = ask_status(self.home, version=__version__)
        return found if found is None or pid in {None, found.pid} else None

    def connect(self) -> Talk:
        talk = Talk(connect(self.home, __version__, 10))
        self._talks.append(talk)
        return talk

    def ask(self, payload: object = b"", **fields: Any) -> Said:
        """One request over a connection of its own."""
        talk = self.connect().send(request(payload, **fields))
        said = talk.answer()
        talk.close()
        return said

    def kill(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait(30)

    def end(self) -> None:
        for talk in self._talks:
            talk.close()
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


@contextmanager
def daemons(home: Path) -> Iterator[Daemons]:
    """Daemons of this home."""
    found = Daemons(home)
    try:
        yield found
    finally:
        found.end()


def children(pid: int) -> list[int]:
    """The processes that this one has started."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent == pid:
                found.append(int(name))
    return found
