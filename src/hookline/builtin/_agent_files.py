"""Where agents keep their own hooks and settings, and hookline its config and state.

What may edit these may switch every guard off, so they are protected without being asked.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from hookline.builtin._paths import normal

__all__ = [
    "AGENT_DIRS",
    "ASKED_FILES",
    "MANAGED",
    "MOVING",
    "OWN_FILES",
    "SHARED_DIRS",
    "moved",
    "standing",
]


def _paths(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# In a project and at home alike, which is where all of these clients look.
_ANYWHERE: Mapping[str, tuple[str, ...]] = {
    "hookline": (
        *("hookline.yaml", "hookline.mcp.json", ".hookline"),
        *(".config/hookline", ".local/state/hookline"),
    ),
    "Claude Code": _paths(".claude/settings.json .claude/settings.local.json .claude/hooks"),
    "Codex": (".codex/hooks.json", ".codex/config.toml", ".codex/hooks"),
    "Copilot": _paths(
        ".github/hooks .github/copilot/settings.json .github/copilot/settings.local.json"
        " .copilot/hooks .copilot/settings.json .copilot/config.json"
        " .copilot/installed-plugins"
    ),
    "VS Code": (
        ".vscode/settings.json",
        "Code/User/settings.json",
        "Code - Insiders/User/settings.json",
    ),
    "Gemini CLI": _paths(
        ".gemini/settings.json .gemini/trustedFolders.json .gemini/hooks .gemini/extensions/*/hooks"
    ),
    "Cursor": (".cursor/hooks.json", ".cursor/hooks"),
    "docker-agent": (".config/cagent/config.yaml", ".config/cagent/hooks.d"),
    "Kodelet": _paths(
        ".kodelet/hooks .kodelet/plugins/*/hooks .kodelet/config.yaml kodelet-config.yaml"
    ),
    "OpenCode": (".opencode/plugins", ".opencode/plugin", ".config/opencode"),
    "Pi": (".pi/extensions", ".pi/agent/extensions"),
}
# These names mean something in a project's own directory only.
_PROJECT: Mapping[str, tuple[str, ...]] = {"BaseCoat": ("hooks.json", "mcp.json")}
_HOME: Mapping[str, tuple[str, ...]] = {"Claude Code": (".claude.json",)}

# Whatever is put in the place of one of these brings settings and hooks with it.
AGENT_DIRS: tuple[str, ...] = (
    *(".claude", ".codex", ".copilot", ".cursor", ".gemini", ".kodelet", ".opencode", ".pi"),
    *(".config/cagent", ".github/copilot", ".github/hooks"),
)
SHARED_DIRS: tuple[str, ...] = (".github", ".vscode")
"""The same of what others use as well: these may be worked on once they are there."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ASKED_FILES: tuple[str, ...] = (
    *("**/.claude/plugins", "**/.claude/dev-mods", "**/.gemini/extensions", "**/.codex/plugins"),
    *("**/bin/hookline", "**/bin/hookline-client", "**/tools/hookline", "**/venvs/hookline"),
    *(
        f"**/{kind}-packages/{name}"
        for kind in ("site", "dist")
        for name in ("hookline", "*.pth", "*customize.py")
    ),
    *(os.path.abspath(sys.executable), os.path.realpath(sys.executable), _PACKAGE),
    # What it imports, and what Python runs first, such as `sitecustomize.py`.
    os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__))),
)
"""Plugins, and hookline's own programs: a person is asked before they are changed."""

MANAGED: tuple[str, ...] = (
    "/etc/hookline",
    "/etc/claude-code",
    "/etc/codex",
    "/etc/cursor",
    "/etc/gemini-cli",
    "/etc/github-copilot",
    "/Library/Application Support/ClaudeCode",
)

OWN_FILES: Mapping[str, str] = {
    **{f"**/{path}": whose for whose, paths in _ANYWHERE.items() for path in paths},
    **{f"./{path}": whose for whose, paths in _PROJECT.items() for path in paths},
    **{f"~/{path}": whose for whose, paths in _HOME.items() for path in paths},
    **dict.fromkeys(MANAGED, "an administrator"),
    # The daemon's sockets, one directory for each home and version.
    "/run/user/*/hookline-*": "hookline",
}
"""Every pattern, and whose files those are."""

# Variables that move a client's directory, and what counts there.
_MOVED: Mapping[str, tuple[str, ...]] = {
    "CLAUDE_CONFIG_DIR": ("settings.json", "settings.local.json", "hooks", ".claude.json"),
    "CODEX_HOME": ("hooks.json", "config.toml", "hooks"),
    "COPILOT_HOME": ("hooks", "settings.json", "config.json", "installed-plugins"),
    "DOCKER_AGENT_CONFIG_DIR": ("config.yaml", "hooks.d"),
    "CAGENT_CONFIG_DIR": ("config.yaml", "hooks.d"),
    "XDG_CONFIG_HOME": _paths(
        "hookline cagent/config.yaml cagent/hooks.d opencode Code/User/settings.json"
    ),
    "XDG_STATE_HOME": ("hookline",),
    "HOOKLINE_HOME": ("",),
    "HOOKLINE_CONFIG": ("",),
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH": ("",),
}


MOVING: tuple[str, ...] = tuple(_MOVED)
"""Those variables."""


def moved(folders: Iterable[str | None]) -> Iterator[str]:
    """Whole paths of what these values of the variables have put elsewhere."""
    for folder, paths in zip(folders, _MOVED.values(), strict=True):
        if folder and os.path.isabs(folder):
            yield from (normal(os.path.join(folder, path)) for path in paths)


def standing(directories: Iterable[str]) -> Iterator[str]:
    """Every path in these that could be such a file: what holds one is judged as it is."""
    for directory in directories:
        for paths in (*_ANYWHERE.values(), *_PROJECT.values(), *_HOME.values()):
            for path in paths:
                yield os.path.join(directory, path.partition("/*")[0])
