"""What a recorded event says by itself: who decided, and the event, answer and JSON in it.

Knows records as values; must not know where they are kept, or what is in force now.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookline import registry
from hookline.model.answers import BLOCKING, PASS, Answer, Rewrite, Verdict
from hookline.model.errors import DecodeError, HooklineError
from hookline.model.events import EVENTS, Event
from hookline.model.journal import Recorded, RecordedRun

__all__ = [
    "ANSWERED_BEFORE",
    "Reading",
    "answer_of",
    "as_json",
    "counted",
    "deciders",
    "event_of",
    "file_of",
    "is_latched",
    "rewrite_of",
    "was_answered_before",
]

ANSWERED_BEFORE = "the first answer"
"""What stands for the hooks of a call that came in a second time through another entry."""


class Reading(Struct, frozen=True):
    """The event in a record, or why there is none to be had."""

    event: Event | None
    why: str = ""


def event_of(recorded: Recorded) -> Reading:
    """The event, decoded once more from the payload as it was stored."""
    if not recorded.payload:
        kind = EVENTS.get(recorded.event) if recorded.failure else None
        if kind is None:
            return Reading(None, "its payload was not stored")
        # No hook has judged it, so what was in it makes no difference.
        session, cwd = recorded.session_id, recorded.cwd
        return Reading(kind(id=recorded.id, time=recorded.at, session_id=session, cwd=cwd))
    try:
        dialect = registry.dialect(recorded.dialect)
        event = dialect.decode(recorded.payload, recorded.native_event or None)
    except HooklineError as error:
        cut = "the payload was cut when it was stored: " if recorded.cut else ""
        return Reading(None, f"{cut}{error}" if isinstance(error, DecodeError) else str(error))
    # A payload without a directory happened where the client was, which the journal knows.
    cwd = recorded.cwd or event.cwd
    return Reading(replace(event, id=recorded.id, time=recorded.at, cwd=cwd))


def counted(recorded: Recorded) -> list[RecordedRun]:
    """The runs whose answers were enforced."""
    return [run for run in recorded.runs if run.mode == "enforce" and not run.superseded]


def deciders(recorded: Recorded) -> list[RecordedRun]:
    """The hooks whose word the outcome is; none when nobody said anything."""
    runs = counted(recorded)
    verdict = recorded.verdict
    if verdict != Verdict.PASS:
        exactly = [run for run in runs if run.verdict == verdict]
        # What the event or its platform cannot take is said more strictly than the hook did.
        return exactly or [run for run in runs if run.verdict in BLOCKING]
    kind = EVENTS.get(recorded.event)
    if kind is not None and kind.continues:
        return [run for run in runs if run.effects.get("follow_up") or run.verdict == Verdict.DENY]
    return []


def was_answered_before(recorded: Recorded) -> bool:
    """Whether no hook was asked because the same call had just been answered."""
    return any(each.now == ANSWERED_BEFORE for each in recorded.substitutions)


def is_latched(recorded: Recorded) -> bool:
    """Whether no hook was asked because the session had been halted."""
    held = recorded.verdict == Verdict.DENY and not recorded.runs and not recorded.failure
    return held and not was_answered_before(recorded)


def answer_of(run: RecordedRun) -> Answer:
    """What a hook said, as far as the record has it."""
    effects = {key: value for key, value in run.effects.items() if key in Answer.__struct_fields__}
    try:
        answer = msgspec.convert(
            {**effects, "verdict": run.verdict, "reason": run.reason}, Answer, strict=False
        )
    except (msgspec.MsgspecError, HooklineError, ValueError):
        return PASS
    return PASS if answer == PASS else answer


def rewrite_of(run: RecordedRun) -> Rewrite | None:
    """What a hook wanted changed."""
    changes = run.effects.get("rewrite")
    if not changes:
        return None
    try:
        return msgspec.convert(changes, Rewrite)
    except msgspec.MsgspecError:
        return None


def file_of(source: str) -> str:
    """The file in a ``file:line``."""
    file, colon, line = source.rpartition(":")
    return file if colon and line.isdecimal() else source


def as_json(recorded: Recorded) -> dict[str, Any]:
    """The record as JSON-ready data; ``hookline replay --jsonl`` reads it back."""
    fields = {name: getattr(recorded, name) for name in recorded.__struct_fields__}
    shown: dict[str, Any] = {
        **fields,
        "ms": round(recorded.ns / 1e6, 3),
        "decided_by": _names(deciders(recorded)),
        "approximate": recorded.approximate,
        "payload": _payload(recorded.payload),
        "stdout": recorded.stdout.decode("utf-8", "replace"),
        "stderr": recorded.stderr.decode("utf-8", "replace"),
    }
    plain: dict[str, Any] = to_builtins(shown)
    return plain


def _names(runs: Sequence[RecordedRun]) -> list[str]:
    return list(dict.fromkeys(run.hook for run in runs))


def _payload(raw: bytes) -> Any:
    """The payload as the JSON that it is, or as text where it is none."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return raw.decode("utf-8", "replace")
