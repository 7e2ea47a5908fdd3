"""A round over a long text that looks only near its hints, where that tells as much as all would.

What is cut out around the hints is looked at as one text. A secret ends where its word or its value
does, so what is found here is what would be found there; where a word or a gap is so long that it
could reach out of its piece, nothing is said and all of the text has to be looked at.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from string import ascii_letters

from hookline.secrets.accelerating import Hints
from hookline.secrets.finding import Secret, find
from hookline.secrets.likely import Scope
from hookline.secrets.looking import Sight, boundary, look_at_strings, look_at_text, merged
from hookline.secrets.payloads import inside_string, is_all_json, may_be_json, parity
from hookline.secrets.places import PLACES

__all__ = ["glance"]

_AROUND = 384
"""How far before and behind the end of a hint all is that says something about it."""
_LONG_WORD = b"w" * 200
_LONG_GAP = b" " * 64
"""What may reach out of a piece: a word that is longer than any value is looked at, and a gap."""
_WORDS = bytes(b"w "[chr(byte) in " \t\n\r\v\f\"'`"] for byte in range(256))
_GAPS = bytes(b"w "[chr(byte) in " \t\n\r\v\f\\nrt"] for byte in range(256))
_APART = b"\n.\n"
"""Between two pieces: nothing goes on over it."""
_SHARE = 16
"""What a look at all would leave to each of its searches, at the least."""

_HEAD = 1_024
_EDGE = 2
"""What ends so near to the end of its piece may go on behind it."""
_LETTERS = ascii_letters.encode()

Piece = tuple[int, int]


def glance(raw: bytes, hints: Hints, looks: int, scope: Scope) -> Sight | None:
    """What a round sees; None when it has to look at all of the text."""
    near = _Glance(raw, hints, looks, scope)
    # What known families look like is only searched for where one has a hint; a name right before
    # one belongs to it.
    tokens, names = sorted(hints.tokens), sorted(_left(raw, hints.places, scope))
    beside = [end for end in names if _is_near(end, tokens)]
    apart = [end for end in names if not _is_near(end, tokens)] if beside else names
    secrets: list[Secret] = []
    for ends in (sorted([*tokens, *beside]), apart):
        seen = near.look(ends, tokens=ends is not apart) if ends else []
        if seen is None:
            return None
        secrets += seen
    # The effort is counted as it would be for all, so it must be nowhere near its end.
    if near.looks > looks // _SHARE:
        return None
    return Sight(list(merged(secrets)), len(raw), near.looks, raw)


class _Way(Enum):
    """How a look at all of a text would read it."""

    PLAIN = 1
    """As it is."""
    ESCAPED = 2
    """As it is, and behind its escapes."""
    UNSURE = 3
    """As one of these or, when all of it is JSON, by its strings: both see all that this does."""


class _Glance:
    """Looks near some places of one text."""

    def __init__(self, raw: bytes, hints: Hints, looks: int, scope: Scope) -> None:
        self._raw = raw
        self._hints = hints
        self._most = looks
        self._scope = scope
        self.looks = 0

    def look(self, ends: Sequence[int], *, tokens: bool) -> list[Secret] | None:
        """What is found near these; None when that cannot be told from there."""
        raw = self._raw
        pieces = list(_pieces(raw, ends))
        text = _APART.join([raw[low:high] for low, high in pieces])
        if _LONG_WORD in text.translate(_WORDS) or _LONG_GAP in text.translate(_GAPS):
            return None
        plain = self._way is _Way.PLAIN
        seen = (find if plain else look_at_text)(text, self._most, self._scope, tokens=tokens)
        self.looks += seen.looks
        if seen.end < len(text):
            return None
        if not seen.secrets or self._way is not _Way.UNSURE:
            return _placed(seen.secrets, pieces)
        if self._is_json:
            return self._in_strings(pieces, tokens=tokens)
        # Before a backslash it would be read both ways, whatever stands before its first hint.
        both = self._is_json is False and raw.find(b"\\", pieces[-1][1]) >= 0
        return _placed(seen.secrets, pieces) if both else None

    @cached_property
    def _way(self) -> _Way:
        raw, hints = self._raw, self._hints
        first = min([*hints.tokens, *(end for _, end in hints.places)])
        if may_be_json(raw):
            # A word that the cut _left in two is none.
            head = raw[: boundary(raw, max(0, min(first - 2 * _AROUND, _HEAD)))].rstrip(_LETTERS)
            if inside_string(head) is not None:
                return _Way.UNSURE
        if b"\\" not in raw:
            return _Way.PLAIN
        return _Way.ESCAPED if raw.find(b"\\", first) >= 0 else _Way.UNSURE

    @cached_property
    def _is_json(self) -> bool | None:
        return is_all_json(self._raw)

    def _in_strings(self, pieces: Sequence[Piece], *, tokens: bool) -> list[Secret] | None:
        """As ``_placed``, of a text that is JSON: only the inside of its strings goes."""
        placed: list[Secret] = []
        marks, at = 0, 0
        for low, high in pieces:
            marks += parity(self._raw[at:low])
            at = low
            piece = self._raw[low:high]
            found = look_at_strings(piece, self._most, self._scope, marks=marks, tokens=tokens)
            if any(end + low >= high - _EDGE for _, end, _ in found):
                return None
            placed += [(start + low, end + low, family) for start, end, family in found]
        return placed


def _is_near(end: int, others: Sequence[int]) -> bool:
    """Whether one of the others, which are in order, is in the same piece."""
    at = bisect_right(others, end - 2 * _AROUND)
    return at < len(others) and others[at] <= end + 2 * _AROUND


def _pieces(raw: bytes, ends: Iterable[int]) -> Iterable[Piece]:
    """The text around each of these places, and what overlaps as one."""
    size, low, high = len(raw), 0, 0
    for end in ends:
        if end - _AROUND > high:
            if high:
                yield low, boundary(raw, high)
            low = boundary(raw, end - _AROUND)
        high = min(size, end + _AROUND)
    if high:
        yield low, boundary(raw, high)


def _placed(secrets: Iterable[Secret], pieces: Sequence[Piece]) -> list[Secret] | None:
    """Where they are in all of the text; None when one may go on behind its piece."""
    starts, at = [], 0
    for low, high in pieces:
        starts.append(at)
        at += high - low + len(_APART)
    placed = []
    for start, end, family in secrets:
        number = bisect_right(starts, start) - 1
        low, high = pieces[number]
        shift = low - starts[number]
        if end + shift >= high - _EDGE:
            return None
        placed.append((start + shift, end + shift, family))
    return placed


# What stands behind the hint of a place, where a glance is enough to see that it is no secret. Most
# names that announce a secret stand in code, before a word, a call, a short text or a bracket. An
# escape may stand for anything, so nothing here reads on behind one.
_SHORT = 5
"""What is no longer is never likely."""
_ENDS = r"(?:[\s;<>&)]|(?:\\+[nrt])++\s)"
"""What ends a value that is not quoted; one that goes on behind an escape is read on there."""
_AGAIN = r"(?![ \t]++=)"
"""No type, behind which the value is still to come: ``token: str = …``."""
_EMPTY = r"''(?!')|\"\"(?!\")"
_VALUE = re.compile(
    r"[:=>]{0,2}+[ \t]*+(?:"
    r"[;|<>,&(){}\[#]"  # no value begins so
    rf"|[bfruBFRU]{{0,2}}(?:{_EMPTY}|'[^'\"`\\\n]{{1,{_SHORT}}}'|\"[^'\"`\\\n]{{1,{_SHORT}}}\")"
    rf"|[^\s\"'`;|<>&)\\]{{1,{_SHORT}}}(?={_ENDS}){_AGAIN}"
    # A word, and a call.
    rf"|[A-Za-z_][A-Za-z_.]{{0,100}}+(?:\(|(?={_ENDS}){_AGAIN}))".encode()
)
_LINE = re.compile(
    rf"[:=>]{{0,2}}+[ \t]*+(?:{_EMPTY}|[^\w\s\"'`\\]{{0,3}}[ \t]*+\r?\n"
    rf"|[^\s\"'`\\][^\r\n\"'`\\]{{0,{_SHORT - 1}}}\r?\n"
    r"|[A-Za-z_][\w.]{0,100}+\([^\n\"'`\\]{0,60}\n)".encode()
)
_DEAD = {"secret": _VALUE, "authorization": _LINE, "cookie": _LINE}
_BY_PLACE = [_DEAD.get(place.name) for place in PLACES]
_URLS = frozenset(number for number, place in enumerate(PLACES) if place.name == "url-password")


def _left(raw: bytes, hints: Sequence[tuple[int, int]], scope: Scope) -> Iterable[int]:
    """The ends of those hints, given with the number of their place, that have to be looked at."""
    if scope is Scope.ALL:
        return [end for _, end in hints]
    if scope is Scope.TOKENS:
        return [end for number, end in hints if number in _URLS]
    return _likely(raw, hints)


def _likely(raw: bytes, hints: Sequence[tuple[int, int]]) -> Iterator[int]:
    for number, end in hints:
        dead = _BY_PLACE[number]
        if dead is None or dead.match(raw, end) is None:
            yield end
