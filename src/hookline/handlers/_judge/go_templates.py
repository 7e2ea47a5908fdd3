"""Go's text/template over docker-agent's payload, with the two functions that its prompts have.

The language itself is a library's; what is ours is which names a payload has, and how much a
template may do. A name that docker-agent's payload lacks is a mistake, as it is there.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hookline.model.errors import HandlerCrashed, HandlerUnavailable
from hookline.model.text import visible

if TYPE_CHECKING:
    from gotpl import Template

__all__ = ["FIELDS", "filled", "mistake_in"]

_INITIALS = {"id": "ID", "llm": "LLM", "url": "URL"}

# Every key that a payload of docker-agent's may have, with what stands there when it does not.
FIELDS: Mapping[str, Any] = {
    **dict.fromkeys(
        (
            *("session_id", "cwd", "hook_event_name", "agent_name", "parent_session_id"),
            *("tool_name", "tool_use_id", "tool_category", "prompt", "stop_response"),
            *("last_user_message", "source", "reason", "model_id", "summary"),
            *("notification_level", "notification_message", "from_agent", "to_agent"),
            *("agent_switch_kind", "approval_decision", "approval_source", "compaction_reason"),
            *("worktree_path", "worktree_branch", "worktree_source_dir"),
            *("safety_policy", "safety_label"),
        ),
        "",
    ),
    **dict.fromkeys(
        (
            *("iteration", "input_tokens", "output_tokens", "context_limit", "cost"),
            *("previous_max_iterations", "new_max_iterations"),
        ),
        0,
    ),
    **dict.fromkeys(
        (
            *("tool_input", "tool_response", "usage", "messages", "steering_messages"),
            "from_agent_models",
        ),
        None,
    ),
    "tool_error": False,
}


def filled(source: str, payload: Mapping[str, Any]) -> str:
    """The template with the payload's values in it. Raises HandlerError."""
    from_payload = _Payload()
    for key, empty in FIELDS.items():
        value = payload.get(key)
        setattr(from_payload, _go_name(key), empty if value is None else value)
    template = _compiled(source)
    from gotpl import TemplateError

    try:
        return template.render(from_payload)
    except TemplateError as error:
        raise HandlerCrashed(f"the prompt's template: {_why(error)}") from error


def mistake_in(source: str) -> str:
    """What is wrong with a template, whatever the payload; empty when nothing is, or who knows."""
    try:
        _compiled(source)
    except HandlerCrashed as error:
        return str(error)
    except HandlerUnavailable:
        return ""  # said when it runs: what is missing is not the file's fault
    return ""


class _Payload:
    """The payload as a template sees it: names as Go has them."""


@lru_cache(maxsize=64)
def _compiled(source: str) -> "Template":
    try:
        from gotpl import SandboxPolicy, Template, TemplateError
    except ImportError as error:
        why = "a Go template needs `gotpl`: pip install 'hookline[judge]'"
        raise HandlerUnavailable(why) from error
    functions: Mapping[str, Callable[..., object]] = {"toJSON": _to_json, "truncate": _truncate}
    policy = SandboxPolicy(
        allow_attributes=[_go_name(key) for key in FIELDS], allow_functions=functions
    )
    try:
        return Template(source, name="prompt", functions=functions, sandbox=policy)
    except TemplateError as error:
        raise HandlerCrashed(f"the prompt's template: {_why(error)}") from error


def _go_name(key: str) -> str:
    words = (part for part in key.split("_") if part)
    return "".join(_INITIALS.get(part, part[:1].upper() + part[1:]) for part in words)


def _to_json(value: Any) -> str:
    """Compact, keys in order, and with the signs escaped that Go escapes."""
    import json

    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _truncate(length: int, value: Any) -> str:
    """At most so many bytes, and an ellipsis in place of the rest."""
    if not isinstance(value, str):
        raise TypeError("truncate takes a number and a text")
    raw = value.encode("utf-8", "surrogatepass")
    if length <= 0 or len(raw) <= length:
        return value
    return raw[:length].decode("utf-8", "ignore") + "…"


def _why(error: Exception) -> str:
    return visible(" ".join(str(error).split()))[:300]
