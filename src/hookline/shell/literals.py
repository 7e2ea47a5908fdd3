"""Finds the words of a shell text that stand for themselves, so that one can be replaced."""

from collections.abc import Sequence
from typing import NamedTuple

from hookline.shell.budget import Budget, Exhausted
from hookline.shell.fields import NOTHING, Field, Reading, as_source, as_text
from hookline.shell.model import MAX_BYTES, Word
from hookline.shell.script import Command
from hookline.shell.texts import TextReader

__all__ = ["LiteralText", "literal_words", "read_literals"]


class LiteralText(NamedTuple):
    """The literal words of a text, in order of appearance, and its commands."""

    words: Sequence[Word] = ()
    fields: Sequence[Field] = ()
    """For each word the very object that stands among those of its command."""
    commands: Sequence[Command] = ()


def literal_words(text: str) -> tuple[Word, ...]:
    """Every word of ``text`` without expansions, in order of appearance; none if it is too much."""
    return tuple(read_literals(text).words)


def read_literals(text: str) -> LiteralText:
    """Those words, with the commands that they belong to; nothing if it is too much."""
    source = as_source(text)
    if len(source) > MAX_BYTES:
        return LiteralText()
    reading = Reading(source, Budget())
    try:
        reader = TextReader(reading, 0, NOTHING)
    except Exhausted:
        return LiteralText()
    for script in reader.scripts:
        script.let_go()
    words: list[Word] = []
    byte = character = 0
    literals = sorted(reading.literals, key=lambda found: found[1])
    for literal, start, end in literals:
        character += _length(source[byte:start])
        length = _length(source[start:end])
        words.append(Word(as_text(literal.text), character, character + length))
        byte, character = end, character + length
    commands = [item for item in reader.found if isinstance(item, Command)]
    return LiteralText(words, [field for field, _, _ in literals], commands)


def _length(source: str) -> int:
    """How many characters a stretch of source has: its bytes that do not continue one."""
    return sum(not "\x80" <= byte <= "\xbf" for byte in source)
