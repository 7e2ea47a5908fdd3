"""What became of every property of every hook in a conversion: kept, replaced or lost, and why.

Plain values and their JSON; must not know how any of it was found out.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins

__all__ = ["EntryReport", "Finding", "Report", "Status", "kept", "lost", "replaced"]


class Status(StrEnum):
    """What became of a property."""

    KEPT = "kept"
    REPLACED = "replaced"
    LOST = "lost"


class Finding(Struct, frozen=True, kw_only=True, rename={"was": "from", "now": "to"}):
    """One property of one hook."""

    property: str
    """``event``, ``matcher``, ``timeout``, …; ``verdict.deny`` and ``effect.context`` for what
    the hook's program may answer with."""
    status: Status
    was: str = ""
    now: str = ""
    why: str = ""
    on: str = ""
    """The native event of the new file that this is about, where there are several."""


class EntryReport(Struct, frozen=True, kw_only=True):
    """One hook of the old file."""

    event: str
    line: int
    what: str
    """Its name, or what it runs."""
    becomes: tuple[str, ...]
    """The native events of the new file under which it stands; none when all of it is lost."""
    findings: tuple[Finding, ...]


class Report(Struct, frozen=True, kw_only=True, rename={"origin": "from", "target": "to"}):
    """A whole conversion."""

    origin: str
    target: str
    file: str
    entries: tuple[EntryReport, ...]

    @property
    def losses(self) -> Iterator[tuple[EntryReport, Finding]]:
        """Everything that is lost, and of which hook."""
        for entry in self.entries:
            for finding in entry.findings:
                if finding.status is Status.LOST:
                    yield entry, finding

    def count(self, status: Status) -> int:
        """How many properties this became of."""
        return self._counted()[status]

    def _counted(self) -> Counter[Status]:
        return Counter(each.status for entry in self.entries for each in entry.findings)

    def as_json(self) -> dict[str, Any]:
        """The report for programs; every key is always there."""
        counted = self._counted()
        summary = {status.value: counted[status] for status in Status}
        return {"hookline": 1, **to_builtins(self), "summary": summary}


def kept(property: str, was: str, now: str = "", *, why: str = "", on: str = "") -> Finding:
    """Still so, in the new file or by the adapter, as on the old platform."""
    status = Status.KEPT
    return Finding(property=property, status=status, was=was, now=now or was, why=why, on=on)


def replaced(property: str, was: str, now: str, why: str, *, on: str = "") -> Finding:
    """Something else stands for it."""
    status = Status.REPLACED
    return Finding(property=property, status=status, was=was, now=now, why=why, on=on)


def lost(property: str, was: str, why: str, *, now: str = "", on: str = "") -> Finding:
    """Nothing stands for it, or less than it was."""
    return Finding(property=property, status=Status.LOST, was=was, now=now, why=why, on=on)
