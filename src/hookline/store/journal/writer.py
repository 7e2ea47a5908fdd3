"""Rows into the journal's file, and what to do when that fails. Knows no event loop.

A row is written, kept for later, or lost and counted; whatever happens is told in one sentence for
the person, and nothing is ever raised.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from hookline.model.journal import Entry, JournalSettings
from hookline.store.journal.database import (
    BUSY_MS,
    INSERT,
    PAGE,
    Row,
    describe_error,
    file_identity,
    is_busy,
    is_damage,
    make_row,
    open_journal,
    set_aside,
    sync_log,
    transaction,
)
from hookline.store.journal.spill import Spill

__all__ = ["BriefJournal", "JournalWriter", "write_once"]

_FIRST_PAUSE, _LAST_PAUSE = 0.25, 10.0
_DEFAULT = JournalSettings()

# A commit writes whole pages: of the events, of their index and now and then of what leads there.
_PAGES = 3 * PAGE

# Of a process that answers one event: the next one has to read all of the log.
_LONG_LOG = 256 << 10

# The row is at fault, not the file: to try it again would keep all others out.
_UNWRITABLE = (
    OverflowError,
    UnicodeError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    sqlite3.IntegrityError,
    sqlite3.DataError,
)


class JournalWriter:
    """One journal file, open for writing; opened when it is first needed."""

    def __init__(self, path: str, *, full: bool = False) -> None:
        """``full`` syncs each commit."""
        self.path = path
        self.spill = Spill(path)
        self.written = 0
        """How many bytes, about: a checkpoint is due when there are many."""
        self.trouble = ""
        """Why nothing can be written at the moment; empty when all is well."""
        self._full = full
        self._log = f"{path}-wal"
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None
        self._log_seen: tuple[int, int] | None = None
        self._is_locked = False
        """Whether the trouble is that another process does not let go of the file."""
        self._pause = _FIRST_PAUSE
        self._retry_at = 0.0
        self._told_lost = 0

    @property
    def is_open(self) -> bool:
        """Whether there is a file to be synced."""
        return self._connection is not None

    def pause(self) -> float:
        """How long to wait before trying again is of any use; 0 when all is well."""
        return max(self._retry_at - monotonic(), 0.001) if self.trouble else 0.0

    def write(self, rows: Sequence[Row]) -> str:
        """Commits the rows, or keeps them for later; a warning for the person, or nothing."""
        if self.trouble and monotonic() < self._retry_at:
            return self._keep(rows)
        return self.write_now(rows)

    def write_now(self, rows: Sequence[Row]) -> str:
        """The same, however short ago it failed."""
        note = ""
        try:
            note = self._check_files() if self._connection is not None else ""
            try:
                self._insert(rows)
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                note = self.set_aside(error)
                self._insert(rows)
        except Exception as error:
            # Of whatever kind it is: an answer waits for this, and must not fail with it.
            self._note_trouble(error)
            return " ".join(filter(None, (note, self._keep(rows))))
        lost = self.spill.lost - self._told_lost
        self.trouble, self._is_locked, self._pause = "", False, _FIRST_PAUSE
        self._told_lost = self.spill.lost
        if lost and not note:
            note = f"the journal {self.path} has lost {lost} events; it is written again."
        return note

    def _note_trouble(self, error: Exception) -> None:
        self.trouble, self._is_locked = describe_error(error), is_busy(error)
        self._retry_at = monotonic() + self._pause
        self._pause = min(self._pause * 2, _LAST_PAUSE)
        if not self._is_locked:
            self.close()

    def _keep(self, rows: Sequence[Row]) -> str:
        # A file is of no use where the disk is full, or the journal not ours to write.
        where = self.spill.add(rows, in_file=self._is_locked)
        return (
            f"the journal {self.path} cannot be written: {self.trouble}. Verdicts are not "
            f"affected; {where}."
        )

    def look_after(self) -> bool:
        """To be called now and then: takes in what others could not write; whether any did."""
        found = self._connection is not None and self._try_take_in(self._connection)
        if found:
            self._retry_at = 0.0  # nobody has it locked any more
        return found

    def _try_take_in(self, connection: sqlite3.Connection) -> bool:
        """The same, where nobody has the file locked at this moment; never raises."""
        # Whatever is wrong with the journal, the next row will run into it, too.
        with suppress(sqlite3.Error, OSError):
            connection.execute("PRAGMA busy_timeout = 0")
            try:
                return self._take_in(connection)
            finally:
                connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        return False

    def _take_in(self, connection: sqlite3.Connection) -> bool:
        """Writes what waits in files, ours and what others have left; whether any did.

        Raises sqlite3.Error and OSError, and then all of it is still there.
        """
        if not self.spill.has_files() or not self._is_same():
            return False
        with transaction(connection), self.spill.take_in() as taken:
            self._put(connection, taken.rows)
            connection.execute("COMMIT")
            # What was on the disk must be there when the files go, in the journal that others see.
            sync_log(self.path)
            if not self._is_same():
                raise OSError("the journal was taken away")
        self.spill.lost += taken.damaged
        self.written += (len(taken.rows) + 1) * _PAGES
        return bool(taken.rows)

    def _is_same(self) -> bool:
        """Whether what we have open is what stands under the journal's name."""
        is_same_log = self._log_seen is None or file_identity(self._log) == self._log_seen
        return is_same_log and file_identity(self.path) == self._seen

    def _check_files(self) -> str:
        """What somebody did to the files while they were open, in words; mostly nothing."""
        try:
            found = os.stat(self.path)
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._seen:
            self.close()
            return f"the journal {self.path} was removed while in use; a new one was begun."
        # In both cases we alone would still see a journal: others find an empty one, or none.
        if not found.st_size:
            return self.set_aside("it was emptied while in use")
        if self._log_seen is not None and file_identity(self._log) != self._log_seen:
            assert self._connection is not None
            with suppress(sqlite3.Error):  # the old one is whole then
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            return self.set_aside("its log was removed while in use")
        return ""

    def set_aside(self, error: sqlite3.Error | str) -> str:
        """Gives a damaged file another name; the next write begins a new one. Raises OSError."""
        seen = self._seen or file_identity(self.path)
        self.close()
        aside = set_aside(self.path, seen)
        old = f", the old one is {aside}" if aside else ""
        return f"the journal was damaged ({error}): a new one was begun{old}."

    def _insert(self, rows: Sequence[Row]) -> None:
        connection = self._connection or self._open()
        if len(rows) == 1 and self._log_seen is not None and not self.spill.count:
            # A statement by itself is a transaction.
            self._put(connection, (rows[0].columns,))
            self.written += rows[0].size + _PAGES
            return
        held = self.spill.held
        if self.spill.count > len(held):
            with suppress(OSError):
                self._take_in(connection)
        with transaction(connection):
            self._put(connection, [row.columns for row in (*held, *rows)])
        self.written += sum(row.size for row in (*held, *rows)) + _PAGES
        self.spill.forget_held()
        if self._log_seen is None:
            self._log_seen = file_identity(self._log)

    def _put(self, connection: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
        try:
            if len(rows) == 1:
                connection.execute(INSERT, rows[0])
            else:
                connection.executemany(INSERT, rows)
        except _UNWRITABLE:
            # One of them is at fault. Those before it are there already, and not taken twice.
            for row in rows:
                try:
                    connection.execute(INSERT, row)
                except _UNWRITABLE:
                    self.spill.lost += 1

    def _open(self) -> sqlite3.Connection:
        try:
            connection = open_journal(self.path, full=self._full)
        finally:
            self._seen = file_identity(self.path)
        self._connection = connection
        self._try_take_in(connection)
        return connection

    def close(self) -> None:
        """Gives the file back; the next write opens it again."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._seen = self._log_seen = None


_left: list[JournalWriter] = []


class BriefJournal:
    """The journal of a process that answers one event; an implementation of ``Journal``.

    Whoever closes a journal last moves its log into the file, which waits for the disk three times
    more. A process that ends at once need not: the log is as good, and the next one goes on with
    it. Every few events, when it has become long, one process does close it.
    """

    def __init__(self, path: str, settings: JournalSettings = _DEFAULT) -> None:
        self._path = path
        self._settings = settings

    async def write(self, entry: Entry) -> str:
        """Returns when the entry is on the disk; never raises."""
        return write_once(self._path, entry, self._settings, ends=True)

    async def aclose(self) -> None:
        """What is open is left to the end of the process, or to the next event."""


def write_once(
    path: str, entry: Entry, settings: JournalSettings = _DEFAULT, *, ends: bool = False
) -> str:
    """Opens, commits, syncs, closes; a warning for the person, or nothing. Never raises.

    Where the process ``ends`` with it, a short log is left to the next one.
    """
    full = settings.durability == "full"
    writer = JournalWriter(path, full=full)
    try:
        warning = writer.write((make_row(entry, payload_cap=settings.payload_kb << 10),))
        if writer.spill.held:  # what waits in memory goes with it
            return (
                f"the journal {path} cannot be written: {writer.trouble}. Verdicts are not "
                f"affected; event {entry.id} is lost to it."
            )
        return warning
    except Exception as error:
        return f"the journal {path} has lost event {entry.id}: {type(error).__name__}: {error}"
    finally:
        while _left:
            _left.pop().close()
        if ends and writer.is_open and not writer.spill.count and _is_log_short(path):
            _left.append(writer)
        else:
            writer.close()
        # Whoever closes a journal last syncs it. Where it is still open, nobody did.
        if not full:
            with suppress(OSError):
                sync_log(path)


def _is_log_short(path: str) -> bool:
    try:
        return os.stat(f"{path}-wal").st_size <= _LONG_LOG
    except OSError:
        return False
