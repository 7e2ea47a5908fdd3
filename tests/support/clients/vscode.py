"""VS Code's local agent, as its code and documentation describe it: what it does with a reply."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

STOP_REASON_IS_IGNORED = {"SessionStart", "SubagentStart"}
CONTEXT = {"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}
CONTINUED = {"Stop", "SubagentStop"}
# The keys that tools take, with the type of each value.
SCHEMAS: dict[str, dict[str, type]] = {
    "run_in_terminal": {"command": str, "explanation": str, "isBackground": bool},
    "create_file": {"filePath": str, "content": str},
}
ALIASES = {("Stop", "SubagentStop"), ("SessionStart", "SubagentStart")}


def payload(native: str) -> dict[str, Any]:
    """A payload of this event."""
    data: dict[str, Any] = {
        "timestamp": "2026-02-09T10:30:00.000Z",
        "hook_event_name": native,
        "session_id": "s1",
        "cwd": "/srv/app",
    }
    own: dict[str, dict[str, Any]] = {
        "SessionStart": {"source": "new"},
        "UserPromptSubmit": {"prompt": "do it"},
        "PreCompact": {"trigger": "auto"},
        "SubagentStart": {"agent_id": "a1", "agent_type": "Plan"},
        "SubagentStop": {"agent_id": "a1", "agent_type": "Plan", "stop_hook_active": False},
        "Stop": {"stop_hook_active": False},
    }
    if native in {"PreToolUse", "PostToolUse"}:
        data |= {
            "tool_name": "run_in_terminal",
            "tool_input": {"command": "rm x", "explanation": "tidy", "isBackground": False},
            "tool_use_id": "t1",
        }
    if native == "PostToolUse":
        data["tool_response"] = "secret"
    return data | own.get(native, {})


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    if native == "PreCompact":
        return Effect()  # whatever it says
    if reply.exit_code == 2:
        return _exit_2(native, reply.stderr.decode(), payload)
    if reply.exit_code != 0:
        return Effect(failed=f"exit {reply.exit_code}")
    text = reply.stdout.decode().strip()
    if not text:
        return Effect()
    try:
        body = json.loads(text)
    except ValueError:
        return Effect(failed="not JSON: kept as a string and ignored")
    if not isinstance(body, dict):
        return Effect()
    if _foreign(body, native):
        return Effect(failed="hookEventName")
    own = body.get("hookSpecificOutput") or {}
    if _foreign(own, native):
        own = {}
    return _json(native, body, own, payload)


def _foreign(part: Mapping[str, Any], native: str) -> bool:
    name = part.get("hookEventName")
    return isinstance(name, str) and name != native and (name, native) not in ALIASES


def _exit_2(native: str, stderr: str, payload: Mapping[str, Any]) -> Effect:
    if native == "PreToolUse":
        return Effect(
            does=Does.BLOCKS, reason=f"Tried to use {payload.get('tool_name')} - {stderr}"
        )
    if native == "UserPromptSubmit":
        return Effect(does=Does.ENDS_THE_RUN, reason=stderr)
    if native == "PostToolUse":
        return Effect(context=stderr)
    return Effect(follow_up=stderr if native in CONTINUED else "")


def _json(
    native: str, body: dict[str, Any], own: dict[str, Any], payload: Mapping[str, Any]
) -> Effect:
    stop = body.get("stopReason")
    if isinstance(stop, str) or body.get("continue") is False:
        if native in STOP_REASON_IS_IGNORED:
            return Effect(failed="a stop reason here costs the whole answer")
        return Effect(does=Does.ENDS_THE_RUN, reason=stop or "")
    context = own.get("additionalContext", "") if native in CONTEXT else ""
    if native == "UserPromptSubmit":
        context = context or body.get("additionalContext", "")
        if body.get("decision") == "block":
            return Effect(does=Does.ENDS_THE_RUN, reason=body.get("reason") or "No reason provided")
    if native == "PreToolUse":
        return _permission(own, context, payload)
    if native == "PostToolUse" and body.get("decision") == "block":
        why = f"The PostToolUse hook blocked this tool result. Reason: {body.get('reason')}"
        context = f"{why}\n{context}"
    follow_up = ""
    if native in CONTINUED and own.get("decision") == "block":
        follow_up = own.get("reason", "")
    return Effect(context=context, follow_up=follow_up)


def _permission(own: dict[str, Any], context: str, payload: Mapping[str, Any]) -> Effect:
    word = own.get("permissionDecision")
    does = {
        "allow": Does.SKIPS_ITS_QUESTION,
        "ask": Does.ASKS,
        "deny": Does.BLOCKS,
    }.get(str(word), Does.GOES_ON)
    updated = own.get("updatedInput")
    if updated is not None and not _is_valid(updated, payload):
        updated = None  # logged, and the old input runs
    reason = own.get("permissionDecisionReason", "")
    return Effect(does=does, reason=reason, context=context, input=updated)


def _is_valid(updated: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
    """Whether it fits the schema: the input it replaces did, so it had every required key."""
    schema = SCHEMAS.get(str(payload.get("tool_name")), {})
    typed = all(key in schema and type(value) is schema[key] for key, value in updated.items())
    return typed and set(payload.get("tool_input", {})) <= set(updated)
