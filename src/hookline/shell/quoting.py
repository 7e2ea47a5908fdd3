"""Rules of shell quoting that need no context: ``$'...'`` escapes, brace lists, ``((...))``."""

import re
from itertools import pairwise

__all__ = ["ansi_c", "brace_list", "double_close"]

# Beyond these a brace list stays unexpanded, so that a short text cannot grow without end.
_MAX_WORDS = 32
_MAX_BRACES = 8

_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))",
    re.DOTALL,
)
_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r",
    "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def ansi_c(body: str) -> str:
    """Decode what stands between ``$'`` and ``'``; text and result are one char per byte."""
    # The shell's strings end at a NUL, however it was spelled.
    return _ESCAPE.sub(_escape, body).partition("\0")[0]


def _escape(match: re.Match[str]) -> str:
    octal, byte, short, long, control, letter = match.groups()
    if octal or byte:
        return chr(int(octal, 8) & 0xFF if octal else int(byte, 16))
    if short or long:
        point = int(short or long, 16)
        character = chr(point) if point <= 0x10FFFF else "\ufffd"
        return character.encode("utf-8", "replace").decode("latin-1")
    if control:
        return chr(ord(control) & 0x1F)
    return _LETTERS.get(letter, match.group())


_BRACE_TOKEN = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\{[^}]*\}|[{},]", re.DOTALL)


def brace_list(word: str) -> list[str] | None:
    """The words ``a{b,c}`` stands for, still quoted; ``None`` when that cannot be told."""
    if word.count("{") > _MAX_BRACES or "(" in word or "`" in word or _has_range(word):
        return None
    if "," in word.partition("{}")[2]:
        return None  # what is no list by itself may begin one there: `{},}` is `}` and nothing
    done: list[str] = []
    waiting = [word]
    while waiting:
        candidate = waiting.pop()
        alternatives = _first_list(candidate)
        if alternatives is None:
            done.append(candidate)
        else:
            waiting.extend(reversed(alternatives))
        if len(done) + len(waiting) > _MAX_WORDS:
            return None
    return done


def _has_range(word: str) -> bool:
    opening = word.find("{")
    return opening >= 0 and word.find("..", opening) > 0


def _first_list(word: str) -> list[str] | None:
    """Replace the leftmost brace list by each of its alternatives."""
    tokens = [(m.start(), m.group()) for m in _BRACE_TOKEN.finditer(word) if len(m.group()) == 1]
    for index, (opening, brace) in enumerate(tokens):
        if brace != "{":
            continue
        cuts = [opening]
        level = 0
        for position, mark in tokens[index:]:
            level += (mark == "{") - (mark == "}")
            if level == 0:
                if len(cuts) == 1:
                    break
                cuts.append(position)
                head, tail = word[:opening], word[position + 1 :]
                return [head + word[a + 1 : b] + tail for a, b in pairwise(cuts)]
            if level == 1 and mark == ",":
                cuts.append(position)
    return None


_PARENTHESIS = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[()]", re.DOTALL)


def double_close(source: str, start: int) -> int | None:
    """Where a ``))`` closes the ``((`` at ``start``, just past it; ``None`` if nothing does."""
    level = 0
    for match in _PARENTHESIS.finditer(source, start):
        level += (match.group() == "(") - (match.group() == ")")
        if level == 1 and match.group() == ")":
            return match.end() + 1 if source.startswith(")", match.end()) else None
    return None
