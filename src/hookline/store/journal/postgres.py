"""A copy of the journal in PostgreSQL, where the events of many machines come together.

The local file is the spool: events are shipped from it in order, whenever the server is there, so
nothing waits for the network and nothing is lost while it is away. How far it got is written down
after the commit over there; what was committed but not written down is sent again, and not taken
twice.
"""

import asyncio
import os
import socket
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.model.errors import HooklineError
from hookline.store.journal.database import (
    COLUMN_NAMES,
    COLUMNS,
    FLAG,
    POSTGRES_COLUMNS,
    connect,
    file_identity,
)
from hookline.store.journal.reader import POSTGRES, NoJournal, Queries

if TYPE_CHECKING:
    import asyncpg

__all__ = ["PG_MIGRATIONS", "PostgresReader", "Shipper", "ShippingMachine", "Spool", "watermark"]

# Processes that answer one event write to the spool without telling us.
_LOOK_EVERY = 30.0
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 60.0
_LAST_CHANCE = 2.0
_MOST_ROWS = 200
_MOST_BYTES = 4 << 20
_NO_TABLE = "42P01"

# Any number, as long as nobody else has it: of two that want to change the tables, or add to them,
# the second one waits.
_MIGRATING, _ADDING = 0x686F6F6B, 0x6C696E65

# Before adding events: numbers are then given in the order of commits, so that whoever follows the
# newest number never misses one that was given earlier and committed later.
_LOCK = f"SELECT pg_advisory_xact_lock({_ADDING})"
_NAMES = ("machine", *COLUMN_NAMES)
_INSERT = (
    f"INSERT INTO hookline.events ({', '.join(_NAMES)}) "  # noqa: S608 - our own names
    f"VALUES ({', '.join(f'${number + 1}' for number in range(len(_NAMES)))}) "
    "ON CONFLICT (machine, id, attempt) DO NOTHING"
)
_HEARD = (
    "INSERT INTO hookline.machines VALUES ($1, $2, now()) "
    "ON CONFLICT (machine) DO UPDATE SET name = excluded.name, heard = excluded.heard"
)
_NEXT = (
    f"SELECT seq, {', '.join(COLUMN_NAMES)} FROM events "  # noqa: S608 - our own names
    "WHERE seq > ? ORDER BY seq LIMIT ?"
)
_MOVE = (
    "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE "
    "SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))"
)

PG_MIGRATIONS: Sequence[str] = (
    f"""
    CREATE TABLE hookline.machines (
      machine TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      heard TIMESTAMPTZ NOT NULL
    );
    CREATE TABLE hookline.events (
      seq BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
      machine TEXT NOT NULL,
      {", ".join(POSTGRES_COLUMNS[0])},
      PRIMARY KEY (machine, id, attempt)
    );
    CREATE INDEX events_by_id ON hookline.events (id text_pattern_ops);
    CREATE INDEX events_by_session ON hookline.events (session_id text_pattern_ops, seq);
    CREATE INDEX events_by_time ON hookline.events (at);
    """,
    *(
        f"ALTER TABLE hookline.events {', '.join(f'ADD COLUMN {each}' for each in columns)}"
        for columns in POSTGRES_COLUMNS[1:]
    ),
)
"""Each takes the tables from the version of its index to the next; none is ever changed."""


def _list_errors() -> tuple[type[Exception], ...]:
    """What tells that the server is away, or does not want us. Raises HooklineError."""
    _need_library()
    import asyncpg

    return (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError)


def _need_library() -> None:
    from importlib.util import find_spec

    if find_spec("asyncpg") is None:
        raise HooklineError(
            "a journal in PostgreSQL needs the extra `hookline[postgres]`: "
            "install it with `pip install 'hookline[postgres]'`"
        )


async def _connect(dsn: str) -> "asyncpg.Connection":
    """Raises HooklineError without the library, else what ``_list_errors`` names."""
    _need_library()
    import asyncpg

    return await asyncpg.connect(
        dsn, timeout=10, command_timeout=30, server_settings={"application_name": "hookline"}
    )


