"""Where a text may hold a secret at all: one look for everything that a secret might begin with.

Either library may do that look, and both find the same; re2 is there in every process, hyperscan
is asked for by those that live long. To compile the search for all of it takes re2 several times as
long as to look at one event, so the first texts of a process are only searched for what their words
allow: the same hints, since what is left out is nowhere in that text.
"""

from _thread import allocate_lock  # the whole of `threading` is only of use to who asks for one
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from hookline.secrets.accelerating import NO_HINTS, Hints, compiled
from hookline.secrets.forms import ASSIGNS_HINT, Rule
from hookline.secrets.places import PLACES
from hookline.secrets.rules import RULES

__all__ = [
    "NO_HINTS",
    "accelerate",
    "accelerate_soon",
    "compile_bytes",
    "first_hint",
    "hints",
    "literal",
    "looked_through",
    "options",
    "searcher",
    "token_hints",
]

# A letter, digit or sign written as an escape: it may be a part of anything. Without `<`, `>`
# and `&`, which some writers of JSON escape as a habit and no token holds.
_ESCAPED = r"\\u00(?:2[0-57-9a-fA-F]|3[0-9abdfABDF]|[4-7])"
_LONGEST = 256
"""A hint that re2 finds to be longer reaches too far to be looked at by itself."""
_MOST = 500
_FEW = 4
"""So many texts are searched for what their words allow; who sees more has use for the whole."""
_SHORT = 16 << 10
"""In a longer one each word would be searched for longer than all take to compile."""

_MEMORY = 16 << 20

Looker = Callable[[bytes], Hints | None]


def options(*, capture: bool = True) -> Any:
    """Any byte is a character: what is no UTF-8 must not end a secret early."""
    import re2  # loaded with the first text that needs it

    made = re2.Options()
    made.encoding = re2.Options.Encoding.LATIN1
    made.log_errors = False
    made.never_capture = not capture
    made.max_mem = _MEMORY
    return made


def compile_bytes(source: str, *, capture: bool = True) -> Any:
    """A regex over bytes."""
    import re2

    return re2.compile(source.encode("ascii"), options(capture=capture))


def searcher(sources: Sequence[str]) -> Any:
    """One search for the first match of any of these."""
    return compile_bytes("|".join(f"(?:{each})" for each in sources), capture=False).search


def token_hints(rules: Sequence[Rule] = RULES) -> list[str]:
    """The hints of known families."""
    # The names as one: what follows them is the same for all, and large.
    names = "|".join(rule.names for rule in rules if rule.names)
    before = [rf"(?i:{names})[\w.-]*{ASSIGNS_HINT}"] if names else []
    return [*filter(None, map(_hint, rules)), *before]


def _hint(rule: Rule) -> str:
    return rule.hint or ("" if rule.names else "|".join(map(literal, rule.keywords)))


def literal(keyword: str) -> str:
    """A regex for a keyword as it is written."""
    return "".join(c if c.isalnum() or c in "_- " else f"\\{c}" for c in keyword)


def _far() -> list[str]:
    """Hints of what may go on over many lines, or begin long before."""
    long = [hint for rule in RULES if rule.long and (hint := _hint(rule))]
    return [*long, *(place.hint for place in PLACES if place.alone)]


@cache
def _first_look() -> Any:
    return searcher([_ESCAPED, *token_hints(), *(place.hint for place in PLACES)])


@lru_cache(_FEW)
def _narrow_look(sources: tuple[str, ...]) -> Any:
    return searcher(sources)


def _allowed(text: bytes) -> tuple[str, ...]:
    """The hints that can be in this text, going by the words that are in each."""
    low = text.lower()
    rules = [rule for rule in RULES if _may_be_in(low, rule)]
    places = [place.hint for place in PLACES if any(word in low for word in place.words)]
    return (_ESCAPED, *token_hints(rules), *places)


def _may_be_in(low: bytes, rule: Rule) -> bool:
    for word in rule.keywords:
        if word.lower().encode() in low:
            return True
    # A hint that reads escapes finds its keyword where one is written in its midst.
    return "\\\\" in rule.hint


def _look_at(text: bytes) -> Any:
    """What searches this text for its first hint."""
    if len(_seen) >= _FEW or len(text) > _SHORT:
        return _first_look()
    _seen.append(len(text))
    return _narrow_look(_allowed(text))


_seen: list[int] = []
"""The texts that were searched for what their words allow, by their sizes."""


@cache
def _far_look() -> Any:
    return searcher(_far())


_quicker: list[Looker] = []
"""What looks in place of re2; empty until somebody asked for it."""
_asked = allocate_lock()


def accelerate() -> bool:
    """Makes the first look faster from now on; False when nothing here can.

    It takes a second or so: see ``accelerate_soon``.
    """
    if not _quicker:
        # Each name on its own: all as one is what hyperscan is slow at.
        names = [rf"(?i:{rule.names})[\w.-]*{ASSIGNS_HINT}" for rule in RULES if rule.names]
        tokens = [_ESCAPED, *filter(None, map(_hint, RULES)), *names]
        quicker = compiled(_far(), tokens, [place.hint for place in PLACES])
        if quicker is not None:
            _quicker.append(quicker)
    return bool(_quicker)


def accelerate_soon() -> None:
    """As ``accelerate``, beside whatever else the process does; once, however often it is asked.

    For processes that will see many texts. An end of the process waits for it.
    """
    if _asked.acquire(blocking=False):
        from threading import Thread

        with suppress(RuntimeError):  # no thread is to be had: it goes on as it is
            Thread(target=accelerate, name="hookline-secrets").start()


def first_hint(text: bytes) -> int:
    """Where it is first worth a closer look, -1 when nowhere; a text with a secret always is."""
    if _quicker:
        found = _quicker[0](text)
        if found is not None and not found.tokens and not found.places:
            return -1
    hit = _look_at(text)(text)
    return -1 if hit is None else hit.start()


def hints(text: bytes) -> Hints | None:
    """All hints; None when they are too many or reach too far to be looked at one by one."""
    return _quicker[0](text) if _quicker else _hints_by_re2(text)


def _hints_by_re2(text: bytes) -> Hints | None:
    look = _look_at(text)
    hit = look(text)
    if hit is None:
        return NO_HINTS
    found = Hints()
    while hit is not None:
        start, stop = hit.span()
        if len(found.tokens) == _MOST or stop - start > _LONGEST or _far_look()(text, start, stop):
            return None
        found.tokens.append(stop)
        # In a hint another may begin.
        hit = look(text, start + 1)
    return found


# What a process has looked through so far: one that does much is worth making faster.
_TEXTS = 16
_VOLUME = 256 << 10
"""From so many texts and bytes on it is worth a second of work to look faster: a process that was
started for one event never comes so far."""


class _Work:
    __slots__ = ("_asked", "_texts", "_volume")

    def __init__(self) -> None:
        self._texts = self._volume = 0
        self._asked = False

    def add(self, volume: int) -> None:
        """For a process that lives on: so many bytes more."""
        if self._asked:
            return
        self._texts += 1
        self._volume += volume
        if self._texts >= _TEXTS and self._volume >= _VOLUME:
            self._asked = True
            accelerate_soon()


_work = _Work()
looked_through = _work.add
