"""A project's own hooks run in Copilot CLI only as far as the person trusted them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Wish
from hookline.lab.script import Read, Shell
from interop.arena import Arena, arena, config, rule
from interop.copilot.telling import heard
from interop.copilot.wording import command, commands, one_by_one

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PROJECT = config(
    rule("denied", "pre_tool_use", match=command("touch denied*"), deny="MK_NO"),
    rule("runs", "session_start", run="touch {root}/project-hook-ran"),
)
OWN = config(rule("mine", "pre_tool_use", match=command("touch mine"), deny="MK_MINE"))


@pytest.fixture
def untrusted(copilot: Program) -> Iterator[Arena]:
    """The project's config is there and nobody trusted it; the person's own needs no trust."""
    with arena(CLIENT, copilot, config=OWN) as made:
        made.write_project_config(PROJECT.replace("{root}", made.room.root))
        yield made


@pytest.mark.proves("copilot", "untrusted.does-not-run", "trusted.runs")
def test_a_projects_hooks_run_once_they_are_trusted_and_not_before(untrusted: Arena) -> None:
    before = untrusted.play(commands("touch denied-1", "touch mine"))
    assert untrusted.ran("denied-1")
    assert not Path(untrusted.room.root, "project-hook-ran").exists()
    assert "MK_MINE" in heard(before, "touch mine"), "the person's own hooks are in force"
    # The client shows people nothing of what hooks say; who asks hookline is told.
    assert "not trusted" in json.dumps(untrusted.journal())
    assert b"not trusted" in untrusted.hookline("list").stdout

    trusted = untrusted.hookline("trust")
    assert trusted.exit_code == 0, trusted.stderr
    after = untrusted.play(commands("touch denied-2", "touch plain"))
    assert set(after.changed) == {"plain"}
    assert "MK_NO" in heard(after, "touch denied-2")
    assert Path(untrusted.room.root, "project-hook-ran").exists()


@pytest.fixture
def trusted(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, project=PROJECT) as made:
        yield made


@pytest.mark.proves("copilot", "trusted.edited-by-the-agent")
def test_an_agent_that_edits_or_removes_its_guard_stays_guarded(trusted: Arena) -> None:
    played = trusted.play(
        one_by_one(
            Read("hookline.yaml"),
            Shell("""echo '{"version": 1, "hooks": []}' > hookline.yaml"""),
            Shell("touch denied-1"),
            Shell("rm hookline.yaml"),
            Shell("touch denied-2"),
            Shell("touch plain"),
        )
    )
    assert played.changed == {"hookline.yaml": "removed", "plain": "added"}
    assert "MK_NO" in heard(played, "touch denied-1")
    assert "MK_NO" in heard(played, "touch denied-2")


# Else the client itself would refuse commands that name places outside the project.
ANYWHERE = Wish(extra=("--allow-all-paths",))
HOOKLINE = f"{sys.executable} -m hookline"


@pytest.mark.proves("copilot", "trusted.not-by-the-agent")
def test_an_agent_can_neither_trust_nor_revoke_nor_pause(trusted: Arena) -> None:
    tried = [
        f"{HOOKLINE} {words}" for words in ("trust --yes", "trust --revoke --yes", "pause 10m")
    ]
    edit = "echo >> hookline.yaml"
    played = trusted.play(commands("touch plain", edit, *tried, "touch denied"), wish=ANYWHERE)
    assert set(played.changed) == {"plain", "hookline.yaml"}
    for words in tried:
        assert "only a person can do this" in heard(played, words)
    assert "MK_NO" in heard(played, "touch denied")


@pytest.mark.proves("copilot", "trusted.starter-guards-itself")
def test_the_starter_config_lets_no_agent_switch_it_off_by_a_variable(copilot: Program) -> None:
    with arena(CLIENT, copilot, install=False) as place:
        assert place.hookline("init").exit_code == 0
        place.install()
        pause = f"HOOKLINE_TRUST=all {HOOKLINE} pause 10m --yes"
        played = place.play(
            commands("touch plain", pause, "rm -rf ~/", "touch last"), wish=ANYWHERE
        )
        assert set(played.changed) == {"plain", "last"}
        assert "paused" not in heard(played, "pause 10m")
        assert Path(place.room.home).is_dir()
        assert "home" in heard(played, "rm -rf")
