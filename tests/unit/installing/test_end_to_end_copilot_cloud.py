"""The cloud agent runs what install wrote into the repository, by name, and denies without it."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Machine
from support.clients import copilot_cloud as client
from support.clients.effects import Does, Effect
from support.installed import install, run, tree


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


def entry_of(machine: Machine, event: str) -> dict[str, Any]:
    """The one entry of an event, as the file has it."""
    file = machine.project / ".github/hooks/hookline-cloud.json"
    (entry,) = json.loads(file.read_text())["hooks"][event]
    found: dict[str, Any] = entry
    return found


def obeyed(machine: Machine, event: str, entry: dict[str, Any], **env: str) -> Effect:
    """What the client does with the answer to an event."""
    payload = client.payload(event)
    argv = ("bash", "-c", entry["bash"])
    own = {"GITHUB_COPILOT_API_TOKEN": "t"}
    reply = run(machine, argv, payload, **{**own, **env})
    return client.obey(event, reply, payload)


def test_a_deny_denies(machine: Machine) -> None:
    install(machine, "copilot-cloud", "--shared", "--trust-env")
    for event in ("preToolUse",):
        effect = obeyed(machine, event, entry_of(machine, event))
        assert effect.does is Does.BLOCKS
        assert "Nothing is removed here." in effect.reason


def test_without_hookline_on_its_machine_every_gate_is_shut(machine: Machine) -> None:
    install(machine, "copilot-cloud", "--shared", "--trust-env")
    for event in ("preToolUse",):
        effect = obeyed(machine, event, entry_of(machine, event), PATH="/usr/bin:/bin")
        assert effect.does >= Does.BLOCKS
        assert "not installed on this machine" in effect.reason


def test_nothing_else_is_held_up_when_hookline_is_gone(machine: Machine) -> None:
    install(machine, "copilot-cloud", "--shared", "--trust-env")
    for event in ("postToolUse", "agentStop", "sessionStart", "userPromptSubmitted"):
        entry = entry_of(machine, event)
        effect = obeyed(machine, event, entry, PATH="/usr/bin:/bin")
        assert effect.does is Does.GOES_ON
        assert (effect.follow_up, effect.output, effect.context) == ("", None, "")


def test_every_entry_has_a_limit_and_names_its_event(machine: Machine) -> None:
    install(machine, "copilot-cloud", "--shared", "--trust-env", "--timeout", "45")
    hooks = json.loads((machine.project / ".github/hooks/hookline-cloud.json").read_text())["hooks"]
    for event, (entry,) in hooks.items():
        assert entry["timeoutSec"] == 45
        assert f" {event} " in entry["bash"]
        assert "--timeout 45" in entry["bash"]


def test_uninstall_leaves_no_trace(machine: Machine) -> None:
    before = tree(machine.person, machine.project)
    install(machine, "copilot-cloud", "--shared", "--trust-env")
    assert tree(machine.person, machine.project) != before
    done = machine.call("uninstall", "copilot-cloud", says="yes")
    assert done.code == 0, done.err
    assert tree(machine.person, machine.project) == before
