"""Kodelet's tools, by the names and keys of their inputs."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects._wire import FoldingTools
from hookline.model.tools import ToolKind, ToolRow, patched_paths

__all__ = ["TOOLS"]

_K = ToolKind
_FILE = {"path": "file_path"}
_PATTERN = {"query": "pattern", "path": "path"}


def _patch(input: Mapping[str, Any]) -> Mapping[str, Any]:
    text = input.get("input")
    return {"paths": patched_paths(text), "content": text} if isinstance(text, str) else {}


TOOLS = FoldingTools(
    {
        "bash": ToolRow(_K.SHELL, {"command": "command"}),
        "file_read": ToolRow(_K.READ, _FILE),
        "file_write": ToolRow(_K.WRITE, {**_FILE, "content": "text"}),
        "file_edit": ToolRow(_K.EDIT, {**_FILE, "old": "old_text", "new": "new_text"}),
        "file_multi_edit": ToolRow(_K.EDIT, _FILE),
        "apply_patch": ToolRow(_K.EDIT, {}, _patch),
        "view_image": ToolRow(_K.READ, {"path": "path"}),
        # Runs a program that the agent wrote: as dangerous as a shell, and judged as one.
        "code_execution": ToolRow(_K.SHELL, {"command": "code_path"}),
        "grep_tool": ToolRow(_K.SEARCH, _PATTERN),
        "glob_tool": ToolRow(_K.SEARCH, _PATTERN),
        "web_fetch": ToolRow(_K.FETCH, {"url": "url", "query": "prompt"}),
        "subagent": ToolRow(_K.AGENT, {"content": "question"}),
        "skill": ToolRow(_K.AGENT),
        "todo_read": ToolRow(_K.TASK),
        "todo_write": ToolRow(_K.TASK),
        "get_goal": ToolRow(_K.TASK),
        "update_goal": ToolRow(_K.TASK),
    },
    also=("input",),
)
