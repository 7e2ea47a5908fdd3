"""Codex's hooks.json: where it is, our entries in it, and what Codex wants before it runs them."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hookline.dialects._call import words_of
from hookline.dialects._install import JsonSettings, settings
from hookline.dialects.codex import trust
from hookline.dialects.codex.codec import Codex
from hookline.model.installing import (
    Inactive,
    Installed,
    InstallError,
    Machine,
    Scope,
)

__all__ = ["INSTALLER", "CodexHooks"]

_REQUIREMENTS = "/etc/codex/requirements.toml"
_HANDLERS = {"command", "mcp_tool", "prompt", "agent"}
_TOP = {"description", "hooks"}


class CodexHooks(JsonSettings):
    """``~/.codex/hooks.json``, and ``.codex/hooks.json`` in a project.

    Whole seconds, and no key that Codex does not know.
    """

    id = "codex"
    support = Codex.support
    clients = ("codex",)
    user_file = project_file = ".codex/hooks.json"
    # Above that the client cuts it, and complains of it in every session.
    longest: ClassVar[Mapping[str, int]] = {"SessionEnd": 3, "Interrupt": 3}

    def user_path(self, machine: Machine) -> str:
        """Beside Codex's own config."""
        return os.path.join(_home(machine), "hooks.json")

    # ── what Codex wants before it runs them ────────────────────────────────────────────────

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """Switches, files that Codex refuses, and trust: in the project, and in each hook."""
        config = _toml(machine.read(self.trust_file(machine)))
        voided = [flaw for each in installed for flaw in _voided(each)]
        return [
            *_switched_off(machine, config),
            *voided,
            *_strange_project(machine, config, installed),
            *([] if voided else self._unreviewed(machine, config, installed)),
        ]

    def _unreviewed(
        self, machine: Machine, config: Mapping[str, Any], installed: Sequence[Installed]
    ) -> Iterator[Inactive]:
        asked = self._asked(machine, installed)
        if asked is not None:
            waiting = [each for each in asked if not each.runs]
            count, total = len(waiting), len(asked)
        else:
            keys = [key for each in installed for key in self.keys(each)]
            known = trust.hashes(config)
            count, total = sum(key not in known for key in keys), len(keys)
        if count:
            why = f"Codex skips {count} of hookline's {total} hooks: not trusted, or switched off"
            yield Inactive(
                why,
                "inside Codex, /hooks shows them and lets you trust them; "
                "or: hookline install codex --trust",
            )

    def _asked(
        self, machine: Machine, installed: Sequence[Installed]
    ) -> Sequence[trust.Listed] | None:
        """Our hooks as the person's own client sees them; None when there is none to ask."""
        client = machine.which("codex")
        if client is None or machine.converse is None:
            return None
        replies = machine.converse((client, "app-server"), trust.questions(machine.project))
        if replies is None:
            return None
        files = {os.path.realpath(each.target.file) for each in installed}
        return [
            each
            for each in trust.listed(replies)
            if os.path.realpath(each.file) in files and words_of(each.command, self.id)
        ]

    def keys(self, installed: Installed) -> Iterator[str]:
        """What Codex calls each of our entries: file, event, group, handler."""
        hooks = settings(installed.content)["hooks"]
        for event in dict.fromkeys(entry.event for entry in installed.entries):
            for number, group in enumerate(hooks[event]):
                handlers = group.get("hooks") if isinstance(group, dict) else None
                for index, handler in enumerate(handlers if isinstance(handlers, list) else []):
                    command = handler.get("command") if isinstance(handler, dict) else None
                    if words_of(str(command), self.id):
                        yield f"{installed.target.file}:{trust.snake(event)}:{number}:{index}"

    def trust_file(self, machine: Machine) -> str:
        """Where Codex keeps what it trusts."""
        return os.path.join(_home(machine), "config.toml")

    def trusted(
        self, machine: Machine, installed: Sequence[Installed], content: bytes | None
    ) -> bytes:
        """Codex's config with the hashes that the person's own client gives for our entries."""
        if machine.which("codex") is None:
            message = "no `codex` is on your PATH to ask for the hashes; inside Codex, /hooks"
            raise InstallError(f"{message} shows hookline's hooks and lets you trust them")
        asked = self._asked(machine, installed)
        if not asked:
            message = "your `codex` does not list hookline's hooks; inside Codex, /hooks"
            raise InstallError(f"{message} shows which hooks it sees")
        new = {each.key: each.hash for each in asked if not each.runs}
        return trust.with_hashes(content or b"", new)

    def distrusted(self, installed: Sequence[Installed], content: bytes) -> bytes:
        """Codex's config without what it trusts of our entries."""
        ours = {_place(key) for each in installed for key in self.keys(each)}
        known = trust.hashes(_toml(content))
        return trust.without_hashes(content, [key for key in known if _place(key) in ours])


