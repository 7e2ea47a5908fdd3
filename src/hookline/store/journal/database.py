"""The journal's database: its columns, the tables made of them, and the file that they lie in.

A new column is one line in ``COLUMNS``, with the version of the schema that it comes with: the
statements, the tables of SQLite and PostgreSQL and the steps to them from earlier versions are made
from that.

An event is one row, so that one statement is a commit: a table of runs, or of payloads, made it
twice as dear. The payload comes last, so that a search through the other columns does not wade
through it.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from hookline.model.errors import HooklineError
from hookline.model.events import ToolEvent
from hookline.model.journal import Entry, Recorded
from hookline.store.journal.recording import Details, Facts, read_facts

__all__ = [
    "BUSY_MS",
    "COLUMNS",
    "COLUMN_NAMES",
    "DAMAGED",
    "INSERT",
    "MIGRATIONS",
    "PAGE",
    "POSTGRES_COLUMNS",
    "NewerJournal",
    "Row",
    "connect",
    "decode_row",
    "describe_error",
    "file_identity",
    "is_busy",
    "is_damage",
    "make_file",
    "make_row",
    "micros",
    "migrate",
    "open_journal",
    "quote_path",
    "set_aside",
    "sync",
    "sync_log",
    "transaction",
]

DAMAGED = "journal-damaged-"
_DAMAGED_KEPT = 3
_COMPANIONS = ("-wal", "-shm")

PAGE = 8192
"""An event and its payload are in one, mostly, and a commit has fewer of them to write."""

BUSY_MS = 100
"""For so many milliseconds an answer may wait for another process that is writing."""

sync = getattr(os, "fdatasync", os.fsync)
"""Returns when what was written through this descriptor is on the disk. Raises OSError."""

_PLAIN = frozenset(b"/-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FAILED = "failed"
"""In place of a verdict where there was none: ``failure`` says why."""
# What a row takes in memory beside its texts, about.
_ROW_SIZE = 1_000


def micros(time: datetime) -> int:
    """As times are stored: microseconds since 1970."""
    return int(time.timestamp() * 1e6)


def _moment(stored: int) -> datetime:
    """The time that was stored."""
    return _EPOCH + timedelta(microseconds=stored)


class ColumnType(Struct, frozen=True):
    """What a column holds, and its type in each database."""

    sqlite: str
    postgres: str


TEXT = ColumnType("TEXT", "TEXT")
NUMBER = ColumnType("INTEGER", "BIGINT")
FLAG = ColumnType("INTEGER", "BOOLEAN")
BYTES = ColumnType("BLOB", "BYTEA")


class Column(Struct, frozen=True):
    """One column of ``events``."""

    name: str
    kind: ColumnType
    read: Callable[[Facts], Any]
    """Its value, from what may be stored of an entry."""
    tell: Callable[[Any], Mapping[str, Any]] | None = None
    """What it gives to a ``Recorded``; unless told otherwise, the value under its own name."""
    is_filter: bool = False
    """Whether a ``Filter`` has a field of this name that asks for one value."""
    since: int = 1
    """The version of the schema that it came with."""
    default: str = ""
    """In SQL: its value in rows that are older than it."""


def _read_event(facts: Facts) -> str:
    event = facts.entry.event
    return event.event_id() if event is not None else ""


def _read_kind(facts: Facts) -> str:
    event = facts.entry.event
    return event.tool.kind._value_ if isinstance(event, ToolEvent) else ""


def _read_verdict(facts: Facts) -> str:
    outcome = facts.entry.outcome
    return outcome.answer.verdict._value_ if outcome is not None else _FAILED


def _tell_details(text: str) -> Mapping[str, Any]:
    details = msgspec.json.decode(text, type=Details)
    fields = {name: getattr(details, name) for name in Details.__struct_fields__}
    return fields | {"runs": tuple(details.runs)}


COLUMNS: Sequence[Column] = (
    Column("id", TEXT, lambda facts: facts.names[0]),
    Column("attempt", NUMBER, lambda facts: facts.entry.attempt),
    Column("at", NUMBER, lambda facts: micros(facts.entry.at), lambda at: {"at": _moment(at)}),
    Column("ns", NUMBER, lambda facts: facts.entry.ns),
    Column("dialect", TEXT, lambda facts: facts.names[1], is_filter=True),
    Column("native_event", TEXT, lambda facts: facts.names[2]),
    Column("event", TEXT, _read_event, is_filter=True),
    Column("session_id", TEXT, lambda facts: facts.names[3]),
    Column("tool_kind", TEXT, _read_kind),
    Column("tool_name", TEXT, lambda facts: facts.names[4]),
    Column("verdict", TEXT, _read_verdict, is_filter=True),
    # The one question that a filter asks of the runs, which ``said`` has.
    Column("hooks", TEXT, lambda facts: facts.hooks, lambda _: {}),
    Column("redactions", NUMBER, lambda facts: facts.redactions),
    Column("cut", FLAG, lambda facts: facts.cut, lambda cut: {"cut": bool(cut)}),
    Column("exit_code", NUMBER, lambda facts: facts.entry.reply.exit_code),
    Column("said", TEXT, lambda facts: facts.details.decode(), _tell_details),
    Column("stdout", BYTES, lambda facts: facts.stdout),
    Column("stderr", BYTES, lambda facts: facts.stderr),
    Column("payload", BYTES, lambda facts: facts.payload),
)
COLUMN_NAMES: Sequence[str] = tuple(column.name for column in COLUMNS)
_READS = tuple(column.read for column in COLUMNS)

# An event whose answer was lost on the way comes again with the same id and attempt: one row.
INSERT = (
    f"INSERT INTO events ({', '.join(COLUMN_NAMES)}) "  # noqa: S608 - our own names
    f"VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT (id, attempt) DO NOTHING"
)


class Row(Struct, frozen=True, gc=False):
    """One event as it is stored."""

    columns: tuple[Any, ...]
    """In the order of ``COLUMNS``."""
    size: int
    """About how many bytes it holds in memory."""
    session_end: bool = False


def make_row(entry: Entry, *, payload_cap: int = 65_536) -> Row:
    """The row of an entry."""
    facts = read_facts(entry, payload_cap)
    columns = tuple([read(facts) for read in _READS])
    texts = len(facts.details) + len(facts.payload) + len(facts.stdout) + len(facts.stderr)
    return Row(columns, texts + _ROW_SIZE, _read_event(facts) == "session_end")


def decode_row(seq: int, columns: Sequence[Any]) -> Recorded:
    """The event that a row holds. Raises HooklineError when it is damaged."""
    fields: dict[str, Any] = {"seq": seq}
    try:
        for column, value in zip(COLUMNS, columns, strict=True):
            fields.update(column.tell(value) if column.tell is not None else {column.name: value})
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise HooklineError(f"event {fields['id']} is damaged in the journal: {error}") from error
    return Recorded(**fields)


class NewerJournal(HooklineError):
    """The file was written by a later hookline, in a shape that this one does not know."""

    def __init__(
        self, path: str, found: int, *, known: int | None = None, what: str = "journal"
    ) -> None:
        super().__init__(
            f"the {what} {path} has the shape of a newer hookline (schema {found}, this one knows "
            f"{len(MIGRATIONS) if known is None else known}): update this one, or move the file "
            "away"
        )


def _define(column: Column, kind: str) -> str:
    default = f" DEFAULT {column.default}" if column.default else ""
    return f"{column.name} {kind} NOT NULL{default}"


def _create(connection: sqlite3.Connection) -> None:
    columns = ",\n          ".join(_define(each, each.kind.sqlite) for each in _columns_of(1))
    connection.execute(f"CREATE TABLE events (seq INTEGER PRIMARY KEY,\n          {columns})")
    connection.execute("CREATE UNIQUE INDEX events_by_id ON events (id, attempt)")
    # Small things to remember, such as how far the events were shipped.
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")


def _add_columns(version: int, connection: sqlite3.Connection) -> None:
    for column in _columns_of(version):
        connection.execute(f"ALTER TABLE events ADD COLUMN {_define(column, column.kind.sqlite)}")


def _columns_of(version: int) -> Iterator[Column]:
    """Those that came with this version of the schema."""
    return (column for column in COLUMNS if column.since == version)


_LAST_VERSION = max(column.since for column in COLUMNS)
MIGRATIONS: Sequence[Callable[[sqlite3.Connection], None]] = (
    _create,
    *(partial(_add_columns, version) for version in range(2, _LAST_VERSION + 1)),
)
"""Each takes the file from the version of its index to the next; none is ever changed."""

POSTGRES_COLUMNS: Sequence[Sequence[str]] = [
    [_define(column, column.kind.postgres) for column in _columns_of(version)]
    for version in range(1, _LAST_VERSION + 1)
]
"""The definitions of the columns that came with each version."""


def migrate(
    connection: sqlite3.Connection,
    path: str,
    steps: Sequence[Callable[[sqlite3.Connection], None]] | None = None,
    what: str = "journal",
) -> None:
    """Brings the file to the newest shape. Raises NewerJournal, and what sqlite3 raises."""
    steps = MIGRATIONS if steps is None else steps
    if _read_version(connection) == len(steps):
        return
    # Another process may be about to do the same: the first one does it, the second sees it done.
    with transaction(connection):
        found = _read_version(connection)
        if found > len(steps):
            raise NewerJournal(path, found, known=len(steps), what=what)
        for step in steps[found:]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {len(steps)}")


def _read_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


# The file: made for nobody else's eyes, opened, synced, and set aside when damaged


def open_journal(path: str, *, full: bool) -> sqlite3.Connection:
    """The journal ready for writing, made if there is none.

    Raises OSError, sqlite3.Error, and HooklineError when it is not ours to write.
    """
    fresh = not make_file(path)
    connection = connect(path)
    try:
        if fresh:
            # The layout of the file, which it keeps. To say it again would be a commit, and a sync.
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
        connection.execute("PRAGMA cache_size = -4096")
        migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: str) -> sqlite3.Connection:
    """A connection to a journal that is there, in which every statement is a transaction."""
    connection = sqlite3.connect(
        f"file:{quote_path(path)}?mode=rw",
        uri=True,
        timeout=BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=32,
    )
    # Checkpoints wait for the disk. They are made beside the writer, not inside a commit.
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


def quote_path(path: str) -> str:
    """The path in a URI, as SQLite reads it."""
    # By hand: to load the library that knows how takes longer than to write an event.
    raw = os.fsencode(os.path.abspath(path))
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)


def make_file(path: str) -> int:
    """Sees to it that there is a file, and that nobody else can read it; its size."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    # Only looked at, never opened: to close any descriptor of a database would give up the locks
    # that other connections of this process hold on it.
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        raise HooklineError(f"{path} is not a file of this user's; move it away")
    for name in (path, *(path + end for end in _COMPANIONS)):
        with suppress(FileNotFoundError):
            if os.lstat(name).st_mode & 0o077:
                os.chmod(name, 0o600)
    return found.st_size


