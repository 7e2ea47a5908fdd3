"""One look at a command for all the conditions of a file: most commands concern none of them."""

from hookline.config.patterns import TextPatterns
from hookline.config.regexes import LinearRegex, LinearRegexes
from hookline.config.sight import Sight

__all__ = ["Screen"]


class Screen:
    """The command patterns of many conditions, searched for at once."""

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
