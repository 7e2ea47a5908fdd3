"""A YAML text as nodes that know their lines, and the values that plain nodes stand for.

Knows YAML; must not know what is written in it.
"""

import re
from typing import Any

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode, events

from hookline.model.errors import ConfigError, Problem

__all__ = ["MAX_BYTES", "MAX_DEPTH", "kind_of", "line_of", "nodes_of", "value_of"]

MAX_BYTES = 1_000_000
MAX_DEPTH = 50

_WORDS: dict[str, bool | None] = dict.fromkeys(("", "~", "null"))
_WORDS |= {"true": True, "false": False}
_INTEGER = r"[-+]?[0-9]{1,18}"
_FLOAT = r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,2})?"


def nodes_of(raw: bytes, file: str) -> Node | None:
    """The outermost node, None for an empty file; raises ConfigError with what is wrong."""
    if len(raw) > MAX_BYTES:
        message = f"the file has {len(raw):,} bytes, and at most {MAX_BYTES:,} are read"
        raise ConfigError([Problem(file, 0, message)])
    try:
        text = raw.decode("utf-8-sig")
        problems = list(_refused(text, file))
        node: Node | None = yaml.compose(text, yaml.SafeLoader) if not problems else None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problem = Problem(file, line, "this is not UTF-8", "save the file as UTF-8")
        raise ConfigError([problem]) from None
    except yaml.YAMLError as error:
        raise ConfigError([_broken(error, file)]) from None
    if problems:
        raise ConfigError(problems)
    return node


def line_of(node: Node) -> int:
    """The line a node begins on."""
    return int(node.start_mark.line) + 1


def kind_of(node: Node) -> str:
    """What a node is, in people's words."""
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "a mapping"
    return f"`{_brief(node.value)}`" if node.value else "nothing"


def value_of(node: Node) -> Any:
    """The plain data of a node, as JSON would have it."""
    if isinstance(node, SequenceNode):
        return [value_of(each) for each in node.value]
    if isinstance(node, MappingNode):
        return {str(key.value): value_of(each) for key, each in node.value}
    assert isinstance(node, ScalarNode)
    return node.value if node.style else _meant(node.value)


def _meant(word: str) -> Any:
    """What an unquoted word stands for. `yes`, `no` and dates are the text they look like."""
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if re.fullmatch(_INTEGER, word):
        return int(word)
    return float(word) if re.fullmatch(_FLOAT, word) else word


def _brief(text: str) -> str:
    shown = text if text.isprintable() else text.encode("unicode_escape").decode()
    return shown if len(shown) <= 40 else f"{shown[:39]}…"


def _refused(text: str, file: str) -> list[Problem]:
    """Aliases and depths by which a small file becomes an endless one; tags, which mean nothing."""
    problems, depth = [], 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = event.start_mark.line + 1
        depth += isinstance(event, events.CollectionStartEvent)
        depth -= isinstance(event, events.CollectionEndEvent)
        if depth > MAX_DEPTH:
            return [Problem(file, line, f"nested more than {MAX_DEPTH} levels deep")]
        if isinstance(event, events.AliasEvent):
            hint = "write the value out, or put text that starts with `*` in quotes"
            problems.append(Problem(file, line, f"aliases (`*{event.anchor}`) are not read", hint))
        elif isinstance(event, events.ScalarEvent | events.CollectionStartEvent) and event.tag:
            hint = "remove it, or put text that starts with `!` in quotes"
            problems.append(Problem(file, line, f"tags (`{event.tag}`) are not read", hint))
    return problems


def _broken(error: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    said = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return Problem(file, mark.line + 1 if mark else 0, f"not valid YAML: {said}")
