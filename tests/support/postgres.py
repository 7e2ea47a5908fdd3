"""A PostgreSQL server of the tests' own: a socket in a temporary directory, and no port."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

__all__ = ["NOBODY", "Server", "programs"]

NOBODY = 65534


def programs() -> Path:
    """Where initdb and pg_ctl are; installed where that is possible."""
    found = _found()
    if found is None and not os.geteuid() and (apt := shutil.which("apt-get")):
        # Without this, Debian's package starts a server of its own.
        config = Path("/etc/postgresql-common/createcluster.conf")
        config.parent.mkdir(parents=True, exist_ok=True)
        if not config.exists():
            config.write_text("create_main_cluster = false\n")
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        words = ["install", "--yes", "--no-install-recommends", "postgresql"]
        subprocess.run([apt, *words], env=env, timeout=600, check=False)
        found = _found()
    if found is None:
        pytest.fail(
            "these tests start a PostgreSQL server of their own and found no `initdb`: install "
            "PostgreSQL (Debian: apt-get install postgresql), or set HOOKLINE_SKIP_POSTGRES=1"
        )
    return found


def _found() -> Path | None:
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    which = shutil.which("initdb")
    initdb = Path(which).resolve() if which else known[-1] if known else None
    return initdb.parent if initdb is not None and (initdb.parent / "pg_ctl").exists() else None


def _state(pid: int) -> str:
    """A letter, as the system has it; empty where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return ""


def _wait_for(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until
        time.sleep(0.001)


class Server:
    """One server, which can be killed and started again."""

    def __init__(self, programs: Path, directory: Path) -> None:
        self._programs = programs
        self.directory = directory
        self._data = directory / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._run("initdb", "-D", self._data, "-U", "hookline", "-A", "trust", "-E", "UTF8", "-N")

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def _as_nobody(self) -> list[str]:
        """The server refuses to run as root."""
        if os.geteuid():
            return []
        ids = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        return [shutil.which("setpriv") or "setpriv", *ids]

    def _run(self, program: str, *words: object) -> None:
        argv = [*self._as_nobody(), str(self._programs / program), *map(str, words)]
        subprocess.run(argv, cwd="/", capture_output=True, timeout=60, check=True)

    def dsn(self, database: str = "postgres") -> str:
        return f"postgresql://hookline@/{database}?host={self.directory}"

    def start(self) -> None:
        """Returns when it answers."""
        settings = ["listen_addresses=", f"unix_socket_directories={self.directory}", "fsync=on"]
        options = [word for setting in settings for word in ("-c", setting)]
        argv = [*self._as_nobody(), str(self._programs / "postgres"), "-D", str(self._data)]
        log = open(self.directory / "log", "ab")  # noqa: SIM115 - it is the server's
        self._process = subprocess.Popen([*argv, *options], cwd="/", stdout=log, stderr=log)
        log.close()
        ready = [str(self._programs / "pg_isready"), "-q", "-h", str(self.directory)]
        until = time.monotonic() + 60
        while subprocess.run(ready, check=False).returncode:
            assert self._process.poll() is None, (self.directory / "log").read_text()
            assert time.monotonic() < until, (self.directory / "log").read_text()

    def kill(self) -> None:
        """As a machine that loses its power."""
        process = self._process
        assert process is not None
        # First it has to stop, or it starts others after we have looked.
        process.send_signal(signal.SIGSTOP)
        _wait_for(lambda: _state(process.pid) in "TZ")
        children = self._children()
        process.kill()
        process.wait()
        # They notice by themselves, but only the next time they look; and while one of them is
        # there, no other server can be started.
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _wait_for(lambda: all(_state(child) in "Z" for child in children))
        self._process = None

    def _children(self) -> list[int]:
        assert self._process is not None
        pid = self._process.pid
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # without waiting for whoever is connected
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def execute(self, statement: str, database: str = "postgres") -> str:
        """What psql prints."""
        argv = [self._programs / "psql", "-h", self.directory, "-U", "hookline", "-d", database]
        done = subprocess.run(
            [*map(str, argv), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement],
            capture_output=True,
            timeout=60,
            text=True,
            check=True,
        )
        return done.stdout.strip()
