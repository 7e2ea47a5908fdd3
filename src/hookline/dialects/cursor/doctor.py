"""How hooks silently do not fire in Cursor."""

import os
from collections.abc import Iterator

from hookline.dialects._doctor import Rules
from hookline.dialects._doctor_entries import common
from hookline.dialects._patterns import found
from hookline.model.findings import Checkup, Finding, Seen
from hookline.model.hook import Layer
from hookline.model.native import NativeEntry

__all__ = ["findings"]


def _matches(entry: NativeEntry, name: str) -> bool:
    return found(entry.matcher or "", name)


def _base(checkup: Checkup, seen: Seen, entry: NativeEntry) -> str:
    """A project's hooks run in it, anybody else's where their file is."""
    in_project = seen.place.layer is Layer.PROJECT or seen.place.dialect
    return checkup.where.project if in_project else os.path.dirname(seen.file.path)


_RULES = Rules(
    tool_events=frozenset({"preToolUse", "postToolUse", "postToolUseFailure"}),
    matches=_matches,
    mcp="MCP:TOOL",
    variables=("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    base=_base,
    closing='write "failClosed": true beside its "command"',
    tells_units=True,
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere; whether a workspace is trusted cannot be seen from outside."""
    yield from common(checkup, _RULES)
