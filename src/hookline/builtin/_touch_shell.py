"""Which files a shell text touches: its commands, redirections and the programs inside it.

Follows `cd`, the variables that are known and what one program gives another to run. Where it
cannot follow, it says what the text mentions, and that this is not sure.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice, pairwise

from msgspec import Struct

from hookline.builtin._globbing import Lookup, TooManyError
from hookline.builtin._paths import Places
from hookline.builtin._touch_code import INTERPRETERS, Right, Use, code_uses
from hookline.builtin._touch_programs import find_excluded, uses
from hookline.builtin._touch_where import Whereabouts
from hookline.files import text_of
from hookline.model.tools import patched_paths
from hookline.shell import MAX_BYTES, ShellText, SimpleCommand, split

__all__ = ["Touch", "shell_touches"]

# Not a program that is installed: Codex knows these two, and makes the patch itself.
_PATCHERS = frozenset({"apply_patch", "applypatch"})
_DELETED = re.compile(r"(?m)^[ \t]*\*\*\* Delete File:(.*)$")


def _patch_uses(text: str, programs: Sequence[str]) -> Iterator[Use]:
    """The files that the patches in a text change, if one of its programs makes them."""
    if "*** " not in text or _PATCHERS.isdisjoint(programs):
        return
    gone = {path.strip() for path in _DELETED.findall(text)}
    for path in patched_paths(text):
        yield Use(path, Right.DELETE if path in gone else Right.WRITE)


# A diff may be made by any shell: the files that it names, whichever directory it leaves out.
_DIFFED = re.compile(r'(?m)^[ \t]*(?:\+\+\+|---|rename to|copy to) "?([^\t\n"]+)')
_LARGEST_DIFF, _MAX_DIFFS = 1 << 20, 20
_TRIES = frozenset({"--check", "--dry-run", "--numstat", "--stat", "--summary"})


def _takes_diff(command: SimpleCommand) -> bool:
    """Whether it changes the files that a diff names: ``patch``, ``git apply`` and ``git am``."""
    if command.name == "git":
        found = not {"apply", "am"}.isdisjoint(command.words[1:6])
    else:
        found = command.name == "patch"
    return found and _TRIES.isdisjoint(command.words)


_MENTION = re.compile(r"[^\s'\"`;|&<>()=,:{}$@\\]+")
_SIGNS = re.compile(r"[*?\[]")
_CHDIR = frozenset({"-C", "--chdir", "--directory", "--prefix", "--work-tree"})
_CHDIRS = tuple(_CHDIR)
# No words that anything is done to.
_NOTHING = frozenset({"", "-", "{}"})
_MOVERS = frozenset({"cd", "chdir", "pushd"})
_SPEAKERS = frozenset({"echo", "printf"})
# They move the shell, make a program of what they say, or take patches.
_INVOLVED = _MOVERS | _SPEAKERS | _PATCHERS
_MAX_COPIED = 500


class Touch(Struct, frozen=True):
    """One path that something is done to."""

    path: str
    right: Right
    sure: bool = True
    deep: bool = False
    glob: bool = False
    """Its `*` and `?` stand for whatever is there."""
    bases: tuple[str, ...] = ()
    """The directories it may be relative to."""
    lost: bool = False
    """It is relative to a directory that nobody knows."""
    made: bool = False
    """An empty directory is made there, and nothing else happens to it."""


def shell_touches(
    text: str, places: Places, project: str, env: Mapping[str, str]
) -> Iterable[Touch]:
    """Everything the text may do to files."""
    if len(text) > MAX_BYTES:
        return _mentions(text, places.bases)
    parsed = split(text)
    plain = _plain_touches(parsed, places.bases)
    return _Reader(text, parsed, places, project, env).touches() if plain is None else plain


def _plain_touches(parsed: ShellText, bases: tuple[str, ...]) -> Sequence[Touch] | None:
    """What commands do that only name files, as most do; None where there is more to a text."""
    if parsed.unreadable or parsed.incomplete:
        return None
    if parsed.redirections or parsed.inputs or parsed.heredocs:
        return None
    found: list[Touch] = []
    for command in parsed.commands:
        if not _is_plain(command):
            return None
        for use in uses(command.words):
            if use.inside:
                return None
            if use.word not in _NOTHING and "\n" not in use.word:
                glob = "*" in use.word
                found.append(
                    Touch(use.word, use.right, use.sure, use.deep, glob, bases, made=use.made)
                )
    return found


def _is_plain(command: SimpleCommand) -> bool:
    """Whether its words stand for themselves, and are all there is to it."""
    if not command.exact or command.wrappers or command.depth or command.name in _INVOLVED:
        return False
    if _takes_diff(command):
        return False
    return not any(word.startswith(_CHDIRS) for word in command.full)


def _mentions(text: str, bases: tuple[str, ...], left_out: Sequence[str] = ()) -> Iterator[Touch]:
    words = Counter(_MENTION.findall(text))
    words.subtract(_MENTION.findall(" ".join(left_out)))
    for word in +words:
        yield Touch(word, Right.USE, sure=False, bases=bases, glob=True)


class _Reader:
    """One text, while it is read from its first command to its last."""

    def __init__(
        self, text: str, parsed: ShellText, places: Places, project: str, env: Mapping[str, str]
    ) -> None:
        self.text = text
        self.parsed = parsed
        self.unclear = self.parsed.unreadable or self.parsed.incomplete
        self._names = [command.name for command in self.parsed.commands]
        self._bases = places.bases
        self._project = project
        self._env = env
        self._where = Whereabouts(text, places)
        # Where the shell may be for each command, and whether it may be anywhere.
        self._places: list[tuple[tuple[str, ...], bool]] = []

    def touches(self) -> Iterator[Touch]:
        """What each command does, then what the redirections do."""
        # Where nothing moves the shell, it is where it began.
        moves = not _MOVERS.isdisjoint(self._names)
        for name, command in zip(self._names, self.parsed.commands, strict=True):
            if moves:
                self._where.arrive(command)
            self._places.append((self._where.bases, self._where.lost))
            if name in _MOVERS:
                self._move(command)
            else:
                yield from self._command(command)
        yield from self._redirections()
        yield from self._fed()
        for use in _patch_uses(self.text, self._names):
            yield from self._touch(use, tuple(self._where.been), exact=True)
        if any(map(_takes_diff, self.parsed.commands)):
            yield from self._diffed()
        if self.unclear:
            left_out = [word for each in self.parsed.commands for word in find_excluded(each.words)]
            yield from _mentions(self.text, self._bases, left_out)

    def _diffed(self) -> Iterator[Touch]:
        """The files that diffs change, in the text itself or in files that it names."""
        commands = self.parsed.commands
        given = [
            word.partition("=")[2] if word.startswith("--") else word
            for command in commands
            if command.name == "cat" or _takes_diff(command)
            for word in command.words[1:]
        ]
        given += [each.target for each in self.parsed.redirections if not each.writes]
        bases = tuple(self._where.been)
        texts = [self.text, *("\n".join(each.words) for each in commands if each.name == "printf")]
        for word in filter(None, map(self._known, given)):
            paths: Iterable[str] = self._where.reach(bases, word)
            with suppress(TooManyError):
                if _SIGNS.search(word):
                    paths = [each.path for each in islice(self._lookup.there(paths), _MAX_DIFFS)]
                texts += (text_of(path, _LARGEST_DIFF) for path in paths)
        named = dict.fromkeys(path.strip() for text in texts for path in _DIFFED.findall(text))
        for path in named:
            for name in filter(None, (path.partition("/")[2], path)):
                if path != "/dev/null":
                    yield from self._touch(Use(name, Right.WRITE), bases, exact=True)

    # ── commands ────────────────────────────────────────────────────────────────────────────

    def _command(self, command: SimpleCommand) -> Iterator[Touch]:
        bases = self._own_bases(command)
        for use in uses(command.words):
            yield from self._touch(use, bases, exact=command.exact)
        if not command.exact and any(
            each.startswith(("xargs", "parallel")) for each in command.full[:2]
        ):
            self.unclear = True

    def _move(self, command: SimpleCommand) -> None:
        options = ("-L", "-P", "-e", "-n", "--")
        given = next((each for each in command.words[1:] if each not in options), "~")
        target = self._known(given)
        if _UNKNOWN.search(target) or target == "-" or _SIGNS.search(target):
            self._where.lost = True
        else:
            self._where.move(target)

    def _own_bases(self, command: SimpleCommand) -> tuple[str, ...]:
        """Also the directory that an option such as ``env -C`` or ``git -C`` names."""
        if not any(word.startswith(_CHDIRS) for word in command.full):
            return self._where.bases
        named = [value for key, value in pairwise(command.full) if key in _CHDIR]
        named += [
            value
            for key, joined, value in (word.partition("=") for word in command.full)
            if joined and key in _CHDIR
        ]
        found = dict.fromkeys(self._where.bases)
        for each in named:
            found |= dict.fromkeys(self._where.reach(self._where.bases, self._known(each)))
        return tuple(found)

    # ── words ───────────────────────────────────────────────────────────────────────────────

    def _known(self, word: str) -> str:
        return known(word, self._project, self._env)

    def _touch(self, use: Use, bases: tuple[str, ...], *, exact: bool) -> Iterable[Touch]:
        word = use.word
        if use.inside or not (exact or _is_literal(word)):
            return self._spread(use, bases, exact=exact)
        if word in _NOTHING or "\n" in word:
            return ()
        glob, lost = not exact or "*" in word, self._where.lost
        return (Touch(word, use.right, use.sure, use.deep, glob, bases, lost, use.made),)

    def _spread(self, use: Use, bases: tuple[str, ...], *, exact: bool) -> Iterator[Touch]:
        """The same of a word of which it has to be found out what it stands for."""
        word = use.word if exact else self._known(use.word)
        if word in _NOTHING or "\n" in word:
            return
        if not exact and "{}" in word:
            # Whatever `xargs -I{}` or `find` puts there.
            spread = word.replace("{}", "*")
            yield Touch(spread, use.right, False, use.deep, True, bases, made=use.made)
        unknown = None if exact else _UNKNOWN.search(word)
        if use.inside and unknown is None:
            if not self._is_directory(os.path.dirname(word), bases):
                return
            if not exact and _SIGNS.search(os.path.basename(word)):
                yield from self._copied(use, os.path.dirname(word), bases)
                return
        if unknown is None:
            glob, lost = not exact or "*" in word, self._where.lost
            yield Touch(word, use.right, use.sure, use.deep, glob, bases, lost, use.made)
            return
        self.unclear = self.unclear or not use.made
        for values in self._assigned:
            guess = _guessed(word, values)
            if not _UNKNOWN.search(guess):
                lost = self._where.lost
                yield Touch(guess, use.right, False, use.deep, True, bases, lost, use.made)
        # `$X/.env` is an .env wherever it is, and `~/.claude/$F` one of those that lie there.
        tail = word[list(_UNKNOWN.finditer(word))[-1].end() :].lstrip("/")
        if tail:
            yield Touch(tail, use.right, True, use.deep, True, bases, True, use.made)
        if unknown.start():
            spread = _UNKNOWN.sub("*", word)
            yield Touch(spread, use.right, False, use.deep, True, bases, made=use.made)

    @cached_property
    def _assigned(self) -> list[dict[str, str]]:
        return assigned(self.text)

    def _copied(self, use: Use, folder: str, bases: tuple[str, ...]) -> Iterator[Touch]:
        """The files that a pattern puts into a directory, by the names they have now."""
        wholes = self._where.reach(bases, self._known(use.source))
        lost = self._where.lost
        try:
            for number, each in enumerate(self._lookup.there(wholes)):
                if number == _MAX_COPIED:
                    raise TooManyError
                path = os.path.join(folder, os.path.basename(each.path))
                yield Touch(path, use.right, bases=bases, lost=lost)
        except TooManyError:
            path = os.path.join(folder, "*")
            yield Touch(path, use.right, sure=False, glob=True, bases=bases, lost=lost)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.text, self._env)

    def _is_directory(self, path: str, bases: tuple[str, ...]) -> bool:
        """Whether it is one, or may be made one by the same text."""
        return "mkdir" in self.text or any(map(os.path.isdir, self._where.reach(bases, path)))

    # ── redirections, and programs in texts ─────────────────────────────────────────────────

    def _redirections(self) -> Iterator[Touch]:
        for each in self.parsed.redirections:
            here = (tuple(self._where.been), self._where.lost)
            bases, lost = self._places[each.number] if each.number >= 0 else here
            before, self._where.lost = self._where.lost, lost
            right = Right.WRITE if each.writes else Right.READ
            yield from self._touch(Use(each.target, right), bases, exact=each.exact)
            self._where.lost = before

    def _fed(self) -> Iterator[Touch]:
        """Programs that an interpreter is given on its standard input."""
        said = "|" in self.text and not _SPEAKERS.isdisjoint(self._names)
        given = [*self.parsed.heredocs, *chain.from_iterable(self.parsed.inputs.values())]
        if not said and not given:
            return
        if not any(map(INTERPRETERS.fullmatch, self._names)):
            return
        texts = given + [
            word
            for command in self.parsed.commands
            if said and command.name in _SPEAKERS
            for word in command.words[1:]
        ]
        for text in texts:
            for use in code_uses(text):
                yield from self._touch(use, tuple(self._where.been), exact=True)


_UNKNOWN = re.compile(r"\$\([^()]*\)|`[^`]*`|\$\{[^}]{0,200}\}|\$\w+|\$[@*#?!$-]")
"""What a shell puts something in the place of."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?[-=+?]([^}]{0,200}))?\})")
_HERE = re.compile(r"\$\(\s*pwd(?:\s+-[LP])?\s*\)|`\s*pwd\s*`|\$\{?PWD\}?(?!\w)")
_TOP = re.compile(r"\$\(\s*git rev-parse --show-toplevel\s*\)|`git rev-parse --show-toplevel`")
_HOME = re.compile(r"^(?:\$HOME|\$\{HOME\})(?=/|$)|^\$\(\s*echo\s+~\s*\)(?=/|$)")
_ASSIGNED = re.compile(r"""(?:^|[\s;&|({])(\w+)=([^\s;&|()'"$`]+|'[^'\n]*'|"[^"$`\n]*")""")


def _is_literal(word: str) -> bool:
    """Whether no variable, substitution or place for another word is in it."""
    return "$" not in word and "`" not in word and "{}" not in word


def known(word: str, project: str, env: Mapping[str, str]) -> str:
    """The word with what is known in place of its variables."""
    if "$" not in word and "`" not in word:
        return word
    word = _HOME.sub("~", word)
    word = _TOP.sub(lambda _: project or ".", _HERE.sub(".", word))

    def value(match: re.Match[str]) -> str:
        name, default = match[1] or match[2], match[3]
        return env.get(name) or (default if default is not None else match[0])

    return _VARIABLE.sub(value, word)


def assigned(text: str) -> list[dict[str, str]]:
    """What variables may be set to where that is left open: first to last, and the reverse."""
    found = [(name, value.strip("'\"")) for name, value in _ASSIGNED.findall(text)]
    return [dict(found), dict(reversed(found))] if found else []


def _guessed(word: str, values: Mapping[str, str]) -> str:
    """The word with these values; a name that none has may be a shorter one and what follows."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        fits = [each for each in values if name.startswith(each)]
        best = max(fits, key=len, default="")
        return values[best] + name[len(best) :] if best else match[0]

    return _VARIABLE.sub(value, word)
