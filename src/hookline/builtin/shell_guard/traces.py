"""What a list of commands does not show: redirections, assignments, here-documents, loops.

Comes from the same reading as what ``split`` says, which passes over it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from hookline.builtin.shell_guard.lazy import lazy
from hookline.shell import ShellText, literal_words
from hookline.shell.beside import Beside, read_beside
from hookline.shell.budget import MAX_STEPS, Budget
from hookline.shell.fields import as_text
from hookline.shell.script import Command
from hookline.shell.splitting import beside

__all__ = ["MAX_REDIRECTS", "Redirect", "Traces", "trace"]

# Without a redirection that matters, an assignment or a loop there is nothing to be found; an
# option such as `--out=x` is no assignment.
_NEEDED = lazy(
    r"<|>(?!&[12](?:[\s;&|)]|$))(?! ?/dev/null(?:[\s;&|)]|$))"
    r"|(?:^|[\s;&|(){}`!\\'\"])[A-Za-z_]\w*(?:\[[^\]\s]*\])?\+?=|HOOKLINE_|\bfor\b",
    re.ASCII,
)
_LOOP = lazy(r"\bfor\s+([A-Za-z_]\w*)\s+in\s+([^;\n]*?)\s*(?:;|\n)\s*do\b")
_CODE = frozenset({
    "bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "eval", "su", "ssh", "watch", "script",
    "flock", "xargs", "parallel", "trap", "timeout", "runuser", "find", "docker", "kubectl", "at",
})  # fmt: skip
_WRITES = lazy(r">|<<|HOOKLINE_")
_MAX_TEXTS = 32
# Redirections of one text that are looked at; one more tells that there are more.
MAX_REDIRECTS = 500


class Redirect(Struct, frozen=True):
    """Output sent to a file."""

    operator: str
    target: str
    exact: bool
    command: tuple[str, ...]
    """Whose output it is; empty when the file is only opened."""
    start: int
    fed: bool = False
    """Whether a here-document gives that command something to write."""


class Traces(Struct, frozen=True, kw_only=True):
    """Everything beside the commands of one text."""

    redirects: tuple[Redirect, ...] = ()
    sources: tuple[str, ...] = ()
    """Files that are read by ``<``."""
    read_by: Mapping[int, tuple[str, ...]] = {}
    """The same by where the command begins that reads them; none of code inside code."""
    assigned: tuple[tuple[str, str], ...] = ()
    inputs: Mapping[int, tuple[str, ...]] = {}
    """Here-documents by where the command they are for begins."""
    variables: Mapping[str, tuple[str, ...]] = {}
    aliases: Mapping[str, tuple[str, ...]] = {}
    complete: bool = True
    """False when there was more code than is read."""

    def aliased(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words with an alias at their head put out."""
        return (*self.aliases[words[0]], *words[1:]) if words[0] in self.aliases else words


_NOTHING = Traces()


def trace(text: str, shell: ShellText) -> Traces:
    """The traces of a text and of the code in its commands."""
    # Most texts have none of the signs, and to look for those takes no time.
    sign = "=" in text or ">" in text or "<" in text or "for" in text or "HOOKLINE_" in text
    if not sign or not _NEEDED.search(text):
        aliases = _aliases(shell)
        return Traces(aliases=aliases) if aliases else _NOTHING
    found = _Found()
    waiting = [text, *_code(shell)]
    read, at = beside(text), 0
    # What the text itself took is of the same account.
    budget = Budget(MAX_STEPS - read.steps if read is not None else 0)
    while read is not None:
        waiting += found.take(read, nested=at > 0)
        at += 1
        more = at < len(waiting) and at < _MAX_TEXTS
        read = read_beside(waiting[at], budget) if more else None
    return Traces(
        redirects=tuple(found.redirects),
        sources=tuple(found.sources),
        read_by=found.read_by,
        assigned=tuple(found.assigned),
        inputs=found.inputs,
        variables=_variables(text, found.assigned),
        aliases=_aliases(shell),
        complete=at == len(waiting),
    )


class _Found:
    """What is collected from one text after the other."""

    def __init__(self) -> None:
        self.redirects: list[Redirect] = []
        self.sources: list[str] = []
        self.read_by: dict[int, tuple[str, ...]] = {}
        self.assigned: list[tuple[str, str]] = []
        self.inputs: dict[int, tuple[str, ...]] = {}

    def take(self, read: Beside, *, nested: bool) -> list[str]:
        """Add what a text shows; the texts that its shells would run are still to be read."""
        room = MAX_REDIRECTS + 1 - len(self.redirects)
        self.redirects += islice(_redirects(read, nested=nested), room)
        signs = ((sign, as_text(raw)) for _, sign, raw, _ in read.redirects)
        self.sources += [raw.strip("\"'") for sign, raw in signs if sign == "<"]
        for reader, sign, raw, _ in read.redirects:
            if sign == "<" and reader is not None and not nested:
                files = self.read_by.get(reader.start, ())
                self.read_by[reader.start] = (*files, as_text(raw).strip("\"'"))
        inner: list[str] = []
        for command in (item for item in read.found if isinstance(item, Command)):
            self.assigned += [
                (name, as_text(value.text) if value.text or value.exact else "\0")
                for name, value in command.assigned
            ]
            given = tuple(as_text(each.text) for each in command.inputs)
            if given and not nested:
                self.inputs[command.start] = given
            if given and any(word.text.rpartition("/")[2] in _CODE for word in command.words):
                inner += [each for each in given if _WRITES.search(each)]
        return inner


def _code(shell: ShellText) -> Iterator[str]:
    """Words that are code themselves, and write files."""
    for command in shell.commands:
        if command.full[0].rpartition("/")[2] in _CODE or command.name in _CODE:
            yield from {word for word in command.words[1:] if _WRITES.search(word)}


def _redirects(read: Beside, *, nested: bool) -> Iterator[Redirect]:
    for command, operator, raw, start in read.redirects:
        if ">" not in operator:
            continue
        words = literal_words(as_text(raw))
        literal = len(words) == 1 and (words[0].start, words[0].end) == (0, len(as_text(raw)))
        target = words[0].text if literal else as_text(raw).replace('"', "")
        own = () if command is None else tuple(as_text(word.text) for word in command.words)
        fed = command is None or bool(command.inputs)
        yield Redirect(operator, target, literal, own, -1 if nested else start, fed)


def _variables(text: str, assigned: Sequence[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Sources of the values that variables may have by the time they are used."""
    found: dict[str, list[str]] = {}
    for name, value in assigned:
        found.setdefault(name, []).append(value.strip('"'))
    for name, words in _LOOP.findall(text):
        found.setdefault(name, []).extend(word.strip("\"'") for word in words.split())
    return {name: tuple(values) for name, values in found.items()}


def _aliases(shell: ShellText) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for command in shell.commands:
        if command.words[0].endswith("alias") and command.name == "alias":
            for word in command.words[1:]:
                name, _, value = word.partition("=")
                if value.split():
                    found[name] = tuple(value.split())
    return found
