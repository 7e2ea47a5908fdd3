"""Rows into the file, and what to do when that fails. Knows no event loop.

A row is written, kept for later, or lost and counted; whatever happens is said in one sentence for
the person, and nothing is raised but that somebody else is writing at this moment.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

from hookline.store.journal.backlog import Backlog
from hookline.store.journal.files import identity, is_busy, is_damage, opened, set_aside
from hookline.store.journal.recording import Row
from hookline.store.journal.schema import INSERT_EVENT, INSERT_PAYLOAD

__all__ = ["Busy", "Ledger"]

_FIRST_PAUSE, _LAST_PAUSE = 0.25, 10.0
_CATCH_UP = 1 << 20

# The row is at fault, not the file: to try it again would keep all others out.
_UNWRITABLE = (
    OverflowError,
    UnicodeError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    sqlite3.IntegrityError,
    sqlite3.DataError,
)


class Busy(Exception):
    """Another process is writing; nothing was written, and nothing is lost."""


class Ledger:
    """One journal file, open for writing; opened when it is first needed."""

    def __init__(self, path: str, *, full: bool = False, grow: bool = False) -> None:
        """``full`` syncs each commit; ``grow`` makes room for many of them beforehand."""
        self.path = path
        self.backlog = Backlog()
        self.written = 0
        """How many bytes, about: a checkpoint is due when there are many."""
        self._full = full
        self._grow = grow
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None
        self._log_seen: tuple[int, int] | None = None
        self._trouble = ""
        self._pause = _FIRST_PAUSE
        self._retry_at = 0.0
        self._told_lost = 0

    @property
    def is_open(self) -> bool:
        """Whether there is a file to be synced."""
        return self._connection is not None

    def pause(self) -> float:
        """How long to wait before trying again is of any use; 0 when all is well."""
        return max(self._retry_at - monotonic(), 0.001) if self._trouble else 0.0

    def write(self, rows: Sequence[Row]) -> str:
        """Commits the rows; a warning for the person, or nothing. Raises Busy."""
        if self._trouble and monotonic() < self._retry_at:
            return self._kept(rows)
        return self.write_now(rows)

    def write_now(self, rows: Sequence[Row]) -> str:
        """The same, however short ago it failed."""
        try:
            note = self._written(rows)
        except Busy:
            raise
        except Exception as error:
            # Of whatever kind it is: an answer waits for this, and must not fail with it.
            self.close()
            return self.keep(rows, _in_words(error))
        if self._trouble or self.backlog.lost != self._told_lost:
            note = note or self._relief()
        return note

    def keep(self, rows: Sequence[Row], why: str) -> str:
        """Keeps rows that cannot be written now, for ``why``; a warning for the person."""
        self._trouble = why
        self._retry_at = monotonic() + self._pause
        self._pause = min(self._pause * 2, _LAST_PAUSE)
        return self._kept(rows)

    def _kept(self, rows: Sequence[Row]) -> str:
        self.backlog.add(rows)
        lost = f", {self.backlog.lost} are lost" if self.backlog.lost else ""
        return (
            f"the journal {self.path} cannot be written: {self._trouble}. Verdicts are not "
            f"affected; {len(self.backlog)} events wait in memory{lost}."
        )

    def _relief(self) -> str:
        lost = self.backlog.lost - self._told_lost
        self._trouble, self._pause, self._told_lost = "", _FIRST_PAUSE, self.backlog.lost
        return f"the journal {self.path} has lost {lost} events; it is written again." * bool(lost)

    def _written(self, rows: Sequence[Row]) -> str:
        note = self._disturbed() if self._connection is not None else ""
        try:
            self._insert(rows)
        except sqlite3.Error as error:
            if is_busy(error):
                raise Busy from error
            if not is_damage(error):
                raise
            note = self.set_aside(error)
            self._insert(rows)
        return note

    def _disturbed(self) -> str:
        """What somebody did to the files while they were open, in words; mostly nothing."""
        if identity(self.path) != self._seen:
            self.close()
            return f"the journal {self.path} was removed while in use; a new one was begun."
        # In both cases we alone would still see a journal: others find an empty one, or none.
        if not os.stat(self.path).st_size:
            return self.set_aside("it was emptied while in use")
        if self._log_seen is not None and identity(f"{self.path}-wal") != self._log_seen:
            with suppress(sqlite3.Error):
                self._checkpoint()  # the old one is whole then
            return self.set_aside("its log was removed while in use")
        return ""

    def _checkpoint(self) -> None:
        assert self._connection is not None
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def set_aside(self, error: sqlite3.Error | str) -> str:
        """Gives a damaged file another name; the next write begins a new one. Raises OSError."""
        seen = self._seen or identity(self.path)
        self.close()
        aside = set_aside(self.path, seen)
        old = f", the old one is {aside}" if aside else ""
        return f"the journal was damaged ({error}): a new one was begun{old}."

    def _insert(self, rows: Sequence[Row]) -> None:
        connection = self._connection or self._open()
        older = self.backlog.first(_CATCH_UP) if self.backlog else []
        connection.execute("BEGIN IMMEDIATE")
        try:
            for row in (*older, *rows):
                self._put(connection, row)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        self.backlog.drop(len(older))
        if self._log_seen is None:
            self._log_seen = identity(f"{self.path}-wal")

    def _put(self, connection: sqlite3.Connection, row: Row) -> None:
        try:
            cursor = connection.execute(INSERT_EVENT, row.columns)
            if cursor.rowcount == 1 and row.payload:
                connection.execute(INSERT_PAYLOAD, (cursor.lastrowid, row.payload))
        except _UNWRITABLE:
            self.backlog.lost += 1
        self.written += row.size + _PAGES

    def _open(self) -> sqlite3.Connection:
        try:
            connection = opened(self.path, full=self._full, grow=self._grow)
        finally:
            self._seen = identity(self.path)
        self._connection = connection
        return connection

    def close(self) -> None:
        """Gives the file back; the next write opens it again."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._seen = self._log_seen = None


# A commit writes whole pages: of the events, of their index and of the payloads.
_PAGES = 3 * 4096


def _in_words(error: Exception) -> str:
    """The error in words; SQLite's own do not say which of many reasons it was."""
    if isinstance(error, OSError) and error.strerror:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        return f"{error.strerror}{where}"
    return str(error) or type(error).__name__
