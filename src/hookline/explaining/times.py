"""Moments as people write them: a while ago, a day, or a time."""

import re
from datetime import datetime, timedelta

from hookline.model.errors import HooklineError

__all__ = ["moment"]

_AGO = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str, now: datetime) -> datetime:
    """The moment meant by ``2h``, ``3d``, ``2026-12-01`` or ``2026-12-01T18:00``.

    A time without a zone is in that of ``now``. Raises HooklineError.
    """
    found = _AGO.fullmatch(text.strip())
    try:
        if found:
            return now - timedelta(**{_UNITS[found[2]]: int(found[1])})
        given = datetime.fromisoformat(text.strip())
        return given if given.tzinfo is not None else given.replace(tzinfo=now.tzinfo)
    except (ValueError, OverflowError):
        raise HooklineError(
            f"`{text}` is no time: write 30m, 2h or 3d for so long ago, a day such as 2026-12-01, "
            "or a time such as 2026-12-01T18:00"
        ) from None
