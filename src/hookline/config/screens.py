"""One look at a command for all the conditions of a file: most commands concern none of them."""

from hookline.config.atoms import Needs, are_met, can_hide, without_quotes
from hookline.config.patterns import TextPatterns, needs_of
from hookline.config.regexes import LinearRegex, LinearRegexes
from hookline.config.sight import Sight
from hookline.model.errors import HandlerUnavailable
from hookline.shell import MAX_BYTES

__all__ = ["Screen"]

# To find out what the patterns need takes as long as this many looks without that.
_WORTH_IT = 50


class Screen:
    """The command patterns of many conditions, searched for at once."""

    __slots__ = ("_looks", "_needs", "_regexes", "_sources", "_written")

    def __init__(self) -> None:
        self._sources: dict[str, None] = {}
        self._written: dict[str, None] = {}
        self._regexes: LinearRegexes | None = None
        self._needs: tuple[Needs, ...] | None = None
        self._looks = 0

    def add(self, patterns: TextPatterns) -> bool:
        """Take these in, or say that they cannot be."""
        if patterns.sources is None:
            return False
        self._sources.update(dict.fromkeys(patterns.sources))
        self._written.update(dict.fromkeys(patterns.written))
        self._regexes = self._needs = None
        return True

    def may_hold(self, sight: Sight, text: str) -> bool:
        """Whether any of them matches the command or a part of it: if not, none of them does."""
        known = sight.known.get((self, text))
        if known is None:
            self._looks += 1
            worth_it = self._looks > _WORTH_IT
            known = not (worth_it and self._is_out_of_question(text)) and self._found(sight, text)
            sight.known[self, text] = known
        return known

    def _is_out_of_question(self, text: str) -> bool:
        """Whether no part of the command can match, by what stands in it."""
        if len(text) > MAX_BYTES or can_hide(text):
            return False
        if self._needs is None:
            self._needs = tuple(dict.fromkeys(map(needs_of, self._written)))
        bare = without_quotes(text)
        for needs in self._needs:  # noqa: SIM110 - a generator would cost more than the test
            if are_met(needs, bare):
                return False
        return True

    def _found(self, sight: Sight, text: str) -> bool:
        if self._regexes is None:
            self._regexes = LinearRegexes([LinearRegex(each) for each in self._sources])
        if self._regexes(text):
            return True
        try:
            parts = sight.commands(text)
        except HandlerUnavailable:
            # Nobody who looked there first would have tried to read it.
            if self._is_out_of_question(text):
                return False
            raise
        return any(map(self._regexes, parts))
