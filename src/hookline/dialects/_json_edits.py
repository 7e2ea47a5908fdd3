"""Edits of JSON text that an installation needs beside those of ``jsontext``: many at once, and
values changed where they stand.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from hookline.jsontext import Node, Step, remove, set_key
from hookline.jsontext.edits import Edit, apply
from hookline.jsontext.inserting import insertion
from hookline.jsontext.layout import Layout
from hookline.jsontext.paths import follow
from hookline.jsontext.reading import Document, read
from hookline.jsontext.style import Entry, style_of

__all__ = ["add_members", "at", "document", "drop_if_bare", "has_comments", "put_values"]


@lru_cache(maxsize=8)
def document(raw: bytes) -> Document:
    """The document in ``raw``: an edit asks for the same one several times."""
    return read(raw)


def at(raw: bytes, path: Sequence[Step]) -> Node | None:
    """The node at ``path``."""
    root = document(raw).root
    return root.find(*path) if root else None


def add_members(raw: bytes, path: Sequence[str], members: Mapping[str, object]) -> bytes:
    """The object at ``path`` with new members, all of them in the style of the first."""
    if not members:
        return raw
    if at(raw, path) is None and path:
        return set_key(raw, path[:-1], path[-1], dict(members))
    (first, value), *rest = members.items()
    raw = set_key(raw, path, first, value)
    holder = at(raw, path)
    assert holder is not None
    added = next(each for each in holder.members if each.key == first)
    layout, style = Layout(document(raw)), style_of(document(raw))
    own = layout.own_indent(added.start)
    indent = layout.line_indent(added.start) if own is None else own
    gap = style.gap if own is None else style.newline + indent
    spread = "\n" in layout.text[added.start : added.end]
    written = ""
    for key, each in rest:
        entry = Entry(each, key)
        text = style.on_lines(entry, indent) if spread else style.on_one_line(entry)
        written += "," + gap + text
    return apply(layout.text, [Edit.insert(added.end, written)]) if rest else raw


def put_values(raw: bytes, values: Mapping[tuple[Step, ...], Mapping[str, object]]) -> bytes:
    """The objects at these paths with these values under their keys, all others as they are."""
    edits: list[Edit] = []
    missing: list[tuple[tuple[Step, ...], str, object]] = []
    for path, wanted in values.items():
        for key, value in wanted.items():
            node = at(raw, (*path, key))
            if node is None:
                missing.append((path, key, value))
            elif json.dumps(node.value()) != json.dumps(value):
                edits.append(Edit(node.start, node.end, json.dumps(value, ensure_ascii=False)))
    if edits:
        raw = apply(document(raw).text, edits)
    for path, key, value in missing:
        found, _ = follow(document(raw), path)
        assert found is not None
        raw = apply(document(raw).text, insertion(document(raw), found, Entry(value, key)))
    return raw


def has_comments(raw: bytes, path: Sequence[Step]) -> bool:
    """Whether a person wrote something into the container at ``path``."""
    node = at(raw, path)
    return node is not None and bool(Layout(document(raw)).comments_in(node))


def drop_if_bare(raw: bytes, path: Sequence[Step]) -> bytes:
    """Without the container at ``path`` if it holds nothing, not even a comment."""
    node = at(raw, path)
    if node is None or node.kind not in ("object", "array"):
        return raw
    inside = document(raw).text[node.start + 1 : node.end - 1]
    return raw if inside.strip() else remove(raw, path)
