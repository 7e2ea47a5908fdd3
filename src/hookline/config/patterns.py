"""The patterns of ``match``, as lists of alternatives: words, globs and ``/regexes/``.

Knows how a pattern is written; nothing of events, shells or files.
"""

from collections.abc import Iterable, Sequence

from hookline.config.globs import (
    PathTest,
    TextTest,
    path_glob,
    text_glob,
    text_regex,
)
from hookline.config.regexes import (
    Limit,
    LimitedRegex,
    LinearRegex,
    LinearRegexes,
    compile_regex,
)
from hookline.config.sight import Sight, Spot
from hookline.model.errors import IllegalValueError

__all__ = [
    "PathPatterns",
    "Screen",
    "TextPatterns",
    "is_regex",
    "looks_like_directory",
    "path_patterns",
    "text_patterns",
]

_REGEX_SIGNS = frozenset("\\^$*+?()[]{}|")


class TextPatterns:
    """The alternatives of one key: a text matches when any of them does."""

    __slots__ = ("_limited", "_tests", "_words", "sources")

    def __init__(
        self,
        words: Iterable[str],
        tests: Iterable[TextTest],
        limited: Iterable[LimitedRegex],
        sources: Sequence[str] | None,
    ) -> None:
        self.sources = sources
        """The same as regexes for re2, of which any may be found; None when they cannot be."""
        self._words = frozenset(words)
        self._tests = tuple(tests)
        self._limited = tuple(limited)

    def holds(self, text: str) -> bool:
        """Whether this text matches."""
        return self._quick(text) or (bool(self._limited) and self._slow(text, Limit()))

    def some(self, texts: Iterable[str]) -> bool:
        """Whether one of these texts matches."""
        if not self._limited:
            return any(map(self._quick, texts))
        limit = Limit()
        return any(self.matches(text, limit) for text in texts)

    def each(self, texts: Iterable[str]) -> bool:
        """Whether all of these texts match, each by any alternative."""
        limit = Limit()
        return all(self.matches(text, limit) for text in texts)

    def matches(self, text: str, limit: Limit) -> bool:
        """As ``holds``, under a time limit that is shared with other texts."""
        return self._quick(text) or self._slow(text, limit)

    def _quick(self, text: str) -> bool:
        if text in self._words:
            return True
        # A plain loop: a generator would cost more than most of the tests.
        for test in self._tests:  # noqa: SIM110
            if test(text):
                return True
        return False

    def _slow(self, text: str, limit: Limit) -> bool:
        return any(regex.search(text, limit) for regex in self._limited)


class Screen:
    """The command patterns of many conditions, searched for at once: most commands concern none.

    Without it a hundred rules take two to four times as long (`python -m bench warm`).
    """

    __slots__ = ("_regexes", "_sources")

    def __init__(self) -> None:
        self._sources: dict[str, None] = {}
        self._regexes: LinearRegexes | None = None

    def add(self, patterns: TextPatterns) -> bool:
        """Take these in, or say that they cannot be."""
        if patterns.sources is None:
            return False
        self._sources.update(dict.fromkeys(patterns.sources))
        self._regexes = None
        return True

    def may_hold(self, sight: Sight, text: str) -> bool:
        """Whether any of them matches the command or a part of it: if not, none of them does."""
        known = sight.known.get((self, text))
        if known is None:
            if self._regexes is None:
                self._regexes = LinearRegexes([LinearRegex(each) for each in self._sources])
            known = self._regexes(text) or any(map(self._regexes, sight.commands(text)))
            sight.known[self, text] = known
        return known


class PathPatterns:
    """The alternatives of ``path``: a spot matches when any of them does."""

    __slots__ = ("_globs", "_regexes")

    def __init__(self, globs: Iterable[PathTest], regexes: TextPatterns | None) -> None:
        self._globs = tuple(globs)
        self._regexes = regexes

    def some(self, spots: Iterable[Spot]) -> bool:
        """Whether one of these spots matches."""
        limit = Limit()
        return any(self._matches(spot, limit) for spot in spots)

    def each(self, spots: Iterable[Spot]) -> bool:
        """Whether all of these spots match, each by any alternative."""
        limit = Limit()
        return all(self._matches(spot, limit) for spot in spots)

    def _matches(self, spot: Spot, limit: Limit) -> bool:
        for glob in self._globs:
            if glob(spot):
                return True
        return self._regexes is not None and any(
            self._regexes.matches(text, limit) for text in (spot.whole, *spot.project)
        )


def is_regex(source: str) -> bool:
    """Whether a pattern is written as ``/regex/``."""
    return len(source) > 1 and source[0] == source[-1] == "/"


def looks_like_directory(source: str) -> bool:
    """Whether a ``/regex/`` uses nothing of a regex, so that a directory may have been meant."""
    return is_regex(source) and not _REGEX_SIGNS.intersection(source)


def text_patterns(sources: Iterable[str]) -> TextPatterns:
    """Patterns over a whole text, in which ``*`` crosses anything.

    Raises IllegalValueError for one that is no pattern.
    """
    sources = list(sources)
    words: list[str] = []
    tests: list[TextTest] = []
    linear: list[LinearRegex] = []
    limited: list[LimitedRegex] = []
    for source in sources:
        if is_regex(source):
            regex = compile_regex(source[1:-1])
            if isinstance(regex, LimitedRegex):
                limited.append(regex)
            else:
                linear.append(regex)
        elif isinstance(found := text_glob(source), str):
            words.append(found)
        else:
            tests.append(found)
    if linear:
        tests.append(LinearRegexes(linear))
    return TextPatterns(words, tests, limited, None if limited else _as_regexes(sources))


def _as_regexes(sources: Sequence[str]) -> Sequence[str] | None:
    try:
        return [source[1:-1] if is_regex(source) else text_regex(source) for source in sources]
    except IllegalValueError:  # half a character, which a regex cannot hold
        return None


def path_patterns(sources: Iterable[str], *, below: bool = False) -> PathPatterns:
    """Patterns over paths; with ``below``, a glob also means all that lies in what it names.

    Raises IllegalValueError for one that is no pattern.
    """
    globs: list[PathTest] = []
    regexes: list[str] = []
    for source in sources:
        if is_regex(source):
            regexes.append(source)
        else:
            globs.append(path_glob(source, below=below))
    return PathPatterns(globs, text_patterns(regexes) if regexes else None)
