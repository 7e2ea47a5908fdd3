"""Claude Code's settings files: where they are, and our entries in them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hookline.dialects._install import JsonSettings, settings
from hookline.dialects.claude_code.codec import ClaudeCode
from hookline.model.installing import Call, Inactive, Installed, Machine, Scope, Target

__all__ = ["INSTALLER", "ClaudeCodeSettings"]

_MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
_HANDLERS = {"command", "http", "mcp_tool", "prompt", "agent"}


class ClaudeCodeSettings(JsonSettings):
    """``~/.claude/settings.json``, and ``.claude/settings.local.json`` in a project."""

    id = "claude-code"
    support = ClaudeCode.support
    starts_posix_shell = True
    # The client runs equal lines of several files once.
    files_shown = (
        "settings.json in CLAUDE_CONFIG_DIR, else ~/.claude/settings.json; and "
        ".claude/settings*.json"
    )
    clients = ("claude",)
    left_out: ClassVar[Mapping[str, str]] = {
        "WorktreeCreate": "with a hook on it the client leaves making the worktree to the hook",
    }
    longest: ClassVar[Mapping[str, int]] = {"SessionEnd": 60}

    def targets(self, machine: Machine, scope: Scope, *, shared: bool) -> Sequence[Target]:
        """One file: the user's, the project's own, or with ``shared`` the one that git carries."""
        user, local, project = self.places(machine)
        if scope is Scope.USER:
            return [user]
        return [project if shared else local]

    def places(self, machine: Machine) -> Sequence[Target]:
        """The user's file, the project's personal one, and the project's shared one."""
        chosen = machine.env.get("CLAUDE_CONFIG_DIR") or os.path.join(machine.home, ".claude")
        folder = os.path.join(machine.project, ".claude")
        return [
            Target(file=os.path.join(chosen, "settings.json"), scope=Scope.USER),
            Target(file=os.path.join(folder, "settings.local.json"), scope=Scope.PROJECT),
            Target(file=os.path.join(folder, "settings.json"), scope=Scope.PROJECT, personal=False),
        ]

    def handler(self, event: str, call: Call) -> Mapping[str, object]:
        """Seconds; ``onFailure`` closes a gate, and clients that do not know it ignore it.

        They still run the line, which closes it too, as do the other agents that read this file.
        """
        entry = super().handler(event, call)
        return {**entry, "onFailure": "block"} if self.closes(event) else entry

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """Switches that turn hooks off, and entries for which the client drops a whole file."""
        return [*self._switched_off(machine), *_voided(installed)]

    def _switched_off(self, machine: Machine) -> Iterator[Inactive]:
        managed = [(file, settings(machine.read(file))) for file in _MANAGED]
        for file, said in managed:
            for key in ("allowManagedHooksOnly", "strictPluginOnlyCustomization"):
                if said.get(key):
                    why = f"`{key}` in {file}: Claude Code runs no hooks from settings files"
                    yield Inactive(why, "ask whoever manages this machine to add hookline there")
        user, local, project = (place.file for place in self.places(machine))
        own = [(file, settings(machine.read(file))) for file in (local, project, user)]
        # The first file that says anything about it decides.
        said_in = ((file, said) for file, said in (*managed, *own) if "disableAllHooks" in said)
        file, said = next(said_in, ("", {}))
        if said.get("disableAllHooks") is True:
            yield Inactive(
                f'"disableAllHooks": true in {file}: Claude Code runs no hooks',
                f'take "disableAllHooks" out of {file}',
            )


def _voided(installed: Sequence[Installed]) -> Iterator[Inactive]:
    for each in installed:
        hooks = settings(each.content).get("hooks")
        for event in ("PreToolUse", "PermissionRequest"):
            groups = hooks.get(event) if isinstance(hooks, dict) else None
            for number, group in enumerate(groups if isinstance(groups, list) else []):
                if not _valid(group):
                    yield Inactive(
                        f"hooks.{event}[{number}] in {each.target.file} is not valid, and for "
                        "that Claude Code drops the whole file, silently",
                        "correct that entry or take it out",
                    )


def _valid(group: Any) -> bool:
    """Whether the client takes it; only what it was seen to refuse counts against it."""
    handlers = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(handlers, list):
        return False
    return all(
        isinstance(each, dict)
        and each.get("type") in _HANDLERS
        and isinstance(each.get("timeout", 0), int | float)
        for each in handlers
    )


INSTALLER = ClaudeCodeSettings()
