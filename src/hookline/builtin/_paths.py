"""Which protected paths a path is one of: patterns, tried on every spelling of it."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from hookline.builtin._links import Links, resolved, spellings
from hookline.model.ports import Caller

__all__ = [
    "END",
    "Anywhere",
    "Globs",
    "Names",
    "Places",
    "Roots",
    "given_homes",
    "homes",
    "normal",
    "spelled",
]

_LONGEST = 4096


class Globs:
    """Many patterns as one test, and the pattern that a path was found by."""

    __slots__ = ("_each", "_one")

    def __init__(self, globs: Iterable[str]) -> None:
        """Raises ValueError for one that is no pattern."""
        sources = {glob: regex(glob) for glob in globs}
        self._one = _compiled("|".join(sources.values())) if sources else None
        self._each = sources

    def matches(self, forms: str) -> bool:
        """Whether one of these spellings of a path is protected by any pattern."""
        return self._one is not None and self._one.search(forms) is not None

    def found(self, forms: str) -> str | None:
        """The first pattern that one of these spellings of a path matches."""
        if not self.matches(forms):
            return None
        each = (form + END for form in forms.split(END)[:-1])
        first = next(filter(self.matches, each))
        return next(glob for glob, regex in self._each.items() if _compiled(regex).search(first))


class Anywhere:
    """Whether patterns could match, wherever home and the project are: a no costs no look there."""

    __slots__ = ("_one",)

    def __init__(self, globs: Iterable[str]) -> None:
        """Raises ValueError for one that is no pattern."""
        sources = dict.fromkeys(map(_regex_anywhere, globs))
        self._one = _compiled("|".join(sources)) if sources else None

    def may_match(self, places: str) -> bool:
        """Whether one of these places, as `spelled` has them, could be protected by a pattern."""
        return self._one is not None and self._one.search(places) is not None


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


class Roots:
    """The directories that patterns count from; few events need a look at where they are."""

    def __init__(
        self,
        projects: Iterable[str] = (),
        homes: Iterable[str] = (),
        look: Callable[[str], str] = resolved,
    ) -> None:
        """As they are written, and what follows their links."""
        self._given = projects, homes
        self._look = look

    @cached_property
    def projects(self) -> tuple[str, ...]:
        """The project's, as they are written and as they resolve."""
        return spellings(self._given[0], self._look)

    @cached_property
    def homes(self) -> tuple[str, ...]:
        """The person's, likewise."""
        return spellings(self._given[1], self._look)


class Places(Struct, frozen=True):
    """What paths are relative to: for people, and for the patterns."""

    bases: tuple[str, ...]
    """Directories that a relative path may start from; most often one."""
    roots: Roots = field(default_factory=Roots)
    links: Links = field(default_factory=Links)

    @property
    def projects(self) -> tuple[str, ...]:
        """Directories of the project."""
        return self.roots.projects

    @property
    def homes(self) -> tuple[str, ...]:
        """Directories of the person."""
        return self.roots.homes

    def from_bases(self, bases: tuple[str, ...]) -> "Places":
        """The same with other directories to start from."""
        return self if not bases or bases == self.bases else replace(self, bases=bases)

    def absolute(self, path: str) -> list[str]:
        """Every place that a path may mean, links unfollowed."""
        if path.startswith("/"):
            return [path]
        if path == "~" or path.startswith("~/"):
            return [home + path[1:] for home in self.homes]
        if path.startswith("~"):
            return [home for home in [os.path.expanduser(path)] if home.startswith("/")]
        return [f"{base}/{path}" if base[-1:] != "/" else base + path for base in self.bases]

    def spots(self, path: str) -> list[str]:
        """Those places tidied, and what they are once all links are followed.

        None of what is no path, which says nothing about what a tool makes of it.
        """
        if "\0" in path:
            return []
        meant = self.absolute(path)
        if len(path) > _LONGEST:
            # The system takes none that long, but a tool may tidy it before it asks the system.
            tidy = [normal(each) for each in meant or [path]]
            if max(map(len, tidy)) > _LONGEST:
                return []
            meant = meant and tidy
        if not meant:
            return [normal(path)]  # its name counts even where nobody knows the directory
        found = dict.fromkeys(map(normal, meant))
        followed = self.links.followed
        for each in meant:
            found[followed(each)] = None
            # `link/..` is another place for the kernel than for a program that tidies it first.
            if ".." in each:
                found[followed(normal(each))] = None
        found.pop("", None)
        return list(found)

    def forms(self, spot: str) -> str:
        """A place as patterns write it, from the root, the project and home, each with its END."""
        forms = spelled(spot + END)
        spot = forms[:-1]
        if not spot.startswith("/"):
            forms += f"./{spot}{END}"
        for root in self.projects:
            if spot.startswith(root):
                forms += _below(spot, root, ".")
        for root in self.homes:
            if spot.startswith(root):
                forms += _below(spot, root, "~")
        return forms


