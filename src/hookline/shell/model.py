"""What a piece of shell text would run: plain values, with no opinion on whether it may."""

from collections.abc import Mapping

import msgspec

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "STDIN",
    "STDIN_NAMES",
    "PathWord",
    "Redirection",
    "ShellText",
    "SimpleCommand",
    "Word",
]

# Longer texts are not read at all.
MAX_BYTES = 65536
# Code inside code inside code.
MAX_DEPTH = 8
# Standard input where a file is named, and what else names it.
STDIN = "/dev/stdin"
STDIN_NAMES = frozenset({STDIN, "-", "/dev/fd/0", "/proc/self/fd/0"})


class SimpleCommand(msgspec.Struct, frozen=True):
    """One program call, its quotes removed and its wrappers set aside."""

    words: tuple[str, ...]
    full: tuple[str, ...]
    """The words with the wrappers still in front; leading assignments are gone from both."""
    exact: bool
    """False when a word is not what will run: it holds source text we could not evaluate."""
    wrappers: tuple[str, ...]
    start: int
    end: int
    """Byte span in the text given; a command inside rewritten text has its carrier's span."""
    depth: int
    """0 when written directly, more when another command, or a substitution, runs it."""

    @property
    def text(self) -> str:
        """The words with single spaces between, for globs."""
        return " ".join(self.words)

    @property
    def name(self) -> str:
        """The program without its directory."""
        return self.words[0].rpartition("/")[2]

    def runs(self, other: "SimpleCommand") -> bool:
        """Whether the other command stands in the words of this one."""
        return self.start <= other.start < self.end and self.depth < other.depth


class Redirection(msgspec.Struct, frozen=True):
    """A file that a shell opens for a command, wherever in the text that is written."""

    operator: str
    target: str
    """Without its quotes; an expansion in it is still one unless the text gives its value."""
    exact: bool
    """False when the target holds source text we could not evaluate."""
    words: tuple[str, ...]
    """Of the command it is for; empty when the file is only opened."""
    number: int
    """Which of the text's commands that is; -1 when it is none, or a compound command."""
    start: int
    """Byte offset in the text given; one inside rewritten text has its carrier's."""
    fed: bool
    """Whether a here-document gives that command something to write."""

    @property
    def writes(self) -> bool:
        """Whether the file is changed."""
        return ">" in self.operator


class ShellText(msgspec.Struct, frozen=True):
    """Everything found in one text and in the code inside it, and what could not be seen."""

    commands: tuple[SimpleCommand, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    """Those to or from files; none to ``/dev/null`` and the like."""
    heredocs: tuple[str, ...] = ()
    """The bodies of here-documents, as they are written."""
    inputs: Mapping[int, tuple[str, ...]] = {}
    """What here-documents and here-strings give commands, by the commands' numbers."""
    sources: Mapping[int, tuple[str, ...]] = {}
    """The files that commands find on standard input; STDIN for what cannot be told."""
    assigned: tuple[tuple[str, str], ...] = ()
    """Variables and the values they are given; NUL where that cannot be told."""
    substitutes: bool = False
    writes_files: bool = False
    unreadable: bool = False
    incomplete: bool = False
    """True when reading stopped before the end: any command may be missing from the list."""
    assumes: bool = False
    """True when words hold values that other commands set, as far as that could be followed."""

    @property
    def plain(self) -> bool:
        """True when the commands listed are the whole story."""
        return not (self.substitutes or self.writes_files or self.unreadable or self.assumes)


class Word(msgspec.Struct, frozen=True):
    """A literal word and where it stands, in characters, quotes included."""

    text: str
    start: int
    end: int


class PathWord(msgspec.Struct, frozen=True):
    """A word, where it stands, and the path it is if it is one."""

    text: str
    """For people: a variable in front of it is still a variable."""
    path: str
    """From where the script starts, with every ``cd`` before it followed."""
    start: int
    """-1 for one that only a shell makes of the text, such as of a here-document."""
    end: int
    doubt: bool = False
    """A ``cd`` before it could not be followed, so it may be another path."""
    is_argument: bool = False
    """It is a word of a command, and neither a redirection's target nor an assignment."""
    is_executed: bool = False
    """It is a program, a script that an interpreter is given, or a sourced file; else data."""
    interpreter: str = ""
    """The program that executes it; empty for one that is a program itself."""
    code: tuple["PathWord", ...] = ()
    """The words in it, when it is code for a shell. Their places are those in its own text."""

    @property
    def is_on_path(self) -> bool:
        """Whether it is a program that is looked for on PATH, or in the shell itself."""
        return self.is_executed and not self.interpreter and "/" not in self.text

    @property
    def is_computed(self) -> bool:
        """Whether only the shell can tell what it names."""
        return self.start < 0 and (self.text == STDIN or any(s in self.text for s in "$`*?[{<"))
