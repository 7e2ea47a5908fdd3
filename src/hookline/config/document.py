"""Reads one YAML text into plain data and the line of every key and item in it.

Knows YAML 1.2 words and what we refuse of YAML; knows nothing of what a configuration means.
"""

import math
import re
from codecs import BOM_UTF8
from typing import Any, TypeAlias

from msgspec import Struct
from yaml import CSafeLoader, MarkedYAMLError, events

from hookline.model.errors import ConfigError, Problem

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Document", "brief", "read_document"]

MAX_BYTES = 1_000_000
MAX_DEPTH = 50

# The lines are a tree beside the data: the line of a value, and for a container what is inside.
Places: TypeAlias = dict[str, Any] | list[Any]
Place: TypeAlias = int | tuple[int, Places]

# Patterns stay text here: most files need none of them, so importing should not compile them.
_LINE_BREAK = r"\r\n?|\n"
_PLAIN_BYTES = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
# Beside the control characters, a byte order mark inside the text is refused because nobody can
# see it, and U+0085, U+2028 and U+2029 because libyaml would start a new line where editors do not.
_ALLOWED = (
    (0x20, 0x7E),
    (0x09, 0x0A),
    (0x0D, 0x0D),
    (0xA0, 0x2027),
    (0x202A, 0xFEFE),
    (0xFF00, 0xFFFD),
    (0x10000, 0x10FFFF),
)

_WORDS: dict[str, bool | None] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)
_NUMBER_STARTS = frozenset("+-.0123456789")
_INTEGER = r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NOT_FINITE = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_LONGEST_NUMBER = 64

_TAB_HINT = "indent with spaces; YAML does not allow tabs there"
_SYNTAX_HINTS = {
    "alphabetic or numeric character": "put text that starts with `*` or `&` in quotes",
    "cannot start any token": "put text that starts with `@`, `%` or a backtick in quotes",
    "mapping values are not allowed": "put text that contains `: ` in quotes, or check the indent",
    "unknown escape character": "in single quotes a backslash is just a backslash",
    "unexpected end of stream": "a quote is not closed",
    "',' or ']'": "a `[` is not closed",
    "',' or '}'": "a `{` is not closed",
    "did not find expected key": "check the indent of this line",
    "'-' indicator": "check the indent of this line",
}


class Document(Struct, frozen=True):
    """The plain data of one file, and where in the file each part of it was written."""

    file: str
    data: dict[str, Any]
    places: Places = {}

    def line(self, *path: str | int) -> int:
        """The line of the key or item at this path, or of its nearest ancestor that exists."""
        place: Place = (1, self.places)
        for step in path:
            inner: Any = place[1] if isinstance(place, tuple) else {}
            try:
                place = inner[step]
            except (LookupError, TypeError):
                break
        return _line(place)


def read_document(raw: bytes, file: str) -> Document:
    """Reads a whole YAML text; raises ConfigError with every problem found in it."""
    text = _decode(raw, file)
    builder = _Builder(file)
    try:
        builder.read(text, raw.removeprefix(BOM_UTF8))
    except ConfigError as fatal:
        builder.problems.extend(fatal.problems)
    data, places = builder.root()
    if builder.problems:
        raise ConfigError(sorted(builder.problems, key=lambda problem: problem.line))
    return Document(file, data, places)


def brief(text: str) -> str:
    """A piece of somebody's text, fit to stand in a message: short, and safe on a terminal."""
    if not text.isprintable():
        text = text.encode("unicode_escape").decode()
    return text if len(text) <= 40 else f"{text[:39]}…"


def _line(place: Place) -> int:
    return place[0] if isinstance(place, tuple) else place


def _decode(raw: bytes, file: str) -> str:
    """The text of the file, or a ConfigError when it cannot be YAML text at all."""
    if len(raw) > MAX_BYTES:
        message = f"the file has {len(raw):,} bytes, and at most {MAX_BYTES:,} are read"
        raise ConfigError([Problem(file, 1, message, "split it into several files")])
    try:
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} (0x{raw[error.start]:02x}) is not UTF-8"
        raise ConfigError([Problem(file, line, message, "save the file as UTF-8")]) from None
    # By the few characters it is made of: the pattern takes longer to compile than a file to read.
    strange = raw.translate(None, _PLAIN_BYTES) and not all(map(_is_allowed, {*text}))
    if (strange or b"%TAG" in raw) and (problems := _refused_lines(text, file)):
        raise ConfigError(problems)
    return text


