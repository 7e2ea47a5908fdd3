"""What builtins remember between events and between sessions: one SQLite file in hookline's home.

Each topic has a module of its own beside this one, with its tables and its questions. A new topic
adds a step to ``MIGRATIONS``; none is ever changed.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from hookline.model.errors import HooklineError
from hookline.store import tool_calls
from hookline.store.handoffs import create_handoffs
from hookline.store.journal.database import (
    connect,
    describe_error,
    file_identity,
    is_damage,
    make_file,
    migrate,
    set_aside,
    transaction,
)
from hookline.store.usage import make_usage_tables

__all__ = ["MIGRATIONS", "StateDatabase"]

_DAMAGED = "state-damaged-"
# An agent waits for it. Each transaction takes well below a millisecond.
_BUSY_MS = 1_000

MIGRATIONS: Sequence[Callable[[sqlite3.Connection], None]] = (
    make_usage_tables,
    create_handoffs,
    tool_calls.add_tables,
)


class StateDatabase:
    """One home's state; opened when it is first asked for, and shared by the threads of a process.

    ``brief``: a copy in memory, which ends with the process and leaves the file as it is.
    """

    def __init__(self, home: str, *, brief: bool = False) -> None:
        self.path = os.path.join(home, "state.db")
        self._brief = brief
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Alone with the file until the block ends; an error undoes all of it.

        Raises HooklineError when the file is locked, damaged or of a newer hookline.
        """
        with self._guarded() as connection, transaction(connection):
            yield connection

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """The file as it is. Raises HooklineError as ``write`` does."""
        with self._guarded() as connection:
            yield connection

    def close(self) -> None:
        """Gives the file back; the next question opens it again."""
        with self._lock:
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = self._seen = None

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._open()
            except (sqlite3.Error, OSError) as error:
                raise self._explain(error) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._brief or file_identity(self.path) == self._seen:
                return self._connection
            self.close()  # somebody removed or replaced the file
        connection = self._copy() if self._brief else self._open_file()
        self._connection, self._seen = connection, file_identity(self.path)
        return connection

    def _open_file(self) -> sqlite3.Connection:
        make_file(self.path)
        connection = connect(self.path)
        try:
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA wal_autocheckpoint = 1000")
            connection.execute("PRAGMA foreign_keys = ON")
            migrate(connection, self.path, MIGRATIONS, "state")
        except BaseException:
            connection.close()
            raise
        return connection

    def _copy(self) -> sqlite3.Connection:
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if os.path.exists(self.path):
            original = connect(self.path)
            try:
                original.backup(copy)
            finally:
                original.close()
        migrate(copy, self.path, MIGRATIONS, "state")
        return copy

    def _explain(self, error: sqlite3.Error | OSError) -> HooklineError:
        seen = self._seen or file_identity(self.path)
        self.close()
        if not is_damage(error) or self._brief:
            return HooklineError(f"the state {self.path} cannot be used: {describe_error(error)}")
        try:
            aside = set_aside(self.path, seen, _DAMAGED)
        except OSError as failure:
            why = describe_error(failure)
            return HooklineError(f"the state {self.path} is damaged and cannot be moved: {why}")
        kept = f"it was kept as {aside}, and a new one begins" if aside else "a new one begins"
        return HooklineError(f"the state {self.path} was damaged: {kept}")
