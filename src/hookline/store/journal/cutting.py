"""Long texts made short without leaving half a secret at the cut.

Half a token is no token to any rule, so a text is never cut and then redacted: more than is kept is
redacted, by the length of a secret, and of that only what comes from before the cut is kept.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from hookline.secrets import redact as redact_secrets
from hookline.secrets import redact_bytes as find_secrets

__all__ = ["Censor", "close_json", "shorten"]

T = TypeVar("T", str, bytes)

MARGIN = 16_384
"""Longer than any secret is: a private key of 8192 bits in PEM has 6,500 characters."""

# In JSON, and in JSON that is a text in JSON, too.
_ZEROS = re.compile(rb"\0|\\+u0000")
_MOST_ITEMS = 200
_ROUNDS = 4
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
_CLOSING = bytes.maketrans(b"[{", b"]}")


class Censor:
    """Redacts and cuts the pieces of one entry, and keeps count of it."""

    def __init__(self) -> None:
        self.redactions = 0
        self.cut = False

    def redact_bytes(self, raw: bytes, cap: int) -> bytes:
        """At most about ``cap`` bytes without secrets; what was JSON stays JSON."""
        if not raw:
            return raw
        bare, more = None, False
        if _has_zeros(raw[: cap + MARGIN]):
            # There is more to look at than there is to keep.
            head = raw[: 4 * (cap + MARGIN)]
            bare, more = self._remove_zeros(head), len(head) < len(raw)
        if bare is None:
            kept, cut = self._shorten(raw, cap, _redact_bytes)
        else:
            kept, cut = self._shorten(bare, cap, _redact_bytes, more=more)
        return close_json(kept) if cut else kept

    def redact_text(self, text: str, cap: int) -> str:
        """The same for a text."""
        if "\0" in text:
            raw = text.encode("utf-8", "surrogatepass")
            return self.redact_bytes(raw, cap).decode("utf-8", "replace")
        return self._shorten(text, cap, _redact_text)[0] if text else text

    def redact_json(self, encoded: bytes, cap: int, text_cap: int) -> bytes:
        """The same for a JSON object; when it has more than ``cap``, each of its texts is cut."""
        if len(encoded) <= cap:
            return self._redact_whole(encoded)
        self.cut = True
        # Each text by itself first, as none may end with half a secret; then in its place, since
        # the name of a value may tell that it is one.
        less = shorten(msgspec.json.decode(encoded), text_cap, self.redact_text)
        encoded = self._redact_whole(msgspec.json.encode(less))
        while len(encoded) > 4 * cap and text_cap > 16:
            # Many texts rather than long ones.
            text_cap //= 4
            encoded = msgspec.json.encode(shorten(msgspec.json.decode(encoded), text_cap))
        return encoded

    def _redact_whole(self, raw: bytes) -> bytes:
        bare = self._remove_zeros(raw) if _has_zeros(raw) else None
        kept, count = _redact_bytes(raw if bare is None else bare)
        self.redactions += count
        return kept

    def _remove_zeros(self, raw: bytes) -> bytes | None:
        """Without its zeros, where these hide a secret; None where they do not.

        So is UTF-16 written, as PowerShell does, and no rule knows a token with zeros in it. Where
        they stand between tokens it takes them to know these, so both ways are looked at.
        """
        kept, count = _redact_bytes(raw)
        bare = _ZEROS.sub(b"", kept)
        if not find_secrets(bare).count:
            return None
        self.redactions += count
        return bare

    def _shorten(
        self, text: T, cap: int, redact: Callable[[T], tuple[T, int]], *, more: bool = False
    ) -> tuple[T, bool]:
        """At most ``cap`` of it, and whether it was cut; ``more`` was there behind it before."""
        if more:
            cap = min(cap, max(len(text) - MARGIN, 0))
        kept, count = redact(text[: cap + MARGIN])
        self.redactions += count
        if len(text) <= cap:
            return kept, False
        self.cut = True
        if count and (more or len(text) > cap + MARGIN):
            # Secrets and what stands for them differ in length. What comes out for the part before
            # the cut alone tells where that is; from a secret on that is cut, it is something else.
            kept = _common_start(kept, redact(text[:cap])[0])
        return kept[:cap], True


def _has_zeros(raw: bytes) -> bool:
    return b"\0" in raw or b"u0000" in raw


def _redact_text(text: str) -> tuple[str, int]:
    found = redact_secrets(text)
    return found.text, found.count


def _redact_bytes(raw: bytes) -> tuple[bytes, int]:
    found = find_secrets(raw)
    return found.raw, found.count


def _common_start(one: T, other: T) -> T:
    """As far as the two are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return one[:low]


