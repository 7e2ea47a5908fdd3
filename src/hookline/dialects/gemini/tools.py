"""Gemini CLI's tools, by the names and keys of their inputs."""

import re
from collections.abc import Mapping
from typing import Any

from hookline.model.tools import Mcp, Tool, ToolKind, ToolRow, ToolTable

__all__ = ["TOOLS", "mcp_name", "native_name", "read_mcp"]

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def _urls(input: Mapping[str, Any]) -> Mapping[str, Any]:
    """``web_fetch`` takes one text and fetches every address in it."""
    texts = [value for key in ("prompt", "url") if isinstance(value := input.get(key), str)]
    found = dict.fromkeys(url for text in texts for url in _URL.findall(text))
    return {"url": " ".join(found) or None}


_K = ToolKind
_FILE = {"path": "file_path"}
_DIRECTORY = {"path": "dir_path", "query": "pattern"}
_TASK = ToolRow(_K.TASK)

# The first of a kind stands for tools of other platforms that have no name here.
TOOLS = ToolTable(
    {
        "run_shell_command": ToolRow(_K.SHELL, {"command": "command"}),
        "read_file": ToolRow(_K.READ, _FILE),
        "read_many_files": ToolRow(_K.READ, {"paths": "include"}),
        "write_file": ToolRow(_K.WRITE, {**_FILE, "content": "content"}),
        "replace": ToolRow(_K.EDIT, {**_FILE, "old": "old_string", "new": "new_string"}),
        "grep_search": ToolRow(_K.SEARCH, _DIRECTORY),
        "search_file_content": ToolRow(_K.SEARCH, _DIRECTORY),
        "glob": ToolRow(_K.SEARCH, _DIRECTORY),
        "list_directory": ToolRow(_K.SEARCH, {"path": "dir_path"}),
        "web_fetch": ToolRow(_K.FETCH, {"url": "prompt"}, special=_urls),
        "google_web_search": ToolRow(_K.FETCH, {"query": "query"}),
        "read_mcp_resource": ToolRow(_K.FETCH, {"url": "uri"}),
        "list_mcp_resources": ToolRow(_K.OTHER),
        "invoke_agent": ToolRow(_K.AGENT, {"content": "prompt"}),
        "codebase_investigator": ToolRow(_K.AGENT, {"content": "objective"}),
        "cli_help": ToolRow(_K.AGENT, {"content": "question"}),
        "activate_skill": ToolRow(_K.AGENT),
        "write_todos": _TASK,
        "tracker_create_task": _TASK,
        "tracker_update_task": _TASK,
        "tracker_get_task": _TASK,
        "tracker_list_tasks": _TASK,
        "tracker_add_dependency": _TASK,
        "tracker_visualize": _TASK,
        "ask_user": ToolRow(_K.ASK),
        "enter_plan_mode": ToolRow(_K.PLAN),
        "exit_plan_mode": ToolRow(_K.PLAN, {"path": "plan_filename"}),
        "save_memory": ToolRow(_K.OTHER, {"content": "fact"}),
        "get_internal_docs": ToolRow(_K.OTHER),
        "update_topic": ToolRow(_K.OTHER),
        "complete_task": ToolRow(_K.OTHER),
    }
)

# Where the first tool of a kind would be the wrong one for a tool of another platform.
_SAME = {
    "Glob": "glob",
    "file_search": "glob",
    "LS": "list_directory",
    "WebSearch": "google_web_search",
    "web_search": "google_web_search",
}


def native_name(tool: Tool) -> str | None:
    """Gemini CLI's name of another platform's tool, where the kind alone does not tell."""
    return mcp_name(tool.mcp) if tool.mcp is not None else _SAME.get(tool.name)


def mcp_name(mcp: Mcp) -> str:
    """The name under which the client offers a tool of an MCP server."""
    return f"mcp_{mcp.server}_{mcp.tool}"


def read_mcp(name: str, told: Any) -> Mcp | None:
    """The MCP tool behind a call: as the client tells, else as far as the name does."""
    if isinstance(told, dict) and isinstance(server := told.get("server_name"), str) and server:
        given = told.get("tool_name")
        tool = given if isinstance(given, str) else name.removeprefix(f"mcp_{server}_")
        return Mcp(server, tool)
    if name in TOOLS.rows or not name.startswith("mcp_") or name.startswith("mcp__"):
        return None
    # A server with a `_` in its name cannot be told from its tool; the client splits here too.
    server, _, tool = name.removeprefix("mcp_").partition("_")
    return Mcp(server, tool)
