"""The commands of one text as they are being found, before anyone asks what they would run."""

from typing import NamedTuple

from hookline.shell.fields import Field

__all__ = ["Code", "Command", "Redirect", "Script"]


class Code(NamedTuple):
    """Code that had to be rewritten before it can be read: the inside of backticks."""

    text: str
    start: int
    end: int
    script: "Script"
    doubted: bool = False
    """True when only some shells see code there: nothing is broken if it cannot be read."""


class Command:
    """A simple command, or a bare assignment or redirection when it has no words."""

    __slots__ = ("assigned", "end", "fed", "file", "inputs", "script", "start", "words")

    def __init__(self, script: "Script", start: int) -> None:
        self.script = script
        self.start = start
        self.end = start
        self.words: list[Field] = []
        self.assigned: list[tuple[str, Field]] = []
        self.inputs: list[Field] = []
        # What a redirection feeds it: True something unseen, False a file, None nothing.
        self.fed: bool | None = None
        self.file: Field | None = None


class Redirect(NamedTuple):
    """A file that is opened; for no command when it is for a compound command."""

    command: Command | None
    operator: str
    target: Field
    start: int


class Script:
    """One run of commands: a whole text, or the inside of one ``$(...)`` or ``<(...)``.

    Its skeleton keeps reserved words and operators and writes ``x`` for every command, so the
    grammar never meets a quote, an expansion or a here-document.
    """

    def __init__(self, depth: int, parent: "Script | None") -> None:
        self.depth = depth
        self.parent = parent
        self.values: dict[str, str] = {}
        # Names among those that a command such as ``export`` gave their value.
        self.declared: set[str] = set()
        # What ``set --`` made the arguments of the script.
        self.arguments: list[Field] | None = None
        # What is given to a compound command, which any command inside it may read.
        self.inputs: list[list[Field]] = []
        self.files: list[Field] = []
        self.marks: dict[int, Command | None] = {}
        self._parts: list[str] = []
        self._size = 0

    @property
    def skeleton(self) -> str:
        return " ".join(self._parts)

    def let_go(self) -> None:
        """Forgets its commands, which know it: each would keep the other, long after all use."""
        self.marks.clear()

    def write(self, part: str) -> None:
        """Append a reserved word or an operator to the skeleton."""
        self._parts.append(part)
        self._size += len(part) + 1

    def place(self, command: Command | None) -> None:
        """Append a command, or ``None`` for a test or arithmetic that stands like one."""
        self.marks[self._size] = command
        self.write("x")
