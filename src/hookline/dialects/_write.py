"""What writers of hook files share: what a format can say, and JSON in the shapes platforms read.

Knows entries as values; where an entry comes from, and what is lost on the way, others decide.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hookline.model.native import NativeEntry

__all__ = ["COMMENT", "WINDOWS", "JsonWriter", "Writer"]

COMMENT = "comment"
"""The option under which an entry brings the text for a comment."""

WINDOWS = "windows"
"""The option under which an entry brings another command for Windows."""


class Writer(ABC):
    """One platform's hook file, written from entries."""

    path: ClassVar[str]
    """Where the file belongs, relative to the project."""
    says: ClassVar[frozenset[str]]
    """Fields of an entry that the format has a place for, beside event and command."""
    matched: ClassVar[frozenset[str]] = frozenset()
    """Events on which a matcher is a tool's name."""
    searches: ClassVar[bool] = False
    """Whether a matcher is a regex that is found anywhere in a name: it says where it begins and
    ends. Others are compared with whole names."""
    heeds: ClassVar[frozenset[str]] = frozenset()
    """Options that count when hookline runs an entry of this platform."""
    notes: ClassVar[frozenset[str]] = frozenset()
    """Options that the reader adds for itself, which nobody wrote."""
    windows_keys: ClassVar[tuple[str, ...]] = ()
    """The keys under which a hook has another command for Windows; the first is written."""

    def can_say(self, field: str, event: str) -> bool:
        """Whether a field has a place beside this event."""
        return field in self.says and (field != "matcher" or event in self.matched)

    def granted(self, event: str, seconds: float) -> float:
        """What the platform gives a hook that asks for this long."""
        return float(math.ceil(seconds))

    def matcher(self, names: Sequence[str]) -> str:
        """A matcher for just these tools."""
        return f"^({'|'.join(names)})$" if self.searches else "|".join(names)

    def lanes(self, event: str) -> tuple[str, ...]:
        """The events of the support table under which a hook has to stand to be always asked."""
        return (event,)

    def placed(self, entry: NativeEntry) -> NativeEntry:
        """The entry as the platform's own reader has it."""
        return entry

    @abstractmethod
    def write(self, entries: Sequence[NativeEntry]) -> Mapping[str, bytes]:
        """The files, by their names relative to the project."""


class JsonWriter(Writer):
    """A file with one object of events."""

    grouped: ClassVar[bool] = False
    """Whether hooks stand in groups with one matcher each."""
    version: ClassVar[int | None] = None

    typed: ClassVar[bool] = True
    """Whether a hook says that it is a command."""
    command_key: ClassVar[str] = "command"
    timeout_key: ClassVar[str] = "timeout"
    units: ClassVar[int] = 1
    """How many of a timeout's units a second has."""
    closing: ClassVar[tuple[str, Any]] = ("failClosed", True)
    """What a hook says that fails closed."""

    def hook(self, entry: NativeEntry) -> dict[str, Any]:
        """One hook as the file has it, without its matcher."""
        seconds = entry.timeout
        closing, closed = self.closing
        fields = {
            "name": ("name", entry.name or None),
            "timeout": (self.timeout_key, None if seconds is None else int(seconds * self.units)),
            "env": ("env", dict(entry.env) or None),
            "background": ("async", entry.background or None),
            "fails_closed": (closing, closed if entry.fails_closed else None),
            "priority": ("priority", entry.priority),
        }
        said = dict(pair for field, pair in fields.items() if field in self.says)
        found: dict[str, Any] = {"type": "command"} if self.typed else {}
        if entry.command:
            found[self.command_key] = entry.command
        if self.windows_keys and entry.options.get(WINDOWS):
            found[self.windows_keys[0]] = entry.options[WINDOWS]
        return found | {key: value for key, value in said.items() if value is not None}

    def group(self, entry: NativeEntry) -> dict[str, Any]:
        """What stands round a hook, or beside its own keys."""
        return {} if entry.matcher is None else {"matcher": entry.matcher}

    def write(self, entries: Sequence[NativeEntry]) -> Mapping[str, bytes]:
        """One file; entries keep their order, and neighbours with one matcher share a group."""
        events: dict[str, list[dict[str, Any]]] = {}
        for entry in entries:
            listed_here = events.setdefault(entry.event, [])
            outer, hook = self.group(entry), self.hook(entry)
            if not self.grouped:
                listed_here.append({**outer, **hook})
            elif listed_here and {**listed_here[-1], "hooks": []} == {**outer, "hooks": []}:
                listed_here[-1]["hooks"].append(hook)
            else:
                listed_here.append({**outer, "hooks": [hook]})
        root: dict[str, Any] = {} if self.version is None else {"version": self.version}
        text = json.dumps({**root, "hooks": events}, indent=2, ensure_ascii=False)
        return {self.path: f"{text}\n".encode(errors="backslashreplace")}
