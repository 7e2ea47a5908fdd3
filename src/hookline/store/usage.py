"""What calls of models used, by session; nothing of what was said in them.

Knows numbers, names of models and repositories, and digests of ids; must not know what anything
costs. A call counts once, whoever tells of it and however often.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from hashlib import blake2b
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from hookline.model.usage import Mark, ModelCall, Tokens, Used

__all__ = [
    "BREAKDOWNS",
    "SessionUsage",
    "day_of",
    "digest",
    "forget_old",
    "keep_call",
    "keep_session",
    "keep_zone",
    "make_usage_tables",
    "open_zone",
    "read_session",
    "read_zone",
    "sum_used",
]

# Of these the newest are kept: by number, as a clock that jumps must not empty them.
_CALLS, _SESSIONS = 50_000, 1_000
# Some models cost more for calls above it.
_LONG = 200_000


def make_usage_tables(connection: sqlite3.Connection) -> None:
    """The first shape of these tables."""
    for statement in (
        """CREATE TABLE usage_sessions (
            session TEXT PRIMARY KEY, agent TEXT NOT NULL, repository TEXT NOT NULL,
            day TEXT NOT NULL, known BLOB)""",
        "CREATE INDEX usage_repositories ON usage_sessions (repository)",
        """CREATE TABLE usage_calls (
            call TEXT PRIMARY KEY, session TEXT NOT NULL, day TEXT NOT NULL, sub INTEGER NOT NULL,
            model TEXT NOT NULL, input INTEGER NOT NULL, cached INTEGER NOT NULL,
            written INTEGER NOT NULL, output INTEGER NOT NULL, usd REAL)""",
        """CREATE TABLE usage_days (
            session TEXT NOT NULL, day TEXT NOT NULL, sub INTEGER NOT NULL, model TEXT NOT NULL,
            long INTEGER NOT NULL, stated INTEGER NOT NULL, calls INTEGER NOT NULL,
            input INTEGER NOT NULL, cached INTEGER NOT NULL, written INTEGER NOT NULL,
            output INTEGER NOT NULL, usd REAL NOT NULL,
            PRIMARY KEY (session, day, sub, model, long, stated)) WITHOUT ROWID""",
        "CREATE INDEX usage_days_by_day ON usage_days (day)",
        "CREATE TABLE usage_zone (name TEXT NOT NULL)",
    ):
        connection.execute(statement)


class SessionUsage(Struct, frozen=True, kw_only=True):
    """What is known of a session."""

    session: str
    agent: str = ""
    """The id of its dialect."""
    repository: str = ""
    day: str = ""
    """The last one on which it was at work."""
    source: str = ""
    """Who tells of its calls, ``event`` or ``transcript``: never both. Empty before anybody did."""
    context: int | None = None
    """The tokens of its conversation."""
    window: int | None = None
    """The tokens that its model takes; 0 where that was asked for and nobody knew."""
    model: str = ""
    steps: Mapping[str, int] = {}
    """By limit, how far it has come on the way there."""
    marks: Mapping[str, Mark] = {}
    """By digest of its path, how far a transcript was read."""


def digest(*words: str) -> str:
    """Under which something is kept whose name is not."""
    text = "\0".join(words).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()


def keep_session(connection: sqlite3.Connection, usage: SessionUsage) -> None:
    """Stores a session as it is now."""
    connection.execute(
        "INSERT OR REPLACE INTO usage_sessions VALUES (?, ?, ?, ?, ?)",
        (usage.session, usage.agent, usage.repository, usage.day, msgspec.json.encode(usage)),
    )


def read_session(connection: sqlite3.Connection, session: str) -> SessionUsage | None:
    """What is known of a session; None before it told of anything."""
    row = _find(connection, "SELECT known FROM usage_sessions WHERE session = ?", session)
    return msgspec.json.decode(row[0], type=SessionUsage) if row and row[0] else None


def keep_call(
    connection: sqlite3.Connection, usage: SessionUsage, call: ModelCall, day: str
) -> None:
    """Adds a call; of one that was told before, the larger numbers count: those of its end."""
    key, tokens = digest(usage.agent, call.id), call.tokens
    row = (
        *(usage.session, day, int(call.is_sub), call.model),
        *(tokens.input, tokens.cached, tokens.written, tokens.output, call.usd),
    )
    before = _find(
        connection,
        "SELECT session, day, sub, model, input, cached, written, output, usd "
        "FROM usage_calls WHERE call = ?",
        key,
    )
    if before is not None:
        numbers = (max(pair) for pair in zip(before[4:8], row[4:8], strict=True))
        row = (*before[:4], *numbers, before[8] if row[8] is None else row[8])
        if row == before:
            return
        _add_to_day(connection, before, -1)
    connection.execute(
        "INSERT OR REPLACE INTO usage_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (key, *row)
    )
    _add_to_day(connection, row, 1)


def _add_to_day(connection: sqlite3.Connection, row: Sequence[Any], sign: int) -> None:
    *place, given, cached, written, output, usd = row
    is_long = given + cached + written > _LONG
    numbers = (1, given, cached, written, output, usd or 0.0)
    connection.execute(
        "INSERT INTO usage_days VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
        "SET calls = calls + excluded.calls, input = input + excluded.input, "
        "cached = cached + excluded.cached, written = written + excluded.written, "
        "output = output + excluded.output, usd = usd + excluded.usd",
        (*place, is_long, usd is not None, *(sign * number for number in numbers)),
    )


def forget_old(connection: sqlite3.Connection) -> None:
    """Keeps of old calls what their days used; and nothing of what nobody asks for again."""
    for change, table, kept in (
        ("DELETE FROM usage_calls", "usage_calls", _CALLS),
        ("UPDATE usage_sessions SET known = NULL", "usage_sessions", _SESSIONS),
    ):
        newest = f"(SELECT max(rowid) FROM {table})"  # noqa: S608 - words of this module
        connection.execute(f"{change} WHERE rowid <= {newest} - {kept}")


def _find(connection: sqlite3.Connection, question: str, value: str) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = connection.execute(question, (value,)).fetchone()
    return found


# ── days ────────────────────────────────────────────────────────────────────────────────────


def read_zone(connection: sqlite3.Connection) -> str:
    """The time zone by whose midnight days end; empty before one was stored."""
    row = connection.execute("SELECT name FROM usage_zone").fetchone()
    return str(row[0]) if row else ""


def keep_zone(connection: sqlite3.Connection, name: str) -> None:
    """Stores the zone, unless there is one: days are the same for everybody who asks."""
    connection.execute(
        "INSERT INTO usage_zone SELECT ? WHERE NOT EXISTS (SELECT * FROM usage_zone)", (name,)
    )


def open_zone(name: str) -> tzinfo:
    """The time zone of that name; UTC where this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return UTC


