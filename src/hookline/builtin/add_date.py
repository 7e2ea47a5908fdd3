"""Tells the model today's date."""

from collections.abc import Callable
from datetime import tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hookline.builtin._docker_agent import CONTEXT_EVENTS, ArgsOptions
from hookline.model.answers import Answer, context
from hookline.model.events import Event
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("turn_start",)
ALSO: tuple[str, ...] = CONTEXT_EVENTS
PRIORITY: int = 50
GUARD: bool = False
EFFECT: str = "context"


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    return context(f"Today's date: {event.time.astimezone(_zone(caller)).date().isoformat()}")


def _zone(caller: Caller) -> tzinfo | None:
    """The caller's time zone; None for that of the machine."""
    try:
        return ZoneInfo(caller.env.get("TZ", "").removeprefix(":"))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
