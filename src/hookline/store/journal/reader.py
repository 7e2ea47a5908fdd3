"""Reading a journal while others write it; never writes, never makes one."""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from msgspec.structs import replace

from hookline.model.errors import HooklineError
from hookline.model.journal import Recorded
from hookline.store.journal.files import describe_error, quote_path
from hookline.store.journal.filters import (
    SQLITE,
    SUMMARY,
    Dialect,
    Filter,
    SessionSummary,
    conditions,
)
from hookline.store.journal.schema import COLUMN_NAMES, MIGRATIONS, NewerJournal, decode_row

__all__ = ["Filter", "NoJournal", "Queries", "Reader", "SessionSummary"]

_ANY = Filter()
_WAIT = 5.0
_COPY = "journal.db"
_TRIES = 5
_NAMESAKES = 20
# Behind every text that begins with what stands before it.
_LAST_CHARACTER = "\U0010ffff"


class NoJournal(HooklineError):
    """Nothing was written down yet."""


class Queries:
    """What can be asked of a journal, wherever it is kept. Every method raises HooklineError."""

    dialect: ClassVar[Dialect]
    machine: ClassVar[str] = ""
    """What selects the machine of an event; nothing where a journal has those of one."""

    def find(self, name: str) -> Recorded:
        """The event of this id or unique beginning of one; its last attempt."""
        # First the id itself: any number of newer ones may begin with it.
        found = self._select("id = ?", [name], "seq DESC") or self._select(
            self.dialect.id_begins, [name, name + _LAST_CHARACTER], "seq DESC", _NAMESAKES
        )
        if not found:
            raise HooklineError(
                f"no event in the journal has an id that begins with `{name}`; "
                "`hookline log` lists them"
            )
        exact = [each for each in found if each.id == name] or found
        ids = list(dict.fromkeys(each.id for each in exact))
        if len(ids) > 1:
            shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
            raise HooklineError(f"`{name}` begins the ids of several events: {shown}")
        return max(exact, key=lambda each: each.attempt)

    def last(self, wanted: Filter = _ANY) -> Recorded | None:
        """The newest event of those that are wanted."""
        found = self.query(replace(wanted, limit=1))
        return found[0] if found else None

    def query(self, wanted: Filter = _ANY) -> Sequence[Recorded]:
        """Newest first; but oldest first where ``after_seq`` says what is known already."""
        where, values = conditions(wanted, self.dialect)
        order = "seq DESC" if wanted.after_seq is None else "seq ASC"
        return self._select(where, values, order, wanted.limit)

    def sessions(self, limit: int = 50) -> Sequence[SessionSummary]:
        """The sessions that are known, the one last heard of first."""
        rows = self._fetch(
            f"SELECT {SUMMARY} FROM {self.dialect.table} WHERE session_id != '' "  # noqa: S608
            "GROUP BY session_id ORDER BY max(seq) DESC LIMIT ?",
            [limit],
        )
        return [SessionSummary.of(row) for row in rows]

    def _select(
        self, where: str, values: Sequence[Any], order: str, limit: int = -1
    ) -> list[Recorded]:
        names = [self.machine] if self.machine else []
        rows = self._fetch(
            f"SELECT {', '.join(('seq', *COLUMN_NAMES, *names))} FROM {self.dialect.table} "  # noqa: S608
            f"WHERE {where} ORDER BY {order}{' LIMIT ?' if limit >= 0 else ''}",
            [*values, limit] if limit >= 0 else values,
        )
        end = 1 + len(COLUMN_NAMES)
        found = [(decode_row(row[0], row[1:end]), *row[end:]) for row in map(tuple, rows)]
        return [replace(event, machine=rest[0]) if rest else event for event, *rest in found]

    def _fetch(self, statement: str, values: Sequence[Any] = ()) -> Sequence[Any]:
        raise NotImplementedError


class Reader(Queries):
    """One journal file."""

    dialect = SQLITE

    def __init__(self, path: str) -> None:
        """Raises HooklineError when there is no journal, or none that this hookline can read."""
        self._path = path
        if not os.path.exists(path):
            raise NoJournal(
                f"there is no journal at {path} yet: it begins with the first event that an agent "
                "sends through `hookline hook`"
            )
        try:
            self._connection = _connect(path)
        except sqlite3.Error as error:
            raise self._unreadable(error) from error
        try:
            (version,) = self._fetch("PRAGMA user_version")[0]
            if version > len(MIGRATIONS):
                raise NewerJournal(path, version)
            if not version:
                self._fetch("SELECT count(*) FROM events")
        except BaseException:
            self.close()
            raise

    def version(self) -> int:
        """A number that changes when another process has written; cheap enough to ask often."""
        return int(self._fetch("PRAGMA data_version")[0][0])

    def close(self) -> None:
        """Gives the file back."""
        self._connection.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fetch(self, statement: str, values: Sequence[Any] = ()) -> Sequence[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: sqlite3.Error) -> HooklineError:
        return HooklineError(
            f"the journal {self._path} cannot be read: {error}. If it is damaged, move it away "
            "with its -wal and -shm: the next event begins a new one."
        )


def _connect(path: str) -> sqlite3.Connection:
    """A connection that sees every event, those too that are still in the log.

    It reads also where nothing at all can be written. Raises sqlite3.Error, and HooklineError when
    it takes a copy to read it and none can be made.
    """
    path = os.path.realpath(path)  # beside which SQLite has the log
    try:
        return _open(path)
    except sqlite3.OperationalError as error:
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            raise
    # SQLite wants a file for its locks beside the log, and cannot make one. So nobody is writing
    # either: that file would be there. `immutable` does without it, but looks into no log.
    return _copy(path) if _has_log(path) else _open(path, "&immutable=1")


def _open(path: str, options: str = "") -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote_path(path)}?mode=ro{options}",
        uri=True,
        timeout=_WAIT,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA user_version").fetchone()  # only now the files are opened
    except BaseException:
        connection.close()
        raise
    return connection


def _has_log(path: str) -> bool:
    try:
        return os.stat(f"{path}-wal").st_size > 0
    except OSError:
        return False


def _copy(path: str) -> sqlite3.Connection:
    try:
        with TemporaryDirectory(prefix="hookline-journal-") as directory:
            copy = os.path.join(directory, _COPY)
            for _ in range(_TRIES):
                before = _read_state(path)
                for end in ("", "-wal"):
                    shutil.copyfile(path + end, copy + end)
                # A writer may have come meanwhile, and what was copied may not fit together.
                if _read_state(path) == before:
                    break
            else:
                raise HooklineError(f"the journal {path} is being written to; try again")
            # The copy has no name after this, and is gone with the connection, however that ends.
            return _open(copy)
    except OSError as error:
        why = describe_error(error)
        if error.filename and os.path.dirname(error.filename) == os.path.dirname(path):
            raise HooklineError(f"the journal {path} cannot be read: {why}") from error
        raise HooklineError(
            f"the journal {path} lies where nothing can be written, so it takes a copy to read it, "
            f"and none can be made: {why}. TMPDIR says where to make it."
        ) from error


def _read_state(path: str) -> list[tuple[int, int, int]]:
    found = (os.stat(path + end) for end in ("", "-wal"))
    return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found]
