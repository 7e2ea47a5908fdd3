"""Copilot CLI 1.0.102, as observed: what it does with a hook's reply."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

CONTEXT = {
    "sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure",
    "subagentStart", "notification",
}  # fmt: skip
CAMEL = {
    "SessionStart": "sessionStart", "SessionEnd": "sessionEnd",
    "UserPromptSubmit": "userPromptSubmitted", "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse", "PostToolUseFailure": "postToolUseFailure",
    "PermissionRequest": "permissionRequest", "Stop": "agentStop",
    "SubagentStart": "subagentStart", "SubagentStop": "subagentStop",
    "PreCompact": "preCompact", "ErrorOccurred": "errorOccurred", "Notification": "notification",
}  # fmt: skip
DECISIONS = {"allow": Does.SKIPS_ITS_QUESTION, "ask": Does.ASKS, "deny": Does.BLOCKS}


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    event = CAMEL.get(native, native)
    if reply.exit_code:
        return _exit(event, reply)
    text = reply.stdout.decode().strip()
    try:
        body = json.loads(text) if text else {}
    except ValueError:
        return Effect(failed="not JSON: as if nothing had been said")
    if not isinstance(body, dict):
        return Effect(failed="not an object")
    effect = _by_event(event, body, nested=native in CAMEL)
    context = body.get("additionalContext") if event in CONTEXT else None
    if context is None:
        return effect
    return Effect(
        does=effect.does,
        reason=effect.reason,
        context=context,
        input=effect.input,
        output=effect.output,
        follow_up=effect.follow_up,
    )


def _exit(event: str, reply: Reply) -> Effect:
    if event == "preToolUse":
        code = reply.exit_code
        said = "hook exited with code 2" if code == 2 else "hook errored"
        return Effect(does=Does.BLOCKS, reason=said)
    if event == "permissionRequest" and reply.exit_code == 2:
        return Effect(does=Does.BLOCKS)
    if event == "postToolUseFailure" and reply.exit_code == 2:
        return Effect(context=reply.stdout.decode())
    return Effect(failed=f"exit {reply.exit_code}: a warning, nothing more")


def _by_event(event: str, body: dict[str, Any], *, nested: bool) -> Effect:
    match event:
        case "preToolUse":
            return _pre_tool_use(body, nested=nested)
        case "permissionRequest":
            return _permission_request(body)
        case "postToolUse" if body.get("decision") == "block":
            return Effect(output=f"Tool result blocked: {body.get('reason')}")
        case "postToolUse" if isinstance(body.get("modifiedResult"), dict):
            return Effect(output=body["modifiedResult"]["textResultForLlm"])
        case "userPromptSubmitted" if body.get("decision") == "block" or body.get("handled"):
            return Effect(does=Does.BLOCKS, reason=body.get("reason", ""))
        case "agentStop" | "subagentStop" if body.get("decision") == "block":
            return Effect(follow_up=body["reason"])
        case _:
            return Effect()


def _pre_tool_use(body: dict[str, Any], *, nested: bool) -> Effect:
    own = body.get("hookSpecificOutput", {}) if nested else {}
    word = body.get("permissionDecision", own.get("permissionDecision"))
    does = DECISIONS[word] if word else Does.GOES_ON
    if does == Does.BLOCKS:
        reason = body.get("permissionDecisionReason", own.get("permissionDecisionReason"))
        return Effect(does=does, reason=f"Denied by preToolUse hook: {reason}")
    return Effect(does=does, input=body.get("modifiedArgs", own.get("updatedInput")))


def _permission_request(body: dict[str, Any]) -> Effect:
    if body.get("behavior") == "allow":
        return Effect(does=Does.SKIPS_ITS_QUESTION)
    if body.get("behavior") == "deny":
        does = Does.ENDS_THE_RUN if body.get("interrupt") is True else Does.BLOCKS
        return Effect(does=does, reason=body.get("message", ""))
    return Effect()  # to its rules, and under --allow-all-tools straight on


def payload(native: str) -> dict[str, Any]:
    """A payload as this client sends it."""
    event = CAMEL.get(native, native)
    if native in CAMEL and event not in {"permissionRequest", "notification", "subagentStart"}:
        return _snake(native, event)
    base = {"sessionId": "s1", "timestamp": 1794768566518, "cwd": "/srv/app"}
    tool = {"toolName": "bash", "toolArgs": {"command": "rm x", "description": "Remove"}}
    agent = {"agentId": "a1", "agentType": "explore", "parentAgentId": "s1"}
    if native == "SubagentStart":  # mixed casing
        agent = {"agent_id": "a1", "agent_type": "explore", "parent_agent_id": "s1"}
    stop = {"transcriptPath": "/t.jsonl", "stopReason": "end_turn", "stop_hook_active": False}
    own: dict[str, dict[str, Any]] = {
        "sessionStart": {"source": "new", "initialPrompt": "go"},
        "sessionEnd": {"reason": "complete"},
        "userPromptSubmitted": {"prompt": "go"},
        "userPromptTransformed": {"prompt": "go", "transformedPrompt": "<now/>\n\ngo"},
        "preToolUse": tool,
        "postToolUse": tool
        | {"toolResult": {"resultType": "success", "textResultForLlm": "secret"}},
        "postToolUseFailure": tool | {"error": "no such file"},
        "permissionRequest": {
            "hookName": "permissionRequest",
            "toolName": "bash",
            "toolInput": {"command": "rm x"},
            "permissionSuggestions": [],
        },
        "notification": {
            "message": "Run command: rm x",
            "title": "Permission needed",
            "hook_event_name": "Notification",
            "notification_type": "permission_prompt",
        },
        "agentStop": stop,
        "subagentStart": {"transcriptPath": "/t.jsonl", "agentName": "explore"} | agent,
        "subagentStop": stop | agent | {"agentName": "explore", "response": "done"},
        "preCompact": {
            "transcriptPath": "/t.jsonl",
            "trigger": "auto",
            "customInstructions": "",
        },
        "errorOccurred": {
            "error": {"message": "bad request", "name": "Error", "stack": ""},
            "errorContext": "model_call",
            "recoverable": True,
        },
        "preMcpToolCall": {"serverName": "lab", "toolName": "echo_text", "arguments": {}},
    }
    return base | own.get(event, {})


def _snake(native: str, event: str) -> dict[str, Any]:
    base = {
        "hook_event_name": native,
        "session_id": "s1",
        "timestamp": "2026-11-15T18:49:30.511Z",
        "cwd": "/srv/app",
    }
    tool = {"tool_name": "Bash", "tool_input": {"command": "rm x", "description": "Remove"}}
    agent = {"agent_id": "a1", "agent_type": "explore", "parent_agent_id": "s1"}
    stop = {"transcript_path": "/t.jsonl", "stop_reason": "end_turn", "stop_hook_active": False}
    own: dict[str, dict[str, Any]] = {
        "sessionStart": {"source": "new", "initial_prompt": "go"},
        "sessionEnd": {"reason": "complete"},
        "userPromptSubmitted": {"prompt": "go"},
        "preToolUse": tool,
        "postToolUse": tool
        | {"tool_result": {"result_type": "success", "text_result_for_llm": "secret"}},
        "postToolUseFailure": tool | {"error": "no such file"},
        "agentStop": stop,
        "subagentStop": stop | agent | {"agent_name": "explore", "last_assistant_message": "done"},
        "preCompact": {
            "transcript_path": "/t.jsonl",
            "trigger": "auto",
            "custom_instructions": "",
        },
        "errorOccurred": {
            "error": {"message": "bad request", "name": "Error", "stack": ""},
            "error_context": "model_call",
            "recoverable": True,
        },
    }
    return base | own[event]