def homes(caller: Caller) -> tuple[str, ...]:
    """The person's home directories, as they are written and as they resolve."""
    return spellings(given_homes(caller))


def given_homes(caller: Caller) -> tuple[str, ...]:
    """The same as they are written only."""
    # A repository may set an agent's variables, and must not move `~/.ssh` that way.
    return caller.env.get("HOME", ""), _account_home()


def spelled(places: str) -> str:
    """A text of places, each with its END, as patterns are tried on it."""
    if places.isascii():
        return places
    # Half a character is no text to a regex.
    return unicodedata.normalize("NFC", places).encode("utf-8", "replace").decode()


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


def _below(spot: str, root: str, sign: str) -> str:
    """A place below a directory, with a sign for that; empty where it only begins the same."""
    rest = spot[len(root.rstrip("/")) :]
    return f"{sign}{rest}{END}" if rest.startswith("/") else ""


@cache
def _compiled_names(source: str, *, any_case: bool) -> Any:
    import re2

    return re2.compile(f"(?{'i' if any_case else ''}s)(?:{source})")


# Patterns are globs as in `match: path:`. One without a slash is about a name at any depth; with
# one it counts from the project, after `/` from the root, after `~/` from home, and whatever it
# names includes everything below. Case does not count: on many file systems it does not, and none
# needs two names that differ in it alone.
END = "\0"
"""Behind each spelling of a path in a text of several; no path has it in it."""
_STOP = r"\x00"
_ANY = f"[^{_STOP}]*"
_BELOW = f"(?:/{_ANY})?"
_TOKEN = re.compile(r"\*\*/|\*+|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)
# Without their stars, the names in patterns that match one sign.
_SIGNS = frozenset({"", "?", ".", "~"})


@lru_cache(1024)
def _compiled(source: str) -> Any:
    """What searches a text of spellings for one that a regex matches as a whole."""
    import re2  # in time that grows with the path alone, whatever the pattern is

    return re2.compile(f"(?is)(?:^|{_STOP})(?:{source}){_STOP}")


def regex(glob: str) -> str:
    """The pattern as a regex over the forms of a place."""
    root, body = _read(glob)
    if root == "/":
        return f"/{_tokens(body)}{_BELOW}" if body else f"/{_ANY}"
    if root == "~":
        return f"~/{_tokens(body)}{_BELOW}" if body else f"~{_BELOW}"
    return rf"\./{_tokens(body)}{_BELOW}" if root else _at_any_depth(body)


def _regex_anywhere(glob: str) -> str:
    """A regex over places as they are: it finds each of which any form matches the pattern."""
    root, body = _read(glob)
    if root == "/":
        return regex(glob)
    # Forms write `.` or `~` for a directory: what these could match by that may be any place.
    first = body.partition("/")[0]
    odd = not root and ("[" in first or "\\" in first or first.replace("*", "") in _SIGNS)
    return _ANY if odd or not body else _at_any_depth(body)


def _at_any_depth(body: str) -> str:
    return f"(?:{_ANY}/)?{_tokens(body)}{_BELOW}"


def _read(glob: str) -> tuple[str, str]:
    """Where a pattern counts from, `/`, `~`, `.` or empty for anywhere, and the names from there.

    Raises ValueError for one that is no pattern.
    """
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
        return "/", body
    if names[:1] == ["~"]:
        return "~", "/".join(names[1:])
    if "/" in glob.rstrip("/") and names[:1] != ["**"]:
        return ".", body
    return "", body.removeprefix("**/")


@lru_cache(1024)
def _tokens(body: str) -> str:
    signs = {"**/": f"(?:{_ANY}/)?", "?": f"[^/{_STOP}]"}
    out = ""
    for token in _TOKEN.findall(body):
        if token in signs:
            out += signs[token]
        elif token[0] == "*":
            out += f"[^/{_STOP}]*"
        elif token[0] == "[" and len(token) > 2:
            negated = token[1] in "!^"
            members = token[2 if negated else 1 : -1]
            not_in = f"^/{_STOP}" if negated else ""
            out += f"[{not_in}{re.escape(members).replace(chr(92) + '-', '-')}]"
        else:
            out += re.escape(token[-1] if token[0] == "\\" else token)
    return out
