"""Events and keys in both casings, and which event a payload is when it does not say.

The key in the hook file decides: a camelCase event gets a camelCase payload without its name,
a PascalCase one a snake_case payload with it; three events have one form under both keys.
"""

from collections.abc import Mapping
from typing import Any

from hookline.dialects._native import Words

__all__ = [
    "CAMEL_KEYS",
    "FIELDS",
    "WORDS",
    "camel_name",
    "guess_name",
    "is_event_name",
    "is_pascal",
    "match_casing",
    "pascal_name",
    "read_name",
    "snake_keys",
]

_PASCAL: Mapping[str, str] = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "errorOccurred": "ErrorOccurred",
    "notification": "Notification",
}
_OF_THE_CLI = frozenset({"preMcpToolCall", "prePRDescription", "postResult"})
_CAMEL = {pascal: camel for camel, pascal in _PASCAL.items()}

# camelCase key → the snake_case key under which everything is read here.
_SNAKE: Mapping[str, str] = {
    "sessionId": "session_id",
    "toolName": "tool_name",
    "toolInput": "tool_input",
    "toolArgs": "tool_input",
    "toolResult": "tool_result",
    "agentId": "agent_id",
    "agentType": "agent_type",
    "agentName": "agent_name",
    "parentAgentId": "parent_agent_id",
    "transcriptPath": "transcript_path",
    "transformedPrompt": "transformed_prompt",
    "permissionSuggestions": "permission_suggestions",
    "customInstructions": "custom_instructions",
    "response": "last_assistant_message",
    "stopReason": "stop_reason",
    "errorContext": "error_context",
}
CAMEL_KEYS: Mapping[str, str] = {snake: camel for camel, snake in _SNAKE.items()}

# A payload without a name is the first event whose keys are all in it.
_SHAPES = {
    name: frozenset(keys.split())
    for name, keys in {
        "postToolUse": "toolName toolResult",
        "postToolUseFailure": "toolName error",
        "permissionRequest": "toolName toolInput",
        "preToolUse": "toolName",
        "userPromptTransformed": "transformedPrompt",
        "userPromptSubmitted": "prompt",
        "errorOccurred": "error errorContext",
        "preCompact": "trigger customInstructions",
        "subagentStop": "agentName stopReason",
        "subagentStart": "agentName",
        "agentStop": "stopReason",
        "sessionStart": "source",
        "sessionEnd": "reason",
    }.items()
}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "sessionStart": {"source": "source"},
    "sessionEnd": {"reason": "reason"},
    "userPromptSubmitted": {"prompt": "prompt"},
    "userPromptTransformed": {"prompt": "prompt", "transformed": "transformed_prompt"},
    "permissionRequest": {"suggestions": "permission_suggestions"},
    "postToolUseFailure": {"error": "error"},
    "agentStop": {"stop_hook_active": "stop_hook_active"},
    "subagentStop": {
        "last_message": "last_assistant_message",
        "stop_hook_active": "stop_hook_active",
    },
    "preCompact": {"trigger": "trigger", "custom_instructions": "custom_instructions"},
    "errorOccurred": {"where": "error_context"},
    "notification": {"kind": "notification_type", "message": "message", "title": "title"},
}
FIELDS: Mapping[str, Mapping[str, str]] = {
    name: fields for camel, fields in _FIELDS.items() for name in (camel, _PASCAL.get(camel, camel))
}
_WORDS = {
    "sessionStart": Words("source", frozenset({"startup", "resume", "new"}), "new"),
    "sessionEnd": Words(
        "reason", frozenset({"complete", "error", "abort", "timeout", "user_exit"}), "complete"
    ),
    "preCompact": Words("trigger", frozenset({"manual", "auto"}), "auto"),
}
WORDS: Mapping[str, Words] = {
    name: words for camel, words in _WORDS.items() for name in (camel, _PASCAL.get(camel, camel))
}


def camel_name(event: str) -> str:
    """The camelCase name of an event, which it has in either casing."""
    return _CAMEL.get(event, event)


def pascal_name(event: str) -> str:
    """The PascalCase name of an event; its only one where it has no other."""
    return _PASCAL.get(event, event)


def is_event_name(name: str) -> bool:
    """Whether either of the two agents has such an event, whichever of them is calling."""
    camel = camel_name(name)
    return camel in _PASCAL or camel in _SHAPES or camel in _OF_THE_CLI


def is_pascal(event: str) -> bool:
    """Whether this is the PascalCase name of an event."""
    return event in _CAMEL


def snake_keys(data: Mapping[str, Any]) -> dict[str, Any]:
    """A payload with every camelCase key under its snake_case name as well."""
    return {_SNAKE[key]: value for key, value in data.items() if key in _SNAKE} | dict(data)


def read_name(data: Mapping[str, Any]) -> str:
    """The event that a payload names; empty where it names none."""
    words = (data.get(key) for key in ("hook_event_name", "hookName"))
    return next((word for word in words if isinstance(word, str)), "")


def guess_name(data: Mapping[str, Any]) -> str:
    """The event that a payload looks like; empty when nothing tells."""
    return next((name for name, keys in _SHAPES.items() if keys <= data.keys()), "")


def match_casing(name: str, data: Mapping[str, Any]) -> str:
    """An event's name in the casing of a payload's keys, which is that of the hook file's key."""
    if "sessionId" not in data and "session_id" in data:
        return pascal_name(name)
    one_form = read_name(data) or ("agent_id" in data and "agentId" not in data)
    return name if one_form else camel_name(name)
