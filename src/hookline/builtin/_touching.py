"""Which paths an event touches, with which right, whatever tool it is and whosever."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hookline.builtin._paths import Places, Roots, given_homes, normal
from hookline.builtin._touch_code import Right
from hookline.builtin._touch_shell import Touch, shell_touches
from hookline.model.events import ToolEvent
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind

__all__ = ["Right", "Touch", "places_of", "touches"]

_K = ToolKind
_RIGHTS: Mapping[ToolKind, Right] = {
    _K.READ: Right.READ,
    _K.SEARCH: Right.READ,
    _K.WRITE: Right.WRITE,
    _K.EDIT: Right.WRITE,
    _K.DELETE: Right.DELETE,
}
# Where a tool says in which directory it runs, and what a search is narrowed to.
_DIRECTORIES = ("cwd", "workdir", "working_dir", "workingDirectory", "directory", "dir_path")
_NARROWED = ("glob", "include", "includePattern", "include_pattern", "file_pattern")
# Of a tool that nobody here knows, its name is all that tells what it does.
_READING = re.compile(
    r"(?i)read|get|list|search|find|view|show|stat|fetch|query|grep|info|describe"
)
_CHANGING = re.compile(
    r"(?i)write|edit|creat|updat|patch|put|set|save|append|mov|renam|copy|upload|replace|insert|run|exec"
)
_DELETING = re.compile(r"(?i)delet|remov|unlink|trash|\brm\b")
_DELETED = re.compile(r"(?m)^[ \t]*\*\*\* Delete File:(.*)$")
# No file here, whatever its address ends in.
_REMOTE = re.compile(r"(?i)(?:https?|wss?)://")
_LONGEST = 4096


def places_of(event: ToolEvent, caller: Caller) -> Places:
    """What relative paths of the event are relative to."""
    start = event.cwd or caller.project_dir
    bases = (start,) if start.startswith("/") else ()
    if not event.tool.input.keys().isdisjoint(_DIRECTORIES):
        bases = tuple(dict.fromkeys((*bases, *_moved(event, caller, start))))
    return Places(bases, Roots((caller.project_dir, event.cwd), given_homes(caller)))


def _moved(event: ToolEvent, caller: Caller, start: str) -> Iterator[str]:
    """Where the tool itself says that it runs."""
    home = caller.env.get("HOME", "")
    for key in _DIRECTORIES:
        if isinstance(each := event.tool.input.get(key), str):
            moved = os.path.join(start, re.sub(r"^~(?=/|$)", lambda _: home, each))
            if os.path.isabs(moved):
                yield moved


def touches(event: ToolEvent, caller: Caller, places: Places) -> Iterable[Touch]:
    """Everything the event may do to files."""
    tool = event.tool
    if tool.kind is not _K.SHELL:
        return _by_any_tool(tool, caller, places)
    return () if tool.command is None else _by_shell(tool.command, caller, places)


def _by_shell(command: str, caller: Caller, places: Places) -> Iterable[Touch]:
    env = caller.env
    if caller.home and "HOOKLINE_HOME" in command:
        env = {"HOOKLINE_HOME": caller.home, **env}
    return shell_touches(command, places, caller.project_dir, env)


def _by_any_tool(tool: Tool, caller: Caller, places: Places) -> Iterator[Touch]:
    if tool.command is not None and tool.kind in {_K.MCP, _K.OTHER}:
        yield from _by_shell(tool.command, caller, places)
    if tool.kind in _RIGHTS:
        yield from _filed(tool, _RIGHTS[tool.kind])
    elif tool.kind in {_K.MCP, _K.OTHER, _K.FETCH, _K.PLAN}:
        right = Right.READ if tool.kind is _K.FETCH else _right_of(tool)
        yield from (Touch(path, right) for path in _named(tool.input))


def _filed(tool: Tool, right: Right) -> Iterator[Touch]:
    given = [_local(path) for path in (tool.path, *tool.paths) if path]
    # Clients trim what the model wrote, and on some systems a backslash is a slash.
    paths = dict.fromkeys(
        (*given, *(path.strip() for path in given), *(path.replace("\\", "/") for path in given))
    )
    # Of an edit that is a patch, the files it takes away.
    patch = tool.content or ""
    gone = {path.strip() for path in _DELETED.findall(patch)} if "*** Delete" in patch else set()
    for path in paths:
        deletes = right is Right.DELETE or path in gone
        yield Touch(path, Right.DELETE if deletes else right, deep=deletes)
    if tool.kind is _K.SEARCH:
        narrowed = (tool.input.get(key) for key in _NARROWED)
        folder = tool.path or ""
        for each in narrowed:
            if isinstance(each, str):
                yield Touch(os.path.join(folder, each), right, glob=True)


def _right_of(tool: Tool) -> Right:
    name = tool.mcp.tool if tool.mcp is not None else tool.name
    if _DELETING.search(name):
        return Right.DELETE
    if _CHANGING.search(name):
        return Right.WRITE
    # `read_file` reads; a name that says nothing may do anything.
    return Right.READ if _READING.search(name) else Right.USE


def _named(value: Any) -> Iterator[str]:
    """Every text in an input that may be a path."""
    waiting, seen = [value], set[str]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
        elif isinstance(each, str) and each and each not in seen and not _is_text(each):
            seen.add(each)
            if not _REMOTE.match(each):
                yield _local(each)


def _is_text(value: str) -> bool:
    """Whether it can be no path: it has lines, or is too long without its `.` and `..` even."""
    return "\n" in value or (len(value) > _LONGEST and len(normal(value)) > _LONGEST)


def _local(path: str) -> str:
    """The path behind a `file:` address."""
    if not path.lower().startswith("file:"):
        return path
    from urllib.parse import unquote  # slow to load, and few paths are addresses

    return unquote(re.sub(r"(?i)^file:(?://(?:localhost)?)?", "", path))
