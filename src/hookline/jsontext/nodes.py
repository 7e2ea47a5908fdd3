"""What a JSON text consists of, each part with its place; knows nothing of how text is read."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Element", "Kind", "Member", "Node", "Step"]

Kind = Literal["object", "array", "string", "number", "true", "false", "null"]
Step = str | int


@dataclass(frozen=True, slots=True)
class Node:
    """One value; ``start`` and ``end`` are offsets into the decoded text, BOM included."""

    kind: Kind
    start: int
    end: int
    members: tuple["Member", ...] = ()
    items: tuple["Node", ...] = ()
    scalar: str | int | float | bool | None = None

    @property
    def elements(self) -> "tuple[Element, ...]":
        """What a container holds, whichever kind it is."""
        return self.members or self.items

    def value(self) -> object:
        """The plain Python value, as ``json.loads`` would give it."""
        if self.kind == "object":
            return {member.key: member.value.value() for member in self.members}
        if self.kind == "array":
            return [item.value() for item in self.items]
        return self.scalar

    def find(self, *steps: Step) -> "Node | None":
        """The node that keys and indexes lead to; of duplicate keys the last counts."""
        node: Node | None = self
        for step in steps:
            if node is None:
                return None
            node = node._child(step)
        return node

    def _child(self, step: Step) -> "Node | None":
        if isinstance(step, str):
            values = (member.value for member in reversed(self.members) if member.key == step)
            return next(values, None)
        return self.items[step] if 0 <= step < len(self.items) else None


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object with its value; ``key`` is decoded, ``key_node`` is its place."""

    key: str
    key_node: Node
    value: Node

    @property
    def start(self) -> int:
        return self.key_node.start

    @property
    def end(self) -> int:
        return self.value.end


Element = Member | Node
