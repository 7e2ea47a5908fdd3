"""A call: one event as a client brought it, what its line says, and how far it got on its way.

The line is that of ``hookline hook``, read without a library: agents wait for it. However far an
event got, the client can be answered, and the journal told.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING

import msgspec.json
from msgspec import Struct
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

if TYPE_CHECKING:
    from hookline.app import App
    from hookline.pipeline.recognition import Callers

__all__ = [
    "AUTO",
    "Call",
    "Exchange",
    "LineOptions",
    "find_joint_client",
    "find_words",
    "parse_line",
    "parse_seconds",
    "refuse",
    "time_limit",
]

AUTO = "auto"
"""What stands on the line in place of a dialect when nobody is named."""
_LONGEST = 600.0
"""Seconds that an agent is taken to wait where nobody says how long it does."""
_USAGE = (
    "usage: hookline hook DIALECT [EVENT] [--home DIR] [--user-config DIR] [--config FILE] "
    "[--timeout SECONDS] [--trust-env]; with `auto` for DIALECT the payload tells who is calling"
)


class Call(Struct, frozen=True, kw_only=True, gc=False):
    """One event as a client brought it, from this process or another one."""

    argv: Sequence[str]
    """The words of the line after ``hookline hook``."""
    payload: bytes
    env: Mapping[str, str]
    cwd: str
    id: str = ""
    """Chosen by the client, so that a second attempt is known for one; empty: none was."""
    attempt: int = 1
    umask: int = -1
    """The client's, where that is not this process; -1: it is."""
    client_pid: int = 0
    """The number of the client's process; 0: it is this one."""
    arrived: float | None = None
    """When it came, by the monotonic clock; None: now. Its time to be answered began then."""

    @property
    def options(self) -> "LineOptions":
        """What the line says. Raises HooklineError."""
        return parse_line(self.argv)

    def time_left(self) -> float | None:
        """Of the time for the whole event: waiting for its turn was a part of it."""
        timeout = self.options.engine_timeout
        if timeout is None or self.arrived is None:
            return timeout
        return max(timeout - (monotonic() - self.arrived), 0.0)


class LineOptions(Struct, frozen=True, kw_only=True, dict=True):
    """The command line, as ``install`` wrote it; the environment is not asked."""

    dialect: str
    event: str | None = None
    home: str | None = None
    user_config: str | None = None
    """The directory that XDG_CONFIG_HOME named when hookline was installed."""
    config: str | None = None
    timeout: float | None = None
    """The platform's own limit for this hook, in seconds."""
    trust_env: bool = False
    """Believe the environment about HOOKLINE_*, HOME and XDG_*: for CI and containers only."""

    @cached_property
    def entry(self) -> str:
        """By which this line is told from any other that calls us."""
        return repr(self)

    @cached_property
    def is_anywhere(self) -> bool:
        """Whether the line means the same whichever directory it is called in."""
        whole = self.home is None or os.path.isabs(self.home)
        return whole and self.config is None and not self.trust_env

    @cached_property
    def engine_timeout(self) -> float | None:
        """Ours must end first: when the platform's timeout hits, it lets the tool run."""
        return None if self.timeout is None else max(0.8 * self.timeout - 0.5, 0.1)


def parse_line(argv: Sequence[str]) -> LineOptions:
    """The options. Raises HooklineError."""
    return _parse_line(tuple(argv))


# A daemon hears the same few lines over and over.
@lru_cache(256)
def _parse_line(argv: tuple[str, ...]) -> LineOptions:
    words, values, flaw = _sort_words(argv)
    if "\0" in "".join(argv):
        raise HooklineError("an option has a NUL character in it, which no path has")
    if flaw:
        raise HooklineError(f"{flaw}; {_USAGE}")
    if not 1 <= len(words) <= 2:
        raise HooklineError(_USAGE)
    return LineOptions(
        dialect=words[0],
        event=words[1] if len(words) == 2 else None,
        home=values.get("--home"),
        user_config=values.get("--user-config"),
        config=values.get("--config"),
        timeout=parse_seconds(values.get("--timeout")),
        trust_env="--trust-env" in values,
    )


def find_words(argv: Sequence[str]) -> tuple[str | None, str | None]:
    """The dialect and the event, whatever else is wrong with the line."""
    words = _sort_words(tuple(argv))[0]
    return (words[0] if words else None), (words[1] if len(words) > 1 else None)


def time_limit(argv: Sequence[str]) -> float:
    """How long everything may take: the platform's limit, less what we need to speak first.

    As in the thin clients; whatever else is wrong with the line.
    """
    try:
        timeout = parse_seconds(_sort_words(tuple(argv))[1].get("--timeout"))
    except HooklineError:
        timeout = None
    return _LONGEST if timeout is None else max(0.9 * timeout - 0.5, 0.2)


@lru_cache(256)
def _sort_words(argv: tuple[str, ...]) -> tuple[list[str], dict[str, str], str]:
    """The plain words, the options, and what is wrong with them if something is."""
    words: list[str] = []
    values: dict[str, str] = {}
    flaw = ""
    rest = iter(argv)
    for word in rest:
        if word == "--trust-env":
            values[word] = ""
        elif word in {"--home", "--user-config", "--config", "--timeout"}:
            values[word] = next(rest, "")
            flaw = flaw or ("" if values[word] else f"{word} needs a value")
        elif word.startswith("-"):
            flaw = flaw or f"unknown option `{word}`"
        else:
            words.append(word)
    return words, values, flaw


def parse_seconds(text: str | None) -> float | None:
    """What stands after ``--timeout``. Raises HooklineError."""
    if text is None:
        return None
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise HooklineError(f"--timeout takes seconds, more than 0; got `{text}`")
    return found


# From the call to the reply


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
        advice = "" if isinstance(exc, DecodeError) else " `hookline doctor` says what to fix."
        self.failure = (
            str(exc) if isinstance(exc, HooklineError) else f"{type(exc).__name__}: {exc}"
        )
        self.outcome = None
        reason = f"hookline could not judge this: {sentence(self.failure)}{advice}"
        return refuse(self.client, self.name, reason)

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


def refuse(client: Client | None, event: str | None, reason: str) -> Reply:
    """What is said when there is no outcome, to a client that may be nobody we know."""
    if client is not None:
        return client.refuse(event, reason)
    # Then only the exit code is left, and 2 blocks wherever anything does.
    return Reply(stderr=f"{reason}\n".encode(errors="replace"), exit_code=2)


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
