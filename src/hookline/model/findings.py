"""What an examination of a machine finds, and what one platform's part of it is given.

Pure values: how files are read, and what is wrong in them, is for others to know.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from hookline.model.installing import Inactive, Machine
from hookline.model.native import NativeFile, NativePlace, Where
from hookline.model.support import Support
from hookline.model.tools import ToolKind, ToolTable

__all__ = ["Checkup", "Finding", "Seen", "Severity"]


class Severity(StrEnum):
    """How bad a finding is, the worst first."""

    ERROR = "error"
    """A hook does not fire, or a guard is open."""
    WARNING = "warning"
    NOTE = "note"


class Finding(Struct, frozen=True, kw_only=True):
    """One way in which hooks do not do what they seem to: what happens, and what to do about it."""

    id: str
    """Stable, in kebab-case: programs may rely on it."""
    dialect: str
    """Whose hooks; ``hookline`` for those of its own config."""
    severity: Severity
    file: str = ""
    line: int = 0
    what: str
    fix: str

    @property
    def where(self) -> str:
        """The file and line, as editors take them."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Seen(Struct, frozen=True, kw_only=True):
    """A hook file that was read where its platform looks for it."""

    place: NativePlace
    file: NativeFile
    content: bytes = b""


class Checkup(Struct, frozen=True, kw_only=True):
    """One platform on one machine."""

    dialect: str
    support: Support
    tools: ToolTable
    where: Where
    machine: Machine
    seen: tuple[Seen, ...] = ()
    inactive: tuple[Inactive, ...] = ()
    """What keeps the platform from running hooks, as its installer knows it."""
    installed: bool = False
    """Whether hookline was written into this platform's settings."""
    readers: Mapping[str, tuple[Support, ...]] = {}
    """Other platforms that read the same files as their own, by path."""
    events: Mapping[str, str] = {}
    """Every platform's names of events, and the canonical ones for them."""
    kinds: Mapping[str, ToolKind] = {}
    """Every platform's names of tools, and what kind each is."""
    named: bool = False
    """Whether a person asked for this platform, rather than for all."""

    @property
    def own(self) -> tuple[Seen, ...]:
        """The platform's own files, without those of others that it runs as well."""
        return tuple(each for each in self.seen if each.place.dialect in {"", self.dialect})

    @property
    def has_hooks(self) -> bool:
        """Whether there is anything to fire."""
        return any(each.file.entries for each in self.seen)

    def canonical(self, native: str) -> str:
        """The canonical event for a name of this platform's, or of another whose file this is."""
        row = self.support.find(native)
        return row.event if row is not None else self.events.get(native, "other")

    def found(
        self,
        id: str,
        severity: Severity,
        file: str,
        line: int,
        what: str,
        fix: str,
    ) -> Finding:
        """A finding about this platform."""
        return Finding(
            id=id,
            dialect=self.dialect,
            severity=severity,
            file=file,
            line=line,
            what=what,
            fix=fix,
        )
