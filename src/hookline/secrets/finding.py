"""Where the secrets of a text are.

Every closer look at a candidate is counted. When no more are allowed the search ends and says how
far it came, so that a text made of candidates cannot hold up whoever waits for the answer.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from hookline.secrets.forms import Rule
from hookline.secrets.hints import compile_bytes, literal, options, searcher, token_hints
from hookline.secrets.likely import Scope, accepts, is_example
from hookline.secrets.places import PLACES, Place
from hookline.secrets.rules import RULES

__all__ = ["Found", "Secret", "find"]

Secret = tuple[int, int, str]
"""Where a secret starts and ends, and its family."""

_CONTEXT = 100
"""How far before a hint its token may begin: the length of a name, and of a token's first part."""
_KEYWORD = 16
"""No keyword is longer."""
_HINT = 64
_REST = re.compile(
    rb"([^\s\"'`\x02]*+)(?:\\*+[\"'`\x02]\]?)?\s*+[:=>]*+\s*+(?:\\*+[\"'`\x02])?[^\s\"'`\x02]*+"
)
"""From behind a hint to the end of its word, and of the value when that is a name."""


class Found(Struct):
    """What a search came upon."""

    secrets: list[Secret]
    """Known families first, in the order of the table; they may overlap."""
    end: int
    """How far the text was looked through: every secret that starts before is found."""
    looks: int = 0


@cache
def _token_look() -> Any:
    return searcher(token_hints())


@cache
def _head_look() -> Any:
    return searcher([place.head for place in PLACES if not place.alone])


# Each on its own: all as one would be one look for them all, but on a text that begins many tokens
# and ends none, re2 is a hundred times slower with one large regex than with many small ones.
@cache
def _rule(number: int) -> tuple[Rule, Any, range]:
    """A rule with its regex and the numbers of its groups; few texts need more than one."""
    regex = compile_bytes(RULES[number].regex)
    return RULES[number], regex, range(1, regex.groups + 1)


@cache
def _order() -> dict[str, int]:
    return {rule.name: number for number, rule in enumerate(RULES)}


@cache
def _choice() -> Any:
    """The numbers of the rules of which a keyword is in a text."""
    import re2

    any_case = options()
    any_case.case_sensitive = False
    chosen = re2.Set.SearchSet(any_case)
    for rule in RULES:
        chosen.Add("|".join(map(literal, rule.keywords)).encode("ascii"))
    chosen.Compile()
    return chosen.Match


Reader = tuple[int, Place, re.Pattern[bytes], re.Pattern[bytes]]
"""A place with its number, and the regexes of its head and its value."""


@cache
def _readers() -> Sequence[Sequence[Reader]]:
    """By the first byte of a head, the places that it may be of."""
    by_start: list[list[Reader]] = [[] for _ in range(256)]
    for number, place in enumerate(PLACES):
        reader = _reader(number, place)
        for byte in {*place.starts, *place.starts.upper()}:
            by_start[byte].append(reader)
    return by_start


@cache
def _lone_readers() -> Sequence[tuple[Any, Reader]]:
    return [
        (compile_bytes(place.head, capture=False).finditer, _reader(number, place))
        for number, place in enumerate(PLACES)
        if place.alone
    ]


def _reader(number: int, place: Place) -> Reader:
    return number, place, re.compile(place.head.encode()), re.compile(place.value.encode())


