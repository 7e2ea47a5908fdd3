"""Where Copilot CLI looks for hooks: policy, the person's, the repository's, and plugins."""

import os
from collections.abc import Iterator, Sequence
from glob import glob

from hookline.dialects._copilot.files import CopilotFiles, in_repository, is_in, is_vscodes
from hookline.dialects._entries import names_any
from hookline.dialects.copilot import DIALECT
from hookline.model.hook import Layer
from hookline.model.native import NativePlace, Where

__all__ = ["FILES", "CopilotCliFiles"]

_SETTINGS = ("settings.json", "settings.local.json")
_FOLDERS = (".copilot/hooks", "github-copilot/policy.d")
_WITH_SETTINGS = (".github/copilot", ".copilot")
_ONLY_HERE = {"userPromptSubmitted", "userPromptTransformed", "agentStop", "errorOccurred"}
_PLUGINS = ("*/hooks.json", "*/hooks/hooks.json", "*/*/hooks.json", "*/*/hooks/hooks.json")


class CopilotCliFiles(CopilotFiles):
    """The hook files of Copilot CLI."""

    codec = DIALECT
    run_by = frozenset({"copilot"})
    adopts = frozenset({"claude-code"})

    def owns(self, path: str, content: bytes) -> bool:
        """Files in their places, and files with events of no other platform."""
        if not path.endswith(".json"):
            return False
        folder, name = os.path.split(path)
        if in_repository(path):
            return not is_vscodes(content)
        if is_in(folder, *_FOLDERS) or "/installed-plugins/" in path:
            return True
        if name in _SETTINGS and is_in(folder, *_WITH_SETTINGS):
            return True
        return names_any(content, _ONLY_HERE)

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """Hook files of a folder of hooks, or the settings."""
        if is_in(directory, *_FOLDERS):
            return [name for name in sorted(names) if name.endswith(".json")]
        if is_in(directory, *_WITH_SETTINGS):
            return [name for name in _SETTINGS if name in names]
        return super().members(directory, names)

    def runners(self, path: str) -> frozenset[str]:
        """VS Code also runs the person's own hooks."""
        own = is_in(os.path.dirname(path), ".copilot/hooks")
        return self.run_by | {"vscode"} if own else super().runners(path)

    def places(self, where: Where) -> Sequence[NativePlace]:
        """In the order in which hooks run; folders stand for the files in them."""
        return tuple(
            NativePlace(path=path, layer=layer, scope=scope, dialect=dialect)
            for path, layer, scope, dialect in _places(where)
        )


def _places(where: Where) -> Iterator[tuple[str, Layer, str, str]]:
    home = where.env.get("COPILOT_HOME") or os.path.join(where.home, ".copilot")
    yield os.path.join(where.root, "etc/github-copilot/policy.d"), Layer.MANAGED, "policy", ""
    yield os.path.join(home, "hooks"), Layer.USER, "user", ""
    yield os.path.join(home, "settings.json"), Layer.USER, "user", ""
    yield os.path.join(where.project, ".github/hooks"), Layer.PROJECT, "project", ""
    for folder, dialect in ((".claude", "claude-code"), (".github/copilot", "")):
        for name, scope in zip(_SETTINGS, ("project", "local"), strict=True):
            yield os.path.join(where.project, folder, name), Layer.PROJECT, scope, dialect
    plugins = os.path.join(home, "installed-plugins")
    for pattern in _PLUGINS:
        for path in sorted(glob(pattern, root_dir=plugins)):
            yield os.path.join(plugins, path), Layer.USER, "plugin", ""


FILES = CopilotCliFiles()
