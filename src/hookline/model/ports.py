"""The seams between layers: what one layer needs of another, without importing it."""

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    import sqlite3
    from contextlib import AbstractContextManager

    from hookline.model.answers import Announcement, Answer
    from hookline.model.denials import Denial
    from hookline.model.events import Event
    from hookline.model.hook import Hook, Layer
    from hookline.model.models import ModelEntry
    from hookline.model.native import NativeFile, NativePlace, Where
    from hookline.model.outcome import Outcome, Reply, Substitution, Translated
    from hookline.model.support import Support
    from hookline.model.tools import ToolTable

__all__ = [
    "NEEDS_LOOP",
    "NOBODY",
    "AnswerCodec",
    "BuiltinModule",
    "Call",
    "Caller",
    "CleaningBuiltin",
    "Client",
    "Dialect",
    "FindingBuiltin",
    "Handler",
    "HandlerModule",
    "InstantHandler",
    "KeyProblem",
    "LearningBuiltin",
    "Match",
    "Matcher",
    "NativeFiles",
    "PinnedFiles",
    "Services",
    "State",
    "WaitingHandler",
    "needs_loop",
    "peek_payload",
    "take_payload",
]


class Match(Struct, frozen=True):
    """A hook's condition holds; ``path`` is the one that made it hold, as an absolute path."""

    path: str | None = None
    parts: tuple[str, ...] | None = None
    """Where it holds for a part of the event only: the simple commands it holds for, if any."""


class Matcher(Protocol):
    """A hook's condition on an event, compiled once when its config was loaded."""

    def find(self, event: "Event", caller: "Caller") -> Match | None:
        """The match, or None. Raises HandlerError when it cannot be decided."""

    def identity(self) -> object:
        """Equal for matchers that match the same events."""


class State(Protocol):
    """What builtins remember between events and between sessions."""

    def write(self) -> "AbstractContextManager[sqlite3.Connection]":
        """Alone with it until the block ends; an error undoes all of it. Raises HooklineError."""

    def read(self) -> "AbstractContextManager[sqlite3.Connection]":
        """As it is. Raises HooklineError."""


class Caller(Struct, frozen=True, kw_only=True, gc=False):
    """Who fired the event, as a value: handlers never look at their own process instead."""

    env: Mapping[str, str] = {}
    project_dir: str = ""
    deadline: float | None = None
    """Monotonic time by which the whole event must be answered."""
    attempt: int = 1
    depth: int = 0
    """How many hooklines are above this one."""
    umask: int = -1
    """With which the caller makes files, and hooks that run for it; -1: as this process does."""
    home: str = ""
    """Where hookline keeps its own state; empty where it keeps none."""
    denied: "tuple[Denial, ...]" = ()
    """What was denied before in this session, as far as a builtin has it remembered."""
    state: "Callable[[], State] | None" = None
    """Opens what builtins remember between events; None where nothing is kept."""
    own: tuple[str, ...] = ()
    """Its state and the person's config, wherever they are: as written, and with links followed."""


NOBODY = Caller()


class Call(Struct, frozen=True):
    """Everything a handler may know of one run."""

    event: "Event"
    hook: "Hook"
    caller: Caller
    match: Match
    timeout: float
    """Seconds this run may take: the hook's own, cut to what is left of the event's."""


class InstantHandler(Protocol):
    """A handler that answers without waiting for anything."""

    instant: ClassVar[Literal[True]]

    def answer(self, event: "Event", caller: Caller) -> "Answer | Announcement":
        """The answer. Raises HandlerError, or anything at all, when it fails."""


class WaitingHandler(Protocol):
    """A handler that waits for a process, a server or a person."""

    instant: ClassVar[Literal[False]]

    async def run(self, call: Call) -> "Answer | Announcement":
        """The answer, within ``call.timeout``. Raises HandlerError when it fails."""


Handler = InstantHandler | WaitingHandler


class AnswerCodec(Protocol):
    """How a program that speaks a dialect is asked, and how its answer reads (``speaks:``)."""

    @property
    def ignores_http_text(self) -> bool:
        """Whether a response that is no JSON object says nothing; else its hook has failed."""

    @property
    def tells_workspace(self) -> bool:
        """Whether its payloads say which repository and branch the work is about."""

    def stdin(self, event: "Event") -> bytes:
        """The event as this dialect writes it."""

    def read_answer(
        self, event: "Event", *, stdout: bytes, stderr: bytes, exit_code: int
    ) -> "Answer":
        """What the program said. Raises HandlerError when that is no answer in this dialect."""

    def variables(self, event: "Event", caller: Caller) -> Mapping[str, str]:
        """What this platform sets in the environment of the hooks it runs."""


class Client(Protocol):
    """Whoever called us and reads the reply: the client of one dialect, or several at once."""

    @property
    def ids(self) -> Sequence[str]:
        """The dialects that it may speak, the likeliest first."""

    @property
    def support(self) -> "Support":
        """What it can take."""

    @property
    def notes(self) -> "tuple[Substitution, ...]":
        """For the outcome's record, when it is answered in other words than the line says."""

    def decode(self, payload: bytes, event: str | None) -> "Event":
        """The event, with all that any of them would see in it. Raises DecodeError."""

    def translate(self, outcome: "Outcome") -> "Translated":
        """The outcome as far as all of them can take it, each change recorded."""

    def encode(self, outcome: "Outcome") -> "Reply":
        """The outcome in words that each of them obeys at least as strictly."""

    def refuse(self, event: str | None, reason: str) -> "Reply":
        """What to say when there is no outcome: deny on a gate event."""


class Dialect(AnswerCodec, Client, Protocol):
    """One platform: its payloads, its replies, its tools."""

    id: str
    tools: "ToolTable"


