"""The tools of GitHub's agents: runtime names, the Claude names of them, Copilot's own keys.

Knows one call's name and arguments; must not know the event they came with.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.model.tools import Mcp, Tool, ToolKind, ToolRow, ToolTable, patched_paths

__all__ = [
    "CLAUDE_NAMES",
    "RUNTIME_NAMES",
    "TOOLS",
    "arguments",
    "call_for",
    "is_patch",
    "read_call",
]

_K = ToolKind


def is_patch(input: Mapping[str, Any]) -> bool:
    """Whether the arguments are a patch in one text, which no single key can rewrite."""
    return bool(_patch(input))


def _patch(input: Mapping[str, Any]) -> str:
    texts = (input.get(key) for key in ("input", "patch"))
    return next((t for t in texts if isinstance(t, str) and "*** Begin Patch" in t), "")


def _edited(input: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a patch touches, and what a question of permission says instead of the arguments."""
    patch, path, diff = _patch(input), input.get("file_path"), input.get("diff")
    found: dict[str, Any] = {}
    if patch:
        found |= {"paths": patched_paths(patch), "content": patch}
    if isinstance(path, str):
        found["paths"] = (*found.get("paths", ()), path)
    if isinstance(diff, str):
        found["content"] = diff
    return found


_SHELL = ToolRow(_K.SHELL, {"command": "command"})
_TYPED = ToolRow(_K.SHELL, {"command": "input"})  # what is typed into a shell that runs already
_READ = ToolRow(_K.READ, {"path": "path"})
_WRITE = ToolRow(_K.WRITE, {"path": "path", "content": "file_text"})
_EDIT = ToolRow(_K.EDIT, {"path": "path", "old": "old_str", "new": "new_str"}, _edited)
_SEARCH = ToolRow(_K.SEARCH, {"path": "path", "query": "pattern"})
_AGENT = ToolRow(_K.AGENT, {"content": "prompt"})

_RUNTIME = {
    "bash": _SHELL,
    "powershell": _SHELL,
    "write_bash": _TYPED,
    "write_powershell": _TYPED,
    "search_bash": _SHELL,
    "view": _READ,
    "show_file": _READ,
    "create": _WRITE,
    "edit": _EDIT,
    "str_replace": _EDIT,
    "insert": ToolRow(_K.EDIT, {"path": "path", "new": "new_str"}),
    "undo_edit": ToolRow(_K.EDIT, {"path": "path"}),
    "str_replace_editor": _EDIT,
    "apply_patch": ToolRow(_K.EDIT, special=_edited),
    "grep": _SEARCH,
    "rg": _SEARCH,
    "glob": _SEARCH,
    "lsp": ToolRow(_K.SEARCH, {"path": "file", "query": "query"}),
    "web_fetch": ToolRow(_K.FETCH, {"url": "url"}),
    "web_search": ToolRow(_K.FETCH, {"query": "query"}),
    "task": _AGENT,
    "write_agent": ToolRow(_K.AGENT, {"content": "message"}),
    "skill": ToolRow(_K.AGENT),
    "update_todo": ToolRow(_K.TASK, {"content": "todos"}),
    "ask_user": ToolRow(_K.ASK, {"content": "question"}),
    "exit_plan_mode": ToolRow(_K.PLAN, {"content": "summary"}),
    "gh-advisory-database": ToolRow(_K.OTHER),  # the one built-in with a dash in its name
}
# Runtime name → the name in payloads of PascalCase events.
CLAUDE_NAMES: Mapping[str, str] = {
    "bash": "Bash",
    "powershell": "Bash",
    "view": "Read",
    "create": "Write",
    "edit": "Edit",
    "str_replace_editor": "Edit",
    "apply_patch": "Edit",
    "grep": "Grep",
    "rg": "Grep",
    "glob": "Glob",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
    "ask_user": "AskUserQuestion",
    "update_todo": "TodoWrite",
    "task": "Agent",
}
# The other way round, the first runtime name of several.
RUNTIME_NAMES: Mapping[str, str] = {
    claude: name for name, claude in reversed(list(CLAUDE_NAMES.items()))
} | {"Task": "task"}

TOOLS = ToolTable(
    {**_RUNTIME, **{claude: _RUNTIME[name] for claude, name in RUNTIME_NAMES.items()}}
)

# Under the name of one tool the older editor does three things.
_EDITORS = {"str_replace_editor", "Edit"}
_EDITOR_KINDS = {"view": _K.READ, "create": _K.WRITE}
# A dash parts server from tool and may stand in both; of these servers it is known.
_SERVERS_WITH_DASH = ("github-mcp-server-",)


def arguments(value: Any) -> dict[str, Any] | None:
    """Arguments as an object, also where they came as its JSON text; None for any other value."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def read_call(name: str, value: Any) -> Tool:
    """The canonical tool in a name and whatever came as its arguments."""
    given = arguments(value)
    bare = value if given is None and isinstance(value, str) else ""
    input = given if given is not None else ({"input": value} if value is not None else {})
    server = None if name in TOOLS.rows else _server(name)
    if server is not None:
        return replace(TOOLS.read(name, input, kind=_K.MCP), mcp=server)
    kind = _EDITOR_KINDS.get(str(input.get("command"))) if name in _EDITORS else None
    tool = TOOLS.read(name, input, kind=kind)
    if bare and tool.command is None and tool.kind in {_K.SHELL, _K.OTHER}:
        # A tool that takes one bare text is judged as what that most likely is, a command.
        tool = replace(tool, command=bare, kind=_K.SHELL)
    return tool


def _server(name: str) -> Mcp | None:
    """``lab-echo_text`` in tool events, ``lab/echo_text`` where permission is asked."""
    if "/" in name:
        server, _, tool = name.partition("/")
        return Mcp(server, tool)
    for known in _SERVERS_WITH_DASH:
        if name.startswith(known):
            return Mcp(known[:-1], name[len(known) :])
    server, dash, tool = name.partition("-")
    return Mcp(server, tool) if dash and server and tool else None


def call_for(tool: Tool) -> tuple[str, dict[str, Any], Mapping[str, str]]:
    """A call from another platform: runtime name, arguments, and native key → canonical name."""
    if tool.mcp is not None:
        return f"{tool.mcp.server}-{tool.mcp.tool}", tool.input, {}
    name = RUNTIME_NAMES.get(tool.name, tool.name)
    row = _RUNTIME.get(name)
    if row is None or row.kind is not tool.kind:
        same = (each for each, row in _RUNTIME.items() if row.kind is tool.kind)
        name = tool.name if tool.kind is _K.OTHER else next(same, tool.name)
        row = _RUNTIME.get(name)
    keys = row.keys if row is not None else {}
    known = {key: value for field, key in keys.items() if (value := getattr(tool, field))}
    if not known:
        return name, tool.input, {}
    return name, known, {key: field for field, key in keys.items()}
