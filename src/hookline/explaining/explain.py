"""One recorded event, explained: from its record, and from the config in force at its place."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.app import App
from hookline.explaining.explanation import Explanation, Ran, Unrun
from hookline.explaining.recorded import (
    counted,
    deciders,
    event_of,
    file_of,
    is_latched,
    was_answered_before,
)
from hookline.explaining.replies import excerpt, substitutions, told
from hookline.explaining.surroundings import Key, Surroundings
from hookline.explaining.unrun import Inquiry
from hookline.model.answers import BLOCKING, Verdict
from hookline.model.errors import HooklineError, sentence
from hookline.model.events import EVENTS, Event, SessionStart
from hookline.model.hook import Hook
from hookline.model.journal import Recorded, RecordedRun

__all__ = ["events_of", "explain", "how_merged"]


# What is told of an event as it was recorded.
_AS_RECORDED = (
    "id",
    "attempt",
    "at",
    "machine",
    "dialect",
    "native_event",
    "event",
    "session_id",
    "agent",
    "subject",
    "cwd",
    "project_dir",
    "approximate",
    "redactions",
    "cut",
    "verdict",
    "failure",
    "answer",
)


def explain(recorded: Recorded, app: App) -> Explanation:
    """Everything that can be said of the event.

    ``app`` is one for the place where it happened; what it has in force now tells why hooks did
    not run, since a record names only those that did.
    """
    now = _look(recorded, app)
    in_force = {} if now.here is None else now.here.in_force
    fields: dict[str, Any] = {name: getattr(recorded, name) for name in _AS_RECORDED}
    return Explanation(
        **fields,
        ms=round(recorded.ns / 1e6, 3),
        payload=excerpt(recorded.payload),
        reason=_reason(recorded),
        ran=tuple(_ran(recorded, in_force)),
        merge=tuple(how_merged(recorded)),
        substitutions=substitutions(recorded, now.event),
        told=told(recorded, now.event),
        not_run=now.not_run,
        notes=tuple(dict.fromkeys(_notes(recorded, now))),
        same_config=now.is_same(recorded),
    )


def events_of(name: str, app: App) -> tuple[str, ...]:
    """The events that hooks of this name are on, by all that is written where the app is."""
    try:
        # Of which kind it is makes no difference to what is written.
        here = Surroundings.of(app, SessionStart(cwd=app.cwd), "")
    except HooklineError:
        return ()
    written = (*here.written, *(hook for hook, _, _ in here.drafts()))
    return tuple(dict.fromkeys(id for hook in written if hook.name == name for id in hook.events))


class _Now(Struct, frozen=True, kw_only=True):
    """What a second look at a recorded event has found."""

    event: Event | None = None
    here: Surroundings | None = None
    not_run: tuple[Unrun, ...] = ()
    why: str = ""
    """Why there was less to be found than one would wish."""

    def is_same(self, recorded: Recorded) -> bool:
        """Whether the hooks in force are those by which it was judged."""
        return self.here is not None and self.here.config.digest == recorded.config


def _look(recorded: Recorded, app: App) -> _Now:
    reading = event_of(recorded)
    event = reading.event
    if event is None:
        why = f"Conditions cannot be looked at again: {reading.why}" if recorded.event else ""
        return _Now(why=why)
    if not os.path.isabs(event.cwd):
        event = replace(event, cwd=os.path.join(app.cwd, event.cwd))
    try:
        here = Surroundings.of(app, event, recorded.project_dir)
        return _Now(event=event, here=here, not_run=tuple(Inquiry(recorded, event, here).unrun()))
    except HooklineError as error:
        return _Now(event=event, why=f"Why hooks did not run cannot be said: {error}")


def _notes(recorded: Recorded, now: _Now) -> Iterator[str]:
    if now.why:
        yield now.why
    if recorded.approximate:
        yield f"Conditions are judged by what was stored, {_approximate(recorded)}."
    if now.here is None:
        return
    if recorded.machine:
        yield f"It happened on `{recorded.machine}`; conditions are judged by what holds here."
    if recorded.config and not now.is_same(recorded):
        yield (
            "The config has changed since, or hookline was paused then or is now: why hooks did "
            "not run is told by what is active now."
        )
    yield from (note.message for note in now.here.config.notes)


def _reason(recorded: Recorded) -> str:
    """Without the last line, if that is the command which has led here."""
    reason, _, last = recorded.reason.rpartition("\n")
    command, _, name = last.rpartition(" ")
    leads_here = command == "hookline explain" and recorded.id.startswith(name)
    return reason if leads_here else recorded.reason


def _approximate(recorded: Recorded) -> str:
    count = recorded.redactions
    redacted = f"with {count} secret{'s' if count > 1 else ''} taken out" if count else ""
    return " and ".join(filter(None, (redacted, "cut short" if recorded.cut else "")))


def _ran(recorded: Recorded, in_force: Mapping[Key, Hook]) -> Iterator[Ran]:
    decided = deciders(recorded)
    for run in recorded.runs:
        hook = in_force.get((run.hook, file_of(run.source)))
        yield Ran(
            hook=run.hook,
            source=run.source,
            handler=run.handler,
            tier=None if hook is None else hook.priority,
            verdict=run.verdict,
            reason=run.reason,
            ms=round(run.ns / 1e6, 3),
            failed=run.failed,
            notes=tuple(_remarks(run, run in decided, hook is None and bool(in_force))),
            effects=run.effects,
        )


def _remarks(run: RecordedRun, decided: bool, gone: bool) -> Iterator[str]:
    for word, on in (
        ("decided", decided),
        ("observed", run.mode == "observe"),
        ("superseded", run.superseded),
        ("rejudged", run.rejudged),
        ("gone since", gone),
        (f"on {run.derived}", bool(run.derived)),
    ):
        if on:
            yield word


def how_merged(recorded: Recorded) -> Iterator[str]:
    """One sentence for each thing that made the outcome what it is."""
    kind = EVENTS.get(recorded.event)
    if recorded.failure:
        yield _unjudged(recorded, kind)
        return
    if was_answered_before(recorded):
        yield (
            "No hook was asked: the same call had come in through another entry a moment before, "
            "and that answer was given again."
        )
        return
    if is_latched(recorded):
        yield (
            "No hook was asked: the session had been halted, and every gate stays closed until "
            "the person's next prompt."
        )
        return
    yield _verdict(recorded)
    for run in recorded.runs:
        yield from _of_run(run, recorded, kind)


def _unjudged(recorded: Recorded, kind: type[Event] | None) -> str:
    why = sentence(recorded.failure)
    if kind is None or (kind.gate and not kind.continues):
        return f"No hook's word counted: {why} What cannot be judged is not let through."
    return f"No hook's word counted: {why} Nothing can be held back on `{recorded.event}`."


def _verdict(recorded: Recorded) -> str:
    verdict = recorded.verdict
    spoken = [run for run in counted(recorded) if run.verdict != Verdict.PASS]
    if not recorded.runs:
        return "No hook ran, so the decision was left to the client."
    if verdict == Verdict.PASS and (going := deciders(recorded)):
        return f"{_who(going)} kept the agent going; on `{recorded.event}` a deny means that."
    if verdict == Verdict.PASS:
        why = "none of what was said counts here" if spoken else "no hook held it back"
        return f"pass: {why}, so the decision was left to the client."
    winners = deciders(recorded)
    if not winners:
        return f"{verdict}: {sentence(recorded.reason or 'no hook of the record said so')}"
    if verdict == Verdict.ALLOW:
        return f"allow: {_who(winners)} allowed it, and no hook asked, denied or halted."
    others = sorted(
        {run.verdict for run in spoken if run not in winners},
        key=lambda word: -_strictness(word),
    )
    if not others:
        return f"{verdict}: {_who(winners)} said so, and nothing stricter was said."
    return f"{verdict}: {_who(winners)} said so, the strictest of {verdict}, {', '.join(others)}."


def _strictness(word: str) -> int:
    return Verdict(word).strictness if word in set(Verdict) else 0


def _who(runs: Sequence[RecordedRun]) -> str:
    names = dict.fromkeys(f"`{run.hook}` ({run.source})" for run in runs)
    return " and ".join(names)


def _of_run(run: RecordedRun, recorded: Recorded, kind: type[Event] | None) -> Iterator[str]:
    who = f"`{run.hook}`"
    if run.failed is not None:
        yield f"{who} failed: {sentence(run.failed)} {_policy(run, kind)}"
    if run.mode == "observe" and run.verdict != Verdict.PASS:
        yield f"{who} would have said {run.verdict}; `mode: observe` only writes that down."
    if run.superseded:
        yield f"{who} was overruled by a later hook of its file, as its own platform has it."
    if run.rejudged:
        yield f"{who} judged the input once more, after another hook had rewritten it."
    softened = run.verdict in BLOCKING and recorded.verdict == Verdict.PASS
    if softened and run in counted(recorded) and kind is not None and not kind.continues:
        yield f"{who} said {run.verdict}, and nothing can be held back on `{recorded.event}`."


def _policy(run: RecordedRun, kind: type[Event] | None) -> str:
    if run.verdict == Verdict.DENY:
        return "With `on_error: block`, as guards have it, that is a deny."
    told = "notice" in run.effects
    if told and kind is not None and (kind.gate or kind.hides):
        return "With `on_error: warn`, the person is told and the event goes on."
    return (
        "The person is told and the event goes on."
        if told
        else "With `on_error: ignore`, so be it."
    )
