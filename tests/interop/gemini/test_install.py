"""What `hookline install` puts into Gemini CLI works at once, and `uninstall` leaves no trace."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program
from interop.arena import Arena, arena, config, rule, witness
from interop.gemini.hooks import command, commands
from interop.gemini.telling import heard

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config(
    witness("session_start", "pre_tool_use"),
    rule("denied", "pre_tool_use", match=command("touch denied*"), deny="MK_NO"),
)

# With tabs, a comment, an odd order and no line at the end, as only a person's own hand leaves it.
OWN = """{
\t"hooks": {"BeforeTool": [ {"matcher": "run_shell_command", "hooks": [
\t\t{"type": "command", "command": "echo own >> $GEMINI_PROJECT_DIR/../own"} ]} ]},
\t// a key, and no login
\t"security": {"auth": {"selectedType": "gemini-api-key"}},
\t"general": {"enableAutoUpdate": false}}"""


@pytest.fixture
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS, install=False) as made:
        yield made


def settings(place: Arena) -> Path:
    return Path(place.room.home, ".gemini", "settings.json")


def of_project(place: Arena) -> Path:
    return Path(place.room.project, ".gemini", "settings.json")


def install_for_project(place: Arena) -> None:
    """Where git does not carry the file to other machines, which would have to have hookline."""
    with Path(place.room.project, ".git", "info", "exclude").open("a") as ignored:
        ignored.write(".gemini\n")
    place.install("--scope", "project")


@pytest.mark.proves("gemini", "install.beside-own-hooks", "uninstall.no-trace")
def test_it_works_beside_the_persons_own_hooks_and_leaves_no_trace(place: Arena) -> None:
    settings(place).write_text(OWN)

    place.install()
    assert "a key, and no login" in settings(place).read_text()
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
    assert b"hookline" not in unguarded.stderr


@pytest.mark.proves("gemini", "install.fresh", "uninstall.no-file")
def test_a_person_without_settings_has_none_again_afterwards(place: Arena) -> None:
    of_project(place).parent.mkdir()
    settings(place).rename(of_project(place))  # without any the client has no way to its model
    place.install()
    guarded = place.play(commands("touch denied-1", "touch plain-1"))
    assert set(guarded.changed) == {"plain-1"}
    place.uninstall()
    assert not settings(place).exists()
    unguarded = place.play(commands("touch denied-2"))
    assert set(unguarded.changed) == {"denied-2"}


@pytest.mark.proves("gemini", "install.twice")
def test_installed_twice_it_judges_once(place: Arena) -> None:
    place.install()
    once = settings(place).read_bytes()
    place.install()
    assert settings(place).read_bytes() == once
    install_for_project(place)
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert place.natives().count("BeforeTool") == 2


@pytest.mark.proves("gemini", "install.project")
def test_installed_for_a_project_it_guards_that_project(place: Arena) -> None:
    before = settings(place).read_bytes()
    install_for_project(place)
    assert settings(place).read_bytes() == before
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert "MK_NO" in heard(played, "touch denied")


@pytest.mark.proves("gemini", "install.switched-off")
def test_where_the_clients_own_switch_is_off_nothing_is_guarded_and_status_says_so(
    place: Arena,
) -> None:
    place.install()
    trusted = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    assert place.hookline("status", env=trusted).exit_code == 0
    of_project(place).parent.mkdir()
    of_project(place).write_text(json.dumps({"hooksConfig": {"enabled": False}}))
    place.play(commands("touch denied"))
    assert place.ran("denied"), "the client runs no hooks at all"
    assert place.witnessed() == []
    told = place.hookline("status", env=trusted)
    assert told.exit_code == 1
    assert b"hooksConfig.enabled" in told.stdout
