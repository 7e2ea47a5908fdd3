"""Canonical tools: one set of field names over every platform's tool names and input keys."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

__all__ = [
    "CANONICAL_TOOLS",
    "KIND_FIELDS",
    "Mcp",
    "Tool",
    "ToolKind",
    "ToolRow",
    "ToolTable",
    "patched_paths",
    "tool",
]


class ToolKind(StrEnum):
    """What a tool does, whatever its platform calls it."""

    SHELL = "shell"
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    SEARCH = "search"
    FETCH = "fetch"
    MCP = "mcp"
    AGENT = "agent"
    TASK = "task"
    ASK = "ask"
    PLAN = "plan"
    OTHER = "other"


# Which normal fields a kind can carry; a rule that asks for another one could never fire.
KIND_FIELDS: Mapping[ToolKind, frozenset[str]] = {
    ToolKind.SHELL: frozenset({"command"}),
    ToolKind.READ: frozenset({"path"}),
    ToolKind.WRITE: frozenset({"path"}),
    ToolKind.EDIT: frozenset({"path"}),
    ToolKind.DELETE: frozenset({"path"}),
    ToolKind.SEARCH: frozenset({"path"}),
    ToolKind.FETCH: frozenset({"url"}),
    ToolKind.MCP: frozenset({"mcp", "command", "path", "url"}),
    ToolKind.AGENT: frozenset(),
    ToolKind.TASK: frozenset(),
    ToolKind.ASK: frozenset(),
    ToolKind.PLAN: frozenset({"path"}),
    ToolKind.OTHER: frozenset({"command", "path", "url"}),
}


def _no_input() -> dict[str, Any]:
    return {}


class Mcp(Struct, frozen=True):
    """Which tool of which MCP server."""

    server: str
    tool: str


class Tool(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call: the native name and input, and the normal fields read from them."""

    # Factories, because omit_defaults would drop these three when they hold their default,
    # and every hook may rely on finding them.
    kind: ToolKind = field(default_factory=lambda: ToolKind.OTHER)
    name: str = field(default_factory=lambda: "")
    input: dict[str, Any] = field(default_factory=_no_input)
    call_id: str | None = None
    command: str | None = None
    path: str | None = None
    paths: tuple[str, ...] = ()
    url: str | None = None
    query: str | None = None
    content: str | None = None
    old: str | None = None
    new: str | None = None
    mcp: Mcp | None = None
    output: str | None = None
    """After the tool ran: what it answered, as text."""
    ok: bool | None = None
    duration_ms: float | None = None


class ToolRow(Struct, frozen=True):
    """How one native tool reads: its kind, and the native key of each normal field."""

    kind: ToolKind
    keys: Mapping[str, str] = {}
    special: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """Fields that no single key holds, such as the paths inside a patch."""


# Keys under which tools of unknown shape keep what we look for, the likeliest first.
_LIKELY: Mapping[str, tuple[str, ...]] = {
    "command": (
        "command",
        "cmd",
        "script",
        "commands",
        "shell_command",
        "shellCommand",
        "command_line",
        "commandLine",
        "bash_command",
    ),
    "path": (
        "path",
        "file_path",
        "filePath",
        "absolute_path",
        "notebook_path",
        "target_file",
        "file",
        "filename",
    ),
    "paths": ("paths", "files", "filePaths"),
    "url": ("url", "uri"),
    "query": ("query", "pattern"),
    "content": ("content", "contents", "file_text"),
    "old": ("old", "old_string", "oldString", "old_str"),
    "new": ("new", "new_string", "newString", "new_str"),
}
_TEXT_FIELDS = ("command", "path", "url", "query", "content", "old", "new")
_MOST_PLANS = 256
_MOST_KEYS = 32
_LONGEST_PLANNED = 1_000


def patched_paths(patch: str) -> tuple[str, ...]:
    """The files that an ``apply_patch`` text adds, updates, deletes or moves to."""
    marks = ("*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:")
    # Clients trim white space round a marker, and only a line feed ends a line for them.
    lines = [line.strip() for line in patch.split("\n")]
    found = [line[len(mark) :].strip() for line in lines for mark in marks if line.startswith(mark)]
    return tuple(dict.fromkeys(found))


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(word, str) for word in value):
        from shlex import join

        return join(value)
    return None


def _lines(key: str, value: object) -> str | None:
    """What a key holds as shell text; under ``commands`` each entry is a command of its own."""
    if key == "commands" and isinstance(value, list | tuple):
        texts = [_text(each) for each in value]
        return "\n".join(text for text in texts if text) or None
    return _text(value)


def _arguments(input: Mapping[str, Any]) -> str:
    """The words that some tools take apart from their program: ``command: rm, args: [-rf, /]``."""
    words = next((input[key] for key in ("args", "arguments") if key in input), None)
    text = _text(words) if isinstance(words, list | tuple) else None
    return f" {text}" if text else ""


class _Plan(Struct, frozen=True):
    """Where to look in a call of one tool with these keys, whatever they hold."""

    row: ToolRow | None
    mcp: Mcp | None
    texts: tuple[tuple[str, str], ...]
    """The normal fields that may be there, each with its native key."""
    commands: tuple[str, ...]
    """Without one true key, what runs may stand under any of these: all of them are judged."""
    many: str
    """The key of a list of paths; empty where there is none."""
    paths: tuple[str, ...]
    """Without one true key the target may stand under any of these: all are looked at."""


