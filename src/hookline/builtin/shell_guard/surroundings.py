"""Where a command runs, as far as the quick way out depends on it.

The words of a harmless command tell neither which directory it runs in nor where links lead.
"""

import os
from functools import lru_cache
from stat import S_ISLNK

from hookline.builtin.shell_guard.secret_files import is_secret
from hookline.builtin.shell_guard.world import World, is_of_system
from hookline.shell.fields import as_source
from hookline.shell.plain import plain_commands

__all__ = ["is_ordinary"]

_MOVERS = frozenset({"cd", "chdir", "pushd"})
_BACK = frozenset({"popd", "dirs"})


def is_ordinary(text: str, world: World) -> bool:
    """Whether nothing about the places of a plain text asks for a closer look."""
    homes = world.where.homes
    return _is_plain_place(world.cwd, homes, world.protect) and not _leads_away(text, world.cwd)


@lru_cache(64)  # it is about names alone: all of them are without links
def _is_plain_place(cwd: str, homes: tuple[str, ...], own: tuple[str, ...]) -> bool:
    """Whether it is no home and above none, not of the system, of secrets or of the guard."""
    if "/." in cwd or "\0" in cwd or not cwd.startswith("/"):
        return False
    if is_of_system(cwd) or is_secret(f"{cwd}/*"):
        return False
    inside = cwd + "/"
    if any(f"{each}/".startswith(inside) for each in (*homes, *own)):
        return False
    return not any(inside.startswith(f"{each}/") for each in own)


def _leads_away(text: str, cwd: str) -> bool:
    """Whether a word of a text is a link or leads through one, or nobody knows from where."""
    slashes = "/" in text
    for command in plain_commands(as_source(text)) or ():
        words = command.words
        if words[0] in _BACK:
            return True
        # A name alone is taken as it is, link or not; what is behind a slash is looked up.
        if slashes and any("/" in word and _has_link(cwd, word) for word in words[1:]):
            return True
        if not _MOVERS.isdisjoint(words):
            # Home, the last directory, or moved by another program: for the readers to follow.
            if len(words) != 2 or words[1].startswith(("-", "+")) or "*" in words[1]:
                return True
            if _has_link(cwd, words[1]):
                return True
            cwd = os.path.join(cwd, words[1])
    return False


def _has_link(cwd: str, word: str) -> bool:
    before, sign, value = word.partition("=")
    if sign and _has_link(cwd, value):
        return True
    if before.startswith("-"):
        return False
    path = "" if word.startswith("/") else cwd
    for part in word.split("/"):
        if "*" in part:
            return False  # a pattern is judged by the directory it begins in
        if part in ("", "."):
            continue
        path = f"{path}/{part}"
        try:
            if S_ISLNK(os.lstat(path).st_mode):
                return True
        except (OSError, ValueError):
            return False  # nothing there that could lead anywhere
    return False
