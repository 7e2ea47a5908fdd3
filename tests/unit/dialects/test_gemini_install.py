"""Gemini CLI's settings: which file, what an entry looks like, what keeps it from running."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hookline.dialects.gemini.install import INSTALLER
from hookline.model.installing import Machine, Scope, Target
from support.installing import CALL, machine_at, target_of

HERE = Target(file="/x/settings.json", scope=Scope.USER)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


def write(machine: Machine, name: str, data: object, base: str | None = None) -> None:
    file = Path(base or machine.home) / ".gemini" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(data))


def trust(machine: Machine) -> None:
    write(machine, "trustedFolders.json", {machine.project: "TRUST_FOLDER"})


def told(machine: Machine) -> list[str]:
    return [each.why for each in INSTALLER.inactive(machine, [])]


def test_there_is_one_file_for_each_scope(machine: Machine) -> None:
    user, project = target_of(INSTALLER, machine), target_of(INSTALLER, machine, Scope.PROJECT)
    assert user.file == f"{machine.home}/.gemini/settings.json"
    assert project.file == f"{machine.project}/.gemini/settings.json"
    assert (user.personal, project.personal) == (True, False)


def test_limits_are_in_milliseconds_there_and_in_seconds_for_us() -> None:
    hooks = json.loads(INSTALLER.add(HERE, None, replace(CALL, timeout=30)))["hooks"]
    assert len(hooks) == 11
    for (group,) in hooks.values():
        (entry,) = group["hooks"]
        assert entry["timeout"] == 30_000
        assert "--timeout 30" in entry["command"]
        assert (entry["type"], entry["name"]) == ("command", "hookline")


def test_the_stop_event_never_continues_because_we_are_gone() -> None:
    hooks = json.loads(INSTALLER.add(HERE, None, CALL))["hooks"]
    commands = {event: group["hooks"][0]["command"] for event, (group,) in hooks.items()}
    assert {event for event, command in commands.items() if "o=$(" in command} == {
        "BeforeAgent",
        "BeforeModel",
        "BeforeToolSelection",
        "BeforeTool",
        "PreCompress",
    }


def test_in_a_trusted_folder_nothing_keeps_it_from_running(machine: Machine) -> None:
    trust(machine)
    assert told(machine) == []


def test_a_folder_that_is_not_trusted_is_told_with_the_next_step(machine: Machine) -> None:
    (flaw,) = INSTALLER.inactive(machine, [])
    assert f"{machine.project} is no trusted folder" in flaw.why
    assert flaw.step == f"start gemini in {machine.project} and choose to trust the folder"


@pytest.mark.parametrize(
    ("rules", "trusted"),
    [
        ({"PROJECT": "TRUST_FOLDER"}, True),
        ({"BASE": "TRUST_FOLDER"}, True),
        ({"PROJECT": "TRUST_PARENT"}, True),
        ({"BASE": "TRUST_FOLDER", "PROJECT": "DO_NOT_TRUST"}, False),
        ({"PROJECT": "DO_NOT_TRUST"}, False),
        ({"/": "TRUST_FOLDER"}, True),
        ({"PROJECT-2": "TRUST_FOLDER"}, False),
        ({"PROJECT": 1}, False),
    ],
)
def test_the_nearest_rule_decides(
    machine: Machine, rules: dict[str, object], trusted: bool
) -> None:
    base = str(Path(machine.project).parent)
    named = {
        path.replace("PROJECT", machine.project).replace("BASE", base): rule
        for path, rule in rules.items()
    }
    write(machine, "trustedFolders.json", named)
    assert (told(machine) == []) is trusted


def test_trust_can_come_from_the_environment_or_be_switched_off(machine: Machine) -> None:
    assert told(replace(machine, env={"GEMINI_CLI_TRUST_WORKSPACE": "true"})) == []
    write(machine, "settings.json", {"security": {"folderTrust": {"enabled": False}}})
    assert told(machine) == []


def test_hooks_that_are_switched_off_are_told_with_the_file(machine: Machine) -> None:
    trust(machine)
    write(machine, "settings.json", {"hooksConfig": {"enabled": False}})
    (why,) = told(machine)
    assert f"{machine.home}/.gemini/settings.json" in why
    write(machine, "settings.json", {"hooksConfig": {"enabled": True}}, machine.project)
    assert told(machine) == []


@pytest.mark.parametrize("name", ["hookline", "/bin/hookline hook gemini BeforeTool"])
def test_our_name_among_those_switched_off_is_told(machine: Machine, name: str) -> None:
    trust(machine)
    write(machine, "settings.json", {"hooksConfig": {"disabled": ["other", 3, name, "hookline"]}})
    assert ["names hookline's hooks" in why for why in told(machine)] == [True]


@pytest.mark.parametrize("config", [{"disabled": "hookline"}, {"disabled": ["lint"]}, 3])
def test_what_switches_off_others_is_not_told(machine: Machine, config: object) -> None:
    trust(machine)
    write(machine, "settings.json", {"hooksConfig": config})
    assert told(machine) == []