class ToolTable:
    """Native tool names and keys to the canonical tool, and rewrites back to native keys."""

    def __init__(self, rows: Mapping[str, ToolRow]) -> None:
        self.rows = rows
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def read(self, name: str, input: dict[str, Any], *, kind: ToolKind | None = None) -> Tool:
        """The canonical tool for a native call; unknown tools are read by their likely keys."""
        known = self._plans.get((name, *input)) if len(input) <= _MOST_KEYS else None
        plan = known or self._planned(name, input)
        row = plan.row
        fields: dict[str, Any] = {}
        for normal, key in plan.texts:
            value = _text(input[key])
            if value is not None:
                fields[normal] = value
        if plan.commands:
            found = [text for key in plan.commands if (text := _lines(key, input[key]))]
            if found:
                fields["command"] = "\n".join([found[0] + _arguments(input), *found[1:]])
        if row is not None and row.special is not None:
            fields.update(row.special(input))
        if plan.many or plan.paths or "path" in fields or "paths" in fields:
            fields["paths"] = paths = _paths(plan, input, fields)
            if paths:
                fields["path"] = paths[0]
        if plan.mcp is not None:
            fields["mcp"] = plan.mcp
        if kind is None:
            kind = row.kind if row is not None else _unknown_kind(name, fields)
        return Tool(kind=kind, name=name, input=input, **fields)

    def _planned(self, name: str, input: Mapping[str, Any]) -> _Plan:
        row = self.rows.get(name)
        keys = {} if row is None else row.keys
        texts = ((normal, self._key(row, normal, input)) for normal in _TEXT_FIELDS)
        many = self._key(row, "paths", input)
        plan = _Plan(
            row=row,
            mcp=_mcp_name(name) if row is None else None,
            texts=tuple(each for each in texts if each[1] in input),
            commands=() if "command" in keys else _likely("command", input),
            many=many if many in input else "",
            paths=() if "path" in keys else _likely("path", input),
        )
        # Agents call the same tools with the same keys, but nothing keeps them from other ones.
        if len(input) <= _MOST_KEYS and len(name) + sum(map(len, input)) < _LONGEST_PLANNED:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[(name, *input)] = plan
        return plan

    def write(
        self, name: str, input: Mapping[str, Any], patch: Mapping[str, Any]
    ) -> dict[str, Any]:
        """``patch`` with canonical names moved to the native keys; a native key wins."""
        row = self.rows.get(name)
        native: dict[str, Any] = {}
        for key, value in patch.items():
            native_key = self._key(row, key, input) if key in _LIKELY else key
            if native_key == key or native_key not in patch:
                native[native_key] = value
        return native

    def _key(self, row: ToolRow | None, normal: str, input: Mapping[str, Any]) -> str:
        if row is not None and normal in row.keys:
            return row.keys[normal]
        for key in _LIKELY[normal]:
            if key in input:
                return key
        return normal


def _likely(normal: str, input: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(key for key in _LIKELY[normal] if key in input)


def _paths(plan: _Plan, input: Mapping[str, Any], fields: Mapping[str, Any]) -> tuple[str, ...]:
    found = list(fields.get("paths", ()))
    if "path" in fields:
        found.insert(0, fields["path"])
    many = input[plan.many] if plan.many else None
    if isinstance(many, list):
        found += [path for path in many if isinstance(path, str)]
    found += [value for key in plan.paths if isinstance(value := input[key], str)]
    return tuple(dict.fromkeys(found))


def _unknown_kind(name: str, fields: Mapping[str, Any]) -> ToolKind:
    """Of a tool that is in no table."""
    if "mcp" in fields:
        return ToolKind.MCP
    if name in ToolKind.__members__.values():
        return ToolKind(name)
    # An unknown tool with a command is guarded as a shell rather than waved through.
    return ToolKind.SHELL if "command" in fields else ToolKind.OTHER


def _mcp_name(name: str) -> Mcp | None:
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return Mcp(server, tool)


def _patch(input: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in ("input", "patch", "command"):
        value = _text(input.get(key))
        if value is not None and "*** Begin Patch" in value:
            return {"paths": patched_paths(value), "content": value}
    return {}


_K = ToolKind
# Names that mean the same thing wherever they occur; each dialect adds an exact table of its own.
CANONICAL_TOOLS = ToolTable(
    {
        name: ToolRow(kind, special=_patch if name == "apply_patch" else None)
        for kind, names in {
            _K.SHELL: (
                "Bash bash PowerShell powershell shell run_shell_command run_in_terminal "
                "exec_command local_shell execute_command"
            ),
            _K.READ: "Read read read_file view view_image NotebookRead",
            _K.WRITE: "Write write write_file create create_file",
            _K.EDIT: (
                "Edit edit MultiEdit NotebookEdit apply_patch replace str_replace "
                "replace_string_in_file edit_file"
            ),
            _K.DELETE: "delete delete_file",
            _K.SEARCH: "Grep Glob grep glob search list_directory file_search grep_search LS",
            _K.FETCH: (
                "WebFetch WebSearch fetch web_fetch web_search fetch_webpage google_web_search"
            ),
            _K.AGENT: "Agent Task agent spawn_agent runSubagent",
            _K.TASK: "task TodoWrite TaskCreate TaskUpdate TaskList todowrite update_plan",
            _K.ASK: "AskUserQuestion ask ask_user request_user_input",
            _K.PLAN: "ExitPlanMode EnterPlanMode plan",
        }.items()
        for name in names.split()
    }
)


def tool(name: str, /, **input: Any) -> Tool:
    """A tool call as the canonical dialect reads it: ``tool("shell", command="ls")``."""
    return CANONICAL_TOOLS.read(name, input)
