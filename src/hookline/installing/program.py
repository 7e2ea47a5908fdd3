"""Which words start this very hookline: an absolute path, never a shim that looks for one."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence

from hookline._version import __version__
from hookline.client import PROGRAM, SCRIPT, fastest
from hookline.model.installing import InstallError

__all__ = ["is_own", "own_client", "own_program"]

_PATIENCE = 30.0
_AS_MODULE = ("-I", "-m", "hookline")


def own_program() -> tuple[str, ...]:
    """The program that agents are to start. Raises InstallError when none answers."""
    for words in _candidates():
        if _is_ours(words):
            return words
    message = f"no hookline {__version__} can be started from {sys.executable}"
    raise InstallError(f"{message}; install it again, with pip, pipx or uv")


def own_client() -> tuple[str, ...]:
    """The fastest words that agents can start instead: a client that asks the daemon.

    Raises InstallError when no program of ours answers at all.
    """
    program = own_program()
    return fastest(program[0]) if program[1:] == _AS_MODULE else program


def _candidates() -> Iterator[tuple[str, ...]]:
    # Isolated, because a repository can set an agent's environment: PYTHONPATH must not choose
    # the guard, and nor must a project with a folder called hookline.
    yield (sys.executable, *_AS_MODULE)
    for folder in dict.fromkeys(_folders()):
        script = os.path.join(os.path.abspath(folder), "hookline")
        if os.access(script, os.X_OK):
            yield (script,)


def _folders() -> tuple[str, str]:
    """Where our own interpreter's programs are: no shim on PATH that picks one per directory."""
    return os.path.dirname(sys.executable), sysconfig.get_path("scripts")


def is_own(words: Sequence[str]) -> bool:
    """Whether these words start this very hookline, or the one that the person has on PATH."""
    python = sys.executable
    scripts = [(os.path.join(folder, "hookline"),) for folder in _folders()]
    clients = [(PROGRAM, python), (python, "-I", "-S", "-E", SCRIPT, python)]
    calls = [("hookline",), (python, *_AS_MODULE), *scripts, *clients]
    return _resolve(words) in map(_resolve, calls)


def _resolve(words: Sequence[str]) -> list[str]:
    return [os.path.realpath(word) if os.path.isabs(word) else word for word in words]


def _is_ours(words: tuple[str, ...]) -> bool:
    """Whether these words start the version that is running now."""
    try:
        done = subprocess.run(  # noqa: S603 - a file beside our own interpreter
            [*words, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    said = done.stdout.decode("utf-8", "replace").split()
    return done.returncode == 0 and said[:1] == ["hookline,"] and said[-1:] == [__version__]
