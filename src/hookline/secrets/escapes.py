r"""Text as it is behind its JSON escapes, and the way back to where each byte came from.

A secret may stand behind an escape (``\nghp_…``), around one (``ab\/cd``) or be written in them
(``\u0067hp_…``). Searching what the escapes stand for finds all three.
"""

import re
from bisect import bisect_right
from itertools import accumulate

__all__ = ["MARK", "Layer"]

MARK = b"\x02"
"""A quote mark that is not escaped: where a JSON string begins or ends."""

_ESCAPED_QUOTE = b"\x03"
_OTHER = b"\xff"
# No two ways to match, so the standard library is linear here; it splits much faster than re2's.
_ESCAPE = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))')
_MEANING = {
    rb"\"": _ESCAPED_QUOTE,
    rb"\\": b"\\",
    rb"\/": b"/",
    rb"\b": b" ",
    rb"\f": b" ",
    rb"\n": b"\n",
    rb"\r": b"\r",
    rb"\t": b"\t",
}
_QUOTES = bytes.maketrans(b'"' + _ESCAPED_QUOTE, MARK + b'"')


class Layer:
    """A text with its escapes replaced by what they stand for, always by one byte."""

    __slots__ = ("_ends", "_pieces", "text")

    def __init__(self, raw: bytes) -> None:
        self._pieces = pieces = _ESCAPE.split(raw)
        self._ends: tuple[list[int], list[int]] | None = None
        plain = [*pieces]
        plain[1::2] = [_MEANING.get(piece) or _unicode(piece) for piece in pieces[1::2]]
        self.text = b"".join(plain).translate(_QUOTES)

    def origin(self, offset: int) -> int:
        """The offset in the text with escapes; never inside one."""
        if self._ends is None:
            self._ends = self._find_ends()
        before, behind = self._ends
        index = bisect_right(behind, offset) - 1
        return before[index] + offset - behind[index]

    def _find_ends(self) -> tuple[list[int], list[int]]:
        """Where escapes end, in both texts: between two of them, offsets differ by a constant."""
        before = [0, *list(accumulate(map(len, self._pieces)))[1::2]]
        # Each escape is one byte; only its length is lost.
        lost = accumulate(len(piece) - 1 for piece in self._pieces[1::2])
        return before, [0, *(end - gone for end, gone in zip(before[1:], lost, strict=True))]


def _unicode(escape: bytes) -> bytes:
    code = int(escape[2:], 16)
    if code == 0x22:
        return _ESCAPED_QUOTE
    if code < 0x20:
        return b"\n" if code in {0x0A, 0x0D} else b" "
    return bytes((code,)) if code < 0x80 else _OTHER
