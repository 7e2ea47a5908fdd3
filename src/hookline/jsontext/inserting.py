"""Finds where a new element goes and what it looks like there; only ever adds text."""

from hookline.jsontext.edits import Edit
from hookline.jsontext.errors import BOM
from hookline.jsontext.layout import Layout, spans_lines
from hookline.jsontext.nodes import Element, Node
from hookline.jsontext.paths import Place
from hookline.jsontext.reading import Document
from hookline.jsontext.style import Entry, Style, style_of

__all__ = ["insertion", "new_document"]


def new_document(document: Document, value: object) -> list[Edit]:
    """Gives a document that holds no value its first one."""
    text = document.text
    style = style_of(document)
    written = style.on_lines(Entry(value), "")
    if document.comments:
        glue = "" if text.endswith(("\r", "\n")) else style.newline
        return [Edit.insert(len(text), glue + written + style.newline)]
    end = "" if spans_lines(text) else style.newline
    return [Edit.insert(len(BOM) if text.startswith(BOM) else 0, written + end)]


def insertion(document: Document, place: Place, entry: Entry) -> list[Edit]:
    """Adds ``entry`` at the end of the container at ``place``."""
    layout = Layout(document)
    style = style_of(document)
    if place.node.elements:
        return _after_last(layout, style, place.node, entry)
    if _opens_up(layout, place):
        return _on_new_lines(layout, style, place.node, entry)
    padding = layout.text[place.node.start + 1 : place.node.end - 1]
    return [Edit.insert(place.node.start + 1, padding + style.on_one_line(entry))]


def _after_last(layout: Layout, style: Style, container: Node, entry: Entry) -> list[Edit]:
    last = container.elements[-1]
    comma = layout.comma_after(last.end)
    indent = layout.own_indent(last.start)
    trail = layout.trail(last.end if comma is None else comma + 1)
    if indent is None:
        written = _gap(layout, style, container) + _beside(layout, style, last, entry)
        if comma is None:
            return [Edit.insert(trail.blocks, "," + written)]
        return [Edit.insert(comma + 1, written + ",")]
    line = style.newline + indent + style.on_lines(entry, indent)
    # Comments at the end of the last element's line are about that element: stay behind them.
    end = trail.comments if trail.line_end is None else trail.line_end
    if comma is None:
        return [Edit.insert(trail.blocks, ","), Edit.insert(end, line)]
    return [Edit.insert(end, line + ",")]


def _beside(layout: Layout, style: Style, last: Element, entry: Entry) -> str:
    """The entry for the line that ``last`` ends on, written on lines if that is."""
    if spans_lines(layout.text[last.start : last.end]):
        return style.on_lines(entry, layout.line_indent(last.end))
    return style.on_one_line(entry)


def _gap(layout: Layout, style: Style, container: Node) -> str:
    """What the last two elements have between comma and element, if that is only blanks."""
    if len(container.elements) > 1:
        before, last = container.elements[-2:]
        comma = layout.comma_after(before.end)
        if comma is not None and layout.blanks_after(comma + 1) == last.start:
            return layout.text[comma + 1 : last.start]
    return style.gap


def _opens_up(layout: Layout, place: Place) -> bool:
    """Whether an empty container's first element gets a line of its own.

    It does where its container has one. A comment inside is a reason too: beside it, the element
    would look like what the comment is about.
    """
    if place.holder is None or layout.own_indent(place.holder.start) is not None:
        return True
    if layout.comments_in(place.node):
        return True
    return spans_lines(layout.text[place.node.start : place.node.end])


def _on_new_lines(layout: Layout, style: Style, container: Node, entry: Entry) -> list[Edit]:
    outer = layout.line_indent(container.start)
    inner = outer + style.unit
    line = style.newline + inner + style.on_lines(entry, inner)
    comments = layout.comments_in(container)
    line_end = layout.trail(comments[-1][1] if comments else container.start + 1).line_end
    if line_end is not None:
        return [Edit.insert(line_end, line)]
    return [Edit.insert(container.end - 1, line + style.newline + outer)]
