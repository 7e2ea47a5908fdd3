"""In Gemini CLI an MCP tool runs as it was pinned, and no longer when its server has changed."""

from collections.abc import Callable, Iterator

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session
from interop.arena import Arena, arena
from interop.gemini.telling import heard as heard_here
from interop.pins import HOOKS, SCRIPT, PinsHold, changed, pinned

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS) as made:
        pinned(made)
        yield made


@pytest.fixture(scope="module")
def before(place: Arena) -> Session:
    return place.play(SCRIPT)


@pytest.fixture(scope="module")
def after(place: Arena, before: Session) -> Session:
    changed(place)
    return place.play(SCRIPT)


@pytest.fixture
def heard() -> Callable[[Session, str], str]:
    return heard_here


class TestPins(PinsHold):
    """Nothing is different here."""
