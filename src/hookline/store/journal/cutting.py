"""Long texts made short without leaving half a secret at the cut.

Half a token is no token to any rule, so a text is never cut and then redacted: more than is kept is
redacted, and what lies before the cut by less than the length of a secret goes as well.
"""

import re
from typing import Any

import msgspec
from msgspec import Raw

from hookline.secrets import redact, redact_bytes

__all__ = ["Censor", "closed", "shortened"]

MARGIN = 16_384
"""Longer than any secret is: a private key of 8192 bits in PEM has 6,500 characters."""

_MOST_ITEMS = 200
_BRACKET = re.compile(rb"[][{}]")
_STRING = re.compile(rb'"[^"]*"')


class Censor:
    """Redacts and cuts the pieces of one entry, and keeps count of it."""

    def __init__(self) -> None:
        self.redactions = 0
        self.cut = False

    def raw(self, raw: bytes, cap: int) -> bytes:
        """At most about ``cap`` bytes without secrets; what was JSON stays JSON."""
        if not raw:
            return raw
        found = redact_bytes(raw[: cap + MARGIN])
        self.redactions += found.count
        if len(raw) <= cap:
            return found.raw
        self.cut = True
        kept = found.raw if len(raw) <= cap + MARGIN else found.raw[:-MARGIN]
        return closed(kept[:cap])

    def text(self, text: str, cap: int) -> str:
        """The same for a text."""
        if not text:
            return text
        found = redact(text[: cap + MARGIN])
        self.redactions += found.count
        if len(text) <= cap:
            return found.text
        self.cut = True
        kept = found.text if len(text) <= cap + MARGIN else found.text[:-MARGIN]
        return kept[:cap]

    def data(self, encoded: bytes, cap: int, text_cap: int) -> bytes:
        """The same for a JSON object; when it has more than ``cap``, each of its texts is cut."""
        if len(encoded) <= cap:
            found = redact_bytes(encoded)
            self.redactions += found.count
            return found.raw
        self.cut = True
        less = shortened(msgspec.json.decode(encoded), text_cap + MARGIN)
        found = redact_bytes(msgspec.json.encode(less))
        self.redactions += found.count
        short = shortened(msgspec.json.decode(found.raw), text_cap)
        encoded = msgspec.json.encode(short)
        while len(encoded) > 4 * cap and text_cap > 16:
            # Many texts rather than long ones.
            text_cap //= 4
            short = shortened(short, text_cap)
            encoded = msgspec.json.encode(short)
        return encoded


def closed(start: bytes) -> bytes:
    """The start of a JSON text, ended so that it can be read again; other bytes as they are."""
    if start[:1] not in {b"{", b"["}:
        return start
    # Without escapes a quote is a quote, which is much faster to look for.
    plain = start.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    blank = _STRING.sub(lambda text: b" " * len(text[0]), plain)
    opened = blank.find(b'"')
    outside = blank if opened < 0 else blank[:opened]
    ends: list[bytes] = []
    if opened >= 0:
        # The string that was cut: as a value, or as a key.
        string = start[:opened] + _whole(start[opened:]) + "…".encode() + b'"'
        ends = [string + _brackets(outside), string + b":null" + _brackets(outside)]
    # Or without whatever follows the last comma: a number may have lost half its digits.
    comma = outside.rfind(b",")
    ends.append(start[:comma] + _brackets(outside[:comma]))
    return next(filter(_is_json, ends), start)


def _whole(text: bytes) -> bytes:
    """Without half a character or half an escape at its end; the longest is \\ud83d\\ude00."""
    text = text.decode("utf-8", "ignore").encode()
    escape = text.rfind(b"\\", max(len(text) - 12, 0))
    while escape > 0 and text[escape - 1 : escape] == b"\\":
        escape -= 1
    return text if escape < 0 else text[:escape]


def _brackets(outside: bytes) -> bytes:
    """What closes all that is open."""
    stack: list[bytes] = []
    for mark in _BRACKET.findall(outside):
        if mark in b"{[":
            stack.append(b"}" if mark == b"{" else b"]")
        elif stack:
            stack.pop()
    return b"".join(reversed(stack))


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=Raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def shortened(value: Any, limit: int) -> Any:
    """The same data with every text at most ``limit`` long, and no more items than are readable."""
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[: limit - 1]}…"
    most = min(_MOST_ITEMS, limit)
    if isinstance(value, dict):
        kept = list(value.items())[:most]
        return {shortened(key, limit): shortened(each, limit) for key, each in kept}
    if isinstance(value, list):
        return [shortened(each, limit) for each in value[:most]]
    return value
