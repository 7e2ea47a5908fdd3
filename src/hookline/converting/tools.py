"""Matchers across platforms: a list of tool names in one is a list of other names in another.

Works by trial: every tool of the new platform is held against the old platform's own rules. What
is no plain list of known tools is not translated; then the adapter alone decides.
"""

import re
from collections.abc import Iterator, Sequence

from hookline.converting.mapping import Target
from hookline.converting.platforms import Platform
from hookline.model.events import EVENTS, Event, ToolEvent
from hookline.model.native import NativeEntry
from hookline.model.tools import ToolKind

__all__ = ["is_for_all", "is_heard", "is_plain", "names_for"]

_NAMES = re.compile(r"\w+(?:\|\w+)*")
# Tools of these kinds have any name at all, so no table knows those that a matcher may mean.
_OPEN_KINDS = {ToolKind.OTHER, ToolKind.MCP}


def is_for_all(matcher: str | None) -> bool:
    """Whether a matcher leaves nothing out."""
    return matcher is None or matcher.strip() in {"", "*"}


def is_plain(matcher: str, origin: Platform) -> bool:
    """Whether it is a list of tools that the old platform's table knows."""
    if not _NAMES.fullmatch(matcher):
        return False
    rows = [origin.dialect.tools.rows.get(name) for name in matcher.split("|")]
    return all(row is not None and row.kind not in _OPEN_KINDS for row in rows)


def names_for(
    entries: Sequence[NativeEntry], origin: Platform, target: Platform, on: Target
) -> tuple[str, ...]:
    """The tools of ``target`` for which one of the entries would be asked on its own platform."""
    return tuple(
        name
        for name in target.dialect.tools.rows
        if any(
            origin.rules.matches(entry, event)
            for entry in entries
            for event in _calls(name, target, on)
        )
    )


def is_heard(matcher: str, names: Sequence[str], target: Platform, on: Target) -> bool:
    """Whether the new platform, by its own rules, asks a hook with this matcher for each name."""
    # Copilot's entries say which other clients run them.
    entry = NativeEntry(event=on.native, matcher=matcher, options={"run_by": ()})
    return all(
        target.rules.matches(entry, event) for name in names for event in _calls(name, target, on)
    )


def _calls(name: str, target: Platform, on: Target) -> Iterator[Event]:
    """Calls of one tool: with nothing in its input, and with everything its table knows."""
    table = target.dialect.tools
    cls = EVENTS[on.row.event]
    assert issubclass(cls, ToolEvent)
    for input in ({}, dict.fromkeys(table.rows[name].keys.values(), "x")):
        # Nobody's call: some files are not asked about calls of clients that run them anyway.
        yield cls(tool=table.read(name, dict(input)))
