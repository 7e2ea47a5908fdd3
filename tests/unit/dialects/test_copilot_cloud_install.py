"""The Copilot cloud agent's hook file: where it is, and what the clone lacks."""

import json
import subprocess
from pathlib import Path

import pytest

from hookline.dialects.copilot_cloud.install import INSTALLER
from hookline.model.installing import Call, Installed, Machine, Scope, Target
from support.installing import CALL, machine_at

SHARED = Call(program=("hookline",), shared=True)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


@pytest.fixture
def target(machine: Machine) -> Target:
    (found,) = INSTALLER.targets(machine, Scope.PROJECT, shared=True)
    return found


def told(machine: Machine, target: Target, call: Call = SHARED) -> list[str]:
    content = INSTALLER.add(target, None, call)
    file = Path(target.file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    entries = tuple(INSTALLER.inspect(target, content))
    return [each.why for each in INSTALLER.inactive(machine, [Installed(target, entries, content)])]


def set_up(machine: Machine) -> None:
    """A repository whose setup steps install hookline."""
    steps = Path(machine.project) / ".github/workflows/copilot-setup-steps.yml"
    steps.parent.mkdir(parents=True)
    steps.write_text("jobs: {copilot-setup-steps: {steps: [run: pipx install hookline]}}\n")


def git(machine: Machine, *words: str) -> None:
    subprocess.run(["git", "-C", machine.project, *words], check=True, capture_output=True)


def test_the_only_place_is_in_the_repository_and_git_carries_it(
    machine: Machine, target: Target
) -> None:
    assert target.file == f"{machine.project}/.github/hooks/hookline-cloud.json"
    assert not target.personal
    assert INSTALLER.scopes == (Scope.PROJECT,)


def test_only_events_that_fire_there_get_an_entry(target: Target) -> None:
    hooks = json.loads(INSTALLER.add(target, None, SHARED))["hooks"]
    assert len(hooks) == 12
    assert not {"permissionRequest", "notification"} & set(hooks)
    for event, (entry,) in hooks.items():
        assert set(entry) == {"type", "bash", "timeoutSec"}
        assert f"hookline hook copilot-cloud {event} " in entry["bash"]


def test_a_path_of_this_machine_is_of_no_use_there(machine: Machine, target: Target) -> None:
    set_up(machine)
    git(machine, "init")
    git(machine, "add", ".")
    first, *_ = told(machine, target, CALL)
    assert "by a path of this machine" in first


def test_what_is_left_to_do_is_told(machine: Machine, target: Target) -> None:
    git(machine, "init")
    setup, clone = told(machine, target)
    assert "copilot-setup-steps.yml does not install hookline" in setup
    assert "is not in git" in clone
    steps = [each.step for each in INSTALLER.inactive(machine, [])]
    assert "default branch" in steps[0]


def test_nothing_is_left_once_both_files_are_in_git(machine: Machine, target: Target) -> None:
    set_up(machine)
    git(machine, "init")
    assert len(told(machine, target)) == 1
    git(machine, "add", ".")
    assert told(machine, target) == []


def test_a_worktree_has_its_index_elsewhere(machine: Machine, target: Target) -> None:
    set_up(machine)
    git(machine, "init", "--separate-git-dir", f"{machine.home}/git")
    assert Path(machine.project, ".git").is_file()
    assert len(told(machine, target)) == 1
    git(machine, "add", ".")
    assert told(machine, target) == []


def test_an_index_that_shortens_names_says_nothing(machine: Machine, target: Target) -> None:
    set_up(machine)
    git(machine, "init")
    git(machine, "add", ".")
    git(machine, "update-index", "--index-version", "4")
    assert told(machine, target) == []
