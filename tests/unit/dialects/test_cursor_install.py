"""Cursor's hooks.json: which file, what an entry looks like, and which calls it is asked about."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.cursor.install import INSTALLER
from hookline.model.installing import Machine, Scope, Target
from support.installing import CALL, machine_at, target_of

USER = Target(file="/x/hooks.json", scope=Scope.USER)
PROJECT = Target(file="/x/hooks.json", scope=Scope.PROJECT, personal=False)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


def hooks(target: Target = USER) -> dict[str, dict[str, Any]]:
    """The one entry of each event."""
    written = json.loads(INSTALLER.add(target, None, CALL))
    assert written["version"] == 1
    return {event: entry for event, (entry,) in written["hooks"].items()}


def asked(target: Target, tool: str) -> bool:
    return re.search(hooks(target)["preToolUse"]["matcher"], tool) is not None


def test_there_is_one_file_for_each_scope(machine: Machine) -> None:
    user, project = target_of(INSTALLER, machine), target_of(INSTALLER, machine, Scope.PROJECT)
    assert user.file == f"{machine.home}/.cursor/hooks.json"
    assert project.file == f"{machine.project}/.cursor/hooks.json"
    assert (user.personal, project.personal) == (True, False)
    assert list(INSTALLER.inactive(machine, [])) == []


def test_gates_fail_closed_and_nothing_else_does() -> None:
    closed = {event for event, entry in hooks().items() if entry.get("failClosed") is True}
    assert closed == {
        *("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"),
        *("beforeTabFileRead", "beforeSubmitPrompt", "subagentStart", "preCompact"),
    }
    for event, entry in hooks().items():
        assert ('echo "hookline: ' in entry["command"]) is (event in closed)
        assert "failClosed" not in entry or entry["failClosed"] is True


def test_what_is_told_twice_gets_one_entry() -> None:
    assert set(INSTALLER.left_out) == {
        "afterShellExecution",
        "afterMCPExecution",
        "afterFileEdit",
    }
    assert len(hooks()) == 18


@pytest.mark.parametrize("tool", ["Read", "Write", "Delete", "Task", "ShellScript", "WebFetch"])
@pytest.mark.parametrize("target", [USER, PROJECT])
def test_every_tool_without_an_event_of_its_own_is_asked_about(target: Target, tool: str) -> None:
    assert asked(target, tool)


def test_commands_and_mcp_calls_are_asked_about_once() -> None:
    assert not asked(USER, "Shell")
    assert not asked(USER, "MCP:drop")
    assert {"beforeShellExecution", "beforeMCPExecution"} <= set(hooks())


def test_in_the_cloud_where_mcp_calls_have_no_event_of_their_own_they_are_asked_about() -> None:
    assert asked(PROJECT, "MCP:drop")
    assert not asked(PROJECT, "Shell")


def test_the_matcher_of_ours_leaves_nothing_uncovered_and_one_of_a_persons_does() -> None:
    for target in (USER, PROJECT):
        written = INSTALLER.add(target, None, CALL)
        assert {entry.matcher for entry in INSTALLER.inspect(target, written)} == {""}
    narrowed = INSTALLER.add(USER, None, CALL).replace(b"^(?!Shell$|MCP:)", b"Read")
    (entry,) = [each for each in INSTALLER.inspect(USER, narrowed) if each.matcher]
    assert (entry.event, entry.matcher) == ("preToolUse", "Read")


def test_follow_ups_are_capped_where_there_are_any() -> None:
    capped = {
        event: entry["loop_limit"] for event, entry in hooks().items() if "loop_limit" in entry
    }
    assert capped == {"stop": 5, "subagentStop": 5}


def test_limits_are_in_seconds() -> None:
    assert {entry["timeout"] for entry in hooks().values()} == {600}
