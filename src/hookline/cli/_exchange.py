"""One event between its arrival and the reply: who speaks, what they said, what came of it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from time import perf_counter_ns
from typing import TYPE_CHECKING

import msgspec.json
from msgspec import Struct
from msgspec.structs import replace

from hookline import registry
from hookline._version import __version__
from hookline.cli._hook_options import AUTO, HookOptions, parse, words_in
from hookline.model.errors import DecodeError, HooklineError, sentence
from hookline.model.events import Event
from hookline.model.events.base import new_id
from hookline.model.journal import Entry
from hookline.model.line_test import REPORT_MARK, LineReport
from hookline.model.outcome import Outcome, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.callers import Callers
    from hookline.joint_reply import Clients
    from hookline.model.ports import Dialect

__all__ = ["Arrived", "Exchange"]


class Arrived(Struct, frozen=True, kw_only=True, gc=False):
    """One event as a client brought it, from this process or another one."""

    argv: Sequence[str]
    payload: bytes
    env: Mapping[str, str]
    cwd: str
    id: str = ""
    """Chosen by the client, so that a second attempt is known for one; empty: none was."""
    attempt: int = 1
    umask: int = -1
    """The client's, where that is not this process; -1: it is."""
    arrived: float | None = None
    """When it came, by the monotonic clock; None: now. Its time to be answered began then."""


class Exchange:
    """One event on its way: who is speaking, what was said, and what came of it."""

    __slots__ = (
        *("arrived", "at", "started", "named", "name", "speaker", "clients"),
        *("event", "again", "outcome", "failure"),
    )

    def __init__(self, arrived: Arrived) -> None:
        self.arrived = arrived
        self.at, self.started = datetime.now(UTC), perf_counter_ns()
        # Before the options are judged, so that even a wrong one is answered in the client's words.
        self.named, self.name = words_in(arrived.argv)
        self.speaker: Dialect | Clients | None = None
        self.clients: Clients | None = None
        self.event: Event | None = None
        self.again: Callable[[], Event] | None = None
        self.outcome: Outcome | None = None
        self.failure = ""

    def begin(self) -> HookOptions:
        """Finds out who is calling, and what for. Raises HooklineError."""
        arrived = self.arrived
        self.speaker = registry.dialect(self.named) if self.named and self.named != AUTO else None
        self.clients = _clients(self.named, self.name, arrived.payload, arrived.env)
        self.speaker = self.clients or self.speaker
        if "\0" in arrived.cwd:
            raise DecodeError("the directory that it was called in has a NUL character in its name")
        return parse(arrived.argv)

    def decoded(self) -> Event:
        """The event in the payload. Raises DecodeError."""
        assert self.speaker is not None
        if self.clients is None:  # else what is read depends on who else is meant
            self.again = partial(self.speaker.decode, self.arrived.payload, self.name)
        event = self.speaker.decode(self.arrived.payload, self.name)
        self.event = event = replace(event, id=self.arrived.id) if self.arrived.id else event
        self.name = self.name or event.native_event or event.event_id()
        return event

    def encoded(self, outcome: Outcome) -> Reply:
        """The outcome in the client's words."""
        assert self.speaker is not None
        noted = self.clients.callers.noted() if self.clients is not None else ()
        if noted:
            outcome = replace(outcome, substitutions=(*outcome.substitutions, *noted))
        self.outcome = outcome
        return self.speaker.encode(outcome)

    def refusal(self, exc: BaseException) -> Reply:
        """What the client is told when there is no outcome."""
        advice = "" if isinstance(exc, DecodeError) else " `hookline doctor` says what to mend."
        self.failure = (
            str(exc) if isinstance(exc, HooklineError) else f"{type(exc).__name__}: {exc}"
        )
        self.outcome = None
        reason = f"hookline could not judge this: {sentence(self.failure)}{advice}"
        if self.speaker is None:
            # Without a caller only the exit code is left, and 2 blocks wherever anything does.
            return Reply(stderr=f"{reason}\n".encode(errors="replace"), exit_code=2)
        return self.speaker.refuse(self.name, reason)

    def reported(self, report: LineReport) -> Reply:
        """A refusal, as for all that is no event, and the report for whoever tests the line."""
        reply = self.refusal(DecodeError("this was a test of the installed line"))
        return replace(reply, stderr=REPORT_MARK + msgspec.json.encode(report) + b"\n")

    def entry(self, reply: Reply) -> Entry:
        """For the journal."""
        outcome, event = self.outcome, self.event
        ids = self.clients.ids if self.clients is not None else ()
        return Entry(
            id=self.arrived.id or (event.id if event is not None else new_id()),
            attempt=self.arrived.attempt,
            at=self.at,
            ns=perf_counter_ns() - self.started,
            dialect=ids[0] if ids else self.named or "",
            native_event=self.name or "",
            event=event,
            payload=self.arrived.payload,
            outcome=outcome,
            failure=self.failure,
            reply=reply,
            project_dir=outcome.project_dir if outcome is not None else "",
            config=outcome.config if outcome is not None else "",
            version=__version__,
        )

    def warned(self, reply: Reply, warning: str) -> Reply:
        """The reply with a word to the person that cost it nothing of what it does."""
        if self.outcome is None or self.speaker is None:
            return replace(reply, stderr=reply.stderr + f"hookline: {warning}\n".encode())
        notices = (*self.outcome.answer.notice, warning)
        return self.speaker.encode(self.outcome.with_notices(*notices))


def _clients(
    named: str | None, event: str | None, payload: bytes, env: Mapping[str, str]
) -> "Clients | None":
    """Who is calling, when it is not simply the dialect named. Raises DecodeError."""
    if named is None or named == "canonical":
        return None  # no client's: whoever says this means it
    callers = _recognise()(None if named == AUTO else named, event, payload, env)
    if callers.ids == (named,) and event and registry.dialect(named).support.find(event):
        return None  # else the event has to be looked for, among all that this client has
    from hookline.joint_reply import Clients

    return Clients(callers)


@cache
def _recognise() -> "Callable[[str | None, str | None, bytes, Mapping[str, str]], Callers]":
    """Imported when a client first calls, and not looked up again for each event."""
    from hookline.callers import recognise

    return recognise
