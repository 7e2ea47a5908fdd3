"""A machine with everything real on it: the installed client, daemons, hook programs, the journal.

Each world has an interpreter under a path of its own, so that its daemons can be told from all
others by their command lines, and a mark in the environment that its hooks inherit.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import hookline
from hookline import client
from hookline._version import __version__
from hookline.daemon.control import DaemonStatus, ask_status
from hookline.daemon.instance import find_run_dir
from hookline.model.outcome import Reply
from hookline.pipeline.parts import journal_file
from hookline.store.journal.writer import JournalWriter
from support.clients import claude_code
from support.clients.effects import Does, Effect
from support.serving import eventually

__all__ = [
    "DENIES",
    "LAST",
    "LIMIT",
    "Asking",
    "Said",
    "World",
    "an_interpreter",
    "is_alive",
    "world",
]

LIMIT = 90.0
"""Seconds that anything here may take before it counts as hanging."""

DENIES = """\
version: 1
hooks:
  - name: nothing is removed
    on: pre_tool_use
    match: {command: "rm *"}
    deny: Nothing is removed here.
"""
LAST = "none of its programs gave an answer"
"""In the words of the client's last answer."""

_VARIABLE = "WORLD_MARK"


class Said(NamedTuple):
    """What an agent got from its client, and what it makes of it."""

    reply: Reply
    effect: Effect
    session: str

    @property
    def blocks(self) -> bool:
        return self.effect.does >= Does.BLOCKS

    @property
    def is_last(self) -> bool:
        """Whether the client had to answer by itself."""
        return LAST.encode() in self.reply.stdout + self.reply.stderr

    @property
    def notice(self) -> str:
        """What the person is told."""
        text = self.reply.stdout
        return str(json.loads(text).get("systemMessage", "")) if text.startswith(b"{") else ""


