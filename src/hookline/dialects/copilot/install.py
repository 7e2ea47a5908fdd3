"""Copilot CLI's hook files: where hookline's own is, and what keeps it from being run."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from hookline.dialects._copilot.install import CopilotHooks
from hookline.dialects._install import settings
from hookline.dialects._native import JsonDialect
from hookline.dialects.copilot import DIALECT
from hookline.model.installing import Inactive, Installed, Machine, Scope

__all__ = ["INSTALLER", "CopilotCliHooks"]

_EMBEDDED = "only programs that embed Copilot are told of it, hook files are not"
_TRUSTED = ("trustedFolders", "trusted_folders")


class CopilotCliHooks(CopilotHooks):
    """``~/.copilot/hooks/hookline.json``, and ``.github/hooks/hookline.json`` in a project."""

    id = "copilot"
    support = DIALECT.support
    clients = ("copilot",)
    codec: ClassVar[JsonDialect] = DIALECT
    user_file = ".copilot/hooks/hookline.json"
    project_file = ".github/hooks/hookline.json"
    left_out: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("preMcpToolCall", "postResult", "prePRDescription"), _EMBEDDED
    )

    def user_path(self, machine: Machine) -> str:
        """Where the client's own home is."""
        return os.path.join(_home(machine), "hooks", "hookline.json")

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """Switches that turn hooks off, and the trust that a folder needs."""
        return [*_switched_off(machine, installed), *_untrusted(machine, installed)]


def _home(machine: Machine) -> str:
    return machine.env.get("COPILOT_HOME") or os.path.join(machine.home, ".copilot")


def _switched_off(machine: Machine, installed: Sequence[Installed]) -> Iterator[Inactive]:
    folder = os.path.join(machine.project, ".github", "copilot")
    files = [os.path.join(folder, name) for name in ("settings.json", "settings.local.json")]
    said = [(file, settings(machine.read(file)), "no hooks here") for file in files]
    said += [(each.target.file, settings(each.content), "nothing of it") for each in installed]
    for file, data, what in said:
        if data.get("disableAllHooks") is True:
            why = f'"disableAllHooks": true in {file}: Copilot CLI runs {what}'
            yield Inactive(why, f'take "disableAllHooks" out of {file}')


def _untrusted(machine: Machine, installed: Sequence[Installed]) -> Iterator[Inactive]:
    """Without trust in the folder the client reads no hooks from it, and says nothing."""
    if all(each.target.scope is Scope.USER for each in installed):
        return
    if machine.env.get("COPILOT_ALLOW_ALL") == "true":
        return
    config = settings(machine.read(os.path.join(_home(machine), "config.json")))
    lists = [config[key] for key in _TRUSTED if isinstance(config.get(key), list)]
    folders = [each for found in lists for each in found if isinstance(each, str)]
    if not any(_is_in(machine.project, folder) for folder in folders):
        why = f"{machine.project} is no trusted folder of Copilot CLI, so it reads no hooks there"
        yield Inactive(why, f"start copilot in {machine.project} and choose to trust the folder")


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


INSTALLER = CopilotCliHooks()
