"""How much a tool call would bring into the conversation, as far as that is known before."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from hookline.files import open_regular
from hookline.model.events import ToolEvent
from hookline.model.tools import Tool, ToolKind
from hookline.shell import MAX_BYTES, split
from hookline.store.usage import digest

__all__ = ["KNOWN_AGAIN", "Load", "is_new_agent", "load_key", "measure_load"]

_PRINTERS = frozenset({"cat", "bat", "batcat", "nl", "tac", "less", "more"})
# What a model is shown as a picture has not the size of its file.
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".pdf")
# They are of this kind, and begin no agent.
_NO_AGENTS = frozenset({"Skill", "skill", "activate_skill", "write_agent", "handoff"})
KNOWN_AGAIN = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH, ToolKind.MCP})
"""Tools whose answer is as large the next time."""
_FIRST_LINE = ("offset", "start_line", "startLine", "startLineNumberBaseOne")
_LAST_LINE = ("end_line", "endLine", "endLineNumberBaseOne")
# As much of a file as is looked at for where its lines are.
_LOOKED_AT = 1 << 20


class Load(Struct, frozen=True):
    """Something large."""

    name: str
    bytes: int


def is_new_agent(tool: Tool) -> bool:
    """Whether the call begins a sub-agent."""
    return tool.kind is ToolKind.AGENT and tool.name not in _NO_AGENTS


def load_key(tool: Tool) -> str:
    """Equal for calls that ask for the same."""
    return digest(tool.name, msgspec.json.encode(tool.input, order="sorted").decode())


def measure_load(event: ToolEvent) -> Load | None:
    """What files would be read, and how large they are together; None where that is not known."""
    tool = event.tool
    if tool.kind is ToolKind.READ:
        paths: Sequence[str] = tool.paths or ((tool.path,) if tool.path else ())
    elif tool.kind is ToolKind.SHELL and tool.command:
        paths = _printed(tool.command)
    else:
        return None
    span = _span(tool.input) if tool.kind is ToolKind.READ else None
    sizes = {path: _size(os.path.join(event.cwd, path), span) for path in paths}
    if not any(sizes.values()):
        return None
    largest = max(sizes, key=lambda path: sizes[path])
    return Load(os.path.basename(largest), sum(sizes.values()))


def _printed(command: str) -> Sequence[str]:
    """The files that a shell command shows whole; none where its output goes elsewhere."""
    if len(command) > MAX_BYTES or _PRINTERS.isdisjoint(command.replace("/", " ").split()):
        return ()
    parsed = split(command)
    if not parsed.plain or "|" in command or any(each.name == "cd" for each in parsed.commands):
        return ()
    return [
        word
        for each in parsed.commands
        if each.name in _PRINTERS
        for word in each.words[1:]
        if not word.startswith("-")
    ]


def _span(input: Mapping[str, Any]) -> tuple[int, int] | None:
    """The first line that is asked for and how many; None for all of the file."""
    view = input.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(type(each) is int for each in view):
        first, last = view
        return None if last < first else (first, last - first + 1)
    first = next((input[key] for key in _FIRST_LINE if type(input.get(key)) is int), 1)
    last = next((input[key] for key in _LAST_LINE if type(input.get(key)) is int), None)
    if last is not None:
        return first, max(0, last - first + 1)
    lines = input.get("limit")
    if type(lines) is int and lines >= 0:
        return first, lines
    return (first, _LOOKED_AT) if first > 1 else None


def _size(path: str, span: tuple[int, int] | None) -> int:
    """How many bytes of a file would be shown; 0 where there is no such file."""
    if path.lower().endswith(_PICTURES):
        return 0
    with suppress(OSError, ValueError), open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        return size if span is None else min(size, _size_of_lines(file, size, *span))
    return 0


def _size_of_lines(file: BinaryIO, size: int, first: int, count: int) -> int:
    head = file.read(_LOOKED_AT)
    start = _end_of_lines(head, 0, max(0, first - 1))
    end = None if start is None else _end_of_lines(head, start, count)
    if start is not None and end is not None:
        return end - start
    if len(head) == size:
        return 0 if start is None else size - start
    # Further on than was looked: lines are as long as those before.
    lines = max(1, head.count(b"\n"))
    return min(size, count * (len(head) // lines))


def _end_of_lines(text: bytes, start: int, count: int) -> int | None:
    """Where that many lines end; None where there are fewer."""
    for _ in range(count):
        end = text.find(b"\n", start)
        if end < 0:
            return None
        start = end + 1
    return start
