"""One look whether a text may hold a secret at all, and then where its secrets are."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

from hookline.secrets.places import PLACES, Place, Span
from hookline.secrets.rules import RULES, Rule

__all__ = ["Secret", "find", "may_hold_secret"]

Secret = tuple[int, int, str]
"""Where a secret starts and ends, and its family."""

# A letter, digit or sign written as an escape: it may be a part of anything. Without `<`, `>`
# and `&`, which some writers of JSON escape as a habit and no token holds.
_ESCAPED = r"\\u00(?:2[0-57-9a-fA-F]|3[0-9abdfABDF]|[4-7])"
_MEMORY = 16 << 20


def _compile(source: str, *, capture: bool = True) -> Any:
    import re2

    options = re2.Options()
    # Any byte is a character: what is no UTF-8 must not end a secret early.
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = not capture
    options.max_mem = _MEMORY
    return re2.compile(source.encode("ascii"), options)


@cache
def _first_look() -> Any:
    sources = [_ESCAPED, *(place.hint for place in PLACES), *map(_hint, RULES)]
    return _compile("|".join(f"(?:{source})" for source in sources), capture=False).search


@cache
def _token_look() -> Any:
    return _compile("|".join(f"(?:{_hint(rule)})" for rule in RULES), capture=False).search


def _hint(rule: Rule) -> str:
    return rule.hint or "|".join(map(_literal, rule.keywords))


def _literal(keyword: str) -> str:
    return "".join(c if c.isalnum() or c in "_- " else f"\\{c}" for c in keyword)


# Each on its own: all as one would be one look for them all, but on a text that begins many tokens
# and ends none, re2 is a hundred times slower with one large regex than with many small ones.
@cache
def _rules() -> Sequence[tuple[str, Any]]:
    return [(rule.name, _compile(rule.regex)) for rule in RULES]


@cache
def _places() -> Sequence[tuple[Place, Any, Any]]:
    return [(place, _compile(place.head), _compile(place.value)) for place in PLACES]


def may_hold_secret(text: bytes) -> bool:
    """Whether it is worth a closer look; a text with a secret always is."""
    return _first_look()(text) is not None


def find(text: bytes) -> Iterator[Secret]:
    """Every secret, those of known families first; they may overlap."""
    if _token_look()(text) is not None:
        for name, regex in _rules():
            for spans in _matches(regex, text):
                # The first group that took part, or all.
                start, end = next((span for span in spans[1:] if span[0] >= 0), spans[0])
                yield start, end, name
    for place, head, value in _places():
        done = 0
        for spans in _matches(head, text):
            if spans[0][0] < done:
                continue  # inside a secret; to read on from here would read its end many times
            judged = place.judge(text, spans, partial(_read, value, text))
            if judged is not None:
                done = judged[1]
                yield *judged, place.name


def _read(value: Any, text: bytes, at: int) -> Sequence[Span] | None:
    match = value.match(text, at)
    return None if match is None else [match.span(group) for group in range(value.groups + 1)]


def _matches(regex: Any, text: bytes) -> Iterator[Sequence[Span]]:
    groups = range(regex.groups + 1)
    for match in regex.finditer(text):
        yield [match.span(group) for group in groups]
