"""The edits that people ask for, each a whole text in and a whole text out."""

import json
from collections.abc import Sequence

from hookline.jsontext.edits import apply
from hookline.jsontext.errors import JsonTextError
from hookline.jsontext.inserting import insertion, new_document
from hookline.jsontext.layout import Layout
from hookline.jsontext.nodes import Node, Step
from hookline.jsontext.paths import Place, follow, require, spell
from hookline.jsontext.reading import Document, read
from hookline.jsontext.removing import removal
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
