"""Reads one text: its commands, and those of the substitutions inside it, in place."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from hookline.shell.fields import Field, Reading, Scope
from hookline.shell.model import MAX_DEPTH
from hookline.shell.script import Code, Command, Script
from hookline.shell.statements import StatementReader
from hookline.shell.words import WordReader

__all__ = ["TextReader"]

# Steps for every substitution, which has readers of its own.
_SCRIPT_STEPS = 8

_MENTION = re.compile(r"(?<![\w$])(?<!\$\{)[A-Za-z_]\w*", re.ASCII)


class TextReader:
    """Reads one text into scripts: its own, and one for each substitution."""

    def __init__(self, reading: Reading, depth: int, outer: Scope) -> None:
        self.found: list[Command | Code] = []
        self.scripts: list[Script] = []
        self._reading = reading
        self._outer = outer
        self._script = Script(depth, None)
        self._words = WordReader(
            reading, substitution=self._substitution, rewritten=self._rewritten, scope=self.scope
        )
        self._read(0, self._script)
        # It knows us as we know it: left like this, only the collector would end the two.
        del self._words

    @property
    def scope(self) -> Scope:
        """What code inside this text knows of its variables."""
        return Scope(self._value, self._arguments)

    def _value(self, name: str) -> str | None:
        """The value of a variable, when the text leaves no doubt about it."""
        script: Script | None = self._script
        while script is not None:
            if name in script.values:
                known = self._mentions[name] == 1 and "IFS" not in self._mentions
                self._reading.assumes |= known and name in script.declared
                return script.values[name] if known else None
            script = script.parent
        return self._outer.value(name)

    def _arguments(self) -> Sequence[Field] | None:
        """The arguments of the script; not exact where others may have taken their place."""
        script: Script | None = self._script
        while script is not None and script.arguments is None:
            script = script.parent
        given = self._outer.arguments() if script is None else script.arguments
        changes = self._mentions["set"] + self._mentions["shift"] + self._reading.functions
        if given is None or changes == (script is not None):
            return given
        return [Field(text, exact=False) for text, _ in given]

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
            self._reading.broken = self._reading.incomplete = True
            return len(self._reading.source)
        self._reading.spend(_SCRIPT_STEPS)
        return self._read(at, Script(depth, self._script))

    def _rewritten(self, text: str, start: int, end: int, doubted: bool) -> None:
        self.found.append(Code(text, start, end, self._script, doubted))