class NativeFiles(Protocol):
    """A platform's own hook files: where they are, what is in them, and the hooks they make."""

    @property
    def dialect(self) -> str:
        """Whose files these are."""

    @property
    def run_by(self) -> frozenset[str]:
        """The dialects of all clients that run these files themselves."""

    @property
    def adopts(self) -> frozenset[str]:
        """The dialects whose files this client runs too, by its own rules."""

    def in_mode(self, mode: str) -> "NativeFiles":
        """The same under another version of the platform's rules. Raises IllegalValueError."""

    def owns(self, path: str, content: bytes) -> bool:
        """Whether a file is one of this platform's hook files, by its place or what is in it."""

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """Which files of a directory hold hooks; None when the directory is not this platform's."""

    def places(self, where: "Where") -> "Sequence[NativePlace]":
        """Everywhere this platform looks, what counts first first."""

    def read(self, path: str, content: bytes) -> "NativeFile":
        """What stands in a file; a mistake in it is part of the answer."""

    def hooks(
        self, files: "Sequence[NativeFile]", *, layer: "Layer", project_dir: str
    ) -> "Sequence[Hook]":
        """The hooks of files that this platform reads together, under its own rules."""


class PinnedFiles(Protocol):
    """The files a trusted hook runs, in the bytes that were trusted."""

    def stand_in(self, path: str) -> str | None:
        """A private copy to use instead of ``path``, or None when the file itself may run.

        Raises HandlerUnavailable when neither can be had.
        """

    def start(self) -> None:
        """Called when every path was asked for. Raises as ``stand_in`` does."""
        return

    def finish(self) -> None:
        """Called after the run. Raises HandlerUnavailable when other files may have run."""
        return


class KeyProblem(Struct, frozen=True):
    """A mistake in the value of one config key."""

    key: str
    message: str
    hint: str = ""


class BuiltinModule(Protocol):
    """What a module in ``builtin/`` offers."""

    __doc__: str | None
    EVENTS: tuple[str, ...]
    PRIORITY: int
    GUARD: bool
    Options: type[Struct]

    def make(self, options: Any) -> "Callable[[Event, Caller], Answer | Announcement]":
        """The function that answers."""


class CleaningBuiltin(BuiltinModule, Protocol):
    """A builtin that also goes over what other hooks tell the model and the person."""

    def clean_answer(self, answer: "Answer", options: Mapping[str, Any]) -> "Answer":
        """The answer as it may be stored and sent."""


class FindingBuiltin(BuiltinModule, Protocol):
    """A builtin that finds moments, by counting, which platforms do not tell."""

    FIRES: tuple[str, ...]
    """The events that it announces; users' hooks on them run beside the event that it judged."""


class LearningBuiltin(BuiltinModule, Protocol):
    """A builtin that has denials remembered, and finds them in ``Caller.denied`` from then on."""

    def learn(self, outcome: "Outcome", caller: Caller) -> "Denial | None":
        """What to remember of a tool call that was denied, whichever hook denied it."""


class Services(Struct, frozen=True, kw_only=True):
    """What handlers may ask of the rest of hookline; joined in ``app.py``."""

    codec: Callable[[str], AnswerCodec]
    builtin: Callable[[str], BuiltinModule]
    pins: "Callable[[Hook], PinnedFiles]"
    models: "Mapping[str, ModelEntry]" = {}
    """Models that the user's own config gives a name; those of the config in force."""


@runtime_checkable
class HandlerModule(Protocol):
    """What a module in ``handlers/`` offers; its file is all a new handler takes."""

    KEYS: Mapping[str, Any]
    """Config keys that choose this handler, with the type of each value."""
    EXTRA_KEYS: Mapping[str, Any]
    """Config keys that only make sense beside one of KEYS."""
    COMBINES: bool
    """Whether several of KEYS may stand in one hook."""

    def check(
        self, values: Mapping[str, Any], hook: "Hook", services: Services
    ) -> Sequence[KeyProblem]:
        """Every mistake in the values."""

    def make(self, hook: "Hook", services: Services) -> Handler:
        """The handler for one hook."""


# The moment before somebody waits: only then an event needs an event loop. To load one costs five
# times what starting Python costs, and most events have no hook that anybody waits for. So a
# process that answers one of them begins without a loop, and whoever is about to wait says so.

NEEDS_LOOP = object()
"""What a driver without a loop is given; it goes on with the same coroutine inside one."""


class _Handover:
    def __await__(self) -> Generator[object, None, None]:
        yield NEEDS_LOOP
        # Now to the loop: who was told to end meanwhile is ended here, before a hook begins.
        yield None


async def needs_loop() -> None:
    """Returns inside a running event loop."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        await _Handover()


# A payload is read once, though two ask what is in it: who is calling, and what happened.


class _LatestPayload:
    """The payload that was looked at last, and what was in it."""

    __slots__ = ("read",)

    def __init__(self) -> None:
        self.read: tuple[bytes, Any] = _NONE


_NONE: tuple[bytes, Any] = (b"", None)
_latest = _LatestPayload()


def peek_payload(payload: bytes) -> Any:
    """The JSON value in a payload, for who only looks: it is somebody else's. Raises as msgspec."""
    value = msgspec.json.decode(payload)
    _latest.read = (payload, value)
    return value


def take_payload(payload: bytes) -> Any:
    """The same for who goes on with it: nothing of it is kept here. Raises as msgspec."""
    read, _latest.read = _latest.read, _NONE
    # By identity: it is this very payload that was peeked at, and nobody had it since.
    return read[1] if read[0] is payload and payload else msgspec.json.decode(payload)
