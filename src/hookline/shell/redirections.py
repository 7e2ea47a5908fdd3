"""Reads redirections and the here-documents they announce."""

import re
from typing import NamedTuple

from hookline.shell.fields import Field, Reading
from hookline.shell.words import WordReader

__all__ = ["BLANKS", "REDIRECTION", "Input", "Redirections", "torn"]


def torn(*operators: str) -> str:
    """A pattern for any of these, in the middle of which an escaped newline may stand."""
    return "|".join(r"(?:\\\n)*".join(map(re.escape, each)) for each in operators)


BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
REDIRECTION = re.compile(
    r"(\d+|\{\w+\})?("
    + torn("&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|")
    + r"|[<>](?!\())"
)

_DESCRIPTOR = re.compile(r"\d+-?|-")
_HARMLESS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_LINE = re.compile(r"[^\n]*\n?")


class Input(NamedTuple):
    """Where a redirection takes standard input from; ``fed`` as in ``Command``."""

    texts: list[Field]
    fed: bool | None
    file: Field | None = None
    """The file that is opened."""


class _Heredoc(NamedTuple):
    delimiter: str
    quoted: bool
    indented: bool
    texts: list[Field]


class Redirections:
    """The redirections of one script, and its here-documents still to come."""

    def __init__(self, reading: Reading, words: WordReader) -> None:
        self._reading = reading
        self._source = reading.source
        self._words = words
        self._waiting: list[_Heredoc] = []

    @property
    def waiting(self) -> bool:
        """True while a here-document is announced whose body has not begun."""
        return bool(self._waiting)

    def read(self, match: re.Match[str]) -> tuple[Input, int]:
        """Read the target behind the operator matched."""
        descriptor, operator = match[1], match[2].replace("\\\n", "")
        blanks = BLANKS.match(self._source, match.end())
        start = match.end() if blanks is None else blanks.end()
        fields, end = self._words.read(start)
        raw = self._source[start:end]
        self._reading.broken |= raw[:1] in ("", "#")
        target = fields[0] if len(fields) == 1 else Field(raw, exact=False)
        if operator.startswith("<<"):
            source = self._text(operator, raw, target)
        elif operator in ("<", "<&"):
            unseen = operator == "<&" or _is_unseen(raw, target.text)
            source = Input([], unseen, target if operator == "<" else None)
        else:
            harmless = target.exact and _is_harmless(operator, target.text)
            self._reading.writes_files |= not harmless
            fed = False if operator == "<>" else None
            source = Input([], fed, None if harmless else target)
        # A text under another number may be read by that.
        return source if descriptor in (None, "0") else source._replace(fed=None), end

    def _text(self, operator: str, raw: str, target: Field) -> Input:
        if operator == "<<<":
            return Input([Field(target.text + "\n", target.exact)], fed=False)
        raw = raw.replace("\\\n", "")
        quoted = any(mark in raw for mark in "'\"\\")
        # A delimiter is never expanded: without quotes it is the word as written.
        delimiter = target.text if quoted else raw
        texts: list[Field] = []
        self._waiting.append(_Heredoc(delimiter, quoted, operator == "<<-", texts))
        return Input(texts, fed=False)

    def bodies(self, at: int) -> int:
        """Read the bodies that begin at ``at``, just after a newline."""
        waiting, self._waiting = self._waiting, []
        for heredoc in waiting:
            at = self._body(heredoc, at)
        return at

    def _body(self, heredoc: _Heredoc, start: int) -> int:
        at = start
        while at < len(self._source):
            self._reading.spend(1)
            line = _LINE.match(self._source, at)
            assert line is not None
            text = line.group().removesuffix("\n")
            if (text.lstrip("\t") if heredoc.indented else text) == heredoc.delimiter:
                heredoc.texts.append(self._content(heredoc, start, at))
                return line.end()
            at = line.end()
        self._reading.broken = True
        heredoc.texts.append(self._content(heredoc, start, at))
        return at

    def _content(self, heredoc: _Heredoc, start: int, end: int) -> Field:
        self._reading.heredocs.append(self._source[start:end])
        if heredoc.quoted:
            return Field(self._source[start:end])
        return self._words.quoted(start, end)


def _is_harmless(operator: str, target: str) -> bool:
    if operator == ">&" and _DESCRIPTOR.fullmatch(target):
        return True
    return operator != "<>" and target in _HARMLESS


def _is_unseen(raw: str, target: str) -> bool:
    """True when reading from ``target`` is not reading a file somebody could look at."""
    return "<(" in raw or (target.startswith(("/dev/", "/proc/")) and target != "/dev/null")
