"""Rewrites applied to an event: what the next hook, and finally the platform, sees."""

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from hookline.model.answers import Rewrite
from hookline.model.events import Event, ToolEvent
from hookline.model.tools import Tool, ToolTable

__all__ = ["changed", "native_input", "overlay", "rewritten"]

E = TypeVar("E", bound=Event)

_PARTS = ("prompt", "messages", "summary")


def overlay(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """``patch`` laid over ``base`` key by key; a null deletes."""
    merged = {**base, **patch}
    return {key: value for key, value in merged.items() if value is not None or key not in patch}


def native_input(event: Event, patch: Mapping[str, Any], table: ToolTable) -> dict[str, Any]:
    """``patch`` with canonical field names moved to the keys of the event's own platform."""
    if not isinstance(event, ToolEvent):
        return dict(patch)
    return table.write(event.tool.name, event.tool.input, patch)


def rewritten(event: E, change: Rewrite, table: ToolTable) -> E:
    """The event as it reads after ``change``; the same object when nothing about it changed."""
    changes: dict[str, Any] = {}
    if isinstance(event, ToolEvent):
        tool = _tool(event.tool, change, table)
        if tool is not event.tool:
            changes["tool"] = tool
    for part in _PARTS:
        value = getattr(change, part)
        if value is not None and part in event.rewrites and _differs(event, part, value):
            changes[part] = tuple(value) if part == "messages" else value
    return replace(event, **changes) if changes else event


def changed(event: Event, original: Event) -> str:
    """A digest of all that rewrites may have made another; empty where they have not."""
    if event is original:
        return ""
    parts = _changeable(event)
    if parts == _changeable(original):
        return ""
    from hookline.model.hook import digest  # most events are rewritten by nobody

    return digest(parts)


def _changeable(event: Event) -> list[Any]:
    parts = [getattr(event, part, None) for part in _PARTS]
    return [*parts, event.tool.input, event.tool.output] if isinstance(event, ToolEvent) else parts


def _differs(event: Event, part: str, value: Any) -> bool:
    now = getattr(event, part)
    return bool(tuple(value) != now if part == "messages" else value != now)


def _tool(tool: Tool, change: Rewrite, table: ToolTable) -> Tool:
    if change.input is not None:
        merged = overlay(tool.input, change.input)
        if merged != tool.input:
            fresh = table.read(tool.name, merged, kind=tool.kind)
            tool = replace(
                fresh,
                call_id=tool.call_id,
                mcp=tool.mcp,
                output=tool.output,
                ok=tool.ok,
                duration_ms=tool.duration_ms,
            )
    if change.output is not None and change.output != tool.output:
        tool = replace(tool, output=change.output)
    return tool
