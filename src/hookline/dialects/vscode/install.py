"""VS Code's hook files: where hookline's own is, and which settings keep it from being run."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.dialects._install import JsonSettings, settings
from hookline.dialects.vscode.codec import VSCode
from hookline.model.installing import Call, Inactive, Installed, Machine, Scope, Target

__all__ = ["INSTALLER", "VSCodeHooks"]

_NAME = "hookline-vscode.json"
_USER_SETTINGS = (
    ".config/Code/User/settings.json",
    "Library/Application Support/Code/User/settings.json",
)
_SWITCH = "chat.useHooks"
_PLACES = "chat.hookFilesLocations"


class VSCodeHooks(JsonSettings):
    """``~/.copilot/hooks/hookline-vscode.json``, and the same in ``.github/hooks`` of a project.

    Without a ``version``: that would make the client read the file as Copilot CLI's.
    """

    id = "vscode"
    support = VSCode.support
    starts_posix_shell = True
    clients = ("code", "code-insiders", "codium")
    grouped = False

    def targets(self, machine: Machine, scope: Scope, *, shared: bool) -> Sequence[Target]:
        """One file; a project's is one that git carries."""
        user, project = self.places(machine)
        return [user if scope is Scope.USER else project]

    def places(self, machine: Machine) -> Sequence[Target]:
        """The user's file and the project's."""
        user = os.path.join(machine.home, ".copilot", "hooks", _NAME)
        project = os.path.join(machine.project, ".github", "hooks", _NAME)
        return [
            Target(file=user, scope=Scope.USER),
            Target(file=project, scope=Scope.PROJECT, personal=False),
        ]

    def handler(self, event: str, call: Call) -> Mapping[str, object]:
        """Seconds; the line closes gates, since the client runs the tool on any exit but 2."""
        return {
            "type": "command",
            "command": self.line(event, call),
            "timeout": self.timeout(event, call),
        }

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
