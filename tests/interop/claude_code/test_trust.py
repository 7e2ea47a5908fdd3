"""A project's own hooks run in Claude Code only as far as the person trusted them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Read, Script, Shell, Turn, Write
from interop.arena import Arena, arena, config, rule
from interop.claude_code.telling import heard, lines

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PROJECT = config(
    rule("denied", "pre_tool_use", match={"tool": "shell", "command": "touch denied*"}, deny="MK_NO"),
    rule("runs", "session_start", run="touch {root}/project-hook-ran"),
)  # fmt: skip
OWN = config(rule("mine", "pre_tool_use", match={"command": "touch mine"}, deny="MK_MINE"))


def commands(*each: str) -> Script:
    return Script(prompt="MK_PROMPT", turns=tuple(Turn(do=(Shell(one),)) for one in each))


@pytest.fixture
def untrusted(claude: Program) -> Iterator[Arena]:
    """The project's config is there and nobody trusted it; the person's own needs no trust."""
    with arena(CLIENT, claude, config=OWN) as made:
        made.write_project_config(PROJECT.replace("{root}", made.room.root))
        yield made


def told_by_hooks(session: Session) -> str:
    """What hooks printed; of some events the client shows it at a terminal only."""
    return str([each for each in lines(session) if each.get("subtype") == "hook_response"])


@pytest.mark.proves("claude-code", "untrusted.does-not-run", "untrusted.notice", "trusted.runs")
def test_a_projects_hooks_run_once_they_are_trusted_and_not_before(untrusted: Arena) -> None:
    before = untrusted.play(commands("touch denied-1", "touch mine"))
    assert untrusted.ran("denied-1")
    assert not Path(untrusted.room.root, "project-hook-ran").exists()
    assert "MK_MINE" in heard(before, "touch mine"), "the person's own hooks are in force"
    assert "not trusted" in told_by_hooks(before)

    trusted = untrusted.hookline("trust")
    assert trusted.exit_code == 0, trusted.stderr
    after = untrusted.play(commands("touch denied-2", "touch plain"))
    assert set(after.changed) == {"plain"}
    assert "MK_NO" in heard(after, "touch denied-2")
    assert Path(untrusted.room.root, "project-hook-ran").exists()
    assert "not trusted" not in told_by_hooks(after)


@pytest.fixture
def trusted(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, project=PROJECT) as made:
        yield made


@pytest.mark.proves("claude-code", "trusted.edited-by-the-agent")
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


HOOKLINE = f"{sys.executable} -m hookline"


@pytest.mark.proves("claude-code", "trusted.not-by-the-agent")
def test_an_agent_can_neither_trust_nor_revoke_nor_pause(trusted: Arena) -> None:
    edit = "echo 'version: 1' > hookline.yaml"
    tried = [f"{HOOKLINE} {words}" for words in ("trust", "trust --revoke --yes", "pause 10m")]
    played = trusted.play(commands("touch plain", edit, *tried, "touch denied"))
    assert played.changed == {"hookline.yaml": "changed", "plain": "added"}
    for words in tried:
        assert "only a person can do this" in heard(played, words)
    assert "MK_NO" in heard(played, "touch denied")


@pytest.mark.proves("claude-code", "trusted.starter-guards-itself")
def test_the_starter_config_lets_no_agent_switch_it_off_by_a_variable(claude: Program) -> None:
    with arena(CLIENT, claude, install=False) as place:
        assert place.hookline("init").exit_code == 0
        place.install()
        pause = f"HOOKLINE_TRUST=all {HOOKLINE} pause 10m --yes"
        played = place.play(commands("touch plain", pause, "rm -rf ~/", "touch last"))
        assert set(played.changed) == {"plain", "last"}
        assert "paused" not in heard(played, "pause 10m")
        assert Path(place.room.home).is_dir()
        assert "home" in heard(played, "rm -rf")
