"""Follows a path through a document, and says in words why it leads nowhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from hookline.jsontext.errors import JsonTextError, place
from hookline.jsontext.nodes import Element, Member, Node, Step
from hookline.jsontext.reading import Document

__all__ = ["Place", "follow", "require", "spell"]

AnyStep = TypeVar("AnyStep", bound=Step)


_KINDS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "true": "true",
    "false": "false",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A node, and where its parent holds it; the root has no parent."""

    node: Node
    parent: Node | None = None
    index: int = 0

    @property
    def holder(self) -> Element | None:
        """The member or item that this node is in its parent."""
        return self.parent.elements[self.index] if self.parent else None


def follow(document: Document, path: Sequence[AnyStep]) -> tuple[Place | None, Sequence[AnyStep]]:
    """The deepest node on ``path`` that exists, and the steps that are missing from there.

    A document without a value has no node at all. A path through something that cannot hold the
    next step, or through a key that its object holds twice, is an error.
    """
    if document.root is None:
        return None, path
    require(document, document.root, (), "object")
    found = Place(document.root)
    for depth in range(len(path)):
        index = _index(document, found.node, path[: depth + 1])
        if index is None:
            return found, path[depth:]
        element = found.node.elements[index]
        node = element.value if isinstance(element, Member) else element
        found = Place(node, found.node, index)
    return found, ()


def require(
    document: Document, node: Node, path: Sequence[Step], kind: Literal["object", "array"]
) -> None:
    """Raise unless the node at ``path`` is of that kind."""
    if node.kind != kind:
        empty = "{}" if kind == "object" else "[]"
        message = (
            f"{spell(path)} must be an {kind}, and this is {_KINDS[node.kind]}; "
            f"move it elsewhere and write {empty} here"
        )
        raise JsonTextError.at(document.text, node.start, message)


def _index(document: Document, node: Node, path: Sequence[Step]) -> int | None:
    """Which element of ``node`` the last step of ``path`` means."""
    *before, step = path
    if isinstance(step, int):
        require(document, node, before, "array")
        return step if 0 <= step < len(node.items) else None
    require(document, node, before, "object")
    indexes = [index for index, member in enumerate(node.members) if member.key == step]
    if len(indexes) > 1:
        first, *_, last = (node.members[index].start for index in indexes)
        line, _ = place(document.text, first)
        message = (
            f"{spell(path)} is here a second time, after line {line}, and programs differ in "
            "which one they read; keep one of them"
        )
        raise JsonTextError.at(document.text, last, message)
    return indexes[0] if indexes else None


def spell(path: Sequence[Step]) -> str:
    """The path as people write it."""
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return words.removeprefix(".") or "the file"
