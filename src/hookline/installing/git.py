"""Asks git whether a file travels: is it tracked, or would it be with the next ``git add``."""

import os
import subprocess
from collections.abc import Mapping
from typing import Literal

__all__ = ["Travels", "travels"]

Travels = Literal["tracked", "untracked", "ignored", "no"]

_PATIENCE = 10.0
# All that git needs; everything else could point it at another repository or program.
_PASSED_ON = ("HOME", "LANG", "LC_ALL", "PATH", "USER", "XDG_CONFIG_HOME")
# A repository must not name programs that a mere question runs.
_SAFELY = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false")


def travels(path: str, env: Mapping[str, str]) -> Travels:
    """How git sees a file, which need not exist; "untracked" when git cannot be asked."""
    directory = os.path.dirname(path)
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    if not _inside_repository(directory):
        return "no"
    if _ask(directory, env, "ls-files", "--error-unmatch", "--", path) == 0:
        return "tracked"
    if _ask(directory, env, "check-ignore", "--quiet", "--", path) == 0:
        return "ignored"
    return "untracked"


def _inside_repository(directory: str) -> bool:
    while True:
        if os.path.lexists(os.path.join(directory, ".git")):
            return True
        if directory == os.path.dirname(directory):
            return False
        directory = os.path.dirname(directory)


def _ask(directory: str, env: Mapping[str, str], *question: str) -> int:
    try:
        return subprocess.run(  # noqa: S603 - a fixed program with arguments of ours
            ["git", "-C", directory, *_SAFELY, *question],  # noqa: S607 - the person's own git
            env={name: env[name] for name in _PASSED_ON if name in env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return -1
