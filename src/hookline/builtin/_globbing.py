"""What a pattern for file names stands for on disk, with what listing a directory tells anyway."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import translate
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

__all__ = [
    "Looks",
    "Lookup",
    "Match",
    "TooManyError",
    "has_signs",
    "matches",
    "plain_signs",
]

_MAX_PATTERNS = 50
_MAX_MATCHES = 20_000
_MAX_LOOKS = 100_000
_MAX_SIGNS = 20
_LONGEST = 1_024
# What a look costs, in names that are read from a directory.
_FOLDER = 20
_ENTRY = 4
# Shells also know classes of characters in brackets, and `^` for `!`.
_BRACKETS = re.compile(r"\[[!^]?\]?(?:\[([:=.])[^/\[\]]{0,32}?\1\]|[^\]/])*+\]")
_CLASS = re.compile(r"\[[:=.]")
# What makes a shell's patterns stand for hidden names too, or for names in another case.
_LOOSE = re.compile(
    r"(?i)dotglob|nocaseglob|globignore|glob_?dots|no_?case_?glob"
    r"|\bshopt[ \t]+(?:-\w+[ \t]+){0,9}[^\s;&|)}-]|sh\b[^\n;&|]{0,200}[ \t][-+]\w{0,9}O[ \t]*[$`{]"
)
_TIGHT = re.compile(r"\b(?:nullglob|failglob|globstar|extglob|lastpipe|inherit_errexit)\b")
_QUOTES = re.compile(r"""\\\n|['"\\]""")


class TooManyError(Exception):
    """A pattern stands for more than may be looked at."""


class Looks:
    """How much may still be looked at on disk, all patterns of one event together."""

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, cost: int) -> None:
        """Raises TooManyError when nothing is left, and from then on."""
        self.left -= cost
        if self.left < 0:
            raise TooManyError


class Lookup:
    """The patterns of one event: how many may be looked up, and how many files for them."""

    def __init__(self, command: str, env: Mapping[str, str]) -> None:
        """``command`` is the shell text that they are in; empty where they are in none."""
        self._command = command
        self._env = env
        self._patterns = _MAX_PATTERNS
        self._matches = _MAX_MATCHES
        self._looks = Looks(_MAX_LOOKS)

    def there(self, wholes: Iterable[str]) -> "Iterator[Match]":
        """What is there for one pattern in each directory it may start from; may be too many."""
        self._patterns -= 1
        if self._patterns < 0:
            raise TooManyError
        for whole in wholes:
            try:
                for match in matches(whole, self._looks, loose=self._loose):
                    self._matches -= 1
                    if self._matches < 0:
                        raise TooManyError
                    yield match
            except ValueError:  # half a character, which no name can have
                continue

    @cached_property
    def _loose(self) -> bool:
        """Whether the shell was told that patterns stand for more than they do by default."""
        # It takes these from its environment too.
        env = self._env
        given = (env.get("BASHOPTS", ""), "GLOBIGNORE" if env.get("GLOBIGNORE") else "")
        said = _TIGHT.sub("", _QUOTES.sub("", self._command))
        return any(map(_LOOSE.search, (said, *given)))


class Match(NamedTuple):
    """One path that a pattern stands for."""

    path: str
    is_link: bool
    is_folder: bool


def has_signs(path: str) -> bool:
    """Whether it is a pattern."""
    return "*" in path or "?" in path or "[" in path


def plain_signs(pattern: str) -> str:
    """The pattern with what only shells know said in other signs; it stands for no less.

    Raises TooManyError for one that is longer than anybody writes: reading it would take too long.
    """
    if len(pattern) > _LONGEST:
        raise TooManyError
    return _BRACKETS.sub(_plain, pattern) if "[" in pattern else pattern


def matches(pattern: str, looks: Looks, *, loose: bool = False) -> Iterator[Match]:
    """Everything that is there for a whole path with signs in it, as a shell finds it.

    A ``loose`` one stands for hidden names too, and for names in any case. Raises ValueError for
    half a character, which no name can have, and TooManyError.
    """
    root, *parts = plain_signs(pattern).split("/")
    if sum(map(has_signs, parts)) > _MAX_SIGNS:
        raise TooManyError
    yield from _Search(looks, loose).inside(root, parts)


class _Search:
    """One pattern, while it is looked up."""

    def __init__(self, looks: Looks, loose: bool) -> None:
        self._looks = looks
        self._loose = loose

    def inside(self, folder: str, parts: list[str]) -> Iterator[Match]:
        """What lies in a directory under these names, any of which may have signs."""
        for at, part in enumerate(parts):
            if has_signs(part):
                yield from self._below("/".join([folder, *parts[:at]]), parts[at:])
                return
        self._looks.take(_ENTRY)
        path = "/".join([folder, *parts])
        if os.path.lexists(path):
            yield Match(path, os.path.islink(path), os.path.isdir(path))

    def _below(self, folder: str, parts: list[str]) -> Iterator[Match]:
        """What lies in a directory under these names, of which the first has signs."""
        rest = parts[1:]
        for entry in self._listed(folder, parts[0]):
            path = f"{folder}/{entry.name}"
            if not rest:
                yield Match(path, entry.is_symlink(), _is_folder(entry))
            elif _is_folder(entry):
                yield from self.inside(path, rest)

    def _listed(self, folder: str, part: str) -> "list[os.DirEntry[str]]":
        name = re.compile(_regex(part), re.IGNORECASE if self._loose else 0)
        hidden = self._loose or part.startswith(".")
        self._looks.take(_FOLDER)
        try:
            with os.scandir(folder or "/") as entries:
                listed = list(islice(entries, self._looks.left + 1))
        except OSError:
            return []
        # Also those that do not match: a search that finds nothing takes as long.
        self._looks.take(len(listed))
        return [
            entry for entry in listed if (hidden or entry.name[0] != ".") and name.match(entry.name)
        ]


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


@lru_cache(512)
def _regex(part: str) -> str:
    return translate(part)


def _plain(brackets: re.Match[str]) -> str:
    said = brackets[0]
    if _CLASS.search(said, 1):
        return "?"  # which characters a class has is the locale's to say
    return f"[!{said[2:]}" if said.startswith("[^") else said