async def _migrate(connection: "asyncpg.Connection") -> None:
    """Brings the tables to the newest shape. Raises HooklineError when they are newer."""
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({_MIGRATING})")
        # Asked first: whoever may use the tables need not be allowed to make them.
        if await connection.fetchval("SELECT to_regclass('hookline.version')") is None:
            await connection.execute("CREATE SCHEMA IF NOT EXISTS hookline")
            await connection.execute("CREATE TABLE hookline.version (version INTEGER NOT NULL)")
            await connection.execute("INSERT INTO hookline.version VALUES (0)")
        found = await connection.fetchval("SELECT version FROM hookline.version")
        if found > len(PG_MIGRATIONS):
            raise HooklineError(
                f"the journal in PostgreSQL has the shape of a newer hookline (schema {found}, "
                f"this one knows {len(PG_MIGRATIONS)}): update this one"
            )
        if found < len(PG_MIGRATIONS):
            for step in PG_MIGRATIONS[found:]:
                await connection.execute(step)
            await connection.execute("UPDATE hookline.version SET version = $1", len(PG_MIGRATIONS))


def _hide_password(dsn: str) -> str:
    """Which database that is, in words without its password."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(dsn)
    except ValueError:
        return "the database"
    if not parts.scheme:  # perhaps a password is all it is
        return "the database"
    return f"{parts.netloc.rpartition('@')[2] or 'this machine'}{parts.path}"


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


class ShippingMachine(Struct, frozen=True):
    """Who ships: a number that stays, and a name for people."""

    id: str
    name: str

    @classmethod
    def of(cls, directory: str) -> "ShippingMachine":
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
    """The columns of each."""
    last: int
    """The number of the last one."""


class Spool:
    """The local journal: what was not shipped yet, and how far it was. Blocks: not for the loop."""

    def __init__(self, path: str, key: str) -> None:
        self._path = path
        self._key = key
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None

    def next(self) -> Batch | None:
        """What comes after that which was shipped; None when that is all. Raises sqlite3.Error."""
        connection = self._open()
        if connection is None:
            return None
        shipped = connection.execute(
            "SELECT value FROM meta WHERE key = ?", (self._key,)
        ).fetchone()
        rows: list[Sequence[Any]] = []
        last = size = 0
        found = connection.execute(_NEXT, (int(shipped[0]) if shipped else 0, _MOST_ROWS))
        for seq, *columns in found:
            size += sum(len(each) for each in columns if isinstance(each, str | bytes))
            if rows and size > _MOST_BYTES:
                break
            rows.append(columns)
            last = seq
        found.close()
        return Batch(rows, last) if rows else None

    def move(self, last: int) -> None:
        """Remembers that all up to this one were shipped. Raises sqlite3.Error."""
        connection = self._open()
        if connection is not None:
            connection.execute(_MOVE, (self._key, str(last)))

    def _open(self) -> sqlite3.Connection | None:
        found = file_identity(self._path)
        if self._connection is not None and found != self._seen:
            self.close()
        if self._connection is None and found is not None:
            self._connection, self._seen = connect(self._path), found
            self._connection.execute("PRAGMA synchronous = NORMAL")
        return self._connection

    def close(self) -> None:
        """Gives the file back."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._seen = None


