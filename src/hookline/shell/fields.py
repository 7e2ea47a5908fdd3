"""The words of a command while they are read, and the text they are read from.

Source text is held as Latin-1, one character per byte of its UTF-8, so that every index is a byte
offset; all characters that mean something to a shell are ASCII.
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookline.shell.budget import Budget

if TYPE_CHECKING:
    from hookline.shell.script import Redirect

__all__ = [
    "NOTHING",
    "Field",
    "FieldBuilder",
    "Reading",
    "Scope",
    "as_source",
    "as_text",
    "joined",
]

_BLANKS = re.compile(r"[ \t\n]+")
_GLOB = re.compile(r"[*?\[]")


def as_source(text: str) -> str:
    """Text in the form readers work on."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def as_text(source: str) -> str:
    """The text a stretch of source stands for."""
    return source if source.isascii() else source.encode("latin-1").decode("utf-8", "replace")


class Field(NamedTuple):
    """One word as a program would receive it, or its source when ``exact`` is False."""

    text: str
    exact: bool = True


def joined(words: Sequence[Field]) -> Field:
    """The words as one text, as programs make it that hand their arguments to a shell."""
    if len(words) == 1:
        return words[0]
    return Field(" ".join(word.text for word in words), all(word.exact for word in words))


class Scope(NamedTuple):
    """What is known about variables where code stands."""

    value: Callable[[str], str | None]
    arguments: Callable[[], Sequence[Field] | None]
    """``$0``, ``$1`` and so on; ``None`` when they are not known."""


NOTHING = Scope(lambda name: None, lambda: None)


class Reading:
    """What reading one text has brought to light so far; shared by all of its readers."""

    def __init__(self, source: str, budget: Budget) -> None:
        self.source = source
        self.spend = budget.spend
        self.broken = False
        # Something was passed over unread: there may be commands in it.
        self.incomplete = False
        # A word holds a value that another command of the text gave to a variable.
        self.assumes = False
        self.functions = False
        self.separates = "IFS=" in source
        self.substitutes = False
        self.writes_files = False
        # Each is the very object that stands among the words of its command.
        self.literals: list[tuple[Field, int, int]] = []
        self.redirects: list[Redirect] = []
        self.heredocs: list[str] = []
        # What expansions such as ``${x:=value}`` may make of variables.
        self.defaults: list[tuple[str, Field]] = []


class FieldBuilder:
    """Gathers the fields that one word becomes."""

    __slots__ = ("_exact", "_open", "_parts", "_verbatim", "fields")

    def __init__(self) -> None:
        self.fields: list[Field] = []
        self._parts: list[str] = []
        self._exact = True
        self._open = False
        self._verbatim = True

    @property
    def literal(self) -> bool:
        """True while nothing but quote removal has made the word what it is."""
        return self._verbatim and self._exact and self._open

    def add(self, text: str, *, exact: bool = True) -> None:
        """Add text that stays in one piece; source that was not evaluated is not ``exact``."""
        self._parts.append(text)
        self._exact = self._exact and exact
        self._open = True

    def add_value(self, value: str, *, quoted: bool) -> None:
        """Add a variable's value, which the shell splits and globs unless it is quoted."""
        self._verbatim = False
        if quoted:
            self.add(value)
            return
        for index, part in enumerate(_BLANKS.split(value)):
            if index:
                self.cut()
            if part:
                self.add(part, exact=_GLOB.search(part) is None)

    def add_arguments(self, arguments: Sequence[Field], *, quoted: bool) -> None:
        """Add ``$@``: every argument becomes a field of its own."""
        self._verbatim = False
        for index, (text, exact) in enumerate(arguments):
            if index:
                self.cut()
            if quoted or not exact:
                self.add(text, exact=exact)
            else:
                self.add_value(text, quoted=False)

    def cut(self) -> None:
        """End the field; what follows belongs to the next one."""
        if self._open:
            self.fields.append(self.whole())
        self._parts, self._exact, self._open, self._verbatim = [], True, False, False

    def whole(self) -> Field:
        """Everything since the last cut as one field."""
        return Field("".join(self._parts), self._exact)
