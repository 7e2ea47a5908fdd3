"""Claude Code's hooks of type ``prompt`` and ``agent``: which model is asked, and what a no means.

Knows the client's rules as data; asking is not done here.
"""

from collections.abc import Mapping
from typing import Any

from hookline.model.hook import HandlerSpec
from hookline.model.native import NativeEntry

__all__ = ["JUDGES", "judge_of"]

JUDGES = {"prompt", "agent"}

_DEFAULT = "default"
_SMALL = "claude-haiku-4-5"
# The client's short names; a user's `models:` may give each another meaning.
_ALIASES: Mapping[str, str] = {
    _DEFAULT: _SMALL,
    "haiku": _SMALL,
    "sonnet": "claude-sonnet-4-5",
    "opus": "claude-opus-4-5",
}

# A no ends the run there, unless the hook says that it may go on.
_ENDS_UNLESS = {"PreToolUse", "PostToolUse"}
# There it always does.
_ENDS = {"PostToolBatch", "UserPromptSubmit", "UserPromptExpansion"}
# A no lets the teammate stop, unless the hook says that it must go on.
_STOPS_UNLESS = {"TeammateIdle"}
# There it has no effect.
_IDLE = {"PermissionRequest", "PermissionDenied"}
_MAY_GIVE_UP = {"Stop", "SubagentStop"}


def judge_of(entry: NativeEntry) -> HandlerSpec:
    """The handler for an entry of one of these types."""
    is_agent = entry.type == "agent"
    said = str(entry.options.get("model") or _DEFAULT).strip()
    model = _model(said)
    goes_on = is_agent or entry.options.get("continueOnBlock") is True
    native: Mapping[str, Any] = {
        "form": "ok",
        "prompt": entry.options["prompt"],
        "model": model,
        "names": tuple(dict.fromkeys((said, _short(said)))),
        "refusal": _refusal(entry.event, goes_on),
        "may_give_up": entry.event in _MAY_GIVE_UP and not is_agent,
        "tools": is_agent,
    }
    return HandlerSpec("judge", {"judge": {"model": model}, "native": native})


def _model(said: str) -> str:
    name = _short(said)
    if "/" in name:
        return said
    return f"anthropic/{_ALIASES.get(name, name)}"


def _short(said: str) -> str:
    """The name alone: `Sonnet[1m]` is sonnet with a longer memory."""
    return said.partition("[")[0].strip().lower()


def _refusal(event: str, goes_on: bool) -> str:
    if event in _IDLE or (event in _STOPS_UNLESS and not goes_on):
        return "notice"
    return "halt" if event in _ENDS or (event in _ENDS_UNLESS and not goes_on) else "deny"
