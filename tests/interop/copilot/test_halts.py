"""A halt closes every gate of Copilot CLI, which mostly cannot be ended by a hook."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Agent, Native, Read, Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule
from interop.copilot.telling import heard
from interop.copilot.wording import command, commands, halting, if_seen

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


def at(mark: str, reason: str) -> str:
    """A program that halts once, when a script has left a file for it in the project."""
    return f"rm {{root}}/project/{mark} && {halting(reason)} || true"


HOOKS = config(
    rule("before", "pre_tool_use", match=command("touch at-pre"), run=halting("MK_PRE")),
    rule("after", "post_tool_use", match=command("touch at-post"), run=halting("MK_POST")),
    rule("failed", "post_tool_use_failure", run=if_seen("absent.txt", halting("MK_FAILED"))),
    rule("transformed", "prompt_transformed", run=if_seen("MK_CHANGED", halting("MK_TRANSFORMED"))),
    rule("begun", "subagent_start", run=at("begin", "MK_BEGUN")),
    rule("over", "subagent_stop", run=at("over", "MK_OVER")),
    rule("broke", "error", run=halting("MK_BROKE")),
    rule("idle", "stop", run="touch {root}/idle"),
    rule("compacts", "pre_compact", run=halting("MK_COMPACTS")),
)


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def before(place: Arena) -> Session:
    return place.play(commands("touch one", "touch at-pre", "touch never-a", "touch never-b"))


@pytest.mark.proves("copilot", "preToolUse.halt=deny")
def test_a_halt_before_a_tool_denies_it_and_all_that_follow(place: Arena, before: Session) -> None:
    assert set(before.changed) == {"one"}
    for name in ("at-pre", "never-a", "never-b"):
        assert "MK_PRE" in heard(before, f"touch {name}")


@pytest.mark.proves("copilot", "resume.after-a-halt")
def test_after_a_halt_the_persons_next_prompt_is_obeyed(place: Arena) -> None:
    halted = place.play(commands("touch at-pre", "touch never-c"))
    assert halted.changed == {}
    played = place.play(commands("touch again", prompt="MK_GO_ON"), wish=Wish(resume=True))
    assert set(played.changed) == {"again"}


def test_a_command_in_the_background_that_ends_after_a_halt_opens_nothing(place: Arena) -> None:
    ends = "timeout 20 sh -c 'until test -e ../idle; do sleep 0.05; done'; touch ended"
    beside = Native("bash", {"command": ends, "description": "wait", "mode": "async"})
    Path(place.room.root, "idle").unlink(missing_ok=True)
    turns = (Turn(do=(beside,)), Turn(do=(Shell("touch at-pre"),)), Turn("MK_IDLE"))
    played = place.play(Script(prompt="MK_ASKED", turns=(*turns, Turn(do=(Shell("touch never"),)))))
    assert set(played.changed) == {"ended"}
    assert b"policy_blocked" in played.stdout, "the client did tell the model by itself"
    assert len(conversation(played)) == 3, "but the model was not asked again"


HELPER = Agent(
    "MK_HELPER do your part",
    (Turn(do=(Shell("touch helper-tried"),)), Turn("MK_REPORT")),
)


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        pytest.param(
            (Turn(do=(Shell("touch at-post"),)),),
            "MK_POST",
            marks=pytest.mark.proves("copilot", "postToolUse.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(Read("absent.txt"),)),),
            "MK_FAILED",
            marks=pytest.mark.proves("copilot", "postToolUseFailure.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(Shell("touch begin"),)), Turn(do=(HELPER,))),
            "MK_BEGUN",
            marks=pytest.mark.proves("copilot", "subagentStart.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(Shell("touch over"),)), Turn(do=(HELPER,))),
            "MK_OVER",
            marks=pytest.mark.proves("copilot", "subagentStop.halt=latch"),
        ),
        pytest.param(
            (Turn(fail=500),),
            "MK_BROKE",
            marks=pytest.mark.proves("copilot", "errorOccurred.halt=latch"),
        ),
    ],
    ids=["result", "failure", "sub-agent", "report", "error"],
)
def test_a_halt_anywhere_denies_the_tools_that_follow(
    place: Arena, turns: tuple[Turn, ...], reason: str
) -> None:
    first, last = Turn(do=(Shell("touch first"),)), Turn(do=(Shell("touch never-last"),))
    played = place.play(Script(prompt="MK_PROMPT", turns=(first, *turns, last)))
    assert "completed with exit code 0" in heard(played, "touch first")
    assert reason in heard(played, "touch never-last")
    assert "never-last" not in played.changed


@pytest.mark.proves("copilot", "subagent.halt")
def test_a_halt_holds_inside_the_sub_agent_it_was_said_about(place: Arena) -> None:
    tried = Path(place.room.project, "helper-tried")
    tried.unlink(missing_ok=True)
    free = place.play(Script(prompt="MK_PROMPT", turns=(Turn(do=(HELPER,)),)))
    assert set(free.changed) == {"helper-tried"}
    tried.unlink()
    begin = Turn(do=(Shell("touch begin"),))
    halted = place.play(Script(prompt="MK_PROMPT", turns=(begin, Turn(do=(HELPER,)))))
    assert halted.changed == {}
    assert conversation(free, HELPER.prompt)
    assert conversation(halted, HELPER.prompt) == [], "its own prompt does not open a gate"


@pytest.mark.proves("copilot", "userPromptTransformed.halt=latch")
def test_a_halt_at_the_changed_prompt_denies_the_tools_that_follow(place: Arena) -> None:
    free = place.play(commands("touch free", prompt="MK_PROMPT"))
    assert set(free.changed) == {"free"}
    halted = place.play(commands("touch not-free", prompt="MK_CHANGED"))
    assert halted.changed == {}
    assert "MK_TRANSFORMED" in heard(halted, "touch not-free")


@pytest.mark.proves("copilot", "preCompact.halt=latch")
def test_a_halt_at_a_compaction_denies_the_tools_that_follow(place: Arena) -> None:
    talkative = Turn(do=(Shell("seq -s' ' 1 6000"),))
    early, late = Turn(do=(Shell("touch early"),)), Turn(do=(Shell("touch never-compacted"),))
    # Just above what its own words and tools take up: a few results of tools fill the rest.
    small = Wish(env={"COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "16000"})
    played = place.play(
        Script(prompt="MK_PROMPT", turns=(early, *(talkative,) * 8, late)), wish=small
    )
    assert set(played.changed) == {"early"}
    assert "MK_COMPACTS" in heard(played, "touch never-compacted")
