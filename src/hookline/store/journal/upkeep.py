"""What has to wait for the disk, in a thread of its own: sync, checkpoint, retention.

Has a connection of its own, too. The writer sees it as another process, and waits while a step is
made; so retention goes in small ones. It takes what is too old, and the oldest when there is too
much; never the newest event, because the number that it has is what later ones are counted from.
"""

import sqlite3
import time
from contextlib import suppress

from msgspec import Struct

from hookline.model.journal import JournalSettings
from hookline.store.journal.database import (
    PAGE,
    connect,
    file_identity,
    is_busy,
    transaction,
)

__all__ = ["Pruned", "Retention", "Upkeep", "measure", "prune"]

# While events keep coming a checkpoint never catches up with the log, which then only grows.
_LONG_LOG = 2048
_PATIENCE = 50
_CLOCK_JUMP = 3600.0
_STEP = 100
_PAGES_STEP = 100
# How far to look for old events behind ones that a wrong clock made new.
_HORIZON = 50_000
# The same for the one event by which a clock is believed: this is asked before every step.
_PROBED = 1_000
_DAY = 86_400_000_000
# Together they would make SQLite look at every one.
_ENDS = "SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events)"
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


class Upkeep:
    """Keeps one journal file in order; all of it is called from one thread."""

    def __init__(self, path: str, retention: Retention) -> None:
        self._path = path
        self._retention = retention
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None
        self._shrinking = False
        self._clocks = time.time() - _steady()
        self.unshipped = 0
        """How many events retention took away before they were shipped."""

    def checkpoint(self) -> None:
        """Moves what is in the log into the file, so that the log can begin anew.

        Raises sqlite3.Error.
        """
        try:
            connection = self._connect()
            found = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if found is not None and found[1] > _LONG_LOG:
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        except sqlite3.Error as error:
            if not is_busy(error):  # then the next one may do better, and nothing is lost by it
                raise

    def prune(self) -> bool:
        """One small step of forgetting; whether there are more. Raises sqlite3.Error."""
        now = time.time()
        # When somebody moved the clock, by age all or nothing might go.
        steady = abs(now - _steady() - self._clocks) <= _CLOCK_JUMP
        try:
            connection = self._connect()
            over = measure(connection) > self._retention.max_bytes
            self._shrinking = self._shrinking or over
            done: Pruned = prune(
                connection, self._retention, now=now if steady else None, shrinking=self._shrinking
            )
        except sqlite3.Error as error:
            if is_busy(error):
                return False
            raise
        self._shrinking = self._shrinking and done.events > 0
        self.unshipped += done.unshipped
        return done.more

    def tell_unshipped(self) -> str:
        """What retention had to do that nobody wanted, in words, once."""
        count, self.unshipped = self.unshipped, 0
        return (
            f"the journal {self._path} is full: {count} events went that were never shipped. "
            "`max_mb` says how much it may hold."
        )

    def _connect(self) -> sqlite3.Connection:
        found = file_identity(self._path)
        if self._connection is not None and found != self._seen:
            self.close()
        if self._connection is None:
            self._connection, self._seen = connect(self._path), found
            self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
            self._connection.execute("PRAGMA synchronous = NORMAL")
        return self._connection

    def close(self) -> None:
        """Gives back all it holds."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._seen = None


def _steady() -> float:
    """A clock that nobody can move, and that goes on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def prune(
    connection: sqlite3.Connection, retention: Retention, *, now: float | None, shrinking: bool
) -> Pruned:
    """One small step. ``now`` in seconds, None when the clock cannot be believed.

    ``shrinking`` goes on to make room where an earlier step began to. Raises what sqlite3 raises.
    """
    limit = retention.max_bytes * (_ROOM if shrinking else 1)
    shipped = _read_watermark(connection, retention.hold)
    excess = measure(connection) - limit
    if excess > 0:
        doomed = _find_oldest(connection, excess)
    elif now is not None and (settled := _find_day_old(connection, int(now * 1e6))) is not None:
        doomed = _find_aged(connection, int(settled - retention.keep_days * _DAY), shipped)
    else:
        doomed = []
    if doomed:
        _delete(connection, doomed)
        unshipped = 0 if shipped is None else sum(seq > shipped for seq in doomed)
        return Pruned(more=True, events=len(doomed), unshipped=unshipped)
    return Pruned(more=_return_pages(connection))


def measure(connection: sqlite3.Connection) -> int:
    """The bytes that events take up; pages that were given back do not count."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _read_watermark(connection: sqlite3.Connection, key: str) -> int | None:
    if not key:
        return None
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return int(found[0]) if found else 0


def _find_oldest(connection: sqlite3.Connection, excess: float) -> list[int]:
    """As many as take up so much: a hundred large ones may be all that there is."""
    rows = connection.execute(
        "SELECT seq, length(payload) + length(stdout) + length(stderr) + length(said) "
        "FROM events WHERE seq < (SELECT max(seq) FROM events) ORDER BY seq LIMIT ?",
        (_STEP,),
    )
    doomed: list[int] = []
    for seq, length in rows.fetchall():
        doomed.append(seq)
        # Small ones share a page; of a large one the last page is its own as well.
        excess -= length if length < PAGE else (length // PAGE + 1) * PAGE
        if excess <= 0:
            break
    return doomed


def _find_day_old(connection: sqlite3.Connection, now: int) -> int | None:
    """The time by which events are old: that of the newest one which is a day old; None: none is.

    A clock may have been wrong since before this process began, and then nothing in here tells. But
    one that runs ahead is mostly put right within hours, and a machine that was switched off for a
    year goes on in its new time. So the clock is not believed before the journal has seen a day of
    it: with a clock that is ahead, events are as old as they were when it was right. What it costs
    is that an event stays for a day longer, or for some more of a machine that is seldom used.

    Events are in the order of time, mostly, so halving finds it. Where they are not it finds one
    that is older, and fewer go.
    """
    low, high = connection.execute(_ENDS).fetchone()
    newest: int | None = None
    while low is not None and low <= high:
        middle = (low + high) // 2
        rows = connection.execute(
            "SELECT seq, at FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
            (middle, high, _PROBED),
        )
        # Those from the future say nothing of the ones behind them.
        found = next(((seq, at) for seq, at in rows if at <= now), None)
        if found is None or found[1] > now - _DAY:
            high = middle - 1
        else:
            low = found[0] + 1
            newest = max(newest or 0, found[1])
    return newest


def _find_aged(connection: sqlite3.Connection, before: int, shipped: int | None) -> list[int]:
    first, last = connection.execute(_ENDS).fetchone()
    if first is None:
        return []
    end = min(last - 1, last if shipped is None else shipped)
    rows = connection.execute(
        "SELECT seq FROM (SELECT seq, at FROM events WHERE seq <= ? ORDER BY seq LIMIT ?) "
        "WHERE at < ? ORDER BY seq LIMIT ?",
        (end, _HORIZON, before, _STEP),
    )
    return [seq for (seq,) in rows.fetchall()]


def _delete(connection: sqlite3.Connection, doomed: list[int]) -> None:
    numbers = [(seq,) for seq in doomed]
    with transaction(connection):
        connection.executemany("DELETE FROM events WHERE seq = ?", numbers)


def _return_pages(connection: sqlite3.Connection) -> bool:
    """Gives free pages back to the disk; whether there are more."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free <= _PAGES_STEP:  # few enough to be used again soon
        return False
    # As a script: `execute` would stop after the first page.
    connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_STEP})")
    return True
