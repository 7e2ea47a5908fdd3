"""Reading a journal while others write it; never writes, never makes one.

SQLite and PostgreSQL are asked the same questions: ``SqlDialect`` has what differs in their SQL.
"""

import json
import os
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.errors import HooklineError
from hookline.model.journal import Recorded
from hookline.store.journal.database import (
    COLUMN_NAMES,
    COLUMNS,
    MIGRATIONS,
    NewerJournal,
    decode_row,
    describe_error,
    micros,
    quote_path,
)

__all__ = ["POSTGRES", "Filter", "JournalReader", "NoJournal", "Queries", "SqlDialect"]

_WAIT = 5.0
_COPY = "journal.db"
_TRIES = 5
_NAMESAKES = 20
# Behind every text that begins with what stands before it.
_LAST_CHARACTER = "\U0010ffff"


# What a hook did that may have to be explained, as it reads in the JSON of ``said``. A quote inside
# of a text has a backslash before it there, so no text can be taken for any of these. Context,
# notices and rewritten outputs are not among them: hooks that talk would hide the deny before them.
# Variables are: where a client cannot set them, it is told deny instead.
_TELLING = (
    *(f'"verdict":"{verdict}"' for verdict in ("allow", "ask", "deny", "halt")),
    *(f'"rewrite":{{"{part}":' for part in ("input", "prompt", "env")),
    '"follow_up":[',
    '"failed":"',
)


class Filter(Struct, frozen=True, kw_only=True):
    """Which events are wanted; what is left out takes any."""

    session: str | None = None
    """The session, or the beginning of its id."""
    event: str | None = None
    verdict: str | None = None
    """One of the five, or ``failed`` where there was none."""
    tool: str | None = None
    """The tool's kind or its native name; capital letters do not matter."""
    hook: str | None = None
    """The name of a hook that ran."""
    project: str | None = None
    """The project's directory."""
    telling: bool = False
    """Only where the verdict is not pass, or some hook said another one, rewrote the tool's input
    or variables or the prompt, gave a follow-up or failed."""
    dialect: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None
    """Anywhere in what came in or was said; capital letters do not matter in ASCII."""
    limit: int = 50
    after_seq: int | None = None
    """Then oldest first, beginning behind this one: to follow what is being written."""


class SqlDialect(Struct, frozen=True):
    """Where two databases differ."""

    table: str
    find_text: str
    """Where a text stands in another one; 0 when it is not there."""
    like: str
    """Compares without regard to capital letters in ASCII."""
    payload: str
    """Compares the payload, which may be no text at all."""
    id_begins: str
    """With the beginning and the first text behind all that begin so; an index is used."""


SQLITE = SqlDialect(
    table="events",
    find_text="instr",
    like="LIKE ? ESCAPE '!'",
    payload="CAST(payload AS TEXT) LIKE ? ESCAPE '!'",
    id_begins="id >= ? AND id < ?",
)
POSTGRES = SqlDialect(
    table="hookline.events",
    find_text="strpos",
    like="ILIKE ? ESCAPE '!'",
    # As PostgreSQL spells bytes.
    payload="encode(payload, 'escape') ILIKE encode(convert_to(?, 'UTF8'), 'escape') ESCAPE '!'",
    id_begins="id ~>=~ ? AND id ~<~ ?",
)


def conditions(wanted: Filter, dialect: SqlDialect) -> tuple[str, list[Any]]:
    """The filter in SQL, and a value for each ``?`` in it."""
    parts: list[str] = []
    values: list[Any] = []

    def add(condition: str, *of: Any) -> None:
        parts.append(condition)
        values.extend(of)

    for column in COLUMNS:
        if column.is_filter and (value := getattr(wanted, column.name)) is not None:
            add(f"{column.name} = ?", value)
    if wanted.session is not None:
        add("substr(session_id, 1, ?) = ?", len(wanted.session), wanted.session)
    if wanted.tool is not None:
        either = "(lower(tool_kind) = lower(?) OR lower(tool_name) = lower(?))"
        add(either, wanted.tool, wanted.tool)
    if wanted.hook is not None:
        name = wanted.hook.replace("\n", " ")
        add(f"{dialect.find_text}(hooks, ?) > 0", f"\n{name}\n")
    if wanted.project is not None:
        # As it was stored, also where the name is no UTF-8.
        name = _in_json(wanted.project.encode("utf-8", "replace").decode())
        add(f"{dialect.find_text}(said, ?) > 0", f'"project_dir":"{name}"')
    if wanted.telling:
        found = (f"{dialect.find_text}(said, '{each}') > 0" for each in _TELLING)
        add(f"(verdict != 'pass' OR {' OR '.join(found)})")
    if wanted.since is not None:
        add("at >= ?", micros(wanted.since))
    if wanted.until is not None:
        add("at <= ?", micros(wanted.until))
    if wanted.after_seq is not None:
        add("seq > ?", wanted.after_seq)
    if wanted.text is not None:
        add(*_look_for(wanted.text, dialect))
    return " AND ".join(parts) or "1 = 1", values


def _look_for(text: str, dialect: SqlDialect) -> Sequence[str]:
    """The condition that it stands anywhere, and its values."""
    raw, in_json = (
        f"%{each.replace('!', '!!').replace('%', '!%').replace('_', '!_')}%"
        for each in (text, _in_json(text))
    )
    places = (f"said {dialect.like}", dialect.payload, dialect.payload)
    names = (f"session_id {dialect.like}", f"tool_name {dialect.like}")
    return (f"({' OR '.join((*places, *names))})", in_json, in_json, raw, raw, raw)


def _in_json(text: str) -> str:
    """As the text reads inside a JSON string, where quotes and line feeds are escaped."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


_ANY = Filter()


class NoJournal(HooklineError):
    """Nothing was written down yet."""


class Queries(ABC):
    """What can be asked of a journal, wherever it is kept. Every method raises HooklineError."""

    dialect: ClassVar[SqlDialect]
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

    def query(self, wanted: Filter = _ANY) -> Sequence[Recorded]:
        """Newest first; but oldest first where ``after_seq`` says what is known already."""
        where, values = conditions(wanted, self.dialect)
        order = "seq DESC" if wanted.after_seq is None else "seq ASC"
        return self._select(where, values, order, wanted.limit)

    def _select(
        self, where: str, values: Sequence[Any], order: str, limit: int = -1
    ) -> list[Recorded]:
        names = [self.machine] if self.machine else []
        columns = ", ".join(("seq", *COLUMN_NAMES, *names))
        rows = self._fetch(
            f"SELECT {columns} FROM {self.dialect.table} "  # noqa: S608 - our own names
            f"WHERE {where} ORDER BY {order}{' LIMIT ?' if limit >= 0 else ''}",
            [*values, limit] if limit >= 0 else values,
        )
        end = 1 + len(COLUMN_NAMES)
        found = [(decode_row(row[0], row[1:end]), *row[end:]) for row in map(tuple, rows)]
        return [replace(event, machine=rest[0]) if rest else event for event, *rest in found]

    @abstractmethod
    def version(self) -> int:
        """A number that changes when something was written; cheap enough to ask often."""

    @abstractmethod
    def close(self) -> None:
        """Gives back what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _fetch(self, statement: str, values: Sequence[Any] = ()) -> Sequence[Any]:
        """The rows of a statement."""


class JournalReader(Queries):
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
        """As the port says, of what other processes write."""
        return int(self._fetch("PRAGMA data_version")[0][0])

    def close(self) -> None:
        """Gives the file back."""
        self._connection.close()

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
