"""The nouns of the shell guard: one command in its place, and what was found against it."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import force_setattr

from hookline.model.answers import Verdict

if TYPE_CHECKING:
    from hookline.builtin.shell_guard.world import Where, World

__all__ = ["CATEGORIES", "Act", "Family", "Finding", "Judge", "fatal", "risky"]

CATEGORIES = (
    "deletes",
    "overwrites",
    "discards-work",
    "rewrites-history",
    "publishes",
    "sends-out",
    "reads-secret",
    "escalates",
    "kills",
    "changes-system",
    "changes-remote",
    "runs-unseen-code",
    "weakens-guard",
    "unreadable",
    "protected",
)


class Act(Struct, frozen=True, kw_only=True):
    """One simple command, and what is known about the moment it runs."""

    words: tuple[str, ...]
    exact: bool = True
    """False when a word may become something else: it holds an expansion, or is still to come."""
    wrappers: tuple[str, ...] = ()
    runs_in: "str | Where" = ""
    """Its directory, or where the event happens; empty when that cannot be told."""
    elsewhere: str = ""
    """The program that has it run on another machine or in a container, if one does."""
    carrier: str = ""
    """The program in whose words or code it was found, if it is not written for itself."""
    producers: tuple["Act", ...] = ()
    """The commands whose output it reads, nearest first."""
    inputs: tuple[str, ...] = ()
    """Texts that here-documents, here-strings and literal echoes put on its standard input."""
    start: int = 0
    end: int = 0
    """Bytes of the text it was found at; code inside code has its carrier's."""
    depth: int = 0
    variables: Mapping[str, tuple[str, ...]] = {}
    """What the text gives variables that could not be put in place: sources of values."""

    name: str = ""
    """The program without its directory."""

    def __post_init__(self) -> None:
        force_setattr(self, "name", self.words[0].rpartition("/")[2])

    @property
    def cwd(self) -> str:
        """Where it runs; empty when that cannot be told."""
        return self.runs_in if isinstance(self.runs_in, str) else self.runs_in.cwd

    @property
    def text(self) -> str:
        """The command as one line."""
        return " ".join(self.words)

    @property
    def raised(self) -> bool:
        """Whether it runs with more rights than its caller has."""
        return not _RAISERS.isdisjoint(self.wrappers)


_RAISERS = frozenset({"sudo", "doas", "pkexec", "gosu", "su-exec"})


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that speaks against a command."""

    verdict: Verdict
    category: str
    radius: str
    words: str
    """The words that decided it, as they will run."""
    why: str

    @property
    def rank(self) -> tuple[int, int]:
        """Worse findings have higher ones."""
        return (self.verdict is Verdict.DENY, ("low", "medium", "high").index(self.radius))


Judge = Callable[[Act, "World"], Iterable[Finding]]
Family = Mapping[str, Judge]


def risky(category: str, words: str, why: str, *, radius: str = "medium") -> Finding:
    """Something a person should see first."""
    return Finding(verdict=Verdict.ASK, category=category, radius=radius, words=words, why=why)


def fatal(category: str, words: str, why: str, *, radius: str = "high") -> Finding:
    """Something that nothing brings back."""
    return Finding(verdict=Verdict.DENY, category=category, radius=radius, words=words, why=why)
