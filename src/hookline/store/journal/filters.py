"""Which events are wanted, and what is told of them; the same for every database."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

__all__ = [
    "SUMMARY",
    "Filter",
    "SessionSummary",
    "conditions",
    "escaped",
    "in_json",
    "micros",
    "moment",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

BLOCKED = "verdict IN ('ask', 'deny', 'halt', 'failed')"
SUMMARY = (
    "session_id, max(dialect), count(*), sum(CASE WHEN " + BLOCKED + " THEN 1 ELSE 0 END), "
    "min(at), max(at)"
)
"""The columns of a ``SessionSummary``, for events that are grouped by session."""

# What a hook did that may have to be explained, as it reads in the JSON of ``said``. A quote inside
# of a text has a backslash before it there, so no text can be taken for any of these. Context,
# notices and rewritten outputs are not among them: hooks that talk would hide the deny before them.
# Variables are: where a client cannot set them, it is told deny instead.
_SAID = (
    *(f'"verdict":"{verdict}"' for verdict in ("allow", "ask", "deny", "halt")),
    *(f'"rewrite":{{"{part}":' for part in ("input", "prompt", "env")),
    '"follow_up":[',
    '"failed":"',
)
_TELLING = " OR ".join(("verdict != 'pass'", *(f"instr(said, '{each}') > 0" for each in _SAID)))


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


def micros(time: datetime) -> int:
    """As times are stored: microseconds since 1970."""
    return int(time.timestamp() * 1e6)


def moment(stored: int) -> datetime:
    """The time that was stored."""
    return _EPOCH + timedelta(microseconds=stored)


def conditions(
    wanted: Filter, contains: Callable[[str], tuple[str, list[str]]]
) -> tuple[str, list[Any]]:
    """The filter in SQL with a ``?`` for each value; ``contains`` says how a text is looked for."""
    found: list[tuple[str, list[Any]]] = []
    if wanted.session is not None:
        found.append(("substr(session_id, 1, ?) = ?", [len(wanted.session), wanted.session]))
    if wanted.event is not None:
        found.append(("event = ?", [wanted.event]))
    if wanted.verdict is not None:
        found.append(("verdict = ?", [wanted.verdict]))
    if wanted.tool is not None:
        either = "(lower(tool_kind) = lower(?) OR lower(tool_name) = lower(?))"
        found.append((either, [wanted.tool, wanted.tool]))
    if wanted.hook is not None:
        name = wanted.hook.replace("\n", " ")
        found.append(("instr(hooks, ?) > 0", [f"\n{name}\n"]))
    if wanted.project is not None:
        # As it was stored, also where the name is no UTF-8.
        name = in_json(wanted.project.encode("utf-8", "replace").decode())
        found.append(("instr(said, ?) > 0", [f'"project_dir":"{name}"']))
    if wanted.telling:
        found.append((f"({_TELLING})", []))
    if wanted.dialect is not None:
        found.append(("dialect = ?", [wanted.dialect]))
    if wanted.since is not None:
        found.append(("at >= ?", [micros(wanted.since)]))
    if wanted.until is not None:
        found.append(("at <= ?", [micros(wanted.until)]))
    if wanted.after_seq is not None:
        found.append(("seq > ?", [wanted.after_seq]))
    if wanted.text is not None:
        found.append(contains(wanted.text))
    return " AND ".join(each for each, _ in found) or "1 = 1", [
        value for _, values in found for value in values
    ]


def escaped(text: str) -> str:
    """For LIKE … ESCAPE '!': nothing in it stands for anything else."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def in_json(text: str) -> str:
    """As the text reads inside a JSON string, where quotes and line feeds are escaped."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
