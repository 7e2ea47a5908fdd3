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
_ESCAPED_BACKSLASH = b"\x04"
_OTHER = b"\xff"
# No two ways to match, so the standard library is linear here; it splits much faster than re2's.
_ESCAPE = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))')
_UNICODE = re.compile(rb"\\u[0-9a-fA-F]{4}")
_SIMPLE = (
    # First, so that what is left of a backslash begins an escape.
    (rb"\\", _ESCAPED_BACKSLASH),
    (rb"\"", _ESCAPED_QUOTE),
    (rb"\n", b"\n"),
    (rb"\t", b"\t"),
    (rb"\/", b"/"),
    (rb"\r", b"\r"),
    (rb"\b", b" "),
    (rb"\f", b" "),
)
_SIGNS = bytes.maketrans(b'"' + _ESCAPED_QUOTE + _ESCAPED_BACKSLASH, MARK + b'"\\')


def has_escapes(text: bytes) -> bool:
    """Whether there is anything behind which to look."""
    return b"\\" in text and _ESCAPE.search(text) is not None


class Layer:
    """A text with its escapes replaced by what they stand for, always by one byte."""

    __slots__ = ("_ends", "_raw", "text")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._ends: tuple[list[int], list[int]] | None = None
        self.text = _behind(raw) if b"\\" in raw else raw.translate(_SIGNS)

    def origin(self, offset: int) -> int:
        """The offset in the text with escapes; never inside one."""
        if offset == len(self.text):
            return len(self._raw)
        if self._ends is None:
            self._ends = self._find_ends()
        before, behind = self._ends
        index = bisect_right(behind, offset) - 1
        return before[index] + offset - behind[index]

    def _find_ends(self) -> tuple[list[int], list[int]]:
        """Where escapes end, in both texts: between two of them, offsets differ by a constant."""
        lengths = list(map(len, _ESCAPE.split(self._raw)))
        before = [0, *list(accumulate(lengths))[1::2]]
        lengths[1::2] = [1] * (len(lengths) // 2)
        return before, [0, *list(accumulate(lengths))[1::2]]


def _behind(raw: bytes) -> bytes:
    for escape, meaning in _SIMPLE:
        raw = raw.replace(escape, meaning)
    if rb"\u" in raw:
        raw = _UNICODE.sub(lambda escape: _MEANING[escape[0]], raw)
    return raw.translate(_SIGNS)


class _Meaning(dict[bytes, bytes]):
    """What an escape with a number stands for; those of ASCII are known, and no others are kept."""

    def __missing__(self, escape: bytes) -> bytes:
        code = int(escape[2:], 16)
        if code == 0x22:
            return _ESCAPED_QUOTE
        if code == 0x5C:
            return _ESCAPED_BACKSLASH
        if code < 0x20:
            return b"\n" if code in {0x0A, 0x0D} else b" "
        return bytes((code,)) if code < 0x80 else _OTHER


_MEANING = _Meaning()
_MEANING.update((escape, _MEANING[escape]) for escape in (b"\\u%04x" % code for code in range(128)))
