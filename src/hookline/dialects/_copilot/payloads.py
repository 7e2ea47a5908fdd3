"""Payloads for hooks that expect Copilot while another platform fired the event.

Knows how Copilot would have sent it; must not know what a hook may answer.
"""

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from hookline.dialects._copilot.names import CAMEL_KEYS, camel_name, is_pascal
from hookline.dialects._copilot.tools import CLAUDE_NAMES, RUNTIME_NAMES, call_for
from hookline.model.events import Error, Event, SteeringSubmit, ToolEvent
from hookline.model.tools import Tool, ToolKind

__all__ = ["FAMILY", "changed_input", "native_payload"]

FAMILY = frozenset({"copilot", "copilot-cloud"})
"""Dialects whose events carry Copilot's own tool names and keys."""

# These look the same under either key, and this is what marks them.
_ONE_FORM: Mapping[str, Mapping[str, str]] = {
    "permissionRequest": {"hookName": "permissionRequest"},
    "notification": {"hook_event_name": "Notification"},
    "subagentStart": {},
}
_AGENT_KEYS = {"agent_id", "agent_type", "parent_agent_id"}


def native_payload(event: Event, native: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """``data``, which has the keys every event has, as the payload of ``native``."""
    kind, pascal = camel_name(native), is_pascal(native)
    named = {key: value for key, value in data.items() if key not in {"tool_use_id", "tool_result"}}
    named |= _habitual(kind, event)
    if event.agent.parent:
        named["parent_agent_id"] = event.agent.parent
    snake = pascal and kind not in _ONE_FORM
    if isinstance(event, ToolEvent):
        named |= _call(event, kind, pascal=snake)
    if snake:
        time = event.time.astimezone(UTC).isoformat(timespec="milliseconds")
        return named | {"timestamp": time.replace("+00:00", "Z")}
    named.pop("hook_event_name", None)
    named |= {"timestamp": int(event.time.timestamp() * 1000)} | dict(_ONE_FORM.get(kind, {}))
    keys = dict(CAMEL_KEYS)
    if kind == "permissionRequest":
        keys["tool_input"] = "toolInput"
    for key in _AGENT_KEYS if pascal else ():
        del keys[key]
    return {keys.get(key, key): value for key, value in named.items()}


def _is_own(event: Event) -> bool:
    """Whether Copilot sent it; asked in its name, an event of another platform has no payload."""
    return event.dialect in FAMILY and bytes(event.raw) != b"null"


def _habitual(kind: str, event: Event) -> dict[str, Any]:
    """What Copilot always sends and no other platform knows."""
    path = {"transcript_path": event.transcript_path}
    match kind:
        case "userPromptSubmitted" if isinstance(event, SteeringSubmit):
            return {"prompt": event.prompt or "\n".join(event.prompts)}
        case "agentStop":
            return {**path, "stop_reason": "end_turn"}
        case "subagentStop":
            name = event.agent.name
            who = {"agent_name": name, "agent_type": name}
            return {**path, **who, "stop_reason": "end_turn"}
        case "subagentStart":
            return {**path, "agent_name": event.agent.name, "agent_type": event.agent.name}
        case "preCompact":
            return {**path, "custom_instructions": getattr(event, "custom_instructions", "")}
        case "errorOccurred" if isinstance(event, Error):
            error = {"message": event.message, "name": "Error"}
            return {"error": error, "recoverable": False}
        case _:
            return {}


def _call(event: ToolEvent, kind: str, *, pascal: bool) -> dict[str, Any]:
    tool = event.tool
    if _is_own(event):
        name, args = tool.name, tool.input
    elif kind == "permissionRequest":
        name, args = _permission(tool)
    else:
        name, args, _ = call_for(tool)
    names = CLAUDE_NAMES if pascal else RUNTIME_NAMES
    called: dict[str, Any] = {"tool_name": names.get(name, name), "tool_input": args}
    if kind == "postToolUse":
        text = tool.output or ""
        result = {"resultType": "success", "textResultForLlm": text}
        snake = {"result_type": "success", "text_result_for_llm": text}
        called["tool_result"] = snake if pascal else result
    return called


def _permission(tool: Tool) -> tuple[str, dict[str, Any]]:
    """Where permission is asked, every change of a file is an ``edit`` with its diff."""
    if tool.mcp is not None:
        return f"{tool.mcp.server}/{tool.mcp.tool}", tool.input
    if tool.kind not in {ToolKind.WRITE, ToolKind.EDIT} or tool.path is None:
        return call_for(tool)[:2]
    from difflib import unified_diff

    after = tool.new if tool.new is not None else tool.content
    lines = ((tool.old or "").splitlines(), (after or "").splitlines())
    diff = "\n".join(unified_diff(*lines, tool.path, tool.path, lineterm=""))
    return "edit", {"file_path": tool.path, "diff": diff}


def changed_input(event: ToolEvent, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """New arguments, which replace the old ones whole, as changes to the event's own input."""
    sent: Mapping[str, Any] = event.tool.input
    names: Mapping[str, str] = {}
    if not _is_own(event):
        _, sent, names = call_for(event.tool)
    changes = {names.get(k, k): v for k, v in given.items() if k not in sent or sent[k] != v}
    gone = {names.get(key, key): None for key in sent if key not in given}
    return changes | gone or None
