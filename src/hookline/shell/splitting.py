"""Turns shell text into the commands it would run, following code inside code."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hookline.shell.carriers import Argv, Code, Inner, Stdin, carried, literal_output
from hookline.shell.fields import Field, Reading, as_source, as_text
from hookline.shell.grammar import UNKNOWN, Structure, structure
from hookline.shell.model import MAX_BYTES, ShellText, SimpleCommand
from hookline.shell.script import Command, Script
from hookline.shell.texts import MAX_DEPTH, TextReader
from hookline.shell.wrappers import unwrap

__all__ = ["split"]

# Texts inside texts, and grammar work, that one call may cost.
_MAX_TEXTS = 256
_MAX_GRAMMAR = 8192
_MAX_CACHED = 4096


def split(text: str) -> ShellText:
    """Every simple command ``text`` would run, and what about it could not be seen."""
    return _split_cached(text) if len(text) <= _MAX_CACHED else _split(text)


def _split(text: str) -> ShellText:
    source = as_source(text)
    if len(source) > MAX_BYTES:
        return ShellText(unreadable=True)
    splitter = _Splitter()
    splitter.unreadable = not text.isascii() and _has_surrogates(text)
    if "\0" in source:
        # No shell can be given a NUL; those that read one from a file act as if it were not there.
        splitter.unreadable = True
        splitter.read(source.replace("\0", ""), _Place(0, (0, len(source)), None, _no_value))
    else:
        splitter.read(source, _Place(0, None, None, _no_value))
    return splitter.result()


_split_cached = lru_cache(2048)(_split)


def _has_surrogates(text: str) -> bool:
    return re.search("[\ud800-\udfff]", text) is not None


def _no_value(name: str) -> None:
    """Nothing is known about variables set outside of the text."""


class _Feed(NamedTuple):
    """What a command finds on standard input; ``unseen`` when that is not all."""

    texts: Sequence[Field]
    unseen: bool


class _Place(NamedTuple):
    """Where code was found; ``span`` is ``None`` while offsets are those of the text given."""

    depth: int
    span: tuple[int, int] | None
    feed: _Feed | None
    lookup: Callable[[str], str | None]


class _Splitter:
    """Collects the commands of one text and of all the code inside it."""

    def __init__(self) -> None:
        self.unreadable = False
        self._commands: list[SimpleCommand] = []
        self._substitutes = False
        self._writes_files = False
        self._texts = 0
        self._grammar = 0

    def result(self) -> ShellText:
        return ShellText(
            tuple(self._commands), self._substitutes, self._writes_files, self.unreadable
        )

    def read(self, code: str, place: _Place) -> None:
        """Add every command of ``code``."""
        self._texts += 1
        if place.depth > MAX_DEPTH or self._texts > _MAX_TEXTS or len(code) > MAX_BYTES:
            self.unreadable = True
            return
        reading = Reading(code)
        text = TextReader(reading, place.depth, place.lookup)
        self._substitutes |= reading.substitutes
        self._writes_files |= reading.writes_files
        self.unreadable |= reading.broken
        feeds: dict[Command, _Feed] = {}
        for script in text.scripts:
            feeds.update(_piped(script, self._check(script)))
        around = _around(text, bool(feeds) or reading.substitutes) or place.feed
        for item in text.found:
            depth, span = item.script.depth, place.span or (item.start, item.end)
            if not isinstance(item, Command):
                self.read(item.text, _Place(depth + 1, span, place.feed, text.lookup))
            elif item.words:
                feed = _own(item) or feeds.get(item) or around
                self._emit(item.words, _Place(depth, span, feed, text.lookup))

    def _check(self, script: Script) -> Structure:
        """Compare our reading of a script with the grammar's, which also knows of its pipes."""
        skeleton = script.skeleton
        self._grammar += len(skeleton)
        seen = structure(skeleton) if self._grammar <= _MAX_GRAMMAR else UNKNOWN
        if not seen.sound or seen.commands != script.marks.keys():
            self.unreadable = True
        return seen

    def _emit(self, words: Sequence[Field], place: _Place) -> None:
        """Add one command, and whatever it has run in its turn."""
        unwrapped = unwrap(words)
        start, end = place.span or (0, 0)
        self._commands.append(
            SimpleCommand(
                words=tuple(as_text(word.text) for word in unwrapped.words),
                full=tuple(as_text(word.text) for word in words),
                exact=not unwrapped.fed and all(word.exact for word in words),
                wrappers=unwrapped.wrappers,
                start=start,
                end=end,
                depth=place.depth,
            )
        )
        self.unreadable |= not unwrapped.words[0].exact
        for inner in carried(unwrapped.words):
            self._follow(inner, place._replace(depth=place.depth + 1))

    def _follow(self, inner: Inner, place: _Place) -> None:
        if isinstance(inner, Argv):
            if place.depth > MAX_DEPTH:
                self.unreadable = True
            else:
                self._emit(inner.words, place)
        elif isinstance(inner, Code):
            self.unreadable |= not inner.text.exact
            lookup = place.lookup if inner.same_shell else _no_value
            self.read(inner.text.text, place._replace(lookup=lookup))
        elif not isinstance(inner, Stdin):
            self.unreadable = True
        elif place.feed is not None:
            self.unreadable |= place.feed.unseen
            for text in place.feed.texts:
                self._follow(Code(text), place._replace(feed=None))


def _own(command: Command) -> _Feed | None:
    """What the command's own redirections put on its standard input."""
    return None if command.fed is None else _Feed(command.inputs, command.fed)


def _piped(script: Script, seen: Structure) -> dict[Command, _Feed]:
    """What the pipes of a script put on the standard input of the commands in it."""
    feeds: dict[Command, _Feed] = {}
    commands = [(mark, command) for mark, command in script.marks.items() if command is not None]
    for pipe in seen.pipes:
        written: list[Field] = []
        for mark, command in commands:
            if pipe.left[0] <= mark < pipe.left[1] and command.words:
                written += literal_output(command.words, command.inputs)
            elif pipe.right[0] <= mark < pipe.right[1]:
                feeds[command] = _Feed(written, unseen=True)
    return feeds


def _around(text: TextReader, redirected: bool) -> _Feed | None:
    """What a command without input of its own might find, in a function or compound command."""
    commands = [item for item in text.found if isinstance(item, Command)]
    given = [field for script in text.scripts for fields in script.inputs for field in fields]
    given += [field for command in commands for field in command.inputs]
    redirected = redirected or any(script.inputs for script in text.scripts)
    if given or redirected or any(command.fed is not None for command in commands):
        return _Feed(given, unseen=True)
    return None
