"""Finds the client that a person has, and asks it for its version.

It is asked in a room of its own and kept to loopback: a client that is only asked for its version
must not update itself, report home, or write into the person's settings.
"""

import os
import re
import shutil
from collections.abc import Mapping
from typing import Literal

from hookline.lab.isolation import place
from hookline.lab.ports import Launch, Package, Program, Room
from hookline.lab.running import run
from hookline.model.errors import HooklineError

__all__ = ["Age", "age", "find", "locate", "version_of"]

_TIMEOUT = 60.0
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*(?:-[0-9A-Za-z.]+)?")

Age = Literal["same", "newer", "older", "unknown"]


def find(
    package: Package, *, room: Room, env: Mapping[str, str], path: str | None = None
) -> Program:
    """The client at ``path``, or the one that the person's PATH has, with its version."""
    argv = (locate(package, env, path),)
    return Program(argv=argv, version=version_of(argv, room, package.version_words))


def locate(package: Package, env: Mapping[str, str], path: str | None = None) -> str:
    """Where the client is. Raises HooklineError when it is not there."""
    if path is not None:
        found = os.path.abspath(os.path.expanduser(path))
        if not os.path.isfile(found):
            raise HooklineError(f"there is no client at {found}: --client takes its program file")
        if not os.access(found, os.X_OK):
            raise HooklineError(f"{found} is not executable: --client takes the client's program")
        return found
    on_path = shutil.which(package.command, path=env.get("PATH")) if package.command else None
    if on_path is None:
        best = f"{package.version} is the version known best"
        if package.packages:
            best = f"`npm install --global {package.packages[0]}` is the version known best"
        raise HooklineError(
            f"no `{package.command}` is on the PATH: install it ({best}), "
            "or say where it is with --client"
        )
    return os.path.abspath(on_path)


def version_of(argv: tuple[str, ...], room: Room, words: tuple[str, ...] = ("--version",)) -> str:
    """What the client answers to ``--version``. Raises HooklineError when it cannot even that."""
    asked = " ".join((argv[0], *words))
    launch = Launch(argv=(*argv, *words), env=room.env, timeout=_TIMEOUT)
    with place() as held:
        ran = run(held, launch, room.project)
    if ran.exit_code is None:
        raise HooklineError(f"`{asked}` was ended: {ran.cut}")
    said = (ran.stdout + b"\n" + ran.stderr).decode(errors="replace").strip()
    if ran.exit_code:
        raise HooklineError(f"`{asked}` failed with exit code {ran.exit_code}: {said[-500:]}")
    match = _VERSION.search(ran.stdout.decode(errors="replace"))
    return match.group() if match else ""


def age(version: str, pinned: str) -> Age:
    """How a client compares with the version that was proven; newer is no mistake."""
    ours, theirs = _order(version), _order(pinned)
    if not ours or not theirs:
        return "unknown"
    if version == pinned:
        return "same"
    if ours == theirs:
        return "unknown"  # they differ only in words, such as `-beta` and `-nightly`
    return "newer" if ours > theirs else "older"


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.partition("-")[0].split(".") if number.isdigit())
