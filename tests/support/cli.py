"""A person's machine with nothing on it but an empty project, and the command line run on it."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from hookline.__main__ import main
from hookline.cli._terminal import WEAKENS
from support.person import at_terminal, command_line

__all__ = ["Done", "Machine", "program"]


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def program(*words: str) -> list[str]:
    """What starts ``hookline WORDS``; an agent that runs the tests is hidden where it would matter."""
    weakens = WEAKENS.get(" ".join(words[:2])) or WEAKENS.get(words[0] if words else "")
    if weakens is not None and (weakens.always or weakens.options):
        return command_line(*words)
    return [sys.executable, "-m", "hookline", *words]


class Machine:
    """A home, a project that is a git repository, and hookline."""

    def __init__(self, base: Path, capture: pytest.CaptureFixture[bytes]) -> None:
        self.base = base
        self._capture = capture
        self.person = base / "person"
        self.project = base / "project"
        self.state = base / "state"
        self.user_dir = base / "config"
        self.user_file = self.user_dir / "hookline/hookline.yaml"
        self.config = self.project / "hookline.yaml"
        for directory in (self.person, self.project / ".git"):
            directory.mkdir(parents=True)
        self.env = {
            # So that a measured run measures the processes it starts, too.
            **{name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")},
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(self.person),
            "XDG_CONFIG_HOME": str(self.user_dir),
            "HOOKLINE_HOME": str(self.state),
            "LC_ALL": "C.UTF-8",
        }

    def write(self, path: str | Path, text: str, mode: int = 0o644) -> Path:
        """A file in the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return file

    def put_client(self, *names: str) -> None:
        """An agent's program on PATH, which does nothing."""
        folder = self.base / "clients"
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
        if str(folder) not in self.env["PATH"]:
            self.env["PATH"] = f"{folder}:{self.env['PATH']}"

    def trust(self, text: str) -> None:
        """Trust a project config."""
        self.write(self.config, text)
        done = self.call("trust", says="yes")
        assert done.code == 0, done.err

    def call(
        self,
        *args: str,
        stdin: bytes | str = b"",
        cwd: str | Path | None = None,
        says: str | None = None,
        **env: str,
    ) -> Done:
        """``hookline ARGS`` in this process: quick, and all that most tests need.

        ``says`` is what a person answers; without it nobody is there to be asked.
        """
        self._capture.readouterr()
        with self._inside(args, stdin, cwd or self.project, env), at_terminal(says):
            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        said = self._capture.readouterr()
        return Done(code, said.out.decode(), said.err.decode())

    @contextmanager
    def _inside(
        self, args: tuple[str, ...], stdin: bytes | str, cwd: str | Path, env: Mapping[str, str]
    ) -> Iterator[None]:
        before = os.getcwd()
        os.chdir(cwd)
        try:
            with (
                tempfile.TemporaryFile(dir=self.base) as raw,
                io.TextIOWrapper(raw) as given,
                patch.dict(os.environ, {**self.env, **env}, clear=True),
                patch.object(sys, "argv", ["hookline", *args]),
                patch.object(sys, "stdin", given),
            ):
                raw.write(stdin.encode() if isinstance(stdin, str) else stdin)
                raw.seek(0)
                yield
        finally:
            os.chdir(before)

    def run(
        self, *args: str, stdin: bytes | str = b"", cwd: str | Path | None = None, **env: str
    ) -> Done:
        """``hookline ARGS`` in a process of its own."""
        done = subprocess.run(
            program(*args),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd or self.project,
            env={**self.env, **env},
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *args: str, **options: Any) -> "subprocess.Popen[bytes]":
        """``hookline ARGS``, started and left running."""
        argv = program(*args)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # A shell in the background ignores SIGINT, and so would everything it starts.
        options = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options}
        return subprocess.Popen(argv, cwd=self.project, env=self.env, **{**pipes, **options})

    @property
    def own(self) -> tuple[str, ...]:
        """What ``install`` writes for an agent on this machine."""
        return ("--home", str(self.state), "--user-config", str(self.user_dir))

    def hook(self, payload: object, *words: str, **env: str) -> Done:
        """``hookline hook canonical`` with a payload, as an agent calls it."""
        given = payload if isinstance(payload, bytes | str) else json.dumps(payload)
        return self.call("hook", "canonical", *words, *self.own, stdin=given, **env)

    def remove(self, path: Path) -> None:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
