"""What calls of models used, by session; nothing of what was said in them.

Knows numbers, names of models and repositories, and digests of ids; must not know what anything
costs. A call counts once, whoever tells of it and however often.
"""

import sqlite3
from collections.abc import Sequence
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
    "find_large_load",
    "forget_old",
    "keep_call",
    "keep_large_load",
    "keep_mark",
    "keep_session",
    "keep_step",
    "keep_zone",
    "list_used",
    "make_usage_tables",
    "open_zone",
    "read_mark",
    "read_session",
    "read_steps",
    "read_zone",
    "sum_used",
]

_DAY = 86_400
# Days for which a call that is told again is known.
_SINGLE = 30
# Days for which it is kept where a session's transcript ended, and what was large.
_REMEMBERED = 90
# Some models cost more for calls above it.
_LONG = 200_000


def make_usage_tables(connection: sqlite3.Connection) -> None:
    """The first shape of these tables."""
    for statement in (
        """CREATE TABLE usage_sessions (
            session TEXT PRIMARY KEY, agent TEXT NOT NULL, repository TEXT NOT NULL,
            first REAL NOT NULL, last REAL NOT NULL, source TEXT NOT NULL DEFAULT '',
            context INTEGER, window INTEGER, model TEXT NOT NULL DEFAULT '') WITHOUT ROWID""",
        "CREATE INDEX usage_repositories ON usage_sessions (repository)",
        """CREATE TABLE usage_calls (
            call TEXT PRIMARY KEY, session TEXT NOT NULL, day TEXT NOT NULL, sub INTEGER NOT NULL,
            model TEXT NOT NULL, input INTEGER NOT NULL, cached INTEGER NOT NULL,
            written INTEGER NOT NULL, output INTEGER NOT NULL, usd REAL) WITHOUT ROWID""",
        "CREATE INDEX usage_calls_of_days ON usage_calls (day)",
        """CREATE TABLE usage_days (
            session TEXT NOT NULL, day TEXT NOT NULL, sub INTEGER NOT NULL, model TEXT NOT NULL,
            long INTEGER NOT NULL, stated INTEGER NOT NULL, calls INTEGER NOT NULL,
            input INTEGER NOT NULL, cached INTEGER NOT NULL, written INTEGER NOT NULL,
            output INTEGER NOT NULL, usd REAL NOT NULL,
            PRIMARY KEY (session, day, sub, model, long, stated)) WITHOUT ROWID""",
        "CREATE INDEX usage_days_by_day ON usage_days (day)",
        "CREATE TABLE usage_marks (file TEXT PRIMARY KEY, at REAL NOT NULL, mark BLOB NOT NULL)"
        " WITHOUT ROWID",
        """CREATE TABLE usage_steps (
            session TEXT NOT NULL, scope TEXT NOT NULL, step INTEGER NOT NULL,
            PRIMARY KEY (session, scope)) WITHOUT ROWID""",
        "CREATE TABLE usage_loads (load TEXT PRIMARY KEY, at REAL NOT NULL, bytes INTEGER NOT NULL)"
        " WITHOUT ROWID",
        "CREATE TABLE usage_zone (name TEXT NOT NULL)",
    ):
        connection.execute(statement)


class SessionUsage(Struct, frozen=True, kw_only=True):
    """What is known of a session."""

    session: str
    agent: str = ""
    """The id of its dialect."""
    repository: str = ""
    source: str = ""
    """Who tells of its calls, ``event`` or ``transcript``: never both. Empty before anybody did."""
    context: int | None = None
    """The tokens of its conversation."""
    window: int | None = None
    """The tokens that its model takes; 0 where that was asked for and nobody knew."""
    model: str = ""


def digest(*words: str) -> str:
    """Under which something is kept whose name is not."""
    text = "\0".join(words).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()


# ── what is written ─────────────────────────────────────────────────────────────────────────


