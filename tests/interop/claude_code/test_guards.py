"""The builtin guards hold in Claude Code: one session, in which each act has a harmless twin."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Shell
from interop.arena import Arena, arena
from interop.claude_code.telling import heard
from interop.guard_acts import ASKED, FILES, HOOKS, PROMPT, furnish, played, token
from interop.guards import GuardsAsk

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS, files=FILES) as made:
        furnish(made)
        yield made


@pytest.fixture(scope="module")
def session(place: Arena) -> Session:
    return place.play(
        played(
            *ASKED,
            Shell("echo '{}' > ~/.claude/settings.json"),
            Shell("cat token-failed.txt; exit 3"),
        )
    )


@pytest.fixture(scope="module")
def prompted(place: Arena) -> Session:
    return place.play(PROMPT)


@pytest.fixture(scope="module")
def told(session: Session) -> Callable[[str], str]:
    return partial(heard, session)


class TestInClaudeCode(GuardsAsk):
    def test_the_settings_that_hold_the_hooks_are_not_the_agents_to_change(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert "agents may not change" in told(".claude/settings.json")
        settings = Path(place.room.home, ".claude", "settings.json")
        assert "PreToolUse" in settings.read_text(encoding="utf-8")

    def test_what_a_failed_command_printed_is_past_redaction_as_the_docs_say(
        self, told: Callable[[str], str]
    ) -> None:
        """The client fires another event then, and nothing said there changes the error."""
        assert token("failed") in told("cat token-failed.txt")
