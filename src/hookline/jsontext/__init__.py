"""Edits JSON and JSONC text and leaves every byte it was not asked to change; knows no file."""

from hookline.jsontext.editing import append, prune_empty, remove, set_key
from hookline.jsontext.errors import JsonTextError
from hookline.jsontext.nodes import Kind, Member, Node, Step
from hookline.jsontext.reading import MAX_DEPTH, parse

__all__ = [
    "MAX_DEPTH",
    "JsonTextError",
    "Kind",
    "Member",
    "Node",
    "Step",
    "append",
    "parse",
    "prune_empty",
    "remove",
    "set_key",
]
