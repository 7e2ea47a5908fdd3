"""What works where: every platform's support table side by side, as data and as Markdown."""

from collections.abc import Iterator, Sequence
from typing import Any

from hookline import registry
from hookline.model.events import EVENTS
from hookline.model.support import Support

__all__ = ["CAPABILITIES", "as_json", "as_markdown", "capability_rows", "event_rows", "platforms"]

# (what a person wants, canonical event, cell)
CAPABILITIES: tuple[tuple[str, str, str], ...] = (
    ("deny a tool", "pre_tool_use", "deny"),
    ("ask before a tool", "pre_tool_use", "ask"),
    ("allow a tool", "pre_tool_use", "allow"),
    ("rewrite a tool's input", "pre_tool_use", "input"),
    ("context beside a tool call", "pre_tool_use", "context"),
    ("answer a permission request", "permission_request", "deny"),
    ("context after a tool", "post_tool_use", "context"),
    ("hide a tool's output", "post_tool_use", "deny"),
    ("replace a tool's output", "post_tool_use", "output"),
    ("block a prompt", "user_prompt_submit", "deny"),
    ("context on a prompt", "user_prompt_submit", "context"),
    ("rewrite a prompt", "user_prompt_submit", "prompt"),
    ("context at session start", "session_start", "context"),
    ("keep going after stop", "stop", "follow_up"),
    ("keep a sub-agent going", "subagent_stop", "follow_up"),
    ("veto compaction", "pre_compact", "deny"),
    ("end the run at a tool", "pre_tool_use", "halt"),
)


def platforms() -> list[Support]:
    """Every platform but our own contract."""
    names = [name for name in registry.dialect_names() if name != "canonical"]
    return [registry.dialect(name).support for name in names]


def event_rows(supports: Sequence[Support]) -> Iterator[tuple[str, list[str]]]:
    """For each canonical event that some platform has: its native names there."""
    for event in EVENTS:
        names = [
            ", ".join(name for name, row in support.events.items() if row.event == event)
            for support in supports
        ]
        if any(names):
            yield event, names


def capability_rows(supports: Sequence[Support]) -> Iterator[tuple[str, list[str]]]:
    """For each capability: yes, what is said instead, or — where there is no such event."""
    for what, event, cell in CAPABILITIES:
        yield what, [_capability(support, event, cell) for support in supports]


def _capability(support: Support, event: str, cell: str) -> str:
    rows = [row for row in support.events.values() if row.event == event]
    if not rows:
        return "—"
    said = list(dict.fromkeys("yes" if row.can(cell) else row.instead(cell) for row in rows))
    words = ["no" if word == "none" else word for word in said]
    return " / ".join(sorted(words, key=lambda word: word != "yes"))


def as_json() -> dict[str, Any]:
    """The whole matrix as data."""
    supports = platforms()
    return {
        "platforms": [
            {"id": each.id, "client": each.client, "version": each.version} for each in supports
        ],
        "events": {
            event: dict(zip((each.id for each in supports), names, strict=True))
            for event, names in event_rows(supports)
        },
        "capabilities": {
            what: dict(zip((each.id for each in supports), cells, strict=True))
            for what, cells in capability_rows(supports)
        },
        "cells": {
            each.id: {
                name: {"event": row.event, "source": row.source, **row.cells}
                for name, row in each.events.items()
            }
            for each in supports
        },
    }


def as_markdown() -> str:
    """Two tables: events × platforms, capabilities × platforms."""
    supports = platforms()
    heads = [each.id for each in supports]
    versions = ", ".join(f"{each.client} {each.version}" for each in supports)
    capabilities = _table("capability", heads, capability_rows(supports))
    events = _table("event", heads, event_rows(supports))
    return f"{capabilities}\n{events}\nWritten for: {versions}.\n"


def _table(corner: str, heads: Sequence[str], rows: Iterator[tuple[str, list[str]]]) -> str:
    lines = [f"| {corner} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(cell or '—' for cell in cells)} |" for name, cells in rows]
    return "\n".join(lines) + "\n"
