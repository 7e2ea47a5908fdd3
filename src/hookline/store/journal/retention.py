"""What the journal forgets: what is too old, and the oldest when there is too much of it.

Always in small steps, since nobody can write while one is made; and never the newest event, because
the number that it has is what later ones are counted from.
"""

import sqlite3
from contextlib import suppress

from msgspec import Struct

from hookline.model.journal import JournalSettings

__all__ = ["Pruned", "Retention", "prune", "size_of"]

_STEP = 100
_PAGES_STEP = 100
# How far to look for old events behind ones that a wrong clock made new.
_HORIZON = 50_000
_DAY = 86_400_000_000
# When there is too much, some more goes than has to, so that it is not the next event's turn again.
_ROOM = 0.9


class Retention(Struct, frozen=True, kw_only=True):
    """How long and how much to keep."""

    keep_days: float
    max_bytes: int
    hold: str = ""
    """The key of ``meta`` that says how far events were shipped: no age makes others go."""

    @classmethod
    def of(cls, settings: JournalSettings, *, hold: str = "") -> "Retention":
        """As the config has it."""
        return cls(keep_days=settings.keep_days, max_bytes=settings.max_mb << 20, hold=hold)


class Pruned(Struct, frozen=True, kw_only=True):
    """What one step did."""

    more: bool
    """Whether another step has something to do."""
    events: int = 0
    unshipped: int = 0
    """How many of them went, for lack of room, before they were shipped."""


def prune(
    connection: sqlite3.Connection, retention: Retention, *, now: float | None, shrinking: bool
) -> Pruned:
    """One small step. ``now`` in seconds, None when the clock cannot be believed.

    ``shrinking`` goes on to make room where an earlier step began to. Raises what sqlite3 raises.
    """
    limit = retention.max_bytes * (_ROOM if shrinking else 1)
    shipped = _shipped(connection, retention.hold)
    if size_of(connection) > limit:
        doomed = _oldest(connection)
    elif now is not None:
        doomed = _aged(connection, int(now * 1e6 - retention.keep_days * _DAY), shipped)
    else:
        doomed = []
    if doomed:
        _delete(connection, doomed)
        unshipped = 0 if shipped is None else sum(seq > shipped for seq in doomed)
        return Pruned(more=True, events=len(doomed), unshipped=unshipped)
    return Pruned(more=_returned(connection))


def size_of(connection: sqlite3.Connection) -> int:
    """The bytes that events take up; pages that were given back do not count."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _shipped(connection: sqlite3.Connection, key: str) -> int | None:
    if not key:
        return None
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return int(found[0]) if found else 0


def _oldest(connection: sqlite3.Connection) -> list[int]:
    rows = connection.execute(
        "SELECT seq FROM events WHERE seq < (SELECT max(seq) FROM events) ORDER BY seq LIMIT ?",
        (_STEP,),
    )
    return [seq for (seq,) in rows.fetchall()]


def _aged(connection: sqlite3.Connection, before: int, shipped: int | None) -> list[int]:
    first, last = connection.execute("SELECT min(seq), max(seq) FROM events").fetchone()
    if first is None:
        return []
    end = min(last - 1, first + _HORIZON, last if shipped is None else shipped)
    rows = connection.execute(
        "SELECT seq FROM events WHERE seq <= ? AND at < ? ORDER BY seq LIMIT ?",
        (end, before, _STEP),
    )
    return [seq for (seq,) in rows.fetchall()]


def _delete(connection: sqlite3.Connection, doomed: list[int]) -> None:
    numbers = [(seq,) for seq in doomed]
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("DELETE FROM events WHERE seq = ?", numbers)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _returned(connection: sqlite3.Connection) -> bool:
    """Gives free pages back to the disk; whether there are more."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free <= _PAGES_STEP:  # few enough to be used again soon
        return False
    # As a script: `execute` would stop after the first page.
    connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_STEP})")
    return True
