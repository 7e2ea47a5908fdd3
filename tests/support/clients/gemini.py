"""Gemini CLI 0.61.0, as observed: what it does with a hook's reply."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

# continue:false ends the run here; SessionStart and the rest pass over it.
STOPPED = {"BeforeTool", "AfterTool", "AfterAgent", "BeforeModel", "AfterModel"}
CONTEXT = {"SessionStart", "BeforeAgent", "AfterTool"}
REQUEST = {
    "model": "gemini-2.5-pro",
    "messages": [{"role": "user", "content": "do it"}],
    "config": {"temperature": 1},
}
RESPONSE = {"candidates": [{"content": {"role": "model", "parts": ["secret"]}}]}
CALL = {
    "tool_name": "run_shell_command",
    "tool_input": {"command": "rm x", "description": "Remove x"},
}
OWN: Mapping[str, Mapping[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "exit"},
    "BeforeAgent": {"prompt": "do it"},
    "AfterAgent": {"prompt": "do it", "prompt_response": "Done.", "stop_hook_active": False},
    "BeforeModel": {"llm_request": REQUEST},
    "BeforeToolSelection": {"llm_request": REQUEST},
    "AfterModel": {"llm_request": REQUEST, "llm_response": RESPONSE},
    "BeforeTool": CALL,
    "AfterTool": {**CALL, "tool_response": {"llmContent": "secret", "returnDisplay": "secret"}},
    "PreCompress": {"trigger": "auto"},
    "Notification": {"notification_type": "ToolPermission", "message": "May I?", "details": {}},
}


def payload(native: str) -> dict[str, Any]:
    """What the client sends."""
    return {
        "session_id": "s1",
        "transcript_path": "/home/dev/.gemini/tmp/app/chats/session-1.jsonl",
        "cwd": "/srv/app",
        "hook_event_name": native,
        "timestamp": "2026-11-15T19:09:22.439Z",
        **OWN.get(native, {}),
    }


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    return _obeyed(native, _parsed(reply), payload)


def _parsed(reply: Reply) -> dict[str, Any]:
    """Stdout, or stderr when stdout is empty; JSON in it beats the exit code."""
    text = reply.stdout.decode().strip() or reply.stderr.decode().strip()
    if not text:
        return {}
    try:
        body = json.loads(text)
        body = json.loads(body) if isinstance(body, str) else body
    except ValueError:
        if reply.exit_code in {0, 1}:
            return {"decision": "allow", "systemMessage": text}
        return {"decision": "deny", "reason": text}
    return body if isinstance(body, dict) else {}


def _obeyed(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    own = body.get("hookSpecificOutput") or {}
    reason = body.get("stopReason") or body.get("reason") or "No reason provided"
    if body.get("continue") is False and native in STOPPED:
        return Effect(does=Does.ENDS_THE_RUN, reason=reason)
    denied = body.get("decision") in {"deny", "block"}
    if native == "BeforeAgent" and body.get("continue") is False:
        return Effect(does=Does.BLOCKS, reason=reason)  # the prompt stays in the history
    if native in {"BeforeTool", "BeforeAgent", "BeforeModel"} and denied:
        return Effect(does=Does.BLOCKS, reason=reason)
    if native == "AfterTool" and denied:
        return Effect(output={"error": reason}, reason=reason, context=reason)
    if native == "AfterAgent" and denied:
        return Effect(follow_up=reason)
    # A denied AfterModel still runs the function call of that answer, so it counts for nothing.
    asks = native == "BeforeTool" and body.get("decision") == "ask"
    return Effect(
        does=Does.ASKS if asks else Does.GOES_ON,
        reason=body.get("systemMessage", "") if asks else "",
        context=_context(native, own),
        input=_input(native, own, payload),
    )


def _context(native: str, own: Mapping[str, Any]) -> str:
    """Only a text counts, and it cannot close the tag it is wrapped in."""
    text = own.get("additionalContext")
    if native not in CONTEXT or not isinstance(text, str):
        return ""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _input(
    native: str, own: Mapping[str, Any], payload: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The new input is merged over the old one; under Claude Code's key it is passed over."""
    given = own.get("tool_input")
    if native != "BeforeTool" or not isinstance(given, dict):
        return None
    return {**payload["tool_input"], **given}
