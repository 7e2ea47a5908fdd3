"""Where the git commands of a command line run."""

import os
import re
from collections.abc import Iterator, Sequence

from hookline.model.ports import Caller
from hookline.shell import SimpleCommand

__all__ = ["placed"]

_HOME = re.compile(r"^\$(?:HOME|\{HOME\})(?=/|$)|^~(?=/|$)")
_HERE = re.compile(r"^\$(?:PWD|\{PWD\})(?=/|$)|^\$\(pwd\)(?=/|$)")


def placed(
    commands: Sequence[SimpleCommand], cwd: str, caller: Caller
) -> Iterator[tuple[SimpleCommand, str]]:
    """Each command with the directory it runs in, every ``cd`` before it followed."""
    directory = cwd
    home = caller.env.get("HOME", "")
    for command in commands:
        words = command.words
        if command.name in {"cd", "pushd"}:
            target = words[-1] if len(words) > 1 else "~"
            directory = os.path.join(directory, _expanded(target, home))
        elif command.name == "git":
            yield command, os.path.normpath(_own(words[1:], directory, home))
        else:
            yield command, directory


def _own(words: tuple[str, ...], directory: str, home: str) -> str:
    """Where git itself goes: each ``-C`` counts from the one before."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        option, joined, value = words[at].partition("=")
        takes = option in {"-C", "-c", "--git-dir", "--work-tree", "--namespace"} and not joined
        if takes:
            value = words[at + 1] if at + 1 < len(words) else ""
        if option in {"-C", "--git-dir", "--work-tree"}:
            directory = os.path.join(directory, _expanded(value, home))
        at += 2 if takes else 1
    return directory


def _expanded(path: str, home: str) -> str:
    return _HERE.sub(".", _HOME.sub(lambda _: home, path))
