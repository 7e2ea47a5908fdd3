"""Codex 0.166.0, as observed: what it does with a hook's reply.

The client is strict: a key it does not know, a word it does not take on this event or a blank
reason make the whole answer void, and it goes on as if the hook had failed.
"""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

UNIVERSAL = {"continue", "stopReason", "suppressOutput", "systemMessage"}
TOP = {
    "SessionStart": UNIVERSAL | {"hookSpecificOutput"},
    "SubagentStart": UNIVERSAL | {"hookSpecificOutput"},
    "UserPromptSubmit": UNIVERSAL | {"decision", "reason", "hookSpecificOutput"},
    "PreToolUse": UNIVERSAL | {"decision", "reason", "hookSpecificOutput"},
    "PermissionRequest": UNIVERSAL | {"hookSpecificOutput"},
    "PostToolUse": UNIVERSAL | {"decision", "reason", "hookSpecificOutput"},
    "Stop": UNIVERSAL | {"decision", "reason"},
    "SubagentStop": UNIVERSAL | {"decision", "reason"},
    "PreCompact": UNIVERSAL,
    "PostCompact": UNIVERSAL,
    "Interrupt": {"systemMessage"},
}
OWN = {
    "SessionStart": {"additionalContext"},
    "SubagentStart": {"additionalContext"},
    "UserPromptSubmit": {"additionalContext"},
    "PostToolUse": {"additionalContext", "updatedMCPToolOutput"},
    "PermissionRequest": {"decision"},
    "PreToolUse": {
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
    },
}
IGNORED = {"SessionEnd", "PreModelRequest", "PostModelRequest"}
TEXT_IS_CONTEXT = {"SessionStart", "SubagentStart", "UserPromptSubmit"}
# No answer leaves the question to the person.
ASKS_BY_ITSELF = {"PermissionRequest"}

_TURN = {"model": "gpt-5.5", "turn_id": "turn-1"}
_MODE = {"permission_mode": "default"}
_TOOL = {"tool_name": "Bash", "tool_input": {"command": "rm x"}}
_STOP = {"stop_hook_active": False, "last_assistant_message": "All done."}
_SUBAGENT = {"agent_id": "agent-1", "agent_type": "default"}
EXTRA: Mapping[str, Mapping[str, Any]] = {
    "SessionStart": {"model": "gpt-5.5", **_MODE, "source": "startup"},
    "SessionEnd": {"reason": "other"},
    "UserPromptSubmit": {**_TURN, **_MODE, "prompt": "do the task"},
    "PreModelRequest": _TURN,
    "PostModelRequest": {**_TURN, "status": "completed", "error": None, "token_usage": None},
    "PreToolUse": {**_TURN, **_MODE, **_TOOL, "tool_use_id": "call-1"},
    "PermissionRequest": {**_TURN, **_MODE, **_TOOL},
    "PostToolUse": {
        **_TURN,
        **_MODE,
        **_TOOL,
        "tool_use_id": "call-1",
        "tool_response": "secret\n",
    },
    "PreCompact": {**_TURN, "trigger": "auto"},
    "PostCompact": {**_TURN, "trigger": "auto"},
    "SubagentStart": {**_TURN, **_MODE, **_SUBAGENT},
    "SubagentStop": {**_TURN, **_MODE, **_SUBAGENT, **_STOP, "agent_transcript_path": None},
    "Stop": {**_TURN, **_MODE, **_STOP},
    "Interrupt": {**_TURN, **_MODE},
}


def payload(native: str) -> dict[str, Any]:
    """What the client sends, key for key."""
    return {
        "session_id": "01a1e0a6-45a9-7a82-be02-6fdca201d1ec",
        "transcript_path": None,
        "cwd": "/srv/app",
        "hook_event_name": native,
        **EXTRA[native],
    }


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    if reply.exit_code == 2:
        return _exit_2(native, reply.stderr.decode("utf-8", "replace").strip())
    if reply.exit_code != 0:
        return Effect(failed=f"hook exited with code {reply.exit_code}")
    text = reply.stdout.decode("utf-8", "replace").strip()
    if not text or native in IGNORED:
        return Effect()
    if not text.startswith(("{", "[")):
        if native in {"Stop", "SubagentStop"}:
            return Effect(failed="plain text")
        return Effect(context=text if native in TEXT_IS_CONTEXT else "")
    try:
        body = json.loads(text)
        # A lone surrogate is no JSON for the client.
        json.dumps(body, ensure_ascii=False).encode()
    except ValueError:
        return Effect(failed="not JSON")
    flaw = _misfit(native, body)
    return Effect(failed=flaw) if flaw else _JSON[native](native, body, payload)


def _exit_2(native: str, stderr: str) -> Effect:
    if not stderr:
        return Effect(failed="exit 2 without stderr")
    if native in {"PreToolUse", "PermissionRequest", "UserPromptSubmit"}:
        return Effect(does=Does.BLOCKS, reason=stderr)
    if native == "PostToolUse":
        return Effect(does=Does.BLOCKS, reason=stderr, output=stderr)
    if native in {"Stop", "SubagentStop"}:
        return Effect(follow_up=stderr)
    return Effect(failed="hook exited with code 2")


