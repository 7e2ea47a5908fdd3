"""Where agents look for MCP servers: one table, and what it means for a person in a directory."""

import os
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

__all__ = ["PROJECT", "Place", "Places", "placed"]

PROJECT = "{project}"
"""A key that is the project's own path."""

_DEEPEST = 64
_KEPT = 32


class Place(Struct, frozen=True):
    """Where one client looks for servers, and under which key they stand."""

    client: str
    path: str
    keys: tuple[str, ...] = ("mcpServers",)
    at_home: bool = False
    moved_by: tuple[str, str] = ("", "")
    """A variable that names another directory, and what the file is called there."""
    upward: bool = False
    """Whether some version of the client also looks in all directories above the project."""
    bare: bool = False
    """Whether the servers may also stand there without that key."""


_CLAUDE = ("CLAUDE_CONFIG_DIR", ".claude.json")
_VSCODE = ("XDG_CONFIG_HOME", "Code/User/mcp.json")
_PLACES = (
    Place("claude-code", "/etc/claude-code/managed-mcp.json", at_home=True),
    Place("claude-code", ".mcp.json", upward=True, bare=True),
    Place("claude-code", ".claude.json", ("mcpServers",), True, _CLAUDE),
    Place("claude-code", ".claude.json", ("projects", PROJECT, "mcpServers"), True, _CLAUDE),
    Place("codex", ".codex/config.toml", ("mcp_servers",)),
    Place("codex", ".codex/config.toml", ("mcp_servers",), True, ("CODEX_HOME", "config.toml")),
    Place("vscode", ".vscode/mcp.json", ("servers",)),
    Place("vscode", ".config/Code/User/mcp.json", ("servers",), True, _VSCODE),
    Place("copilot", ".copilot/mcp-config.json"),
    Place("copilot", ".mcp.json", bare=True),
    Place("copilot", ".github/mcp.json", bare=True),
    Place(
        "copilot",
        ".copilot/mcp-config.json",
        at_home=True,
        moved_by=("COPILOT_HOME", "mcp-config.json"),
    ),
    Place("gemini", ".gemini/settings.json"),
    Place("gemini", ".gemini/settings.json", at_home=True),
    Place("cursor", ".cursor/mcp.json"),
    Place("cursor", ".cursor/mcp.json", at_home=True),
)

Places = tuple[tuple[Place, str], ...]


def placed(project: str, cwd: str, home: str, env: Mapping[str, str]) -> Places:
    """Every place with its path; without those of a person of whom nobody knows where they live."""
    return _found(project, cwd, home, tuple(env.get(place.moved_by[0], "") for place in _PLACES))


@lru_cache(_KEPT)
def _found(project: str, cwd: str, home: str, moved: tuple[str, ...]) -> Places:
    paths = []
    for place, elsewhere in zip(_PLACES, moved, strict=True):
        if os.path.isabs(elsewhere):
            paths.append((place, os.path.join(elsewhere, place.moved_by[1])))
            continue
        bases = (home,) if place.at_home else _directories(project, cwd, place.upward)
        paths += [(place, os.path.join(base, place.path)) for base in bases]
    return tuple((place, path) for place, path in paths if os.path.isabs(path))


def _directories(project: str, cwd: str, upward: bool) -> list[str]:
    """The project, those on the way down from it to ``cwd``, and perhaps those above it."""
    found = [project]
    below = os.path.normpath(cwd) if os.path.isabs(cwd) else project
    if below.startswith(project.rstrip("/") + "/"):
        while len(below) > len(project) and len(found) < _DEEPEST:
            found.append(below)
            below = os.path.dirname(below)
    above = os.path.dirname(project)
    while upward and os.path.isabs(above) and above != found[-1] and len(found) < 2 * _DEEPEST:
        found.append(above)
        above = os.path.dirname(above)
    return found
