"""How much a tool call would bring into the conversation, as far as that is known before."""

import os
from contextlib import suppress

from hookline.files import open_regular
from hookline.model.events import ToolEvent
from hookline.model.tools import Tool, ToolKind
from hookline.shell import MAX_BYTES, split

__all__ = ["is_new_agent", "measure_answer", "measure_load"]

# Tools that are called for their answer.
_LOADING = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH, ToolKind.MCP})
_PRINTERS = frozenset({"cat", "bat", "batcat", "nl", "tac", "less", "more"})
# What a model is shown as a picture has not the size of its file.
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".pdf")
# They are of this kind, and begin no agent.
_NO_AGENTS = frozenset({"Skill", "skill", "activate_skill", "write_agent", "handoff"})
# Who asks for a part of a file gets as much as that has: that is seen in the answer.
_PARTS = (
    *("offset", "limit", "view_range", "start_line", "end_line", "startLine", "endLine"),
    *("startLineNumberBaseOne", "endLineNumberBaseOne"),
)


def is_new_agent(tool: Tool) -> bool:
    """Whether the call begins a sub-agent."""
    return tool.kind is ToolKind.AGENT and tool.name not in _NO_AGENTS


def measure_answer(tool: Tool) -> int:
    """How large the answer of a tool is that was called for it; 0 of others, and of pictures."""
    is_picture = (tool.path or "").lower().endswith(_PICTURES)
    return len(tool.output or "") if tool.kind in _LOADING and not is_picture else 0


def measure_load(event: ToolEvent) -> tuple[str, int] | None:
    """The largest file that would be read whole, and the bytes of all; None where there is none."""
    tool, paths = event.tool, list[str]()
    if tool.kind is ToolKind.SHELL:
        paths = _printed_files(tool.command or "")
    elif tool.kind is ToolKind.READ and not any(tool.input.get(key) for key in _PARTS):
        paths = list(tool.paths) or [tool.path or ""]
    sizes = {path: _size(os.path.join(event.cwd, path)) for path in paths}
    if not any(sizes.values()):
        return None
    largest = max(sizes, key=lambda path: sizes[path])
    return os.path.basename(largest), sum(sizes.values())


def _printed_files(command: str) -> list[str]:
    """The files that a shell command shows whole; none where its output goes elsewhere."""
    if len(command) > MAX_BYTES or _PRINTERS.isdisjoint(command.replace("/", " ").split()):
        return []
    parsed = split(command)
    if not parsed.plain or "|" in command or any(each.name == "cd" for each in parsed.commands):
        return []
    printing = (each.words[1:] for each in parsed.commands if each.name in _PRINTERS)
    return [word for words in printing for word in words if not word.startswith("-")]


def _size(path: str) -> int:
    """How large a file is; 0 where there is none, or a picture."""
    if path.lower().endswith(_PICTURES):
        return 0
    with suppress(OSError, ValueError), open_regular(path) as file:
        return os.fstat(file.fileno()).st_size
    return 0
