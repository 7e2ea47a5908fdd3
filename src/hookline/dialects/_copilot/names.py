"""Events and keys in both casings, and which event a payload is when it does not say.

The key in the hook file decides: a camelCase event gets a camelCase payload without its name,
a PascalCase one a snake_case payload with it; three events have one form under both keys.
"""

from collections.abc import Mapping
from typing import Any

__all__ = [
    "CAMEL_KEYS",
    "FIELDS",
    "camel_name",
    "is_pascal",
    "name_of",
    "pascal_name",
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
    "preCompact": {"trigger": "trigger"},
    "errorOccurred": {"where": "error_context"},
    "notification": {"kind": "notification_type", "message": "message"},
}
FIELDS: Mapping[str, Mapping[str, str]] = {
    name: fields for camel, fields in _FIELDS.items() for name in (camel, _PASCAL.get(camel, camel))
}


def camel_name(event: str) -> str:
    """The camelCase name of an event, which it has in either casing."""
    return _CAMEL.get(event, event)


def pascal_name(event: str) -> str:
    """The PascalCase name of an event; its only one where it has no other."""
    return _PASCAL.get(event, event)


def is_pascal(event: str) -> bool:
    """Whether this is the PascalCase name of an event."""
    return event in _CAMEL


def snake_keys(data: Mapping[str, Any]) -> dict[str, Any]:
    """A payload with every camelCase key under its snake_case name as well."""
    return {_SNAKE[key]: value for key, value in data.items() if key in _SNAKE} | dict(data)


def name_of(data: Mapping[str, Any], given: str | None) -> str:
    """The event of a payload, in the casing of its keys; empty when nothing tells.

    ``given`` is the event on the command line: the key in the hook file, if ``install`` wrote it.
    """
    own = next(
        (n for k in ("hook_event_name", "hookName") if isinstance(n := data.get(k), str)), ""
    )
    name = own or given or next((name for name, keys in _SHAPES.items() if keys <= data.keys()), "")
    if given and camel_name(given) == camel_name(name):
        name = given
    if "sessionId" not in data and "session_id" in data:
        return pascal_name(name)
    one_form = own or ("agent_id" in data and "agentId" not in data)
    return name if one_form else camel_name(name)
