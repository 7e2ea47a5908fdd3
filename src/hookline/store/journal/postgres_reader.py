"""Reading the journal of many machines from PostgreSQL, with the methods of ``Reader``."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.model.errors import HooklineError
from hookline.model.journal import Recorded
from hookline.store.journal.filters import (
    SUMMARY,
    Filter,
    SessionSummary,
    conditions,
    escaped,
    in_json,
)
from hookline.store.journal.postgres_schema import connect, errors, shown
from hookline.store.journal.reader import ROW, NoJournal, chosen, recorded

if TYPE_CHECKING:
    import asyncpg

__all__ = ["PostgresReader"]

_ANY = Filter()
_NO_TABLE = "42P01"
_SELECT = f"SELECT machine, {ROW} FROM hookline.events"  # noqa: S608 - our own names
_SESSIONS = f"SELECT {SUMMARY} FROM hookline.events WHERE session_id != '' GROUP BY session_id"  # noqa: S608


class PostgresReader:
    """One database. Every method raises HooklineError when it cannot be read.

    For commands, which have no event loop of their own: each method waits for its answer.
    """

    def __init__(self, dsn: str) -> None:
        """Raises HooklineError when the database cannot be reached."""
        self._dsn = dsn
        self._errors = errors()
        self._runner = asyncio.Runner()
        self._connection: asyncpg.Connection | None = None
        try:
            self._machines = self._names()
        except BaseException:
            self.close()
            raise

    def find(self, name: str) -> Recorded:
        """The event of this id or unique beginning of one; its last attempt."""
        # First the id itself: any number of newer ones may begin with it.
        found = self._recorded(f"{_SELECT} WHERE id = ? ORDER BY seq DESC", [name])
        begins = f"{_SELECT} WHERE id LIKE ? ESCAPE '!' ORDER BY seq DESC LIMIT 20"
        return chosen(name, found or self._recorded(begins, [f"{escaped(name)}%"]))

    def last(self, wanted: Filter = _ANY) -> Recorded | None:
        """The newest event of those that are wanted."""
        found = self.query(replace(wanted, limit=1))
        return found[0] if found else None

    def query(self, wanted: Filter = _ANY) -> Sequence[Recorded]:
        """Newest first; but oldest first where ``after_seq`` says what is known already."""
        where, values = conditions(wanted, _contains)
        order = "DESC" if wanted.after_seq is None else "ASC"
        where = where.replace("instr(", "strpos(")  # the same by another name
        statement = f"{_SELECT} WHERE {where} ORDER BY seq {order} LIMIT ?"
        return self._recorded(statement, [*values, wanted.limit])

    def sessions(self, limit: int = 50) -> Sequence[SessionSummary]:
        """The sessions that are known, the one last heard of first."""
        rows = self._rows(f"{_SESSIONS} ORDER BY max(seq) DESC LIMIT ?", [limit])
        return [SessionSummary.of(row) for row in rows]

    def version(self) -> int:
        """A number that changes when something was written."""
        return int(self._rows("SELECT coalesce(max(seq), 0) FROM hookline.events")[0][0])

    def close(self) -> None:
        """Ends the connection."""
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None
        self._runner.close()

    def __enter__(self) -> "PostgresReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _recorded(self, statement: str, values: Sequence[Any]) -> list[Recorded]:
        rows = self._rows(statement, values)
        if any(row[0] not in self._machines for row in rows):
            self._machines = self._names()
        return [
            replace(recorded(tuple(row)[1:]), machine=self._machines.get(row[0], row[0]))
            for row in rows
        ]

    def _names(self) -> dict[str, str]:
        rows = self._rows("SELECT machine, name FROM hookline.machines")
        return {row["machine"]: row["name"] for row in rows}

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> Sequence[Any]:
        try:
            return self._runner.run(self._fetched(statement, values))
        except self._errors as error:
            where = f"the journal at {shown(self._dsn)} cannot be read"
            if getattr(error, "sqlstate", None) == _NO_TABLE:
                why = "no hookline has written to this database yet"
                raise NoJournal(
                    f"{where}: {why}; `journal.dsn` in the user's own config has it do so"
                ) from error
            raise HooklineError(f"{where}: {str(error) or type(error).__name__}") from error

    async def _fetched(self, statement: str, values: Sequence[Any]) -> Sequence[Any]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._dsn)
        for number in range(len(values)):
            statement = statement.replace("?", f"${number + 1}", 1)
        return await self._connection.fetch(statement, *values)


def _contains(text: str) -> tuple[str, list[str]]:
    raw, said = f"%{escaped(text)}%", f"%{escaped(in_json(text))}%"
    # A payload may be no text at all, so both are compared as PostgreSQL spells bytes.
    spelled = "encode(payload, 'escape') ILIKE encode(convert_to(?, 'UTF8'), 'escape') ESCAPE '!'"
    condition = (
        f"(said ILIKE ? ESCAPE '!' OR {spelled} OR {spelled} "
        "OR session_id ILIKE ? ESCAPE '!' OR tool_name ILIKE ? ESCAPE '!')"
    )
    return condition, [said, said, raw, raw, raw]
