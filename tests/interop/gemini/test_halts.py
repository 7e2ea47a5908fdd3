"""A halt at a tool ends the run of Gemini CLI, and the person's next prompt is obeyed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Agent, Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule
from interop.gemini.hooks import command, commands, halt, when
from interop.gemini.telling import shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config(
    rule("before", "pre_tool_use", match=command("touch at-pre"), run=halt("MK_PRE")),
    rule("after", "post_tool_use", match=command("touch *-post"), run=halt("MK_POST")),
    rule("start", "session_start", run=f"rm {{root}}/begin && {halt('MK_BEGUN')} || true"),
    rule("request", "before_llm_call", run=when("MK_AT_REQUEST", halt("MK_REQUEST"))),
    rule("answer", "after_llm_call", run=when("MK_AT_ANSWER", halt("MK_ANSWER"))),
)


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS) as made:
        yield made


@pytest.mark.proves("gemini", "BeforeTool.halt")
def test_a_halt_before_a_tool_keeps_it_from_running_and_ends_the_run(place: Arena) -> None:
    played = place.play(commands("touch one", "touch at-pre", "touch never-pre"))
    assert set(played.changed) == {"one"}
    assert len(conversation(played)) == 2, "the model is not asked again"
    assert "MK_PRE" in shown(played)


@pytest.mark.proves("gemini", "AfterTool.halt")
def test_a_halt_after_a_tool_ends_the_run(place: Arena) -> None:
    played = place.play(commands("touch two", "touch at-post", "touch never-post"))
    assert set(played.changed) == {"two", "at-post"}
    assert len(conversation(played)) == 2, "the model is not asked again"
    assert "MK_POST" in shown(played)


def test_after_a_halt_the_persons_next_prompt_is_obeyed(place: Arena) -> None:
    halted = place.play(commands("touch at-pre", "touch never-again"))
    assert halted.changed == {}
    played = place.play(commands("touch three", prompt="MK_GO_ON"), wish=Wish(resume=True))
    assert set(played.changed) == {"three"}
    assert "MK_GO_ON" in played.sent


@pytest.mark.proves("gemini", "SessionStart.halt=latch")
def test_a_halt_at_the_start_holds_the_first_prompt(place: Arena) -> None:
    Path(place.room.root, "begin").touch()
    halted = place.play(commands("touch begun"))
    assert halted.changed == {}
    assert conversation(halted) == []
    assert "MK_BEGUN" in shown(halted)
    assert set(place.play(commands("touch begun")).changed) == {"begun"}


HELPER = "MK_HELPER do your part"


def helped(word: str, first: str) -> Script:
    """A sub-agent that says a word with its first command; then both agents would go on."""
    turns = (Turn(word, (Shell(first),)), Turn(do=(Shell(f"touch {word}-sub"),)), Turn("MK_REPORT"))
    return Script(
        prompt="MK_PROMPT",
        turns=(Turn(do=(Agent(HELPER, turns),)), Turn(do=(Shell(f"touch {word}-main"),))),
    )


@pytest.fixture(scope="module")
def unhindered(place: Arena) -> Session:
    return place.play(helped("MK_PLAIN", "touch plain"))


@pytest.mark.parametrize(
    ("word", "first", "done"),
    [
        ("MK_AT_TOOL", "touch at-pre", set()),
        ("MK_AT_RESULT", "touch sub-post", {"sub-post"}),
        ("MK_AT_REQUEST", "touch requested", {"requested"}),
        ("MK_AT_ANSWER", "touch answered", {"answered"}),
    ],
    ids=["tool", "result", "request", "answer"],
)
@pytest.mark.proves("gemini", "subagent.halt")
def test_after_a_halt_in_a_sub_agent_neither_it_nor_the_main_one_does_anything(
    place: Arena, unhindered: Session, word: str, first: str, done: set[str]
) -> None:
    assert set(unhindered.changed) == {"plain", "MK_PLAIN-sub", "MK_PLAIN-main"}
    played = place.play(helped(word, first))
    assert conversation(played, HELPER)
    assert set(played.changed) == done
    assert len(conversation(played)) == 1, "the main model is not asked again"
