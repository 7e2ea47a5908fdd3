"""An entry made ready to be stored: redacted, and cut where it is long.

Everything textual is looked at for secrets before it becomes a row; nothing else is ever written.
Nearly every event has none, so all of it is looked at together, and piece by piece only when
something was found.
"""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import ToolEvent
from hookline.model.journal import Entry
from hookline.secrets import redact_bytes
from hookline.store.journal.saying import (
    SUBJECT_CAP,
    Said,
    encoded,
    in_one_line,
    said_of,
    subject_of,
)

if TYPE_CHECKING:
    from hookline.store.journal.cutting import Censor

__all__ = ["FAILED", "Row", "row_of"]

REPLY_CAP = 65_536
SAID_CAP = 65_536
TEXT_CAP = 4_096
"""For one text, where all that was said together is more than ``SAID_CAP``."""
NAME_CAP = 256

FAILED = "failed"
"""In place of a verdict where there was none: ``failure`` says why."""


class Row(Struct, frozen=True, gc=False):
    """One row: the columns of ``events`` in their order, the payload last."""

    columns: tuple[Any, ...]
    size: int
    """About how many bytes it holds in memory."""
    session_end: bool = False


class _Pieces(Struct, gc=False):
    """All of an entry that is text."""

    names: tuple[str, ...]
    """The event's id, its dialect and native name, its session, its tool."""
    said: bytes
    payload: bytes
    stdout: bytes
    stderr: bytes


def row_of(entry: Entry, *, payload_cap: int = 65_536) -> Row:
    """The row of an entry, whatever its hooks put into their answers."""
    try:
        return _row(entry, said_of(entry), payload_cap)
    except Exception as error:
        # That there was an event is known, and so is its verdict.
        failure = f"this event could not be written down in full: {type(error).__name__}: {error}"
        reason = entry.outcome.reason if entry.outcome is not None else ""
        kept = Said(reason=reason, failure=f"{entry.failure} {failure}".strip())
        return _row(entry, kept, payload_cap)


def _row(entry: Entry, said: Said, payload_cap: int) -> Row:
    event, outcome, reply = entry.event, entry.outcome, entry.reply
    pieces = _Pieces(_names(entry), encoded(said), entry.payload, reply.stdout, reply.stderr)
    hooks, redactions, cut = said.hooks, 0, False
    if not (_fits(entry, pieces, payload_cap) and _is_clean(pieces)):
        from hookline.store.journal.cutting import Censor

        censor = Censor()
        pieces = _censored(entry, said, pieces, payload_cap, censor)
        hooks = msgspec.json.decode(pieces.said, type=Said).hooks
        redactions, cut = censor.redactions, censor.cut
    kind, tool_kind = "", ""
    if event is not None:
        kind = event.event_id()
        tool_kind = event.tool.kind._value_ if isinstance(event, ToolEvent) else ""
    identity, dialect, native_event, session_id, tool_name = pieces.names
    columns = (
        identity,
        entry.attempt,
        int(entry.at.timestamp() * 1e6),
        entry.ns,
        dialect,
        native_event,
        kind,
        session_id,
        tool_kind,
        tool_name,
        outcome.answer.verdict._value_ if outcome is not None else FAILED,
        hooks,
        redactions,
        cut,
        reply.exit_code,
        pieces.said.decode(),
        pieces.stdout,
        pieces.stderr,
        pieces.payload,
    )
    size = len(pieces.said) + len(pieces.payload) + len(pieces.stdout) + len(pieces.stderr)
    return Row(columns, size + 1_000, kind == "session_end")


def _names(entry: Entry) -> tuple[str, ...]:
    event = entry.event
    if event is None:
        return entry.id, entry.dialect, entry.native_event, "", ""
    tool = event.tool.name if isinstance(event, ToolEvent) else ""
    native = entry.native_event or event.native_event
    return entry.id, entry.dialect, native, event.session_id, tool


def _fits(entry: Entry, pieces: _Pieces, payload_cap: int) -> bool:
    """Whether nothing has to be cut, and nothing was cut that nobody has looked at."""
    identity, dialect, native_event, session_id, tool_name = pieces.names
    return (
        len(pieces.payload) <= payload_cap
        and len(pieces.said) <= SAID_CAP
        and len(pieces.stdout) <= REPLY_CAP
        and len(pieces.stderr) <= REPLY_CAP
        and len(identity) <= NAME_CAP
        and len(dialect) <= NAME_CAP
        and len(native_event) <= NAME_CAP
        and len(session_id) <= NAME_CAP
        and len(tool_name) <= NAME_CAP
        # The subject is a part of the payload, which is looked at whole.
        and (bool(pieces.payload) or len(subject_of(entry.event)) <= SUBJECT_CAP)
    )


def _is_clean(pieces: _Pieces) -> bool:
    try:
        names = "\n".join(pieces.names).encode()
    except UnicodeEncodeError:
        return False
    together = b"\n".join((pieces.said, pieces.payload, pieces.stdout, pieces.stderr, names))
    # Between zeros, as in UTF-16, no secret is seen here.
    zeros = b"\0" in together or b"u0000" in together
    return not zeros and not redact_bytes(together).count


def _censored(
    entry: Entry, said: Said, pieces: _Pieces, payload_cap: int, censor: "Censor"
) -> _Pieces:
    from hookline.store.journal.cutting import Censor

    # The subject was cut already, perhaps in the middle of a secret: begin again with all of it.
    first = Censor()
    subject = in_one_line(first.text(subject_of(entry.event), 4 * SUBJECT_CAP))
    text = encoded(replace(said, subject=subject)) if said.subject else pieces.said
    kept = _Pieces(
        names=tuple(_valid(censor.text(name, NAME_CAP)) for name in pieces.names),
        said=censor.data(text, SAID_CAP, TEXT_CAP),
        payload=censor.raw(pieces.payload, payload_cap),
        stdout=censor.raw(pieces.stdout, REPLY_CAP),
        stderr=censor.raw(pieces.stderr, REPLY_CAP),
    )
    # What it is a part of has the same secrets, and they are not counted twice.
    censor.redactions = max(censor.redactions, first.redactions)
    return kept


def _valid(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