def _place(key: str) -> tuple[str, ...]:
    """A key of Codex's in parts, with the links in its path followed."""
    file, *rest = key.rsplit(":", 3)
    return os.path.realpath(file), *rest


def _home(machine: Machine) -> str:
    return machine.env.get("CODEX_HOME") or os.path.join(machine.home, ".codex")


def _toml(content: bytes | None) -> Mapping[str, Any]:
    try:
        return tomllib.loads((content or b"").decode())
    except ValueError:
        return {}


def _switched_off(machine: Machine, config: Mapping[str, Any]) -> Iterator[Inactive]:
    features = config.get("features")
    for key in ("hooks", "codex_hooks"):
        if isinstance(features, dict) and features.get(key) is False:
            file = os.path.join(_home(machine), "config.toml")
            why = f"`features.{key}` is false in {file}: Codex runs no hooks"
            yield Inactive(why, f"take `{key} = false` out of [features] in {file}")
    if _toml(machine.read(_REQUIREMENTS)).get("allow_managed_hooks_only") is True:
        why = f"`allow_managed_hooks_only` in {_REQUIREMENTS}: Codex runs no hooks of yours"
        yield Inactive(why, "ask whoever manages this machine to add hookline there")


def _strange_project(
    machine: Machine, config: Mapping[str, Any], installed: Sequence[Installed]
) -> Iterator[Inactive]:
    projects = config.get("projects")
    known = projects.get(machine.project) if isinstance(projects, dict) else None
    trusted = isinstance(known, dict) and known.get("trust_level") == "trusted"
    if not trusted and any(each.target.scope is Scope.PROJECT for each in installed):
        why = f"{machine.project} is no trusted project of Codex, so it reads no hooks from there"
        yield Inactive(why, f"start codex in {machine.project} and choose to trust it")


def _voided(installed: Installed) -> Iterator[Inactive]:
    """For what Codex refuses a whole hooks.json."""
    file = installed.target.file
    try:
        data = json.loads(installed.content.decode())
    except ValueError:
        why = f"{file} is no plain JSON, and Codex reads no other"
        yield Inactive(why, "take out comments, trailing commas and the byte order mark")
        return
    for key in data.keys() - _TOP:
        why = f"`{key}` in {file}: Codex refuses the whole file for a key it does not know"
        yield Inactive(why, f"take `{key}` out of {file}")
    for kind in sorted(_kinds(data.get("hooks")) - _HANDLERS):
        why = f"a hook of type `{kind}` in {file}: Codex refuses the whole file for it"
        yield Inactive(why, f"take that hook out of {file}")


def _kinds(hooks: Any) -> set[str]:
    """The types of all handlers in a file."""
    lists = hooks.values() if isinstance(hooks, dict) else ()
    groups = [group for each in lists if isinstance(each, list) for group in each]
    inner = [group.get("hooks") for group in groups if isinstance(group, dict)]
    handlers = [handler for each in inner if isinstance(each, list) for handler in each]
    return {str(each.get("type")) for each in handlers if isinstance(each, dict)}


INSTALLER = CodexHooks()
