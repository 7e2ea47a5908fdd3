"""What a text needs for a pattern to match it, so that most commands need not be taken apart.

Pieces of text that are in whatever a pattern matches, or one of several such pieces. They hold no
blank and no quote, so that each lies within one word, and quoting cannot break it up.
"""

import re
import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias

__all__ = ["Needs", "are_met", "can_hide", "needs_of_glob", "needs_of_regex", "without_quotes"]

Atoms: TypeAlias = frozenset[str]
"""In lower case; one of them has to be there."""
Needs: TypeAlias = tuple[Atoms, ...]
"""All of these have to be met, the rarest first; none when nothing can be said."""

_SHORTEST = 2
_MOST = 64
_MOST_NEEDS = 4
_BROKEN_BY = frozenset(" \t\r\n\v\f'\"\\`$")
_QUOTES = str.maketrans("", "", "'\"")

# What a shell, or a program that runs one, makes of these may hold words that are not in the text:
# variables, braces, escapes, formats, and what `xargs` and `parallel` put together. Letters outside
# ASCII may be equal to others when case does not count.
_CAN_HIDE = r"[^\x20-\x7e\n\t]|[$`\\{%]|xargs|parallel"


def can_hide(text: str) -> bool:
    """Whether a command may run words that are not in its text, quotes aside."""
    return _can_hide().search(text) is not None


@cache
def _can_hide() -> re.Pattern[str]:
    return re.compile(_CAN_HIDE)


def without_quotes(text: str) -> str:
    """The text as atoms are looked for in it."""
    return text.translate(_QUOTES).lower()


def are_met(needs: Needs, text: str) -> bool:
    """Whether a text, without its quotes, has all that is needed for a match."""
    # Plain loops: every command of every agent waits for them.
    for atoms in needs:
        for atom in atoms:
            if atom in text:
                break
        else:
            return False
    return True


def needs_of_glob(chunks: Iterable[str]) -> Needs:
    """What fixed pieces need, which all have to be there."""
    return _in_order([frozenset({atom}) for chunk in chunks for atom in _pieces(chunk)])


def needs_of_regex(source: str) -> Needs:
    """What a regex needs."""
    # Python's own parser reads whatever re2 takes alike, or refuses it: then nothing is said.
    try:
        from re import _parser  # type: ignore[attr-defined]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(source)
    except (ImportError, re.error, RecursionError, OverflowError):
        return ()
    return _in_order(_needs(list(parsed)))


def _in_order(found: Iterable[Atoms]) -> Needs:
    return tuple(sorted(dict.fromkeys(found), key=_worth, reverse=True))[:_MOST_NEEDS]


def _needs(items: Sequence[tuple[Any, Any]]) -> list[Atoms]:
    """What each of the parts needs; all of them have to be there."""
    found: list[Atoms] = []
    run = ""
    for operator, argument in items:
        name = str(operator)
        if name == "LITERAL":
            run += chr(argument)
            continue
        found += [frozenset({atom}) for atom in _pieces(run)]
        run = ""
        found += _needs_inside(name, argument)
    return found + [frozenset({atom}) for atom in _pieces(run)]


def _needs_inside(name: str, argument: Any) -> list[Atoms]:
    match name:
        case "SUBPATTERN":
            return _needs(list(argument[3]))
        case "MAX_REPEAT" | "MIN_REPEAT" if argument[0] > 0:
            return _needs(list(argument[2]))
        case "BRANCH":
            each = [_needs(list(branch)) for branch in argument[1]]
            if all(each):
                union = frozenset().union(*(max(needs, key=_worth) for needs in each))
                return [union] if len(union) <= _MOST else []
    return []


def _worth(atoms: Atoms) -> tuple[int, int]:
    """Long ones are seldom found by chance, and few are looked for quickly."""
    return min(map(len, atoms)), -len(atoms)


def _pieces(text: str) -> list[str]:
    broken = "".join(" " if char in _BROKEN_BY or not char.isascii() else char for char in text)
    return [piece.lower() for piece in broken.split() if len(piece) >= _SHORTEST]