def _is_allowed(char: str) -> bool:
    number = ord(char)
    return any(first <= number <= last for first, last in _ALLOWED)


def _refused_lines(text: str, file: str) -> list[Problem]:
    problems = []
    for number, line in enumerate(re.split(_LINE_BREAK, text), 1):
        if found := next((char for char in line if not _is_allowed(char)), ""):
            hint = 'remove it, or write it as an escape in double quotes, such as "\\u2028"'
            message = f"control character U+{ord(found):04X}"
            problems.append(Problem(file, number, message, hint))
        elif line.startswith("%TAG"):
            # Refused before libyaml sees it, whose time grows with the square of their number.
            problems.append(Problem(file, number, "tags (`%TAG`) are not supported", "remove it"))
    return problems


class _Sequence:
    """A list that is being filled."""

    __slots__ = ("places", "values")

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.places: list[Place] = []

    def add(self, value: object, line: int, inner: Places | None = None) -> None:
        self.values.append(value)
        self.places.append(line if inner is None else (line, inner))


class _Mapping:
    """A mapping that is being filled; without a ``key`` the next thing read is one."""

    __slots__ = ("key", "key_line", "places", "values")

    def __init__(self) -> None:
        self.key: str | None = None
        self.key_line = 0
        self.values: dict[str, Any] = {}
        self.places: dict[str, Place] = {}

    def add(self, value: object, line: int, inner: Places | None = None) -> None:
        if self.key is None:
            # Not a possible key, and reported as such; this one stands in for it.
            self.key, self.key_line = "?", line
            return
        # The first of two equal keys stays, so that a third one still names the line of the first.
        self.values.setdefault(self.key, value)
        self.places.setdefault(self.key, self.key_line if inner is None else (self.key_line, inner))
        self.key = None


