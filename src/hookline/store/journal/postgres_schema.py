"""The same tables in PostgreSQL, where the events of many machines come together.

Knows statements and how to make a connection; must not know who ships or who reads.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookline.model.errors import HooklineError
from hookline.store.journal.schema import COLUMNS

if TYPE_CHECKING:
    import asyncpg

__all__ = ["INSERT", "LOCK", "PG_MIGRATIONS", "connect", "errors", "migrate", "shown"]

# Any number, as long as nobody else has it: of two that want to change the tables, or add to them,
# the second one waits.
_MIGRATING, _ADDING = 0x686F6F6B, 0x6C696E65

LOCK = f"SELECT pg_advisory_xact_lock({_ADDING})"
"""Before adding events: numbers are then given in the order of commits, so that whoever follows
the newest number never misses one that was given earlier and committed later."""

PG_MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE hookline.machines (
      machine TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      heard TIMESTAMPTZ NOT NULL
    );
    CREATE TABLE hookline.events (
      seq BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
      machine TEXT NOT NULL,
      id TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      at BIGINT NOT NULL,
      ns BIGINT NOT NULL,
      dialect TEXT NOT NULL,
      native_event TEXT NOT NULL,
      event TEXT NOT NULL,
      session_id TEXT NOT NULL,
      tool_kind TEXT NOT NULL,
      tool_name TEXT NOT NULL,
      verdict TEXT NOT NULL,
      hooks TEXT NOT NULL,
      redactions BIGINT NOT NULL,
      cut BOOLEAN NOT NULL,
      exit_code BIGINT NOT NULL,
      said TEXT NOT NULL,
      stdout BYTEA NOT NULL,
      stderr BYTEA NOT NULL,
      payload BYTEA NOT NULL,
      PRIMARY KEY (machine, id, attempt)
    );
    CREATE INDEX events_by_id ON hookline.events (id text_pattern_ops);
    CREATE INDEX events_by_session ON hookline.events (session_id text_pattern_ops, seq);
    CREATE INDEX events_by_time ON hookline.events (at);
    """,
)
"""Each takes the tables from the version of its index to the next; none is ever changed."""

_NAMES = ("machine", *COLUMNS, "payload")
INSERT = (
    f"INSERT INTO hookline.events ({', '.join(_NAMES)}) "  # noqa: S608 - our own names
    f"VALUES ({', '.join(f'${number + 1}' for number in range(len(_NAMES)))}) "
    "ON CONFLICT (machine, id, attempt) DO NOTHING"
)


def errors() -> tuple[type[Exception], ...]:
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


async def connect(dsn: str) -> "asyncpg.Connection":
    """Raises HooklineError without the library, else what ``errors`` names."""
    _need_library()
    import asyncpg

    return await asyncpg.connect(
        dsn, timeout=10, command_timeout=30, server_settings={"application_name": "hookline"}
    )


async def migrate(connection: "asyncpg.Connection") -> None:
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


def shown(dsn: str) -> str:
    """Which database that is, in words without its password."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(dsn)
    except ValueError:
        return "the database"
    if not parts.scheme:  # perhaps a password is all it is
        return "the database"
    return f"{parts.netloc.rpartition('@')[2] or 'this machine'}{parts.path}"
