"""The seams of the lab: what a client's driver, a wire format and a finished session are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from hookline.lab.script import Act, Script

__all__ = [
    "Asked",
    "Client",
    "Dialogue",
    "Launch",
    "Package",
    "Program",
    "Room",
    "Said",
    "Session",
    "ToolCall",
    "Wish",
]


class ToolCall(Struct, frozen=True):
    """A tool call in a client's own words, as its model would make it."""

    name: str
    """As the client's model calls it; a tool of a namespace has it before a dot."""
    arguments: Mapping[str, Any] = {}
    then: "Callable[[str], ToolCall | None] | None" = None
    """What the model calls before its next turn, now that it has the result of this call."""


class Said(Struct, frozen=True):
    """One answer of the model, ready for any wire."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class Asked(Struct, frozen=True):
    """One request that reached the model, as it was sent."""

    wire: str
    path: str
    body: Mapping[str, Any]
    lane: str = ""
    """The sub-agent's prompt whose conversation this is; empty for the main one."""
    side: bool = False
    """Not part of the conversation: a title, a token count, a list of models."""


class Package(Struct, frozen=True, kw_only=True):
    """What kind of program a client is, and where it comes from."""

    packages: tuple[str, ...] = ()
    """``name@version`` of npm at the versions that were proven, the client's own first; none for
    a program that only its makers offer."""
    program: str = ""
    """The program to run, relative to the directory it was installed to.

    ``{platform}`` stands for npm's name of this one (``linux-x64``), ``{triple}`` for Rust's.
    """
    command: str = ""
    """What people type to start it, as it is found on a PATH."""
    node: str = ""
    """The least version of Node it needs to run; empty for a native binary."""
    known: str = ""
    """The version known best, where there is no package."""
    version_words: tuple[str, ...] = ("--version",)
    """The arguments with which it says its version."""
    file: str = ""
    """The file below the home that hookline is installed into, where a person has to name it."""
    asks: bool = True
    """Whether it ever asks a person before a tool runs."""

    @property
    def version(self) -> str:
        """The version of the client that is known best."""
        return self.packages[0].rpartition("@")[2] if self.packages else self.known

    def install_options(self, home: str) -> tuple[str, ...]:
        """More words for ``hookline install`` in a room with this home."""
        return ("--file", f"{home}/{self.file}") if self.file else ()


class Program(Struct, frozen=True, kw_only=True):
    """A client that is on this machine."""

    argv: tuple[str, ...]
    """How it is started, before any argument of a session."""
    version: str
    """What it says of itself; empty when it does not say."""


class Room(Struct, frozen=True, kw_only=True):
    """The places of one session, all of them inside one temporary directory."""

    root: str
    home: str
    project: str
    tmp: str
    env: Mapping[str, str]
    """The whole environment: nothing of the person's own but PATH and the language."""


class Wish(Struct, frozen=True, kw_only=True):
    """How a session is to be, beside what is said in it."""

    resume: bool = False
    """Go on with the latest session of this room instead of beginning one."""
    permission: Literal["all", "ask"] = "all"
    """Whether the client itself lets every tool run, or asks as it does by default."""
    person: Callable[[str], None] | None = None
    """Someone who says yes to every question, and is called with what each one says. They leave
    when they see what the script's last turn says: one letter, since a longer text may be drawn
    in parts. None: nobody is there."""
    extra: tuple[str, ...] = ()
    """More arguments for this client, before the prompt."""
    env: Mapping[str, str] = {}
    """More variables for this client."""


class Dialogue(Protocol):
    """A running client that is spoken with over its stdin and stdout."""

    def write(self, data: bytes) -> None:
        """Bytes to its stdin, at once. Raises HooklineError when it no longer listens."""

    def readline(self) -> bytes:
        """Its next line on stdout, with the line end; empty when it has said its last.

        Raises HooklineError at the time limit of the launch.
        """

    def read_until(self, *texts: bytes) -> bytes:
        """What it says to the first of ``texts``, that included; for clients that draw a screen.

        Raises HooklineError at the time limit, and when it ends without saying it.
        """


class Launch(Struct, frozen=True, kw_only=True):
    """How a client is started for one session; it runs in the room's project."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: bytes = b""
    timeout: float = 120.0
    talk: Callable[[Dialogue], None] | None = None
    """Speaks with the client once it runs, after ``stdin`` was written. When it returns, stdin
    ends and the client is waited for. All the client said is in the session either way."""
    terminal: bool = False
    """Give it a terminal of its own, for what it does only before a person. Its stdout is then
    all it drew, there is no stderr, and the end of stdin is a hang-up."""


class Session(Struct, frozen=True, kw_only=True):
    """What is left when a client has ended: the evidence."""

    client: str
    version: str
    exit_code: int | None
    """None when it was cut off at its time limit."""
    stdout: bytes
    stderr: bytes
    asked: Sequence[Asked]
    seconds: float
    isolated: bool = False
    """Whether the kernel kept it to loopback; else only its proxies, which lead nowhere."""
    cut: str = ""
    """At which limit it was ended, in words; empty when it ended by itself."""
    changed: Mapping[str, str] = {}
    """The project's files that are ``added``, ``changed`` or ``removed`` since it began."""

    @property
    def sent(self) -> str:
        """Everything the model was sent in the conversations, as one text to search."""
        return "\n".join(_text(each.body) for each in self.asked if not each.side)


def _text(value: object) -> str:
    """Every string inside a request, one to a line and unescaped."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(_text(each) for each in value.values())
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "\n".join(_text(each) for each in value)
    return ""


class Client(Protocol):
    """One coding agent: where it comes from, and how it is run headless on loopback."""

    id: str
    dialect: str
    wire: str
    package: Package

    def call(self, act: Act) -> ToolCall:
        """The act as this client's model calls it."""

    def furnish(self, room: Room, url: str) -> None:
        """Writes the client's own settings into the room; the model is at ``url``.

        Called once for a room, before anything else is installed into those settings.
        """

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """The command line and environment of one headless session.

        ``url`` is the root of the model server, as in ``http://127.0.0.1:1234``; ``program`` is
        ``Program.argv``; the environment is the room's and what the client needs beside it.
        """
