"""Globs: over a whole text, where ``*`` crosses anything, and over paths, gitignore-like.

Knows text only, nothing of events or files. Every test runs in linear time.
"""

import re
from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial
from operator import eq
from typing import TypeAlias

from hookline.config.regexes import LinearRegex
from hookline.config.sight import Spot
from hookline.model.errors import IllegalValueError

__all__ = [
    "PathTest",
    "TextTest",
    "is_glob",
    "path_glob",
    "text_glob",
    "text_regex",
]

TextTest: TypeAlias = Callable[[str], bool]
PathTest: TypeAlias = Callable[[Spot], bool]


def is_glob(source: str) -> bool:
    """Whether a glob can match anything but itself."""
    return any(kind is not _Kind.LITERAL for kind, _ in _tokens(source))


class _Kind(Enum):
    LITERAL = auto()
    STAR = auto()
    ONE = auto()
    CLASS = auto()


_PLAIN = re.compile(r"[^*?\[\\]+")
_Tokens: TypeAlias = Sequence[tuple[_Kind, str]]


def _tokens(glob: str) -> _Tokens:
    """The glob's parts; a class comes as the inside of a regex class."""
    if not glob:
        raise IllegalValueError("a pattern cannot be empty")
    tokens: list[tuple[_Kind, str]] = []
    at = 0
    while at < len(glob):
        run = _PLAIN.match(glob, at)
        if run is not None:
            tokens.append((_Kind.LITERAL, run[0]))
            at = run.end()
            continue
        char = glob[at]
        at += 1
        if char == "*":
            tokens.append((_Kind.STAR, "*"))
        elif char == "?":
            tokens.append((_Kind.ONE, "?"))
        elif char == "[" and (end := _class_end(glob, at)):
            tokens.append((_Kind.CLASS, _class(glob[at:end])))
            at = end + 1
        elif char == "[":
            tokens.append((_Kind.LITERAL, "["))
        elif at == len(glob):
            raise IllegalValueError(f"`{glob}` ends in a backslash; write `\\\\` for one")
        else:
            tokens.append((_Kind.LITERAL, glob[at]))
            at += 1
    return tokens


def _class_end(glob: str, start: int) -> int:
    """Where the class that starts here is closed; 0 when it is not, and `[` means itself."""
    first = start + (glob[start : start + 1] in {"!", "^"})
    # A `]` right at the start is a member.
    return max(glob.find("]", first + 1), 0)


def _class(inside: str) -> str:
    negated = inside[0] in "!^"
    members = inside[1:] if negated else inside
    if "[:" in members:
        raise IllegalValueError(f"`[{inside}]`: named classes are not supported; write `[a-z]`")
    out = ["^"] if negated else []
    at = 0
    while at < len(members):
        low = high = members[at]
        at += 1
        if members[at : at + 1] == "-" and at + 1 < len(members):
            high = members[at + 1]
            at += 2
            if high < low:
                raise IllegalValueError(f"`[{inside}]`: the range `{low}-{high}` is empty")
        out.append(f"{_escaped(low)}-{_escaped(high)}")
    return "".join(out)


def _escaped(char: str) -> str:
    if "\ud800" <= char <= "\udfff":
        raise IllegalValueError("a pattern with wildcards cannot hold half a character")
    return f"\\x{{{ord(char):x}}}"


def _literal(tokens: _Tokens) -> str:
    return "".join(text for _, text in tokens)


def _regex_of(tokens: _Tokens, *, star: str, one: str, outside: str = "") -> str:
    regex = ""
    for kind, text in tokens:
        match kind:
            case _Kind.LITERAL:
                regex += "".join(map(_escaped, text))
            case _Kind.STAR:
                regex += star
            case _Kind.ONE:
                regex += one
            case _Kind.CLASS:
                regex += f"[{text}{outside if text[0] == '^' else ''}]"
    return regex


def text_glob(source: str) -> str | TextTest:
    """A test of the whole text, or the one text that it matches. Raises IllegalValueError."""
    tokens = _tokens(source)
    kinds = [kind for kind, _ in tokens]
    if _Kind.ONE in kinds or _Kind.CLASS in kinds:
        return LinearRegex(text_regex(source))
    return _Chunks(tokens) if _Kind.STAR in kinds else _literal(tokens)


def text_regex(source: str) -> str:
    """A glob over a whole text as a regex for re2. Raises IllegalValueError."""
    return rf"(?s)\A{_regex_of(_tokens(source), star='.*', one='.')}\z"


