"""The edits that people ask for, each a whole text in and a whole text out."""

import json
from collections.abc import Sequence

from hookline.jsontext.edits import Edit, apply
from hookline.jsontext.errors import JsonTextError
from hookline.jsontext.inserting import insertion, new_document
from hookline.jsontext.layout import Layout, spans_lines
from hookline.jsontext.nodes import Node, Step
from hookline.jsontext.paths import Place, follow, require, spell
from hookline.jsontext.reading import Document, Span, read
from hookline.jsontext.style import Entry

__all__ = ["append", "prune_empty", "remove", "set_key"]


def append(raw: bytes, path: Sequence[str], item: object) -> bytes:
    """``raw`` with ``item`` at the end of the array at ``path``, made where it is missing."""
    if not path:
        raise ValueError("an item is appended to an array inside the root, never to the root")
    document = read(raw)
    found, missing = follow(document, path)
    if found is None or missing:
        return _create(document, found, missing, [item])
    require(document, found.node, path, "array")
    return apply(document.text, insertion(document, found, Entry(item)))


def set_key(raw: bytes, path: Sequence[str], key: str, value: object) -> bytes:
    """``raw`` with ``key`` in the object at ``path``; unchanged if it has that value already."""
    document = read(raw)
    full = (*path, key)
    found, missing = follow(document, full)
    if found is None or missing:
        return _create(document, found, missing, value)
    if _canonical(found.node.value()) != _canonical(value):
        message = f"{spell(full)} has another value already; change it here, or remove it first"
        raise JsonTextError.at(document.text, found.node.start, message)
    return raw


def remove(raw: bytes, path: Sequence[Step]) -> bytes:
    """``raw`` without the member or item at ``path``."""
    if not path:
        raise ValueError("a member or item is removed, never the root")
    document = read(raw)
    found, missing = follow(document, path)
    if found is None or missing:
        offset = found.node.start if found else 0
        raise JsonTextError.at(document.text, offset, f"there is no {spell(path)} in here")
    return _take_out(document, found)


def prune_empty(raw: bytes, path: Sequence[Step]) -> bytes:
    """``raw`` without the containers along ``path`` that hold nothing, not even a comment."""
    for depth in range(len(path), 0, -1):
        document = read(raw)
        found, missing = follow(document, path[:depth])
        if found is None or missing:
            continue
        if not _is_empty(document, found.node):
            break
        raw = _take_out(document, found)
    return raw


def _create(
    document: Document, found: Place | None, missing: Sequence[str], value: object
) -> bytes:
    """Adds ``value`` under keys that are missing, to the last object that is not."""
    key, *inner = missing
    for name in reversed(inner):
        value = {name: value}
    if found is None:
        return apply(document.text, new_document(document, {key: value}))
    return apply(document.text, insertion(document, found, Entry(value, key)))


def _take_out(document: Document, found: Place) -> bytes:
    assert found.parent is not None, "a path with steps leads into a container"
    return apply(document.text, removal(document, found.parent, found.index))


def _is_empty(document: Document, node: Node) -> bool:
    if node.kind not in ("object", "array") or node.elements:
        return False
    return not Layout(document).comments_in(node)


def _canonical(value: object) -> str:
    """Equal for equal JSON, where Python would take 1 for True."""
    return json.dumps(value, sort_keys=True)


# ── what goes away with an element ───────────────────────────────────────────────────────────


def removal(document: Document, container: Node, index: int) -> list[Edit]:
    """Takes out the element at ``index``, its comma, its line, and the comments on that line.

    Comments on lines of their own stay, whatever they are about: only people write those.
    """
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
