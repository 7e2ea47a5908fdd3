"""The journal's tables, and the way from every earlier shape of them to this one.

An event is one row, so that one statement is a commit: a table of runs, or of payloads, made it
twice as dear. ``hooks`` answers the one question that a filter asks of the runs. The payload comes
last, so that a search through the other columns does not wade through it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = [
    "COLUMNS",
    "INSERT",
    "MIGRATIONS",
    "NewerJournal",
    "migrate",
]

COLUMNS: Sequence[str] = (
    "id",
    "attempt",
    "at",
    "ns",
    "dialect",
    "native_event",
    "event",
    "session_id",
    "tool_kind",
    "tool_name",
    "verdict",
    "hooks",
    "redactions",
    "cut",
    "exit_code",
    "said",
    "stdout",
    "stderr",
)
"""Of an event's row, between ``seq`` and ``payload``; the same in every database, local or not."""

_STORED = (*COLUMNS, "payload")
# An event whose answer was lost on the way comes again with the same id and attempt: one row.
INSERT = (
    f"INSERT INTO events ({', '.join(_STORED)}) VALUES ({', '.join('?' * len(_STORED))}) "  # noqa: S608 - our own names
    "ON CONFLICT (id, attempt) DO NOTHING"
)


class NewerJournal(HooklineError):
    """The file was written by a later hookline, in a shape that this one does not know."""

    def __init__(self, path: str, found: int) -> None:
        super().__init__(
            f"the journal {path} has the shape of a newer hookline (schema {found}, this one knows "
            f"{len(MIGRATIONS)}): update this one, or move the file away"
        )


def _first(connection: "Connection") -> None:
    connection.execute(
        """
        CREATE TABLE events (
          seq INTEGER PRIMARY KEY,
          id TEXT NOT NULL,
          attempt INTEGER NOT NULL,
          at INTEGER NOT NULL,
          ns INTEGER NOT NULL,
          dialect TEXT NOT NULL,
          native_event TEXT NOT NULL,
          event TEXT NOT NULL,
          session_id TEXT NOT NULL,
          tool_kind TEXT NOT NULL,
          tool_name TEXT NOT NULL,
          verdict TEXT NOT NULL,
          hooks TEXT NOT NULL,
          redactions INTEGER NOT NULL,
          cut INTEGER NOT NULL,
          exit_code INTEGER NOT NULL,
          said TEXT NOT NULL,
          stdout BLOB NOT NULL,
          stderr BLOB NOT NULL,
          payload BLOB NOT NULL
        )
        """
    )
    connection.execute("CREATE UNIQUE INDEX events_by_id ON events (id, attempt)")
    # Small things to remember, such as how far the events were shipped.
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")


MIGRATIONS: Sequence[Callable[["Connection"], None]] = (_first,)
"""Each takes the file from the version of its index to the next; none is ever changed."""


def migrate(connection: "Connection", path: str) -> None:
    """Brings the file to the newest shape. Raises NewerJournal, and what sqlite3 raises."""
    if _version(connection) == len(MIGRATIONS):
        return
    # Another process may be about to do the same: the first one does it, the second sees it done.
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)
        if found > len(MIGRATIONS):
            raise NewerJournal(path, found)
        for step in MIGRATIONS[found:]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: "Connection") -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
