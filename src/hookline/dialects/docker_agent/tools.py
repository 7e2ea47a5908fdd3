"""docker-agent's tools, by the names and keys of their inputs."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects._wire import FoldingTools
from hookline.model.tools import ToolKind, ToolRow

__all__ = ["TOOLS"]

_K = ToolKind


def _command(input: Mapping[str, Any]) -> Mapping[str, Any]:
    """The shell takes `command` when `cmd` is missing or blank."""
    for key in ("cmd", "command"):
        text = input.get(key)
        if isinstance(text, str) and text.strip():
            return {"command": text}
    return {}


def _urls(input: Mapping[str, Any]) -> Mapping[str, Any]:
    """One call may fetch many pages; each is in the text that is matched."""
    urls = input.get("urls")
    texts = [url for url in urls if isinstance(url, str)] if isinstance(urls, list) else []
    return {"url": "\n".join(texts)} if texts else {}


def _edits(input: Mapping[str, Any]) -> Mapping[str, Any]:
    edits = input.get("edits")
    each = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    old = [edit["oldText"] for edit in each if isinstance(edit.get("oldText"), str)]
    new = [edit["newText"] for edit in each if isinstance(edit.get("newText"), str)]
    return {"old": "\n".join(old), "new": "\n".join(new)} if each else {}


_SHELL = ToolRow(_K.SHELL, {"command": "cmd"}, _command)
_PATH = {"path": "path"}
_PATHS = {"paths": "paths"}
_TASK = ToolRow(_K.TASK)

TOOLS = FoldingTools(
    {
        "shell": _SHELL,
        "run_background_job": _SHELL,
        "read_file": ToolRow(_K.READ, _PATH),
        "read_multiple_files": ToolRow(_K.READ, _PATHS),
        "write_file": ToolRow(_K.WRITE, {**_PATH, "content": "content"}),
        "edit_file": ToolRow(_K.EDIT, _PATH, _edits),
        "create_directory": ToolRow(_K.WRITE, _PATHS),
        "remove_directory": ToolRow(_K.DELETE, _PATHS),
        "search_files_content": ToolRow(_K.SEARCH, {**_PATH, "query": "query"}),
        "list_directory": ToolRow(_K.SEARCH, _PATH),
        "directory_tree": ToolRow(_K.SEARCH, _PATH),
        "fetch": ToolRow(_K.FETCH, {}, _urls),
        "open_url": ToolRow(_K.FETCH),
        "transfer_task": ToolRow(_K.AGENT, {"content": "task"}),
        "run_background_agent": ToolRow(_K.AGENT, {"content": "task"}),
        "run_skill": ToolRow(_K.AGENT, {"content": "task"}),
        "handoff": ToolRow(_K.AGENT),
        "user_prompt": ToolRow(_K.ASK, {"content": "message"}),
        "write_session_plan": ToolRow(_K.PLAN, {"content": "content"}),
        "exit_plan_mode": ToolRow(_K.PLAN),
        "write_plan": ToolRow(_K.PLAN, {"content": "content"}),
        "update_plan_from_file": ToolRow(_K.READ, _PATH),
        "export_plan_to_file": ToolRow(_K.WRITE, _PATH),
        **dict.fromkeys(("create_todo", "create_todos", "update_todos", "list_todos"), _TASK),
        **dict.fromkeys(("create_task", "update_task", "delete_task", "list_tasks"), _TASK),
    },
    also=("command", "urls", "edits"),
)
