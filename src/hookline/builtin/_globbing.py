"""What a pattern for file names stands for on disk, with what listing a directory tells anyway."""

import os
import re
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Match", "has_signs", "matches"]


class Match(NamedTuple):
    """One path that a pattern stands for."""

    path: str
    is_link: bool
    is_folder: bool


def has_signs(path: str) -> bool:
    """Whether it is a pattern."""
    return "*" in path or "?" in path or "[" in path


def matches(pattern: str) -> Iterator[Match]:
    """Everything that is there for a whole path with signs in it, as a shell finds it.

    Raises ValueError for half a character, which no name can have.
    """
    parts = pattern.split("/")
    first = next(at for at, part in enumerate(parts) if has_signs(part))
    yield from _below("/".join(parts[:first]), parts[first:])


def _below(folder: str, parts: list[str]) -> Iterator[Match]:
    """What lies in a directory under these names, of which the first has signs."""
    name, rest = re.compile(_regex(parts[0])), parts[1:]
    hidden = parts[0].startswith(".")
    try:
        with os.scandir(folder or "/") as entries:
            found = [
                entry
                for entry in entries
                if (hidden or entry.name[0] != ".") and name.match(entry.name)
            ]
    except OSError:
        return
    for entry in found:
        path = f"{folder}/{entry.name}"
        if not rest:
            yield Match(path, entry.is_symlink(), _is_folder(entry))
        elif _is_folder(entry):
            yield from _inside(path, rest)


def _inside(folder: str, parts: list[str]) -> Iterator[Match]:
    for at, part in enumerate(parts):
        if has_signs(part):
            yield from _below("/".join([folder, *parts[:at]]), parts[at:])
            return
    path = "/".join([folder, *parts])
    if os.path.lexists(path):
        yield Match(path, os.path.islink(path), os.path.isdir(path))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


@lru_cache(512)
def _regex(part: str) -> str:
    return translate(part)
