"""Moments as people write them: a while ago, a day, or a time."""

import re
from datetime import date, datetime, timedelta

from hookline.model.errors import HooklineError

__all__ = ["moment"]

_AGO = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


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
        given = datetime.fromisoformat(text)
        if end and _is_day(text):
            return (given + timedelta(days=1)).astimezone() - timedelta(microseconds=1)
        return given if given.tzinfo is not None else given.astimezone()
    except (ValueError, OverflowError):
        raise HooklineError(
            f"`{text}` is no time: write 30m, 2h or 3d for so long ago, a day such as 2026-12-01, "
            "or a time such as 2026-12-01T18:00"
        ) from None


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False
