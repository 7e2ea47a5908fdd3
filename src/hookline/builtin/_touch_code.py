"""What may be done to a file, and which files the text of a program in another language names."""

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

__all__ = ["INTERPRETERS", "Right", "Use", "code_uses"]


class Right(StrEnum):
    """What is done with a file."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    USE = "use"
    """A program nobody here knows is given it: it may read or change it."""


class Use(Struct, frozen=True):
    """One word that may be a path, and what happens to it."""

    word: str
    right: Right
    deep: bool = False
    """Everything below it as well."""
    sure: bool = True
    inside: bool = False
    """Only when what it lies in is a directory."""
    source: str = ""
    """Where the names come from that stand for the last part of it, when that is a pattern."""


INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|osascript|tclsh|[gmn]?awk|"
    r"Rscript|julia|swift)[\d.]*"
)
_CHANGING = re.compile(
    r"""write|unlink|\brm\w*\(|remove|rmtree|rmdir|rename|replace\(|truncate|chmod|chown|link|copy|move|"""
    r"""shutil|delete|append|create|mkdir|dump\(|File\.(?:new|open)|spawn|exec|system|popen|"""
    r"""subprocess|touch|open\([^)]*,\s*(?:mode\s*=\s*)?['"][^'"]*[wax+]|>|fput|file_put|edit"""
)
_STRING = re.compile(r"""(?s)[rbfu]{0,2}("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`\n]*`)""")
_LONGEST_STRING = 512
_MAX_STRINGS = 200


def code_uses(code: str) -> Iterator[Use]:
    """The strings in a program's text; it changes files when anything in it could."""
    right = Right.WRITE if _CHANGING.search(code) else Right.READ
    strings = [found[1:-1] for found in _STRING.findall(code)[:_MAX_STRINGS]]
    strings = [each for each in strings if 0 < len(each) <= _LONGEST_STRING]
    for each in dict.fromkeys(strings):
        yield Use(each, right, deep="rmtree" in code or "rm_rf" in code or "recursive" in code)
    # Paths are put together from pieces: `Path.home() / ".claude" / "settings.json"`.
    for at in range(len(strings)):
        for size in (2, 3, 4):
            pieces = strings[at : at + size]
            if len(pieces) == size and not any(" " in piece for piece in pieces):
                joined = "/".join(piece.strip("/") for piece in pieces)
                yield Use(joined, right, sure=False)
                yield Use(f"~/{joined}", right, sure=False)
                yield Use("".join(pieces), right, sure=False)
