"""A project's own hooks run in Gemini CLI only as far as the person trusted them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Wish
from hookline.lab.script import Read, Script, Shell, Turn, Write
from interop.arena import Arena, arena, config, rule
from interop.gemini.hooks import command, commands
from interop.gemini.telling import heard, shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PROJECT = config(
    rule("denied", "pre_tool_use", match=command("touch denied*"), deny="MK_NO"),
    rule("runs", "session_start", run="touch {root}/project-hook-ran"),
)
OWN = config(rule("mine", "pre_tool_use", match=command("touch mine"), deny="MK_MINE"))


@pytest.fixture
def untrusted(gemini: Program) -> Iterator[Arena]:
    """The project's config is there and nobody trusted it; the person's own needs no trust."""
    with arena(CLIENT, gemini, config=OWN) as made:
        made.write_project_config(PROJECT.replace("{root}", made.room.root))
        yield made


@pytest.mark.proves("gemini", "untrusted.does-not-run", "untrusted.notice", "trusted.runs")
def test_a_projects_hooks_run_once_they_are_trusted_and_not_before(untrusted: Arena) -> None:
    before = untrusted.play(commands("touch denied-1", "touch mine"))
    assert untrusted.ran("denied-1")
    assert not Path(untrusted.room.root, "project-hook-ran").exists()
    assert "MK_MINE" in heard(before, "touch mine"), "the person's own hooks are in force"
    assert "not trusted" in shown(before)

    trusted = untrusted.hookline("trust")
    assert trusted.exit_code == 0, trusted.stderr
    after = untrusted.play(commands("touch denied-2", "touch plain"))
    assert set(after.changed) == {"plain"}
    assert "MK_NO" in heard(after, "touch denied-2")
    assert Path(untrusted.room.root, "project-hook-ran").exists()
    assert "not trusted" not in shown(after)


@pytest.fixture
def trusted(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, project=PROJECT) as made:
        yield made


@pytest.mark.proves("gemini", "trusted.edited-by-the-agent")
def test_an_agent_that_edits_or_removes_its_guard_stays_guarded(trusted: Arena) -> None:
    turns = (
        Turn(do=(Read("hookline.yaml"),)),
        Turn(do=(Write("hookline.yaml", config()),)),
        Turn(do=(Shell("touch denied-1"),)),
        Turn(do=(Shell("rm hookline.yaml"),)),
        Turn(do=(Shell("touch denied-2"),)),
        Turn(do=(Shell("touch plain"),)),
    )
    played = trusted.play(Script(prompt="MK_PROMPT", turns=turns))
    assert played.changed == {"hookline.yaml": "removed", "plain": "added"}
    assert "MK_NO" in heard(played, "touch denied-1")
    assert "MK_NO" in heard(played, "touch denied-2")


@pytest.mark.proves("gemini", "untrusted.client-does-not-start")
def test_in_a_folder_that_the_client_does_not_trust_it_does_nothing_and_status_says_so(
    trusted: Arena,
) -> None:
    unknown = {"GEMINI_CLI_TRUST_WORKSPACE": "false"}
    refused = trusted.play(commands("touch plain"), wish=Wish(env=unknown))
    assert refused.exit_code == 55
    assert list(refused.asked) == []
    assert refused.changed == {}
    told = trusted.hookline("status", env=unknown)
    assert told.exit_code == 1
    assert b"no trusted folder" in told.stdout
    assert set(trusted.play(commands("touch plain")).changed) == {"plain"}