class World:
    """One person with one state directory, and as many agents as a test starts."""

    def __init__(
        self,
        base: Path,
        *,
        config: str = DENIES,
        version: str = __version__,
        python: Path | None = None,
    ) -> None:
        self.base = base
        self.version = version
        self.mark = f"{base.name}-{os.urandom(8).hex()}"
        self.project, self.state = base / "project", base / "state"
        self.user_dir = base / "config"
        self.user_file = self.user_dir / "hookline/hookline.yaml"
        for directory in (self.project / ".git", self.user_file.parent, self.state):
            directory.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text(config)
        self.python = an_interpreter(python or base / "python")
        self.words: Sequence[str] = client.fastest(str(self.python))
        self._sessions = 0
        self.clients: list[subprocess.Popen[bytes]] = []

    # Agents

    def payload(self, event: str, session: str, command: str, **keys: Any) -> dict[str, Any]:
        """What Claude Code says of an event."""
        tool = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1"}
        return {
            "session_id": session,
            "transcript_path": str(self.base / "transcript"),
            "cwd": str(self.project),
            "hook_event_name": event,
            **(tool if event == "PreToolUse" else {"stop_hook_active": False}),
            **keys,
        }

    def session(self) -> str:
        """The name of a session that has not been yet."""
        self._sessions += 1
        return f"{self.mark}-{self._sessions}"

    def argv(self, event: str = "PreToolUse", timeout: float = LIMIT) -> list[str]:
        """As ``install`` writes it."""
        own = ("--home", str(self.state), "--user-config", str(self.user_dir))
        return [*self.words, "hook", "claude-code", event, *own, "--timeout", f"{timeout:g}"]

    def start(
        self,
        command: str = "rm -rf build",
        *,
        event: str = "PreToolUse",
        session: str = "",
        timeout: float = LIMIT,
        through: Sequence[str] = (),
        **keys: Any,
    ) -> "Asking":
        """A client on its way; ``through`` is a program that becomes it."""
        session = session or self.session()
        payload = self.payload(event, session, command, **keys)
        process = subprocess.Popen(
            [*through, *self.argv(event, timeout)],
            cwd=self.project,
            env={"PATH": "/usr/bin:/bin", _VARIABLE: self.mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.clients.append(process)
        return Asking(process, payload)

    def begin(self, command: str = "rm -rf build", **options: Any) -> "Asking":
        """A client that has all of its payload."""
        asking = self.start(command, **options)
        asking.feed()
        return asking

    def ask(self, command: str = "rm -rf build", **options: Any) -> Said:
        """One event from start to end."""
        with self.start(command, **options) as asking:
            return asking.said()

    # Daemons

    @property
    def dir(self) -> Path:
        return Path(find_run_dir(str(self.state), self.version))

    @property
    def log(self) -> str:
        file = self.state / "logs/daemon.log"
        return file.read_text() if file.exists() else ""

    def status(self) -> DaemonStatus | None:
        return ask_status(str(self.state), version=self.version)

    def daemon(self) -> DaemonStatus:
        """The daemon, started by an event if there is none."""

        def found() -> DaemonStatus | None:
            # One that has just answered its client may be about to take the place.
            if not self.serving():
                self.ask("true")
            return self.status()

        daemon: DaemonStatus = eventually(found)
        return daemon

    def stop(self) -> None:
        """Ends the daemon, and whoever was about to take its place, as a person would."""

        def over() -> bool:
            for pid in self.serving():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            return not self.serving()

        eventually(over)

    def serving(self) -> list[int]:
        """The processes that answer, or want to."""
        own = os.fsencode(self.python)
        return [pid for pid, words in _command_lines() if words[0] == own and b"serve" in words]

    # What hooks leave behind

    def marked(self) -> list[int]:
        """The processes of clients and hooks that are still there."""
        needle = f"{_VARIABLE}={self.mark}".encode()
        return [pid for pid in _pids() if needle in _read(f"/proc/{pid}/environ") and is_alive(pid)]

    # The journal

    @property
    def journal(self) -> str:
        return journal_file(str(self.state))

    def rows(self, columns: str = "session_id, id, verdict, attempt") -> list[tuple[Any, ...]]:
        """All events, oldest first, as whoever opens the journal next will find them."""
        if os.path.isdir(f"{self.journal}-late"):
            eventually(self._took_in)
        # Read-write, since the last one to leave a log behind may have been killed.
        with closing(sqlite3.connect(self.journal, timeout=30)) as connection:
            return connection.execute(f"SELECT {columns} FROM events ORDER BY seq").fetchall()

    def _took_in(self) -> bool:
        """Whether nobody else was writing."""
        writer = JournalWriter(self.journal)
        try:
            return not writer.write(())
        finally:
            writer.close()

    def is_sound(self) -> bool:
        """Whether the journal is a whole database."""
        with closing(sqlite3.connect(self.journal, timeout=30)) as connection:
            return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    # The end

    def end(self) -> None:
        """Nothing of this world is left."""
        for process in self.clients:
            process.kill()
            process.communicate()
        _end(self.serving)
        _end(self.marked)
        shutil.rmtree(self.dir, ignore_errors=True)


class Asking:
    """A client that has been started, with its event in hand."""

    def __init__(self, process: "subprocess.Popen[bytes]", payload: Mapping[str, Any]) -> None:
        self.process = process
        self.payload = payload

    def feed(self) -> None:
        """Gives it the payload, which ends there."""
        stdin, self.process.stdin = self.process.stdin, None
        if stdin is not None:
            with suppress(BrokenPipeError), stdin:
                stdin.write(json.dumps(self.payload).encode())

    @property
    def was_killed(self) -> bool:
        """Whether it is over and nobody can have heard of an answer."""
        return self.process.returncode == -signal.SIGKILL

    def said(self) -> Said:
        """Waits for its end."""
        self.feed()
        out, err = self.process.communicate(timeout=LIMIT + 30)
        reply = Reply(stdout=out, stderr=err, exit_code=self.process.returncode)
        effect = claude_code.obey(self.payload["hook_event_name"], reply, self.payload)
        assert not effect.failed or self.process.returncode < 0, (effect, reply)
        return Said(reply, effect, self.payload["session_id"])

    def __enter__(self) -> "Asking":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def world(base: Path, **options: Any) -> Iterator[World]:
    """A world that is gone at the end."""
    found = World(base, **options)
    try:
        yield found
    finally:
        found.end()


def an_interpreter(base: Path, packages: Path | None = None) -> Path:
    """The interpreter that runs us, under another path.

    ``packages`` is where it finds hookline: the one under test, unless told otherwise.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = base / "lib" / version / "site-packages"
    own.mkdir(parents=True)
    (base / "bin").mkdir()
    (base / "bin/python").symlink_to(os.path.realpath(sys.executable))
    home = Path(os.path.realpath(sys.executable)).parent
    (base / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
    ours = [each for each in sys.path if each.endswith("-packages")]
    adds = "".join(f"import site; site.addsitedir({each!r})\n" for each in ours)
    first = packages or Path(hookline.__file__).parents[1]
    (own / "everything.pth").write_text(f"{first}\n{adds}")
    return base / "bin/python"


def is_alive(pid: int) -> bool:
    """Whether the process is there, and does not only wait to be buried."""
    state = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in {b"Z", b"X"}


def _end(found: Callable[[], Sequence[int]]) -> None:
    deadline = time.monotonic() + LIMIT
    while pids := found():
        assert time.monotonic() < deadline, f"these do not end: {pids}"
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _command_lines() -> Iterator[tuple[int, list[bytes]]]:
    for pid in _pids():
        words = _read(f"/proc/{pid}/cmdline").split(b"\0")
        if words and is_alive(pid):
            yield pid, words


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
