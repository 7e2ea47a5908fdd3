"""What sessions leave to the next one: a handoff each, and which of them the next session gets.

A handoff belongs to one user, one repository at one place of this machine, and one branch. How many
are kept, and for how long, is bounded.
"""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from hookline.model.ports import State
from hookline.model.text import visible

__all__ = [
    "Anchor",
    "Failure",
    "FileUse",
    "Handoff",
    "Handoffs",
    "Load",
    "Place",
    "Status",
    "Todo",
    "count_tokens",
    "create_handoffs",
    "describe_handoff",
    "find_lost",
    "list_anchors",
    "name_moment",
    "quote",
    "rank_file",
]

T = TypeVar("T")
Load = Literal["open", "rotated", "never"]
Status = Literal["open", "active", "done"]

_KEPT_PER_BRANCH = 10
_KEPT = 1_000
_DAY = 86_400.0
_KEPT_DAYS = 90
_TOLD_DAYS = 7
_WORD = re.compile(r"\w{4,}")
# Of the words of a sentence, as many as show that a summary says the same.
_ENOUGH = 0.8
_LONGEST = 1 << 18
_FILES = 12
# A session that ended without a word is over after as long without an event, as everywhere.
_SILENCE = 1_800.0


class Todo(Struct):
    """One thing to do."""

    text: str
    status: Status = "open"
    id: str = ""


class Failure(Struct):
    """A call that failed, and has not succeeded since."""

    what: str
    error: str
    count: int = 1


class FileUse(Struct):
    """How often a file was changed and read."""

    writes: int = 0
    reads: int = 0


class Handoff(Struct, kw_only=True, omit_defaults=True):
    """What is known of one session: its work, and how it ended."""

    session: str = ""
    dialect: str = ""
    agent: str = ""
    repository: str = ""
    branch: str = ""
    issue: str = ""
    todos: list[Todo] = []
    read_todos: bool = False
    """Whether they are those of the transcript, as no event told of any."""
    inherited: list[Todo] = []
    """What the session before had left to do."""
    plan: str = ""
    next_steps: list[str] = []
    blockers: list[str] = []
    decisions: list[str] = []
    files: dict[str, FileUse] = {}
    failures: dict[str, Failure] = {}
    reason: str = ""
    """The event that wrote it last; empty where the session was killed before any did."""
    rotated: bool = False
    """Whether its budget was used up."""
    relieved: bool = False
    """Whether it was compacted since, and may go on."""
    ended: bool = False
    touched: float = 0.0
    # What the session itself has yet to do with it.
    begun: bool = False
    """Whether it was looked for what the session before left."""
    compacting: float = 0.0
    """Since when a compaction is about to be made, or is made; 0 where none is."""
    tokens_before: int = 0
    pending: list[str] = []
    """What the model is told as soon as an event can carry it."""
    restored: str = ""
    """What it was told after a compaction, since the person's last prompt."""

    @property
    def open_todos(self) -> list[Todo]:
        """What is left to do; what was inherited counts until the session changed something."""
        worked = any(each.writes for each in self.files.values())
        todos = self.todos if worked else [*self.inherited, *self.todos]
        return [each for each in todos if each.status != "done"]

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        return bool(self.open_todos or self.next_steps)

    @property
    def has_content(self) -> bool:
        """Whether there is anything to hand over."""
        stated = self.plan or self.next_steps or self.blockers or self.decisions
        return bool(stated or self.todos or self.inherited or self.files or self.failures)

    def is_over(self, now: float) -> bool:
        """Whether the session is over as far as anybody knows."""
        return self.rotated or self.ended or abs(now - self.touched) >= _SILENCE


class Place(NamedTuple):
    """Whose work it is, where, and on which branch."""

    path: str
    repository: str
    branch: str

    @property
    def key(self) -> str:
        """The same for the same user and repository only."""
        return ascii((os.getuid(), self.path, self.repository))


def create_handoffs(connection: sqlite3.Connection) -> None:
    """The table, as a step of the state's migration."""
    connection.execute(
        "CREATE TABLE handoffs (session TEXT NOT NULL, place TEXT NOT NULL, branch TEXT NOT NULL,"
        " touched REAL NOT NULL, taken_by TEXT NOT NULL DEFAULT '', body BLOB NOT NULL,"
        " PRIMARY KEY (session, place))"
    )
    connection.execute("CREATE INDEX handoffs_at ON handoffs (place, branch, touched)")


