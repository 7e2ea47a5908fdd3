"""Texts of which no shell makes anything but what they say: words, whole quotes and operators.

Most commands are such texts, and need no parser to be read. What is said of them here is what the
readers of whole texts would say; a test compares the two.
"""

import re
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
# Each part can be read in one way only, so that a text that fails late is not tried in many.
_COMMAND = (
    rf"(?!(?:{_KEYWORDS})\b)[\w./:@%+][\w./:@%+,-]*+"
    rf"(?: (?:{_SILENT}(?![^ ;&|])|(?:[\w./:@%+,=~^*-]|{_QUOTES})++))*+"
)
_TEXT = re.compile(rf"{_COMMAND}(?: ?(?:&&|\|\||[;|]) ?{_COMMAND})*+", re.ASCII)
_TOKEN = re.compile(
    rf"(?P<operator>&&|\|\||[;|])|(?P<silent>{_SILENT})(?![^ ;&|])"
    rf"|(?P<word>(?:[\w./:@%+,=~^*-]|{_QUOTES})++)",
    re.ASCII,
)
_QUOTED = re.compile(_QUOTES)


class PlainCommand(NamedTuple):
    """One command: its words, where it stands, and whether it reads what those before it write."""

    words: tuple[Field, ...]
    start: int
    end: int
    pipeline: int
    """The number of the first command that is joined to it by pipes; its own where none is."""


@lru_cache(16)  # several guards ask about the same text, one after the other
def plain_commands(source: str) -> tuple[PlainCommand, ...] | None:
    """The commands of a text; None where it has to be read as a whole."""
    if len(source) > _MAX_TEXT or _TEXT.fullmatch(source) is None:
        return None
    found: list[PlainCommand] = []
    words: list[Field] = []
    start = end = pipeline = 0
    # Where three in a row are followed by `&&`, the grammar sees other pipes than a shell does.
    long = "|" in source and ("&&" in source or "||" in source)
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup
        if kind == "operator":
            found.append(PlainCommand(tuple(words), start, end, pipeline))
            words = []
            pipeline = pipeline if match[0] == "|" else len(found)
            if long and len(found) - pipeline > 1:
                return None
            continue
        if kind == "word":
            start = start if words else match.start()
            field = _field(match[0])
            if field is None:
                return None
            words.append(field)
        end = match.end()
    found.append(PlainCommand(tuple(words), start, end, pipeline))
    return tuple(found)


def _field(word: str) -> Field | None:
    """A word without its quotes; None for a pattern with quotes in it, which stays as it is."""
    if "'" not in word and '"' not in word:
        return Field(word, "*" not in word)
    if "*" in word and "*" in _QUOTED.sub("", word):
        return None
    return Field(_QUOTED.sub(lambda quoted: quoted[0][1:-1], word))