def day_of(instant: float, zone: tzinfo) -> str:
    """The day of an instant, as it is written: ``2026-11-19``."""
    return datetime.fromtimestamp(instant, zone).date().isoformat()


# ── sums ────────────────────────────────────────────────────────────────────────────────────

BREAKDOWNS = {
    "day": "coalesce(d.day, s.day)",
    "agent": "s.agent || CASE d.sub WHEN 1 THEN ' (sub-agents)' ELSE '' END",
    "model": "coalesce(d.model, '')",
    "repository": "s.repository",
}
"""What usage can be shown by, as it is asked for."""
_CONDITIONS = {
    "session": "s.session = ?",
    "repository": "s.repository = ?",
    "day": "d.day = ?",
    "since": "coalesce(d.day, s.day) >= ?",
}


def sum_used(connection: sqlite3.Connection, by: str = "", **where: str) -> Sequence[Used]:
    """What was used, by model: of a ``session``, ``repository`` or ``day``, or ``since`` one.

    ``by`` is a breakdown: then sessions that told of no calls are there, too.
    """
    part = BREAKDOWNS.get(by, "''")
    asked = " AND ".join(_CONDITIONS[key] for key in where) or "1"
    rows = connection.execute(
        f"SELECT {part}, coalesce(d.model, ''), coalesce(sum(d.calls), 0), sum(d.input), "  # noqa: S608 - words of this module
        "sum(d.cached), sum(d.written), sum(d.output), sum(d.usd), d.stated, max(d.day), "
        "count(DISTINCT s.session) "
        f"FROM usage_sessions s LEFT JOIN usage_days d USING (session) WHERE {asked} "
        f"GROUP BY {part}, d.model, d.long, d.stated",
        list(where.values()),
    )
    return [
        Used(
            part=part,
            model=model,
            calls=calls,
            tokens=Tokens(*(number or 0 for number in numbers)),
            usd=usd if stated else None,
            day=day or "",
            sessions=sessions,
        )
        for part, model, calls, *numbers, usd, stated, day, sessions in rows
        if calls or (by and day is None)
    ]
