"""A tool call: asked for, permitted, done."""

from typing import Any, ClassVar

from hookline.model.events.base import Event
from hookline.model.tools import Tool


class ToolEvent(Event, frozen=True, kw_only=True):
    """The tool family."""

    tool: Tool = Tool()


class PreToolUse(ToolEvent, frozen=True, kw_only=True):
    """Fires before a tool runs."""

    gate: ClassVar[bool] = True
    takes_context: ClassVar[bool] = True
    allows: ClassVar[bool] = True
    asks: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"input", "env"})


class PermissionRequest(ToolEvent, frozen=True, kw_only=True):
    """Fires when the host is about to ask a person for permission."""

    gate: ClassVar[bool] = True
    allows: ClassVar[bool] = True
    asks: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"input", "env"})
    suggestions: tuple[Any, ...] = ()


class PermissionDecided(ToolEvent, frozen=True, kw_only=True):
    """Fires when the question of permission was answered."""

    decision: str = ""
    by: str = ""


class ToolResponseTransform(ToolEvent, frozen=True, kw_only=True):
    """Fires between a tool's answer and everybody who reads it."""

    hides: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"output"})


class PostToolUse(ToolEvent, frozen=True, kw_only=True):
    """Fires after a tool ran."""

    takes_context: ClassVar[bool] = True
    hides: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"output"})


class PostToolUseFailure(ToolEvent, frozen=True, kw_only=True):
    """Fires after a tool failed."""

    takes_context: ClassVar[bool] = True
    hides: ClassVar[bool] = True
    error: str = ""
    interrupted: bool = False
    """Whether the person stopped it."""


class PostToolBatch(ToolEvent, frozen=True, kw_only=True):
    """Fires once after all tool calls of one model message."""

    takes_context: ClassVar[bool] = True
    calls: tuple[Tool, ...] = ()
