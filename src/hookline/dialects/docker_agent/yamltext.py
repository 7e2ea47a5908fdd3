"""YAML as docker-agent's files have it, anchors and merge keys included, each value with its line.

Built from parser events: PyYAML's own composer ends the process on text that nests too deep.
"""

import re
from collections.abc import Iterator
from typing import Any

from yaml import CSafeLoader, MarkedYAMLError, YAMLError, events

from hookline.dialects._located import Located, UnreadableText

__all__ = ["parse_yaml"]

MAX_BYTES = 1_000_000
_MAX_DEPTH = 100

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]{1,18}(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_MERGE = "<<"


def parse_yaml(raw: bytes) -> Located:
    """The one document in ``raw``. Raises UnreadableText."""
    if len(raw) > MAX_BYTES:
        raise UnreadableText(f"the file has more than {MAX_BYTES:,} bytes", 1)
    if raw.startswith(b"%TAG") or b"\n%TAG" in raw:
        # libyaml's time would grow with the square of their number.
        raise UnreadableText("tags (`%TAG`) are not supported", 1)
    try:
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableText("the file is not UTF-8", line) from None
    builder = _Builder()
    try:
        for event in _events(text):
            builder.take(event)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        raise UnreadableText(error.problem or "no YAML", mark.line + 1 if mark else 1) from None
    except (YAMLError, ValueError) as error:
        raise UnreadableText(f"no YAML: {error}".splitlines()[0], 1) from None
    return builder.root()


def _events(text: str) -> Iterator[events.Event]:
    loader = CSafeLoader(text)
    try:
        while (event := loader.get_event()) is not None:
            yield event
    finally:
        loader.dispose()


class _Open:
    """A list or mapping that is being filled."""

    __slots__ = ("anchor", "key", "line", "merged", "value")

    def __init__(
        self, line: int, anchor: str | None, value: dict[str, Located] | list[Located]
    ) -> None:
        self.line = line
        self.anchor = anchor
        self.value = value
        self.key: str | None = None
        self.merged: list[Located] = []

    def add(self, node: Located) -> None:
        if isinstance(self.value, list):
            self.value.append(node)
        elif self.key is None:
            if not isinstance(node.value, str | int | float | bool):
                raise UnreadableText("a key here is one word", node.line)
            self.key = str(node.value)
            if self.key in self.value:
                raise UnreadableText(f"`{self.key[:40]}` is there twice", node.line)
        else:
            if self.key == _MERGE:
                self.merged += node.items or [node]
            else:
                self.value[self.key] = node
            self.key = None

    def closed(self) -> Located:
        if isinstance(self.value, dict):
            # What stands in the mapping itself wins, then what was merged first.
            for other in self.merged:
                for key, node in other.members.items():
                    self.value.setdefault(key, node)
        return Located(self.value, self.line)


class _Builder:
    """Turns parser events into nodes; an alias is the very node that it names."""

    def __init__(self) -> None:
        self._documents: list[Located] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, Located] = {}

    def take(self, event: events.Event) -> None:
        mark = event.start_mark
        line = mark.line + 1 if mark is not None else 1
        match event:
            case events.ScalarEvent():
                self._add(Located(_scalar(event), line), event.anchor)
            case events.SequenceStartEvent():
                self._open(_Open(line, event.anchor, []))
            case events.MappingStartEvent():
                self._open(_Open(line, event.anchor, {}))
            case events.SequenceEndEvent() | events.MappingEndEvent():
                done = self._stack.pop()
                self._add(done.closed(), done.anchor)
            case events.AliasEvent():
                anchor = event.anchor or ""
                node = self._anchors.get(anchor)
                if node is None:
                    raise UnreadableText(f"no anchor `{anchor[:40]}` ends before this", line)
                self._add(node, None)
            case _:
                pass

    def _open(self, container: _Open) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            raise UnreadableText(f"nested more than {_MAX_DEPTH} deep", container.line)
        if container.anchor:
            self._anchors.pop(container.anchor, None)
        self._stack.append(container)

    def _add(self, node: Located, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = node
        if self._stack:
            self._stack[-1].add(node)
        else:
            self._documents.append(node)

    def root(self) -> Located:
        if len(self._documents) > 1:
            raise UnreadableText("a second document starts here", self._documents[1].line)
        return self._documents[0] if self._documents else Located(None, 1)


def _scalar(event: events.ScalarEvent) -> Any:
    text: str = event.value
    if not event.implicit[0]:
        return text  # in quotes, or marked as text
    if text in _NULL:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
