"""A person's machine for one measurement: a home, a project, and a daemon of their own."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.scenes import agent_env, payload, write_payloads
from bench.spawning import Program
from hookline._version import __version__
from hookline.client import fastest
from hookline.config.reading import SETTLED
from hookline.daemon.control import ask_status
from hookline.daemon.instance import LockHolder, connect, find_holder
from hookline.dialects._call import line
from hookline.model.installing import Call
from hookline.pipeline.parts import journal_file

__all__ = ["Stage", "stage"]

_PATIENCE = 60.0
_LOOK = 0.02


class Stage:
    """One config in force, its state directory, and how hookline is called with them."""

    def __init__(self, root: Path, name: str, config: bytes) -> None:
        self.name = name
        self.root = root
        self.home = str(root / "state")
        self.project = str(root / "project")
        self.user_config = str(root / "config")
        for path in (self.home, self.project, f"{self.user_config}/hookline"):
            Path(path).mkdir(parents=True, mode=0o700)
        self.config = Path(self.user_config, "hookline", "hookline.yaml")
        self.config.write_bytes(config)
        self.env = agent_env(str(root), self.project)
        self._told = 0

    @property
    def words(self) -> list[str]:
        """What follows the program, as ``install`` writes it."""
        return [
            *("hook", "claude-code", "PreToolUse", "--home", self.home),
            *("--user-config", self.user_config, "--timeout", "600"),
        ]

    @property
    def journal(self) -> str:
        """Where its journal is."""
        return journal_file(self.home)

    def inputs(self, count: int, size: int = 2048, event: str = "PreToolUse") -> list[str]:
        """That many payload files; no two of a stage tell of the same call."""
        files = write_payloads(
            self.root / "payloads", range(self._told, self._told + count), self.project, size, event
        )
        self._told += count
        return files

    def program(
        self, name: str, count: int, *, start: Sequence[str] = (), size: int = 2048
    ) -> Program:
        """Our client on ``count`` payloads; ``start`` are other words to call hookline by."""
        return Program(
            name=name,
            argv=[*(start or fastest(sys.executable)), *self.words],
            env=self.env,
            cwd=self.project,
            inputs=self.inputs(count, size),
        )

    def line(self, *, flat: bool) -> str:
        """The command that ``install`` writes into an agent's settings."""
        call = Call(program=fastest(sys.executable), home=self.home, user_config=self.user_config)
        return line(call, "claude-code", "PreToolUse", closes=True, timeout=600, flat=flat)

    def warm_up(self) -> LockHolder:
        """Calls the client as an agent would, until a daemon is there that answers."""
        program = [*fastest(sys.executable), *self.words]
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            done = subprocess.run(
                program,
                input=payload(0, self.project),
                env=self.env,
                cwd=self.project,
                capture_output=True,
                check=False,
                timeout=_PATIENCE,
            )
            if done.returncode != 0 or done.stderr:
                raise RuntimeError(
                    f"{self.name}: the client ended with {done.returncode} and said "
                    f"{done.stderr.decode(errors='replace')!r}"
                )
            with suppress(OSError):
                connect(self.home, __version__, 1.0).close()
                found = find_holder(self.home, __version__)
                if found is not None:
                    return found
            time.sleep(_LOOK)
        raise RuntimeError(f"{self.name}: no daemon after {_PATIENCE:.0f} s")

    def settle(self) -> None:
        """Waits out the seconds in which a file just written is read anew for each event."""
        settled = self.config.stat().st_ctime + SETTLED + _LOOK
        time.sleep(max(settled - time.time(), 0.0))

    def answered(self) -> int:
        """How many events its daemon has answered."""
        found = ask_status(self.home, version=__version__)
        return found.answered if found is not None else 0

    def pid(self) -> int:
        """The daemon's number."""
        found = ask_status(self.home, version=__version__)
        if found is None:
            raise RuntimeError(f"{self.name}: its daemon does not answer")
        return found.pid

    def stop(self) -> None:
        """Ends its daemon and waits until it has gone."""
        found = find_holder(self.home, __version__)
        if found is None:
            return
        deadline = time.monotonic() + _PATIENCE
        with suppress(ProcessLookupError):
            os.kill(found.pid, signal.SIGTERM)
        while find_holder(self.home, __version__) is not None:
            if time.monotonic() > deadline:
                os.kill(found.pid, signal.SIGKILL)
                return
            time.sleep(_LOOK)


@contextmanager
def stage(name: str, config: bytes, *, warm: bool = True) -> Iterator[Stage]:
    """A stage with its daemon running; both are cleared away."""
    with tempfile.TemporaryDirectory(prefix="hookline-bench-", ignore_cleanup_errors=True) as root:
        set_up = Stage(Path(root), name, config)
        try:
            if warm:
                set_up.settle()
                set_up.warm_up()
            yield set_up
        finally:
            set_up.stop()
