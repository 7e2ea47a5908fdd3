r"""Text as it is behind its JSON escapes, and the way back to where each byte came from.

A secret may stand behind an escape (``\nghp_…``), around one (``ab\/cd``) or be written in them
(``\u0067hp_…``). Searching what the escapes stand for finds all three.
"""

import re
from bisect import bisect_right
from itertools import accumulate

__all__ = ["MARK", "Layer", "has_escapes"]

MARK = b"\x02"
"""A quote mark that is not escaped: where a JSON string begins or ends."""

_ESCAPED_QUOTE = b"\x03"
_OTHER = b"\xff"
# No two ways to match, so the standard library is linear here; it splits much faster than re2's.
_ESCAPE = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))')
_SIGNS = bytes.maketrans(b'"' + _ESCAPED_QUOTE, MARK + b'"')


def has_escapes(text: bytes) -> bool:
    """Whether there is anything behind which to look."""
    return b"\\" in text and _ESCAPE.search(text) is not None


class _Meaning(dict[bytes, bytes]):
    """What escapes stand for; those of ASCII are known, and no others are kept."""

    def __missing__(self, escape: bytes) -> bytes:
        code = int(escape[2:], 16)
        if code < 0x20:
            return b"\n" if code in {0x0A, 0x0D} else b" "
        return bytes((code,)) if code < 0x80 else _OTHER


_MEANING = _Meaning(
    {
        rb"\"": _ESCAPED_QUOTE,
        rb"\u0022": _ESCAPED_QUOTE,
        rb"\\": b"\\",
        rb"\/": b"/",
        rb"\b": b" ",
        rb"\f": b" ",
        rb"\n": b"\n",
        rb"\r": b"\r",
        rb"\t": b"\t",
    }
)
_MEANING.update((code, _MEANING[code]) for code in [b"\\u%04x" % code for code in range(128)])
_MEANING.update((code, _MEANING[code]) for code in [b"\\u%04X" % code for code in range(128)])


class Layer:
    """A text with its escapes replaced by what they stand for, always by one byte."""

    __slots__ = ("_ends", "_length", "_pieces", "text")

    def __init__(self, raw: bytes) -> None:
        self._length = len(raw)
        self._pieces = pieces = _ESCAPE.split(raw)
        self._ends: tuple[list[int], list[int]] | None = None
        plain = [*pieces]
        plain[1::2] = map(_MEANING.__getitem__, pieces[1::2])
        self.text = b"".join(plain).translate(_SIGNS)

    def origin(self, offset: int) -> int:
        """The offset in the text with escapes; never inside one."""
        if offset == len(self.text):
            return self._length
        if self._ends is None:
            self._ends = self._find_ends()
        before, behind = self._ends
        index = bisect_right(behind, offset) - 1
        return before[index] + offset - behind[index]

    def _find_ends(self) -> tuple[list[int], list[int]]:
        """Where escapes end, in both texts: between two of them, offsets differ by a constant."""
        lengths = list(map(len, self._pieces))
        before = [0, *list(accumulate(lengths))[1::2]]
        lengths[1::2] = [1] * (len(lengths) // 2)
        return before, [0, *list(accumulate(lengths))[1::2]]
