"""The builtin guards hold in Gemini CLI: one session, in which each act has a harmless twin."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena
from interop.gemini.telling import heard, shown
from interop.guard_acts import FILES, HOOKS, PROMPT, SHOWN, furnish, played, token
from interop.guards import GuardsHold

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS, files=FILES) as made:
        furnish(made)
        yield made


@pytest.fixture(scope="module")
def session(place: Arena) -> Session:
    script = played(Shell("cat token-failed.txt; exit 3"))
    first = Turn(say=f"MK_SAID {token('said')}", do=(Shell("true"),))
    return place.play(replace(script, turns=(first, *script.turns)))


@pytest.fixture(scope="module")
def prompted(place: Arena) -> Session:
    return place.play(PROMPT)


@pytest.fixture(scope="module")
def told(session: Session) -> Callable[[str], str]:
    return partial(heard, session)


@pytest.fixture(scope="module")
def asked(gemini: Program) -> Iterator[tuple[Arena, Session]]:
    with arena(CLIENT, gemini, config=HOOKS, files=FILES) as made:
        # With an MCP server at work the client would wait for an answer that nobody can give.
        settings = Path(made.room.home, ".gemini", "settings.json")
        kept = {**json.loads(settings.read_text()), "mcpServers": {}}
        settings.write_text(json.dumps(kept))
        turns = (Shell("cat safer.txt"), Shell("rm -r dist/safer"), Shell("touch never"))
        script = Script(prompt="MK_PROMPT", turns=tuple(Turn(do=(act,)) for act in turns))
        yield made, made.play(script)


class TestInGemini(GuardsHold):
    def test_the_client_ends_at_what_docker_agents_table_asks_about(
        self, asked: tuple[Arena, Session]
    ) -> None:
        place, session = asked
        assert "MK_SAFE" in heard(session, "cat safer.txt")
        assert "is destructive" in shown(session)
        assert place.ran("dist/safer/note.txt")
        assert not place.ran("never")

    def test_what_a_failed_command_printed_is_redacted_too(
        self, session: Session, told: Callable[[str], str]
    ) -> None:
        """The client fires the same event for it."""
        assert f"MK_BESIDE {SHOWN}" in told("cat token-failed.txt")
        assert token("failed") not in session.sent

    def test_what_the_model_said_is_sent_back_to_it_without_its_secrets(
        self, session: Session
    ) -> None:
        """Of the conversation the client lets a hook change the words, and not the calls."""
        assert f"MK_SAID {SHOWN}" in session.sent
        assert token("said") not in session.sent
        assert token("mcp") in session.sent
