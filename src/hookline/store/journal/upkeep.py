"""What has to wait for the disk, in a thread of its own: sync, checkpoint, retention.

Has a connection of its own, too. The writer sees it as another process: while a step is made it
finds the file busy, and tries again.
"""

import os
import sqlite3
import time
from contextlib import suppress

from hookline.store.journal.files import connected, grow, identity, is_busy, is_grown, sync
from hookline.store.journal.retention import Pruned, Retention, prune, size_of

__all__ = ["Keeper"]

# While events keep coming a checkpoint never catches up with the log, which then only grows.
_LONG_LOG = 2048
_PATIENCE = 50
_CLOCK_JUMP = 3600.0


class Keeper:
    """Keeps one journal file in order; all of it is called from one thread."""

    def __init__(self, path: str, retention: Retention) -> None:
        self._path = path
        self._retention = retention
        self._log = -1
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None
        self._shrinking = False
        self._clocks = time.time() - _steady()
        self.unshipped = 0
        """How many events retention took away before they were shipped."""

    def sync(self) -> None:
        """Returns when what was committed before is on the disk. Raises OSError."""
        path = f"{self._path}-wal"
        if self._log >= 0:
            log = os.fstat(self._log)
            if identity(path) != (log.st_dev, log.st_ino):
                self._forget_log()
        if self._log < 0:
            with suppress(FileNotFoundError):  # without a log, every commit was synced
                self._log = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        if self._log >= 0:
            sync(self._log)

    def make_room(self) -> None:
        """Sees to a log that need not grow, where every commit waits for a sync of it.

        Raises sqlite3.Error.
        """
        try:
            while not is_grown(self._path):
                grow(self._connected(), self._path)
        except OSError:
            pass  # a full disk, or no log: nothing is lost but time
        except sqlite3.Error as error:
            if not is_busy(error):
                raise

    def checkpoint(self) -> None:
        """Moves what is in the log into the file, so that the log can begin anew.

        Raises sqlite3.Error.
        """
        try:
            connection = self._connected()
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
            connection = self._connected()
            over = size_of(connection) > self._retention.max_bytes
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

    def confession(self) -> str:
        """What retention had to do that nobody wanted, in words, once."""
        count, self.unshipped = self.unshipped, 0
        return (
            f"the journal {self._path} is full: {count} events went that were never shipped. "
            "`max_mb` says how much it may hold."
        )

    def _connected(self) -> sqlite3.Connection:
        found = identity(self._path)
        if self._connection is not None and found != self._seen:
            self._disconnect()
        if self._connection is None:
            self._connection, self._seen = connected(self._path), found
            self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        return self._connection

    def close(self, *, sync: bool) -> None:
        """Gives back all it holds, after a last sync."""
        with suppress(OSError):
            if sync:
                self.sync()
        self._forget_log()
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._seen = None

    def _forget_log(self) -> None:
        if self._log >= 0:
            os.close(self._log)
        self._log = -1


def _steady() -> float:
    """A clock that nobody can move, and that goes on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
