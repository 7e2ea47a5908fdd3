"""docker-agent of July 2026, as its hooks page and source say: what it does with a reply."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

DENIED = {"pre_tool_use", "permission_request", "pre_compact", "before_compaction"}
ENDED = {
    "post_tool_use", "user_prompt_submit", "user_steering_messages_submit",
    "user_followup_submit", "before_llm_call", "worktree_create",
}  # fmt: skip
CONTEXT = {
    "session_start", "user_prompt_submit", "user_steering_messages_submit",
    "user_followup_submit", "turn_start", "pre_compact",
}  # fmt: skip
# The lane before all approval. Its code looked at `permission_decision` and nothing else, so that
# is all that counts here, though the page promises more.
PREEMPT = "pre_tool_use+preempt"
# No answer leads to the confirmation dialog.
ASKS_BY_ITSELF = {"permission_request"}

CALL = {
    "agent_name": "root",
    "tool_name": "shell",
    "tool_use_id": "call_xyz",
    "tool_input": {"cmd": "rm x", "cwd": "."},
}
NOTE = {"notification_level": "error", "notification_message": "all models failed"}
TOKENS = {"input_tokens": 90_000, "output_tokens": 4_000, "compaction_reason": "threshold"}
OWN: Mapping[str, Mapping[str, Any]] = {
    "pre_tool_use": CALL,
    "permission_request": CALL,
    "tool_response_transform": {**CALL, "tool_response": "secret", "tool_category": "shell"},
    "post_tool_use": {**CALL, "tool_response": "secret"},
    "on_tool_approval_decision": {
        **CALL,
        "approval_decision": "allow",
        "approval_source": "user_approved",
    },
    "session_start": {"source": "startup"},
    "session_end": {"reason": "other"},
    "on_session_resume": {"previous_max_iterations": 20, "new_max_iterations": 30},
    "worktree_create": {
        "worktree_path": "/srv/worktrees/fix",
        "worktree_branch": "worktree/fix",
        "worktree_source_dir": "/srv/app",
    },
    "user_prompt_submit": {"prompt": "deploy it"},
    "user_steering_messages_submit": {"steering_messages": ["wait", "not there"]},
    "user_followup_submit": {"prompt": "then test it"},
    "turn_end": {"agent_name": "root", "reason": "normal"},
    "before_llm_call": {
        "iteration": 1,
        "model_id": "openai/gpt-4o",
        "messages": [{"role": "user", "content": "deploy it"}],
    },
    "after_llm_call": {
        "agent_name": "root",
        "stop_response": "Done.",
        "last_user_message": "deploy it",
        "model_id": "openai/gpt-4o",
        "usage": {"input_tokens": 10, "output_tokens": 2},
        "cost": 0,
    },
    "pre_compact": {"source": "auto"},
    "before_compaction": {**TOKENS, "context_limit": 100_000},
    "after_compaction": {**TOKENS, "context_limit": 100_000, "summary": "We deployed it."},
    "subagent_stop": {
        "agent_name": "researcher",
        "parent_session_id": "s0",
        "stop_response": "Found it.",
    },
    "stop": {"agent_name": "root", "stop_response": "Done.", "last_user_message": "deploy it"},
    "notification": NOTE,
    "on_error": NOTE,
    "on_max_iterations": {"notification_level": "warning", "notification_message": "limit"},
    "on_agent_switch": {"from_agent": "root", "to_agent": "coder", "agent_switch_kind": "handoff"},
}


def payload(native: str) -> dict[str, Any]:
    """What the client sends; a worktree is made before there is a session."""
    return {
        "session_id": "" if native == "worktree_create" else "s1",
        "cwd": "/srv/app",
        "hook_event_name": native.removesuffix("+preempt"),
        **OWN.get(native.removesuffix("+preempt"), {}),
    }


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    if native == PREEMPT:
        return _preempt(reply)
    text = reply.stdout.decode().strip()
    if reply.exit_code == 2:
        return _not_allowed(native, reply.stderr.decode().strip(), Effect())
    if reply.exit_code != 0:
        return Effect(failed=f"exit {reply.exit_code}")
    try:
        body = json.loads(text) if text.startswith("{") else None
    except ValueError:
        body = None
    if body is None:
        return Effect(context=text if native in CONTEXT else "")
    return _structured(native, body, body.get("hook_specific_output", {}), payload)


def _preempt(reply: Reply) -> Effect:
    if reply.exit_code != 0:
        return Effect(failed=f"exit {reply.exit_code}")
    text = reply.stdout.decode().strip()
    own = json.loads(text).get("hook_specific_output", {}) if text else {}
    word = own.get("permission_decision", "")
    does = {"ask": Does.ASKS, "deny": Does.BLOCKS}.get(word, Does.GOES_ON)
    reason = own.get("permission_decision_reason", "") if does is Does.BLOCKS else ""
    return Effect(does=does, reason=reason)


def _structured(
    native: str, body: dict[str, Any], own: dict[str, Any], payload: Mapping[str, Any]
) -> Effect:
    word = own.get("permission_decision", "")
    messages = [body.get("stop_reason", "")] if body.get("continue") is False else []
    if body.get("decision") == "block":
        messages.append(body.get("reason", ""))
    denied = word == "deny" and native in {"pre_tool_use", "permission_request"}
    if denied:
        messages.append(own.get("permission_decision_reason", ""))
    effect = Effect(
        does=_permission(native, word),
        context=own.get("additional_context", "") if native in CONTEXT else "",
        input=own.get("updated_input") if native == "pre_tool_use" else None,
    )
    if native == "tool_response_transform" and own.get("updated_tool_response") is not None:
        # Nobody ever sees the tool's own response: that is held back.
        return Effect(does=Does.BLOCKS, output=own["updated_tool_response"])
    if messages:
        return _not_allowed(native, "\n".join(messages), effect)
    return effect


def _permission(native: str, word: str) -> Does:
    if native == "pre_tool_use":
        known = {"allow": Does.SKIPS_ITS_QUESTION, "ask": Does.ASKS}
    else:
        known = {"allow": Does.SKIPS_ITS_QUESTION} if native == "permission_request" else {}
    return known.get(word, Does.GOES_ON)


def _not_allowed(native: str, message: str, effect: Effect) -> Effect:
    if native in DENIED:
        return Effect(does=Does.BLOCKS, reason=message)
    if native in ENDED:
        return Effect(does=Does.ENDS_THE_RUN, reason=message, context=effect.context)
    return effect
