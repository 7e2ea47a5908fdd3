r"""Replaces every secret by ``[redacted:FAMILY]``.

What a person reads and what a program parses are both searched: the text as it is, and the text
behind its JSON escapes, as deep as JSON is commonly put into JSON. A text that is JSON stays JSON
with the same shape: only the inside of its strings is replaced, whole escapes at a time.

How much is looked at is bounded, by a count and not by a clock: the same text always gives the same
result. What could not be looked through is withheld, as ``[redacted:unread]``.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hookline.secrets.escapes import Layer, has_escapes
from hookline.secrets.finding import Found, Secret, find, may_hold_secret
from hookline.secrets.payloads import (
    MARKER,
    UNREAD,
    inside_strings,
    is_json,
    string_start,
    strings_withheld,
)

__all__ = ["EFFORT", "Redacted", "RedactedBytes", "redact", "redact_bytes"]

EFFORT = 4_000
"""How many candidates are looked at by default, in about 30 ms; few texts have a tenth of them."""
_DEPTH = 3
"""How many times text is looked behind its escapes: JSON in JSON in JSON."""
_ROUNDS = 4
"""What a replacement lays bare is found by looking again; two rounds are the rule."""


class Redacted(Struct, frozen=True):
    """A text without its secrets."""

    text: str
    count: int = 0
    families: tuple[str, ...] = ()
    looks: int = 0
    """How many candidates were looked at: what it took of the effort."""


class RedactedBytes(Struct, frozen=True):
    """A payload without its secrets."""

    raw: bytes
    count: int = 0
    families: tuple[str, ...] = ()
    looks: int = 0


class _Sight(Struct):
    """What one round saw of a text."""

    secrets: list[Secret]
    """In order, none inside another, all before the end."""
    end: int
    """Where that begins which was not looked through."""
    looks: int
    json: bool = False


def redact(text: str, effort: int = EFFORT) -> Redacted:
    """The text without its secrets; the same object when it has none. Never raises."""
    # Half characters pass through as they are.
    raw = text.encode("utf-8", "surrogatepass")
    if not may_hold_secret(raw):
        return Redacted(text)
    done = _redact(raw, effort)
    if not done.count:
        return Redacted(text, looks=done.looks)
    kept = done.raw.decode("utf-8", "surrogatepass")
    return Redacted(kept, done.count, done.families, done.looks)


def redact_bytes(raw: bytes, effort: int = EFFORT) -> RedactedBytes:
    """The payload without its secrets; the same object when it has none. Never raises."""
    return _redact(raw, effort) if may_hold_secret(raw) else RedactedBytes(raw)


def _redact(raw: bytes, effort: int) -> RedactedBytes:
    """Looks until nothing more is found, so that all that stays was looked at as it stays."""
    count, looks, families = 0, 0, dict[str, None]()
    for left in reversed(range(_ROUNDS)):
        if count and not may_hold_secret(raw):
            break
        # The first round leaves as much to the next, which will see about the same.
        sight = _look(raw, (effort - looks) // (1 if count else 2), last=not left)
        looks += sight.looks
        if not sight.secrets and sight.end == len(raw):
            break
        raw, unread = _replaced(raw, sight)
        count += len(sight.secrets) + unread
        families |= dict.fromkeys(family for _, _, family in sight.secrets)
        if unread:
            families[UNREAD] = None
    return RedactedBytes(raw, count, tuple(families), looks)


def _replaced(raw: bytes, sight: _Sight) -> tuple[bytes, int]:
    """The text without what was seen and what was not; and how many pieces were not."""
    pieces, end = [], 0
    for start, stop, family in sight.secrets:
        pieces += [raw[end:start], b"[redacted:%s]" % family.encode()]
        end = stop
    rest, unread = raw[sight.end :], 0
    if rest:
        rest, unread = strings_withheld(rest) if sight.json else (MARKER, 1)
    return b"".join([*pieces, raw[end : sight.end], rest]), unread


def _look(raw: bytes, looks: int, *, last: bool) -> _Sight:
    """One round over a text as it is and behind its escapes, on equal shares of the looks."""
    if b"\\" not in raw and raw.lstrip()[:1] not in {b"{", b"[", b'"'}:
        return _sight_of_text(raw, find(raw, looks), last=last)
    layers = _layers(raw)
    json = is_json(layers[0].text)
    seen, shares = Found([], len(layers[0].text)), len(layers) + (not json)
    for depth, layer in enumerate(layers):
        found = find(layer.text, (looks - seen.looks) // (shares - depth))
        _add(seen, found, layers[depth:0:-1])
    if json:
        return _sight_of_json(layers[0], seen, last=last)
    both = find(raw, looks - seen.looks)
    _add(both, seen, layers[:1])
    return _sight_of_text(raw, both, last=last)


def _layers(raw: bytes) -> Sequence[Layer]:
    """The text behind its escapes, behind those that are left, and so on."""
    layers = [Layer(raw)]
    while len(layers) < _DEPTH and has_escapes(layers[-1].text):
        layers.append(Layer(layers[-1].text))
    return layers


def _add(seen: Found, found: Found, layers: Iterable[Layer]) -> None:
    """Adds what was found behind some layers, as places before them."""
    seen.looks += found.looks
    for layer in layers:
        found.secrets = [
            (layer.origin(start), layer.origin(end), name) for start, end, name in found.secrets
        ]
        found.end = layer.origin(found.end)
    seen.secrets += found.secrets
    seen.end = min(seen.end, found.end)


def _sight_of_text(raw: bytes, found: Found, *, last: bool) -> _Sight:
    secrets, end = _before_end(list(_merged(found.secrets)), found.end, last=last)
    while 0 < end < len(raw) and raw[end] & 0xC0 == 0x80:
        end -= 1  # no half of a character is left
    return _Sight([secret for secret in secrets if secret[1] <= end], end, found.looks)


def _sight_of_json(outer: Layer, found: Found, *, last: bool) -> _Sight:
    inside = list(inside_strings(outer.text, _merged(found.secrets)))
    secrets, end = _before_end(inside, found.end, last=last)
    end = string_start(outer.text, end)
    origin = outer.origin
    kept = [(origin(start), origin(stop), name) for start, stop, name in secrets if stop <= end]
    return _Sight(kept, origin(end), found.looks, json=True)


def _before_end(secrets: list[Secret], end: int, *, last: bool) -> tuple[list[Secret], int]:
    """The secrets that were found whole; what a last round finds nobody would look at again."""
    if last and secrets:
        end = min(end, secrets[0][0])
    whole = [secret for secret in secrets if secret[1] <= end]
    # Of one that reaches beyond the end, the beginning must not be left.
    return whole, min([end, *(start for start, stop, _ in secrets if stop > end)])


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
