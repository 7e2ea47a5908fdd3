"""Hooks stand between Gemini CLI and its model: what is asked, which tools, what is answered."""

import sys
from collections.abc import Iterator

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, witness
from interop.gemini.hooks import halt, notice, saying, when
from interop.gemini.telling import heard, shown, told_at

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

BEFORE, SELECTION, AFTER = "before_llm_call", "tool_selection", "after_llm_call"

# Puts one word in the place of another, wherever it stands in the messages.
REPLACE = f"""{sys.executable} -I -c '
import json, sys
messages = json.load(sys.stdin)["messages"]
said = json.dumps(messages).replace("MK_PRIVATE", "MK_PUBLIC")
print(json.dumps({{"rewrite": {{"messages": json.loads(said)}}}}))
'"""

DENY = "echo MK_REFUSED >&2; exit 2"

HOOKS = config(
    witness(BEFORE, SELECTION, AFTER),
    rule("public", BEFORE, run=REPLACE),
    rule("before", BEFORE, context="MK_BEFORE_CONTEXT"),
    rule("say before", BEFORE, run=notice("MK_BEFORE_NOTICE")),
    rule("no request", BEFORE, run=when("MK_NO_REQUEST", DENY)),
    rule("last request", BEFORE, run=when("MK_LAST_REQUEST", halt("MK_END"))),
    rule("choosing", SELECTION, run=saying(context=["MK_SELECTION_CONTEXT"])),
    rule("say choosing", SELECTION, run=notice("MK_SELECTION_NOTICE")),
    rule("no tools", SELECTION, run=when("MK_NO_TOOLS", DENY)),
    rule("last tools", SELECTION, run=when("MK_LAST_TOOLS", halt("MK_END"))),
    rule("after", AFTER, run=saying(context=["MK_AFTER_CONTEXT"])),
    rule("say after", AFTER, run=notice("MK_AFTER_NOTICE")),
    rule("no answer", AFTER, run=when("MK_NO_ANSWER", DENY)),
    rule("last answer", AFTER, run=when("MK_LAST_ANSWER", halt("MK_END"))),
    rule("judged", "pre_tool_use", match={"command": "touch judged"}, deny="MK_JUDGED"),
)


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS) as made:
        yield made


def said(place: Arena, word: str, *names: str) -> Session:
    """The model says the word with its first call, so that hooks find it from the second on."""
    first, *others = (Shell(f"touch {name}") for name in names)
    turns = (Turn(word, (first,)), *(Turn(do=(each,)) for each in others))
    return place.play(Script(prompt="MK_PROMPT of MK_PRIVATE", turns=turns))


@pytest.fixture(scope="module")
def plain(place: Arena) -> Session:
    return said(place, "MK_PLAIN of MK_PRIVATE", "plain-1", "plain-2")


# ── requests ──


@pytest.mark.proves("gemini", "BeforeModel.fires", "BeforeModel.messages")
def test_rewritten_messages_are_what_the_model_is_sent(place: Arena, plain: Session) -> None:
    assert set(plain.changed) == {"plain-1", "plain-2"}
    assert "MK_PROMPT of MK_PUBLIC" in told_at(plain, 0)
    assert "MK_PLAIN of MK_PUBLIC" in told_at(plain, -1)
    assert "MK_PRIVATE" not in plain.sent
    assert "BeforeModel" in place.natives()


@pytest.mark.proves("gemini", "BeforeModel.messages")
def test_calls_and_their_results_stay_in_a_history_with_rewritten_messages(
    plain: Session,
) -> None:
    assert "run_shell_command" in heard(plain, "touch plain-1")
    assert "run_shell_command" in heard(plain, "touch plain-2")


@pytest.mark.proves("gemini", "BeforeModel.deny")
def test_a_denied_request_asks_no_model(place: Arena, plain: Session) -> None:
    denied = said(place, "MK_NO_REQUEST", "request-1", "request-2")
    assert set(denied.changed) == {"request-1"}
    assert len(conversation(denied)) == 1
    assert len(conversation(plain)) == 3
    assert "MK_REFUSED" in shown(denied)


