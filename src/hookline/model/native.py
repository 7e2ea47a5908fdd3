"""Other platforms' own hook files, as values: what stands in them, and what is wrong with it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from hookline.model.hook import Layer

__all__ = ["NativeEntry", "NativeFile", "NativeFlaw", "NativePlace", "Voids", "Where"]


class NativeEntry(Struct, frozen=True, kw_only=True):
    """One hook as its platform's file has it, in words that all platforms share."""

    event: str
    """The native event, as the file spells it."""
    type: str = "command"
    """How it runs: ``command``, ``http``, ``builtin``, or another word of its platform."""
    command: str | tuple[str, ...] = ""
    """A line for the shell, or a program and its arguments."""
    url: str = ""
    matcher: str | None = None
    """As written; None where there is none."""
    condition: str = ""
    """A further condition in the platform's own language, such as Claude Code's ``if``."""
    timeout: float | None = None
    """In seconds, whatever the file counts in; None for the platform's default."""
    directory: str = ""
    env: Mapping[str, str] = {}
    background: bool = False
    fails_closed: bool | None = None
    """What the entry itself says of failure; None leaves it to the platform."""
    name: str = ""
    agent: str = ""
    """The one agent it is for; empty for all."""
    group: str = ""
    """Entries of one group belong to one matcher in the file."""
    sequential: bool = False
    priority: int | None = None
    options: Mapping[str, Any] = {}
    """What else the entry says: headers, arguments, a prompt, a model."""
    line: int = 0
    flaw: str = ""
    """Why its platform would not run it; empty when it would."""
    elsewhere: bool = False
    """Whether that is only because its command is for another system."""
    implied: bool = False
    """Nothing in the file asks for it: its platform adds it by itself."""


class Voids(StrEnum):
    """How much of a file a mistake takes out of force on its own platform."""

    FILE = "file"
    ENTRY = "entry"
    NOTHING = "nothing"


class NativeFlaw(Struct, frozen=True):
    """A mistake in a native file, and what it does there."""

    line: int
    message: str
    hint: str = ""
    voids: Voids = Voids.ENTRY


class NativeFile(Struct, frozen=True, kw_only=True):
    """One hook file of another platform, read."""

    dialect: str
    path: str
    entries: tuple[NativeEntry, ...] = ()
    flaws: tuple[NativeFlaw, ...] = ()
    off: str = ""
    """Why its platform runs nothing in it although it is in order, such as ``disableAllHooks``."""

    @property
    def is_unreadable(self) -> bool:
        """Whether a mistake leaves nothing of it."""
        written = any(not entry.implied for entry in self.entries)
        return not written and any(flaw.voids is Voids.FILE for flaw in self.flaws)


class Where(Struct, frozen=True, kw_only=True):
    """Where a person works: what a platform's files are looked for in."""

    project: str
    home: str
    env: Mapping[str, str] = {}
    root: str = "/"
    """Where the machine's own settings are; another directory in tests."""


class NativePlace(Struct, frozen=True, kw_only=True):
    """One place where a platform looks for hooks, whether or not something is there."""

    path: str
    layer: Layer
    scope: str
    """In the platform's own word: ``managed``, ``user``, ``project``, ``local``, ``plugin``."""
    dialect: str = ""
    """Whose file this is; empty for the platform's own. VS Code also reads Claude Code's."""
    is_off: bool = False
    """Whether a person's settings keep the platform from looking there."""
