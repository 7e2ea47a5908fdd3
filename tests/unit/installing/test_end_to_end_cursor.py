"""Cursor runs what install wrote: a deny denies, and without hookline every gate is shut."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Machine
from support.clients import cursor as client
from support.clients.effects import Does, Effect
from support.installed import gone, install, run, tree


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


def entry_of(machine: Machine, event: str) -> dict[str, Any]:
    """The one entry of an event, as the file has it."""
    file = machine.person / ".cursor/hooks.json"
    (entry,) = json.loads(file.read_text())["hooks"][event]
    found: dict[str, Any] = entry
    return found


def obeyed(machine: Machine, event: str, entry: dict[str, Any], **env: str) -> Effect:
    """What the client does with the answer to an event."""
    payload = client.payload(event)
    argv = ("/bin/sh", "-c", entry["command"])
    own = {"CURSOR_VERSION": "1.7.2", "CURSOR_PROJECT_DIR": str(machine.project)}
    reply = run(machine, argv, payload, cwd=machine.person / ".cursor", **{**own, **env})
    return client.obey(event, reply, payload)


def test_a_deny_denies(machine: Machine) -> None:
    install(machine, "cursor")
    for event in ("beforeShellExecution", "beforeMCPExecution"):
        effect = obeyed(machine, event, entry_of(machine, event))
        assert effect.does is Does.BLOCKS
        assert "Nothing is removed here." in effect.reason
    event = "beforeSubmitPrompt"
    assert obeyed(machine, event, entry_of(machine, event)).does >= Does.BLOCKS


def test_without_hookline_every_gate_is_shut(machine: Machine) -> None:
    install(machine, "cursor")
    for event in (
        "preToolUse",
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "beforeSubmitPrompt",
        "subagentStart",
    ):
        entry = entry_of(machine, event)
        effect = obeyed(machine, event, {**entry, "command": gone(entry["command"])})
        assert effect.does >= Does.BLOCKS, event
        assert "hookline" in effect.reason


def test_nothing_else_is_held_up_when_hookline_is_gone(machine: Machine) -> None:
    install(machine, "cursor")
    for event in ("postToolUse", "stop", "sessionStart"):
        entry = entry_of(machine, event)
        effect = obeyed(machine, event, {**entry, "command": gone(entry["command"])})
        assert effect.does is Does.GOES_ON
        assert (effect.follow_up, effect.output, effect.context) == ("", None, "")


def test_every_entry_has_a_limit_and_names_its_event(machine: Machine) -> None:
    install(machine, "cursor", "--timeout", "45")
    hooks = json.loads((machine.person / ".cursor/hooks.json").read_text())["hooks"]
    for event, (entry,) in hooks.items():
        assert entry["timeout"] == 45
        assert f" {event} " in entry["command"]
        assert "--timeout 45" in entry["command"]


def test_uninstall_leaves_no_trace(machine: Machine) -> None:
    before = tree(machine.person, machine.project)
    install(machine, "cursor")
    assert tree(machine.person, machine.project) != before
    done = machine.call("uninstall", "cursor", says="yes")
    assert done.code == 0, done.err
    assert tree(machine.person, machine.project) == before