class Handoffs:
    """The handoffs in a state. Every question raises HooklineError when it cannot be asked."""

    def __init__(self, state: State, *, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._clock = clock

    def change(
        self, session: str, place: Place, change: Callable[[Handoff], T], *, moves: bool = True
    ) -> T:
        """What ``change`` returns for the session's handoff there, which is kept as it left it.

        It is called again on what is there by then when it changes anything: another process may
        have changed it meanwhile. Unless it ``moves``, the session stays on its branch.
        """
        with self._state.read() as connection:
            before = _find(connection, session, place)
        handoff = _decode(before)
        result = change(handoff)
        if _encode(handoff) == (before or _EMPTY):
            return result
        with self._state.write() as connection:
            handoff = _decode(_find(connection, session, place))
            result = change(handoff)
            if moves or not handoff.session:
                handoff.branch = place.branch
            self._save(connection, session, place, handoff)
        return result

    def take(self, session: str, place: Place, *, load: Load) -> tuple[Handoff, float] | None:
        """What the last session there left, for this session only, and how old it is in seconds.

        None unless that session is over, and was rotated or left something to do.
        """
        now = self._clock()
        with self._state.write() as connection:
            self._remove_old(connection, now)
            rows = connection.execute(
                "SELECT session, taken_by, body FROM handoffs WHERE place = ? AND branch = ?"
                " AND session != ? ORDER BY touched DESC",
                (place.key, place.branch, session),
            )
            left = ((name, taken_by, _decode(body)) for name, taken_by, body in rows)
            over = (each for each in left if each[2].has_content and each[2].is_over(now))
            found = next(over, None)
            if found is None:
                return None
            name, taken_by, handoff = found
            age = abs(now - handoff.touched)
            is_due = handoff.rotated or (load == "open" and handoff.is_open)
            if not is_due or age > _TOLD_DAYS * _DAY or taken_by not in ("", session):
                return None
            connection.execute(
                "UPDATE handoffs SET taken_by = ? WHERE session = ? AND place = ?",
                (session, name, place.key),
            )
        return handoff, age

    def query(self, place: Place, *, any_branch: bool = False) -> Sequence[tuple[Handoff, str]]:
        """What is kept of a repository, the latest first, each with the session that took it."""
        with self._state.read() as connection:
            rows = connection.execute(
                "SELECT taken_by, body FROM handoffs WHERE place = ? AND (? OR branch = ?)"
                " ORDER BY touched DESC",
                (place.key, any_branch, place.branch),
            ).fetchall()
        found = [(_decode(body), taken_by) for taken_by, body in rows]
        return [each for each in found if each[0].has_content]

    def forget(self, place: Place, *, any_branch: bool = False) -> int:
        """Removes them; how many there were."""
        with self._state.write() as connection:
            return connection.execute(
                "DELETE FROM handoffs WHERE place = ? AND (? OR branch = ?)",
                (place.key, any_branch, place.branch),
            ).rowcount

    def _save(
        self, connection: sqlite3.Connection, session: str, place: Place, handoff: Handoff
    ) -> None:
        """Keeps it; nothing of a session that is over and has done nothing."""
        if handoff.ended and not handoff.has_content:
            key = (session, place.key)
            connection.execute("DELETE FROM handoffs WHERE session = ? AND place = ?", key)
            return
        now = self._clock()
        # An end that is found out by silence tells only that the session had been over.
        late = handoff.ended and abs(now - handoff.touched) >= _SILENCE
        handoff.touched = handoff.touched if late and handoff.touched else now
        handoff.session, handoff.repository = session, visible(place.repository)
        connection.execute(
            "INSERT INTO handoffs (session, place, branch, touched, body) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (session, place) DO UPDATE SET branch = excluded.branch,"
            " touched = excluded.touched, body = excluded.body,"
            # Who goes on after another session was told has more to tell; who only ends has not.
            " taken_by = CASE WHEN ? THEN taken_by ELSE '' END",
            (session, place.key, handoff.branch, handoff.touched, _encode(handoff), handoff.ended),
        )

    def _remove_old(self, connection: sqlite3.Connection, now: float) -> None:
        connection.execute(
            "DELETE FROM handoffs WHERE touched < ? OR rowid IN (SELECT id FROM ("
            "SELECT rowid AS id,"
            " ROW_NUMBER() OVER (PARTITION BY place, branch ORDER BY touched DESC) AS on_branch,"
            " ROW_NUMBER() OVER (ORDER BY touched DESC) AS in_all FROM handoffs)"
            " WHERE on_branch > ? OR in_all > ?)",
            (now - _KEPT_DAYS * _DAY, _KEPT_PER_BRANCH, _KEPT),
        )


_encode = msgspec.json.encode
_EMPTY = _encode(Handoff())
_decoder = msgspec.json.Decoder(Handoff)


def _find(connection: sqlite3.Connection, session: str, place: Place) -> bytes | None:
    row = connection.execute(
        "SELECT body FROM handoffs WHERE session = ? AND place = ?", (session, place.key)
    ).fetchone()
    return None if row is None else bytes(row[0])


def _decode(body: bytes | None) -> Handoff:
    """One that cannot be read is none: what its session does next begins another."""
    try:
        return _decoder.decode(body) if body else Handoff()
    except msgspec.MsgspecError:
        return Handoff()


# ── how it reads ──


class Anchor(NamedTuple):
    """What has to survive a compaction."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def count_tokens(text: str) -> int:
    """About how many tokens a text has: one for every four bytes."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def quote(text: object) -> str:
    """One quoted line, whatever the text holds."""
    return f"> {visible(' '.join(str(text).split()))}"


def list_anchors(handoff: Handoff) -> list[Anchor]:
    """Issue, branch, blockers and next steps, as far as they are known."""
    found = [Anchor("Issue", handoff.issue), Anchor("Branch", handoff.branch)]
    found += [Anchor("Blocker", each) for each in handoff.blockers]
    found += [Anchor("Next step", each) for each in handoff.next_steps]
    return [each for each in found if each.text and not each.text.startswith(".")]


def find_lost(anchors: Sequence[Anchor], summary: str) -> list[Anchor]:
    """The anchors that a summary does not say."""
    said = " ".join(summary[:_LONGEST].casefold().split())
    words = frozenset(_WORD.findall(said))
    return [each for each in anchors if not _is_said(each, said, words)]


def _is_said(anchor: Anchor, said: str, words: frozenset[str]) -> bool:
    text = " ".join(anchor.text.casefold().split())
    if re.search(rf"(?<!\w){re.escape(text.lstrip('#'))}(?!\w)", said):
        return True
    own = _WORD.findall(text)
    sentence = anchor.kind in ("Blocker", "Next step") and len(own) >= 3
    return sentence and sum(word in words for word in own) >= _ENOUGH * len(own)


def describe_handoff(handoff: Handoff, *, max_tokens: int) -> str:
    """The handoff as quoted lines, the most important first; what did not fit is said."""
    left = max_tokens - count_tokens(_more(9_999))
    lines: list[str] = []
    dropped = 0
    title = ""
    for section, line in _list_lines(handoff):
        heading = [f"> {section}:"] if section and section != title else []
        added = [*heading, quote(line)]
        cost = sum(count_tokens(each) + 1 for each in added)
        if dropped or cost > left:
            dropped += 1
            continue
        lines += added
        left -= cost
        title = section
    return "\n".join([*lines, *([_more(dropped)] if dropped else [])])


def _more(count: int) -> str:
    return f"> ({count} more lines: `hookline handoff` shows them)"


def _list_lines(handoff: Handoff) -> Iterator[tuple[str, str]]:
    """Every line under its heading, the most important first."""
    if handoff.repository:
        yield "", f"Repository: {handoff.repository}"
    yield from (("", str(each)) for each in list_anchors(handoff))
    for each in sorted(handoff.open_todos, key=lambda todo: todo.status):
        yield "Open todos", f"- [{'~' if each.status == 'active' else ' '}] {each.text}"
    for failure in reversed(handoff.failures.values()):
        times = f" ({failure.count} times)" if failure.count > 1 else ""
        yield "Unresolved errors", f"- `{failure.what}` failed{times}: {failure.error}"
    for decision in handoff.decisions:
        yield "Decisions", f"- {decision}"
    for line in handoff.plan.splitlines():
        yield "Plan", line
    ranked = sorted(handoff.files.items(), key=lambda item: rank_file(item[1]), reverse=True)
    for path, use in ranked[:_FILES]:
        done = {"changed": use.writes, "read": use.reads}
        times = ", ".join(f"{how} {count}x" for how, count in done.items() if count)
        yield "Key files", f"- {path} ({times})"
    for each in handoff.todos:
        if each.status == "done":
            yield "Done", f"- {each.text}"


def rank_file(use: FileUse) -> int:
    """How much a file matters: to change it tells more than to read it."""
    return 3 * use.writes + use.reads


def name_moment(at: float) -> str:
    """``2026-11-19 21:40 UTC``."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
