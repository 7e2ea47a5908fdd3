"""Settings files and front matter as plain values that know their lines.

Knows JSON with comments and YAML; must not know what any platform writes in them.
"""

import re
from bisect import bisect_right
from typing import Any, TypeAlias

from msgspec import Struct

from hookline.jsontext import JsonTextError, Node, parse

__all__ = ["Located", "UnreadableText", "front_matter", "read_json", "read_object"]

Value: TypeAlias = "dict[str, Located] | list[Located] | str | int | float | bool | None"

MAX_BYTES = 1_000_000
_MAX_DEPTH = 100
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n|^)---[ \t]*(?:\r?\n|$)", re.DOTALL | re.M)
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER = re.compile(r"[-+]?[0-9]{1,18}(?:\.[0-9]{0,18})?")


class UnreadableText(Exception):
    """A text that holds no value: why, and on which line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class Located(Struct, frozen=True):
    """A value and the line it starts on; inside a container everything is located, too."""

    value: Value
    line: int

    @property
    def members(self) -> "dict[str, Located]":
        """The members of an object; none for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> "list[Located]":
        """The items of a list; none for anything else."""
        return self.value if isinstance(self.value, list) else []

    def get(self, key: str) -> Any:
        """The plain value of a member, or None."""
        found = self.members.get(key)
        return None if found is None else found.plain()

    def line_of(self, key: str) -> int:
        """The line of a member, or of the whole when there is none."""
        found = self.members.get(key)
        return self.line if found is None else found.line

    def plain(self) -> Any:
        """The value without lines."""
        if isinstance(self.value, dict):
            return {key: each.plain() for key, each in self.value.items()}
        if isinstance(self.value, list):
            return [each.plain() for each in self.value]
        return self.value


def read_json(content: bytes) -> Located:
    """JSON, also with comments. Raises UnreadableText."""
    if len(content) > MAX_BYTES:
        raise UnreadableText(f"the file has more than {MAX_BYTES:,} bytes", 1)
    try:
        root = parse(content)
    except JsonTextError as error:
        raise UnreadableText(f"this is no JSON: {error.message}", error.line) from None
    breaks = [found.end() for found in _LINE_BREAK.finditer(content.decode())]
    return _from_node(root, breaks)


def read_object(content: bytes) -> Located:
    """JSON that is one object. Raises UnreadableText."""
    root = read_json(content)
    if not isinstance(root.value, dict):
        raise UnreadableText("the file must hold one object", root.line)
    return root


def _from_node(node: Node, breaks: list[int]) -> Located:
    line = bisect_right(breaks, node.start) + 1
    if node.kind == "object":
        members = {each.key: _from_node(each.value, breaks) for each in node.members}
        return Located(members, line)
    if node.kind == "array":
        return Located([_from_node(item, breaks) for item in node.items], line)
    return Located(node.scalar, line)


def front_matter(content: bytes) -> Located | None:
    """The YAML at the head of a Markdown file; None without. Raises UnreadableText."""
    text = content.decode("utf-8", "replace")
    found = _FENCE.match(text)
    if found is None:
        return None
    if found.end() > MAX_BYTES:
        raise UnreadableText(f"the front matter has more than {MAX_BYTES:,} bytes", 1)
    return _from_yaml(found[1])


def _from_yaml(text: str) -> Located:
    # Event by event: aliases and nesting cannot grow beyond what is written.
    from yaml import CSafeLoader, YAMLError, events, parse

    root: list[Located] = []
    open_: list[tuple[list[Located], bool, int]] = [(root, False, 2)]
    try:
        for event in parse(text, Loader=CSafeLoader):
            line = event.start_mark.line + 2  # the opening fence is line 1
            if isinstance(event, events.AliasEvent):
                raise UnreadableText("aliases (`*name`) are not read here", line)
            if isinstance(event, events.ScalarEvent):
                open_[-1][0].append(Located(_scalar(event.value, event.implicit[0]), line))
            elif isinstance(event, events.CollectionStartEvent):
                if len(open_) > _MAX_DEPTH:
                    raise UnreadableText(f"nested more than {_MAX_DEPTH} deep", line)
                open_.append(([], isinstance(event, events.MappingStartEvent), line))
            elif isinstance(event, events.CollectionEndEvent):
                parts, is_mapping, start = open_.pop()
                open_[-1][0].append(Located(_paired(parts) if is_mapping else parts, start))
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or "it cannot be read"
        line = mark.line + 2 if mark is not None else 1
        raise UnreadableText(f"the front matter is no YAML: {why}", line) from None
    return root[0] if root else Located({}, 2)


def _paired(parts: list[Located]) -> dict[str, Located]:
    return {
        str(key.value): Located(value.value, key.line)
        for key, value in zip(parts[::2], parts[1::2], strict=True)
    }


def _scalar(text: str, plain: bool) -> Value:
    if not plain:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text
