"""VS Code's hook files: where hookline's own is, and which settings keep it from being run."""

from collections.abc import Iterator, Sequence

from hookline.dialects._install import JsonSettings
from hookline.dialects.vscode.codec import VSCode
from hookline.dialects.vscode.settings import HOOKS, PLACES, Settings
from hookline.model.installing import Inactive, Installed, Machine, Scope

__all__ = ["INSTALLER", "VSCodeHooks"]


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
        settings = Settings(machine.project, machine.home, machine.read)
        scopes = {each.target.scope for each in installed}
        return [*_switched_off(settings), *_not_looked_at(settings, scopes)]


def _switched_off(settings: Settings) -> Iterator[Inactive]:
    found = settings.find(HOOKS)
    if found is not None and found.value is False:
        why = f"`{HOOKS}` is false in {found.file}: VS Code runs no hooks"
        yield Inactive(why, f"set `{HOOKS}` to true in {found.file}")


def _not_looked_at(settings: Settings, scopes: set[Scope]) -> Iterator[Inactive]:
    names = {Scope.USER: "~/.copilot/hooks", Scope.PROJECT: ".github/hooks"}
    said = settings.paths(PLACES)
    for folder in (names[scope] for scope in sorted(scopes)):
        found = said.get(folder)
        if found is not None and found.value is False:
            file = found.file
            why = f"`{PLACES}` in {file} switches {folder} off: VS Code runs no hooks from there"
            yield Inactive(why, f'set "{folder}" to true in it')


INSTALLER = VSCodeHooks()
