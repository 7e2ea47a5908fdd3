"""Hooks judge prompts before Gemini CLI's model sees them."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Script, Turn
from interop.arena import Arena, arena, config, conversation, rule, witness
from interop.gemini.hooks import halt, notice, saying, when
from interop.gemini.telling import shown, told_at

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PROMPT = "user_prompt_submit"
HOOKS = config(
    witness(PROMPT),
    rule("no", PROMPT, run=when("MK_BAD", "echo MK_REFUSED >&2; exit 2")),
    rule("enough", PROMPT, run=when("MK_FORBIDDEN", halt("MK_HALT"))),
    rule("other", PROMPT, run=when("MK_OLD", saying(rewrite={"prompt": "MK_NEW"}))),
    rule("context", PROMPT, context="MK_CONTEXT"),
    rule("more", PROMPT, context="MK_MORE"),
    rule("tell", PROMPT, run=notice("MK_NOTICE")),
)


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS) as made:
        yield made


def asked(place: Arena, prompt: str) -> Session:
    return place.play(Script(prompt=prompt, turns=(Turn("MK_ANSWER"),)))


@pytest.fixture(scope="module")
def plain(place: Arena) -> Session:
    return asked(place, "MK_GOOD")


@pytest.mark.proves("gemini", "BeforeAgent.fires", "BeforeAgent.context")
def test_context_reaches_the_model_with_the_prompt(place: Arena, plain: Session) -> None:
    assert b"MK_ANSWER" in plain.stdout
    assert "MK_GOOD" in told_at(plain, 0)
    assert "MK_CONTEXT" in told_at(plain, 0)
    assert "BeforeAgent" in place.natives()


@pytest.mark.proves("gemini", "several.contexts")
def test_of_two_hooks_with_context_the_model_hears_both(plain: Session) -> None:
    assert "MK_CONTEXT" in told_at(plain, 0)
    assert "MK_MORE" in told_at(plain, 0)


@pytest.mark.proves("gemini", "BeforeAgent.notice")
def test_a_notice_at_the_prompt_is_shown_to_the_person(plain: Session) -> None:
    assert "MK_NOTICE" in shown(plain)
    assert "MK_NOTICE" not in plain.sent


@pytest.mark.parametrize(
    ("word", "told"),
    [
        pytest.param(
            "MK_BAD", "MK_REFUSED", marks=pytest.mark.proves("gemini", "BeforeAgent.deny")
        ),
        pytest.param(
            "MK_FORBIDDEN", "MK_HALT", marks=pytest.mark.proves("gemini", "BeforeAgent.halt=deny")
        ),
        pytest.param(
            "MK_OLD", "MK_NEW", marks=pytest.mark.proves("gemini", "BeforeAgent.prompt=deny")
        ),
    ],
    ids=["denied", "halted", "rewritten"],
)
def test_a_prompt_that_is_stopped_asks_no_model_and_the_person_is_told_why(
    place: Arena, plain: Session, word: str, told: str
) -> None:
    assert conversation(plain), "its twin does"
    stopped = asked(place, word)
    assert conversation(stopped) == []
    assert word not in str(stopped.asked)
    assert told in shown(stopped)
