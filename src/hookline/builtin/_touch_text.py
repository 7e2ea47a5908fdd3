"""Finds the redirections and here-documents in a shell text, which its commands do not show.

Reads no more of the language than it needs: quotes, comments and the bodies of here-documents, so
that a `>` in a message is none.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

__all__ = ["Heredoc", "Redirected", "heredocs", "redirected"]

_WORD = (
    r"(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|\$\{[^}]{0,200}\}|\$\([^()]*\)|`[^`]*`"
    r"|[^\s;&|<>()'\"\\`])+"
)
_TOKEN = re.compile(
    rf"""(?sx)
    (?P<skip> \\. | \$?'(?:[^'])*' | (?<![^\s;&|()])\#[^\n]* | \$?\(\( (?:[^()]|\([^()]*\))* \)\) )
    | (?P<quoted> "(?:\\.|[^"\\])*" )
    | (?P<doc> <<(?P<dash>-?) [ \t]* (?P<end> (?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|<>()'"\\])+ ) )
    | (?P<text> <<< )
    | (?P<sign> &>>|&>|>>|>\||>&|<>|>(?!\()|<(?![(&<]) ) [ \t]* (?P<target> {_WORD})?
    | (?P<line> \n )
    """
)
# To another stream or to nowhere, wherever that is written: no file is in these.
_SILENT = re.compile(r"[12&]?>(?:&[12]|>? ?/dev/null)(?=[\s;&|)]|$)")
_INSIDE = re.compile(r"\$\(|`")
_QUOTES = re.compile(r"(?s)'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)")
_HARMLESS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"})


class Redirected(Struct, frozen=True):
    """One redirection to or from a file."""

    sign: str
    target: str
    """Without its quotes; a variable in it is still one."""
    source: str
    at: int
    """Where it stands, in characters."""

    @property
    def writes(self) -> bool:
        """Whether the file is changed."""
        return ">" in self.sign


class Heredoc(Struct, frozen=True):
    """The body of a here-document, and where it was announced."""

    body: str
    at: int


def is_silent(text: str) -> bool:
    """Whether nothing in a text is redirected from or to a file."""
    loud = _SILENT.sub("", text) if ">" in text else text
    return ">" not in loud and "<" not in loud


def redirected(text: str) -> Iterator[Redirected]:
    """Every redirection of a text, those in substitutions included."""
    if is_silent(text):
        return
    for found in _walk(text):
        if isinstance(found, Redirected):
            yield found


def heredocs(text: str) -> Iterator[Heredoc]:
    """Every here-document of a text."""
    if "<<" in text:
        yield from (found for found in _walk(text) if isinstance(found, Heredoc))


def _walk(text: str) -> Iterator[Redirected | Heredoc]:
    waiting: list[tuple[str, bool, int]] = []
    at = 0
    while (match := _TOKEN.search(text, at)) is not None:
        at = match.end()
        kind = match.lastgroup if match.lastgroup != "target" else "sign"
        if match["quoted"] is not None:
            # Only what is substituted inside of it can be a redirection.
            if _INSIDE.search(match["quoted"]):
                inside = match["quoted"][1:-1].replace('\\"', '"')
                yield from _inside(inside, match.start())
        elif match["doc"] is not None:
            waiting.append((_plain(match["end"]), bool(match["dash"]), match.start()))
        elif match["line"] is not None and waiting:
            for end, indented, start in waiting:
                stop, after = _ended(text, at, end, indented=indented)
                yield Heredoc(text[at:stop], start)
                at = after
            waiting = []
        elif match["sign"] is not None and match["target"]:
            target = _plain(match["target"])
            descriptor = match["sign"] == ">&" and re.fullmatch(r"\d+-?|-", target)
            if not descriptor and target not in _HARMLESS and kind:
                yield Redirected(match["sign"], target, match["target"], match.start())


def _inside(quoted: str, at: int) -> Iterator[Redirected | Heredoc]:
    for match in re.finditer(r"(?s)\$\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`", quoted):
        for found in _walk(match[1] or match[2] or ""):
            if isinstance(found, Redirected):
                yield Redirected(found.sign, found.target, found.source, at)


def _ended(text: str, start: int, end: str, *, indented: bool) -> tuple[int, int]:
    """Where the body ends, and where the text goes on."""
    at = start
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop]
        if (line.lstrip("\t") if indented else line) == end:
            return at, stop
        at = stop + 1
    return len(text), len(text)


def _plain(source: str) -> str:
    """A word without its quotes."""
    return _QUOTES.sub(lambda m: next((g for g in m.groups() if g is not None), ""), source)
