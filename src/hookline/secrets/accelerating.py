"""The first look with hyperscan, where it is installed: the same hints in a fraction of the time.

It is asked where hints end, and searches for the same regexes as re2 does. To compile them takes as
long as several processes take to start, so only who lives long should ask for it; it is done
without holding the interpreter up, so another thread may do it.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["NO_HINTS", "Hints", "compiled"]

_MOST = 2_000
"""No more hints of a kind than these are told of."""

# What is a space to re2; to hyperscan a vertical tab is one more, and a name or a password that
# holds one would end there.
_SPACES = r"\t\n\f\r "


class Hints:
    """Where the hints of a text end, in no order."""

    __slots__ = ("places", "tokens")

    def __init__(self) -> None:
        self.tokens: list[int] = []
        """Those of known families, and whatever may be one."""
        self.places: list[tuple[int, int]] = []
        """Those of places, with the number of the place."""


NO_HINTS = Hints()
"""As most texts have none."""


def compiled(
    far: Sequence[str], tokens: Sequence[str], places: Sequence[str]
) -> Callable[[bytes], Hints | None] | None:
    """The search for hints, as a function; None where hyperscan is not there.

    The function says None when there are too many, when one of those is among them that reach far,
    and when another thread is using the database: then somebody else has to look.
    """
    if find_spec("hyperscan") is None:
        return None
    library: Any = import_module("hyperscan")
    every = [_as_re2_reads(source).encode("ascii") for source in (*far, *tokens, *places)]
    database = library.Database()
    database.compile(
        expressions=every, ids=list(range(len(every))), elements=len(every), flags=[0] * len(every)
    )
    scan, stopped, failed = database.scan, library.ScanTerminated, library.error
    reach, forms = len(far), len(far) + len(tokens)

    def on_match(number: int, start: int, end: int, flags: int, found: Hints) -> bool:
        if number >= forms:
            found.places.append((number - forms, end))
            return len(found.places) > _MOST
        found.tokens.append(end)
        return number < reach or len(found.tokens) > _MOST

    # Most texts leave one as it is, and then it does for the next text, in whatever thread.
    unused: list[Hints] = []

    def hints_in(text: bytes) -> Hints | None:
        try:
            found = unused.pop()
        except IndexError:
            found = Hints()
        try:
            scan(text, match_event_handler=on_match, context=found)
        except (stopped, failed):
            return None
        if found.tokens or found.places:
            return found
        unused.append(found)
        return NO_HINTS

    return hints_in


def _as_re2_reads(source: str) -> str:
    """The regex with every ``\\s`` spelled out."""
    pieces, inside, at = [], False, 0
    while at < len(source):
        piece = source[at : at + 2] if source[at] == "\\" else source[at]
        at += len(piece)
        if piece == r"\s":
            piece = _SPACES if inside else f"[{_SPACES}]"
        inside = piece == "[" or (inside and piece != "]")
        pieces.append(piece)
    return "".join(pieces)
