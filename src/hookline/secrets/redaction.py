r"""Replaces every secret by ``[redacted:FAMILY]``.

What a person reads and what a program parses are both searched: the text as it is, and the text
behind its JSON escapes, as deep as JSON is commonly put into JSON. A text that is JSON stays JSON
with the same shape: only the inside of its strings is replaced, whole escapes at a time.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from hookline.secrets.escapes import MARK, Layer
from hookline.secrets.finding import Secret, find, may_hold_secret

__all__ = ["Redacted", "RedactedBytes", "redact", "redact_bytes"]

_DEPTH = 3
"""How many times text is looked behind its escapes: JSON in JSON in JSON."""
_ROUNDS = 8
"""What a replacement lays bare is found by looking again; two rounds are the rule."""
_OUTSIDE = b"[]{}:, \t\r\n0123456789.eE+-"
"""What numbers and the frame of a JSON text are written in."""


class Redacted(Struct, frozen=True):
    """A text without its secrets."""

    text: str
    count: int = 0
    families: tuple[str, ...] = ()


class RedactedBytes(Struct, frozen=True):
    """A payload without its secrets."""

    raw: bytes
    count: int = 0
    families: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """The text without its secrets; the same object when it has none. Never raises."""
    # Half characters pass through as they are.
    raw = text.encode("utf-8", "surrogatepass")
    if not may_hold_secret(raw):
        return Redacted(text)
    done = _redact(raw)
    if not done.count:
        return Redacted(text)
    return Redacted(done.raw.decode("utf-8", "surrogatepass"), done.count, done.families)


def redact_bytes(raw: bytes) -> RedactedBytes:
    """The payload without its secrets; the same object when it has none. Never raises."""
    return _redact(raw) if may_hold_secret(raw) else RedactedBytes(raw)


def _redact(raw: bytes) -> RedactedBytes:
    count, families = 0, dict[str, None]()
    for _ in range(_ROUNDS):
        secrets = list(_secrets(raw))
        if not secrets:
            break
        pieces, end = [], 0
        for start, stop, family in secrets:
            pieces += [raw[end:start], b"[redacted:%s]" % family.encode()]
            end = stop
            families[family] = None
        raw = b"".join([*pieces, raw[end:]])
        count += len(secrets)
    return RedactedBytes(raw, count, tuple(families))


def _secrets(raw: bytes) -> Iterator[Secret]:
    """Every secret of the text in order, none inside another."""
    if b"\\" not in raw and raw.lstrip()[:1] not in {b"{", b"[", b'"'}:
        return _merged(find(raw))
    outer = Layer(raw)
    found = [*find(outer.text), *_behind(outer.text)]
    if _is_json(outer.text):
        inside = list(_inside_strings(outer.text, _merged(found)))
        return ((outer.origin(start), outer.origin(end), name) for start, end, name in inside)
    behind = [(outer.origin(start), outer.origin(end), name) for start, end, name in found]
    return _merged([*find(raw), *behind])


def _is_json(text: bytes) -> bool:
    """Whether outside of strings is only what JSON has there.

    A parser would be stricter, and would refuse depth, half characters, ``NaN`` and lines of
    JSON, all of which others read.
    """
    pieces = text.split(MARK)
    outside = b"".join(pieces[::2])
    for word in (b"true", b"false", b"null", b"NaN", b"Infinity"):
        outside = outside.replace(word, b"")
    return len(pieces) % 2 == 1 and not outside.translate(None, _OUTSIDE)


def _behind(text: bytes, depth: int = _DEPTH - 1) -> list[Secret]:
    """What is found behind the escapes of a text, as places in it."""
    if not depth or b"\\" not in text:
        return []
    layer = Layer(text)
    found = [*find(layer.text), *_behind(layer.text, depth - 1)]
    return [(layer.origin(start), layer.origin(end), name) for start, end, name in found]


def _merged(secrets: Iterable[Secret]) -> Iterator[Secret]:
    """Overlapping ones as one, under the family of the longest; of equals, the first found."""
    start, end, family, longest = -1, -1, "", 0
    for low, high, name in sorted(secrets, key=lambda secret: secret[0]):
        if low >= end:
            if end > start:
                yield start, end, family
            start, end, family, longest = low, high, name, high - low
            continue
        if high - low > longest:
            family, longest = name, high - low
        end = max(end, high)
    if end > start:
        yield start, end, family


def _inside_strings(text: bytes, secrets: Iterable[Secret]) -> Iterator[Secret]:
    """Those that are in a string of a JSON text, cut where it ends."""
    marks, seen = 0, 0
    for start, end, name in secrets:
        marks += text.count(MARK, seen, start)
        seen = start
        cut = text.find(MARK, start, end)
        if marks % 2 and cut != start:
            yield start, cut if cut >= 0 else end, name
