"""What readers of hook files share: checks of single values, and what a mistake takes along.

Knows entries and events as values; must not know any platform's rules.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from hookline.dialects._located import Located, UnreadableText, read_json
from hookline.dialects._native import JsonDialect
from hookline.model.events import Event
from hookline.model.native import NativeEntry

__all__ = ["is_strict_json", "names_any", "number", "shown_to", "texts", "voided"]


def is_strict_json(content: bytes) -> bool:
    """Whether a reader that knows neither comments nor trailing commas can read it."""
    try:
        msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def names_any(content: bytes, events: Container[str]) -> bool:
    """Whether a file of hooks has some of these events, which no other platform has."""
    try:
        hooks = read_json(content).members.get("hooks", Located({}, 0))
    except UnreadableText:
        return False
    return any(name in events for name in hooks.members)


def number(value: Any) -> float | None:
    """A number; None for anything else, and for what no clock could count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -(2**53) < value < 2**53 else None


def texts(value: Any) -> dict[str, str] | None:
    """An object of texts; None for anything else."""
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        return None
    return value


def voided(entries: Iterable[NativeEntry], why: str) -> tuple[NativeEntry, ...]:
    """Entries that a mistake elsewhere in their file takes out of force."""
    return tuple(replace(entry, flaw=entry.flaw or why) for entry in entries)


def shown_to(entry: NativeEntry, event: Event, codec: JsonDialect) -> Mapping[str, Any]:
    """The payload that the entry's program would be given: what its matcher looks at."""
    asked = replace(event, dialect=codec.id, native_event=entry.event, raw=Raw(b"null"))
    return codec.payload(asked)
