"""Regexes that cannot hang us: re2 in linear time, and for what it cannot take a time limit.

Knows both regex libraries, which load slowly and are therefore imported when first needed.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any

from hookline.model.errors import HandlerError, IllegalValueError

__all__ = [
    "REGEX_SECONDS",
    "Limit",
    "LimitedRegex",
    "LinearRegex",
    "LinearRegexes",
    "compile_regex",
]

REGEX_SECONDS = 0.25
"""How long a regex that re2 cannot take may run, over all the texts of one decision."""


_FEW = 8


class Limit:
    """A time limit that starts when it is first asked."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = 0.0

    def left(self) -> float:
        """Seconds that are left; not positive when it is over."""
        now = monotonic()
        self._end = self._end or now + REGEX_SECONDS
        return self._end - now


class LinearRegex:
    """A regex for re2, compiled when it is first needed."""

    __slots__ = ("_compiled", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._compiled: Any = None

    def __call__(self, text: str) -> bool:
        return self.compiled().search(_utf8(text)) is not None

    def compiled(self) -> Any:
        """What re2 made of it. Raises re2.error."""
        if self._compiled is None:
            import re2

            options = re2.Options()
            options.log_errors = False
            options.never_capture = True
            self._compiled = re2.compile(self.source, options)
        return self._compiled


class LinearRegexes:
    """Several regexes for re2, searched for at once: one look costs little more than for one."""

    __slots__ = ("_any", "_asked", "_each")

    def __init__(self, regexes: Sequence[LinearRegex]) -> None:
        self._each = regexes
        self._asked = 0
        self._any: LinearRegex | None = None
        # An open quotation would run on over the ones after it.
        if len(regexes) > 1 and not any("\\Q" in regex.source for regex in regexes):
            self._any = LinearRegex("|".join(f"(?:{regex.source})" for regex in regexes))

    def __call__(self, text: str) -> bool:
        self._asked += 1
        # To join them takes longer than to look for each a few times, and a process that answers
        # one event does not ask more often.
        if self._any is None or self._asked <= _FEW:
            return any(regex(text) for regex in self._each)
        import re2

        try:
            return self._any(text)
        except re2.error:  # together they are more than it takes
            self._any = None
            return self(text)


class LimitedRegex:
    """A regex that re2 cannot take: it may backtrack, and is stopped when that takes too long."""

    __slots__ = ("_compiled",)

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def search(self, text: str, limit: Limit) -> bool:
        """Whether it is found in the text. Raises HandlerError when that takes too long."""
        try:
            # A timeout of zero would mean none.
            return self._compiled.search(text, timeout=max(limit.left(), 1e-6)) is not None
        except TimeoutError:
            raise HandlerError(
                f"the regex `/{self._compiled.pattern}/` ran for more than {REGEX_SECONDS:g} s; "
                "without lookaround and backreferences it would run in linear time"
            ) from None


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A half character must not hide the text around it: it becomes one that is no character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def compile_regex(source: str) -> LinearRegex | LimitedRegex:
    """The regex, ready to search. Raises IllegalValueError when it is none."""
    if not source:
        raise IllegalValueError("the regex `//` is empty and would match everything")
    import re2

    linear = LinearRegex(source)
    try:
        linear.compiled()
    except UnicodeEncodeError:
        raise IllegalValueError("the regex holds half a character") from None
    except re2.error:
        return LimitedRegex(_backtracking(source))
    return linear


def _backtracking(source: str) -> Any:
    import regex

    try:
        return regex.compile(source)
    except regex.error as error:
        raise IllegalValueError(f"`/{source}/` is not a regex: {error}") from None