@pytest.mark.proves("gemini", "BeforeModel.halt")
def test_a_halt_before_a_request_ends_the_run(place: Arena) -> None:
    halted = said(place, "MK_LAST_REQUEST", "last-1", "last-2")
    assert set(halted.changed) == {"last-1"}
    assert len(conversation(halted)) == 1
    assert "MK_END" in shown(halted)


@pytest.mark.proves("gemini", "BeforeModel.context=notice", "BeforeModel.notice")
def test_what_is_said_before_a_request_is_shown_to_the_person(plain: Session) -> None:
    for text in ("MK_BEFORE_CONTEXT", "MK_BEFORE_NOTICE"):
        assert text in shown(plain)
        assert text not in plain.sent


# ── the choice of tools ──


@pytest.fixture(scope="module")
def unarmed(place: Arena) -> Session:
    return said(place, "MK_NO_TOOLS", "tools-1", "tools-2", "judged")


@pytest.mark.proves("gemini", "BeforeToolSelection.fires", "BeforeToolSelection.deny=feedback")
def test_a_model_is_asked_to_call_no_tool(place: Arena, plain: Session, unarmed: Session) -> None:
    first, second, *_ = (each.body.get("toolConfig") for each in conversation(unarmed))
    assert not first
    assert second["functionCallingConfig"]["mode"] == "NONE"
    assert not any(each.body.get("toolConfig") for each in conversation(plain))
    assert "BeforeToolSelection" in place.natives()


@pytest.mark.proves("gemini", "limits.tools-of-a-disobedient-model")
def test_a_model_that_calls_one_all_the_same_is_served_and_each_call_is_judged(
    place: Arena, unarmed: Session
) -> None:
    assert set(unarmed.changed) == {"tools-1", "tools-2"}
    assert "MK_JUDGED" in heard(unarmed, "touch judged")


@pytest.mark.proves("gemini", "BeforeToolSelection.halt=latch")
def test_a_halt_at_the_choice_of_tools_denies_all_that_follows(
    place: Arena, unarmed: Session
) -> None:
    assert place.ran("tools-2"), "the same act after a mere deny"
    halted = said(place, "MK_LAST_TOOLS", "choice-1", "choice-2", "choice-3")
    assert set(halted.changed) == {"choice-1"}
    assert len(conversation(halted)) == 2, "the model is not asked again"
    assert "MK_END" in shown(halted)


@pytest.mark.proves("gemini", "BeforeToolSelection.context=none", "BeforeToolSelection.notice=none")
def test_nothing_said_at_the_choice_of_tools_reaches_anybody(plain: Session) -> None:
    for text in ("MK_SELECTION_CONTEXT", "MK_SELECTION_NOTICE"):
        assert text not in shown(plain)
        assert text not in plain.sent


# ── answers ──


@pytest.mark.proves("gemini", "AfterModel.fires", "AfterModel.deny=halt")
def test_a_denied_answer_ends_the_run_before_its_calls_are_made(
    place: Arena, plain: Session
) -> None:
    denied = said(place, "MK_NO_ANSWER", "answer-1", "answer-2")
    assert set(denied.changed) == {"answer-1"}
    assert set(plain.changed) == {"plain-1", "plain-2"}
    assert len(conversation(denied)) == 2
    assert "MK_REFUSED" in shown(denied)
    assert "AfterModel" in place.natives()


@pytest.mark.proves("gemini", "AfterModel.halt")
def test_a_halt_at_an_answer_ends_the_run_before_its_calls_are_made(
    place: Arena, plain: Session
) -> None:
    halted = said(place, "MK_LAST_ANSWER", "end-1", "end-2")
    assert set(halted.changed) == {"end-1"}
    assert set(plain.changed) == {"plain-1", "plain-2"}
    assert len(conversation(halted)) == 2
    assert "MK_END" in shown(halted)


@pytest.mark.proves("gemini", "AfterModel.context=notice", "AfterModel.notice")
def test_what_is_said_after_an_answer_is_shown_to_the_person(plain: Session) -> None:
    for text in ("MK_AFTER_CONTEXT", "MK_AFTER_NOTICE"):
        assert text in shown(plain)
        assert text not in plain.sent
