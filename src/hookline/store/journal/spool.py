"""The local journal as a spool: what was not shipped yet, and how far it was."""

import os
import socket
import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from hookline.store.journal.files import connected, identity
from hookline.store.journal.schema import COLUMNS

__all__ = ["Batch", "Machine", "Spool", "watermark"]

_MOST_ROWS = 200
_MOST_BYTES = 4 << 20

_NEXT = (
    f"SELECT seq, {', '.join(COLUMNS)}, payload FROM events "  # noqa: S608 - our own names
    "WHERE seq > ? ORDER BY seq LIMIT ?"
)
_MOVE = (
    "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE "
    "SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))"
)


class Machine(Struct, frozen=True):
    """Who ships: a number that stays, and a name for people."""

    id: str
    name: str

    @classmethod
    def of(cls, directory: str) -> "Machine":
        """The one whose journal is in this directory. Raises OSError."""
        path = os.path.join(directory, "machine")
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            with open(path, encoding="ascii", errors="replace") as file:
                known = file.read().strip()
            # Half of it, when another process is writing it: the next try sees all of it.
            if len(known) != 32:
                raise BlockingIOError(
                    f"{path} is not complete; remove it to get a new one"
                ) from None
        else:
            known = os.urandom(16).hex()
            with open(handle, "w", encoding="ascii") as file:
                file.write(known)
        return cls(known, socket.gethostname())


class Batch(Struct, frozen=True):
    """The next events to ship, oldest first."""

    rows: Sequence[Sequence[Any]]
    """The columns of ``events``, then the payload."""
    last: int
    """The number of the last one."""


def watermark(dsn: str) -> str:
    """The key of ``meta`` that says how far events were shipped to this database."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(dsn)
    except ValueError:
        place = [dsn]
    else:
        # A new password, or another way to spell the options, is the same database.
        hosts = [word for word in parts.query.split("&") if word.startswith("host=")]
        place = [parts.netloc.rpartition("@")[2], parts.path, *hosts]
    return "shipped:" + sha256("\n".join(place).encode()).hexdigest()[:16]


class Spool:
    """Reads what is to be shipped, and writes down what was. Blocks: not for the loop."""

    def __init__(self, path: str, key: str) -> None:
        self._path = path
        self._key = key
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None

    def next(self) -> Batch | None:
        """What comes after that which was shipped; None when that is all. Raises sqlite3.Error."""
        connection = self._connected()
        if connection is None:
            return None
        shipped = connection.execute(
            "SELECT value FROM meta WHERE key = ?", (self._key,)
        ).fetchone()
        rows: list[Sequence[Any]] = []
        last = size = 0
        found = connection.execute(_NEXT, (int(shipped[0]) if shipped else 0, _MOST_ROWS))
        for seq, *columns, payload in found:
            size += len(payload) + len(columns[-3])
            if rows and size > _MOST_BYTES:
                break
            rows.append((*columns, payload))
            last = seq
        found.close()
        return Batch(rows, last) if rows else None

    def shipped(self, last: int) -> None:
        """Remembers that all up to this one were shipped. Raises sqlite3.Error."""
        connection = self._connected()
        if connection is not None:
            connection.execute(_MOVE, (self._key, str(last)))

    def _connected(self) -> sqlite3.Connection | None:
        found = identity(self._path)
        if self._connection is not None and found != self._seen:
            self.close()
        if self._connection is None and found is not None:
            self._connection, self._seen = connected(self._path), found
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        return self._connection

    def close(self) -> None:
        """Gives the file back."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._seen = None
