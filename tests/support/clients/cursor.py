"""Cursor, as its documentation describes it: what it does with a reply."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

PERMISSION = {
    "preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile",
    "beforeTabFileRead", "subagentStart",
}  # fmt: skip
ASKS = {"beforeShellExecution", "beforeMCPExecution"}
AGENT_MESSAGE = {"preToolUse", "beforeShellExecution", "beforeMCPExecution"}
ANSWER_KEYS = {
    "permission", "user_message", "agent_message", "updated_input", "continue",
    "followup_message", "additional_context", "updated_mcp_tool_output", "env", "pluginPaths",
}  # fmt: skip

_CALL = {
    "tool_name": "Shell",
    "tool_input": {"command": "rm x", "working_directory": ""},
    "tool_use_id": "t1",
    "cwd": "/srv/app",
}
_MCP_CALL = {"tool_name": "drop", "tool_input": '{"command": "rm x"}'}
_EDIT = {"file_path": "/srv/app/a.py", "edits": [{"old_string": "a", "new_string": "b"}]}
_OWN: dict[str, dict[str, Any]] = {
    "sessionStart": {"session_id": "s1", "is_background_agent": False},
    "sessionEnd": {"session_id": "s1", "reason": "completed"},
    "beforeSubmitPrompt": {"prompt": "do it", "attachments": []},
    "preToolUse": _CALL,
    "postToolUse": {**_CALL, "tool_output": '{"exitCode":0,"stdout":"secret"}', "duration": 5},
    "postToolUseFailure": {**_CALL, "error_message": "no", "failure_type": "error"},
    "beforeShellExecution": {"command": "rm x", "cwd": "/srv/app", "sandbox": False},
    "afterShellExecution": {"command": "rm x", "output": "secret", "duration": 5},
    "beforeMCPExecution": {**_MCP_CALL, "url": "https://mcp.example.com"},
    "afterMCPExecution": {**_MCP_CALL, "result_json": '{"content":[]}', "duration": 5},
    "beforeReadFile": {"file_path": "/srv/app/.env", "content": "K=v", "attachments": []},
    "beforeTabFileRead": {"file_path": "/srv/app/.env", "content": "K=v"},
    "afterFileEdit": _EDIT,
    "afterTabFileEdit": _EDIT,
    "subagentStart": {"subagent_id": "a1", "subagent_type": "explore", "task": "look"},
    "subagentStop": {"subagent_type": "explore", "status": "completed", "loop_count": 0},
    "preCompact": {"trigger": "auto", "context_tokens": 9, "context_window_size": 10},
    "stop": {"status": "completed", "loop_count": 0},
    "afterAgentResponse": {"text": "done"},
    "afterAgentThought": {"text": "hm"},
}


def payload(native: str) -> dict[str, Any]:
    """A payload of this event."""
    data: dict[str, Any] = {
        "hook_event_name": native,
        "cursor_version": "1.7.2",
        "workspace_roots": ["/srv/app"],
        "user_email": None,
    }
    if native != "workspaceOpen":
        data |= {"conversation_id": "s1", "generation_id": "g1", "model": "m"}
    return data | _OWN.get(native, {})


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    if reply.exit_code == 2:
        blocks = native in PERMISSION | {"beforeSubmitPrompt"}
        return Effect(does=Does.BLOCKS if blocks else Does.GOES_ON, reason=reply.stderr.decode())
    if reply.exit_code != 0:
        return Effect(failed=f"exit {reply.exit_code}")
    try:
        body = json.loads(reply.stdout.decode())
    except ValueError:
        return Effect(failed="invalid JSON; also nothing at all, where the hook fails closed")
    if not isinstance(body, dict) or set(body) - ANSWER_KEYS:
        return Effect(failed="not an answer")
    if native in PERMISSION:
        return _permission(native, body)
    if native == "beforeSubmitPrompt" and body.get("continue") is False:
        return Effect(does=Does.BLOCKS, reason=body.get("user_message", ""))
    if native == "postToolUse":
        is_mcp = str(payload["tool_name"]).startswith("MCP:")
        output = body.get("updated_mcp_tool_output") if is_mcp else None
        return Effect(context=body.get("additional_context", ""), output=output)
    if native == "sessionStart":
        return Effect(context=body.get("additional_context", ""))
    counts = native == "stop" or (native == "subagentStop" and payload["status"] == "completed")
    return Effect(follow_up=body.get("followup_message", "") if counts else "")


def _permission(native: str, body: Mapping[str, Any]) -> Effect:
    word = body.get("permission")
    does = Does.GOES_ON
    if word == "allow":
        does = Does.SKIPS_ITS_QUESTION
    elif word == "deny" or (word == "ask" and native == "subagentStart"):
        does = Does.BLOCKS
    elif word == "ask" and native in ASKS:
        does = Does.ASKS
    told = body.get("agent_message", "") if native in AGENT_MESSAGE else ""
    return Effect(
        does=does,
        reason=body.get("user_message", "") if does >= Does.ASKS else "",
        context=told if does >= Does.ASKS else "",
        input=body.get("updated_input") if native == "preToolUse" else None,
    )
