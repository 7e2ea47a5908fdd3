"""The builtin guards hold in Copilot CLI: one session, in which each act has a harmless twin."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Shell
from interop.arena import Arena, arena
from interop.copilot.telling import heard
from interop.guard_acts import ASKED, FILES, HOOKS, PROMPT, SHOWN, furnish, played, token
from interop.guards import GuardsAsk

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS, files=FILES) as made:
        furnish(made)
        yield made


@pytest.fixture(scope="module")
def session(place: Arena) -> Session:
    return place.play(played(*ASKED, Shell("cat token-failed.txt; exit 3")))


@pytest.fixture(scope="module")
def prompted(place: Arena) -> Session:
    return place.play(PROMPT)


@pytest.fixture(scope="module")
def told(session: Session) -> Callable[[str], str]:
    return partial(heard, session)


class TestInCopilot(GuardsAsk):
    def test_what_a_failed_command_printed_is_redacted_too(
        self, session: Session, told: Callable[[str], str]
    ) -> None:
        """The client fires the same event for it."""
        assert f"MK_BESIDE {SHOWN}" in told("cat token-failed.txt")
        assert token("failed") not in session.sent
