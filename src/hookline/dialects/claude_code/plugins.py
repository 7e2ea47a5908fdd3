"""Claude Code's plugins: which are enabled, and where they were installed.

A settings file says ``"enabledPlugins": {"NAME@MARKETPLACE": true}``; a registry of the client's
own has the directory of each. Knows both; what a plugin's hooks say is for others.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.dialects._located import MAX_BYTES, UnreadableText, read_json
from hookline.files import read_regular
from hookline.model.hook import Layer

__all__ = ["PLUGIN_FILES", "find_plugins", "list_named_files", "plugin_around"]

_MANIFEST = ".claude-plugin/plugin.json"
PLUGIN_FILES = ("hooks/hooks.json", _MANIFEST)
_DEPTH = 8
_REGISTRY = "plugins/installed_plugins.json"


def find_plugins(
    settings: Sequence[tuple[str, Layer]], config: str, project: str
) -> Iterator[tuple[str, Layer]]:
    """The directory of each enabled plugin, and the layer of the settings that enable it.

    ``settings`` are the files by rank: the first that names a plugin decides.
    """
    decided: dict[str, tuple[object, Layer]] = {}
    for path, layer in settings:
        for name, value in _object(_read(path).get("enabledPlugins")).items():
            decided.setdefault(name, (value, layer))
    installed = _object(_read(os.path.join(config, _REGISTRY)).get("plugins"))
    for name, (value, layer) in decided.items():
        if value is True:
            root = _directory(installed.get(name), project)
            if root:
                yield root, layer


def list_named_files(root: str) -> list[str]:
    """The files inside a plugin in which its manifest says that there are more hooks."""
    named = _read(os.path.join(root, _MANIFEST)).get("hooks")
    names = named if isinstance(named, list) else [named]
    paths = [os.path.normpath(name) for name in names if isinstance(name, str)]
    inside = [name for name in paths if not name.startswith(("..", "/"))]
    return [name for name in dict.fromkeys(inside) if name not in PLUGIN_FILES]


def plugin_around(path: str) -> str:
    """The directory of the plugin that a file is in; empty outside of one."""
    for _ in range(_DEPTH):
        path = os.path.dirname(path)
        if os.path.isfile(os.path.join(path, _MANIFEST)):
            return path
    return ""


def _directory(installed: object, project: str) -> str:
    """Where it was installed for this project, else for the person."""
    rows = [_object(each) for each in (installed if isinstance(installed, list) else [installed])]
    here = [row for row in rows if row.get("projectPath") == project]
    everywhere = [row for row in rows if "projectPath" not in row]
    found = next((row.get("installPath") for row in (*here, *everywhere)), None)
    return found if isinstance(found, str) and os.path.isabs(found) else ""


def _read(path: str) -> Mapping[str, Any]:
    """A file that holds an object; empty where it is missing, or is said to be broken elsewhere."""
    try:
        return _object(read_json(read_regular(path, MAX_BYTES + 1)).plain())
    except (OSError, ValueError, UnreadableText):
        return {}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
