"""Reads JSON with comments and trailing commas; strict about everything else."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from hookline.jsontext.errors import BOM, JsonTextError
from hookline.jsontext.nodes import Kind, Member, Node

__all__ = ["MAX_DEPTH", "Document", "Span", "parse", "read"]

# More than any settings file nests, and less than the interpreter's stack holds.
MAX_DEPTH = 200

Span = tuple[int, int]

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*')
_WORD = re.compile(r"true|false|null")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read: its root, unless it is blank, and where its comments are."""

    text: str
    root: Node | None
    comments: tuple[Span, ...]


def parse(raw: bytes) -> Node:
    """The root of the document in ``raw``."""
    document = read(raw)
    if document.root is None:
        end = len(document.text)
        raise JsonTextError.at(document.text, end, "expected a value, found the end of the file")
    return document.root


def read(raw: bytes) -> Document:
    """The document in ``raw``, which may hold no value at all."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8")
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise JsonTextError.at(before, len(before), message) from None
    return _Reader(text).document()


class _Reader:
    """Walks once over a text, and always stands before what it reads next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = len(BOM) if text.startswith(BOM) else 0
        self._comments: list[Span] = []

    def document(self) -> Document:
        self._skip_trivia()
        root = self._value(1) if self._at < len(self._text) else None
        self._skip_trivia()
        if self._at < len(self._text):
            raise self._expected("the end of the file")
        return Document(self._text, root, tuple(self._comments))

    def _value(self, depth: int) -> Node:
        start = self._at
        match self._text[start : start + 1]:
            case "{" | "[" if depth > MAX_DEPTH:
                raise self._error(f"nested more than {MAX_DEPTH} deep")
            case "{":
                members = tuple(self._members(depth + 1))
                return Node("object", start, self._at, members=members)
            case "[":
                items = tuple(self._items(depth + 1))
                return Node("array", start, self._at, items=items)
            case '"':
                return self._string()
            case _:
                return self._word_or_number()

    def _members(self, depth: int) -> Iterator[Member]:
        for _ in self._each_until("}"):
            if not self._text.startswith('"', self._at):
                raise self._expected("a key in double quotes or '}'")
            key = self._string()
            self._skip_trivia()
            if not self._take(":"):
                raise self._expected("':' after the key")
            self._skip_trivia()
            yield Member(str(key.scalar), key, self._value(depth))

    def _items(self, depth: int) -> Iterator[Node]:
        for _ in self._each_until("]"):
            yield self._value(depth)

    def _each_until(self, closing: str) -> Iterator[None]:
        """Stand before each element of a container in turn, and behind its end at last."""
        self._at += 1
        self._skip_trivia()
        while not self._take(closing):
            yield
            self._skip_trivia()
            if self._take(","):
                self._skip_trivia()
            elif not self._text.startswith(closing, self._at):
                raise self._expected(f"',' or '{closing}'")

    def _string(self) -> Node:
        start = self._at
        token = _STRING.match(self._text, start)
        assert token is not None, "a string starts with a quote"
        self._at = token.end()
        if not self._take('"'):
            raise self._broken_string(start)
        scalar = json.loads(self._text[start : self._at])
        return Node("string", start, self._at, scalar=scalar)

    def _broken_string(self, start: int) -> JsonTextError:
        match self._text[self._at : self._at + 1]:
            case "" | "\r" | "\n":
                return JsonTextError.at(self._text, start, "this string has no closing quote")
            case "\\":
                return self._error("this escape is not one of JSON's; write a backslash as \\\\")
            case control:
                return self._error(f"write this control character as \\u{ord(control):04x}")

    def _word_or_number(self) -> Node:
        start = self._at
        if token := _WORD.match(self._text, start):
            kind = cast("Kind", token.group())
        elif token := _NUMBER.match(self._text, start):
            kind = "number"
        else:
            raise self._expected("a value")
        try:
            scalar = json.loads(token.group())
        except ValueError:  # The interpreter bounds the digits of an integer.
            raise self._error("this number has too many digits") from None
        self._at = token.end()
        return Node(kind, start, self._at, scalar=scalar)

    def _skip_trivia(self) -> None:
        while True:
            space = _SPACE.match(self._text, self._at)
            assert space is not None, "no space is space too"
            self._at = space.end()
            if not self._text.startswith(("//", "/*"), self._at):
                return
            comment = _COMMENT.match(self._text, self._at)
            if comment is None:
                raise self._error("this comment has no closing */")
            self._comments.append(comment.span())
            self._at = comment.end()

    def _take(self, mark: str) -> bool:
        taken = self._text.startswith(mark, self._at)
        self._at += len(mark) if taken else 0
        return taken

    def _expected(self, what: str) -> JsonTextError:
        found = self._text[self._at : self._at + 1]
        shown = repr(found) if found else "the end of the file"
        return self._error(f"expected {what}, found {shown}")

    def _error(self, message: str) -> JsonTextError:
        return JsonTextError.at(self._text, self._at, message)
