"""Turns shell text into the commands it would run, following code inside code."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from hookline.shell.budget import Budget, Exhausted
from hookline.shell.carriers import carried, carries, find_copied_files, programs_in
from hookline.shell.feeds import Feed, around, own, piped_into, written
from hookline.shell.fields import NOTHING, Field, Reading, Scope, as_source, as_text, joined
from hookline.shell.inner import Argv, Code, Inner, Stdin, without_schedule
from hookline.shell.model import MAX_BYTES, MAX_DEPTH, STDIN, Redirection, ShellText, SimpleCommand
from hookline.shell.plain import PlainCommand, plain_commands
from hookline.shell.script import Command, Script
from hookline.shell.settling import SETTERS, cut_value
from hookline.shell.wrappers import unwrap
from hookline.shell.wrapping import wrapper_named

if TYPE_CHECKING:
    from hookline.shell.grammar import Structure

__all__ = ["split"]

# Steps for one text inside another, and characters of skeletons that the grammar may be given.
_TEXT_STEPS = 12
_MAX_GRAMMAR = 4096
_MAX_CACHED = 4096

# Most commands are words and spaces, of which no shell makes anything else: there is no syntax to
# read. A first word such as `if` or `A=b` would be some, and so are `~` and `x=~` in a later one.
_WORDS_ONLY = re.compile(
    r"(?!(?:if|while|until|for|select|case|function|then|else|elif|do|fi|done|esac|time|coproc)\b)"
    # Every word can be read in one way only: a text that fails late must not be tried in many.
    r"[\w./:@%+][\w./:@%+,-]*+(?: (?:[\w./:@%+,][\w./:@%+,-]*+|-[\w./:@%+,=-]*+))*+",
    re.ASCII,
)

_IN_BRACES = r"(?:[^{}`]|\$\{(?:[^{}`]|\$\{[^{}`]*\})*\})*"
_VARIABLE = re.compile(rf"\$(?:(\w+)|\{{!?(\w+){_IN_BRACES}\}})", re.ASCII)
# What a text may stand for, and characters of a value that was put together.
_MAX_CHOICES = 32
_MAX_VALUE = 4096
# A shell works out subscripts, even those of names in quotes.
_WORKED_OUT = re.compile(r"\[(?:\$\(|`)")
_SUBSTITUTED = re.compile(r"\$\(|`")
_CODE_OPTION = re.compile(r"-\w*c")
_ASSIGNED = re.compile(r"^[-\w\[\]]*\+?=")
_DECLARED = re.compile(r"(\w+(?:\[.*?\])?\+?)=(.*)", re.ASCII | re.DOTALL)
# A newline that is escaped may stand between a dollar and what it expands; this moves it in front.
_TORN = re.compile(r"(\\[^\n])|\$((?:\\\n)+)")


def split(text: str) -> ShellText:
    """Every simple command ``text`` would run, and what about it could not be seen."""
    return _split_cached(text) if len(text) <= _MAX_CACHED else _split_long(text)


def _split(text: str) -> ShellText:
    source = as_source(text)
    if len(source) > MAX_BYTES:
        return ShellText(unreadable=True, incomplete=True)
    splitter = _Splitter()
    splitter.unreadable = not text.isascii() and _has_surrogates(text)
    try:
        if "\0" in source:
            # No shell can be given a NUL; those that read one from a file act as if it were none.
            splitter.unreadable = True
            splitter.read(source.replace("\0", ""), _Place(0, (0, len(source)), None, NOTHING))
        elif (plain := plain_commands(source)) is not None:
            splitter.read_plain(plain)
        elif _WORDS_ONLY.fullmatch(source):
            splitter.read_words(source)
        else:
            splitter.read(source, _Place(0, None, None, NOTHING))
        splitter.follow_doubts()
    except Exhausted:
        splitter.unreadable = splitter.incomplete = True
    return splitter.result()


# A few only: what is kept for long pushes what is needed out of the processor's caches.
_split_cached = lru_cache(64)(_split)
# Guards and grants ask about the same text, one after the other.
_split_long = lru_cache(2)(_split)


def _has_surrogates(text: str) -> bool:
    return re.search("[\ud800-\udfff]", text) is not None


class _Place(NamedTuple):
    """Where code was found; ``span`` is ``None`` while offsets are those of the text given."""

    depth: int
    span: tuple[int, int] | None
    feed: Feed | None
    scope: Scope


class _Splitter:
    """Collects the commands of one text and of all the code inside it."""

    def __init__(self) -> None:
        self.unreadable = False
        self.incomplete = False
        self._budget = Budget()
        self._commands: list[SimpleCommand] = []
        self._redirections: list[Redirection] = []
        self._heredocs: list[str] = []
        self._inputs: dict[int, tuple[str, ...]] = {}
        self._sources: dict[int, tuple[str, ...]] = {}
        self._assigned: list[tuple[str, str]] = []
        self._substitutes = False
        self._writes_files = False
        self._assumes = False
        self._grammar = 0
        # Input already read as code, and where it came from: once tells all that there is.
        self._followed: dict[tuple[int, Stdin], Feed] = {}
        self._fed: set[Field] = set()
        # Words whose program cannot be told, and what commands evidently print.
        self._doubts: list[tuple[Sequence[Field], _Place]] = []
        self._outputs: dict[str, None] = {}
        self._values: dict[str, dict[str, None]] = {}
        # Words and input with blanks in them, any of which may be the code.
        self._told: dict[str, Scope] = {}
        # Whether some value is expanded as a prompt is.
        self._prompts = False

    def result(self) -> ShellText:
        return ShellText(
            tuple(self._commands),
            tuple(self._redirections),
            tuple(self._heredocs),
            self._inputs,
            self._sources,
            tuple(self._assigned),
            substitutes=self._substitutes,
            writes_files=self._writes_files,
            unreadable=self.unreadable,
            incomplete=self.incomplete,
            assumes=self._assumes,
        )

    def read(self, code: str, place: _Place) -> None:
        """Add every command of ``code``."""
        self._budget.spend(_TEXT_STEPS)
        if place.depth > MAX_DEPTH or len(code) > MAX_BYTES:
            self.unreadable = self.incomplete = True
            return
        # Words alone need no reader, and reading takes a while to load.
        from hookline.shell.texts import TextReader

        if "$\\\n" in code:
            code = _TORN.sub(lambda found: found[1] or f"{found[2]}$", code)
        self._prompts |= "@P}" in code
        reading = Reading(code, self._budget)
        text = TextReader(reading, place.depth, place.scope)
        self._note(reading)
        feeds: dict[Command, Feed] = {}
        doubtful = False
        for script in text.scripts:
            seen = self._check(script)
            doubtful |= not seen.sound
            if seen.pipes:
                feeds.update(self._piped(script, seen))
            script.let_go()
        doubt = self._budget if doubtful else None
        redirected = bool(feeds) or reading.substitutes or "coproc" in code
        fed = around(text, doubt, redirected) or place.feed
        numbers: dict[Command, int] = {}
        for item in text.found:
            depth, span = item.script.depth, place.span or (item.start, item.end)
            if not isinstance(item, Command):
                inside = _Place(depth + 1, span, place.feed, text.scope)
                (self._read_doubted if item.doubted else self.read)(item.text, inside)
                continue
            feed = own(item) or feeds.get(item) or fed
            where = _Place(depth, span, feed, text.scope)
            if item.assigned:
                self._follow_all(programs_in(self._assign(item.assigned)), where)
            for each in (*item.words[1:], *(value for _, value in item.assigned), *item.inputs):
                self._read_quoted(each, where)
            self._outputs.update((given.text, None) for given in item.inputs)
            if item.words:
                self._outputs.update((text, None) for text, _ in written(item, self._budget))
                numbers[item] = len(self._commands)
                if item.inputs:
                    given = tuple(as_text(each.text) for each in item.inputs)
                    self._inputs[len(self._commands)] = given
                self._emit(item.words, where)
        self._follow_all(programs_in(self._assign(reading.defaults)), place)
        # Also those of loops, tests and arrays, and the input of compound commands.
        others = [word for word, _, _ in reading.literals]
        others += [value for _, value in reading.defaults]
        others += [word for script in text.scripts for words in script.inputs for word in words]
        for word in others:
            span = place.span or (0, len(code))
            self._read_quoted(word, place._replace(span=span, scope=text.scope))
        self._redirections += [
            Redirection(
                operator,
                as_text(target.text),
                target.exact,
                () if command is None else _texts(command.words),
                -1 if command is None else numbers.get(command, -1),
                start if place.span is None else place.span[0],
                command is None or bool(command.inputs),
            )
            for command, operator, target, start in reading.redirects
        ]

    def _assign(self, given: Iterable[tuple[str, Field]]) -> list[tuple[str, Field]]:
        """Keep what variables, or elements of them, may be from now on, and return which."""
        named: list[tuple[str, Field]] = []
        for target, value in given:
            name = re.split(r"[\[+]", target, maxsplit=1)[0]
            named.append((name, value))
            values = self._values.setdefault(name, {})
            before = next(reversed(values), "") if target.endswith("+") else ""
            known = value.text if value.text or value.exact else "\0"
            if before and len(before) + len(known) <= _MAX_VALUE:
                self._assigned.append((name, as_text(known)))
                values[known] = None
                known = before + known
            self._assigned.append((name, as_text(known)))
            values[known] = None
        return named

    def _read_quoted(self, word: Field, place: _Place) -> None:
        """Read the code that a shell runs in a word although it is quoted."""
        if not word.exact:
            return
        text = _ASSIGNED.sub("", word.text)
        if " " in text:
            self._told.setdefault(text, place.scope)
            # What is an assignment here may be the first command there.
            self._told.setdefault(word.text, place.scope)
        for code_in in (_WORKED_OUT, _SUBSTITUTED) if self._prompts else (_WORKED_OUT,):
            found = code_in.search(text)
            code = f": {text[found.start() :]}" if found is not None else ""
            if code and self._is_new(Field(code)):
                self._read_doubted(code, place._replace(depth=place.depth + 1))

    def _read_doubted(self, code: str, place: _Place) -> None:
        """As ``read``, of what may be no code at all: nothing is broken if it cannot be read."""
        known = self.unreadable, self.incomplete
        self.read(code, place)
        self.unreadable, self.incomplete = known

    def read_words(self, code: str) -> None:
        """As ``read``, of one command in which nothing is written but words."""
        self._budget.spend(_TEXT_STEPS)
        words = [Field(word) for word in code.split(" ")]
        self._emit(words, _Place(0, (0, len(code)), None, NOTHING))

    def read_plain(self, commands: Sequence[PlainCommand]) -> None:
        """As ``read``, of commands that need no reader."""
        self._budget.spend(_TEXT_STEPS)
        for at, command in enumerate(commands):
            words, start, end, _, globs = command
            self._told.update((_ASSIGNED.sub("", word), NOTHING) for word in words if " " in word)
            name = words[0].rpartition("/")[2]
            if wrapper_named(name) is None and not carries(name):
                self._budget.spend(4 + len(words) // 4)
                self._budget.spend(at - command.pipeline)
                self._note_sources(piped_into(commands, at) if command.pipeline != at else None)
                full = words if all(map(str.isascii, words)) else tuple(map(as_text, words))
                self._commands.append(SimpleCommand(full, full, not globs, (), start, end, 0))
                continue
            feed = piped_into(commands, at)
            self._emit(command.fields, _Place(0, (start, end), feed, NOTHING))

    def _note(self, reading: Reading) -> None:
        self._substitutes |= reading.substitutes
        self._writes_files |= reading.writes_files
        self._assumes |= reading.assumes
        self.unreadable |= reading.broken
        self.incomplete |= reading.incomplete
        self._heredocs += map(as_text, reading.heredocs)

    def _check(self, script: Script) -> "Structure":
        """Compare our reading of a script with the grammar's, which also knows of its pipes."""
        from hookline.shell.grammar import UNKNOWN, structure

        skeleton = script.skeleton
        self._grammar += len(skeleton)
        seen = structure(skeleton) if self._grammar <= _MAX_GRAMMAR else UNKNOWN
        if not seen.sound or seen.commands != script.marks.keys():
            self.unreadable = True
        return seen

    def _emit(self, words: Sequence[Field], place: _Place) -> None:
        """Add one command, and whatever it has run in its turn."""
        self._budget.spend(4 + len(words) // 4)
        unwrapped = unwrap(words, self._budget)
        start, end = place.span or (0, 0)
        self._note_sources(place.feed)
        full = _texts(words)
        self._commands.append(
            SimpleCommand(
                words=_texts(unwrapped.words) if unwrapped.wrappers else full,
                full=full,
                exact=not unwrapped.fed
                and all(word.exact for word in words)
                and all(word.exact for word in unwrapped.words),
                wrappers=unwrapped.wrappers,
                start=start,
                end=end,
                depth=place.depth,
            )
        )
        if not unwrapped.words[0].exact:
            self.unreadable = True
            self._doubts.append((unwrapped.words, place))
        if unwrapped.assigned:
            self._follow_all(programs_in(self._assign(unwrapped.assigned)), place)
        if unwrapped.words[0].text in SETTERS:
            given = (_DECLARED.fullmatch(word.text) for word in unwrapped.words[1:])
            self._assign((each[1], Field(each[2])) for each in given if each is not None)
        self._follow_all(carried(unwrapped.words), place)
        if unwrapped.wrappers and unwrapped.words[0].exact and " " in unwrapped.words[0].text:
            # Some give it to a shell: `cross-env-shell 'a && b'`.
            self._follow(Code(unwrapped.words[0]), place._replace(depth=place.depth + 1))

    def _note_sources(self, feed: Feed | None) -> None:
        if feed is not None and (files := _texts(feed.files)) != (STDIN,):
            self._sources[len(self._commands)] = files

    def _follow_all(self, inners: Iterable[Inner], place: _Place) -> None:
        for inner in inners:
            self._follow(inner, place._replace(depth=place.depth + 1))

    def _follow(self, inner: Inner, place: _Place) -> None:
        if isinstance(inner, Argv):
            if place.depth > MAX_DEPTH:
                self.unreadable = self.incomplete = True
            else:
                self._emit(inner.words, place)
        elif isinstance(inner, Code):
            if not inner.text.exact:
                self._doubt(inner.text.text, place)
            arguments = inner.arguments
            scope = NOTHING._replace(arguments=lambda: arguments) if arguments else NOTHING
            scope = place.scope if inner.same_shell else scope
            self.read(inner.text.text, place._replace(scope=scope))
        elif not isinstance(inner, Stdin):
            self._doubt(inner.source, place)
        elif place.feed is not None:
            self._follow_feed(place.feed, inner, place._replace(feed=None))

    def _doubt(self, source: str, place: _Place) -> None:
        self.unreadable = True
        self._doubts.append(((Field(source, exact=False),), place))

    def follow_doubts(self) -> None:
        """Read what may stand in place of programs and code that the text does not show.

        That is what it gives the variables there, prints in the substitutions there, or has as a
        word anywhere: an argument may be the code that a function is given.
        """
        for (source, *rest), place in self._doubts:
            possible = list(self._possible(source.text))
            printed = source.text.startswith(("$(", "<(", "`"))
            if printed:
                possible += self._outputs
            # Once is enough, unless what was read since gives it one more value.
            if not self._is_new(
                joined([source, *rest, Field(f"{len(possible)} {len(self._told)}")])
            ):
                continue
            self._budget.spend(len(possible))
            for text in possible:
                code = joined([Field(text), *rest])
                if self._is_new(code):
                    self._follow(Code(code), place._replace(depth=place.depth + 1))
            # A program with other words is no shell: `$PYTHON -m build`.
            is_code = not (printed or rest) or (rest and _CODE_OPTION.fullmatch(rest[0].text))
            for text, scope in list(self._told.items()) if is_code else ():
                if self._is_new(Field(text)):
                    self._read_doubted(text, place._replace(depth=place.depth + 1, scope=scope))

    def _possible(self, source: str) -> Iterator[str]:
        """What a text may be with each of its variables put in place, if all have some value."""
        values = [
            [cut_value(each[0], value) for value in self._held(each[1] or each[2])]
            for each in _VARIABLE.finditer(source)
        ]
        for chosen in islice(product(*values), _MAX_CHOICES if values else 0):
            text = _VARIABLE.sub("\0", source)
            for value in chosen:
                text = text.replace("\0", value, 1)
            yield text

    def _held(self, name: str) -> list[str]:
        """The values of a variable, and those of what it may be the name of."""
        if name == "IFS":
            return [" "]
        known = list(self._values.get(name, ()))
        known += [value for other in known for value in self._values.get(other, ())]
        return [value for value in known if "\0" not in value]

    def _follow_feed(self, feed: Feed, inner: Stdin, place: _Place) -> None:
        if feed.unseen:
            self._doubt("", place)
        if (id(feed), inner) in self._followed:
            return
        self._followed[id(feed), inner] = feed
        for given in feed.texts:
            text = without_schedule(given) if inner.scheduled else given
            if self._is_new(text):
                self._follow(Code(text), place)

    def _is_new(self, code: Field) -> bool:
        before = len(self._fed)
        self._fed.add(code)
        return len(self._fed) > before

    def _piped(self, script: Script, seen: "Structure") -> dict[Command, Feed]:
        """What the pipes of a script put on the standard input of the commands in it."""
        feeds: dict[Command, Feed] = {}
        marks = sorted(script.marks)
        commands = [script.marks[mark] for mark in marks]
        output = [[] if command is None else written(command, self._budget) for command in commands]
        for pipe in seen.pipes:
            first, last = (bisect_left(marks, edge) for edge in pipe.left)
            given = [field for fields in output[first:last] for field in fields]
            self._budget.spend(len(given) + last - first)
            files = find_copied_files(
                (unwrap(each.words, self._budget).words if each.words else (), each.file)
                for each in filter(None, commands[first:last])
            )
            feed = Feed(given, unseen=True, files=files)
            first, last = (bisect_left(marks, edge) for edge in pipe.right)
            feeds.update((each, feed) for each in commands[first:last] if each is not None)
        return feeds


def _texts(words: Sequence[Field]) -> tuple[str, ...]:
    return tuple([text if text.isascii() else as_text(text) for text, _ in words])
