"""Claude Code's matchers: what each event is matched by, and how a matcher reads.

Knows names and patterns; must not know files or entries.
"""

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hookline.dialects.claude_code.codec import ClaudeCode
from hookline.model.errors import HandlerError, IllegalValueError
from hookline.model.events import Event, ToolEvent

__all__ = ["TOOL_EVENTS", "Pattern", "is_matched", "tool_names"]

TOOL_EVENTS = frozenset(
    {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "PermissionDenied",
    }
)
# What else is matched, by the canonical name of the field; events that are not here match always.
_FIELDS: Mapping[str, str] = {
    "SessionStart": "source",
    "Setup": "trigger",
    "SessionEnd": "reason",
    "Notification": "kind",
    "SubagentStart": "agent",
    "SubagentStop": "agent",
    "PreCompact": "trigger",
    "PostCompact": "trigger",
    "ConfigChange": "source",
    "DirectoryAdded": "source",
    "FileChanged": "path",
    "StopFailure": "error",
    "InstructionsLoaded": "reason",
    "UserPromptExpansion": "command",
    "Elicitation": "server",
    "ElicitationResult": "server",
    "PreModelSwitch": "to_model",
    "PostModelSwitch": "to_model",
}
# Old names of tools that matchers may still use.
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "Agent": ("Task",),
    "TaskStop": ("KillShell", "KillBash"),
    "ListAgents": ("ListPeers",),
    "SendUserMessage": ("Brief",),
    "ListMcpResourcesTool": ("ListMcpResources",),
    "ReadMcpResourceTool": ("ReadMcpResource",),
    "ReadMcpResourceDirTool": ("ReadMcpResourceDir",),
}
_OLD_NAMES = {old: new for new, olds in _ALIASES.items() for old in olds}
_NARROW = {"FileChanged", "StopFailure"}
_LITERAL = re.compile(r"[A-Za-z0-9_\- ,|]*")
_NARROW_LITERAL = re.compile(r"[A-Za-z0-9_|]*")
_REGEX_SECONDS = 0.25


class Pattern:
    """One matcher: everything, a list of names, or a regular expression that may stand anywhere."""

    def __init__(self, matcher: str, *, narrow: bool = False) -> None:
        """Raises IllegalValueError for what is no regular expression."""
        self._names: frozenset[str] | None = None
        self._regex: Any = None
        self._is_linear = True
        if matcher in {"", "*"}:
            return
        if (_NARROW_LITERAL if narrow else _LITERAL).fullmatch(matcher):
            parts = matcher.split("|") if narrow else re.split(r"[|,]", matcher)
            self._names = frozenset(part.strip() for part in parts)
        else:
            self._regex, self._is_linear = _compiled(matcher)

    def matches(self, text: str) -> bool:
        """Whether it holds for one name. Raises HandlerError when that takes too long."""
        if self._names is not None:
            return text in self._names
        if self._regex is None:
            return True
        if self._is_linear:
            return self._regex.search(text.encode("utf-8", "replace")) is not None
        try:
            return self._regex.search(text, timeout=_REGEX_SECONDS) is not None
        except TimeoutError:
            raise HandlerError(
                f"the matcher `{self._regex.pattern}` ran for more than {_REGEX_SECONDS:g} s"
            ) from None


def _compiled(source: str) -> tuple[Any, bool]:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(source, options), True
    except UnicodeEncodeError:
        raise IllegalValueError("it holds half a character") from None
    except re2.error:
        pass  # it has lookaround or backreferences, as the client's own language has
    import regex

    try:
        return regex.compile(source), False
    except (regex.error, RecursionError) as error:
        raise IllegalValueError(str(error) or "nested too deep") from None


@lru_cache(maxsize=512)
def _pattern(matcher: str, narrow: bool) -> Pattern | None:
    try:
        return Pattern(matcher, narrow=narrow)
    except IllegalValueError:
        return None


def tool_names(native: str) -> tuple[str, ...]:
    """Every name by which a matcher may mean a tool."""
    new = _OLD_NAMES.get(native, native)
    return (new, *_ALIASES.get(new, ()))


def is_matched(matcher: str | None, native: str, event: Event, tool: str) -> bool:
    """Whether a matcher of a native event holds; ``tool`` is the native name of the tool."""
    pattern = _pattern(matcher or "", native in _NARROW)
    if pattern is None:
        return False  # as the client does with what it cannot compile
    if isinstance(event, ToolEvent) and native in TOOL_EVENTS:
        return any(pattern.matches(name) for name in tool_names(tool))
    field = _FIELDS.get(native)
    if field is None:
        return True
    value = _value(native, field, event)
    # What the event does not tell cannot speak against the hook.
    return value is None or pattern.matches(value)


def _value(native: str, field: str, event: Event) -> str | None:
    if field == "agent":
        return event.agent.name
    word = ClaudeCode.native_word(native, event)
    value = getattr(event, field, None) if word is None else word
    if not isinstance(value, str):
        return None
    return os.path.basename(value) if field == "path" else value
