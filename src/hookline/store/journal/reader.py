"""Reading the journal while others write it; never writes, never makes one."""

import os
import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from hookline.model.errors import HooklineError
from hookline.model.journal import Recorded
from hookline.store.journal.filters import (
    SUMMARY,
    Filter,
    SessionSummary,
    conditions,
    escaped,
    in_json,
    moment,
)
from hookline.store.journal.frozen import reading
from hookline.store.journal.saying import Said
from hookline.store.journal.schema import COLUMNS, MIGRATIONS, NewerJournal

__all__ = [
    "ROW",
    "Filter",
    "NoJournal",
    "Reader",
    "SessionSummary",
    "chosen",
    "recorded",
]

ROW = ", ".join(("seq", *COLUMNS, "payload"))
_SELECT = f"SELECT {ROW} FROM events"  # noqa: S608 - our own names
_SESSIONS = f"SELECT {SUMMARY} FROM events WHERE session_id != '' GROUP BY session_id"  # noqa: S608
_ANY = Filter()


class NoJournal(HooklineError):
    """Nothing was written down yet."""


class Reader:
    """One journal file. Every method raises HooklineError when it cannot be read."""

    def __init__(self, path: str) -> None:
        """Raises HooklineError when there is no journal, or none that this hookline can read."""
        self._path = path
        if not os.path.exists(path):
            raise NoJournal(
                f"there is no journal at {path} yet: it begins with the first event that an agent "
                "sends through `hookline hook`"
            )
        try:
            self._connection = reading(path)
        except sqlite3.Error as error:
            raise self._unreadable(error) from error
        try:
            (version,) = self._rows("PRAGMA user_version")[0]
            if version > len(MIGRATIONS):
                raise NewerJournal(path, version)
            if not version:
                self._rows("SELECT count(*) FROM events")
        except BaseException:
            self.close()
            raise

    def find(self, name: str) -> Recorded:
        """The event of this id or unique beginning of one; its last attempt."""
        # First the id itself: any number of newer ones may begin with it.
        rows = self._rows(f"{_SELECT} WHERE id = ? ORDER BY seq DESC", (name,)) or self._rows(
            f"{_SELECT} WHERE id >= ? AND id < ? ORDER BY seq DESC LIMIT 20",
            (name, name + "\U0010ffff"),
        )
        return chosen(name, [recorded(row) for row in rows])

    def last(self, wanted: Filter = _ANY) -> Recorded | None:
        """The newest event of those that are wanted."""
        found = self.query(msgspec.structs.replace(wanted, limit=1))
        return found[0] if found else None

    def query(self, wanted: Filter = _ANY) -> Sequence[Recorded]:
        """Newest first; but oldest first where ``after_seq`` says what is known already."""
        where, values = conditions(wanted, _contains)
        order = "DESC" if wanted.after_seq is None else "ASC"
        rows = self._rows(
            f"{_SELECT} WHERE {where} ORDER BY seq {order} LIMIT ?", (*values, wanted.limit)
        )
        return [recorded(row) for row in rows]

    def sessions(self, limit: int = 50) -> Sequence[SessionSummary]:
        """The sessions that are known, the one last heard of first."""
        rows = self._rows(f"{_SESSIONS} ORDER BY max(seq) DESC LIMIT ?", (limit,))
        return [SessionSummary.of(row) for row in rows]

    def version(self) -> int:
        """A number that changes when another process has written; cheap enough to ask often."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def close(self) -> None:
        """Gives the file back."""
        self._connection.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: sqlite3.Error) -> HooklineError:
        return HooklineError(
            f"the journal {self._path} cannot be read: {error}. If it is damaged, move it away "
            "with its -wal and -shm: the next event begins a new one."
        )


def _contains(text: str) -> tuple[str, list[str]]:
    raw, said = f"%{escaped(text)}%", f"%{escaped(in_json(text))}%"
    condition = (
        "(said LIKE ? ESCAPE '!' OR CAST(payload AS TEXT) LIKE ? ESCAPE '!' "
        "OR CAST(payload AS TEXT) LIKE ? ESCAPE '!' OR session_id LIKE ? ESCAPE '!' "
        "OR tool_name LIKE ? ESCAPE '!')"
    )
    return condition, [said, said, raw, raw, raw]


def recorded(row: Sequence[Any]) -> Recorded:
    """What a row of ``ROW`` holds. Raises HooklineError when it is damaged."""
    seq, *columns, payload = row
    known = dict(zip(COLUMNS, columns, strict=True))
    try:
        said = msgspec.json.decode(known.pop("said"), type=Said)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise HooklineError(f"event {known['id']} is damaged in the journal: {error}") from error
    known.pop("hooks")
    return Recorded(
        seq=seq,
        **(known | {"at": moment(known["at"]), "cut": bool(known["cut"])}),
        agent=said.agent,
        subject=said.subject,
        cwd=said.cwd,
        project_dir=said.project_dir,
        config=said.config,
        reason=said.reason,
        failure=said.failure,
        answer=said.answer,
        runs=tuple(said.runs),
        substitutions=said.substitutions,
        payload=payload,
        version=said.version,
    )


def chosen(name: str, found: Sequence[Recorded]) -> Recorded:
    """The one event meant by ``name``, of those whose ids begin so, newest first."""
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
