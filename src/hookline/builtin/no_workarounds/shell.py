"""What a shell text would do: each of its commands, and every text that one of them runs.

Follows `cd`, variables, loops, pipes into `xargs`, and the scripts, makefiles and package scripts
that are there to be read when the text is about to run.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, pairwise
from os.path import join

from msgspec.structs import replace

from hookline.builtin._touch_code import INTERPRETERS, Right
from hookline.builtin._touch_programs import uses
from hookline.builtin._touch_special import operands
from hookline.builtin._touch_where import Whereabouts
from hookline.builtin.no_workarounds.branches import branch_doings
from hookline.builtin.no_workarounds.code import called
from hookline.builtin.no_workarounds.doings import Deed, Doing, Ground, on_paths
from hookline.builtin.no_workarounds.network import code_addressed, reached
from hookline.builtin.no_workarounds.programs import file_doings, patched
from hookline.builtin.no_workarounds.scripts import SYSTEM, recipes, script, text_of
from hookline.builtin.no_workarounds.words import Words, command_line, without_code
from hookline.shell import MAX_BYTES, Redirection, SimpleCommand, split

__all__ = ["code_doings", "shell_doings"]

_SHELLS = re.compile(r"(?:ba|z|da|k|a|fi)?sh|busybox|eval")
_MAX_COMMANDS = 500
_CHDIR = frozenset({"-C", "--chdir", "--directory", "--prefix", "--work-tree"})
_SILENT_WRITERS = frozenset({":", "true", "false"})
_MAX_REDIRECTIONS = 200
_TAKES_PATCH = frozenset({"patch", "git"})


def shell_doings(text: str, ground: Ground) -> Iterator[Doing]:
    """Everything that a shell text would do. Never raises for any text."""
    if len(text) > MAX_BYTES:
        ground.overdraw()
    else:
        yield from _Reader(text, ground).doings()


def code_doings(
    code: str,
    name: str,
    ground: Ground,
    bases: tuple[str, ...],
    args: tuple[str, ...] = (),
    file: str = "",
) -> Iterator[Doing]:
    """Everything that a text of another language would do."""
    for call in called(code, name, args, file):
        if call.did is Deed.UNREAD:
            ground.overdraw()
        elif call.did is Deed.RUN:
            inner = ground.inner(call.word, bases)
            if inner is not None:
                yield from shell_doings(call.word, inner)
        else:
            yield from on_paths(
                call.did, call.word, ground, bases, deep=call.deep, sure=call.sure, glob=True
            )
    yield from code_addressed(code)


class _Reader:
    """One text, while it is read from its first command to its last."""

    def __init__(self, text: str, ground: Ground) -> None:
        self._text = text
        self._ground = ground
        self._parsed = split(text)
        # More than anybody writes in one text.
        self._commands = ground.first(self._parsed.commands, _MAX_COMMANDS)
        # Where the shell may be for each command.
        self._places: list[tuple[str, ...]] = []
        self._where = Whereabouts(text, ground.places)
        self._words = Words(text, self._commands, ground)

    def doings(self) -> Iterator[Doing]:
        """What each command does, then what the redirections do."""
        for at, command in enumerate(self._commands):
            self._where.arrive(command)
            self._places.append(self._where.bases)
            if command.name in {"cd", "chdir", "pushd"}:
                target = next((each for each in command.words[1:] if each[:1] != "-"), "~")
                self._where.move(self._words.values(target)[0])
                continue
            yield from self._command(at, command)
        for found in self._ground.first(self._parsed.redirections, _MAX_REDIRECTIONS):
            yield from self._redirection(found)

    # ── commands ────────────────────────────────────────────────────────────────────────────

    def _command(self, at: int, command: SimpleCommand) -> Iterator[Doing]:
        words = self._words.of(at)
        found = list(self._done_by(command, words))
        for each in found:
            yield replace(each, by=(*each.by, command.name.lower()))
        # What touches nothing that is known by its name is known by its words.
        line = command_line(words) if all(each.did is Deed.RUN for each in found) else ""
        if line:
            yield Doing(did=Deed.RUN, target=line, by=(command.name.lower(),))

    def _done_by(self, command: SimpleCommand, words: Sequence[str]) -> Iterator[Doing]:
        bases = self._bases(command)
        name = command.name
        yield from branch_doings(words, bases)
        yield from reached(words)
        if INTERPRETERS.fullmatch(name):
            yield from self._interpreted(name, words, bases)
        else:
            yield from file_doings(words, bases, self._ground, exact=command.exact)
            yield from self._scripted(words, bases)
        if name in _TAKES_PATCH and {"apply", "am", "patch"} & {*words}:
            yield from self._patches(words, bases)

    def _bases(self, command: SimpleCommand) -> tuple[str, ...]:
        """Also the directory that an option such as ``env -C`` or ``git -C`` names."""
        named = [value for key, value in pairwise(command.full) if key in _CHDIR]
        found = [] if named else list(self._where.bases)
        for each in named:
            found += self._where.reach(self._where.bases, self._words.values(each)[0])
        return tuple(dict.fromkeys(found))

    def _scripted(self, words: Sequence[str], bases: tuple[str, ...]) -> Iterator[Doing]:
        """What is in a file that a shell, or nobody but the system, is given to run."""
        name = words[0].rpartition("/")[2]
        if _SHELLS.fullmatch(name) or name in {"source", "."}:
            if any(re.fullmatch(r"-\w*c", each) for each in words[1:]):
                return  # its code is among the commands
            given = [*operands(words[1:])]
            if not given:
                for each in self._fed_files:
                    yield from self._file([each], "", bases)
                for text in self._decoded:
                    yield from self._inside(text, "sh", (), bases)
        elif "/" in words[0] and not words[0].startswith(SYSTEM):
            given = list(words)
        else:
            yield from self._recipes(words, bases)
            return
        yield from self._file(given, "", bases)

    def _recipes(self, words: Sequence[str], bases: tuple[str, ...]) -> Iterator[Doing]:
        for text in recipes(words, bases, self._ground):
            yield from self._inside(text, "sh", (), bases)

    def _file(self, given: Sequence[str], name: str, bases: tuple[str, ...]) -> Iterator[Doing]:
        """What a script does with what it is given."""
        if not given:
            return
        yield from on_paths(Deed.RUN, given[0], self._ground, bases)
        args = tuple(given[1:])
        for text in self._written_here(given[0], bases):
            yield from self._inside(text, name or "sh", args, bases)
        found = script(given[0], bases, self._ground)
        if found is not None:
            kind = "sh" if found.shell and not name else name or "python"
            yield from self._inside(found.text, kind, args, bases, found.path)

    def _inside(
        self, text: str, name: str, args: tuple[str, ...], bases: tuple[str, ...], file: str = ""
    ) -> Iterator[Doing]:
        inner = self._ground.inner(text, bases, args)
        if inner is None:
            return
        if name == "sh":
            yield from shell_doings(text, inner)
        else:
            yield from code_doings(text, name, inner, bases, args, file)

    def _interpreted(
        self, name: str, words: Sequence[str], bases: tuple[str, ...]
    ) -> Iterator[Doing]:
        code, rest = without_code(name, words)
        args = tuple(operands(rest))
        if args[:1] == ("run",):  # as `bun` and `deno` have it
            yield from self._recipes(words, bases)
            args = args[1:]
        for text in code:
            yield from code_doings(text, name, self._ground, bases, args)
        if name.startswith(("perl", "ruby")) and any(
            re.match(r"-\w*i", each) for each in words[1:]
        ):
            for each in args:
                yield from on_paths(Deed.WRITE, each, self._ground, bases, glob=True)
        elif name.endswith("awk") or (code and re.search(r"(?:^| )-\w*[np]", " ".join(words[1:2]))):
            for each in args:
                yield from on_paths(Deed.READ, each, self._ground, bases, glob=True)
        elif not code and args and "-" not in words[1:2]:
            module = f"{args[0].replace('.', '/')}.py" if "-m" in words else args[0]
            yield from self._file([module, *args[1:]], name, bases)
        elif not code:
            for text in self._fed(bases):
                yield from code_doings(text, name, self._ground, bases, args)

    def _patches(self, words: Sequence[str], bases: tuple[str, ...]) -> Iterator[Doing]:
        given = (text_of(each, bases, self._ground) for each in operands(words[1:]))
        for text in [*self._fed(bases), *(found[1] for found in given if found is not None)]:
            yield from patched(text, bases, self._ground)

    # ── texts inside the text ───────────────────────────────────────────────────────────────

    @cached_property
    def _texts(self) -> list[str]:
        """Here-documents, and what is printed: whatever may become a file or a program's input."""
        printed = [
            " ".join(command.words[1:]).replace("\\n", "\n")
            for command in self._commands
            if command.name in {"echo", "printf"}
        ]
        return [*self._parsed.heredocs, *printed]

    def _fed(self, bases: tuple[str, ...]) -> Iterator[str]:
        """What a program may be given on its standard input."""
        yield from self._texts
        yield from chain.from_iterable(self._parsed.inputs.values())
        for each in self._fed_files:
            found = text_of(each, bases, self._ground)
            if found is not None:
                yield found[1]

    @cached_property
    def _decoded(self) -> list[str]:
        """What base64 hides in the text itself."""
        found = []
        if any(command.name in {"base64", "gbase64"} for command in self._commands):
            for text in self._texts:
                with suppress(binascii.Error, ValueError):
                    found.append(base64.b64decode(text.strip(), validate=True).decode())
        return found

    @cached_property
    def _fed_files(self) -> list[str]:
        """The files that are put on somebody's standard input."""
        found = [each.target for each in self._parsed.redirections if not each.writes]
        cats = [command for command in self._commands if command.name == "cat"]
        return found + [word for command in cats for word in command.words[1:]]

    def _written_here(self, word: str, bases: tuple[str, ...]) -> list[str]:
        """The texts that may be in a file by then, when this text writes it before it runs it."""
        whole = {join(base, each) for base in bases for each in self._written}
        return self._texts if {word.removeprefix("./"), word} & (self._written | whole) else []

    @cached_property
    def _written(self) -> set[str]:
        """The files that the text writes, as it calls them."""
        found = [each.target for each in self._parsed.redirections if each.writes]
        for command in self._commands:
            found += [use.word for use in uses(command.words) if use.right is Right.WRITE]
        return {each.removeprefix("./") for each in found}

    # ── redirections ────────────────────────────────────────────────────────────────────────

    def _redirection(self, found: Redirection) -> Iterator[Doing]:
        known = 0 <= found.number < len(self._places)
        bases = self._places[found.number] if known else tuple(self._where.been)
        did = Deed.READ
        if found.writes:
            did = Deed.EMPTY if _says_nothing(found) else Deed.WRITE
        for value in self._words.values(found.target):
            yield from on_paths(did, value, self._ground, bases, glob=True)


def _says_nothing(found: Redirection) -> bool:
    """Whether what is sent there leaves the file empty."""
    if ">>" in found.operator:
        return False
    if not found.words:
        # Without a command the file is only opened; behind a group it gets what that says.
        return not found.fed
    name = found.words[0].rpartition("/")[2]
    said = [each for each in found.words[1:] if each.strip() and each != "-n"]
    return (
        name in _SILENT_WRITERS
        or (name == "cat" and said == ["/dev/null"])
        or (name in {"echo", "printf"} and not said)
    )
