"""One round over a text: as it is and behind its escapes, from where it may hold something.

A part of the text before the first hint is looked at too, since what stands before a candidate
says something about it. When that part begins inside a string of a JSON text, a quote mark is put
before it.
"""

from collections.abc import Iterable, Iterator, Sequence
from string import ascii_letters

from msgspec import Struct

from hookline.secrets.escapes import Layer, has_escapes
from hookline.secrets.finding import Found, Secret, find
from hookline.secrets.likely import Scope
from hookline.secrets.payloads import (
    MARKER,
    inside_string,
    inside_strings,
    is_all_json,
    is_json,
    may_be_json,
    string_start,
    strings_withheld,
)

__all__ = ["Sight", "boundary", "look", "look_at_strings", "look_at_text", "merged"]

_DEPTH = 3
"""How many times text is looked behind its escapes: JSON in JSON in JSON."""
_BEFORE = 512
"""How much before a candidate may matter."""
_HUGE = 8 << 20
"""More is never looked at as a whole, for the memory that it would take."""
_QUOTE = b'"'
_WORD = 8
_LETTERS = ascii_letters.encode()


class Sight(Struct):
    """What a round saw of a text."""

    secrets: list[Secret]
    """In order, none inside another, all before the end."""
    end: int
    """Where that begins which was not looked through."""
    looks: int
    text: bytes
    quiet: bytes = b""
    """What stands before the text, and holds no hint."""
    json: bool = False
    opened: bool = False
    """Whether the quote mark that the text begins with was put there."""

    @property
    def clean(self) -> bool:
        """Whether all was looked through and nothing was found."""
        return not self.secrets and self.end == len(self.text)

    def replaced(self, plain: bytes) -> tuple[bytes, int]:
        """All of it without what was seen and what was not; and how many pieces were not.

        One marker for all when it is given, else each with its family.
        """
        text, pieces, end = self.text, [], 0
        for start, stop, family in self.secrets:
            pieces += [text[end:start], plain or b"[redacted:%s]" % family.encode()]
            end = stop
        rest, unread = text[self.end :], 0
        if rest:
            marker = plain or MARKER
            rest, unread = strings_withheld(rest, marker) if self.json else (marker, 1)
        done = b"".join([*pieces, text[end : self.end], rest])
        return self.quiet + (done[1:] if self.opened else done), unread


def look(raw: bytes, hint: int, looks: int, *, scope: Scope, last: bool) -> Sight:
    """One round; what a last one finds is withheld with all behind it: none looks at it again."""
    low = _before_word(raw, boundary(raw, max(0, hint - _BEFORE)))
    quiet, text = raw[:low], raw[low:]
    if len(text) > _HUGE:
        return _look_at_beginning(raw, quiet, text, looks, scope=scope, last=last)
    inside = inside_string(quiet) if may_be_json(raw) else None
    if inside is not None:
        opened = _QUOTE + text if inside else text
        layers = _layers(opened)
        if is_json(layers[0].text):
            sight = _look_at_json(opened, layers, looks, scope=scope, last=last)
            sight.quiet, sight.opened = quiet, inside
            return sight
    plain = inside is None and b"\\" not in text
    seen = find(text, looks, scope) if plain else look_at_text(text, looks, scope)
    secrets, end = _whole(list(merged(seen.secrets)), seen.end, last=last)
    return Sight(secrets, boundary(text, end), seen.looks, text, quiet)


def _look_at_beginning(
    raw: bytes, quiet: bytes, text: bytes, looks: int, *, scope: Scope, last: bool
) -> Sight:
    """As ``look``, of more than anybody can look at all of: what is behind is withheld."""
    if may_be_json(raw) and is_all_json(raw):
        # It stays JSON, so what is not looked at is every string from here on.
        inside = bool(inside_string(quiet))
        return Sight([], 0, 0, _QUOTE + text if inside else text, quiet, json=True, opened=inside)
    seen = look_at_text(text[: boundary(text, _HUGE)], looks, scope)
    secrets, end = _whole(list(merged(seen.secrets)), min(seen.end, _HUGE - _BEFORE), last=last)
    return Sight(secrets, boundary(text, end), seen.looks, text, quiet)


