"""Texts of which no shell makes anything but what they say: words, whole quotes and operators.

Most commands are such texts, and need no parser to be read. What is said of them here is what the
readers of whole texts would say; a test compares the two.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from hookline.shell.fields import Field

__all__ = ["PlainCommand", "plain_commands"]

_MAX_TEXT = 2_000

# In place of a command, these begin something else; the last ones set variables or arguments.
_KEYWORDS = (
    "if|while|until|for|select|case|function|then|else|elif|do|fi|done|esac|time|coproc"
    "|export|readonly|declare|typeset|local|set"
)
_QUOTES = r"'[^'{]*+'|\"[^\"\\$`{]*+\""
_SILENT = r"[12]?>&[12]|[12&]?>>? ?/dev/null"
_WORD = rf"(?:[\w./:@%+,=~^*-]++|{_QUOTES})++"
# Each part can be read in one way only, so that a text that fails late is not tried in many.
_COMMAND = rf"(?!(?:{_KEYWORDS})\b)[\w./:@%+][\w./:@%+,-]*+(?: (?:{_SILENT}(?![^ ;&|])|{_WORD}))*+"
_TEXT = re.compile(rf"{_COMMAND}(?: ?(?:&&|\|\||[;|]) ?{_COMMAND})*+", re.ASCII)
# All that is no operator; a single `&` is part of a redirection.
_BETWEEN = re.compile(r"(?:[^'\";|&]++|'[^']*+'|\"[^\"]*+\"|(?<=>)&|&(?=>))++")
# The words of one command; nothing for a redirection.
_WORDS = re.compile(rf"(?:{_SILENT})(?![^ ;&|])|({_WORD})", re.ASCII)
_QUOTED = re.compile(_QUOTES)


class PlainCommand(NamedTuple):
    """One command: its words, where it stands, and whether it reads what those before it write."""

    words: tuple[str, ...]
    start: int
    end: int
    pipeline: int
    """The number of the first command that is joined to it by pipes; its own where none is."""
    globs: tuple[int, ...] = ()
    """Which of the words are patterns, and stand for others."""

    @property
    def fields(self) -> list[Field]:
        """The words as readers of whole texts have them."""
        return [Field(word, at not in self.globs) for at, word in enumerate(self.words)]


@lru_cache(16)  # several guards ask about the same text, one after the other
def plain_commands(source: str) -> tuple[PlainCommand, ...] | None:
    """The commands of a text; None where it has to be read as a whole."""
    if len(source) > _MAX_TEXT or _TEXT.fullmatch(source) is None or "[$(" in source:
        return None  # a subscript is worked out even in quotes
    joined = "|" in source or "&" in source or ";" in source
    # Most texts are one command, and words alone.
    if not joined and "'" not in source and '"' not in source and ">" not in source:
        words = source.split(" ")
        globs = _globs(words) if "*" in source else ()
        return (PlainCommand(tuple(words), 0, len(source), 0, globs),)
    found: list[PlainCommand] = []
    # Where three in a row are followed by `&&`, the grammar sees other pipes than a shell does.
    long = "|" in source and ("&&" in source or "||" in source)
    pipeline = behind = 0
    for match in _BETWEEN.finditer(source):
        start, end = match.span()
        if start and source[behind:start] != "|":
            pipeline = len(found)
        if long and len(found) - pipeline > 1:
            return None
        behind = end
        # Between an operator and a command is one space, or none.
        start += source[start] == " "
        end -= source[end - 1] == " "
        part = source[start:end]
        if "'" in part or '"' in part or ">" in part:
            raw = [word for word in _WORDS.findall(part) if word]
            words = [_unquoted(word) for word in raw]
            globs = _globs(map(_bare, raw)) if "*" in part else ()
            if any(raw[at] != words[at] for at in globs):
                return None  # a pattern with quotes in it stays as it is
        else:
            words = part.split(" ")
            globs = _globs(words) if "*" in part else ()
        found.append(PlainCommand(tuple(words), start, end, pipeline, globs))
    return tuple(found)


def _globs(words: Iterable[str]) -> tuple[int, ...]:
    return tuple(at for at, word in enumerate(words) if "*" in word)


def _bare(word: str) -> str:
    """A word without what is in quotes."""
    return _QUOTED.sub("", word) if "'" in word or '"' in word else word


def _unquoted(word: str) -> str:
    """A word without its quotes."""
    if "'" not in word and '"' not in word:
        return word
    if word.find(word[0], 1) == len(word) - 1 and word[0] in "'\"":
        return word[1:-1]
    return _QUOTED.sub(lambda quoted: quoted[0][1:-1], word)
