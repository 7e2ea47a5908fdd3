"""The environment a hook's program runs in: the caller's, made safe, and ``HOOKLINE_*``.

Knows which variables make programs load code; must not look at this process's own environment.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from hookline.model.events import Event, ToolEvent
from hookline.model.hook import clean_path, loads_code
from hookline.model.ports import Call

__all__ = ["RUN_MARK", "hook_directory", "hook_environment"]

# Above this a value costs more than it tells; the hook has the whole event on its stdin.
_OWN_CAP = 32 * 1024
# Linux refuses to start a program with a longer `NAME=value`, its closing NUL included.
_SYSTEM_CAP = 128 * 1024 - 1

# The mark by which a run's processes are found again. Nested runs add to it.
RUN_MARK = "HOOKLINE_RUN"


def hook_directory(call: Call) -> str:
    """Where the hook runs: its config's project, else where the event happened."""
    start = call.hook.start
    project = call.hook.project_dir or call.event.cwd or "/"
    if start is None:
        return project
    in_cwd = start.in_cwd and os.path.isdir(call.event.cwd)  # an agent may have removed it
    base = call.event.cwd if in_cwd else project
    return os.path.join(base, start.directory) if start.directory else base


def hook_environment(call: Call, platform: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment for the hook's program; ``platform`` is what its own one sets."""
    inherited, omitted = _inherited(call)
    own = call.hook.start.variables if call.hook.start is not None else {}
    for name, text in {**(platform or {}), **own}.items():
        if _fits(f"{name}={text}", _SYSTEM_CAP):
            inherited[name] = text
        else:
            omitted.append(name)
    for name, value in _facts(call).items():
        if value is not None and _fits(value, _OWN_CAP):
            inherited[f"HOOKLINE_{name}"] = value
        elif value is not None:
            omitted.append(f"HOOKLINE_{name}")
    if omitted:
        inherited["HOOKLINE_OMITTED"] = ",".join(omitted)
    return inherited


def _inherited(call: Call) -> tuple[dict[str, str], list[str]]:
    """The caller's variables that may be passed on, and those that are too large to."""
    granted = call.hook.env if call.hook.guard else None
    kept: dict[str, str] = {
        name: value
        for name, value in call.caller.env.items()
        if (kind := _kind(name)) is _PLAIN
        or (kind is _LOADING and (granted is None or name in granted))
    }
    omitted = []
    # All of it at once, since hardly any environment has a variable that does not fit.
    if not _fits("".join(chain(kept, kept.values())), _SYSTEM_CAP - 1):
        omitted = [name for name in kept if not _fits(f"{name}={kept[name]}", _SYSTEM_CAP)]
        for name in omitted:
            del kept[name]
    kept["PATH"] = clean_path(kept.get("PATH", ""))
    return kept, omitted


# What a variable's name alone says about passing it on.
_PLAIN, _LOADING, _NEVER = range(3)


# Agents call with the same forty names each time; the pattern would be a tenth of a hook's cost.
@lru_cache(maxsize=1024)
def _kind(name: str) -> int:
    if name.startswith("HOOKLINE_") and name != RUN_MARK:
        return _NEVER
    # No program could have been started with such a name.
    if not name or "=" in name or not _fits(name, _OWN_CAP):
        return _NEVER
    return _LOADING if loads_code(name) else _PLAIN


def _fits(text: str, cap: int) -> bool:
    if "\0" in text:
        return False
    if text.isascii():
        return len(text) <= cap
    try:
        return len(os.fsencode(text)) <= cap
    except UnicodeEncodeError:
        return False


def _facts(call: Call) -> Mapping[str, str | None]:
    """What ``HOOKLINE_*`` says; None for what this event does not have."""
    event, caller = call.event, call.caller
    tool = event.tool if isinstance(event, ToolEvent) else None
    paths = _paths(event)
    first = call.match.path or next(iter(paths), None)
    return {
        "EVENT": event.event_id(),
        "ID": event.id,
        "ATTEMPT": str(caller.attempt),
        "DEPTH": str(caller.depth + 1),
        "DIALECT": event.dialect,
        "SESSION_ID": event.session_id,
        "PROJECT_DIR": caller.project_dir or call.hook.project_dir,
        "CWD": event.cwd,
        "TOOL": (tool.name or tool.kind.value) if tool else None,
        "COMMAND": tool.command if tool else None,
        "PATH": _absolute(first, call) if first else None,
        "PATHS": _lines([_absolute(path, call) for path in paths]) if paths else None,
    }


def _paths(event: Event) -> tuple[str, ...]:
    if isinstance(event, ToolEvent):
        return event.tool.paths or ((event.tool.path,) if event.tool.path else ())
    path: Any = event.matchable("path")
    return (path,) if path else ()


def _absolute(path: str, call: Call) -> str:
    return os.path.join(call.event.cwd or hook_directory(call), path)


def _lines(paths: list[str]) -> str:
    # A path with a line break would read as two; the NUL gets the whole value left out and named.
    return "\0" if any("\n" in path for path in paths) else "\n".join(paths)
