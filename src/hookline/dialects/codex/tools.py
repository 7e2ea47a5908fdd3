"""Codex's tools by the names and keys that its hooks see, and other platforms' tools as Codex's."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.model.tools import Tool, ToolKind, ToolRow, ToolTable, patched_paths

__all__ = ["TOOLS", "as_native", "patch_kind"]

_K = ToolKind
_BEGIN = "*** Begin Patch"


def _written(input: Mapping[str, Any]) -> str | None:
    text = input.get("command")
    if isinstance(text, list) and text and all(isinstance(word, str) for word in text):
        return "\n".join(text)
    return text if isinstance(text, str) else None


def _in_patch(text: str) -> tuple[str, ...]:
    # The client takes white space round its markers, so an indented one names a file as well.
    return patched_paths("\n".join(line.strip() for line in text.split("\n")))


def _patch(input: Mapping[str, Any]) -> Mapping[str, Any]:
    """A patch stands under ``command``, but it is none that a shell would run."""
    text = _written(input)
    if text is None:
        return {"command": None}
    return {"command": None, "content": text, "paths": _in_patch(text)}


def _shell(input: Mapping[str, Any]) -> Mapping[str, Any]:
    """``apply_patch`` in a here document is a shell call that names files all the same."""
    text = _written(input)
    return {"paths": _in_patch(text)} if text is not None and _BEGIN in text else {}


TOOLS = ToolTable(
    {
        "Bash": ToolRow(_K.SHELL, {"command": "command"}, _shell),
        "apply_patch": ToolRow(_K.EDIT, {"content": "command"}, _patch),
        "spawn_agent": ToolRow(_K.AGENT, {"content": "message"}),
        # What the latest models have instead; the client gives it no alias.
        "collaborationspawn_agent": ToolRow(_K.AGENT, {"content": "message"}),
        "view_image": ToolRow(_K.READ, {"path": "path"}),
        "request_user_input": ToolRow(_K.ASK, {}),
        "update_plan": ToolRow(_K.TASK, {}),
        "get_goal": ToolRow(_K.TASK, {}),
    }
)


def patch_kind(patch: str) -> ToolKind:
    """What a patch does: one that only adds files writes, one that only deletes them deletes."""
    lines = [line.strip() for line in patch.split("\n")]
    added = any(line.startswith("*** Add File: ") for line in lines)
    deleted = any(line.startswith("*** Delete File: ") for line in lines)
    updated = any(line.startswith("*** Update File: ") for line in lines)
    if updated or added == deleted:
        return _K.EDIT
    return _K.WRITE if added else _K.DELETE


def as_native(tool: Tool) -> tuple[str, dict[str, Any]]:
    """Name and input under which Codex would show this call to its hooks.

    What has no counterpart, or would lose something on the way, keeps its own name and input.
    """
    if tool.kind is _K.SHELL and tool.command is not None:
        return "Bash", {"command": tool.command}
    if tool.kind in {_K.WRITE, _K.EDIT, _K.DELETE}:
        patch = _as_patch(tool)
        if patch is not None:
            return "apply_patch", {"command": patch}
    if tool.kind is _K.AGENT and tool.content is not None:
        return "spawn_agent", {"message": tool.content}
    if tool.mcp is not None:
        return f"mcp__{tool.mcp.server}__{tool.mcp.tool}", tool.input
    return tool.name, tool.input


def _as_patch(tool: Tool) -> str | None:
    if tool.content is not None and _BEGIN in tool.content:
        return tool.content
    paths = tool.paths or ((tool.path,) if tool.path else ())
    told = tool.kind is _K.DELETE or any(
        text is not None for text in (tool.content, tool.old, tool.new)
    )
    if not paths or not told:
        return None
    return "\n".join((_BEGIN, *_hunks(tool, paths), "*** End Patch"))


def _hunks(tool: Tool, paths: tuple[str, ...]) -> Iterator[str]:
    word = {_K.DELETE: "Delete", _K.WRITE: "Add"}.get(tool.kind, "Update")
    for path in paths:
        yield f"*** {word} File: {path}"
        if word == "Update":
            yield "@@"
        if word != "Delete":
            yield from (f"-{line}" for line in (tool.old or "").splitlines())
            text = tool.content if tool.new is None else tool.new
            yield from (f"+{line}" for line in (text or "").splitlines())
