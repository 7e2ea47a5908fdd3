"""Gemini CLI's settings files: where they are, and our entries in them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.dialects._install import settings
from hookline.dialects._spoken import SpokenSettings
from hookline.dialects.gemini import DIALECT
from hookline.dialects.gemini.codec import Gemini
from hookline.model.installing import Call, Inactive, Installed, Machine

__all__ = ["INSTALLER", "GeminiSettings"]

_SYSTEM = "/etc/gemini-cli/settings.json"
_NAME = "hookline"


class GeminiSettings(SpokenSettings):
    """``~/.gemini/settings.json``, and ``.gemini/settings.json`` in a project.

    The client obeys JSON on stdout whatever the exit code is, so only words close a gate for sure.
    """

    id = "gemini"
    support = Gemini.support
    codec = DIALECT
    clients = ("gemini",)
    user_file = project_file = ".gemini/settings.json"
    # The client runs equal lines of several files once.
    files_shown = "~/.gemini/settings.json and .gemini/settings.json"

    def handler(self, event: str, call: Call) -> Mapping[str, object]:
        """Milliseconds; the name is what ``/hooks disable`` takes."""
        timeout = 1000 * self.timeout(event, call)
        return {"name": _NAME, **super().handler(event, call), "timeout": timeout}

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """Switches that turn hooks off, and the trust that a folder needs before any runs."""
        user, project = (place.file for place in self.places(machine))
        # The first that says something decides.
        files = [(file, settings(machine.read(file))) for file in (_SYSTEM, project, user)]
        return [*_switched_off(files), *_untrusted(machine, files)]


_Files = Sequence[tuple[str, Mapping[str, Any]]]


def _switched_off(files: _Files) -> Iterator[Inactive]:
    said = [(file, data.get("hooksConfig")) for file, data in files]
    configs = [(file, config) for file, config in said if isinstance(config, dict)]
    enabled = ((file, config["enabled"]) for file, config in configs if "enabled" in config)
    file, value = next(enabled, ("", True))
    if value is False:
        why = f"`hooksConfig.enabled` is false in {file}: Gemini CLI runs no hooks"
        yield Inactive(why, f"set `hooksConfig.enabled` to true in {file}")
    for file, config in configs:
        names = config.get("disabled")
        for name in names if isinstance(names, list) else []:
            if isinstance(name, str) and (name == _NAME or "hookline hook gemini" in name):
                why = f"`hooksConfig.disabled` in {file} names hookline's hooks"
                yield Inactive(why, "/hooks enable hookline, inside Gemini CLI")
                break


def _untrusted(machine: Machine, files: _Files) -> Iterator[Inactive]:
    """Without trust in the folder the client loads no hooks from settings, the user's included."""
    security = [data["security"] for _, data in files if isinstance(data.get("security"), dict)]
    switches = [each["folderTrust"] for each in security if "folderTrust" in each]
    off = any(isinstance(each, dict) and each.get("enabled") is False for each in switches)
    if off or machine.env.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return
    rules = settings(machine.read(os.path.join(machine.home, ".gemini", "trustedFolders.json")))
    if not _is_trusted(machine.project, rules):
        why = f"{machine.project} is no trusted folder of Gemini CLI, so it runs no hooks there"
        yield Inactive(why, f"start gemini in {machine.project} and choose to trust the folder")


def _is_trusted(project: str, rules: Mapping[str, Any]) -> bool:
    """The nearest folder that a rule is about decides."""
    about: dict[str, bool] = {}
    for path, rule in rules.items():
        folder = os.path.dirname(path) if rule == "TRUST_PARENT" else path
        if folder == project or project.startswith(folder.rstrip("/") + "/"):
            about[folder] = rule in ("TRUST_FOLDER", "TRUST_PARENT")
    return bool(about) and about[max(about, key=len)]


INSTALLER = GeminiSettings()