def keep_session(connection: sqlite3.Connection, usage: SessionUsage, now: float) -> None:
    """A session as it is now."""
    connection.execute(
        "INSERT INTO usage_sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO "
        "UPDATE SET last = max(last, excluded.last), source = excluded.source, "
        "context = excluded.context, window = excluded.window, model = excluded.model, "
        "repository = CASE repository WHEN '' THEN excluded.repository ELSE repository END",
        (
            *(usage.session, usage.agent, usage.repository, now, now),
            *(usage.source, usage.context, usage.window, usage.model),
        ),
    )


def keep_call(
    connection: sqlite3.Connection, usage: SessionUsage, call: ModelCall, day: str
) -> None:
    """A call; where it was told before, the larger numbers count: those of its end."""
    key, tokens = digest(usage.agent, call.id), call.tokens
    row = (
        *(usage.session, day, int(call.is_sub), call.model),
        *(tokens.input, tokens.cached, tokens.written, tokens.output, call.usd),
    )
    before = connection.execute(
        "SELECT session, day, sub, model, input, cached, written, output, usd "
        "FROM usage_calls WHERE call = ?",
        (key,),
    ).fetchone()
    if before is not None:
        numbers = (max(pair) for pair in zip(before[4:8], row[4:8], strict=True))
        row = (*before[:4], *numbers, before[8] if row[8] is None else row[8])
        if row == before:
            return
        _add(connection, before, -1)
    connection.execute(
        "INSERT OR REPLACE INTO usage_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (key, *row)
    )
    _add(connection, row, 1)


def _add(connection: sqlite3.Connection, row: Sequence[Any], sign: int) -> None:
    """Adds a call to its day, or takes it out."""
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


def keep_mark(connection: sqlite3.Connection, path: str, mark: Mark, now: float) -> None:
    """How far a file was read."""
    connection.execute(
        "INSERT OR REPLACE INTO usage_marks VALUES (?, ?, ?)",
        (digest(path), now, msgspec.json.encode(mark)),
    )


def keep_large_load(connection: sqlite3.Connection, load: str, size: int, now: float) -> None:
    """How large the answer was that a call of a tool brought."""
    connection.execute("INSERT OR REPLACE INTO usage_loads VALUES (?, ?, ?)", (load, now, size))


def keep_step(connection: sqlite3.Connection, session: str, scope: str, step: int) -> None:
    """How far a session has come on the way to a limit."""
    connection.execute(
        "INSERT OR REPLACE INTO usage_steps VALUES (?, ?, ?)", (session, scope, step)
    )


def forget_old(connection: sqlite3.Connection, now: float, zone: tzinfo) -> None:
    """Keeps of old calls what their days used; and nothing of what nobody asks for again."""
    last = day_of(now - _SINGLE * _DAY, zone)
    connection.execute("DELETE FROM usage_calls WHERE day < ?", (last,))
    forgotten = (now - _REMEMBERED * _DAY,)
    connection.execute("DELETE FROM usage_marks WHERE at < ?", forgotten)
    connection.execute("DELETE FROM usage_loads WHERE at < ?", forgotten)
    connection.execute(
        "DELETE FROM usage_steps WHERE session IN "
        "(SELECT session FROM usage_sessions WHERE last < ?)",
        forgotten,
    )


# ── what is asked ───────────────────────────────────────────────────────────────────────────


def read_session(connection: sqlite3.Connection, session: str) -> SessionUsage | None:
    """What is known of a session; None before it told of anything."""
    row = connection.execute(
        "SELECT agent, repository, source, context, window, model FROM usage_sessions "
        "WHERE session = ?",
        (session,),
    ).fetchone()
    if row is None:
        return None
    agent, repository, source, context, window, model = row
    return SessionUsage(
        session=session,
        agent=agent,
        repository=repository,
        source=source,
        context=context,
        window=window,
        model=model,
    )


def read_steps(connection: sqlite3.Connection, session: str) -> dict[str, int]:
    """By scope, how far a session has come."""
    return dict(
        connection.execute("SELECT scope, step FROM usage_steps WHERE session = ?", (session,))
    )


