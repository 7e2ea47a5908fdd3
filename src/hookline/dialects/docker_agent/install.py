"""Our entries in docker-agent's files: its drop-in folder, and agents' own YAML."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from hookline.dialects.docker_agent import DIALECT
from hookline.dialects.docker_agent.answers import PREEMPT_LANE
from hookline.dialects.docker_agent.files import FILES
from hookline.dialects.docker_agent.ours import Shape
from hookline.dialects.docker_agent.placing import Placing
from hookline.dialects.docker_agent.reading import LATER
from hookline.dialects.docker_agent.yamltext import parse_yaml
from hookline.model.installing import (
    Call,
    Entry,
    Inactive,
    Installed,
    InstallError,
    Machine,
    Remains,
    Scope,
    Target,
)
from hookline.model.native import Voids
from hookline.model.support import Support

__all__ = ["INSTALLER", "DockerAgentHooks"]

_CONFIG = ("DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR")
_PLUGINS = ("~/.docker", "/usr/local/lib/docker", "/usr/lib/docker", "/usr/libexec/docker")
_READS_DROP_INS = (1, 100, 0)
_HEADER = "# hookline's hooks. `hookline uninstall docker-agent` takes this file away."


class DockerAgentHooks:
    """``hooks.d/hookline.yaml`` for every agent, or the agent files that a person names.

    The default lane of pre_tool_use is not run for calls that ``--yolo`` or a rule let through, so
    a second entry stands on the lane before all approval.
    """

    id: ClassVar[str] = "docker-agent"
    support: ClassVar[Support] = DIALECT.support
    scopes: ClassVar[tuple[Scope, ...]] = (Scope.USER, Scope.PROJECT)
    left_out: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("on_user_input", "notification", "on_max_iterations"),
        "while a hook runs here, docker-agent loses its own answer, and a headless run hangs",
    )
    takes_files: ClassVar[bool] = True
    clients: ClassVar[tuple[str, ...]] = (
        *("docker-agent", "cagent"),
        *(f"{folder}/cli-plugins/docker-agent" for folder in _PLUGINS),
    )

    def targets(self, machine: Machine, scope: Scope, *, shared: bool) -> Sequence[Target]:
        """The files named, else for a user the drop-in. Raises InstallError."""
        if machine.named:
            return [_agents(file) for file in machine.named]
        if scope is Scope.PROJECT:
            raise InstallError(
                "docker-agent's files have no fixed place in a project: "
                "say which one is meant, with --file agent.yaml"
            )
        return [_drop_in(machine)]

    def places(self, machine: Machine) -> Sequence[Target]:
        """The drop-in, and the files named or on record."""
        own = _drop_in(machine)
        return [own, *(_agents(file) for file in machine.named if file != own.file)]

    def events(self) -> Sequence[str]:
        """The native events; both lanes of pre_tool_use are one."""
        return [
            event
            for event in self.support.events
            if event != PREEMPT_LANE and event not in self.left_out
        ]

    # ── the port ────────────────────────────────────────────────────────────────────────────

    def add(self, target: Target, content: bytes | None, call: Call) -> bytes:
        """The file with our entries for each agent in it: replaced where they are, else added."""
        fresh = content is None or not content.strip()
        if fresh and _shape(target) is Shape.AGENTS:
            raise InstallError("there is no agent in it; hookline is written into agents that are")
        raw = f"{_HEADER}\n".encode() if fresh or content is None else content
        return Placing(raw, _shape(target), self.events()).added(replace(call, file=target.file))

    def remove(self, target: Target, content: bytes, before: bytes | None = None) -> Remains:
        """The file without our entries; what ``before`` had empty stays, empty."""
        raw = Placing(content, _shape(target), self.events()).removed(before)
        lines = [line.strip() for line in raw.decode().splitlines()]
        return Remains(raw, empty=all(line in {"", _HEADER} for line in lines))

    def inspect(self, target: Target, content: bytes) -> Sequence[Entry]:
        """One entry for each event, narrowed where an agent or a lane lacks it."""
        return Placing(content, _shape(target), self.events()).entries()

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """A version that reads no drop-ins, and what makes docker-agent skip a whole file."""
        unread = _unread(machine) if any(_is_drop_in(each.target) for each in installed) else ()
        return [*unread, *(flaw for each in installed for flaw in _refused(each))]


def _drop_in(machine: Machine) -> Target:
    default = os.path.join(machine.home, ".config", "cagent")
    folder = next((machine.env[name] for name in _CONFIG if machine.env.get(name)), default)
    return Target(file=os.path.join(folder, "hooks.d", "hookline.yaml"), scope=Scope.USER)


def _agents(file: str) -> Target:
    return Target(file=file, scope=Scope.PROJECT, personal=False)


def _is_drop_in(target: Target) -> bool:
    return target.scope is Scope.USER


def _shape(target: Target) -> Shape:
    return Shape.HOOKS if _is_drop_in(target) else Shape.AGENTS


def _unread(machine: Machine) -> Iterator[Inactive]:
    """Why the drop-in folder is not read: the oldest program found decides."""
    for name in DockerAgentHooks.clients:
        program = machine.which(name.replace("~", machine.home, 1))
        if program is None or machine.version is None:
            continue
        version = machine.version((program, "version"))
        if version < _READS_DROP_INS:
            said = ".".join(map(str, version)) or "of an unknown version"
            since = ".".join(map(str, _READS_DROP_INS))
            yield Inactive(
                f"{program} is {said}; docker-agent reads hooks.d since {since}",
                "update docker-agent, or name its file: "
                "hookline install docker-agent --file agent.yaml",
            )


def _refused(installed: Installed) -> Iterator[Inactive]:
    for flaw in FILES.read(installed.target.file, installed.content).flaws:
        if flaw.voids is Voids.FILE:
            why = f"{installed.target.file}, line {flaw.line}: {flaw.message}"
            yield Inactive(why, flaw.hint or "fix that line")
    if _shape(installed.target) is Shape.HOOKS:
        for event, node in parse_yaml(installed.content).members.items():
            if event not in {*DIALECT.support.events, *LATER}:
                why = f"{installed.target.file}, line {node.line}: there is no event `{event[:60]}`"
                yield Inactive(
                    f"{why}, and for that docker-agent skips the whole file, silently",
                    "correct that line or take it out",
                )


INSTALLER = DockerAgentHooks()
