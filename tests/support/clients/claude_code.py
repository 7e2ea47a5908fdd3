"""Claude Code 2.1.325, as observed: what it does with a hook's reply."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

BLOCKED_BY_EXIT_2 = {
    "PreToolUse", "UserPromptSubmit", "UserPromptExpansion", "TaskCreated", "ConfigChange",
    "PreCompact", "PreModelSwitch", "Elicitation", "WorktreeCreate",
}  # fmt: skip
CONTINUED = {"Stop", "SubagentStop", "TeammateIdle", "TaskCompleted"}
CONTEXT = {
    "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse",
    "PostToolUseFailure", "PostToolBatch", "SubagentStart", "PostModelSwitch",
}  # fmt: skip
# No answer leaves the dialog open: the person is asked.
ASKS_BY_ITSELF = {"PermissionRequest"}
TEXT_IS_CONTEXT = {"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch"}

# Their answers have nothing of their own in them, and one that has is void as a whole.
PLAIN = {"PreCompact", "PostCompact"}


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    if reply.exit_code == 2:
        return _exit_2(native, reply.stderr.decode())
    text = reply.stdout.decode().strip()
    if not text.startswith("{"):
        if reply.exit_code != 0:
            return Effect(failed=f"exit {reply.exit_code}")
        if native in PLAIN | TEXT_IS_CONTEXT:
            return Effect(context=text)
        return Effect()
    try:
        body = json.loads(text)
    except ValueError:
        return Effect(failed="not JSON: plain text")
    own = body.get("hookSpecificOutput", {})
    if own and (own.get("hookEventName") != native or native in PLAIN):
        return Effect(failed="hookEventName")
    return _json(native, body, own, payload)


def _exit_2(native: str, stderr: str) -> Effect:
    if native in BLOCKED_BY_EXIT_2:
        return Effect(does=Does.BLOCKS, reason=stderr or "No stderr output")
    if native in CONTINUED:
        return Effect(follow_up=stderr)
    if native == "PermissionRequest":
        return Effect(does=Does.BLOCKS)
    if native == "PostToolBatch":
        return Effect(does=Does.ENDS_THE_RUN)
    return Effect(context=stderr if native in {"PostToolUse", "PostToolUseFailure"} else "")


def _json(
    native: str, body: dict[str, Any], own: dict[str, Any], payload: Mapping[str, Any]
) -> Effect:
    does, reason = Does.GOES_ON, ""
    stops = body.get("continue") is False
    context = own.get("additionalContext", "") if native in CONTEXT else ""
    follow_up, given, output = "", None, None
    if native in {"PreToolUse", "PreModelSwitch"}:
        word = own.get("permissionDecision") or {"approve": "allow", "block": "deny"}.get(
            body.get("decision", "")
        )
        does = {
            None: Does.GOES_ON,
            "allow": Does.SKIPS_ITS_QUESTION,
            "ask": Does.ASKS,
            "deny": Does.BLOCKS,
        }[word]
        reason = own.get("permissionDecisionReason") or body.get("reason") or "Blocked by hook"
        if does != Does.BLOCKS:
            given = own.get("updatedInput")
        if native == "PreToolUse" and stops:
            # The tool still runs unless it was denied as well.
            does = Does.ENDS_THE_RUN if does == Does.BLOCKS else Does.GOES_ON
    elif native == "PermissionRequest":
        decision = own.get("decision", {})
        if decision.get("behavior") == "allow":
            does, given = Does.SKIPS_ITS_QUESTION, decision.get("updatedInput")
        elif decision.get("behavior") == "deny":
            does, reason = Does.BLOCKS, decision.get("message", "")
            if decision.get("interrupt"):
                does = Does.ENDS_THE_RUN
    elif native in CONTINUED:
        if native in {"Stop", "SubagentStop"} and body.get("decision") == "block" and not stops:
            follow_up = body.get("reason") or "Blocked by hook"
        if stops and native in {"Stop", "TeammateIdle"}:
            does = Does.ENDS_THE_RUN
    elif body.get("decision") == "block":
        reason = body.get("reason", "")
        if native in {"PostToolUse", "PostToolUseFailure"}:
            context = f"{context}\n{reason}"
        elif native in BLOCKED_BY_EXIT_2:
            does = Does.BLOCKS
        elif native == "PostToolBatch":
            does = Does.ENDS_THE_RUN
    if stops and native in {"UserPromptSubmit", "PostToolUse", "PostToolBatch"}:
        does, reason = Does.ENDS_THE_RUN, body.get("stopReason", "")
    if native == "PostToolUse":
        output = _output(own, payload)
    return Effect(
        does=does, reason=reason, context=context, input=given, output=output, follow_up=follow_up
    )


def _output(own: dict[str, Any], payload: Mapping[str, Any]) -> Any:
    """A replaced output counts only in the shape of the tool's own."""
    if str(payload.get("tool_name", "")).startswith("mcp__"):
        return own.get("updatedMCPToolOutput", own.get("updatedToolOutput"))
    new, old = own.get("updatedToolOutput"), payload.get("tool_response")
    if isinstance(old, dict):
        return new if isinstance(new, dict) and set(new) == set(old) else None
    return new if isinstance(new, type(old)) else None
