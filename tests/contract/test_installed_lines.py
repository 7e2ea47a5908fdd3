"""Every installed line, under every shell its client may start: no failure of ours opens a gate."""

import os
import shlex
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hookline import registry
from hookline.dialects._install import JsonSettings, closes
from hookline.dialects._spoken import spoken_line
from hookline.dialects.docker_agent import DIALECT as DOCKER_AGENT
from hookline.model.installing import Call, Installer
from hookline.model.outcome import Reply
from support.clients.effects import Does
from support.shells import LOGIN_SHELLS, find_shell

ENDINGS = {
    "0": "exit 0",
    "1": "exit 1",
    "2": "exit 2",
    "139": "exit 139",
    "SIGSEGV": "kill -SEGV $$",
    "SIGKILL": "kill -KILL $$",
    "SIGTERM": "kill -TERM $$",
    "noise and 1": "echo '{}'; exit 1",
}
REPLACED = ("exit", "exec", "[", "case", "echo", "printf", "command", "test", "unset", "hookline")
FUNCTIONS = {f"BASH_FUNC_{name}%%": "() {  builtin exit 0; }" for name in REPLACED}
# Kodelet's hooks are files of our own: nothing is written into a line.
NO_LINE = {"canonical", "kodelet"}
DIALECTS = [name for name in registry.dialect_names() if name not in NO_LINE]


# fish makes directories in its home.
_HOME = TemporaryDirectory(prefix="hl-home-")


def write_client(folder: Path, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "hookline-client"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def find_gates(installer: Installer) -> list[str]:
    """The gates of a platform that stand for all: one for tools, one for prompts if it has any.

    Some platforms fire an event that others can block at, and read no answer to it.
    """
    dialect = registry.dialect(installer.id)
    gates = [
        event
        for event in installer.events()
        if closes(installer.support, event)
        and is_blocked(installer.id, event, dialect.refuse(event, "no"))
    ]
    rows = {installer.support.events[event].event: event for event in reversed(gates)}
    return [rows[each] for each in ("pre_tool_use", "user_prompt_submit") if each in rows]


def write_line(name: str, event: str, program: Path) -> str:
    call = Call(program=(str(program), "/bin/true"), home="/h", file="/h/settings.json")
    installer = registry.installer(name)
    if isinstance(installer, JsonSettings):
        return installer.line(event, call)
    return spoken_line(call, DOCKER_AGENT, event, timeout=60)


def shells_of(name: str) -> tuple[str, ...]:
    """Those that the platform's client may start."""
    installer = registry.installer(name)
    if getattr(installer, "starts_posix_shell", False):
        return ("dash", "bash", "zsh")
    return LOGIN_SHELLS


def run(shell: str, line: str, **env: str) -> Reply:
    done = subprocess.run(
        [shell, "-c", line],
        input=b"{}",
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "HOME": _HOME.name, **env},
        timeout=60,
        check=False,
    )
    return Reply(stdout=done.stdout, stderr=done.stderr, exit_code=done.returncode)


def is_blocked(name: str, event: str, reply: Reply) -> bool:
    client = import_module(f"support.clients.{name.replace('-', '_')}")
    return bool(client.obey(event, reply, {}).does >= Does.BLOCKS)


def find_open(name: str, shell: str, folder: Path, **env: str) -> Iterator[str]:
    """What opens a gate though nobody let the tool pass."""
    for event in find_gates(registry.installer(name)):
        broken = {what: write_client(folder / what, script) for what, script in ENDINGS.items()}
        broken["missing"] = folder / "nowhere" / "hookline-client"
        broken["not executable"] = write_client(folder / "plain", "exit 0")
        broken["not executable"].chmod(0o644)
        for what, program in broken.items():
            reply = run(shell, write_line(name, event, program), **env)
            if is_blocked(name, event, reply) is (what == "0"):
                yield f"{event}, {what}: {reply}"


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("shell", LOGIN_SHELLS)
def test_a_client_that_fails_closes_gates_in_every_shell(
    tmp_path: Path, name: str, shell: str
) -> None:
    if shell not in shells_of(name):
        pytest.skip(f"{name} never starts {shell}")
    assert not [*find_open(name, find_shell(shell), tmp_path)]


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("known_as", ["bash", "sh"])
def test_exported_functions_open_no_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, known_as: str
) -> None:
    shell = tmp_path / known_as
    shell.symlink_to(find_shell("bash"))
    if known_as == "sh":
        # As on systems whose /bin/sh is bash, so the inner shell imports functions, too.
        monkeypatch.setattr("hookline.dialects._call.SHELL", str(shell))
    assert not [*find_open(name, str(shell), tmp_path, **FUNCTIONS)]


@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_left_after_hookline_is_removed_names_the_file_to_edit(
    tmp_path: Path, name: str
) -> None:
    for event in find_gates(registry.installer(name)):
        reply = run("/bin/sh", write_line(name, event, tmp_path / "hookline-client"))
        told = (reply.stdout + reply.stderr).decode()
        assert "/h/settings.json" in told


@pytest.mark.parametrize("name", [name for name in DIALECTS if shells_of(name) != LOGIN_SHELLS])
def test_a_client_that_answers_is_the_only_program_started(tmp_path: Path, name: str) -> None:
    event = find_gates(registry.installer(name))[0]
    program = write_client(tmp_path, "echo ok")
    line = write_line(name, event, program)
    assert line.startswith(shlex.quote(str(program)))
    reply = run("/bin/sh", line.replace("/bin/sh", os.devnull))
    assert (reply.exit_code, reply.stdout) == (0, b"ok\n")
