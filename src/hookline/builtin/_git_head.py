"""Where git commands run and which branch is checked out there, read from git's own files.

Starts no process and asks no configuration.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hookline.files import text_of
from hookline.model.ports import Caller
from hookline.shell import SimpleCommand

__all__ = ["Checkout", "checkout_at", "placed"]

_CAP = 4096
_REF = "ref: refs/heads/"
_HOME = re.compile(r"^\$(?:HOME|\{HOME\})(?=/|$)|^~(?=/|$)")
_HERE = re.compile(r"^\$(?:PWD|\{PWD\})(?=/|$)|^\$\(pwd\)(?=/|$)")


class Checkout(NamedTuple):
    """A work tree: its git directory, and the branch it is on; empty when on none."""

    git_dir: str
    branch: str

    def has_branch(self, name: str) -> bool:
        """Whether there is a branch of that name."""
        common = text_of(os.path.join(self.git_dir, "commondir"), _CAP).strip()
        folder = os.path.join(self.git_dir, common) if common else self.git_dir
        if os.path.isfile(os.path.join(folder, "refs", "heads", name)):
            return True
        packed = text_of(os.path.join(folder, "packed-refs"), 1 << 20)
        return f" refs/heads/{name}\n" in packed


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


def checkout_at(directory: str) -> Checkout | None:
    """The work tree that a directory is in; None outside of any."""
    while os.path.isabs(directory):
        found = _git_dir(directory)
        if found:
            head = text_of(os.path.join(found, "HEAD"), _CAP).strip()
            branch = head.removeprefix(_REF) if head.startswith(_REF) else ""
            return Checkout(found, branch)
        above = os.path.dirname(directory)
        if above == directory:
            break
        directory = above
    return None


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


def _git_dir(directory: str) -> str:
    path = os.path.join(directory, ".git")
    if os.path.isdir(path):
        return path
    # Of a linked work tree or a submodule: a file that says where it is.
    said = text_of(path, _CAP).strip()
    if said.startswith("gitdir:"):
        return os.path.join(directory, said.removeprefix("gitdir:").strip())
    bare = os.path.isfile(os.path.join(directory, "HEAD"))
    return directory if bare and os.path.isdir(os.path.join(directory, "refs")) else ""
