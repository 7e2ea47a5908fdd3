"""What it takes to write hookline into a platform's own settings: nouns, and the port.

Knows how a platform is to call us and what an installer answers; must not know any platform, nor
how files are read and written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile
from typing import ClassVar, Protocol, runtime_checkable

from hookline.model.errors import HooklineError
from hookline.model.line_test import LineReport
from hookline.model.support import Support

__all__ = [
    "Call",
    "Converse",
    "Entry",
    "Inactive",
    "InstallError",
    "Installed",
    "Installer",
    "Machine",
    "Remains",
    "Scope",
    "Target",
    "Trusting",
]


class InstallError(HooklineError):
    """hookline cannot be written into, or taken out of, this file as asked; it is as it was."""


class Scope(StrEnum):
    """For whom an installation counts."""

    USER = "user"
    PROJECT = "project"


Converse = Callable[[Sequence[str], Sequence[Mapping[str, object]]], "Mapping[int, object] | None"]
"""Words and messages in; the result of each message that has an id, or None when it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One person's machine as far as installers look at it."""

    home: str
    """The person's home directory."""
    project: str
    """The root of the project that the command runs in."""
    env: Mapping[str, str]
    read: Callable[[str], bytes | None]
    """The content of a file, or None when there is none that can be read."""
    which: Callable[[str], str | None]
    """The program with this name on the person's PATH."""
    converse: "Converse | None" = None
    """Talks to a program that reads and answers JSON lines; None where none may be started."""
    version: "Callable[[Sequence[str]], tuple[int, ...]] | None" = None
    """The version that a program prints, empty when it prints none; None where none may start."""
    test_line: Callable[[str], LineReport | str] | None = None
    """Runs a line of ours as an agent would: its report, or what is wrong with it."""
    named: tuple[str, ...] = ()
    """Files that the person named, for platforms whose settings have no fixed place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How the platform is to call us."""

    program: tuple[str, ...]
    """The words that start hookline: an absolute path, or its name where the file is shared."""
    home: str | None = None
    user_config: str | None = None
    timeout: int | None = None
    """The platform's limit in seconds; None for what the installer thinks best."""
    trust_env: bool = False
    shared: bool = False
    """The file travels to machines where hookline may not be installed."""
    file: str = ""
    """The settings file that the call is written to."""

    @property
    def shown_file(self) -> str:
        """That file as the call's own messages name it: one that travels has no fixed place."""
        if self.shared:
            return "/".join(self.file.split("/")[-2:]) or "these settings"
        return self.file or "these settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One file of a platform's that hookline is written into."""

    file: str
    scope: Scope
    personal: bool = True
    """Whether the platform means this file for one person: it never travels by git."""
    events: tuple[str, ...] = ()
    """The native events that live in this file, where a platform has several files for them."""
    executable: bool = False
    """Whether the file is a program, and gets the permission to be run when it is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One call of hookline that stands in a file."""

    event: str
    words: tuple[str, ...]
    """The call from the program on, without the shell around it."""
    line: str = ""
    """The whole line for the shell, as it stands in the file."""
    matcher: str = ""
    """What the platform narrows the event to; empty when it is not narrowed."""
    written: object = field(default=None, hash=False)
    """All else that decides when and how the platform runs it, as data."""

    @property
    def program(self) -> str:
        """What is started."""
        return self.words[0]

    @property
    def call(self) -> Call:
        """How hookline is called here; ``shared`` is not to be seen in the words."""
        options = dict(zip(self.words, self.words[1:], strict=False))
        seconds = options.get("--timeout", "")
        return Call(
            program=tuple(takewhile(lambda word: word != "hook", self.words)),
            home=options.get("--home"),
            user_config=options.get("--user-config"),
            timeout=int(seconds) if seconds.isdecimal() else None,
            trust_env="--trust-env" in options or self.words[-1] == "--trust-env",
        )

    @property
    def programs(self) -> tuple[str, ...]:
        """What is started, and the interpreter that a client starts in its turn."""
        paths = (
            word for word in self.call.program if word.startswith("/") and not word.endswith(".py")
        )
        return tuple(dict.fromkeys((self.words[0], *paths)))


@dataclass(frozen=True, slots=True)
class Remains:
    """A file without our entries, and whether nothing but the frame of an empty file is left."""

    content: bytes
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Installed:
    """A file with our entries in it."""

    target: Target
    entries: tuple[Entry, ...] = field(default=())
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Inactive:
    """Something that is installed and not in force: why, and the exact next step."""

    why: str
    step: str


class Installer(Protocol):
    """One platform's settings: where they are, and how our entries go in and out.

    ``add``, ``remove`` and ``inspect`` are pure: bytes in, bytes out. They raise InstallError or
    JsonTextError for a file that they cannot read, and never guess.
    """

    id: ClassVar[str]
    support: ClassVar[Support]
    scopes: ClassVar[tuple[Scope, ...]]
    """The scopes there are; the first is the default."""
    left_out: ClassVar[Mapping[str, str]]
    """Native events that get no entry although the platform has them, and why."""
    takes_files: ClassVar[bool]
    """Whether a person has to name the files, because the platform has no place for them."""
    clients: ClassVar[tuple[str, ...]]
    """The platform's programs, any of which shows that it is on this machine; empty where that
    cannot be seen."""

    def targets(self, machine: Machine, scope: Scope, *, shared: bool) -> Sequence[Target]:
        """The files that an installation writes. Raises InstallError."""
        ...

    def places(self, machine: Machine) -> Sequence[Target]:
        """Every file in which our entries may stand, whoever wrote them there."""
        ...

    def events(self) -> Sequence[str]:
        """The native events that get an entry."""
        ...

    def add(self, target: Target, content: bytes | None, call: Call) -> bytes:
        """The file with one entry per event: those that are there replaced, the rest added."""
        ...

    def remove(self, target: Target, content: bytes, before: bytes | None = None) -> Remains:
        """The file without our entries; what ``before`` had empty stays, empty."""
        ...

    def inspect(self, target: Target, content: bytes) -> Sequence[Entry]:
        """Our entries, wherever in the file they stand."""
        ...

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """What keeps the platform from running our entries right now."""
        ...


@runtime_checkable
class Trusting(Protocol):
    """An installer of a platform that runs only what it was told to trust, hook by hook."""

    def trust_file(self, machine: Machine) -> str:
        """The file in which the platform keeps what it trusts."""
        ...

    def trusted(
        self, machine: Machine, installed: Sequence[Installed], content: bytes | None
    ) -> bytes:
        """That file with our entries trusted, as the person's own client hashes them.

        Raises InstallError, also when there is no client to ask.
        """
        ...

    def distrusted(self, installed: Sequence[Installed], content: bytes) -> bytes:
        """That file without what it says of our entries; the rest as it is."""
        ...
