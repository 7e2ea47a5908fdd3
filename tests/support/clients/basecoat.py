"""A runtime that follows the BaseCoat specification to the letter."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

ACTIONS = {"passThrough", "injectContext", "block", "modify"}
BLOCKABLE = {
    "SessionStart", "UserPromptSubmitted", "PreToolUse", "PostToolUse", "OnError",
    "OnBudgetExceeded",
}  # fmt: skip
TOOL = {"name": "powershell", "input": {"command": "rm x"}}
DONE = {**TOOL, "success": False, "durationMs": 6422, "output": "secret"}
OWN: Mapping[str, Mapping[str, Any]] = {
    "PreToolUse": {"tool": TOOL},
    "PostToolUse": {"tool": DONE},
    "UserPromptSubmitted": {"prompt": "deploy it"},
    "SubagentStart": {"subagent": {"name": "tester", "parent": "backend-dev", "depth": 1}},
    "SubagentStop": {"subagent": {"name": "tester", "parent": "backend-dev", "depth": 1}},
    "OnError": {"tool": DONE, "error": {"class": "auth", "message": "no credentials"}},
}


def payload(native: str) -> dict[str, Any]:
    """The specification's event envelope."""
    return {
        "hook": native,
        "timestamp": "2025-04-27T18:42:31Z",
        "sessionId": "sess_01J",
        "agent": "backend-dev",
        "repository": "example/app",
        "branch": "feat/145-hooks-framework",
        "budget": {"usedTokens": 78124, "effectiveLimit": 160000},
        **OWN.get(native, {}),
    }


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one response; a hook that broke is passed over with a warning."""
    if reply.exit_code != 0:
        return Effect(failed=f"exit {reply.exit_code}")
    if not reply.stdout.strip():
        return Effect()
    try:
        body = json.loads(reply.stdout)
    except ValueError as exc:
        return Effect(failed=str(exc))
    if body.get("action") not in ACTIONS:
        return Effect(failed=f"action {body.get('action')}")
    context = "\n".join(body.get("additionalContext", []))
    if native == "SessionEnd":
        context = ""
    if body["action"] == "block" and native in BLOCKABLE:
        return Effect(does=Does.BLOCKS, reason=body["reason"])
    if body["action"] == "modify":
        return Effect(
            context=context,
            input=body.get("modifiedInput") if native == "PreToolUse" else None,
            output=body.get("modifiedOutput") if native == "PostToolUse" else None,
        )
    return Effect(context=context)