def read_mark(connection: sqlite3.Connection, path: str) -> Mark | None:
    """How far a file was read."""
    row = connection.execute(
        "SELECT mark FROM usage_marks WHERE file = ?", (digest(path),)
    ).fetchone()
    try:
        return msgspec.json.decode(row[0], type=Mark) if row else None
    except ValueError:
        return None  # nobody of ours wrote it


def find_large_load(connection: sqlite3.Connection, load: str) -> int | None:
    """How large the answer of the same call was the last time; None where it was not."""
    row = connection.execute("SELECT bytes FROM usage_loads WHERE load = ?", (load,)).fetchone()
    return row[0] if row else None


def read_zone(connection: sqlite3.Connection) -> str:
    """The time zone by whose midnight days end; empty before one was stored."""
    row = connection.execute("SELECT name FROM usage_zone").fetchone()
    return str(row[0]) if row else ""


def open_zone(name: str) -> tzinfo:
    """The time zone of that name; UTC where this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return UTC


def keep_zone(connection: sqlite3.Connection, name: str) -> None:
    """Stores the zone, so that days are the same for everybody who asks."""
    connection.execute("DELETE FROM usage_zone")
    connection.execute("INSERT INTO usage_zone VALUES (?)", (name,))


def day_of(instant: float, zone: tzinfo) -> str:
    """The day of an instant, as it is written: ``2026-11-19``."""
    return datetime.fromtimestamp(instant, zone).date().isoformat()


_SUMS = (
    "sum(d.calls), sum(d.input), sum(d.cached), sum(d.written), sum(d.output), sum(d.usd), "
    "d.stated, max(d.day), count(DISTINCT s.session)"
)


def sum_used(
    connection: sqlite3.Connection,
    *,
    session: str | None = None,
    repository: str | None = None,
    day: str | None = None,
) -> Sequence[Used]:
    """What was used by a session, in a repository or on a day, by model."""
    where = {"s.session = ?": session, "s.repository = ?": repository, "d.day = ?": day}
    asked = {clause: value for clause, value in where.items() if value is not None}
    rows = connection.execute(
        f"SELECT '', d.model, {_SUMS} FROM usage_sessions s JOIN usage_days d USING (session) "  # noqa: S608 - words of this module
        f"WHERE {' AND '.join(asked) or '1'} GROUP BY d.model, d.long, d.stated",
        list(asked.values()),
    )
    return [used for used in map(_read_used, rows) if used.calls]


BREAKDOWNS = {
    "day": "coalesce(d.day, date(s.last, 'unixepoch'))",
    "agent": "s.agent || CASE d.sub WHEN 1 THEN ' (sub-agents)' ELSE '' END",
    "model": "coalesce(d.model, '')",
    "repository": "s.repository",
    "session": "substr(s.session, 1, 8) || ' ' || s.agent || ' ' || s.repository",
}
"""What usage can be shown by, as it is asked for."""


def list_used(connection: sqlite3.Connection, by: str, since: str) -> Sequence[Used]:
    """Usage in parts, each part by model; what a session without calls used is not known."""
    day, part = BREAKDOWNS["day"], BREAKDOWNS[by]
    rows = connection.execute(
        f"SELECT {part}, d.model, {_SUMS} FROM usage_sessions s "  # noqa: S608 - words of this module
        f"LEFT JOIN usage_days d USING (session) WHERE {day} >= ? "
        f"GROUP BY {part}, d.model, d.long, d.stated",
        (since,),
    )
    return [used for used in map(_read_used, rows) if used.calls or used.day == ""]


def _read_used(row: Sequence[Any]) -> Used:
    part, model, calls, given, cached, written, output, usd, stated, day, sessions = row
    return Used(
        part=part,
        model=model or "",
        calls=calls or 0,
        tokens=Tokens(given or 0, cached or 0, written or 0, output or 0),
        usd=usd if stated else None,
        day=day or "",
        sessions=sessions,
    )
