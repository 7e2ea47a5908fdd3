"""Rows into the file, and what to do when that fails. Knows no event loop.

A row is written, kept for later, or lost and counted; whatever happens is said in one sentence for
the person, and nothing is raised but that somebody else is writing at this moment.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

from hookline.store.journal.backlog import Backlog
from hookline.store.journal.files import (
    PAGE,
    identity,
    in_words,
    is_busy,
    is_damage,
    opened,
    set_aside,
    sync_log,
    transaction,
)
from hookline.store.journal.recording import Row
from hookline.store.journal.schema import INSERT
from hookline.store.journal.spill import Late, are_late

__all__ = ["Busy", "Ledger"]

_FIRST_PAUSE, _LAST_PAUSE = 0.25, 10.0
_CATCH_UP = 1 << 20

# A commit of another process's is mostly over after these seconds. Whoever holds the file for
# longer is waited for beside other work.
_MOMENTS = (0.00005,)

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

    def __init__(self, path: str, *, full: bool = False) -> None:
        """``full`` syncs each commit."""
        self.path = path
        self.backlog = Backlog()
        self.written = 0
        """How many bytes, about: a checkpoint is due when there are many."""
        self._full = full
        self._log = f"{path}-wal"
        self._connection: sqlite3.Connection | None = None
        self._calm: sqlite3.Cursor | None = None
        """Of the connection, but only while all is well and nothing older waits to be written."""
        self._seen: tuple[int, int] | None = None
        self._log_seen: tuple[int, int] | None = None
        self.trouble = ""
        """Why nothing can be written at the moment; empty when all is well."""
        self._late = Late(path)
        self._locked = False
        """Whether the trouble is that somebody else does not let go of the file."""
        self._pause = _FIRST_PAUSE
        self._retry_at = 0.0
        self._told_lost = 0

    @property
    def is_open(self) -> bool:
        """Whether there is a file to be synced."""
        return self._connection is not None

    @property
    def waiting(self) -> int:
        """How many rows are still to be written."""
        return len(self.backlog) + self._late.count

    def pause(self) -> float:
        """How long to wait before trying again is of any use; 0 when all is well."""
        return max(self._retry_at - monotonic(), 0.001) if self.trouble else 0.0

    def write_one(self, row: Row) -> str:
        """The same as ``write`` for one row, by the shortest way while all is well."""
        cursor = self._calm
        if cursor is None or not self._is_there():
            return self.write((row,))
        try:
            # A statement by itself is a transaction.
            cursor.execute(INSERT, row.columns)
        except Exception:
            # Nothing was written. Why not is found out where there is time for it.
            return self.write((row,))
        self.written += row.size + _PAGES
        return ""

    def write(self, rows: Sequence[Row]) -> str:
        """Commits the rows; a warning for the person, or nothing. Raises Busy."""
        if self.trouble and monotonic() < self._retry_at:
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
            self._locked = False
            return self._keep(rows, in_words(error))
        if self.trouble or self.backlog.lost != self._told_lost:
            note = note or self._relief()
        if self._calm is None and self._connection is not None and not self.waiting:
            self._calm = self._connection.cursor()
        return note

    def locked(self, rows: Sequence[Row]) -> str:
        """Keeps rows that nobody waits for any longer; a warning for the person."""
        self._locked = True
        return self._keep(rows, "another process has it locked")

    def _keep(self, rows: Sequence[Row], why: str) -> str:
        self.trouble, self._calm = why, None
        self._retry_at = monotonic() + self._pause
        self._pause = min(self._pause * 2, _LAST_PAUSE)
        return self._kept(rows)

    def _kept(self, rows: Sequence[Row]) -> str:
        # A file is of no use where the disk is full, or the journal not ours to write.
        if self._locked and (not rows or self._late.add(rows)):
            where, count = "in a file beside it", self._late.count
        else:
            self.backlog.add(rows)
            where, count = "in memory", len(self.backlog)
        lost = f", {self.backlog.lost} are lost" if self.backlog.lost else ""
        return (
            f"the journal {self.path} cannot be written: {self.trouble}. Verdicts are not "
            f"affected; {count} events wait {where}{lost}."
        )

    def _relief(self) -> str:
        lost = self.backlog.lost - self._told_lost
        self.trouble, self._pause, self._told_lost = "", _FIRST_PAUSE, self.backlog.lost
        self._locked = False
        return f"the journal {self.path} has lost {lost} events; it is written again." * bool(lost)

    def _written(self, rows: Sequence[Row]) -> str:
        note = self._disturbed() if self._connection is not None else ""
        try:
            self._insert_patiently(rows)
        except sqlite3.Error as error:
            if is_busy(error):
                raise Busy from error
            if not is_damage(error):
                raise
            note = self.set_aside(error)
            self._insert(rows)
        return note

    def _is_there(self) -> bool:
        """Whether nobody took the files away; what became of them says ``_disturbed``."""
        try:
            found = os.stat(self.path)
        except OSError:
            return False
        return (
            found.st_size > 0
            and (found.st_dev, found.st_ino) == self._seen
            # Half the price of asking whether it is still the same log.
            and os.access(self._log, os.F_OK)
        )

    def look_after(self) -> bool:
        """To be called now and then: takes in what others could not write; whether there was any.

        And the next write sees to a log that is not ours any more. What is written until then goes
        into the old file before that is set aside.
        """
        if self._calm is not None and identity(self._log) != self._log_seen:
            self._calm = None
        # Whatever is wrong with the journal, the next row will run into it, too.
        with suppress(sqlite3.Error, OSError):
            if self._connection is not None and self._take_in(self._connection):
                self._retry_at = 0.0  # nobody has it locked any more
                return True
        return False

    def _take_in(self, connection: sqlite3.Connection) -> bool:
        """Writes what waits beside the journal, ours and what others have left; whether any did.

        Raises sqlite3.Error and OSError, and then all of it is still there.
        """
        if not are_late(self.path) or not self._is_same():
            return False
        with transaction(connection), self._late.taken_in() as taken:
            self._put(connection, taken.rows)
            connection.execute("COMMIT")
            # What was on the disk must be there when the files go, in the journal that others see.
            sync_log(self.path)
            if not self._is_same():
                raise OSError("the journal was taken away")
        if taken.damaged:
            self.backlog.lost += taken.damaged
            self._calm = None  # so that the next write says it
        self.written += (len(taken.rows) + 1) * _PAGES
        return bool(taken.rows)

    def _is_same(self) -> bool:
        """Whether what we have open is what stands under the journal's name."""
        logged = self._log_seen is None or identity(self._log) == self._log_seen
        return logged and identity(self.path) == self._seen

    def _disturbed(self) -> str:
        """What somebody did to the files while they were open, in words; mostly nothing."""
        if identity(self.path) != self._seen:
            self.close()
            return f"the journal {self.path} was removed while in use; a new one was begun."
        # In both cases we alone would still see a journal: others find an empty one, or none.
        if not os.stat(self.path).st_size:
            return self.set_aside("it was emptied while in use")
        if self._log_seen is not None and identity(self._log) != self._log_seen:
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

    def _insert_patiently(self, rows: Sequence[Row]) -> None:
        """As ``_insert``, a moment later while a commit of another process is under way."""
        # To open it waits by itself, and longer.
        for moment in _MOMENTS if self._connection is not None else ():
            try:
                self._insert(rows)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise
                sleep(moment)
            else:
                return
        self._insert(rows)

    def _insert(self, rows: Sequence[Row]) -> None:
        connection = self._connection or self._open()
        if self._late.count:
            with suppress(OSError):
                self._take_in(connection)
        older = self.backlog.first(_CATCH_UP) if self.backlog else ()
        together = (*older, *rows)
        columns = [row.columns for row in together]
        if len(columns) == 1:
            self._put(connection, columns)
        else:
            with transaction(connection):
                self._put(connection, columns)
                connection.execute("COMMIT")
        self.written += sum(row.size for row in together) + _PAGES
        self.backlog.drop(len(older))
        if self._log_seen is None:
            self._log_seen = identity(self._log)

    def _put(self, connection: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
        try:
            connection.executemany(INSERT, rows)
        except _UNWRITABLE:
            # One of them is at fault. Those before it are there already, and not taken twice.
            for row in rows:
                try:
                    connection.execute(INSERT, row)
                except _UNWRITABLE:
                    self.backlog.lost += 1

    def _open(self) -> sqlite3.Connection:
        try:
            connection = opened(self.path, full=self._full)
        finally:
            self._seen = identity(self.path)
        self._connection = connection
        with suppress(sqlite3.Error, OSError):
            self._take_in(connection)
        return connection

    def leave(self) -> None:
        """The last ``close``: what still waits beside it is for the next to open it."""
        self.close()
        self._late.leave()

    def close(self) -> None:
        """Gives the file back; the next write opens it again."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._calm = self._seen = self._log_seen = None


# A commit writes whole pages: of the events, of their index and now and then of what leads there.
_PAGES = 3 * PAGE