class _Builder:
    """Turns parser events into data, noting every problem and going on as long as it can."""

    __slots__ = ("documents", "file", "problems", "stack")

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.documents = _Sequence()
        self.stack: list[_Sequence | _Mapping] = [self.documents]

    def read(self, text: str, data: bytes) -> None:
        handlers: dict[type[events.Event], Any] = {
            events.ScalarEvent: self._scalar,
            events.MappingStartEvent: self._start,
            events.SequenceStartEvent: self._start,
            events.MappingEndEvent: self._end,
            events.SequenceEndEvent: self._end,
            events.AliasEvent: self._alias,
            events.DocumentStartEvent: self._document_start,
        }
        line = 1
        event: Any
        try:
            for event in iter(CSafeLoader(data).get_event, None):
                line = event.start_mark.line + 1
                if handler := handlers.get(type(event)):
                    handler(event, line)
        except MarkedYAMLError as error:
            self.problems.append(_syntax_problem(error, text, self.file))
        except UnicodeDecodeError:
            # libyaml lets `%` escapes in a tag spell bytes that PyYAML then cannot decode.
            self._report(line, "tags are not supported, and one here or below is broken")

    def root(self) -> tuple[dict[str, Any], Places]:
        """The top-level mapping and its places; an empty file is an empty mapping."""
        if not self.documents.values or self.documents.values[0] is None:
            return {}, {}
        data, place = self.documents.values[0], self.documents.places[0]
        if isinstance(data, dict) and isinstance(place, tuple):
            return data, place[1]
        kind = "a list" if isinstance(data, list) else "a single value"
        self._report(_line(place), f"the top level must be keys and values, and this is {kind}")
        return {}, {}

    def _report(self, line: int, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, line, message, hint))

    def _document_start(self, _event: events.DocumentStartEvent, line: int) -> None:
        if self.documents.values:
            hint = "one file holds one document"
            raise ConfigError([Problem(self.file, line, "a second document starts here", hint)])

    def _scalar(self, event: events.ScalarEvent, line: int) -> None:
        if event.tag is not None or event.anchor is not None:
            self._refuse_properties(event, line)
        if "\0" in event.value:
            self._report(line, "text cannot hold a NUL character", "remove the `\\0` escape")
        parent = self.stack[-1]
        if type(parent) is _Mapping and parent.key is None:
            self._key(parent, event, line)
        else:
            value = event.value if event.style else self._plain(event.value, line)
            parent.add(value, line)

    def _plain(self, text: str, line: int) -> Any:
        try:
            return _resolve(text)
        except ValueError as error:
            self._report(line, str(error), f'write it in quotes if it is text: "{brief(text)}"')
            return None

    def _key(self, parent: _Mapping, event: events.ScalarEvent, line: int) -> None:
        key = event.value
        parent.key, parent.key_line = key, line
        if key in parent.places:
            message = f"the key `{brief(key)}` is already on line {_line(parent.places[key])}"
            self._report(line, message, "keep one of them")
        elif event.style:
            return
        elif not key:
            self._report(line, "a key is empty", "write a name before the `:`")
        elif key == "<<":
            self._report(line, "merge keys (`<<`) are not supported", "write the keys out")
        elif not _is_text(key):
            shown = brief(key)
            self._report(line, f"the key `{shown}` is not text", f'write it in quotes: "{shown}"')

    def _start(self, event: events.CollectionStartEvent, line: int) -> None:
        if event.tag is not None or event.anchor is not None:
            self._refuse_properties(event, line)
        if len(self.stack) > MAX_DEPTH:
            message = f"nested more than {MAX_DEPTH} levels deep"
            raise ConfigError([Problem(self.file, line, message, "use fewer levels")])
        container = _Mapping() if type(event) is events.MappingStartEvent else _Sequence()
        parent = self.stack[-1]
        if type(parent) is _Mapping and parent.key is None:
            self._report(line, "a key must be text, not a list or a mapping")
        parent.add(container.values, line, container.places)
        self.stack.append(container)

    def _end(self, _event: events.MappingEndEvent | events.SequenceEndEvent, _line: int) -> None:
        self.stack.pop()

    def _alias(self, event: events.AliasEvent, line: int) -> None:
        hint = "write the value out, or put text that starts with `*` in quotes"
        self._report(line, f"aliases (`*{event.anchor}`) are not supported", hint)
        self.stack[-1].add(None, line)

    def _refuse_properties(
        self, event: events.ScalarEvent | events.CollectionStartEvent, line: int
    ) -> None:
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            hint = "remove it, or put text that starts with `!` in quotes"
            self._report(line, f"tags (`{brief(tag)}`) are not supported", hint)
        if event.anchor is not None:
            hint = "remove it, or put text that starts with `&` in quotes"
            self._report(line, f"anchors (`&{event.anchor}`) are not supported", hint)


def _resolve(text: str) -> str | int | float | None:
    """What a plain word means in the YAML 1.2 core schema; ValueError for an unusable number."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if len(text) < 10 and text.isascii() and text.isdecimal():
        return int(text)
    if re.fullmatch(_INTEGER, text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        if len(text) <= _LONGEST_NUMBER and -(2**63) <= (integer := int(text, base)) < 2**63:
            return integer
        raise ValueError(f"the number `{brief(text)}` does not fit in 64 bits")
    if re.fullmatch(_FLOAT, text):
        number = float(text)
        if math.isfinite(number):
            return number
        raise ValueError(f"the number `{brief(text)}` is too large")
    if re.fullmatch(_NOT_FINITE, text):
        raise ValueError(f"`{text}` is not a number that can be used here")
    return text


def _is_text(word: str) -> bool:
    try:
        return isinstance(_resolve(word), str)
    except ValueError:
        return False


def _syntax_problem(error: MarkedYAMLError, text: str, file: str) -> Problem:
    mark = error.problem_mark
    assert mark is not None
    message = f"not valid YAML: {error.problem} at column {mark.column + 1}"
    if error.context and error.context_mark:
        message += f", {error.context}"
        if error.context_mark.line != mark.line:
            message += f" that starts on line {error.context_mark.line + 1}"
    # The mark of an error at the end of the text may lie on a line after the last one.
    content = "".join(re.split(_LINE_BREAK, text)[mark.line : mark.line + 1])
    if "\t" in content[: len(content) - len(content.lstrip())]:
        return Problem(file, mark.line + 1, message, _TAB_HINT)
    hints = (hint for part, hint in _SYNTAX_HINTS.items() if part in str(error.problem))
    return Problem(file, mark.line + 1, message, next(hints, ""))
