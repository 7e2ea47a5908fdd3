"""What may be done to a file, and which files the text of a program in another language names."""

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice, pairwise

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
    made: bool = False
    """An empty directory is made there, and nothing else happens to it."""


INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|osascript|tclsh|[gmn]?awk|"
    r"Rscript|julia|swift)[\d.]*"
)
_CHANGING = re.compile(
    r"""write|unlink|\brm\w*\(|remove|rmtree|rmdir|rename|replace\(|truncate|chmod|chown|link|copy|move|"""
    r"""shutil|FileUtils|delete|append|create|mkdir|dump\(|File\.(?:new|open)|spawn|exec|system|popen|"""
    r"""subprocess|touch|open\([^)]*,\s*(?:mode\s*=\s*)?['"][^'"]*[wax+]|>|fput|file_put|edit|"""
    r"""extract|unpack|retrieve|download|save|\bcp\w*\(|\bmv\w*\(|\.to_\w+\("""
)
_STRING = re.compile(r"""(?s)[rbfu]{0,2}("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`\n]*`)""")
_LONGEST_STRING = 512
_MAX_STRINGS = 200


def code_uses(code: str) -> Iterator[Use]:
    """The strings in a program's text; it changes files when anything in it could."""
    right = Right.WRITE if _CHANGING.search(code) else Right.READ
    found = list(islice(_STRING.finditer(code), _MAX_STRINGS))
    found = [each for each in found if 0 < len(each[1]) - 2 <= _LONGEST_STRING]
    strings = [each[1][1:-1] for each in found]
    for each in dict.fromkeys(strings):
        yield Use(each, right, deep="rmtree" in code or "rm_rf" in code or "recursive" in code)
    # Paths are put together from pieces: `Path.home() / ".claude" / "settings.json"`.
    for at in range(len(strings)):
        for size in (2, 3, 4):
            pieces = strings[at : at + size]
            if len(pieces) == size and not any(" " in piece for piece in pieces):
                joined = "/".join(piece.strip("/") for piece in pieces)
                # With nothing but slashes between them, they are one path for certain.
                between = (code[a.end() : b.start()] for a, b in pairwise(found[at : at + size]))
                sure = all(gap.strip() == "/" for gap in between)
                yield Use(joined, right, sure=sure)
                yield Use(f"~/{joined}", right, sure=sure)
                yield Use("".join(pieces), right, sure=False)