def close_json(start: bytes) -> bytes:
    """The start of a JSON text, ended so that it can be read again; other bytes as they are."""
    if start[:1] not in {b"{", b"["}:
        return start
    return next(filter(_is_json, _try_endings(start)), start)


def _try_endings(start: bytes) -> Iterator[bytes]:
    # Without escapes a quote is a quote.
    plain = start.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    end = len(plain)
    if plain.count(b'"') % 2:
        # The string that was cut: as a value, or as a key.
        end = plain.rfind(b'"')
        string = start[:end] + _drop_half_character(start[end:]) + "…".encode() + b'"'
        brackets = _close_brackets(plain[:end])
        yield string + brackets
        yield string + b":null" + brackets
    # Or without whatever follows the last comma: a number may have lost half its digits.
    comma = _last_comma(plain, end)
    if comma >= 0:
        yield start[:comma] + _close_brackets(plain[:comma])


def _last_comma(plain: bytes, end: int) -> int:
    """Where the last comma is outside of strings; -1 when there is none. So is the end."""
    while (comma := plain.rfind(b",", 0, end)) >= 0:
        if plain.count(b'"', comma, end) % 2 == 0:
            break
        end = plain.rfind(b'"', 0, comma)
    return comma


def _drop_half_character(text: bytes) -> bytes:
    """Without half a character or half an escape at its end; the longest is \\ud83d\\ude00."""
    text = text.decode("utf-8", "ignore").encode()
    escape = text.rfind(b"\\", max(len(text) - 12, 0))
    while escape > 0 and text[escape - 1 : escape] == b"\\":
        escape -= 1
    return text if escape < 0 else text[:escape]


def _close_brackets(plain: bytes) -> bytes:
    """What closes all that is open in a text that ends outside of strings."""
    # With nothing between them two quotes change nothing for what comes before and after.
    marks = plain.translate(None, _OTHERS).replace(b'""', b"")
    marks = b"".join(marks.split(b'"')[::2])
    # Most are closed soon after they were opened. A few rounds only: depth is not to be squared.
    for _ in range(_ROUNDS):
        marks = marks.replace(b"{}", b"").replace(b"[]", b"")
    stack = bytearray()
    for mark in marks:
        if mark in b"{[":
            stack.append(mark)
        elif stack:
            stack.pop()
    stack.reverse()
    return bytes(stack).translate(_CLOSING)


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=Raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def _cut(text: str, limit: int) -> str:
    return text[:limit]


def shorten(value: Any, limit: int, start: Callable[[str, int], str] = _cut) -> Any:
    """The same data with every text at most ``limit`` long, and no more items than are readable.

    ``start`` says what is kept of a text that is longer.
    """
    if isinstance(value, str):
        return value if len(value) <= limit else f"{start(value, limit - 1)}…"
    most = min(_MOST_ITEMS, limit)
    if isinstance(value, dict):
        kept = list(value.items())[:most]
        return {shorten(key, limit, start): shorten(each, limit, start) for key, each in kept}
    if isinstance(value, list):
        return [shorten(each, limit, start) for each in value[:most]]
    return value
