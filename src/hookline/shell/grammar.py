"""Asks the tree-sitter grammar how the commands of a skeleton hang together.

It is given skeletons only: on whole texts this grammar misreads words without saying so, and its
error recovery can take minutes for a text of 64 KB.
"""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

__all__ = ["UNKNOWN", "Pipe", "Structure", "structure"]

# Error recovery takes time that grows with the square of the text; this much stays under 0.1 s.
_MAX_SKELETON = 2048


class Pipe(NamedTuple):
    """Two spans of the skeleton: what is written on the left is read on the right."""

    left: tuple[int, int]
    right: tuple[int, int]


class Structure(NamedTuple):
    """Where the grammar sees commands, and which of them are joined by pipes."""

    commands: frozenset[int]
    pipes: tuple[Pipe, ...]
    sound: bool


_LONE_COMMAND = Structure(frozenset({0}), (), sound=True)
_EMPTY = Structure(frozenset(), (), sound=True)
UNKNOWN = Structure(frozenset(), (), sound=False)


@lru_cache(512)  # what people write differs in its words, and has the same few skeletons
def structure(skeleton: str) -> Structure:
    """Parse a skeleton; the common ones need no parser, which then is never loaded."""
    if skeleton == "x":
        return _LONE_COMMAND
    if not skeleton.strip():
        return _EMPTY
    if len(skeleton) > _MAX_SKELETON:
        return UNKNOWN
    root = _parser().parse(skeleton.encode("ascii")).root_node
    commands: set[int] = set()
    pipes: list[Pipe] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command":
            commands.add(node.start_byte)
            continue
        if node.type == "pipeline":
            pipes += _pipes(node)
        waiting += node.named_children
    return Structure(frozenset(commands), tuple(pipes), sound=not root.has_error)


def _pipes(pipeline: "Node") -> list[Pipe]:
    start = pipeline.start_byte
    parts = [child for child in pipeline.children if child.is_named]
    return [Pipe((start, part.start_byte), (part.start_byte, part.end_byte)) for part in parts[1:]]


def _parser() -> "Parser":
    from tree_sitter import Parser

    # Making a parser costs less than a microsecond; sharing one between threads is not safe.
    return Parser(_language())


@cache
def _language() -> "Language":
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())
