"""Finds the words of a shell text that stand for themselves, so that one can be replaced."""

from collections.abc import Sequence

from hookline.shell.budget import Budget, Exhausted
from hookline.shell.fields import NOTHING, Field, Reading, as_source, as_text
from hookline.shell.model import MAX_BYTES, Word
from hookline.shell.script import Command
from hookline.shell.texts import TextReader

__all__ = ["literal_words", "read_literals"]


def literal_words(text: str) -> tuple[Word, ...]:
    """Every word of ``text`` without expansions, in order of appearance; none if it is too much."""
    return tuple(word for word, _ in read_literals(text)[0])


def read_literals(text: str) -> tuple[Sequence[tuple[Word, Field]], Sequence[list[Field]]]:
    """Those words, each with the very object that it is in its command, and all commands."""
    source = as_source(text)
    if len(source) > MAX_BYTES:
        return (), ()
    reading = Reading(source, Budget())
    try:
        reader = TextReader(reading, 0, NOTHING)
    except Exhausted:
        return (), ()
    words: list[tuple[Word, Field]] = []
    byte = character = 0
    for literal, start, end in sorted(reading.literals, key=lambda found: found[1]):
        character += _length(source[byte:start])
        length = _length(source[start:end])
        words.append((Word(as_text(literal.text), character, character + length), literal))
        byte, character = end, character + length
    return words, [item.words for item in reader.found if isinstance(item, Command)]


def _length(source: str) -> int:
    """How many characters a stretch of source has: its bytes that do not continue one."""
    return sum(not "\x80" <= byte <= "\xbf" for byte in source)