def sync_log(path: str) -> None:
    """Returns when all commits are on the disk; without a log they are. Raises OSError."""
    try:
        handle = os.open(f"{path}-wal", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        sync(handle)
    finally:
        os.close(handle)


def file_identity(path: str) -> tuple[int, int] | None:
    """Which file stands under this name now; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Alone with the file until it commits at the end, or earlier; an error undoes all of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        if connection.in_transaction:
            connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def is_busy(error: Exception) -> bool:
    """Whether another process is writing, so that it is worth trying again soon."""
    return _read_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_damage(error: Exception) -> bool:
    """Whether the file is no database any more, so that trying again is of no use."""
    return _read_code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _read_code(error: Exception) -> int | None:
    # The upper bits tell which kind of it.
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def describe_error(error: Exception) -> str:
    """The error in words; SQLite's own do not say which of many reasons it was."""
    if is_busy(error):
        return "another process has it locked"
    if isinstance(error, OSError) and error.strerror:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        return f"{error.strerror}{where}"
    return str(error) or type(error).__name__


def set_aside(path: str, seen: tuple[int, int] | None, prefix: str = DAMAGED) -> str:
    """Renames a damaged database, unless another process did so already; its new name, or empty.

    Raises OSError.
    """
    import fcntl

    directory = os.path.dirname(path) or "."
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if seen is None or file_identity(path) != seen:
            return ""
        time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        aside = os.path.join(os.path.dirname(path), f"{prefix}{time}.db")
        # The database last: until then a process that stops in the middle leaves a damaged one,
        # which will be set aside again, and never a fresh one beside an old log.
        for end in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                os.rename(path + end, aside + end)
        _remove_oldest(directory, prefix)
    finally:
        os.close(lock)
    return aside


def _remove_oldest(directory: str, prefix: str) -> None:
    """A file that is damaged again and again must not fill the disk."""
    damaged = sorted(
        name for name in os.listdir(directory) if name.startswith(prefix) and name.endswith(".db")
    )
    for name in damaged[:-_DAMAGED_KEPT]:
        for end in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(directory, name + end))
