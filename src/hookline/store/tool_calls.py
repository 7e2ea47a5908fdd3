"""What agents did last, as digests: never a text.

A call is known by a digest of the tool and its input, its outcome by a digest of what came of it.
What a loop is, is not decided here.
"""

import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

__all__ = [
    "Actor",
    "TrackedCall",
    "Trait",
    "add_call",
    "add_tables",
    "forget_session",
    "list_calls",
    "list_later_traits",
    "was_made",
]

# As many calls of an agent are kept, and for how long.
_LATEST = 96
_DAY = 24 * 60 * 60
# After so many calls of all agents, the old ones are looked for.
_EVERY = 64


class Trait:
    """What matters of a call beside what it was: bits of one number."""

    FAILED = 1
    LOOKS = 2
    """It asks for a state that changes by itself."""
    WAITS = 4
    CHANGES = 8
    """It changes something, or may."""
    NEW = 16
    """The first time that this call had this outcome, and no failure."""
    UNTOLD = 32
    """The platform does not say what came of it."""
    COMPACTS = 64
    """No tool call: the conversation was about to be compacted."""
    DENIED = 128
    """It was not made, because it is part of a loop."""


class Actor(NamedTuple):
    """One agent of one session, as digests."""

    session: bytes
    agent: bytes

    @classmethod
    def of(cls, dialect: str, session: str, agent: str) -> "Actor":
        """Sub-agents have an actor each."""
        return cls(_digest(f"{len(dialect)} {dialect} {session}"), _digest(agent))


class TrackedCall(NamedTuple):
    """One call, and what came of it."""

    at: float
    """Seconds since 1970."""
    call: bytes
    outcome: bytes
    traits: int
    tokens: int | None = None
    """Of a compaction: how full the conversation was, in thousandths of its window or in tokens."""
    seq: int = 0


def add_tables(connection: sqlite3.Connection) -> None:
    """The step to the shape of the state that has them."""
    connection.execute(
        "CREATE TABLE tool_calls (seq INTEGER PRIMARY KEY, session BLOB NOT NULL, "
        "agent BLOB NOT NULL, source BLOB NOT NULL, at REAL NOT NULL, call BLOB NOT NULL, "
        "outcome BLOB NOT NULL, traits INTEGER NOT NULL, tokens INTEGER)"
    )
    connection.execute("CREATE INDEX tool_calls_by_agent ON tool_calls (session, agent, seq)")
    # An event whose answer was lost on the way comes again.
    connection.execute("CREATE UNIQUE INDEX tool_calls_by_source ON tool_calls (session, source)")
    connection.execute("CREATE INDEX tool_calls_by_time ON tool_calls (at)")


def add_call(
    connection: sqlite3.Connection, actor: Actor, call: TrackedCall, source: str
) -> Sequence[TrackedCall]:
    """Adds a call, unless its event was known; all that are kept of the agent, the latest last."""
    made = list_calls(connection, actor)
    if not call.traits & (Trait.FAILED | Trait.COMPACTS | Trait.DENIED) and all(
        each.outcome != call.outcome or each.call != call.call for each in made
    ):
        call = call._replace(traits=call.traits | Trait.NEW)
    added = connection.execute(
        "INSERT OR IGNORE INTO tool_calls (session, agent, source, at, call, outcome, traits, "
        "tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*actor, _digest(source), *call[:-1]),
    )
    if not added.rowcount or added.lastrowid is None:
        return made
    if len(made) >= _LATEST:
        connection.execute(
            "DELETE FROM tool_calls WHERE session = ? AND agent = ? AND seq <= ?",
            (*actor, made[-_LATEST].seq),
        )
    if added.lastrowid % _EVERY == 0:
        connection.execute(
            "DELETE FROM tool_calls WHERE at NOT BETWEEN ? AND ?", (call.at - _DAY, call.at + _DAY)
        )
    return [*made, call._replace(seq=added.lastrowid)]


def was_made(connection: sqlite3.Connection, actor: Actor, call: bytes) -> bool:
    """Whether an agent has made this call before."""
    found = connection.execute(
        "SELECT 1 FROM tool_calls WHERE session = ? AND agent = ? AND call = ? LIMIT 1",
        (*actor, call),
    )
    return found.fetchone() is not None


def list_calls(connection: sqlite3.Connection, actor: Actor) -> Sequence[TrackedCall]:
    """What is known of an agent's calls, the latest last."""
    found = connection.execute(
        "SELECT at, call, outcome, traits, tokens, seq FROM tool_calls WHERE session = ? AND "
        "agent = ? ORDER BY seq",
        actor,
    )
    return [*map(TrackedCall._make, found)]


def list_later_traits(connection: sqlite3.Connection, session: bytes, seq: int) -> Sequence[int]:
    """The traits of what all agents of a session did after a call."""
    found = connection.execute(
        "SELECT traits FROM tool_calls WHERE session = ? AND seq > ?", (session, seq)
    )
    return [row[0] for row in found]


def forget_session(connection: sqlite3.Connection, session: bytes) -> None:
    """Forgets all agents of a session."""
    connection.execute("DELETE FROM tool_calls WHERE session = ?", (session,))


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
