"""The Copilot cloud agent's hook file: in the repository, because that is all it ever sees."""

import os
from collections.abc import Iterator, Sequence
from typing import ClassVar

from hookline.dialects._copilot.install import CopilotHooks
from hookline.dialects._native import JsonDialect
from hookline.dialects.copilot_cloud import DIALECT
from hookline.model.installing import Inactive, Installed, Machine, Scope

__all__ = ["INSTALLER", "CopilotCloudHooks"]

_SETUP = ".github/workflows/copilot-setup-steps"
_BRANCH = "commit it and merge it into the default branch"


class CopilotCloudHooks(CopilotHooks):
    """``.github/hooks/hookline-cloud.json``; it is of use only with ``--shared``."""

    id = "copilot-cloud"
    support = DIALECT.support
    codec: ClassVar[JsonDialect] = DIALECT
    scopes = (Scope.PROJECT,)
    project_file = ".github/hooks/hookline-cloud.json"

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """What the clone on GitHub's machine lacks."""
        return [
            *_of_this_machine(installed),
            *_without_program(machine),
            *_not_in_git(machine, installed),
        ]


def _of_this_machine(installed: Sequence[Installed]) -> Iterator[Inactive]:
    for each in installed:
        if any(os.path.isabs(entry.program) for entry in each.entries):
            why = (
                f"{each.target.file} starts hookline by a path of this machine, which the cloud "
                "agent does not have: every gate is closed there"
            )
            yield Inactive(why, "hookline install copilot-cloud --shared")


def _without_program(machine: Machine) -> Iterator[Inactive]:
    files = [os.path.join(machine.project, f"{_SETUP}{end}") for end in (".yml", ".yaml")]
    if not any(b"hookline" in (machine.read(file) or b"") for file in files):
        why = (
            f"{files[0]} does not install hookline, and on the cloud agent's machine it is not: "
            "every gate is closed there"
        )
        step = (
            "add `- run: pipx install hookline` to the steps of its job `copilot-setup-steps`, "
            f"then {_BRANCH}"
        )
        yield Inactive(why, step)


def _not_in_git(machine: Machine, installed: Sequence[Installed]) -> Iterator[Inactive]:
    """What is not even staged is in no commit; what is may still wait for its merge."""
    for each in installed:
        if _is_staged(machine, os.path.relpath(each.target.file, machine.project)) is False:
            why = f"{each.target.file} is not in git, and the cloud agent works on a clone"
            yield Inactive(why, _BRANCH)


def _is_staged(machine: Machine, path: str) -> bool | None:
    """Whether git's index names the file; None when that cannot be told."""
    folder = os.path.join(machine.project, ".git")
    link = (machine.read(folder) or b"").decode("utf-8", "replace")
    if link.startswith("gitdir: "):  # a worktree or a submodule
        folder = os.path.join(machine.project, link.removeprefix("gitdir: ").strip())
    index = machine.read(os.path.join(folder, "index")) or b""
    if index[4:8] == b"\0\0\0\x04":  # this format shortens names
        return None
    return path.encode() + b"\0" in index


INSTALLER = CopilotCloudHooks()
