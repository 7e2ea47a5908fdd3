"""What `hookline install` puts into Claude Code works at once, and `uninstall` leaves no trace."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, rule, witness
from interop.claude_code.telling import heard, lines

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config(
    witness("session_start", "pre_tool_use"),
    rule("denied", "pre_tool_use", match={"tool": "shell", "command": "touch denied*"}, deny="MK_NO"),
)  # fmt: skip

# With tabs, an odd order and no line at the end, as only a person's own hand leaves it.
OWN = """{
\t"model": "claude-sonnet-4-5",
\t"hooks": {"PreToolUse": [ {"matcher": "Bash", "hooks": [
\t\t{"type": "command", "command": "echo own >> $CLAUDE_PROJECT_DIR/../own"} ]} ]},
\t"env": {"MK_OWN": "kept"}}"""


@pytest.fixture
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS, install=False) as made:
        yield made


def settings(place: Arena) -> Path:
    return Path(place.room.home, ".claude", "settings.json")


def commands(*each: str) -> Script:
    return Script(prompt="MK_PROMPT", turns=tuple(Turn(do=(Shell(one),)) for one in each))


@pytest.mark.proves("claude-code", "install.beside-own-hooks", "uninstall.no-trace")
def test_it_works_beside_the_persons_own_hooks_and_leaves_no_trace(place: Arena) -> None:
    settings(place).parent.mkdir(exist_ok=True)
    settings(place).write_text(OWN)

    place.install()
    assert "MK_OWN" in settings(place).read_text()
    guarded = place.play(commands("touch denied-1", "touch plain-1"))
    assert set(guarded.changed) == {"plain-1"}
    assert "MK_NO" in heard(guarded, "touch denied-1")
    assert place.beside("own").split() == ["own"] * 2

    place.uninstall()
    assert settings(place).read_text() == OWN
    seen = len(place.witnessed())
    unguarded = place.play(commands("touch denied-2", "touch plain-2"))
    assert set(unguarded.changed) == {"denied-2", "plain-2"}
    assert "MK_NO" not in unguarded.sent
    assert place.beside("own").split() == ["own"] * 4
    assert len(place.witnessed()) == seen, "no hook of hookline ran"
    assert b"hookline" not in unguarded.stdout


@pytest.mark.proves("claude-code", "install.fresh", "uninstall.no-file")
def test_a_person_without_settings_has_none_again_afterwards(place: Arena) -> None:
    before = sorted(Path(place.room.home).rglob("settings*.json"))
    assert before == []
    place.install()
    guarded = place.play(commands("touch denied-1", "touch plain-1"))
    assert set(guarded.changed) == {"plain-1"}
    place.uninstall()
    assert sorted(Path(place.room.home).rglob("settings*.json")) == before
    unguarded = place.play(commands("touch denied-2"))
    assert set(unguarded.changed) == {"denied-2"}


@pytest.mark.proves("claude-code", "install.twice")
def test_installed_twice_it_judges_once(place: Arena) -> None:
    place.install()
    once = settings(place).read_bytes()
    place.install()
    assert settings(place).read_bytes() == once
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert place.natives().count("PreToolUse") == 2


@pytest.mark.proves("claude-code", "install.project")
def test_installed_for_a_project_it_guards_that_project(place: Arena) -> None:
    place.install("--scope", "project")
    assert not settings(place).exists()
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert "MK_NO" in heard(played, "touch denied")


@pytest.mark.proves("claude-code", "install.twice")
def test_installed_for_the_person_and_the_project_it_judges_each_event_once(place: Arena) -> None:
    place.install()
    place.install("--scope", "project")
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert place.natives().count("PreToolUse") == 2


@pytest.mark.proves("claude-code", "install.switched-off")
def test_where_the_clients_own_switch_is_off_nothing_is_guarded_and_status_says_so(
    place: Arena,
) -> None:
    place.install()
    assert place.hookline("status").exit_code == 0
    local = Path(place.room.project, ".claude", "settings.local.json")
    local.parent.mkdir(exist_ok=True)
    local.write_text(json.dumps({"disableAllHooks": True}))
    played = place.play(commands("touch denied"))
    assert place.ran("denied"), "the client runs no hooks at all"
    assert not [each for each in lines(played) if each.get("subtype") == "hook_started"]
    told = place.hookline("status")
    assert told.exit_code == 1
    assert b"disableAllHooks" in told.stdout
