"""Judging by verbs: tools whose danger is in one word, such as ``delete`` or ``publish``."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from hookline.builtin.shell_guard.model import Act, Finding, Judge, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["Verb", "verbs"]


class Verb(NamedTuple):
    """One way in which a tool does harm: words that must all be there, in order."""

    words: str
    category: str
    why: str
    radius: str = "medium"
    denied: bool = False
    unless: str = ""
    """Options with which it does nothing of the kind."""


def verbs(table: Sequence[Verb], *, skipped: str = "") -> Judge:
    """A judge that looks for the verbs of a table.

    Each word of a verb is a pattern for a whole word; those beginning with ``-`` may stand
    anywhere, the others follow each other among the words that are no options.
    """
    valued = frozenset(skipped.split())

    # There are hundreds of patterns, of which one event needs a handful.
    @cache
    def compiled() -> list[tuple[_Matcher, frozenset[str], Verb]]:
        return [(_compiled(verb), frozenset(verb.unless.split()), verb) for verb in table]

    def judge(act: Act, world: World) -> Iterator[Finding]:
        options, operands = _sorted(act.words[1:], valued)
        for matches, unless, verb in compiled():
            if matches(options, operands) and unless.isdisjoint(options):
                build = fatal if verb.denied else risky
                yield build(verb.category, act.text[:200], verb.why, radius=verb.radius)
                return

    return judge


def _sorted(words: Sequence[str], valued: frozenset[str]) -> tuple[list[str], list[str]]:
    options: list[str] = []
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if len(word) > 1 and word[0] == "-":
            options.append(word)
            if len(word) <= _MAX_CLUSTER and word[1:].isalpha():
                options += [f"-{letter}" for letter in word[1:]]
            if word in valued:
                next(rest, None)
        else:
            operands.append(word)
    return options, operands


# Letters behind one dash that are still several options.
_MAX_CLUSTER = 5
_Matcher = Callable[[Sequence[str], Sequence[str]], bool]


def _compiled(verb: Verb) -> _Matcher:
    words = verb.words.split()
    wanted = [re.compile(word) for word in words if not word.startswith(("-", "(-"))]
    given = [re.compile(word) for word in words if word.startswith(("-", "(-"))]

    def matches(options: Sequence[str], operands: Sequence[str]) -> bool:
        if len(wanted) > len(operands):
            return False
        # The first word of a verb is the tool's own command: nothing stands before it.
        for one, word in zip(wanted, operands, strict=False):
            if one.fullmatch(word) is None:
                return False
        return all(any(each.fullmatch(option) for option in options) for each in given)

    return matches
