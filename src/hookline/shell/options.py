"""Tells the options of a program from its operands, given which options take a value."""

from collections.abc import Sequence
from typing import NamedTuple

from hookline.shell.fields import Field

__all__ = ["Options", "Parsed", "parse"]


class Options(NamedTuple):
    """A program's option syntax, as far as it takes to find its operands."""

    valued: frozenset[str] = frozenset()
    """Options whose value may be the next word: ``-u``, ``--user``."""
    flags: frozenset[str] | None = None
    """When given, the only options without a value; all others take one."""
    plus: bool = False
    """True when ``+x`` is an option too."""
    double: frozenset[str] = frozenset()
    """Options that take the next two words."""
    last: frozenset[str] = frozenset()
    """Options that end the reading: what follows their value is not yet known."""

    def takes_value(self, option: str) -> bool:
        """True when a value belongs to ``option``."""
        return option in self.valued if self.flags is None else option not in self.flags


class Parsed(NamedTuple):
    """The options found, with their values, and the index of the first operand."""

    found: tuple[tuple[str, Field | None], ...]
    operands: int

    def value(self, *names: str) -> Field | None:
        """The value of the last of these options given."""
        return next((value for name, value in reversed(self.found) if name in names), None)

    def has(self, *names: str) -> bool:
        """True when one of these options was given."""
        return any(name in names for name, _ in self.found)


def parse(words: Sequence[Field], options: Options, start: int = 1) -> Parsed:
    """Read options from ``start`` up to the first operand, or just past a ``--``."""
    found: list[tuple[str, Field | None]] = []
    at = start
    while at < len(words):
        word = words[at]
        # Source text in place of an option could become anything; it ends what we understand.
        if not word.exact and not word.text.startswith("-"):
            break
        if word.text == "--":
            return Parsed(tuple(found), at + 1)
        sign = word.text[:1]
        if len(word.text) < 2 or not (sign == "-" or (sign == "+" and options.plus)):
            break
        at += 1
        following = words[at] if at < len(words) else None
        names, value = _split(word, options)
        if names and value is None and following is not None and options.takes_value(names[-1]):
            value = following
            at += 1
        elif options.double and names[-1] in options.double:
            at += 2
        found += [(name, None) for name in names[:-1]]
        found.append((names[-1], value))
        if names[-1] in options.last:
            break
    return Parsed(tuple(found), min(at, len(words)))


def _split(word: Field, options: Options) -> tuple[list[str], Field | None]:
    """The option names one word holds, and the value written into it."""
    text = word.text
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        return [name], Field(value, word.exact) if equals else None
    names: list[str] = []
    for index, letter in enumerate(text[1:], start=1):
        names.append(text[0] + letter)
        if options.takes_value(names[-1]):
            rest = text[index + 1 :]
            return names, Field(rest, word.exact) if rest else None
    return names, None
