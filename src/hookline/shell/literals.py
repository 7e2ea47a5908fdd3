"""Finds the words of a shell text that stand for themselves, so that one can be replaced."""

from hookline.shell.budget import Budget, Exhausted
from hookline.shell.fields import NOTHING, Reading, as_source, as_text
from hookline.shell.model import MAX_BYTES, Word
from hookline.shell.texts import TextReader

__all__ = ["literal_words"]


def literal_words(text: str) -> tuple[Word, ...]:
    """Every word of ``text`` without expansions, in order of appearance; none if it is too much."""
    source = as_source(text)
    if len(source) > MAX_BYTES:
        return ()
    reading = Reading(source, Budget())
    try:
        TextReader(reading, 0, NOTHING)
    except Exhausted:
        return ()
    words: list[Word] = []
    byte = character = 0
    for literal, start, end in sorted(reading.literals, key=lambda found: found[1]):
        character += _length(source[byte:start])
        length = _length(source[start:end])
        words.append(Word(as_text(literal), character, character + length))
        byte, character = end, character + length
    return tuple(words)


def _length(source: str) -> int:
    """How many characters a stretch of source has: its bytes that do not continue one."""
    return sum(not "\x80" <= byte <= "\xbf" for byte in source)
