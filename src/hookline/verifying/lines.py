"""The nouns of a verification: a probe, what it adds to a session, and the line it ends up as."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.lab.script import Turn

if TYPE_CHECKING:
    from hookline.verifying.evidence import Evidence

__all__ = ["ASKED", "Finding", "Line", "Names", "Part", "Probe", "Scene", "State"]


ASKED = "control-asked"
"""The probe that shows that the person can be asked."""


class State(StrEnum):
    """What can be said of one line."""

    OK = "ok"
    FAILED = "failed"
    NOT_OBSERVED = "not observed"
    """The effect could not be seen, so nothing is claimed."""
    CANNOT = "cannot"
    """The client cannot be made to; what happens instead is said, and was seen if it protects."""
    SKIPPED = "skipped"

    @property
    def is_bad(self) -> bool:
        """Whether a run with such a line does not count as passed."""
        return self in {State.FAILED, State.NOT_OBSERVED}


class Line(Struct, frozen=True, kw_only=True):
    """One line of the report."""

    id: str
    title: str
    state: State
    detail: str = ""
    seconds: float = 0.0
    """How long the session took that it was seen in."""


class Finding(Struct, frozen=True):
    """What a probe makes of the evidence."""

    state: State
    detail: str = ""


class Names(Struct, frozen=True):
    """The random words of one probe."""

    word: str
    """In its acts, its files and its prompt, and in nothing else that ever happens."""
    mark: str
    """Only in what its hooks say: where it turns up, the hook was heard."""

    @property
    def hook(self) -> str:
        """How the first of its hooks is called; hookline says it where a hook breaks."""
        return f"{self.word} 1"


class Part(Struct, frozen=True, kw_only=True):
    """What a probe adds to the session of its scene."""

    hooks: tuple[Mapping[str, Any], ...] = ()
    """As in a ``hookline.yaml``, without their names."""
    turns: tuple[Turn, ...] = ()
    files: Mapping[str, str] = {}
    prompt: str = ""


class Scene(Struct, frozen=True):
    """One session that several probes share."""

    id: str
    title: str
    """What is going on, for whoever watches."""
    order: int
    patience: float = 0.0
    """Seconds after which it is ended, if that is sooner than any session is."""
    person: bool = False
    """Whether the client asks before it acts, and a person is there who says yes to everything."""


class Probe(Struct, frozen=True, kw_only=True):
    """One thing that is tried: how it is provoked, and how its effect is judged."""

    id: str
    title: str
    """The line when it is true."""
    scene: Scene
    part: Callable[[Names], Part]
    judge: "Callable[[Evidence], Finding]"
    claim: tuple[str, str] | None = None
    """The event and the cell of the support table that say whether the client can."""
    twin: str = ""
    """The probe that does the same unguarded: what did not happen proves nothing without it."""
    person: Scene | None = None
    """A second session, before a person who says yes: whoever asks instead of denying is seen."""
    may_wait: bool = False
    """Whether it can be true of a session that had to be ended, as when a client waits."""
    order: int = 50
    """Its place in the scene. What may end the session comes last, twins come first."""
