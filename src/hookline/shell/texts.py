"""Reads one text: its commands, and those of the substitutions inside it, in place."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property

from hookline.shell.fields import Reading
from hookline.shell.script import Code, Command, Script
from hookline.shell.statements import StatementReader
from hookline.shell.words import WordReader

__all__ = ["MAX_DEPTH", "TextReader"]

MAX_DEPTH = 8

_MENTION = re.compile(r"(?<![\w$])(?<!\$\{)[A-Za-z_]\w*", re.ASCII)


class TextReader:
    """Reads one text into scripts: its own, and one for each substitution."""

    def __init__(
        self, reading: Reading, depth: int, outer_lookup: Callable[[str], str | None]
    ) -> None:
        self.found: list[Command | Code] = []
        self.scripts: list[Script] = []
        self._reading = reading
        self._outer_lookup = outer_lookup
        self._script = Script(depth, None)
        self._words = WordReader(
            reading, substitution=self._substitution, rewritten=self._rewritten, lookup=self.lookup
        )
        self._read(0, self._script)

    def lookup(self, name: str) -> str | None:
        """The value of a variable, when the text leaves no doubt about it."""
        script: Script | None = self._script
        while script is not None:
            if name in script.values:
                known = self._mentions[name] == 1 and "IFS" not in self._mentions
                return script.values[name] if known else None
            script = script.parent
        return self._outer_lookup(name)

    @cached_property
    def _mentions(self) -> Counter[str]:
        """How often each name is written, apart from ``$X`` and ``${X``.

        Any mention may be one more assignment: ``read X``, ``unset X``, ``f X``.
        """
        return Counter(_MENTION.findall(self._reading.source))

    def _read(self, at: int, script: Script) -> int:
        outer, self._script = self._script, script
        self.scripts.append(script)
        end = StatementReader(self._reading, self._words, script, self.found).run(at)
        self._script = outer
        return end

    def _substitution(self, at: int) -> int:
        depth = self._script.depth + 1
        if depth > MAX_DEPTH:
            self._reading.broken = True
            return len(self._reading.source)
        return self._read(at, Script(depth, self._script))

    def _rewritten(self, text: str, start: int, end: int) -> None:
        self.found.append(Code(text, start, end, self._script))
