"""What `hookline install` puts into Copilot CLI works at once, and `uninstall` leaves no trace."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.copilot import CLIENT, Copilot
from hookline.lab.ports import Program
from interop.arena import Arena, arena, config, rule, witness
from interop.copilot.telling import heard
from interop.copilot.wording import command, commands

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config(
    witness("session_start", "pre_tool_use"),
    rule("denied", "pre_tool_use", match=command("touch denied*"), deny="MK_NO"),
)

# With tabs, an odd order and no line at the end, as only a person's own hand leaves it.
OWN = """{
\t"hooks": {"preToolUse": [
\t\t{"bash": "echo own >> $COPILOT_PROJECT_DIR/../own"} ]},
\t"version": 1}"""


@pytest.fixture
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS, install=False) as made:
        yield made


def folder(place: Arena) -> Path:
    """Where the person's hooks are."""
    return Path(place.room.home, ".copilot", "hooks")


def settings(place: Arena) -> dict[str, bytes]:
    """Everything the client is set up by, the project's part and the person's."""
    places = (Path(place.room.home, ".copilot"), Path(place.room.project, ".github"))
    names = ("hooks/*", "*.json", "copilot/*")
    found = [path for each in places for name in names for path in each.glob(name)]
    return {str(path): path.read_bytes() for path in sorted(found) if path.is_file()}


def install_for_project(place: Arena) -> None:
    """For this project alone, in a file that names places of this machine and stays on it."""
    with open(Path(place.room.project, ".git", "info", "exclude"), "a") as ignored:
        ignored.write(".github/hooks/hookline.json\n")
    place.install("--scope", "project")


@pytest.mark.proves("copilot", "install.beside-own-hooks", "uninstall.no-trace")
def test_it_works_beside_the_persons_own_hooks_and_leaves_no_trace(place: Arena) -> None:
    folder(place).mkdir()
    own = folder(place) / "own.json"
    own.write_text(OWN)
    # The client writes settings of its own, too, so it has to have done so before.
    assert set(place.play(commands("touch denied-0")).changed) == {"denied-0"}
    before = settings(place)

    place.install()
    guarded = place.play(commands("touch denied-1", "touch plain-1"))
    assert set(guarded.changed) == {"plain-1"}
    assert "MK_NO" in heard(guarded, "touch denied-1")
    assert place.beside("own").split() == ["own"] * 3

    place.uninstall()
    assert settings(place) == before
    seen = len(place.witnessed())
    unguarded = place.play(commands("touch denied-2", "touch plain-2"))
    assert set(unguarded.changed) == {"denied-2", "plain-2"}
    assert "MK_NO" not in unguarded.sent
    assert place.beside("own").split() == ["own"] * 5
    assert len(place.witnessed()) == seen, "no hook of hookline ran"
    assert b"hookline" not in unguarded.stdout


@pytest.mark.proves("copilot", "install.fresh", "uninstall.no-file")
def test_a_person_without_hooks_has_none_again_afterwards(place: Arena) -> None:
    assert not folder(place).exists()
    place.install()
    guarded = place.play(commands("touch denied-1", "touch plain-1"))
    assert set(guarded.changed) == {"plain-1"}
    place.uninstall()
    assert not folder(place).exists()
    unguarded = place.play(commands("touch denied-2"))
    assert set(unguarded.changed) == {"denied-2"}


@pytest.mark.proves("copilot", "install.twice")
def test_installed_twice_it_judges_once(place: Arena) -> None:
    place.install()
    once = settings(place)
    place.install()
    assert settings(place) == once
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert place.natives().count("preToolUse") == 2


@pytest.mark.proves("copilot", "install.project")
def test_installed_for_a_project_it_guards_that_project(place: Arena) -> None:
    install_for_project(place)
    assert not folder(place).exists()
    assert Path(place.room.project, ".github", "hooks", "hookline.json").exists()
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert "MK_NO" in heard(played, "touch denied")


@pytest.mark.proves("copilot", "limits.judged-through-each-file")
def test_installed_for_the_person_and_the_project_it_judges_through_both(
    place: Arena,
) -> None:
    place.install()
    install_for_project(place)
    played = place.play(commands("touch plain", "touch denied"))
    assert set(played.changed) == {"plain"}
    assert heard(played, "touch denied").count("MK_NO") == 1
    assert place.natives().count("preToolUse") == 2 + 1, "a deny is not asked about again"


# ── where the client does not run hooks ──


@pytest.mark.proves("copilot", "untrusted.client-loads-no-project-hooks")
def test_in_a_folder_that_is_not_trusted_a_projects_install_guards_nothing_and_status_says_so(
    copilot: Program,
) -> None:
    with arena(Copilot(trusted=False), copilot, config=HOOKS, install=False) as place:
        install_for_project(place)
        played = place.play(commands("touch denied"))
        assert set(played.changed) == {"denied"}
        assert place.witnessed() == []
        assert b"trust" not in played.stdout + played.stderr, "the client does not say so"
        told = place.hookline("status")
        assert told.exit_code == 1
        assert b"no trusted folder of Copilot CLI" in told.stdout


@pytest.mark.proves("copilot", "install.guards-without-the-clients-trust")
def test_installed_for_the_person_it_guards_folders_that_are_not_trusted(copilot: Program) -> None:
    with arena(Copilot(trusted=False), copilot, config=HOOKS) as place:
        played = place.play(commands("touch plain", "touch denied"))
        assert set(played.changed) == {"plain"}
        assert "MK_NO" in heard(played, "touch denied")
        assert place.hookline("status").exit_code == 0


@pytest.mark.proves("copilot", "install.switched-off")
def test_where_the_clients_own_switch_is_off_nothing_is_guarded_and_status_says_so(
    place: Arena,
) -> None:
    place.install()
    assert place.hookline("status").exit_code == 0
    switch = Path(place.room.project, ".github", "copilot", "settings.json")
    switch.parent.mkdir(parents=True)
    switch.write_text(json.dumps({"disableAllHooks": True}))
    place.play(commands("touch denied"))
    assert place.ran("denied"), "the client runs no hooks at all"
    assert place.witnessed() == []
    told = place.hookline("status")
    assert told.exit_code == 1
    assert b"disableAllHooks" in told.stdout
