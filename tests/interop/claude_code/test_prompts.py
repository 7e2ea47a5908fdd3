"""Hooks judge prompts and commands before Claude Code's model sees them."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Script, Turn
from interop.arena import Arena, arena, config, conversation, rule, witness
from interop.claude_code.telling import ended, shown, told_at

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

FILES = {".claude/commands/greet.md": "Greet $ARGUMENTS with MK_EXPANDED.\n"}


def when(word: str, then: str) -> str:
    return f"grep -q {word} && {{ {then}; }} || true"


def saying(answer: str) -> str:
    return f"echo '{answer}'"


PROMPT, EXPANSION = "user_prompt_submit", "prompt_expansion"
HOOKS = config(
    witness(PROMPT, EXPANSION),
    rule("no", PROMPT, run=when("MK_BAD", "echo MK_NO >&2; exit 2")),
    rule("other", PROMPT, run=when("MK_OLD", saying('{"rewrite": {"prompt": "MK_NEW"}}'))),
    rule("context", PROMPT, context="MK_CONTEXT"),
    rule("tell", PROMPT, run=saying('{"notice": ["MK_NOTICE"]}')),
    rule("not that", EXPANSION, run=when("MK_UNWANTED", "echo MK_NOT_THAT >&2; exit 2")),
    rule("halt", EXPANSION, run=when("MK_HALTED", saying('{"verdict": "halt", "reason": "MK_HALT"}'))),
    rule("otherwise", EXPANSION, run=when("MK_CHANGED", saying('{"rewrite": {"prompt": "MK_NEWER"}}'))),
    rule("more", EXPANSION, context="MK_MORE"),
    rule("say", EXPANSION, run=saying('{"notice": ["MK_SAID"]}')),
)  # fmt: skip


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS, files=FILES) as made:
        yield made


def asked(place: Arena, prompt: str) -> Session:
    return place.play(Script(prompt=prompt, turns=(Turn("MK_ANSWER"),)))


@pytest.fixture(scope="module")
def plain(place: Arena) -> Session:
    return asked(place, "MK_GOOD")


@pytest.fixture(scope="module")
def command(place: Arena) -> Session:
    return asked(place, "/greet MK_SOMEBODY")


@pytest.mark.proves("claude-code", "UserPromptSubmit.fires", "UserPromptSubmit.context")
def test_context_reaches_the_model_with_the_prompt(place: Arena, plain: Session) -> None:
    assert ended(plain)["result"] == "MK_ANSWER"
    assert "MK_GOOD" in told_at(plain, 0)
    assert "MK_CONTEXT" in told_at(plain, 0)
    assert "UserPromptSubmit" in place.natives()


@pytest.mark.proves("claude-code", "UserPromptSubmit.notice")
def test_a_notice_at_the_prompt_is_shown_to_the_person(plain: Session) -> None:
    assert "MK_NOTICE" in shown(plain)
    assert "MK_NOTICE" not in plain.sent


@pytest.mark.proves("claude-code", "UserPromptSubmit.deny")
def test_a_denied_prompt_never_reaches_a_model_and_its_twin_does(
    place: Arena, plain: Session
) -> None:
    assert conversation(plain)
    denied = asked(place, "MK_BAD")
    assert conversation(denied) == []
    assert "MK_BAD" not in str(denied.asked)
    assert "MK_NO" in ended(denied)["result"]


@pytest.mark.proves("claude-code", "UserPromptSubmit.prompt=deny")
def test_a_prompt_that_cannot_be_rewritten_is_not_sent_as_it_was(place: Arena) -> None:
    changed = asked(place, "MK_OLD")
    assert conversation(changed) == []
    assert "MK_NEW" in ended(changed)["result"]


@pytest.mark.proves("claude-code", "UserPromptExpansion.fires", "UserPromptExpansion.context")
def test_context_for_a_command_reaches_the_model_with_its_text(
    place: Arena, command: Session
) -> None:
    assert "Greet MK_SOMEBODY with MK_EXPANDED" in told_at(command, 0)
    assert "MK_MORE" in told_at(command, 0)
    assert "UserPromptExpansion" in place.natives()


@pytest.mark.proves("claude-code", "UserPromptExpansion.notice")
def test_a_notice_at_a_command_is_shown_to_the_person(command: Session) -> None:
    assert "MK_SAID" in shown(command)
    assert "MK_SAID" not in command.sent


@pytest.mark.parametrize(
    ("word", "told"),
    [
        pytest.param(
            "MK_UNWANTED",
            "MK_NOT_THAT",
            marks=pytest.mark.proves("claude-code", "UserPromptExpansion.deny"),
        ),
        pytest.param(
            "MK_HALTED",
            "MK_HALT",
            marks=pytest.mark.proves("claude-code", "UserPromptExpansion.halt=deny"),
        ),
        pytest.param(
            "MK_CHANGED",
            "MK_NEWER",
            marks=pytest.mark.proves("claude-code", "UserPromptExpansion.prompt=deny"),
        ),
    ],
    ids=["denied", "halted", "rewritten"],
)
def test_a_command_that_is_stopped_asks_no_model(
    place: Arena, command: Session, word: str, told: str
) -> None:
    assert conversation(command)
    stopped = asked(place, f"/greet {word}")
    assert conversation(stopped) == []
    assert told in ended(stopped)["result"]
