"""Which paths the words of a command stand for, and which of them it executes.

Follows its ``cd`` and one variable. Knows only what the text itself leaves no doubt about; must
not look at any disk.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from msgspec.structs import replace

from hookline.shell import all_words
from hookline.shell.budget import Budget, Exhausted
from hookline.shell.executed import ELSEWHERE, ExecutedWord, find_executed_words
from hookline.shell.fields import Field
from hookline.shell.literals import literal_words, read_literals
from hookline.shell.model import MAX_DEPTH, STDIN, STDIN_NAMES, PathWord, Word
from hookline.shell.splitting import split

__all__ = ["read_path_words"]

_MOVERS = frozenset(["cd", "chdir", "popd", "pushd"])
_HAVE_CHDIR = frozenset(["env", "make", "gmake", "ninja"])
_BLANKS = re.compile(r"[ \t]+")
_NEXT_STATEMENT = re.compile(r"[ \t]*[;\n]\s*")
_AND_THEN = re.compile(r"[ \t]*&&\s*")
_OR_ELSE = re.compile(r"[ \t]*\|\|\s*")
# Between the words of a subshell and those around it.
_OPENS = re.compile(
    r"(?P<before>[ \t]*(?:[;\n&|]|&&|\|\|)?\s*(?:(?:if|then|elif|else|while|until|do|!)\s+)*)\(\s*"
)
_CLOSES = re.compile(r"\s*\)")
# What stands between the words of plain commands that run one after another.
_PLAIN = re.compile(rf"{_BLANKS.pattern}|{_NEXT_STATEMENT.pattern}|{_AND_THEN.pattern}")


@lru_cache(maxsize=256)
def read_path_words(
    run: str | tuple[str, ...], variable: str = "", value: str = "", depth: int = 0
) -> tuple[PathWord, ...]:
    """Every literal word of ``run``, and every one that would be but for ``$variable`` in front.

    A ``cd`` is followed where it is sure to run: as a statement of its own, with nothing before
    it but plain commands. Words behind any other are in doubt. What is executed without standing
    there as a word comes last.
    """
    if depth > MAX_DEPTH:
        return ()
    if isinstance(run, str):
        text, (found, commands) = run, _read_words(run, variable, value)
    else:
        found = [(PathWord(word, word, at, at + 1), Field(word)) for at, word in enumerate(run)]
        text, commands = shlex.join(run), [[field for _, field in found]]
    arguments = {id(field) for command in commands for field in command}
    marks = {id(each.word): each for _, each in _find_executed(commands)}
    made = [*_read_executed(text, variable)]
    fed = {name: interpreter for name, interpreter, is_fed in made if is_fed}
    words = []
    for word, field in found:
        if word.text in fed:
            marks[id(field)] = ExecutedWord(field, fed[word.text])
        mark = marks.get(id(field), ExecutedWord(field))
        words.append(
            replace(
                word,
                is_argument=id(field) in arguments,
                is_executed=id(field) in marks and not mark.is_code,
                interpreter=mark.interpreter,
                code=read_path_words(word.text, variable, value, depth + 1) if mark.is_code else (),
            )
        )
    moves = isinstance(run, str) and any(_moves(words, index) for index in range(len(words)))
    words = list(_followed(text, words)) if moves else words
    told = {word.text for word in all_words(words) if word.is_executed}
    more = {name: interpreter for name, interpreter, _ in made if name not in told}
    return (*words, *(PathWord(name, name, -1, -1, moves, True, True, more[name]) for name in more))


def _find_executed(commands: Iterable[Sequence[Field]]) -> Iterator[tuple[int, ExecutedWord]]:
    """What they execute, each with the number of its command."""
    budget = Budget()
    with suppress(Exhausted):
        for number, words in enumerate(commands):
            for each in find_executed_words(words, budget) if words else ():
                yield number, each


def _read_executed(text: str, variable: str) -> Iterator[tuple[str, str, bool]]:
    """What a text executes, here-documents, pipes, ``eval`` and variables included.

    Each name comes with the interpreter, and whether that finds the file on standard input.
    """
    shell = split(text)
    away = [each for each in shell.commands if {*each.wrappers, each.name} & ELSEWHERE]
    here = [not any(other.runs(each) for other in away) for each in shell.commands]
    words = ([*map(Field, each.words)] for each in shell.commands)
    for number, (word, interpreter, is_code) in _find_executed(words):
        is_fed = word.text == STDIN
        names: Sequence[str] = (word.text,) if here[number] and not is_code else ()
        if is_fed and names and "xargs" not in shell.commands[number].wrappers:
            names = shell.sources.get(number, names)
        for name in names:
            known = name.replace(f"${{{variable}}}", f"${variable}")
            yield STDIN if name in STDIN_NAMES else known, interpreter, is_fed


def _read_words(
    text: str, variable: str, value: str
) -> tuple[Sequence[tuple[PathWord, Field]], Sequence[list[Field]]]:
    """The literal words of a text, each from where it starts, and its commands."""
    use = re.compile(rf"\$(?:\{{{variable}\}}|{variable}(?!\w))", re.ASCII) if variable else None
    if use is not None and len(use.findall(text)) != text.count(variable):
        use = None  # it may be set here, or be the start of another name
    hidden = use.sub(lambda found: "_" * len(found[0]), text) if use is not None else text
    words, commands = read_literals(hidden)
    read = ((_placed(text, word, use, variable, value), field) for word, field in words)
    return [(word, field) for word, field in read if word is not None], commands


def _placed(
    text: str, word: Word, use: re.Pattern[str] | None, variable: str, value: str
) -> PathWord | None:
    """The word with the variable's value in front; None when it is elsewhere in the word."""
    source = text[word.start : word.end]
    uses = use.findall(source) if use is not None else []
    if not uses:
        return PathWord(word.text, word.text, word.start, word.end)
    if "'" in source or "\\" in source:
        # There it may stand for itself, or for what a shell makes of it that reads this as code.
        own = literal_words(source)
        return PathWord(own[0].text, own[0].text, word.start, word.end) if own else None
    rest = word.text[len(uses[0]) :]
    leads = source.removeprefix('"').startswith(uses[0])
    if not leads or len(uses) > 1 or (rest and rest[0] != "/"):
        return None
    return PathWord(f"${variable}{rest}", value + rest, word.start, word.end)