class _Chunks:
    """A glob with no wildcard but ``*``: its fixed parts, found one after the other."""

    __slots__ = ("head", "middle", "shortest", "tail")

    def __init__(self, tokens: _Tokens) -> None:
        chunks = [""]
        for kind, text in tokens:
            if kind is _Kind.STAR:
                chunks.append("")
            else:
                chunks[-1] += text
        self.head, *middle, self.tail = chunks
        self.middle = tuple(filter(None, middle))
        self.shortest = sum(map(len, chunks))

    def __call__(self, text: str) -> bool:
        if len(text) < self.shortest or not (
            text.startswith(self.head) and text.endswith(self.tail)
        ):
            return False
        at, end = len(self.head), len(text) - len(self.tail)
        for chunk in self.middle:
            found = text.find(chunk, at, end)
            if found < 0:
                return False
            at = found + len(chunk)
        return True


def path_glob(glob: str, *, below: bool = False) -> PathTest:
    """A test of one spot.

    Without a slash the glob is about the last name, at any depth. With one it counts from the
    project directory; after a leading ``/`` from the root, after ``~/`` from the home directory.
    ``dir/`` and ``dir/**`` are the directory and everything below, because acting on it acts on
    all of that. With ``below`` any glob is also about everything below what it names, as in a
    .gitignore. Raises IllegalValueError.
    """
    if not glob:
        raise IllegalValueError("a pattern cannot be empty")
    if glob.startswith("!"):
        raise IllegalValueError(f"`{glob}`: a path is left out with `except:`, not with `!`")
    if "," in glob.partition("{")[2].partition("}")[0] and "\\{" not in glob:
        raise IllegalValueError(f"`{glob}`: braces are not expanded; write a list of patterns")
    if glob == "~" or glob.startswith("~/"):
        at_home = _path_test(_segments(glob[1:]), below=below)
        return lambda spot: any(map(at_home, spot.home))
    segments = _segments(glob)
    if glob.startswith("/"):
        at_root = _path_test(segments, below=below)
        return lambda spot: spot.whole.startswith("/") and at_root(spot.whole[1:])
    if "/" not in (bare := glob.rstrip("/")) and bare != ".":
        segments = _without_repeats(["**", *segments])
    if segments[:1] != ["**"]:
        in_project = _path_test(segments, below=below)
        return lambda spot: any(map(in_project, spot.project))
    anywhere = _anywhere(segments)
    if not below or segments[-1] == "**":
        return anywhere
    inside = _inside(segments)
    # Of a path in the project only what lies there counts: a project may live in `~/src/build`.
    return lambda spot: (
        anywhere(spot) or any(map(inside, spot.project or (spot.whole.lstrip("/"),)))
    )


def _anywhere(segments: list[str]) -> PathTest:
    """A test that starts with ``**``."""
    if len(segments) == 2:
        found = text_glob(segments[1])
        name = partial(eq, found) if isinstance(found, str) else found
        return lambda spot: name(spot.whole.rpartition("/")[2])
    anywhere = _path_test(segments)
    return lambda spot: anywhere(spot.whole.lstrip("/"))


def _inside(segments: list[str]) -> TextTest:
    """As ``_anywhere``, of a relative path and with everything below what is named."""
    if len(segments) > 2:
        return _path_test(segments, below=True)
    name = text_glob(segments[1])
    if isinstance(name, str):
        return lambda path: f"/{name}/" in f"/{path}/"
    return lambda path: any(map(name, path.split("/")))


def _segments(glob: str) -> list[str]:
    segments = [name for name in glob.split("/") if name not in {"", "."}]
    if ".." in segments:
        raise IllegalValueError(f"`{glob}`: paths are resolved first, so `..` would never match")
    return _without_repeats([*segments, "**"] if glob.endswith("/") else segments)


def _without_repeats(segments: list[str]) -> list[str]:
    return [
        name for at, name in enumerate(segments) if name != "**" or segments[at - 1 : at] != ["**"]
    ]


def _path_test(segments: list[str], *, below: bool = False) -> TextTest:
    """A test of a relative path against names, in which ``**`` is any number of directories."""
    if segments[-1:] == ["**"]:
        segments, below = segments[:-1], True
    names = [_tokens(name) for name in segments]
    if all(kind is _Kind.LITERAL for tokens in names for kind, _ in tokens):
        path = "/".join(map(_literal, names))
        inside = f"{path}/" if path else ""
        return lambda text: text == path or (below and text.startswith(inside))
    regex = ""
    for name, tokens in zip(segments, names, strict=True):
        if name == "**":
            regex += "(?:.*/)?"
        else:
            regex += _regex_of(tokens, star="[^/]*", one="[^/]", outside="/") + "/"
    regex = regex.removesuffix("/") + ("(?:/.*)?" if below else "")
    return LinearRegex(rf"(?s)\A{regex}\z")
