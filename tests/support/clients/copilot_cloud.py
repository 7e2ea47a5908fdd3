"""The Copilot cloud agent, as its reference has it: what it does with a hook's reply.

It could not be run. What only Copilot CLI was seen to do counts as not done here.
"""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients import copilot
from support.clients.effects import Does, Effect

NEVER_FIRE = {"permissionRequest", "PermissionRequest", "notification", "Notification"}
CONTEXT = {
    "sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure",
    "subagentStart",
}  # fmt: skip

payload = copilot.payload


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    assert native not in NEVER_FIRE
    event = copilot.CAMEL.get(native, native)
    if reply.exit_code:
        if event == "preToolUse":
            return Effect(does=Does.BLOCKS, reason="Denied by preToolUse hook (hook errored)")
        return Effect(failed=f"exit {reply.exit_code}: logged")
    text = reply.stdout.decode().strip()
    try:
        body = json.loads(text) if text else {}
    except ValueError:
        return Effect(failed="not JSON")
    context = body.get("additionalContext") or "" if event in CONTEXT else ""
    if event == "preToolUse":
        # Nobody is there to be asked.
        does = {"allow": Does.SKIPS_ITS_QUESTION, "ask": Does.BLOCKS, "deny": Does.BLOCKS}.get(
            body.get("permissionDecision", ""), Does.GOES_ON
        )
        reason = body.get("permissionDecisionReason", "")
        args = body.get("modifiedArgs") if does < Does.BLOCKS else None
        return Effect(does=does, reason=reason, context=context, input=args)
    if event == "postToolUse":
        result = body.get("modifiedResult") or {}
        return Effect(context=context, output=result.get("textResultForLlm"))
    if event in {"agentStop", "subagentStop"} and body.get("decision") == "block":
        return Effect(follow_up=body["reason"])
    return Effect(context=context)
