"""Cursor's tools, by the names and keys of their inputs, and the calls its own events imply."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.model.tools import Mcp, Tool, ToolKind, ToolRow, ToolTable, patched_paths

__all__ = ["OWN_KEYS", "TOOLS", "implied_call", "mcp_text", "native_call"]

_K = ToolKind
_MCP = "MCP:"


class _Tools(ToolTable):
    """Adds ``MCP:tool`` names; they do not say of which server."""

    def read(self, name: str, input: dict[str, Any], *, kind: ToolKind | None = None) -> Tool:
        tool = super().read(name, input, kind=kind)
        if not name.startswith(_MCP):
            return tool
        return replace(tool, mcp=Mcp("", name.removeprefix(_MCP)), kind=kind or _K.MCP)


def _patch(input: Mapping[str, Any]) -> Mapping[str, Any]:
    """The files of a patch, under whichever key its text stands."""
    texts = [text for text in input.values() if isinstance(text, str)]
    return {"paths": tuple(path for text in texts for path in patched_paths(text))}


# Files stand under `file_path` or `path`, as versions and tools please. So no row names one key:
# then every likely one is looked at, and a rewrite goes to the one that is there.
TOOLS = _Tools(
    {
        "Shell": ToolRow(_K.SHELL, {"command": "command"}),
        "Read": ToolRow(_K.READ),
        "ReadFile": ToolRow(_K.READ),
        "TabRead": ToolRow(_K.READ),
        "Write": ToolRow(_K.WRITE),
        "TabWrite": ToolRow(_K.EDIT),
        "Edit": ToolRow(_K.EDIT),
        "StrReplace": ToolRow(_K.EDIT),
        "EditNotebook": ToolRow(_K.EDIT),
        "ApplyPatch": ToolRow(_K.EDIT, {}, _patch),
        "Delete": ToolRow(_K.DELETE),
        "Grep": ToolRow(_K.SEARCH, {"query": "pattern"}),
        "Glob": ToolRow(_K.SEARCH, {"query": "glob_pattern"}),
        "LS": ToolRow(_K.SEARCH),
        "SemanticSearch": ToolRow(_K.SEARCH, {"query": "query"}),
        "WebFetch": ToolRow(_K.FETCH, {"url": "url"}),
        "WebSearch": ToolRow(_K.FETCH),
        "Task": ToolRow(_K.AGENT, {"content": "prompt"}),
        "TodoWrite": ToolRow(_K.TASK),
        "AskQuestion": ToolRow(_K.ASK),
        "SwitchMode": ToolRow(_K.PLAN),
        "CreatePlan": ToolRow(_K.PLAN, {"content": "plan"}),
    }
)

# A tool is known by its input where the payload leaves out its name.
_TELLTALES = {
    "command": "Shell",
    "content": "Write",
    "contents": "Write",
    "new_string": "Write",
    "edits": "Write",
}
OWN_KEYS = {
    "command": "command",
    "path": "file_path",
    "content": "content",
    "old": "old_string",
    "new": "new_string",
    "query": "pattern",
    "url": "url",
}


def implied_call(data: Mapping[str, Any], native: str) -> dict[str, Any]:
    """The payload with the tool call in it that an event for one kind of tool only implies."""
    match native:
        case "beforeShellExecution" | "afterShellExecution":
            call = {"tool_name": "Shell", "tool_input": {"command": data.get("command")}}
            return _answered(data, call, "output")
        case "beforeMCPExecution" | "afterMCPExecution":
            call = {"tool_name": f"{_MCP}{data.get('tool_name')}", "tool_input": _parsed(data)}
            return _answered(data, call, "result_json")
        case "beforeReadFile" | "beforeTabFileRead":
            name = "Read" if native == "beforeReadFile" else "TabRead"
            return {**data, "tool_name": name, "tool_input": _only(data, "file_path")}
        case "afterFileEdit" | "afterTabFileEdit":
            name = "Write" if native == "afterFileEdit" else "TabWrite"
            return {**data, "tool_name": name, "tool_input": _only(data, "file_path", "edits")}
    if not data.get("tool_name"):
        given = data.get("tool_input")
        keys = given if isinstance(given, dict) else {}
        name = next((name for key, name in _TELLTALES.items() if key in keys), "")
        return {**data, "tool_name": name}
    return dict(data)


def _answered(data: Mapping[str, Any], call: dict[str, Any], key: str) -> dict[str, Any]:
    output = {"tool_output": data[key]} if key in data else {}
    return {**data, **call, **output}


def _parsed(data: Mapping[str, Any]) -> Any:
    """The input of an MCP tool, which travels as text; what is no object is left as it is."""
    given = data.get("tool_input")
    if not isinstance(given, str):
        return given
    try:
        found = msgspec.json.decode(given)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return given
    return found if isinstance(found, dict) else given


def _only(data: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: data[key] for key in keys if key in data}


def mcp_text(answer: Any) -> str | None:
    """The text of an MCP tool's answer; None when there is more in it than text."""
    parts = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(parts, list):
        return None
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found) if len(found) == len(parts) else None


def native_call(tool: Tool) -> tuple[str, dict[str, Any]]:
    """Cursor's name and input for a tool, whichever platform it came from."""
    if tool.kind is _K.MCP and tool.mcp is not None:
        return f"{_MCP}{tool.mcp.tool}", tool.input
    if tool.name in TOOLS.rows or tool.kind in {_K.OTHER, _K.MCP}:
        return tool.name, tool.input
    # Claude Code's Edit is Write here; Cursor says so itself.
    kind = _K.WRITE if tool.kind is _K.EDIT else tool.kind
    name = next((name for name, row in TOOLS.rows.items() if row.kind is kind), tool.name)
    known = {own: getattr(tool, normal) for normal, own in OWN_KEYS.items()}
    return name, {key: value for key, value in known.items() if value} or tool.input
