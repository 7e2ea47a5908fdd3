"""Matchers across platforms: a list of tool names in one is a list of other names in another.

Works by trial: every tool of the new platform is held against the old platform's own rules. What
is no plain list of known tools is not translated; then the adapter alone decides.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from hookline.converting.mapping import Target
from hookline.converting.platforms import Platform
from hookline.model.events import EVENTS, Agent, ToolEvent
from hookline.model.native import NativeEntry
from hookline.model.tools import Mcp, Tool, ToolKind

__all__ = ["is_for_all", "is_heard", "is_open", "is_plain", "names_for"]

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
        if _are_asked(entries, origin, _calls(name, target, on))
    )


def is_open(entries: Sequence[NativeEntry], origin: Platform, on: Target) -> bool:
    """Whether tools that no table knows are asked about as well."""
    unknown = Tool(kind=ToolKind.OTHER, name="a_tool_of_its_own")
    mcp = Tool(kind=ToolKind.MCP, name="mcp__a__tool", mcp=Mcp("a", "tool"))
    cls = _class_of(on)
    return _are_asked(entries, origin, [cls(tool=unknown), cls(tool=mcp)])


def is_heard(matcher: str, names: Sequence[str], target: Platform, on: Target) -> bool:
    """Whether the new platform, by its own rules, asks a hook with this matcher for each name."""
    # Copilot's entries say which other clients run them.
    entry = target.writer.placed(
        NativeEntry(event=on.native, matcher=matcher, options={"run_by": ()})
    )
    return all(
        target.rules.matches(entry, event) for name in names for event in _calls(name, target, on)
    )


def _are_asked(
    entries: Sequence[NativeEntry], origin: Platform, events: Iterable[ToolEvent]
) -> bool:
    """Whether some entry is about some call, whatever its condition says of what is in it."""
    calls = list(events)
    return any(
        origin.rules.matches(replace(entry, condition=""), replace(call, agent=_agent(entry)))
        for entry in entries
        for call in calls
    )


def _agent(entry: NativeEntry) -> Agent:
    return Agent(name=str(entry.options.get("agent") or entry.agent or "root"))


def _calls(name: str, target: Platform, on: Target) -> Iterator[ToolEvent]:
    """Calls of one tool: with nothing in its input, and with everything its table knows."""
    table = target.dialect.tools
    for input in ({}, dict.fromkeys(table.rows[name].keys.values(), "x")):
        # Nobody's call: some files are not asked about calls of clients that run them anyway.
        yield _class_of(on)(tool=table.read(name, dict(input)))


def _class_of(on: Target) -> type[ToolEvent]:
    cls = EVENTS[on.row.event]
    assert issubclass(cls, ToolEvent)
    return cls
