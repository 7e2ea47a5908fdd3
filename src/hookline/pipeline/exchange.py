"""One event between the call and the reply: who is calling, what they said, what came of it.

However far it got, the client can be answered, and the journal told.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from time import perf_counter_ns
from typing import TYPE_CHECKING

import msgspec.json
from msgspec.structs import replace

from hookline import registry
from hookline._version import __version__
from hookline.model.errors import DecodeError, HooklineError, sentence
from hookline.model.events import Event
from hookline.model.events.base import new_id
from hookline.model.journal import Entry
from hookline.model.line_test import REPORT_MARK
from hookline.model.outcome import Outcome, Reply
from hookline.model.ports import Client
from hookline.pipeline.call import AUTO, Call, find_words

if TYPE_CHECKING:
    from hookline.app import App
    from hookline.pipeline.recognition import Callers

__all__ = ["Exchange", "find_joint_client"]


class Exchange:
    """One event on its way."""

    __slots__ = (
        *("call", "at", "started", "named", "name", "client"),
        *("event", "outcome", "failure"),
    )

    def __init__(self, call: Call) -> None:
        self.call = call
        self.at, self.started = datetime.now(UTC), perf_counter_ns()
        # Before the options are judged, so that even a wrong one is answered in the client's words.
        self.named, self.name = find_words(call.argv)
        self.client: Client | None = None
        self.event: Event | None = None
        self.outcome: Outcome | None = None
        self.failure = ""

    def recognise(self) -> Client:
        """Finds out who is calling. Raises HooklineError."""
        call = self.call
        named = registry.dialect(self.named) if self.named and self.named != AUTO else None
        self.client = named
        if named is not None and self.name:
            # Else a gate in another spelling would be an event that nobody knows.
            self.name = named.support.own_name(self.name)
        joint = find_joint_client(self.named, self.name, call.payload, call.env)
        if joint is not None:
            self.client = joint
        if "\0" in call.cwd:
            raise DecodeError("the directory that it was called in has a NUL character in its name")
        _ = call.options  # a mistake on the line is told before one in the payload
        assert self.client is not None
        return self.client

    def decode(self) -> Event:
        """The event in the payload. Raises DecodeError."""
        assert self.client is not None
        event = self.client.decode(self.call.payload, self.name)
        self.event = event = replace(event, id=self.call.id) if self.call.id else event
        self.name = self.name or event.native_event or event.event_id()
        return event

    def encode(self, outcome: Outcome) -> Reply:
        """The outcome in the client's words."""
        assert self.client is not None
        if notes := self.client.notes:
            outcome = replace(outcome, substitutions=(*outcome.substitutions, *notes))
        self.outcome = outcome
        return self.client.encode(outcome)

    def refuse(self, exc: BaseException) -> Reply:
        """What the client is told when there is no outcome."""
        advice = "" if isinstance(exc, DecodeError) else " `hookline doctor` says what to mend."
        self.failure = (
            str(exc) if isinstance(exc, HooklineError) else f"{type(exc).__name__}: {exc}"
        )
        self.outcome = None
        reason = f"hookline could not judge this: {sentence(self.failure)}{advice}"
        if self.client is None:
            # Without a caller only the exit code is left, and 2 blocks wherever anything does.
            return Reply(stderr=f"{reason}\n".encode(errors="replace"), exit_code=2)
        return self.client.refuse(self.name, reason)

    def report(self, app: "App") -> Reply:
        """A refusal, as for all that is no event, and the report for whoever tests the line."""
        from hookline.pipeline.report import report_line

        call, options = self.call, self.call.options
        place = (app.loader, call.cwd, call.env)
        report = report_line(*place, options.dialect, reads_env=options.trust_env)
        reply = self.refuse(DecodeError("this was a test of the installed line"))
        return replace(reply, stderr=REPORT_MARK + msgspec.json.encode(report) + b"\n")

    def make_entry(self, reply: Reply) -> Entry:
        """For the journal."""
        outcome, event = self.outcome, self.event
        return Entry(
            id=self.call.id or (event.id if event is not None else new_id()),
            attempt=self.call.attempt,
            at=self.at,
            ns=perf_counter_ns() - self.started,
            dialect=self._dialect_id(),
            native_event=self.name or "",
            event=event,
            payload=self.call.payload,
            outcome=outcome,
            failure=self.failure,
            reply=reply,
            project_dir=outcome.project_dir if outcome is not None else "",
            config=outcome.config if outcome is not None else "",
            version=__version__,
        )

    def _dialect_id(self) -> str:
        """The likeliest caller's, else what the line names, be it nobody's."""
        ids = self.client.ids if self.client is not None else ()
        return ids[0] if ids else self.named or ""

    def warn(self, reply: Reply, warning: str) -> Reply:
        """The reply with a word to the person that cost it nothing of what it does."""
        if self.outcome is None or self.client is None:
            return replace(reply, stderr=reply.stderr + f"hookline: {warning}\n".encode())
        notices = (*self.outcome.answer.notice, warning)
        return self.client.encode(self.outcome.with_notices(*notices))


def find_joint_client(
    named: str | None, event: str | None, payload: bytes, env: Mapping[str, str]
) -> Client | None:
    """Everybody who may be calling, when it is not simply the client named. Raises DecodeError.

    Several clients run Claude Code's settings, so the payload is asked as well.
    """
    if named is None or named == "canonical":
        return None  # no client's: whoever says this means it
    callers = _load_recognise()(None if named == AUTO else named, event, payload, env)
    if callers.ids == (named,) and event and registry.dialect(named).support.find(event):
        return None  # else the event has to be looked for, among all that this client has
    from hookline.pipeline.joint_client import JointClient

    return JointClient(callers)


@cache
def _load_recognise() -> "Callable[[str | None, str | None, bytes, Mapping[str, str]], Callers]":
    """Imported when a client first calls, and not looked up again for each event."""
    from hookline.pipeline.recognition import recognise

    return recognise
