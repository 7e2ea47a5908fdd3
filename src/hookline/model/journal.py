"""What the journal is given of an event, and what it gives back.

An ``Entry`` holds everything as it was; the journal redacts and cuts it before a byte is stored.
A ``Recorded`` is what was stored.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct

from hookline.model.events import Event
from hookline.model.outcome import Outcome, Reply, Substitution

__all__ = ["UNTOLD", "Entry", "Journal", "JournalSettings", "Recorded", "RecordedRun"]


class JournalSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the journal is kept; said in the user's own or the managed file."""

    enabled: Annotated[bool, Meta(description="Whether events are written down at all.")] = True
    durability: Annotated[
        Literal["normal", "full"],
        Meta(description="full: each answer waits until its event is safe from a power cut."),
    ] = "normal"
    keep_days: Annotated[int, Meta(ge=1, le=36_500, description="Older events are removed.")] = 90
    max_mb: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Above this size the oldest events go.")
    ] = 1024
    payload_kb: Annotated[
        int, Meta(ge=1, le=65_536, description="How much of one payload is kept.")
    ] = 64
    dsn: Annotated[str, Meta(description="A PostgreSQL database that also gets every event.")] = ""


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One answered event, as it was. Never the environment of the caller."""

    id: str
    attempt: int = 1
    """Hooks may run more than once for one event; each attempt is an entry."""
    at: datetime
    ns: int
    """From the arrival of the request to the answer, in nanoseconds."""
    dialect: str
    """Whose words the reply is in."""
    native_event: str = ""
    event: Event | None = None
    """None when the payload could not be read."""
    payload: bytes = b""
    outcome: Outcome | None = None
    """None when there was none: ``failure`` says why."""
    failure: str = ""
    reply: Reply = Reply()
    project_dir: str = ""
    config: str = ""
    """A digest of all hooks in force, by which two events are seen to be judged by the same."""
    version: str = ""
    """The version of hookline that judged it."""


UNTOLD = "?"
"""In place of a digest of files, where there are too many to look at."""


class RecordedRun(Struct, frozen=True, kw_only=True):
    """One hook's doing, as it was stored."""

    hook: str
    source: str
    """File and line."""
    handler: str
    doing: str = ""
    """A digest of its entry, by which it is known again; empty for a rule."""
    files: str = ""
    """A digest of the files that it ran; empty where there are none, ``UNTOLD`` for too many."""
    saw: str = ""
    """A digest of what it was asked about, where an earlier hook had rewritten that."""
    verdict: str
    reason: str = ""
    ns: int = 0
    failed: str | None = None
    mode: str = "enforce"
    rejudged: bool = False
    superseded: bool = False
    derived: str = ""
    """The derived event that it ran for; empty for the one that the platform sent."""
    effects: Mapping[str, Any] = {}
    """What it said beside its verdict: context, notice, rewrite, follow_up, metadata."""


class Recorded(Struct, frozen=True, kw_only=True):
    """One event as it was stored: redacted, and cut where it was long."""

    seq: int
    """The order of writing; never given twice."""
    id: str
    attempt: int
    at: datetime
    ns: int
    dialect: str
    native_event: str
    event: str
    """The canonical id, or empty when the payload could not be read."""
    session_id: str = ""
    agent: str = ""
    tool_kind: str = ""
    tool_name: str = ""
    subject: str = ""
    """What the event is about, in one line: the command, the path, the prompt."""
    cwd: str = ""
    project_dir: str = ""
    config: str = ""
    verdict: str
    reason: str = ""
    failure: str = ""
    answer: Mapping[str, Any] = {}
    runs: Sequence[RecordedRun] = ()
    substitutions: Sequence[Substitution] = ()
    payload: bytes = b""
    """The native payload, redacted; what was cut off is said by ``cut``."""
    redactions: int = 0
    """How many secrets were taken out, anywhere in the entry."""
    cut: bool = False
    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    version: str = ""
    machine: str = ""
    """Whose event it is, where the journal holds those of many."""

    @property
    def approximate(self) -> bool:
        """Whether judging the stored payload again may come out differently for that alone."""
        return self.cut or self.redactions > 0


class Journal(Protocol):
    """Where answered events are written down."""

    async def write(self, entry: Entry) -> str:
        """Returns when the entry will survive this process; never raises.

        The text is empty, or a warning for the person: what is wrong with the journal.
        """

    async def aclose(self) -> None:
        """Writes what is left, syncs and closes."""
