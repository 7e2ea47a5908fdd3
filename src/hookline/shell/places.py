"""Which paths the words of a shell text stand for, once its ``cd`` and one variable are followed.

Knows only what the text itself leaves no doubt about; must not look at any disk.
"""

import os
import re
from collections.abc import Iterator, Sequence

from hookline.shell.literals import literal_words
from hookline.shell.model import Placed, Word

__all__ = ["placed_words"]

_MOVERS = frozenset(["cd", "chdir", "popd", "pushd"])
_BLANKS = re.compile(r"[ \t]+")
_NEXT_STATEMENT = re.compile(r"[ \t]*[;\n]\s*")
_AND_THEN = re.compile(r"[ \t]*&&\s*")
_OR_ELSE = re.compile(r"[ \t]*\|\|\s*")
# What stands between the words of plain commands that run one after another.
_PLAIN = re.compile(rf"{_BLANKS.pattern}|{_NEXT_STATEMENT.pattern}|{_AND_THEN.pattern}")


def placed_words(text: str, variable: str = "", value: str = "") -> tuple[Placed, ...]:
    """Every literal word of ``text``, and every one that would be but for ``$variable`` in front.

    A ``cd`` is followed where it is sure to run: as a statement of its own, with nothing before
    it but plain commands. Words behind any other are in doubt.
    """
    use = re.compile(rf"\$(?:\{{{variable}\}}|{variable}(?!\w))", re.ASCII) if variable else None
    if use is not None and len(use.findall(text)) != text.count(variable):
        use = None  # it may be set here, or be the start of another name
    hidden = use.sub(lambda found: "_" * len(found[0]), text) if use is not None else text
    read = (_placed(text, word, use, variable, value) for word in literal_words(hidden))
    words = [word for word in read if word is not None]
    moves = any(_moves(words, index) for index in range(len(words)))
    return tuple(_followed(text, words)) if moves else tuple(words)


def _placed(
    text: str, word: Word, use: re.Pattern[str] | None, variable: str, value: str
) -> Placed | None:
    """The word with the variable's value in front; None when it is elsewhere in the word."""
    source = text[word.start : word.end]
    uses = use.findall(source) if use is not None else []
    if not uses:
        return Placed(word.text, word.text, word.start, word.end)
    rest = word.text[len(uses[0]) :]
    # Behind a quote or a backslash it may stand for itself.
    literal = "'" in source or "\\" in source
    leads = source.removeprefix('"').startswith(uses[0])
    if literal or not leads or len(uses) > 1 or (rest and rest[0] != "/"):
        return None
    return Placed(f"${variable}{rest}", value + rest, word.start, word.end)


def _followed(text: str, words: Sequence[Placed]) -> Iterator[Placed]:
    """The words, each from where the script is by then."""
    ends = [0, *(word.end for word in words)]
    starts = [*(word.start for word in words), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    directory, doubt, index = "", False, 0
    sure, is_first = not gaps[0].strip(), True
    while index < len(words):
        taken = _cd_at(text, words, gaps, index) if sure and is_first else 0
        for word in words[index : index + (taken or 1)]:
            path = os.path.join(directory, word.path)
            yield Placed(word.text, path, word.start, word.end, doubt)
        if taken:
            directory = os.path.join(directory, words[index + 1].path)
            index += taken
            continue
        doubt = doubt or _moves(words, index)
        index += 1
        is_first = bool(_NEXT_STATEMENT.fullmatch(gaps[index]))
        sure = sure and bool(_PLAIN.fullmatch(gaps[index]))


def _cd_at(text: str, words: Sequence[Placed], gaps: Sequence[str], at: int) -> int:
    """How many words are ``cd DIRECTORY`` and what it needs to be sure; 0 when it is not."""
    if words[at].text != "cd" or at + 1 == len(words) or not _BLANKS.fullmatch(gaps[at + 1]):
        return 0
    target = words[at + 1]
    if not target.path or target.path[0] == "-" or text[target.start] == "~":
        return 0
    if _AND_THEN.fullmatch(gaps[at + 2]) or _NEXT_STATEMENT.fullmatch(gaps[at + 2]):
        return 2
    end = at + 2
    if not _OR_ELSE.fullmatch(gaps[end]) or end == len(words) or words[end].text != "exit":
        return 0
    if end + 1 < len(words) and _BLANKS.fullmatch(gaps[end + 1]):
        end += 1
    return end + 1 - at if _NEXT_STATEMENT.fullmatch(gaps[end + 1]) else 0


def _moves(words: Sequence[Placed], index: int) -> bool:
    """Whether what follows may run in another directory."""
    text = words[index].text
    is_option = text.startswith(("-C", "--chdir"))
    return text in _MOVERS or (is_option and any(word.text == "env" for word in words[:index]))
