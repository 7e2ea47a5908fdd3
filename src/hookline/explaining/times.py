"""Moments as people write them: a while ago, a day, or a time."""

import re
from datetime import UTC, datetime, timedelta

from hookline.model.errors import HooklineError

__all__ = ["moment"]

_AGO = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d{4}(-?)\d\d\1\d\d[Tt ].+")


def moment(text: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment meant by ``2h``, ``3d``, ``2026-12-01`` or ``2026-12-01T18:00``.

    A time without a zone is that of clocks here, at that time of the year. A day alone is its
    first moment, or with ``end`` its last. Raises HooklineError.
    """
    text = text.strip()
    found = _AGO.fullmatch(text)
    try:
        if found:
            return now - timedelta(**{_UNITS[found[2]]: int(found[1])})
        return _written(text, end)
    except (ValueError, OverflowError):
        raise HooklineError(
            f"`{text}` is no time: write 30m, 2h or 3d for so long ago, a day such as 2026-12-01, "
            "or a time such as 2026-12-01T18:00"
        ) from None


def _written(text: str, end: bool) -> datetime:
    """Raises ValueError, also for a week: that is no day, though Python takes it for its Monday."""
    is_day = _DAY.fullmatch(text)
    if not is_day and not _TIME.fullmatch(text):
        raise ValueError(text)
    given = datetime.fromisoformat(text)
    if not end or not is_day:
        return given if given.tzinfo is not None else _here(given)
    if given.date() == datetime.max.date():
        return datetime.max.replace(tzinfo=UTC)
    return _here(given + timedelta(days=1)) - timedelta(microseconds=1)


def _here(given: datetime) -> datetime:
    """By the clocks here; by UTC at both ends of the calendar, where there may be no such time."""
    try:
        return given.astimezone()
    except (ValueError, OverflowError):
        return given.replace(tzinfo=UTC)
