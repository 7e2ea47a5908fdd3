"""Claude Code's tools, by the names and keys of their inputs."""

from hookline.model.tools import ToolKind, ToolRow, ToolTable

__all__ = ["TOOLS"]

_K = ToolKind
_SHELL = ToolRow(_K.SHELL, {"command": "command"})
_FILE = {"path": "file_path"}
_PATH = {"path": "path", "query": "pattern"}

TOOLS = ToolTable(
    {
        "Bash": _SHELL,
        "PowerShell": _SHELL,
        "Monitor": _SHELL,
        "Write": ToolRow(_K.WRITE, {**_FILE, "content": "content"}),
        "Edit": ToolRow(_K.EDIT, {**_FILE, "old": "old_string", "new": "new_string"}),
        "MultiEdit": ToolRow(_K.EDIT, _FILE),
        "NotebookEdit": ToolRow(_K.EDIT, {"path": "notebook_path", "content": "new_source"}),
        "Read": ToolRow(_K.READ, _FILE),
        "Glob": ToolRow(_K.SEARCH, _PATH),
        "Grep": ToolRow(_K.SEARCH, _PATH),
        "LS": ToolRow(_K.SEARCH, {"path": "path"}),
        "LSP": ToolRow(_K.SEARCH, {"path": "filePath"}),
        "WebFetch": ToolRow(_K.FETCH, {"url": "url", "query": "prompt"}),
        "WebSearch": ToolRow(_K.FETCH, {"query": "query"}),
        "Agent": ToolRow(_K.AGENT, {"content": "prompt"}),
        "Task": ToolRow(_K.AGENT, {"content": "prompt"}),
        "Skill": ToolRow(_K.AGENT, {}),
        "TodoWrite": ToolRow(_K.TASK, {}),
        "TaskCreate": ToolRow(_K.TASK, {}),
        "TaskUpdate": ToolRow(_K.TASK, {}),
        "TaskList": ToolRow(_K.TASK, {}),
        "TaskGet": ToolRow(_K.TASK, {}),
        "AskUserQuestion": ToolRow(_K.ASK, {}),
        "ExitPlanMode": ToolRow(_K.PLAN, {"content": "plan"}),
        "EnterPlanMode": ToolRow(_K.PLAN, {}),
    }
)
