"""Events of other platforms as Cursor would have sent them."""

import os
from typing import Any

import msgspec

from hookline.dialects.cursor.tools import native_call
from hookline.files import text_of
from hookline.model.events import (
    AfterLlmCall,
    CompactionEvent,
    Event,
    PostToolUse,
    PostToolUseFailure,
    PromptEvent,
    SessionEnd,
    Stop,
    SubagentStart,
    SubagentStop,
    ToolEvent,
)
from hookline.model.tools import Tool, ToolKind

__all__ = ["payload"]

_CONTENT_CAP = 1_000_000


def payload(event: Event, native: str) -> dict[str, Any]:
    """The native payload."""
    data: dict[str, Any] = {
        "hook_event_name": native,
        "cursor_version": "",
        "workspace_roots": [event.cwd] if event.cwd else [],
        "user_email": None,
    }
    if native == "workspaceOpen":
        return data
    data |= {
        "conversation_id": event.session_id,
        "generation_id": event.turn_id,
        "model": event.model,
        "transcript_path": event.transcript_path or None,
    }
    if native in {"sessionStart", "sessionEnd"}:
        data |= {"session_id": event.session_id, "is_background_agent": False}
    return data | _own(event, native)


def _own(event: Event, native: str) -> dict[str, Any]:
    match event:
        case ToolEvent():
            single = _single(event, native)
            return _call(event) | _result(event) if single is None else single
        case SessionEnd():
            return {"reason": event.reason or "completed", "duration_ms": 0, "final_status": ""}
        case PromptEvent():
            prompt = event.prompt or "\n".join(getattr(event, "prompts", ()))
            return {"prompt": prompt, "attachments": []}
        case SubagentStart():
            return {
                "subagent_id": event.agent.id or "",
                "subagent_type": event.agent.name,
                "task": "",
                "parent_conversation_id": event.session_id,
                "is_parallel_worker": False,
            }
        case SubagentStop():
            ended = {"subagent_type": event.agent.name, "summary": event.last_message}
            ended["agent_transcript_path"] = event.agent_transcript_path
            return ended | _ended(event.stop_hook_active)
        case Stop():
            return _ended(event.stop_hook_active)
        case CompactionEvent():
            return {
                "trigger": "manual" if event.trigger == "manual" else "auto",
                "context_tokens": event.input_tokens or 0,
                "context_window_size": event.context_limit or 0,
            }
        case AfterLlmCall():
            last = event.messages[-1].get("content") if event.messages else ""
            return {"text": last if isinstance(last, str) else msgspec.json.encode(last).decode()}
    return {}


def _ended(again: bool) -> dict[str, Any]:
    return {"status": "completed", "loop_count": int(again)}


def _call(event: ToolEvent) -> dict[str, Any]:
    """The call, and beside it the key that scripts for the single events look for."""
    tool = event.tool
    name, given = native_call(tool)
    data: dict[str, Any] = {
        "tool_name": name,
        "tool_input": given,
        "tool_use_id": tool.call_id or "",
        "cwd": event.cwd,
    }
    if tool.kind is ToolKind.SHELL and tool.command is not None:
        data |= {"command": tool.command, "sandbox": False}
    if tool.path is not None and tool.kind is not ToolKind.MCP:
        data["file_path"] = tool.path
    return data


def _single(event: ToolEvent, native: str) -> dict[str, Any] | None:
    """The keys of an event for one kind of tool; None for those that are for all."""
    tool = event.tool
    said = {"command": tool.command or "", "cwd": event.cwd, "sandbox": False}
    duration = {"duration": tool.duration_ms or 0}
    match native:
        case "beforeShellExecution":
            return said
        case "afterShellExecution":
            return said | duration | {"output": tool.output or getattr(event, "error", "")}
        case "beforeMCPExecution":
            return _mcp_call(tool)
        case "afterMCPExecution":
            return _mcp_call(tool) | duration | {"result_json": _stringified(tool)}
        case "beforeReadFile":
            path = tool.path or ""
            # Hooks that look for secrets look for them in what the agent is about to read.
            content = text_of(os.path.join(event.cwd or "/", path), _CONTENT_CAP)
            return {"file_path": path, "content": content, "attachments": []}
        case "afterFileEdit":
            new = tool.content if tool.new is None else tool.new
            edit = {"old_string": tool.old or "", "new_string": new or ""}
            return {"file_path": tool.path or "", "edits": [edit]}
    return None


def _mcp_call(tool: Tool) -> dict[str, Any]:
    """The call of an MCP tool, whose input travels as text."""
    server, name = (tool.mcp.server, tool.mcp.tool) if tool.mcp else ("", tool.name)
    given = msgspec.json.encode(tool.input).decode()
    return {"tool_name": name, "tool_input": given, "command": server}


def _result(event: ToolEvent) -> dict[str, Any]:
    tool = event.tool
    if isinstance(event, PostToolUseFailure):
        failed: dict[str, Any] = {"error_message": event.error, "failure_type": "error"}
        failed["is_interrupt"] = event.interrupted
        return failed | {"duration": tool.duration_ms or 0}
    if not isinstance(event, PostToolUse):
        return {}
    data = {"tool_output": _stringified(tool), "duration": tool.duration_ms or 0}
    return data | {"output": tool.output or ""} if tool.kind is ToolKind.SHELL else data


def _stringified(tool: Tool) -> str:
    """Cursor sends an answer as JSON in a text."""
    text = tool.output or ""
    if tool.kind is ToolKind.SHELL:
        return msgspec.json.encode({"stdout": text}).decode()
    if tool.kind is ToolKind.MCP:
        return msgspec.json.encode({"content": [{"type": "text", "text": text}]}).decode()
    return msgspec.json.encode(text).decode()