def _misfit(native: str, body: Any) -> str:
    """Why an answer does not fit the event's schema; empty when it does."""
    if not isinstance(body, dict):
        return "not an object"
    if unknown := set(body) - TOP[native]:
        return f"unknown {unknown}"
    if not isinstance(body.get("continue", True), bool):
        return "continue"
    if not isinstance(body.get("suppressOutput", False), bool):
        return "suppressOutput"
    for key in ("stopReason", "systemMessage", "reason"):
        if not isinstance(body.get(key), str | None):
            return key
    if body.get("decision") not in (None, "block", "approve" if native == "PreToolUse" else None):
        return "decision"
    own = body.get("hookSpecificOutput")
    if own is None:
        return ""
    if not isinstance(own, dict) or not isinstance(own.get("hookEventName"), str):
        return "hookEventName"
    if unknown := set(own) - OWN[native] - {"hookEventName"}:
        return f"unknown {unknown} in hookSpecificOutput"
    return "" if isinstance(own.get("additionalContext"), str | None) else "additionalContext"


def _blank(text: str | None) -> bool:
    return text is None or not text.strip()


def _context(body: Mapping[str, Any]) -> str:
    return (body.get("hookSpecificOutput") or {}).get("additionalContext") or ""


def _controlled(body: Mapping[str, Any]) -> bool:
    """Whether it has a universal field that tool and permission events do not take."""
    stops = body.get("continue") is False or body.get("stopReason") is not None
    return stops or body.get("suppressOutput") is True


def _pre_tool_use(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    own = body.get("hookSpecificOutput") or {}
    word, why = own.get("permissionDecision"), own.get("permissionDecisionReason")
    given: Any = own.get("updatedInput")
    if _controlled(body):
        return Effect(failed="unsupported universal field")
    if word is None and why is None and given is None:
        word = {"block": "deny", "approve": "allow"}.get(body.get("decision") or "")
        why = body.get("reason")
    if word == "deny" and given is None and not _blank(why):
        return Effect(does=Does.BLOCKS, reason=str(why), context=_context(body))
    if word == "allow" and given is not None:
        # Its own question still comes, about the new input, as seen in every policy that asks.
        return Effect(does=Does.GOES_ON, input=given, context=_context(body))
    if word is not None or why is not None or given is not None:
        return Effect(failed=f"unsupported {word}")
    return Effect(context=_context(body))


def _permission(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    decision = (body.get("hookSpecificOutput") or {}).get("decision")
    if _controlled(body):
        return Effect(failed="unsupported universal field")
    if decision is None:
        return Effect()
    if set(decision) - {"behavior", "message"}:
        return Effect(failed="unsupported in a decision")
    if decision["behavior"] == "allow":
        return Effect(does=Does.SKIPS_ITS_QUESTION)
    if decision["behavior"] == "deny":
        text = decision.get("message")
        default = "PermissionRequest hook denied approval"
        return Effect(does=Does.BLOCKS, reason=default if _blank(text) else text)
    return Effect(failed="behavior")


def _post_tool_use(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    own = body.get("hookSpecificOutput") or {}
    if body.get("suppressOutput") or own.get("updatedMCPToolOutput") is not None:
        return Effect(failed="unsupported")
    reason = body.get("reason")
    if body.get("continue") is False:
        text = reason or body.get("stopReason") or "stopped"
        return Effect(output=text, reason=text, context=_context(body))
    if body.get("decision") == "block" and not _blank(reason):
        # "blocked" is the client's word: the model gets the reason, the output stays outside.
        return Effect(does=Does.BLOCKS, reason=str(reason), output=reason, context=_context(body))
    if body.get("decision") == "block" or reason is not None:
        return Effect(failed="block and reason come together")
    return Effect(context=_context(body))


def _ends(payload: Mapping[str, Any]) -> Does:
    """Inside a sub-agent only that one is known to end."""
    return Does.BLOCKS if payload.get("agent_id") else Does.ENDS_THE_RUN


def _prompt(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    if body.get("continue") is False:
        reason = body.get("stopReason") or ""
        return Effect(does=_ends(payload), reason=reason, context=_context(body))
    if body.get("decision") == "block":
        if _blank(body.get("reason")):
            return Effect(failed="block without a reason")
        return Effect(does=Does.BLOCKS, reason=body["reason"], context=_context(body))
    return Effect(context=_context(body))


def _start(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    if native == "SessionStart" and body.get("continue") is False:
        reason = body.get("stopReason") or ""
        return Effect(does=Does.ENDS_THE_RUN, reason=reason, context=_context(body))
    return Effect(context=_context(body))


def _stop(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    if body.get("continue") is False:
        return Effect(does=Does.ENDS_THE_RUN if native == "Stop" else Does.GOES_ON)
    if body.get("decision") == "block":
        if _blank(body.get("reason")):
            return Effect(failed="block without a reason")
        return Effect(follow_up=body["reason"])
    return Effect()


def _compact(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    if body.get("continue") is False:
        return Effect(does=_ends(payload), reason=body.get("stopReason") or "")
    return Effect()


def _interrupt(native: str, body: dict[str, Any], payload: Mapping[str, Any]) -> Effect:
    return Effect()


_JSON = {
    "SessionStart": _start,
    "SubagentStart": _start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _pre_tool_use,
    "PermissionRequest": _permission,
    "PostToolUse": _post_tool_use,
    "Stop": _stop,
    "SubagentStop": _stop,
    "PreCompact": _compact,
    "PostCompact": _compact,
    "Interrupt": _interrupt,
}