def find(text: bytes, looks: int, scope: Scope = Scope.ALL, *, tokens: bool = True) -> Found:
    """The secrets of a text, with no more looks at candidates than those.

    Without ``tokens`` when no known family has a hint in it.
    """
    found = Found([], len(text))
    # A search that uses up all it may must leave something to those after it, or all were in vain.
    if tokens:
        _find_tokens(text, found, looks // 2, scope)
    if len(found.secrets) > 1:
        order = _order()
        found.secrets.sort(key=lambda secret: order[secret[2]])
    _find_alone(text, found, (looks + found.looks) // 2, scope)
    _find_places(text, found, looks, scope)
    return found


def _find_tokens(text: bytes, found: Found, looks: int, scope: Scope) -> None:
    """What has the form of a known family: around each hint, by the rules with a keyword there."""
    look, choice = _token_look(), _choice()
    at, word, end, searched = 0, 0, 0, dict[str, int]()
    while (hit := look(text, at)) is not None:
        start, stop = hit.span()
        # In a hint another may begin; in a long one only near its end, or long names were slow.
        at = max(start + 1, stop - _HINT)
        if found.looks >= looks:
            found.end = min(found.end, max(0, start - _CONTEXT))
            return
        found.looks += 1
        if stop >= word and (rest := _REST.match(text, stop)) is not None:
            word, end = rest.end(1), rest.end()
        for number in choice(text[max(0, start - _KEYWORD) : stop + _KEYWORD]) or ():
            rule, regex, groups = _rule(number)
            done = searched.get(rule.name, 0)
            if done < end:
                # What was searched for an earlier hint is not all searched again: long words of
                # many hints would be slow.
                low = max(0, done - _CONTEXT, start - _CONTEXT)
                searched[rule.name] = high = len(text) if rule.long else end
                for match in regex.finditer(text, low, high):
                    # The first group that took part, or all.
                    spans = [match.span(group) for group in groups]
                    span = next((span for span in spans if span[0] >= 0), match.span())
                    if found.looks >= looks:
                        found.end = min(found.end, span[0])
                        break
                    found.looks += 1
                    if scope is Scope.ALL or _is_token(rule, text[span[0] : span[1]]):
                        found.secrets.append((*span, rule.name))


def _is_token(rule: Rule, token: bytes) -> bool:
    return not is_example(token) if rule.check is None else rule.check(token)


def _find_alone(text: bytes, found: Found, looks: int, scope: Scope) -> None:
    """What is known by where it stands, when much may be between its head's parts."""
    for search, (_, place, head, value) in _lone_readers():
        for hit in search(text) if place.alone in text else ():
            if found.looks >= looks:
                found.end = min(found.end, hit.start())
                break
            found.looks += 1
            match = head.match(text, hit.start())
            span = None if match is None else place.judge(text, match, value)
            if span is not None and accepts(place.name, b"", text[span[0] : span[1]], scope):
                found.secrets.append((*span, place.name))


def _find_places(text: bytes, found: Found, looks: int, scope: Scope) -> None:
    """What is known by where it stands."""
    look, readers, at, done = _head_look(), _readers(), 0, [0] * len(PLACES)
    tokens = {start: end for start, end, _ in found.secrets}
    while (hit := look(text, at)) is not None:
        start, at = hit.span()
        if start >= found.end:
            return
        if found.looks >= looks:
            found.end = start
            return
        found.looks += 1
        for number, place, head, value in readers[text[start]]:
            match = head.match(text, start)
            if match is None:
                continue
            at = place.resume(match)
            # Inside a secret of its kind, to read on from here would read its end many times.
            span = place.judge(text, match, value) if start >= done[number] else None
            if span is not None:
                done[number] = span[1]
                if scope is not Scope.ALL and _is_whole(text, tokens.get(span[0])):
                    break  # what its name announces is that token, and the rest is other text
                if accepts(place.name, _name(text, match), text[span[0] : span[1]], scope):
                    found.secrets.append((*span, place.name))
            break


def _name(text: bytes, head: re.Match[bytes]) -> bytes:
    """A head with the beginning of its name, which is no part of it."""
    return text[max(0, head.start() - 24) : head.end()].rpartition(b"\n")[2]


def _is_whole(text: bytes, end: int | None) -> bool:
    """Whether a token ends there, and what follows is no part of its word."""
    return end is not None and not text[end : end + 1].isalnum() and text[end : end + 1] not in _ON


_ON = frozenset({b"-", b"_", b"=", b"+", b"/", b"%"})
