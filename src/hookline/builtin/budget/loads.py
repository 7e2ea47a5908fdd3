"""How much a tool call would bring into the conversation, as far as that is known before."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from hookline.files import open_regular
from hookline.model.events import ToolEvent
from hookline.model.tools import Tool, ToolKind
from hookline.shell import MAX_BYTES, split
from hookline.store.usage import digest

__all__ = ["REPEATABLE", "Load", "is_new_agent", "load_key", "measure_load"]

REPEATABLE = frozenset({ToolKind.SEARCH, ToolKind.FETCH, ToolKind.MCP})
"""Tools whose answer is as large the next time."""
_PRINTERS = frozenset({"cat", "bat", "batcat", "nl", "tac", "less", "more"})
# What a model is shown as a picture has not the size of its file.
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".pdf")
# They are of this kind, and begin no agent.
_NO_AGENTS = frozenset({"Skill", "skill", "activate_skill", "write_agent", "handoff"})
_FIRST_LINE = ("offset", "start_line", "startLine", "startLineNumberBaseOne")
_LAST_LINE = ("end_line", "endLine", "endLineNumberBaseOne")
# As much of a file as is looked at for where its lines are.
_HEAD = 1 << 20


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
    lines: tuple[int, int | None] = (1, None)
    if tool.kind is ToolKind.READ:
        paths: Sequence[str] = tool.paths or ((tool.path,) if tool.path else ())
        lines = _asked_lines(tool.input)
    else:
        paths = _printed_files(tool.command or "") if tool.kind is ToolKind.SHELL else ()
    sizes = {path: _size(os.path.join(event.cwd, path), *lines) for path in paths}
    if not any(sizes.values()):
        return None
    largest = max(sizes, key=lambda path: sizes[path])
    return Load(os.path.basename(largest), sum(sizes.values()))


def _printed_files(command: str) -> Sequence[str]:
    """The files that a shell command shows whole; none where its output goes elsewhere."""
    if len(command) > MAX_BYTES or _PRINTERS.isdisjoint(command.replace("/", " ").split()):
        return ()
    parsed = split(command)
    if not parsed.plain or "|" in command or any(each.name == "cd" for each in parsed.commands):
        return ()
    printing = (each.words[1:] for each in parsed.commands if each.name in _PRINTERS)
    return [word for words in printing for word in words if not word.startswith("-")]


def _asked_lines(input: Mapping[str, Any]) -> tuple[int, int | None]:
    """The first line that is asked for and how many; None for all that follow."""
    view = input.get("view_range")
    if isinstance(view, list) and len(view) == 2:
        input = {"start_line": view[0], "end_line": view[1]}
    first = max(1, _number(input, *_FIRST_LINE) or 1)
    last = _number(input, *_LAST_LINE)
    lines = _number(input, "limit") if last is None else last - first + 1
    return first, lines if lines is not None and lines >= 0 else None


def _number(input: Mapping[str, Any], *names: str) -> int | None:
    return next((input[name] for name in names if type(input.get(name)) is int), None)


def _size(path: str, first: int, lines: int | None) -> int:
    """How many bytes of a file would be shown; 0 where there is no such file."""
    if path.lower().endswith(_PICTURES):
        return 0
    with suppress(OSError, ValueError), open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if first == 1 and lines is None:
            return size
        head = file.read(_HEAD).splitlines(keepends=True)
        end = None if lines is None else first - 1 + lines
        if size <= _HEAD or (end is not None and end < len(head)):
            return sum(map(len, head[first - 1 : end]))
        # Further on than was looked, lines are as long as those before.
        average = _HEAD // max(1, len(head))
        rest = max(0, size - (first - 1) * average)
        return rest if lines is None else min(rest, lines * average)
    return 0
