"""Claude Code's settings: which file, what an entry looks like, what keeps it from running."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hookline.dialects.claude_code.install import INSTALLER
from hookline.model.errors import IllegalValueError
from hookline.model.installing import Inactive, Installed, Machine, Scope, Target
from support.installing import CALL, machine_at, target_of

HERE = Target(file="/x/settings.json", scope=Scope.USER)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


def handlers(content: bytes) -> dict[str, dict[str, object]]:
    """The one entry of each event."""
    hooks = json.loads(content)["hooks"]
    return {event: group["hooks"][0] for event, (group,) in hooks.items()}


def told(machine: Machine, content: bytes = b"{}") -> list[Inactive]:
    file = target_of(INSTALLER, machine)
    Path(file.file).parent.mkdir(parents=True, exist_ok=True)
    Path(file.file).write_bytes(content)
    return list(INSTALLER.inactive(machine, [Installed(file, (), content)]))


def test_a_user_has_one_file_and_a_project_two(machine: Machine) -> None:
    def file(scope: Scope, shared: bool = False) -> str:
        (target,) = INSTALLER.targets(machine, scope, shared=shared)
        return target.file

    assert file(Scope.USER) == f"{machine.home}/.claude/settings.json"
    assert file(Scope.PROJECT) == f"{machine.project}/.claude/settings.local.json"
    assert file(Scope.PROJECT, shared=True) == f"{machine.project}/.claude/settings.json"
    assert [place.personal for place in INSTALLER.places(machine)] == [True, True, False]


def test_the_clients_own_variable_moves_the_users_file(machine: Machine) -> None:
    moved = replace(machine, env={"CLAUDE_CONFIG_DIR": "/elsewhere"})
    assert target_of(INSTALLER, moved).file == "/elsewhere/settings.json"


def test_every_event_but_the_one_that_would_break_worktrees_gets_an_entry() -> None:
    entries = handlers(INSTALLER.add(HERE, None, CALL))
    assert len(entries) == 32
    assert set(INSTALLER.support.events) - set(entries) == {"WorktreeCreate"}
    assert set(INSTALLER.left_out) == {"WorktreeCreate"}


def test_gates_fail_closed_and_nothing_else_does() -> None:
    entries = handlers(INSTALLER.add(HERE, None, CALL))
    closed = {event for event, entry in entries.items() if entry.get("onFailure") == "block"}
    assert {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "ConfigChange"} <= closed
    assert not closed & {"Stop", "SubagentStop", "TaskCompleted", "PostToolUse", "SessionStart"}
    for event, entry in entries.items():
        assert ("exit 2'" in str(entry["command"])) == (event in closed)


def test_limits_are_in_seconds_and_the_last_event_has_a_minute() -> None:
    entries = handlers(INSTALLER.add(HERE, None, CALL))
    assert entries["PreToolUse"]["timeout"] == 600
    assert "--timeout 600" in str(entries["PreToolUse"]["command"])
    assert entries["SessionEnd"]["timeout"] == 60
    assert "--timeout 60" in str(entries["SessionEnd"]["command"])
    quick = handlers(INSTALLER.add(HERE, None, replace(CALL, timeout=20)))
    assert {entry["timeout"] for entry in quick.values()} == {20}


def test_an_entry_is_found_where_a_person_moved_it() -> None:
    content = b"""{"hooks": {"PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "true"},
        {"type": "command", "command": "hookline", "args": ["hook", "claude-code", "PreToolUse"]}
      ]},
      {"matcher": "*", "hooks": "nonsense"}, 7
    ], "Stop": 3}}"""
    (entry,) = INSTALLER.inspect(HERE, content)
    assert (entry.event, entry.matcher, entry.program) == ("PreToolUse", "Bash", "hookline")
    remains = INSTALLER.remove(HERE, content)
    assert not remains.empty
    assert b"hookline" not in remains.content
    assert b'"command": "true"' in remains.content


def test_an_old_entry_is_brought_up_to_date_where_it_stands() -> None:
    old = b"""{"hooks": {"PreToolUse": [
      // first
      {"matcher": "*", "hooks": [{"type": "command", "command": "hookline hook claude-code", "statusMessage": "hm"}]},
      {"hooks": [{"type": "command", "command": "true"}]}
    ], "WorktreeCreate": [{"hooks": [{"type": "command", "command": "hookline hook claude-code"}]}]}}"""
    new = INSTALLER.add(HERE, old, CALL)
    text = new.decode()
    assert "// first" in text
    assert text.index("// first") < text.index("/opt/hookline") < text.index('"command": "true"')
    assert '"statusMessage": "hm"' in text
    assert '"onFailure": "block"' in text.split('"command": "true"')[0]
    events = [entry.event for entry in INSTALLER.inspect(HERE, new)]
    assert sorted(events) == sorted(INSTALLER.events())


def test_one_entry_too_many_goes() -> None:
    twice = INSTALLER.add(HERE, None, CALL).replace(
        b'"Stop": [',
        b'"Stop": [{"hooks": [{"type": "command", "command": "hookline hook claude-code Stop"}]},',
    )
    once = INSTALLER.add(HERE, twice, CALL)
    assert [entry.event for entry in INSTALLER.inspect(HERE, once)].count("Stop") == 1


def test_comments_of_people_between_our_entries_stay() -> None:
    content = INSTALLER.add(HERE, b"{}", CALL).replace(b'"Stop": [', b'"Stop": [ // mine\n')
    remains = INSTALLER.remove(HERE, content)
    assert b"// mine" in remains.content
    assert not remains.empty
    assert INSTALLER.inspect(HERE, remains.content) == []


def test_in_order_nothing_keeps_it_from_running(machine: Machine) -> None:
    assert told(machine, INSTALLER.add(HERE, None, CALL)) == []


def test_hooks_that_are_switched_off_are_told_with_the_file(machine: Machine) -> None:
    (flaw,) = told(machine, b'{"disableAllHooks": true}')
    assert f"{machine.home}/.claude/settings.json" in flaw.why
    assert "take" in flaw.step


def test_the_nearest_file_decides_whether_hooks_are_off(machine: Machine) -> None:
    local = Path(machine.project) / ".claude/settings.local.json"
    local.parent.mkdir()
    local.write_text('{"disableAllHooks": false}')
    assert told(machine, b'{"disableAllHooks": true}') == []


@pytest.mark.parametrize("key", ["allowManagedHooksOnly", "strictPluginOnlyCustomization"])
def test_a_managed_machine_may_forbid_hooks_of_settings(machine: Machine, key: str) -> None:
    managed = {"/etc/claude-code/managed-settings.json": b'{"%s": true}' % key.encode()}
    (flaw,) = told(replace(machine, read=managed.get))
    assert key in flaw.why


@pytest.mark.parametrize(
    "group",
    [
        '{"hooks": [{"type": "shell", "command": "x"}]}',
        '{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}',
        '{"matcher": "Bash"}',
        "3",
    ],
)
def test_an_entry_for_which_the_whole_file_is_dropped_is_told(machine: Machine, group: str) -> None:
    (flaw,) = told(machine, b'{"hooks": {"PreToolUse": [%s], "Stop": [3]}}' % group.encode())
    assert "hooks.PreToolUse[0]" in flaw.why
    assert "drops the whole file" in flaw.why


def test_a_broken_file_elsewhere_says_nothing(machine: Machine) -> None:
    local = Path(machine.project) / ".claude/settings.local.json"
    local.parent.mkdir()
    local.write_text('{"disableAllHooks": true')
    assert told(machine) == []


def test_only_events_of_the_platform_have_a_line() -> None:
    with pytest.raises(IllegalValueError, match="Claude Code has no event `Unheard`"):
        INSTALLER.line("Unheard", CALL)