def _followed(text: str, words: Sequence[PathWord]) -> Iterator[PathWord]:
    """The words, each from where the script is by then."""
    ends = [0, *(word.end for word in words)]
    starts = [*(word.start for word in words), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    directory, doubt, index = "", False, 0
    outer: list[tuple[str, bool]] = []
    sure, taken = True, 0
    while index < len(words):
        gap = gaps[index]
        while outer and (closed := _CLOSES.match(gap)):
            (directory, sure), gap = outer.pop(), gap[closed.end() :]
        subshell = _OPENS.fullmatch(gap)
        plain = subshell["before"] if subshell else gap
        is_first = index == 0 or bool(taken or subshell or _NEXT_STATEMENT.fullmatch(gap))
        is_start = index == 0 and plain.strip() in {"", "{"}
        sure = sure and (is_start or not plain or bool(_PLAIN.fullmatch(plain)))
        if subshell:  # what it changes ends with it
            outer.append((directory, sure))
            sure = True
        elif outer and ")" in gap:  # which may be here
            (directory, _), doubt, sure = outer[0], True, False
            outer.clear()
        taken = _cd_at(text, words, gaps, index) if sure and is_first else 0
        for word in words[index : index + (taken or 1)]:
            yield _move_word(word, directory, doubt)
        if taken:
            directory = os.path.join(directory, words[index + 1].path)
            index += taken
            continue
        doubt = doubt or _moves(words, index)
        index += 1


def _move_word(word: PathWord, directory: str, doubt: bool) -> PathWord:
    path = os.path.join(directory, word.path)
    code = tuple(_move_word(inner, directory, doubt) for inner in word.code)
    return replace(word, path=path, doubt=doubt or word.doubt, code=code)


def _cd_at(text: str, words: Sequence[PathWord], gaps: Sequence[str], at: int) -> int:
    """How many words are ``cd DIRECTORY`` and what it needs to be sure; 0 when it is not."""
    if words[at].text != "cd" or at + 1 == len(words) or not _BLANKS.fullmatch(gaps[at + 1]):
        return 0
    target = words[at + 1]
    if not target.path or target.path[0] == "-" or text[target.start] == "~":
        return 0
    subshell = _OPENS.fullmatch(gaps[at + 2])
    gap = subshell["before"] if subshell else gaps[at + 2]
    if _AND_THEN.fullmatch(gap) or _NEXT_STATEMENT.fullmatch(gap):
        return 2
    end = at + 2
    if not _OR_ELSE.fullmatch(gaps[end]) or end == len(words) or words[end].text != "exit":
        return 0
    if end + 1 < len(words) and _BLANKS.fullmatch(gaps[end + 1]):
        end += 1
    return end + 1 - at if _NEXT_STATEMENT.fullmatch(gaps[end + 1]) else 0


def _moves(words: Sequence[PathWord], index: int) -> bool:
    """Whether what follows may run in another directory."""
    text = words[index].text
    is_option = text.startswith(("-C", "--chdir", "--directory"))
    return text in _MOVERS or (
        is_option and any(word.text in _HAVE_CHDIR for word in words[:index])
    )
