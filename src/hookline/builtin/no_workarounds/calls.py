"""What a tool call would do, whatever tool it is: its files, its command, its address."""

from collections.abc import Iterator

from msgspec import structs

from hookline.builtin._touching import places_of, touches
from hookline.builtin.no_workarounds.branches import named_branch
from hookline.builtin.no_workarounds.doings import RIGHTS, Deed, Doing, Ground, on_paths
from hookline.builtin.no_workarounds.network import addressed
from hookline.builtin.no_workarounds.shell import shell_doings
from hookline.model.events import ToolEvent
from hookline.model.ports import Caller
from hookline.model.tools import ToolKind

__all__ = ["doings"]

_K = ToolKind


def doings(event: ToolEvent, caller: Caller) -> list[Doing]:
    """Everything that a call would do, as far as it can be read."""
    places = places_of(event, caller)
    ground = Ground(places=places, project=caller.project_dir, env=caller.env, spent={})
    found = list(_doings(event, caller, ground))
    if ground.overdrawn:
        # What was denied may stand where nobody looked.
        found.append(Doing(did=Deed.UNREAD, target="*", sure=False))
    return found


def _doings(event: ToolEvent, caller: Caller, ground: Ground) -> Iterator[Doing]:
    tool = event.tool
    names = (tool.name.lower(), tool.kind.value)
    for each in _done(event, caller, ground):
        yield each if each.by else structs.replace(each, by=names)


def _done(event: ToolEvent, caller: Caller, ground: Ground) -> Iterator[Doing]:
    tool = event.tool
    if tool.command is not None and tool.kind in {_K.SHELL, _K.MCP, _K.OTHER}:
        yield from shell_doings(tool.command, ground)
        event = structs.replace(event, tool=structs.replace(tool, command=None))
    if tool.kind is not _K.SHELL:
        empties = tool.kind is _K.WRITE and tool.content == ""
        for touch in touches(event, caller, ground.places):
            did = RIGHTS.get(touch.right)
            for each in (did, Deed.EMPTY if empties else None):
                if each is not None:
                    yield from on_paths(each, touch.path, ground, deep=touch.deep, glob=touch.glob)
    if tool.url:
        yield from addressed(tool.url)
    if tool.mcp is not None:
        yield from named_branch(tool.mcp.tool, tool.input)
