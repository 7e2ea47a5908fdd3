"""VS Code's hook files: which file, what an entry looks like, what keeps it from running."""

import json
from pathlib import Path

import pytest

from hookline.dialects.vscode.install import INSTALLER
from hookline.model.installing import Installed, Machine, Scope, Target
from support.installing import CALL, machine_at, target_of

HERE = Target(file="/x/hookline-vscode.json", scope=Scope.USER)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


def told(machine: Machine, scope: Scope = Scope.USER) -> list[str]:
    installed = Installed(target_of(INSTALLER, machine, scope))
    return [each.why for each in INSTALLER.inactive(machine, [installed])]


def user_settings(machine: Machine, text: str) -> Path:
    file = Path(machine.home) / ".config/Code/User/settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def workspace(machine: Machine, text: str) -> None:
    file = Path(machine.project) / ".vscode/settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def test_there_is_a_file_of_its_own_for_each_scope(machine: Machine) -> None:
    user, project = target_of(INSTALLER, machine), target_of(INSTALLER, machine, Scope.PROJECT)
    assert user.file == f"{machine.home}/.copilot/hooks/hookline-vscode.json"
    assert project.file == f"{machine.project}/.github/hooks/hookline-vscode.json"
    assert (user.personal, project.personal) == (True, False)


def test_all_eight_events_get_a_plain_entry_in_seconds() -> None:
    written = json.loads(INSTALLER.add(HERE, None, CALL))
    assert "version" not in written
    assert len(written["hooks"]) == 8
    for (entry,) in written["hooks"].values():
        assert set(entry) == {"type", "command", "timeout"}
        assert (entry["type"], entry["timeout"]) == ("command", 600)


def test_the_line_closes_gates_and_never_continues_an_agent() -> None:
    hooks = json.loads(INSTALLER.add(HERE, None, CALL))["hooks"]
    closed = {event for event, (entry,) in hooks.items() if 'echo "hookline: ' in entry["command"]}
    assert {"PreToolUse", "UserPromptSubmit"} <= closed
    assert not closed & {"Stop", "SubagentStop", "PostToolUse", "SessionStart"}


def test_in_order_nothing_keeps_it_from_running(machine: Machine) -> None:
    user_settings(machine, '{"chat.useHooks": true, "chat.hookFilesLocations": {"other": false}}')
    assert told(machine) == told(machine, Scope.PROJECT) == []


def test_hooks_that_are_switched_off_are_told_with_the_file(machine: Machine) -> None:
    file = user_settings(machine, '{\n  // later\n  "chat.useHooks": false,\n}')
    (why,) = told(machine)
    assert str(file) in why
    workspace(machine, '{"chat.useHooks": true}')
    assert told(machine) == []


@pytest.mark.parametrize(
    ("scope", "folder"), [(Scope.USER, "~/.copilot/hooks"), (Scope.PROJECT, ".github/hooks")]
)
def test_a_folder_that_is_switched_off_is_told(machine: Machine, scope: Scope, folder: str) -> None:
    user_settings(machine, json.dumps({"chat.hookFilesLocations": {folder: False}}))
    (why,) = told(machine, scope)
    assert folder in why
    other = Scope.PROJECT if scope is Scope.USER else Scope.USER
    assert told(machine, other) == []
    workspace(machine, json.dumps({"chat.hookFilesLocations": {folder: True}}))
    assert told(machine, scope) == []
