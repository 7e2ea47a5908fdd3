"""VS Code's tools, by the names and keys of their inputs."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hookline.model.tools import Mcp, Tool, ToolKind, ToolRow, ToolTable, patched_paths

__all__ = ["TOOLS"]

_K = ToolKind
_FILE = {"path": "filePath"}
_TASK = "create_and_run_task"


class _Tools(ToolTable):
    """Adds what keys alone cannot say: ``mcp_server_tool`` names, and a task's nested command."""

    def read(self, name: str, input: dict[str, Any], *, kind: ToolKind | None = None) -> Tool:
        tool = super().read(name, input, kind=kind)
        if name in self.rows or tool.mcp is not None or not name.startswith("mcp_"):
            return tool
        # A server's name may hold underscores too, and then nothing says where it ends.
        server, _, rest = name.removeprefix("mcp_").partition("_")
        return replace(tool, mcp=Mcp(server, rest), kind=kind or _K.MCP)

    def write(
        self, name: str, input: Mapping[str, Any], patch: Mapping[str, Any]
    ) -> dict[str, Any]:
        task = input.get("task")
        if name != _TASK or not isinstance(task, dict) or "command" not in patch:
            return super().write(name, input, patch)
        rest = {key: value for key, value in patch.items() if key != "command"}
        changed = {**task, "command": patch["command"], "args": []}
        return super().write(name, input, {"task": changed, **rest})


def _task(input: Mapping[str, Any]) -> Mapping[str, Any]:
    task = input.get("task")
    if not isinstance(task, dict):
        return {}
    args = task.get("args")
    words = [task.get("command"), *(args if isinstance(args, list) else [])]
    # Joined as they are, not quoted: the task's shell splits and expands them.
    command = " ".join(word for word in words if isinstance(word, str))
    return {"command": command} if command else {}


def _replacements(input: Mapping[str, Any]) -> Mapping[str, Any]:
    each = input.get("replacements")
    parts = [part for part in each if isinstance(part, dict)] if isinstance(each, list) else []

    def all_of(key: str) -> list[str]:
        return [part[key] for part in parts if isinstance(part.get(key), str)]

    return {
        "paths": tuple(dict.fromkeys(all_of("filePath"))),
        "old": "\n".join(all_of("oldString")),
        "new": "\n".join(all_of("newString")),
    }


def _patch(input: Mapping[str, Any]) -> Mapping[str, Any]:
    text = input.get("input")
    return {"paths": patched_paths(text)} if isinstance(text, str) else {}


def _urls(input: Mapping[str, Any]) -> Mapping[str, Any]:
    urls = input.get("urls")
    words = [url for url in urls if isinstance(url, str)] if isinstance(urls, list) else []
    return {"url": "\n".join(words)} if words else {}


TOOLS = _Tools(
    {
        "run_in_terminal": ToolRow(_K.SHELL, {"command": "command"}),
        _TASK: ToolRow(_K.SHELL, {}, _task),
        "create_file": ToolRow(_K.WRITE, {**_FILE, "content": "content"}),
        "create_directory": ToolRow(_K.WRITE, {"path": "dirPath"}),
        "replace_string_in_file": ToolRow(
            _K.EDIT, {**_FILE, "old": "oldString", "new": "newString"}
        ),
        "multi_replace_string_in_file": ToolRow(_K.EDIT, {}, _replacements),
        "insert_edit_into_file": ToolRow(_K.EDIT, {**_FILE, "content": "code"}),
        "edit_notebook_file": ToolRow(_K.EDIT, {**_FILE, "content": "newCode"}),
        "apply_patch": ToolRow(_K.EDIT, {"content": "input"}, _patch),
        "editFiles": ToolRow(_K.EDIT),
        "edit_files": ToolRow(_K.EDIT),
        "read_file": ToolRow(_K.READ, _FILE),
        "view_image": ToolRow(_K.READ, _FILE),
        "read_notebook_cell_output": ToolRow(_K.READ, _FILE),
        "copilot_getNotebookSummary": ToolRow(_K.READ, _FILE),
        "list_dir": ToolRow(_K.SEARCH, {"path": "path"}),
        "file_search": ToolRow(_K.SEARCH, {"query": "query"}),
        "grep_search": ToolRow(_K.SEARCH, {"query": "query"}),
        "semantic_search": ToolRow(_K.SEARCH, {"query": "query"}),
        "search_workspace_symbols": ToolRow(_K.SEARCH, {"query": "symbolName"}),
        "list_code_usages": ToolRow(_K.SEARCH, {"query": "symbolName", "paths": "filePaths"}),
        "test_search": ToolRow(_K.SEARCH, {"paths": "filePaths"}),
        "fetch_webpage": ToolRow(_K.FETCH, {"query": "query"}, _urls),
        "open_simple_browser": ToolRow(_K.FETCH, {"url": "url"}),
        "github_repo": ToolRow(_K.FETCH, {"query": "query"}),
        "runSubagent": ToolRow(_K.AGENT, {"content": "prompt"}),
        "search_subagent": ToolRow(_K.AGENT, {"query": "query"}),
        "manage_todo_list": ToolRow(_K.TASK),
        "ask_questions": ToolRow(_K.ASK),
        "vscode_askQuestions": ToolRow(_K.ASK),
        # Its `command` is a word such as "view", not something a shell runs.
        "memory": ToolRow(_K.OTHER, {"path": "path", "content": "file_text"}),
        "run_notebook_cell": ToolRow(_K.OTHER, _FILE),
        "run_task": ToolRow(_K.OTHER),
        "run_vscode_command": ToolRow(_K.OTHER),
    }
)
