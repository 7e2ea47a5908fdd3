"""What agents did last, and the loops that were found in it: digests only, never a text.

A call is known by a digest of the tool and its input, its outcome by a digest of what came of it.
What a loop is, is not decided here.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from enum import IntFlag
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

__all__ = [
    "Actor",
    "DetectedLoop",
    "TrackedCall",
    "Trait",
    "add_call",
    "add_tables",
    "find_loop",
    "forget_loops",
    "forget_session",
    "keep_loops",
    "list_calls",
    "list_traits",
]

# As many calls of an agent are kept, and for how long.
_LATEST = 96
_DAY = 24 * 60 * 60
# After so many calls of all agents, the old ones are looked for.
_EVERY = 64


class Trait(IntFlag):
    """What matters of a call beside what it was."""

    FAILED = 1
    LOOKS = 2
    """It asks for a state that changes by itself."""
    WAITS = 4
    CHANGES = 8
    """It changes files, or the like."""
    MAY_CHANGE = 128
    """Nobody can tell what it changes."""
    NEW = 16
    """The first time that this call had this outcome, and no failure."""
    UNTOLD = 32
    """The platform does not say what came of it."""
    COMPACTS = 64
    """No tool call: the conversation was about to be compacted."""


class Actor(Struct, frozen=True):
    """One agent of one session, as digests."""

    session: bytes
    agent: bytes

    @classmethod
    def of(cls, dialect: str, session: str, agent: str) -> "Actor":
        """Sub-agents have an actor each."""
        return cls(_digest(dialect, session), _digest(agent))


class TrackedCall(Struct, frozen=True, kw_only=True):
    """One call that was made, and what came of it."""

    at: float
    """Seconds since 1970."""
    call: bytes
    outcome: bytes
    traits: Trait
    tokens: int | None = None
    """Of a compaction: how full the conversation was, in thousandths of its window or in tokens."""
    seq: int = 0


class DetectedLoop(Struct, frozen=True, kw_only=True):
    """A call that is part of a loop."""

    call: bytes
    outcome: bytes
    kind: str
    count: int
    first: float
    last: float
    seq: int
    """After this call, the loop was seen last."""
    denied: int = 0


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
    connection.execute(
        "CREATE TABLE loops (session BLOB NOT NULL, agent BLOB NOT NULL, call BLOB NOT NULL, "
        "outcome BLOB NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL, first REAL NOT NULL, "
        "last REAL NOT NULL, seq INTEGER NOT NULL, denied INTEGER NOT NULL, "
        "PRIMARY KEY (session, agent, call)) WITHOUT ROWID"
    )


def add_call(
    connection: sqlite3.Connection, actor: Actor, call: TrackedCall, source: str, seconds: float
) -> list[TrackedCall]:
    """Adds a call, unless its event was known; the agent's within so many seconds, the latest last.

    A clock that was put back makes no call older than it is.
    """
    made = list_calls(connection, actor)
    if not call.traits & (Trait.FAILED | Trait.COMPACTS):
        pair = (call.call, call.outcome)
        if all((each.call, each.outcome) != pair for each in made):
            call = replace(call, traits=call.traits | Trait.NEW)
    added = connection.execute(
        "INSERT OR IGNORE INTO tool_calls (session, agent, source, at, call, outcome, traits, "
        "tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (actor.session, actor.agent, _digest(source), call.at, call.call, call.outcome,
         int(call.traits), call.tokens),
    )  # fmt: skip
    if added.rowcount and added.lastrowid is not None:
        _trim(connection, actor, call.at, made, added.lastrowid)
        made.append(replace(call, seq=added.lastrowid))
    return [each for each in made if abs(call.at - each.at) <= seconds]


def _trim(
    connection: sqlite3.Connection,
    actor: Actor,
    now: float,
    made: Sequence[TrackedCall],
    added: int,
) -> None:
    """Makes room for one more: an agent's oldest calls go, and now and then those of all agents."""
    if len(made) >= _LATEST:
        connection.execute(
            "DELETE FROM tool_calls WHERE session = ? AND agent = ? AND seq <= ?",
            (actor.session, actor.agent, made[-_LATEST].seq),
        )
    if added % _EVERY == 0:
        _forget_old(connection, now)


def list_calls(connection: sqlite3.Connection, actor: Actor) -> list[TrackedCall]:
    """What is known of an agent's calls, the latest last."""
    found = connection.execute(
        "SELECT at, call, outcome, traits, tokens, seq FROM tool_calls WHERE session = ? AND "
        "agent = ? ORDER BY seq",
        (actor.session, actor.agent),
    )
    return [
        TrackedCall(at=at, call=call, outcome=outcome, traits=Trait(traits), tokens=tokens, seq=seq)
        for at, call, outcome, traits, tokens, seq in found
    ]


def _forget_old(connection: sqlite3.Connection, now: float) -> None:
    for table, column in (("tool_calls", "at"), ("loops", "last")):
        connection.execute(
            f"DELETE FROM {table} WHERE {column} NOT BETWEEN ? AND ?",  # noqa: S608 - our own names
            (now - _DAY, now + _DAY),
        )


def list_traits(connection: sqlite3.Connection, actor: Actor, *, after: int) -> list[Trait]:
    """The traits of each call that an agent has made after another one."""
    found = connection.execute(
        "SELECT traits FROM tool_calls WHERE session = ? AND agent = ? AND seq > ?",
        (actor.session, actor.agent, after),
    )
    return [Trait(row[0]) for row in found]


def find_loop(connection: sqlite3.Connection, actor: Actor, call: bytes) -> DetectedLoop | None:
    """The loop that a call is part of."""
    row = connection.execute(
        "SELECT call, outcome, kind, count, first, last, seq, denied FROM loops "
        "WHERE session = ? AND agent = ? AND call = ?",
        (actor.session, actor.agent, call),
    ).fetchone()
    names = ("call", "outcome", "kind", "count", "first", "last", "seq", "denied")
    return None if row is None else DetectedLoop(**dict(zip(names, row, strict=True)))


def keep_loops(connection: sqlite3.Connection, actor: Actor, loops: Iterable[DetectedLoop]) -> None:
    """Remembers them, in place of what was known of the same calls."""
    connection.executemany(
        "INSERT OR REPLACE INTO loops VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (actor.session, actor.agent, each.call, each.outcome, each.kind, each.count, each.first,
             each.last, each.seq, each.denied)
            for each in loops
        ],
    )  # fmt: skip


def forget_loops(connection: sqlite3.Connection, actor: Actor, seq: int) -> None:
    """Forgets a loop, with every call that is part of it."""
    connection.execute(
        "DELETE FROM loops WHERE session = ? AND agent = ? AND seq = ?",
        (actor.session, actor.agent, seq),
    )


def forget_session(connection: sqlite3.Connection, session: bytes) -> None:
    """Forgets all agents of a session."""
    connection.execute("DELETE FROM tool_calls WHERE session = ?", (session,))
    connection.execute("DELETE FROM loops WHERE session = ?", (session,))


def _digest(*parts: str) -> bytes:
    def encode() -> Iterator[bytes]:
        for part in parts:
            raw = part.encode("utf-8", "surrogatepass")
            yield b"%d:%s" % (len(raw), raw)

    return sha256(b"".join(encode())).digest()[:16]
