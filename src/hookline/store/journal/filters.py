"""Which events are wanted, in the SQL of SQLite and of PostgreSQL."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from hookline.store.journal.schema import COLUMNS, micros, moment

__all__ = ["POSTGRES", "SQLITE", "SUMMARY", "Dialect", "Filter", "SessionSummary", "conditions"]

_OTHER_VERDICT = "verdict != 'pass'"
_BLOCKED = "verdict IN ('ask', 'deny', 'halt', 'failed')"
SUMMARY = (
    "session_id, max(dialect), count(*), sum(CASE WHEN " + _BLOCKED + " THEN 1 ELSE 0 END), "
    "min(at), max(at)"
)
"""The columns of a ``SessionSummary``, for events that are grouped by session."""

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


class SessionSummary(Struct, frozen=True):
    """One session, as its events tell it."""

    session_id: str
    dialect: str
    events: int
    blocked: int
    """How many were asked about, denied or halted, or could not be judged."""
    first: datetime
    last: datetime

    @classmethod
    def of(cls, row: Any) -> "SessionSummary":
        """From the columns of ``SUMMARY``."""
        session_id, dialect, events, blocked, first, last = row
        return cls(session_id, dialect, events, int(blocked), moment(first), moment(last))


class Dialect(Struct, frozen=True):
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


SQLITE = Dialect(
    table="events",
    find_text="instr",
    like="LIKE ? ESCAPE '!'",
    payload="CAST(payload AS TEXT) LIKE ? ESCAPE '!'",
    id_begins="id >= ? AND id < ?",
)
POSTGRES = Dialect(
    table="hookline.events",
    find_text="strpos",
    like="ILIKE ? ESCAPE '!'",
    # As PostgreSQL spells bytes.
    payload="encode(payload, 'escape') ILIKE encode(convert_to(?, 'UTF8'), 'escape') ESCAPE '!'",
    id_begins="id ~>=~ ? AND id ~<~ ?",
)


def conditions(wanted: Filter, dialect: Dialect) -> tuple[str, list[Any]]:
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
        found = [f"{dialect.find_text}(said, '{each}') > 0" for each in _TELLING]
        add(f"({' OR '.join((_OTHER_VERDICT, *found))})")
    if wanted.since is not None:
        add("at >= ?", micros(wanted.since))
    if wanted.until is not None:
        add("at <= ?", micros(wanted.until))
    if wanted.after_seq is not None:
        add("seq > ?", wanted.after_seq)
    if wanted.text is not None:
        add(*_look_for(wanted.text, dialect))
    return " AND ".join(parts) or "1 = 1", values


def _look_for(text: str, dialect: Dialect) -> Sequence[str]:
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
