"""The journal's columns, and the tables made of them in SQLite and PostgreSQL.

A new column is one line in ``COLUMNS``, with the version of the schema that it comes with: the
statements, the tables and the steps to them from earlier versions are made from that.

An event is one row, so that one statement is a commit: a table of runs, or of payloads, made it
twice as dear. The payload comes last, so that a search through the other columns does not wade
through it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hookline.model.errors import HooklineError
from hookline.model.events import ToolEvent
from hookline.model.journal import Entry, Recorded
from hookline.store.journal.recording import Details, Facts, read_facts

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = [
    "COLUMNS",
    "COLUMN_NAMES",
    "INSERT",
    "MIGRATIONS",
    "POSTGRES_COLUMNS",
    "NewerJournal",
    "Row",
    "decode_row",
    "make_row",
    "micros",
    "migrate",
]

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


class Kind(Struct, frozen=True):
    """What a column holds, and its type in each database."""

    sqlite: str
    postgres: str


TEXT = Kind("TEXT", "TEXT")
NUMBER = Kind("INTEGER", "BIGINT")
FLAG = Kind("INTEGER", "BOOLEAN")
BYTES = Kind("BLOB", "BYTEA")


class Column(Struct, frozen=True):
    """One column of ``events``."""

    name: str
    kind: Kind
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

    def __init__(self, path: str, found: int) -> None:
        super().__init__(
            f"the journal {path} has the shape of a newer hookline (schema {found}, this one knows "
            f"{len(MIGRATIONS)}): update this one, or move the file away"
        )


def _define(column: Column, kind: str) -> str:
    default = f" DEFAULT {column.default}" if column.default else ""
    return f"{column.name} {kind} NOT NULL{default}"


def _create(connection: "Connection") -> None:
    columns = ",\n          ".join(_define(each, each.kind.sqlite) for each in _columns_of(1))
    connection.execute(f"CREATE TABLE events (seq INTEGER PRIMARY KEY,\n          {columns})")
    connection.execute("CREATE UNIQUE INDEX events_by_id ON events (id, attempt)")
    # Small things to remember, such as how far the events were shipped.
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")


def _add_columns(version: int, connection: "Connection") -> None:
    for column in _columns_of(version):
        connection.execute(f"ALTER TABLE events ADD COLUMN {_define(column, column.kind.sqlite)}")


def _columns_of(version: int) -> Iterator[Column]:
    """Those that came with this version of the schema."""
    return (column for column in COLUMNS if column.since == version)


_LAST_VERSION = max(column.since for column in COLUMNS)
MIGRATIONS: Sequence[Callable[["Connection"], None]] = (
    _create,
    *(partial(_add_columns, version) for version in range(2, _LAST_VERSION + 1)),
)
"""Each takes the file from the version of its index to the next; none is ever changed."""

POSTGRES_COLUMNS: Sequence[Sequence[str]] = [
    [_define(column, column.kind.postgres) for column in _columns_of(version)]
    for version in range(1, _LAST_VERSION + 1)
]
"""The definitions of the columns that came with each version."""


def migrate(connection: "Connection", path: str) -> None:
    """Brings the file to the newest shape. Raises NewerJournal, and what sqlite3 raises."""
    if _read_version(connection) == len(MIGRATIONS):
        return
    # Another process may be about to do the same: the first one does it, the second sees it done.
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _read_version(connection)
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


def _read_version(connection: "Connection") -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
