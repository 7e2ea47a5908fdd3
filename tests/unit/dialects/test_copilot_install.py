"""Copilot CLI's hook files: which file, what an entry looks like, what keeps it from running."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hookline.dialects.copilot.install import INSTALLER
from hookline.model.installing import Inactive, Installed, Machine, Scope, Target
from support.installing import CALL, machine_at, target_of

HERE = Target(file="/x/hookline.json", scope=Scope.USER)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


def hooks() -> dict[str, dict[str, object]]:
    """The one entry of each event."""
    written = json.loads(INSTALLER.add(HERE, None, CALL))
    assert written["version"] == 1
    return {event: entry for event, (entry,) in written["hooks"].items()}


def told(machine: Machine, scope: Scope, content: bytes = b"{}") -> list[Inactive]:
    target = target_of(INSTALLER, machine, scope)
    return list(INSTALLER.inactive(machine, [Installed(target, (), content)]))


def config(machine: Machine, **keys: object) -> None:
    file = Path(machine.home) / ".copilot/config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(keys))


def test_there_is_a_file_of_its_own_for_each_scope(machine: Machine) -> None:
    user, project = target_of(INSTALLER, machine), target_of(INSTALLER, machine, Scope.PROJECT)
    assert user.file == f"{machine.home}/.copilot/hooks/hookline.json"
    assert project.file == f"{machine.project}/.github/hooks/hookline.json"
    assert (user.personal, project.personal) == (True, False)


def test_the_clients_own_variable_moves_the_users_file(machine: Machine) -> None:
    moved = replace(machine, env={"COPILOT_HOME": "/elsewhere"})
    assert target_of(INSTALLER, moved).file == "/elsewhere/hooks/hookline.json"


def test_every_moment_is_there_once_in_camel_case() -> None:
    events = set(hooks())
    assert len(events) == 14
    assert all(event[0].islower() for event in events)
    assert {"preToolUse", "userPromptTransformed", "agentStop"} <= events
    assert set(INSTALLER.left_out) == {"preMcpToolCall", "postResult", "prePRDescription"}
    delivered = {INSTALLER.support.events[event].event for event in events}
    all_rows = INSTALLER.support.events.values()
    assert delivered == {row.event for row in all_rows} - {"other"}


def test_an_entry_has_no_matcher_which_would_switch_it_off() -> None:
    for entry in hooks().values():
        assert set(entry) == {"type", "bash", "timeoutSec"}
        assert (entry["type"], entry["timeoutSec"]) == ("command", 600)


def test_gates_are_refused_in_words_and_nothing_else_is() -> None:
    said = {event for event, entry in hooks().items() if "so it is blocked" in str(entry["bash"])}
    assert said == {"preToolUse", "permissionRequest", "userPromptSubmitted"}


def test_an_entry_that_a_person_wrote_for_another_shell_is_found() -> None:
    content = b'{"hooks": {"preToolUse": [{"command": "hookline hook copilot preToolUse"}]}}'
    (entry,) = INSTALLER.inspect(HERE, content)
    assert (entry.event, entry.program) == ("preToolUse", "hookline")


def test_a_users_file_needs_no_trust(machine: Machine) -> None:
    assert told(machine, Scope.USER) == []


def test_a_folder_that_is_not_trusted_is_told_with_the_next_step(machine: Machine) -> None:
    (flaw,) = told(machine, Scope.PROJECT)
    assert f"{machine.project} is no trusted folder" in flaw.why
    assert flaw.step == f"start copilot in {machine.project} and choose to trust the folder"


@pytest.mark.parametrize("key", ["trustedFolders", "trusted_folders"])
def test_a_folder_is_trusted_with_those_above_it(machine: Machine, key: str) -> None:
    config(machine, **{key: [3, str(Path(machine.project).parent)]})
    assert told(machine, Scope.PROJECT) == []
    config(machine, **{key: [f"{machine.project}-2"]})
    assert len(told(machine, Scope.PROJECT)) == 1
    config(machine, **{key: "nonsense"})
    assert len(told(machine, Scope.PROJECT)) == 1


def test_trust_can_come_from_the_environment(machine: Machine) -> None:
    assert told(replace(machine, env={"COPILOT_ALLOW_ALL": "true"}), Scope.PROJECT) == []
    assert len(told(replace(machine, env={"COPILOT_ALLOW_ALL": "1"}), Scope.PROJECT)) == 1


def test_hooks_that_are_switched_off_are_told_with_the_file(machine: Machine) -> None:
    (flaw,) = told(machine, Scope.USER, b'{"disableAllHooks": true}')
    assert f"{machine.home}/.copilot/hooks/hookline.json" in flaw.why
    repository = Path(machine.project) / ".github/copilot/settings.json"
    repository.parent.mkdir(parents=True)
    repository.write_text('{"disableAllHooks": true}')
    (flaw,) = told(machine, Scope.USER)
    assert str(repository) in flaw.why
