"""YAML as lines and the nodes on them, and edits of whole lines: all else in a file stays as it is.

Knows where a node starts and ends; must not know what docker-agent means by it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from yaml import CSafeLoader, events

from hookline.dialects.docker_agent.yamltext import parse_yaml

__all__ = ["Edit", "Node", "Text", "read_nodes"]

# What libyaml takes for the end of a line, and so counts.
_LINE = re.compile("(?:[^\r\n\x85\u2028\u2029]*)(?:\r\n|[\r\n\x85\u2028\u2029]|\\Z)")
_BOM = "\ufeff"


@dataclass(slots=True, eq=False)
class Node:
    """One value, by the lines on which it stands."""

    kind: Literal["map", "list", "text", "alias"]
    line: int
    column: int
    end: int
    """The line after its last one."""
    flow: bool = False
    """In braces, brackets or quotes: not on lines of its own."""
    value: str = ""
    plain: bool = False
    anchor: str = ""
    keys: "list[Node]" = field(default_factory=list)
    items: "list[Node]" = field(default_factory=list)
    """The elements of a list, or the values of a mapping."""

    def get(self, key: str) -> "Node | None":
        """The value of a key that stands here itself; what is merged in does not."""
        return next((node for each, node in self.members if each.value == key), None)

    @property
    def members(self) -> "list[tuple[Node, Node]]":
        """Keys and values of a mapping."""
        return list(zip(self.keys, self.items, strict=False)) if self.kind == "map" else []

    @property
    def empty(self) -> bool:
        """Whether nothing was written here."""
        return self.kind == "text" and self.plain and self.value in {"", "~", "null"}


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines that take the place of others; of none, when ``first`` is ``last``."""

    first: int
    last: int
    lines: tuple[str, ...] = ()


class Text:
    """A file as lines, each with the end that it has."""

    def __init__(self, raw: bytes) -> None:
        text = raw.decode()
        self._bom = _BOM if text.startswith(_BOM) else ""
        found: list[str] = _LINE.findall(text.removeprefix(_BOM))
        self.lines = [line for line in found if line]
        self._newline = "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file with these edits, none of which overlap."""
        lines = list(self.lines)
        unended = bool(lines) and lines[-1].rstrip("\r\n") == lines[-1]
        if unended:
            lines[-1] += self._newline
        # From the end, so that lines keep their numbers; of two at one place the first stays first.
        ordered = sorted(edits, key=lambda each: (each.first, each.last))
        for edit in ordered[::-1]:
            lines[edit.first : edit.last] = [line + self._newline for line in edit.lines]
        text = "".join(lines)
        return (self._bom + (text.removesuffix(self._newline) if unended else text)).encode()


def read_nodes(raw: bytes) -> Node:
    """The one document in a file. Raises UnreadableText."""
    parse_yaml(raw)  # for what is no YAML, or none that docker-agent reads
    text = Text(raw)
    builder = _Builder(text.lines)
    loader = CSafeLoader("".join(text.lines))
    try:
        while (event := loader.get_event()) is not None:
            builder.take(event)
    finally:
        loader.dispose()
    end = len(text.lines)
    return builder.root or Node("text", end, 0, end, plain=True)


class _Builder:
    """Turns parser events into nodes."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._stack: list[Node] = []
        self.root: Node | None = None

    def take(self, event: events.Event) -> None:
        start, end = event.start_mark, event.end_mark
        line, column = (start.line, start.column) if start else (0, 0)
        last = end.line + 1 if end else line + 1
        match event:
            case events.ScalarEvent(style="|" | ">"):
                ends = self._block_end(line, column, last - 1)
                anchor = event.anchor or ""
                self._add(Node("text", line, column, ends, value=event.value, anchor=anchor))
            case events.ScalarEvent():
                node = Node("text", line, column, last, value=event.value)
                node.plain, node.anchor = bool(event.implicit[0]), event.anchor or ""
                self._add(node)
            case events.AliasEvent():
                self._add(Node("alias", line, column, last, value=event.anchor or ""))
            case events.MappingStartEvent() | events.SequenceStartEvent():
                kind: Literal["map", "list"] = (
                    "map" if isinstance(event, events.MappingStartEvent) else "list"
                )
                node = Node(kind, line, column, last, flow=bool(event.flow_style))
                node.anchor = event.anchor or ""
                self._add(node)
                self._stack.append(node)
            case events.MappingEndEvent() | events.SequenceEndEvent():
                done = self._stack.pop()
                done.end = last if done.flow else done.items[-1].end
            case _:
                pass

    def _block_end(self, line: int, column: int, end: int) -> int:
        """Empty lines after a block of text are its own only if it says so."""
        if "+" in self._lines[line][column : column + 3]:
            return end
        while end > line + 1 and not self._lines[end - 1].strip():
            end -= 1
        return end

    def _add(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        holder = self._stack[-1]
        is_key = holder.kind == "map" and len(holder.keys) == len(holder.items)
        (holder.keys if is_key else holder.items).append(node)
