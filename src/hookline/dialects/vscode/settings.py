"""VS Code's settings: what they say of hooks, and of plugins that bring some.

Knows the files and the keys; what lies at the places that they name is for ``files``.
"""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hookline.dialects._located import Located, UnreadableText, read_json

__all__ = [
    "AGENT_HOOKS",
    "HOOKS",
    "PARENTS",
    "PLACES",
    "PLUGINS",
    "PLUGINS_ON",
    "Setting",
    "Settings",
    "is_settings",
    "read_root",
]

HOOKS = "chat.useHooks"
AGENT_HOOKS = "chat.useCustomAgentHooks"
PARENTS = "chat.useCustomizationsInParentRepositories"
PLACES = "chat.hookFilesLocations"
PLUGINS = "chat.pluginLocations"
PLUGINS_ON = "chat.plugins.enabled"

_WORKSPACE = ".vscode/settings.json"
_USER = (
    ".config/Code/User/settings.json",
    "Library/Application Support/Code/User/settings.json",
)


# What VS Code takes for settings that say nothing.
_BLANK = re.compile(rb"(?:\s++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_BOOLEANS = {"true": True, "false": False}


def is_settings(path: str) -> bool:
    """Whether this is one of VS Code's own settings files."""
    return path.endswith(tuple(f"/{name}" for name in (_WORKSPACE, *_USER)))


def read_root(content: bytes) -> Located:
    """The settings in a file. Raises UnreadableText."""
    return read_json(b"{}" if _BLANK.fullmatch(content.removeprefix(BOM_UTF8)) else content)


class Setting(NamedTuple):
    """One value, and where it stands."""

    value: Any
    file: str
    line: int
    is_workspace: bool


class Settings:
    """The workspace's settings and the person's; the first that says something decides."""

    def __init__(self, project: str, home: str, read: Callable[[str], bytes | None]) -> None:
        """``read`` gives a file's content, and None where there is none."""
        self.files = tuple(
            os.path.join(base, name)
            for base, name in ((project, _WORKSPACE), *((home, name) for name in _USER))
        )
        self.user_file = self.files[1]
        """Where a person would write one."""
        self._roots: list[tuple[str, Located]] = []
        for file in self.files:
            try:
                self._roots.append((file, read_root(read(file) or b"")))
            except UnreadableText:
                continue

    def find(self, key: str) -> Setting | None:
        """The value that counts."""
        for file, root in self._roots:
            if key in root.members:
                line = root.line_of(key)
                return Setting(root.get(key), file, line, file == self.files[0])
        return None

    def is_off(self, key: str) -> bool:
        """Whether somebody has switched it off."""
        found = self.find(key)
        return found is not None and found.value is False

    def paths(self, key: str) -> Mapping[str, Setting]:
        """An object of paths: of each the boolean that counts, by its plain spelling."""
        found: dict[str, Setting] = {}
        for file, root in self._roots:
            value = root.get(key)
            for path, text in value.items() if isinstance(value, dict) else ():
                on = _BOOLEANS.get(str(text).strip().lower())
                if on is None:
                    continue  # as VS Code does
                plain = path.strip().removeprefix("./").rstrip("/")
                said = Setting(on, file, root.line_of(key), file == self.files[0])
                found.setdefault(plain, said)
        return found
