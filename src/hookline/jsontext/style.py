"""How a document is written, and values written the same way."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hookline.jsontext.layout import Layout
from hookline.jsontext.nodes import Node
from hookline.jsontext.reading import Document

__all__ = ["Entry", "Style", "style_of"]

_COLON = re.compile(r" ?: ?")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """What is added to a container: a value, and its key where that is an object."""

    value: object
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Style:
    """The habits that new text follows."""

    newline: str = "\n"
    unit: str = "  "
    colon: str = ": "

    @property
    def gap(self) -> str:
        """What comes between a comma and the next element on the same line."""
        return "" if self.colon == ":" else " "

    def on_one_line(self, entry: Entry) -> str:
        """The entry without line breaks."""
        return self._keyed(entry, self._dump(entry.value, indent=None))

    def on_lines(self, entry: Entry, indent: str) -> str:
        """The entry with one element a line, as it stands on a line indented by ``indent``."""
        text = self._dump(entry.value, indent=self.unit)
        # Strings hold no line breaks in JSON, so all of these are between tokens.
        return self._keyed(entry, text.replace("\n", self.newline + indent))

    def _keyed(self, entry: Entry, value: str) -> str:
        if entry.key is None:
            return value
        return self._dump(entry.key, indent=None) + self.colon + value

    def _dump(self, value: object, *, indent: str | None) -> str:
        separators = ("," if indent is not None else "," + self.gap, self.colon)
        text = json.dumps(
            value, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False
        )
        # Half of a surrogate pair has no UTF-8.
        return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def style_of(document: Document) -> Style:
    """The style of a document, with the habits of most files where it shows none."""
    text = document.text
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    usual = Style(newline)
    if document.root is None:
        return usual
    units = _units(Layout(document), document.root)
    colons = _colons(text, document.root)
    return Style(newline, next(units, usual.unit), next(colons, usual.colon))


def _units(layout: Layout, root: Node) -> Iterator[str]:
    """What each container that is written on lines indents its elements by."""
    for node in _containers(root):
        inner = layout.own_indent(node.elements[0].start)
        outer = layout.line_indent(node.start) if inner else ""
        if inner and inner != outer and inner.startswith(outer):
            yield inner.removeprefix(outer)


def _containers(node: Node) -> Iterator[Node]:
    """Every container that is not empty, outermost first."""
    if node.elements:
        yield node
    for child in (*node.items, *(member.value for member in node.members)):
        yield from _containers(child)


def _colons(text: str, root: Node) -> Iterator[str]:
    """What stands between each key and its value, where that is a habit and not an alignment."""
    for node in _containers(root):
        for member in node.members:
            between = text[member.key_node.end : member.value.start]
            if _COLON.fullmatch(between):
                yield between
