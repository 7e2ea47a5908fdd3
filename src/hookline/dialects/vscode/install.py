"""VS Code's hook files: where hookline's own is, and which settings keep it from being run."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.dialects._install import JsonSettings, settings
from hookline.dialects.vscode.codec import VSCode
from hookline.model.installing import Inactive, Installed, Machine, Scope

__all__ = ["INSTALLER", "VSCodeHooks"]

_USER_SETTINGS = (
    ".config/Code/User/settings.json",
    "Library/Application Support/Code/User/settings.json",
)
_SWITCH = "chat.useHooks"
_PLACES = "chat.hookFilesLocations"


class VSCodeHooks(JsonSettings):
    """``~/.copilot/hooks/hookline-vscode.json``, and the same in ``.github/hooks`` of a project.

    Without a ``version``: that would make the client read the file as Copilot CLI's. Its lines
    close gates, since the client runs the tool on any exit but 2.
    """

    id = "vscode"
    support = VSCode.support
    starts_posix_shell = True
    clients = ("code", "code-insiders", "codium")
    user_file = ".copilot/hooks/hookline-vscode.json"
    project_file = ".github/hooks/hookline-vscode.json"
    grouped = False

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """The switch for all hooks, and the one for the folder that ours are in."""
        user = [os.path.join(machine.home, name) for name in _USER_SETTINGS]
        workspace = os.path.join(machine.project, ".vscode", "settings.json")
        # The first that says something decides.
        files = [(file, settings(machine.read(file))) for file in (workspace, *user)]
        scopes = {each.target.scope for each in installed}
        return [*_switched_off(files), *_not_looked_at(files, scopes)]


_Files = Sequence[tuple[str, Mapping[str, Any]]]


def _switched_off(files: _Files) -> Iterator[Inactive]:
    file, value = next(((file, said[_SWITCH]) for file, said in files if _SWITCH in said), ("", 1))
    if value is False:
        why = f"`{_SWITCH}` is false in {file}: VS Code runs no hooks"
        yield Inactive(why, f"set `{_SWITCH}` to true in {file}")


def _not_looked_at(files: _Files, scopes: set[Scope]) -> Iterator[Inactive]:
    names = {Scope.USER: "~/.copilot/hooks", Scope.PROJECT: ".github/hooks"}
    found = [(file, said[_PLACES]) for file, said in files if isinstance(said.get(_PLACES), dict)]
    for folder in (names[scope] for scope in sorted(scopes)):
        said_in = ((file, said[folder]) for file, said in found if folder in said)
        file, value = next(said_in, ("", True))
        if value is False:
            why = f"`{_PLACES}` in {file} switches {folder} off: VS Code runs no hooks from there"
            yield Inactive(why, f'set "{folder}" to true in it')


INSTALLER = VSCodeHooks()