def look_at_text(text: bytes, looks: int, scope: Scope, *, tokens: bool = True) -> Found:
    """What is found in a text as it is, and behind its escapes and quote marks."""
    layers = _layers(text)
    behind = _find_behind(layers, looks, scope, shares=len(layers) + 1, tokens=tokens)
    seen = find(text, looks - behind.looks, scope, tokens=tokens)
    _add(seen, behind, layers[:1])
    return seen


def look_at_strings(
    piece: bytes, looks: int, scope: Scope, *, marks: int, tokens: bool
) -> list[Secret]:
    """What is found in the strings of a piece of JSON that has so many quote marks before it."""
    layers = _layers(piece)
    outer = layers[0]
    seen = _find_behind(layers, looks, scope, shares=len(layers), tokens=tokens)
    found = inside_strings(outer.text, merged(seen.secrets), marks)
    return [(outer.origin(start), outer.origin(stop), name) for start, stop, name in found]


def _look_at_json(
    text: bytes, layers: Sequence[Layer], looks: int, *, scope: Scope, last: bool
) -> Sight:
    outer = layers[0]
    seen = _find_behind(layers, looks, scope, shares=len(layers))
    inside = list(inside_strings(outer.text, merged(seen.secrets)))
    secrets, end = _whole(inside, seen.end, last=last)
    end = string_start(outer.text, end)
    origin = outer.origin
    kept = [(origin(start), origin(stop), name) for start, stop, name in secrets if stop <= end]
    return Sight(kept, origin(end), seen.looks, text, json=True)


def boundary(text: bytes, offset: int) -> int:
    """The offset, or the one before that is inside no character and no escape."""
    if not 0 < offset < len(text):
        return offset
    while offset and text[offset] & 0xC0 == 0x80:
        offset -= 1
    number = text.rfind(rb"\u", max(0, offset - 5), offset)
    # A backslash before may be escaped by another.
    first = _before_backslashes(text, offset if number < 0 else number + 1)
    return min(offset, first) if number < 0 or first <= number else offset


def _before_word(text: bytes, offset: int) -> int:
    """Where the word begins that ends there, if it may be one of those that JSON has."""
    near = text[max(0, offset - _WORD) : offset]
    left = near.rstrip(_LETTERS)
    return offset - len(near) + len(left) if left or offset < _WORD else offset


def _before_backslashes(text: bytes, offset: int) -> int:
    """Where those begin that end at the offset; the offset when none do."""
    while True:
        near = text[max(0, offset - 64) : offset]
        left = near.rstrip(b"\\")
        offset -= len(near) - len(left)
        if left or not near:
            return offset


def _layers(raw: bytes) -> Sequence[Layer]:
    """The text behind its escapes, behind those that are left, and so on."""
    layers = [Layer(raw)]
    while len(layers) < _DEPTH and has_escapes(layers[-1].text):
        layers.append(Layer(layers[-1].text))
    return layers


def _find_behind(
    layers: Sequence[Layer], looks: int, scope: Scope, *, shares: int, tokens: bool = True
) -> Found:
    """What is found in all layers, as places in the first, each with its share of the looks."""
    seen = Found([], len(layers[0].text))
    for depth, layer in enumerate(layers):
        share = (looks - seen.looks) // (shares - depth)
        found = find(layer.text, share, scope, tokens=tokens)
        _add(seen, found, layers[depth:0:-1])
    return seen


def _add(seen: Found, found: Found, layers: Iterable[Layer]) -> None:
    """Adds what was found behind some layers, as places before them."""
    for layer in layers:
        origin = layer.origin
        found.secrets = [(origin(start), origin(end), name) for start, end, name in found.secrets]
        found.end = origin(found.end)
    seen.looks += found.looks
    seen.secrets += found.secrets
    seen.end = min(seen.end, found.end)


def _whole(secrets: list[Secret], end: int, *, last: bool) -> tuple[list[Secret], int]:
    """The secrets before the end, which moves before one that reaches beyond it."""
    if last and secrets:
        end = secrets[0][0]
    end = min([end, *(start for start, stop, _ in secrets if start < end < stop)])
    return [secret for secret in secrets if secret[1] <= end], end


def merged(secrets: Iterable[Secret]) -> Iterator[Secret]:
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