class Shipper:
    """One local journal on its way to one database."""

    def __init__(self, path: str, dsn: str) -> None:
        self._directory = os.path.dirname(path) or "."
        self._dsn = dsn
        self.watermark = watermark(dsn)
        """The key of ``meta`` under which it is written down how far it got."""
        self._spool = Spool(path, self.watermark)
        self._machine: ShippingMachine | None = None
        self._connection: asyncpg.Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hookline-shipping")
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._told = ""
        self.trouble = ""
        """Why events are not shipped at the moment; empty when they are."""

    def nudge(self) -> None:
        """There is something to ship."""
        self._wake.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def warning(self) -> str:
        """What is wrong, once for each thing that is."""
        if self.trouble == self._told:
            return ""
        self._told = self.trouble
        return self.trouble and (
            f"events are not shipped to {_hide_password(self._dsn)}: {self.trouble}. They are kept "
            "in the local journal until they are."
        )

    async def _run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            self._wake.clear()
            if await self._try():
                pause, event, seconds = _FIRST_PAUSE, self._wake, _LOOK_EVERY
            else:
                pause, event, seconds = min(pause * 2, _LAST_PAUSE), self._stop, pause
            if self._stop.is_set():
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()

    async def _try(self) -> bool:
        """Ships all there is; whether that went well."""
        try:
            await self._ship()
        except Exception as error:
            # Whatever it is, it is tried again: the events wait where they are.
            self.trouble = str(error) or type(error).__name__
            self._drop()
            return False
        self.trouble = ""
        return True

    async def _ship(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := await loop.run_in_executor(self._thread, self._spool.next):
            connection = self._connection or await self._open()
            assert self._machine is not None
            rows = [_convert(self._machine.id, row) for row in batch.rows]
            async with connection.transaction():
                await connection.execute(_LOCK)
                await connection.executemany(_INSERT, rows)
            await loop.run_in_executor(self._thread, self._spool.move, batch.last)

    async def _open(self) -> "asyncpg.Connection":
        machine = self._machine = ShippingMachine.of(self._directory)
        connection = self._connection = await _connect(self._dsn)
        await _migrate(connection)
        await connection.execute(_HEARD, machine.id, machine.name)
        return connection

    def _drop(self) -> None:
        """Whatever state it is in, the next try begins with a new one."""
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None

    async def aclose(self) -> None:
        """Ships what it can in a moment, and lets go."""
        self._stop.set()
        self._wake.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_LAST_CHANCE)
            self._task.cancel()
            await asyncio.wait([self._task])
        self._drop()
        # In its turn, after what may still be under way there.
        await asyncio.get_running_loop().run_in_executor(self._thread, self._spool.close)
        self._thread.shutdown()


def _convert(machine: str, row: Sequence[Any]) -> list[Any]:
    """As PostgreSQL takes them: it knows truth, and no text with a zero in it."""
    values = [each.replace("\0", "�") if isinstance(each, str) else each for each in row]
    flags = [column.kind is FLAG for column in COLUMNS]
    pairs = zip(values, flags, strict=True)
    return [machine, *(bool(each) if is_flag else each for each, is_flag in pairs)]


class PostgresReader(Queries):
    """One database.

    For commands, which have no event loop of their own: each method waits for its answer.
    """

    dialect = POSTGRES
    machine = (
        "coalesce((SELECT known.name FROM hookline.machines AS known "
        "WHERE known.machine = events.machine), events.machine)"
    )

    def __init__(self, dsn: str) -> None:
        """Raises HooklineError when the database cannot be reached."""
        self._dsn = dsn
        self._errors = _list_errors()
        self._runner = asyncio.Runner()
        self._connection: asyncpg.Connection | None = None
        try:
            self.version()
        except BaseException:
            self.close()
            raise

    def version(self) -> int:
        """A number that changes when something was written."""
        return int(self._fetch("SELECT coalesce(max(seq), 0) FROM hookline.events")[0][0])

    def close(self) -> None:
        """Ends the connection."""
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None
        self._runner.close()

    def _fetch(self, statement: str, values: Sequence[Any] = ()) -> Sequence[Any]:
        try:
            return self._runner.run(self._query(statement, values))
        except self._errors as error:
            where = f"the journal at {_hide_password(self._dsn)} cannot be read"
            if getattr(error, "sqlstate", None) == _NO_TABLE:
                why = "no hookline has written to this database yet"
                raise NoJournal(
                    f"{where}: {why}; `journal.dsn` in the user's own config has it do so"
                ) from error
            raise HooklineError(f"{where}: {str(error) or type(error).__name__}") from error

    async def _query(self, statement: str, values: Sequence[Any]) -> Sequence[Any]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await _connect(self._dsn)
        for number in range(len(values)):
            statement = statement.replace("?", f"${number + 1}", 1)
        return await self._connection.fetch(statement, *values)
