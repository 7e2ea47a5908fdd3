"""What a piece of shell text would run: plain values, with no opinion on whether it may."""

import msgspec

__all__ = ["MAX_BYTES", "ShellText", "SimpleCommand", "Word"]

# Longer texts are not read at all.
MAX_BYTES = 65536


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


class ShellText(msgspec.Struct, frozen=True):
    """Everything found in one text, and what about it could not be seen."""

    commands: tuple[SimpleCommand, ...] = ()
    substitutes: bool = False
    writes_files: bool = False
    unreadable: bool = False

    @property
    def plain(self) -> bool:
        """True when the commands listed are the whole story."""
        return not (self.substitutes or self.writes_files or self.unreadable)


class Word(msgspec.Struct, frozen=True):
    """A literal word and where it stands, in characters, quotes included."""

    text: str
    start: int
    end: int
