"""Which protected paths a path is one of: globs as in `match: path:`, tried on every spelling.

A pattern without a slash is about a name at any depth; with one it counts from the project, after
`/` from the root, after `~/` from home, and whatever it names includes everything below. Case does
not count: on many file systems it does not, and none needs two names that differ in it alone.
"""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from hookline.model.ports import Caller

__all__ = ["Globs", "Names", "Places", "homes", "normal", "spellings"]

_LONGEST = 4096
_TOKEN = re.compile(r"\*\*/|\*+|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)


class Globs:
    """Many patterns as one test, and the pattern that a path was found by."""

    __slots__ = ("_each", "_one")

    def __init__(self, globs: Iterable[str]) -> None:
        """Raises ValueError for one that is no pattern."""
        sources = {glob: _regex(glob) for glob in globs}
        self._one = _compiled("|".join(sources.values())) if sources else None
        self._each = sources

    def matches(self, forms: Iterable[str]) -> bool:
        """Whether one of these spellings of a path is protected by any pattern."""
        return self._one is not None and any(map(self._one.fullmatch, forms))

    def found(self, forms: Iterable[str]) -> str | None:
        """The first pattern that one of these spellings of a path matches."""
        if self._one is None:
            return None
        for form in forms:
            if self._one.fullmatch(form):
                return next(
                    glob for glob, regex in self._each.items() if _compiled(regex).fullmatch(form)
                )
        return None


class Names:
    """Globs over a whole name that is no path: `*` crosses anything."""

    __slots__ = ("_one",)

    def __init__(self, globs: Sequence[str], *, any_case: bool = False) -> None:
        """Raises ValueError for one that is empty."""
        if not all(globs):
            raise ValueError("a pattern cannot be empty")
        signs = {"*": ".*", "?": "."}
        regexes = ("".join(signs.get(c) or re.escape(c) for c in glob) for glob in globs)
        self._one = _compiled_names("|".join(regexes), any_case=any_case) if globs else None

    def __call__(self, name: str) -> bool:
        """Whether one of them matches."""
        return self._one is not None and self._one.fullmatch(name) is not None


class Places(Struct, frozen=True):
    """What paths are relative to: for people, and for the patterns."""

    bases: tuple[str, ...]
    """Directories that a relative path may start from; most often one."""
    projects: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()

    def absolute(self, path: str) -> list[str]:
        """Every place that a path may mean, links unfollowed."""
        if path == "~" or path.startswith("~/"):
            return [home + path[1:] for home in self.homes]
        if path.startswith("~"):
            return [home for home in [os.path.expanduser(path)] if os.path.isabs(home)]
        if os.path.isabs(path):
            return [path]
        return [os.path.join(base, path) for base in self.bases]

    def spots(self, path: str) -> list[str]:
        """Those places tidied, and what they are once all links are followed."""
        if "\0" in path or len(path) > _LONGEST:
            return []
        meant = self.absolute(path)
        if not meant:
            return [normal(path)]  # its name counts even where nobody knows the directory
        found = dict.fromkeys(map(normal, meant))
        for each in meant:
            found[_real(each)] = None
            # `link/..` is another place for the kernel than for a program that tidies it first.
            if ".." in each:
                found[_real(normal(each))] = None
        found.pop("", None)
        return list(found)

    def forms(self, spot: str) -> Iterator[str]:
        """A place as patterns write it: from the root, from the project, from home."""
        if not spot.isascii():
            # Half a character is no text to a regex.
            spot = unicodedata.normalize("NFC", spot).encode("utf-8", "replace").decode()
        yield spot
        if not os.path.isabs(spot):
            yield f"./{spot}"
        yield from (f"./{each}" for each in _below(spot, self.projects))
        yield from (f"~/{each}" for each in _below(spot, self.homes))


def homes(caller: Caller) -> tuple[str, ...]:
    """The person's home directories, as they are written and as they resolve."""
    # A repository may set an agent's variables, and must not move `~/.ssh` that way.
    return spellings((caller.env.get("HOME", ""), _account_home()))


def spellings(directories: Sequence[str]) -> tuple[str, ...]:
    """Whole paths among these, as they are written and as they resolve."""
    whole = [path for path in directories if os.path.isabs(path)]
    forms = (form for path in whole for form in (normal(path), _real(path)))
    return tuple(dict.fromkeys(filter(None, forms)))


def normal(path: str) -> str:
    """The path without `.`, `..` and doubled slashes."""
    tidy = os.path.normpath(path)
    return tidy[1:] if tidy.startswith("//") else tidy


@cache
def _account_home() -> str:
    """The home directory that the system knows; empty where it knows none."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return ""


def _real(path: str) -> str:
    try:
        return normal(os.path.realpath(path))
    except (OSError, ValueError):
        return ""


def _below(spot: str, roots: Sequence[str]) -> Iterator[str]:
    for root in roots:
        inside = root.rstrip("/") + "/"
        if spot.startswith(inside):
            yield spot[len(inside) :]


@cache
def _compiled(source: str) -> Any:
    import re2  # in time that grows with the path alone, whatever the pattern is

    return re2.compile(f"(?is)(?:{source})")


@cache
def _compiled_names(source: str, *, any_case: bool) -> Any:
    import re2

    return re2.compile(f"(?{'i' if any_case else ''}s)(?:{source})")


def _regex(glob: str) -> str:
    """The pattern as a regex over the forms of a place."""
    if not glob.strip("/") and glob != "/":
        raise ValueError("a pattern cannot be empty")
    if glob.startswith("!"):
        raise ValueError(f"`{glob}`: what is left out goes under `allow`, not behind `!`")
    if ".." in glob.split("/"):
        raise ValueError(f"`{glob}`: paths are resolved first, so `..` would never match")
    if "," in glob.partition("{")[2].partition("}")[0]:
        raise ValueError(f"`{glob}`: braces are not expanded; write a list of patterns")
    glob = unicodedata.normalize("NFC", glob)
    names = [name for name in glob.split("/") if name not in {"", "."}]
    while names and names[-1] == "**":
        names.pop()
    body = "/".join(names)
    if glob.startswith("/"):
        return f"/{_tokens(body)}(?:/.*)?" if body else "/.*"
    if names[:1] == ["~"]:
        return f"{_tokens(body)}(?:/.*)?"
    if "/" in glob.rstrip("/") and names[:1] != ["**"]:
        return rf"\./{_tokens(body)}(?:/.*)?"
    return f"(?:.*/)?{_tokens(body.removeprefix('**/'))}(?:/.*)?"


def _tokens(body: str) -> str:
    signs = {"**/": "(?:.*/)?", "?": "[^/]"}
    out = ""
    for token in _TOKEN.findall(body):
        if token in signs:
            out += signs[token]
        elif token[0] == "*":
            out += "[^/]*"
        elif token[0] == "[" and len(token) > 2:
            negated = token[1] in "!^"
            members = token[2 if negated else 1 : -1]
            out += f"[{'^/' if negated else ''}{re.escape(members).replace(chr(92) + '-', '-')}]"
        else:
            out += re.escape(token[-1] if token[0] == "\\" else token)
    return out
