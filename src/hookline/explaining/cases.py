"""Events to be judged again: from the journal, from recorded payloads, or line by line from a file.

Knows how they are written down; must not know how they are judged.
"""

from typing import Any

import msgspec
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookline import registry
from hookline.explaining.recorded import event_of
from hookline.model.answers import Answer
from hookline.model.errors import HooklineError
from hookline.model.events import Event
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.outcome import Outcome

__all__ = ["Case", "case_in", "case_of", "recorded_outcome"]

_BYTES = ("payload", "stdout", "stderr")


class Case(Struct, frozen=True, kw_only=True):
    """One event, and what came of it when it happened."""

    name: str
    """How a person finds it: its id, or its file and line."""
    event: Event | None
    why: str = ""
    """Why there is no event."""
    project_dir: str = ""
    then: Recorded | None = None


def case_of(recorded: Recorded) -> Case:
    """An event of the journal."""
    reading = event_of(recorded)
    return Case(
        name=recorded.id,
        event=reading.event,
        why=reading.why,
        project_dir=recorded.project_dir,
        then=recorded,
    )


def case_in(raw: bytes, name: str, dialect: str | None = None) -> Case:
    """The event in one JSON text: a payload, one with its provenance, or a line of `hookline log`.

    ``dialect`` is that of payloads which do not say it. Raises HooklineError for what is none.
    """
    try:
        data = msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HooklineError(f"{name}: expected one JSON object: {error}") from error
    said = data.get("dialect") or data.get("client")
    if "payload" not in data or not isinstance(said, str):
        return _case(name, dialect or "canonical", None, raw)
    payload = data["payload"]
    told = payload.encode() if isinstance(payload, str) else msgspec.json.encode(payload)
    if "verdict" in data and "seq" in data:
        return replace(case_of(_recorded(data, told, name)), name=str(data.get("id") or name))
    native = data.get("native_event") or data.get("event")
    return _case(name, said, native if isinstance(native, str) else None, told)


def _case(name: str, dialect: str, native: str | None, payload: bytes) -> Case:
    codec = registry.dialect(dialect)
    try:
        return Case(name=name, event=codec.decode(payload, native))
    except HooklineError as error:
        return Case(name=name, event=None, why=str(error))


def _recorded(data: dict[str, Any], payload: bytes, name: str) -> Recorded:
    fields = {key: value for key, value in data.items() if key not in _BYTES}
    try:
        recorded = msgspec.convert(fields, Recorded, strict=False)
    except msgspec.MsgspecError as error:
        raise HooklineError(f"{name}: no line of `hookline log --json`: {error}") from error
    streams = {key: str(data.get(key, "")).encode() for key in ("stdout", "stderr")}
    return replace(recorded, payload=payload, **streams)


def recorded_outcome(outcome: Outcome) -> Recorded:
    """An outcome as a record would have it, so that the two can be laid side by side."""
    event = outcome.event
    return Recorded(
        seq=0,
        id=event.id,
        attempt=1,
        at=event.time,
        ns=sum(run.ns for run in outcome.runs),
        dialect=event.dialect,
        native_event=event.native_event,
        event=event.event_id(),
        session_id=event.session_id,
        verdict=outcome.verdict.value,
        reason=outcome.reason,
        answer=_effects(outcome.answer),
        runs=[
            RecordedRun(
                hook=run.hook.name,
                source=str(run.hook.source),
                handler=run.hook.handler.kind,
                verdict=run.answer.verdict.value,
                reason=run.answer.reason,
                ns=run.ns,
                failed=run.failed,
                mode=run.hook.mode.value,
                rejudged=run.rejudged,
                superseded=run.superseded,
                derived=run.derived,
                effects=_effects(run.answer),
            )
            for run in outcome.runs
        ],
        substitutions=outcome.substitutions,
    )


def _effects(answer: Answer) -> dict[str, Any]:
    said: dict[str, Any] = to_builtins(answer)
    return {key: value for key, value in said.items() if key not in {"verdict", "reason"}}
