r"""Replaces every secret by ``[redacted:FAMILY]``.

What a person reads and what a program parses are both searched: the text as it is, and the text
behind its JSON escapes, as deep as JSON is commonly put into JSON. A text that is JSON stays JSON
with the same shape: only the inside of its strings is replaced, whole escapes at a time.

How much is looked at is bounded, by a count and not by a clock: the same text always gives the same
result. What could not be looked through is withheld, as ``[redacted:unread]``.
"""

from msgspec import Struct

from hookline.secrets.hints import NO_HINTS, first_hint, hints
from hookline.secrets.likely import Scope

__all__ = ["EFFORT", "PLAIN", "Redacted", "RedactedBytes", "redact", "redact_bytes"]

PLAIN = "[REDACTED]"
"""A marker that tells no family; another has to be one of those that redaction leaves alone."""

EFFORT = 2_000
"""How many candidates are looked at by default, in about 30 ms; few texts have a tenth of them."""
_ROUNDS = 4
"""What a replacement lays bare is found by looking again; two rounds are the rule."""


class Redacted(Struct, frozen=True):
    """A text without its secrets."""

    text: str
    count: int = 0
    families: tuple[str, ...] = ()
    looks: int = 0
    """How many candidates were looked at: what it took of the effort."""


class RedactedBytes(Struct, frozen=True, gc=False):
    """A payload without its secrets."""

    raw: bytes
    count: int = 0
    families: tuple[str, ...] = ()
    looks: int = 0


def redact(
    text: str, effort: int = EFFORT, *, scope: Scope = Scope.ALL, plain: bool = False
) -> Redacted:
    """The text without its secrets; the same object when it has none. Never raises."""
    # Half characters pass through as they are.
    done = redact_bytes(text.encode("utf-8", "surrogatepass"), effort, scope=scope, plain=plain)
    if not done.count:
        return Redacted(text, looks=done.looks)
    kept = done.raw.decode("utf-8", "surrogatepass")
    return Redacted(kept, done.count, done.families, done.looks)


def redact_bytes(
    raw: bytes, effort: int = EFFORT, *, scope: Scope = Scope.ALL, plain: bool = False
) -> RedactedBytes:
    """The payload without its secrets; the same object when it has none. Never raises."""
    found = hints(raw)
    if found is NO_HINTS or (found is not None and not found.tokens and not found.places):
        return RedactedBytes(raw)
    # Most texts have no hint, and a process that sees only such does without.
    from hookline.secrets.glancing import glance
    from hookline.secrets.looking import look
    from hookline.secrets.payloads import UNREAD

    count, looks, families = 0, 0, dict[str, None]()
    marker = PLAIN.encode() if plain else b""
    # Until nothing more is found, so that all that stays was looked at as it stays.
    for left in reversed(range(_ROUNDS)):
        # The first round leaves as much to the next, which will see about the same.
        share = (effort - looks) // (1 if count else 2)
        sight = glance(raw, found, share, scope) if found is not None and left else None
        if sight is None:
            hint = first_hint(raw)
            if hint < 0:
                break
            sight = look(raw, hint, share, scope=scope, last=not left)
        looks += sight.looks
        if sight.clean:
            break
        raw, unread = sight.replaced(marker)
        count += len(sight.secrets) + unread
        families |= dict.fromkeys(family for _, _, family in sight.secrets)
        if unread:
            families[UNREAD] = None
        found = hints(raw)
        if found is not None and not found.tokens and not found.places:
            break
    return RedactedBytes(raw, count, tuple(families), looks)
