"""JSON as redaction sees it: where its strings are, and how to withhold them."""

import re
from collections.abc import Iterable, Iterator

from hookline.secrets.escapes import MARK
from hookline.secrets.finding import Secret
from hookline.secrets.hints import first_hint

__all__ = [
    "MARKER",
    "UNREAD",
    "inside_string",
    "inside_strings",
    "is_all_json",
    "is_json",
    "may_be_json",
    "parity",
    "string_start",
    "strings_withheld",
]

UNREAD = "unread"
"""The family of what nobody looked through."""
MARKER = b"[redacted:unread]"

_PAIR = b"\x01\x01"
_OUTSIDE = b"[]{}:, \t\r\n0123456789.eE+-"
"""What numbers and the frame of a JSON text are written in."""
_START = re.compile(rb'\s*+[{\["0-9tfnNI-]')
_STRING = re.compile(rb'"((?:[^"\\]++|\\.)*)"(\s*+:)?', re.DOTALL)
"""A string, and the colon that makes it a key. It ends as the layer behind its escapes has it."""


def may_be_json(raw: bytes) -> bool:
    """Whether it begins like JSON."""
    return _START.match(raw) is not None


def inside_string(start: bytes) -> bool | None:
    """Whether the start of a JSON text ends inside a string; none when it is no start of one."""
    # Without escaped backslashes, and then without escaped quote marks, the others are counted.
    pieces = start.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
    return len(pieces) % 2 == 0 if _is_frame(b"".join(pieces[::2])) else None


def is_json(text: bytes) -> bool:
    """Whether outside of strings is only what JSON has there; of a text behind its escapes.

    A parser would be stricter, and would refuse depth, half characters, ``NaN`` and lines of
    JSON, all of which others read.
    """
    pieces = text.split(MARK)
    return len(pieces) % 2 == 1 and _is_frame(b"".join(pieces[::2]))


def _is_frame(outside: bytes) -> bool:
    outside = outside.translate(None, _OUTSIDE)
    if outside:
        # Without its `e`s, which a number may have, each word is still another.
        for word in (b"tru", b"fals", b"null", b"NaN", b"Infinity"):
            outside = outside.replace(word, b"")
    return not outside


def parity(raw: bytes) -> int:
    """How many quote marks of it are not escaped; the piece of a text begins inside no escape."""
    return raw.replace(rb"\\", b"").replace(rb"\"", b"").count(b'"')


def is_all_json(raw: bytes) -> bool | None:
    """As ``is_json``, of a text as it is written; None when escapes outside of strings decide."""
    pieces = raw.replace(rb"\\", _PAIR).replace(rb"\"", _PAIR).split(b'"')
    outside = b"".join(pieces[::2])
    if b"\\" in outside or _PAIR in outside:
        return None
    return len(pieces) % 2 == 1 and _is_frame(outside)


def inside_strings(text: bytes, secrets: Iterable[Secret], marks: int = 0) -> Iterator[Secret]:
    """Those that are in a string of a JSON text, cut where it ends; so many marks are before it."""
    seen = 0
    for start, end, name in secrets:
        marks += text.count(MARK, seen, start)
        seen = start
        cut = text.find(MARK, start, end)
        if marks % 2 and cut != start:
            yield start, cut if cut >= 0 else end, name


def string_start(text: bytes, offset: int) -> int:
    """The start of the string that the offset is in, or the offset when it is in none."""
    return text.rfind(MARK, 0, offset) if text.count(MARK, 0, offset) % 2 else offset


def strings_withheld(rest: bytes, marker: bytes) -> tuple[bytes, int]:
    """The rest of a JSON text, none of its strings, and how many were withheld.

    Its keys stay when one look at them all finds nothing that might be a secret.
    """
    keys = [match[1] for match in _STRING.finditer(rest) if match[2] is not None]
    keep_keys = first_hint(b"\n".join(keys)) < 0
    count = 0

    def withhold(match: re.Match[bytes]) -> bytes:
        nonlocal count
        inside, colon = match.groups()
        if inside in {b"", marker} or (colon is not None and keep_keys):
            return match[0]
        count += 1
        return b'"%s"%s' % (marker, colon or b"")

    return _STRING.sub(withhold, rest), count
