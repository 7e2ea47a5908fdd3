"""What Copilot CLI notifies people of reaches hooks, and what they say to it reaches the model.

The client does not wait for hooks on this event; so the scripted model waits for them.
"""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Wish
from interop.arena import Arena, arena, config, rule, witness
from interop.copilot.telling import heard
from interop.copilot.wording import commands, halting, if_seen, in_background, saying

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

NOTED = "touch {root}/project/noted"
HOOKS = config(
    witness("notification"),
    rule("note", "notification", run=f"{NOTED}; {saying(context=['MK_NOTED'])}"),
    rule("halt", "notification", run=if_seen("MK_ENDING", halting("MK_HALT"))),
)


@pytest.fixture
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS) as made:
        yield made


def kinds(place: Arena) -> list[str]:
    return [each["kind"] for each in place.witnessed()]


@pytest.mark.proves("copilot", "notification.fires", "notification.context")
def test_context_at_the_end_of_a_command_in_the_background_reaches_the_model(place: Arena) -> None:
    played = place.play(in_background("MK_HARMLESS"))
    assert "shell_completed" in kinds(place)
    assert "MK_NOTED" in played.sent
    assert place.ran("last")


@pytest.mark.proves("copilot", "notification.halt=latch")
def test_a_halt_at_a_notification_denies_the_tools_that_follow(place: Arena) -> None:
    free = place.play(in_background("MK_HARMLESS"))
    assert "completed with exit code 0" in heard(free, "touch last")
    halted = place.play(in_background("MK_ENDING"))
    assert "MK_HALT" in heard(halted, "touch last")


@pytest.mark.proves("copilot", "notification.fires")
def test_a_question_that_nobody_answers_is_told_to_hooks(place: Arena) -> None:
    played = place.play(commands("touch asked"), wish=Wish(permission="ask"))
    assert "asked" not in played.changed
    assert "permission_prompt" in kinds(place)
