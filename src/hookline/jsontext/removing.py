"""Finds what goes away with an element: its comma, its line, and the comments on that line.

Comments on lines of their own stay, whatever they are about: only people write those.
"""

from hookline.jsontext.edits import Edit
from hookline.jsontext.layout import Layout, spans_lines
from hookline.jsontext.nodes import Node
from hookline.jsontext.reading import Document, Span

__all__ = ["removal"]


def removal(document: Document, container: Node, index: int) -> list[Edit]:
    """Takes the element at ``index`` out of ``container``."""
    layout = Layout(document)
    spans = _spans(layout, container, index)
    inside = (container.start + 1, container.end - 1)
    if len(container.elements) == 1 and not _rest(layout.text, inside, spans).strip():
        spans = [inside]
    return [Edit(start, end) for start, end in spans]


def _rest(text: str, whole: Span, spans: list[Span]) -> str:
    """What is left of ``whole`` without ``spans``."""
    at, end = whole
    rest = ""
    for start, stop in sorted(spans):
        rest += text[at:start]
        at = stop
    return rest + text[at:end]


def _spans(layout: Layout, container: Node, index: int) -> list[Span]:
    element = container.elements[index]
    last = index == len(container.elements) - 1
    left = layout.lead(element.start)
    comma = layout.comma_after(element.end)
    if comma is not None and not spans_lines(layout.text[element.end : comma]):
        return [_swath(layout, left, comma + 1, last=last)]

    # Without a comma of its own nearby, the element takes the one before it: it is the last, or
    # commas come first on their lines here.
    right = _blocks_on_line(layout, element.end)
    if index:
        comma = layout.comma_after(container.elements[index - 1].end)
        if comma is not None and layout.blanks_after(comma + 1) == left:
            return [_swath(layout, comma, right, last=last)]
    element_span = _swath(layout, left, right, last=last)
    return [element_span] if comma is None else [element_span, (comma, comma + 1)]


def _blocks_on_line(layout: Layout, offset: int) -> int:
    """Where the ``/* */`` comments behind ``offset`` end, as far as they stay on its line."""
    end = layout.trail(offset).blocks
    return offset if spans_lines(layout.text[offset:end]) else end


def _swath(layout: Layout, left: int, right: int, *, last: bool) -> Span:
    """``left`` to ``right`` with the line or the blanks that only it needs."""
    line_break = layout.break_before(left)
    line_end = layout.trail(right).line_end
    if line_break is not None and line_end is not None:
        return line_break, line_end
    if line_break is not None and last:
        # What follows is the closing bracket: it moves up, unless a comment would swallow it.
        return (left if layout.ends_line_comment(line_break) else line_break), right
    if last or layout.breaks_at(layout.blanks_after(right)):
        return layout.blanks_before(left), right
    return left, layout.blanks_after(right)
