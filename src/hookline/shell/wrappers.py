"""Sets aside programs that only run another one: ``sudo -u root timeout 5 rm x`` is ``rm x``."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hookline.shell.budget import Budget
from hookline.shell.fields import Field
from hookline.shell.options import Parsed, parse
from hookline.shell.wrapping import Wrapper, wrapper_named

__all__ = ["Unwrapped", "unwrap"]

# These add words of their own making, which the text does not show.
_FED = frozenset({"xargs", "entr"})

_NO_PROGRAM = re.compile(r"[A-Za-z_]\w*=|-\Z", re.ASCII)

# What ``env -S`` tells apart.
_PIECE = re.compile(r"\\.|\$\{\w*\}|[^\\$'\"#\s]+|.", re.ASCII | re.DOTALL)
_BLANKS = frozenset([*" \t\n\v\f\r", "\\_"])
_QUOTES = frozenset("'\"")
_ESCAPED = {"\\_": " ", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t", "\\v": "\v"}


class Unwrapped(NamedTuple):
    """A command without its wrappers; never empty, as the last wrapper stays when alone."""

    wrappers: tuple[str, ...]
    words: Sequence[Field]
    fed: bool
    """True when the words will be followed by others we cannot see."""
    assigned: Sequence[tuple[str, Field]] = ()
    """Variables that the wrappers set."""
    programs: Sequence[Field] = ()
    """The words by which the wrappers themselves are called."""


class _Peeled(NamedTuple):
    """Words, and where among them the program inside a wrapper stands."""

    words: Sequence[Field]
    at: int


def unwrap(words: Sequence[Field], budget: Budget) -> Unwrapped:
    """Set aside all the wrappers in front of ``words``."""
    names: list[str] = []
    programs: list[Field] = []
    assigned: list[tuple[str, Field]] = []
    at = 0
    while words[at].exact:
        name = words[at].text.rpartition("/")[2]
        wrapper = wrapper_named(name)
        if wrapper is None:
            break
        budget.spend(1)
        inner = _inside(name, wrapper, _Peeled(words, at), budget)
        if inner is None or inner.at >= len(inner.words):
            break
        if wrapper.assigns:
            assigned += _assignments(inner, at + 1)
        names.append(name)
        programs.append(words[at])
        words, at = inner
    if not names:
        return Unwrapped((), words, fed=False)
    return Unwrapped(tuple(names), words[at:], not _FED.isdisjoint(names), assigned, programs)


def _inside(name: str, wrapper: Wrapper, outer: _Peeled, budget: Budget) -> _Peeled | None:
    if wrapper.options.last:
        outer = _split_strings(wrapper, outer, budget)
    words = outer.words
    found = _found(wrapper, outer, budget)
    if found is None:
        return None
    parsed, at = found, found.operands
    # A lone ``-`` is an option too: to ``env`` it means ``-i``.
    while wrapper.assigns and at < len(words) and _NO_PROGRAM.match(words[at].text):
        at += 1
    at += wrapper.operands
    if name == "xargs":
        budget.spend(len(words) - at)
        return _Peeled(_with_holes(words[at:], parsed), 0)
    if name == "flock" and at < len(words) and words[at].text in ("-c", "--command"):
        return None
    return _Peeled(words, at)


def _found(wrapper: Wrapper, outer: _Peeled, budget: Budget) -> Parsed | None:
    """The options before the program inside, and where it would stand."""
    words, start = outer
    parsed = parse(words, wrapper.options, start + 1)
    at = parsed.operands
    while at < len(words) and words[at].text in wrapper.through:
        parsed = _more(parsed, parse(words, wrapper.options, at + 1))
        at = parsed.operands
    if wrapper.verbs:
        if at >= len(words) or words[at].text not in wrapper.verbs:
            return None
        parsed = _more(parsed, parse(words, wrapper.options, at + 1))
    if wrapper.after:
        budget.spend((len(words) - at) // 8)
        end = next(
            (n for n in range(start + 1, len(words)) if words[n].text in wrapper.after), None
        )
        if end is not None:
            # Operands of its own stand before it.
            parsed = Parsed((*parsed.found, (words[end].text, None)), end + 1 - wrapper.operands)
    if wrapper.not_with and parsed.has(*wrapper.not_with):
        return None
    if wrapper.only_with and not parsed.has(*wrapper.only_with):
        return None
    return parsed


def _more(before: Parsed, after: Parsed) -> Parsed:
    return Parsed(before.found + after.found, after.operands)


def _assignments(inner: _Peeled, start: int) -> Iterator[tuple[str, Field]]:
    """The variables that ``env`` or ``sudo`` are told to set before the program inside."""
    for text, exact in inner.words[start : inner.at]:
        if "=" in text:
            name, _, value = text.partition("=")
            yield name, Field(value, exact)


def _split_strings(wrapper: Wrapper, outer: _Peeled, budget: Budget) -> _Peeled:
    """The words once ``env`` has put those of each ``-S STRING`` in its place."""
    words, start = outer
    while True:
        parsed = parse(words, wrapper.options, start + 1)
        option, string = parsed.found[-1] if parsed.found else ("", None)
        if option not in wrapper.options.last or string is None:
            return _Peeled(words, start)
        budget.spend(len(words) + len(string.text) // 8)
        # More options, even another string, may be among the new words: they are read again.
        words = (*words[: start + 1], *_split_string(string), *words[parsed.operands :])


def _split_string(string: Field) -> Sequence[Field]:
    """The words of ``env -S STRING``, by the rules of ``env``, which are not those of a shell."""
    words: list[Field] = []
    word: str | None = None
    exact, quote = string.exact, ""
    for piece in _PIECE.findall(string.text):
        if piece in _QUOTES and quote in ("", piece):
            word, quote = word or "", "" if quote else piece
        elif not quote and piece in _BLANKS:
            if word is not None:
                words.append(Field(word, exact))
            word, exact = None, string.exact
        elif not quote and (piece == "\\c" or (piece == "#" and word is None)):
            break
        elif quote == "'" and piece not in ("\\\\", "\\'"):
            word = (word or "") + piece
        else:
            exact = exact and not piece.startswith("$")
            meant = _ESCAPED.get(piece, piece[1:]) if piece.startswith("\\") else piece
            word = (word or "") + meant
    if quote:  # which ``env`` refuses
        return [Field(each, string.exact) for each in string.text.split()]
    if word is not None:
        words.append(Field(word, exact))
    # The very object tells where in the text the word stands.
    return [string] if words == [string] else words


def _with_holes(words: Sequence[Field], parsed: Parsed) -> Sequence[Field]:
    """Mark the words in which ``xargs -I`` will write something else."""
    replaced = parsed.value("-I", "-J", "--replace")
    hole = replaced.text if replaced is not None else "{}"
    return [Field(word.text, exact=False) if hole in word.text else word for word in words]
