"""Hooks judge and change what a person says before Copilot CLI's model hears it."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Script, Turn
from interop.arena import Arena, arena, config, conversation, rule, witness
from interop.copilot.telling import told_at, warned
from interop.copilot.wording import halting, if_seen, saying

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PROMPT, TRANSFORMED = "user_prompt_submit", "prompt_transformed"
HOOKS = config(
    witness(PROMPT, TRANSFORMED),
    rule("no", PROMPT, run=if_seen("MK_BAD", "echo MK_NO >&2; exit 2")),
    rule("enough", PROMPT, run=if_seen("MK_ENDING", halting("MK_HALT"))),
    rule("other", PROMPT, run=if_seen("MK_OLD", saying(rewrite={"prompt": "MK_NEW"}))),
    rule("context", PROMPT, context="MK_CONTEXT"),
    rule("whole", TRANSFORMED, run=if_seen("MK_LATE", saying(rewrite={"prompt": "MK_WHOLE"}))),
)


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS) as made:
        yield made


def asked(place: Arena, prompt: str) -> Session:
    return place.play(Script(prompt=prompt, turns=(Turn("MK_ANSWER"),)))


@pytest.fixture(scope="module")
def plain(place: Arena) -> Session:
    return asked(place, "MK_GOOD")


@pytest.mark.proves(
    "copilot",
    "userPromptSubmitted.fires",
    "userPromptSubmitted.context",
    "userPromptTransformed.fires",
)
def test_context_reaches_the_model_with_the_prompt(place: Arena, plain: Session) -> None:
    assert plain.exit_code == 0
    assert b"MK_ANSWER" in plain.stdout
    assert "MK_GOOD" in told_at(plain, 0)
    assert "MK_CONTEXT" in told_at(plain, 0)
    assert {"userPromptSubmitted", "userPromptTransformed"} <= set(place.natives())


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        pytest.param(
            "MK_BAD", "MK_NO", marks=pytest.mark.proves("copilot", "userPromptSubmitted.deny")
        ),
        pytest.param(
            "MK_ENDING",
            "MK_HALT",
            marks=pytest.mark.proves("copilot", "userPromptSubmitted.halt=deny"),
        ),
    ],
    ids=["denied", "halted"],
)
def test_a_prompt_that_is_stopped_never_reaches_a_model_and_the_person_is_told_why(
    place: Arena, plain: Session, prompt: str, told: str
) -> None:
    assert conversation(plain)
    stopped = asked(place, prompt)
    assert conversation(stopped) == []
    assert prompt not in str(stopped.asked)
    assert stopped.exit_code == 1
    assert told in warned(stopped)


@pytest.mark.proves("copilot", "userPromptSubmitted.prompt")
def test_a_rewritten_prompt_is_the_one_the_model_is_sent(place: Arena, plain: Session) -> None:
    assert "MK_GOOD" in plain.sent
    changed = asked(place, "MK_OLD")
    assert "MK_NEW" in told_at(changed, 0)
    assert "MK_OLD" not in str(changed.asked)


@pytest.mark.proves("copilot", "userPromptTransformed.prompt")
def test_the_prompt_as_the_client_made_it_is_replaced_as_a_whole(
    place: Arena, plain: Session
) -> None:
    assert "<current_datetime>" in told_at(plain, 0)
    changed = asked(place, "MK_LATE")
    assert "MK_WHOLE" in told_at(changed, 0)
    assert "MK_LATE" not in str(changed.asked)
    assert "<current_datetime>" not in told_at(changed, 0)
