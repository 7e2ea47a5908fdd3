"""A halt ends the run of Claude Code; where the client cannot end it, nothing more gets through."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Agent, Native, Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule
from interop.claude_code.telling import ended, heard

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


def halt(reason: str, when: str = "") -> str:
    """A program that halts, always or when a word is in the event."""
    said = f'echo \'{{"verdict": "halt", "reason": "{reason}"}}\''
    return f"grep -q '{when}' && {said} || true" if when else said


def command(text: str) -> dict[str, str]:
    return {"tool": "shell", "command": text}


HOOKS = config(
    rule("before", "pre_tool_use", match=command("touch at-pre"), run=halt("MK_PRE")),
    rule("after", "post_tool_use", match=command("touch at-post"), run=halt("MK_POST")),
    rule("batch", "post_tool_batch", run=halt("MK_BATCH", "touch at-batch")),
    rule("prompt", "user_prompt_submit", run=halt("MK_PROMPT", "MK_FORBIDDEN")),
    rule("closed", "session_start", run=f"test -e {{root}}/closed && {halt('MK_CLOSED')} || true"),
    rule("moved", "cwd_changed", run=halt("MK_MOVED") + "; touch {root}/moved"),
    rule("shown", "message_display", run=halt("MK_SHOWN", "MK_HALTING_WORDS")),
    rule("begun", "subagent_start", run=f"rm {{root}}/begin && {halt('MK_BEGUN')} || true"),
    rule("over", "subagent_stop", run=halt("MK_OVER", "MK_OVER_AND_OUT")),
    rule("done", "task_completed", run=halt("MK_DONE")),
    rule("failed", "post_tool_use_failure", match=command("exit 5"), run=halt("MK_FAILED")),
    rule("idle", "stop", run="touch {root}/idle"),
)


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS) as made:
        yield made


def commands(*each: str, prompt: str = "MK_ASKED") -> Script:
    return Script(prompt=prompt, turns=tuple(Turn(do=(Shell(one),)) for one in each))


@pytest.mark.proves("claude-code", "PreToolUse.halt")
def test_a_halt_before_a_tool_keeps_it_from_running_and_ends_the_run(place: Arena) -> None:
    played = place.play(commands("touch one", "touch at-pre", "touch never-pre"))
    assert set(played.changed) == {"one"}
    assert ended(played)["terminal_reason"] == "hook_stopped"
    assert len(conversation(played)) == 2, "the model is not asked again"


@pytest.mark.proves("claude-code", "PostToolUse.halt")
def test_a_halt_after_a_tool_ends_the_run(place: Arena) -> None:
    played = place.play(commands("touch two", "touch at-post", "touch never-post"))
    assert set(played.changed) == {"two", "at-post"}
    assert ended(played)["terminal_reason"] == "hook_stopped"
    assert len(conversation(played)) == 2, "the model is not asked again"


@pytest.mark.proves("claude-code", "PostToolBatch.halt")
def test_a_halt_after_a_batch_ends_the_run(place: Arena) -> None:
    played = place.play(commands("touch three", "touch at-batch", "touch never-batch"))
    assert set(played.changed) == {"three", "at-batch"}
    assert ended(played)["terminal_reason"] == "hook_stopped"
    assert len(conversation(played)) == 2, "the model is not asked again"


@pytest.mark.proves("claude-code", "UserPromptSubmit.halt")
def test_a_halt_at_the_prompt_asks_no_model_and_tells_the_person(place: Arena) -> None:
    played = place.play(commands("touch never-prompt", prompt="MK_FORBIDDEN"))
    assert played.changed == {}
    assert conversation(played) == []
    assert "MK_PROMPT" in ended(played)["result"]


@pytest.fixture(scope="module")
def latched(place: Arena) -> Session:
    return place.play(commands("touch four", "exit 5", "touch never-a", "touch never-b"))


@pytest.mark.proves("claude-code", "PostToolUseFailure.halt=latch")
def test_where_the_run_cannot_be_ended_a_halt_denies_all_that_follows(
    place: Arena, latched: Session
) -> None:
    assert set(latched.changed) == {"four"}
    assert "MK_FAILED" in heard(latched, "touch never-a")
    assert "MK_FAILED" in heard(latched, "touch never-b")


def test_after_such_a_halt_the_persons_next_prompt_is_obeyed(
    place: Arena, latched: Session
) -> None:
    played = place.play(commands("touch five", prompt="MK_GO_ON"), wish=Wish(resume=True))
    assert set(played.changed) == {"five"}


def test_a_task_in_the_background_that_ends_after_such_a_halt_opens_nothing(place: Arena) -> None:
    ends = "timeout 20 sh -c 'until test -e ../idle; do sleep 0.05; done'; touch ended"
    beside = Native("Bash", {"command": ends, "description": "wait", "run_in_background": True})
    Path(place.room.root, "idle").unlink(missing_ok=True)
    turns = (Turn(do=(beside,)), Turn(do=(Shell("exit 5"),)), Turn("MK_IDLE"))
    played = place.play(Script(prompt="MK_ASKED", turns=(*turns, Turn(do=(Shell("touch never"),)))))
    assert set(played.changed) == {"ended"}
    assert b"<task-notification>" in played.stdout, "the client did tell the model by itself"
    assert len(conversation(played)) == 3, "but the model was not asked again"


@pytest.mark.proves("claude-code", "SessionStart.halt=latch")
def test_a_halt_at_the_start_of_a_session_lets_nothing_run_in_it(place: Arena) -> None:
    closed = Path(place.room.root, "closed")
    closed.touch()
    try:
        played = place.play(commands("touch never-started"))
    finally:
        closed.unlink()
    assert b"MK_CLOSED" in played.stdout, "the hook did halt"
    assert not place.ran("never-started")


HELPER = Agent(
    "MK_HELPER do your part", (Turn(do=(Shell("touch never-helped"),)), Turn("MK_REPORT"))
)
OTHER = Agent("MK_OTHER do your part", (Turn(do=(Shell("touch helped"),)), Turn("MK_OVER_AND_OUT")))
TASK = Native("TaskCreate", {"subject": "First", "description": "A part"})
COMPLETE = Native("TaskUpdate", {"taskId": "1", "status": "completed"})
# The client does not wait for hooks on this event; so the model waits for them.
MOVED = Shell("timeout 30 sh -c 'until test -e ../../moved; do sleep 0.05; done'")


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        pytest.param(
            (Turn(do=(Shell("mkdir -p inner && cd inner"),)), Turn(do=(MOVED,))),
            "MK_MOVED",
            marks=pytest.mark.proves("claude-code", "CwdChanged.halt=latch"),
        ),
        pytest.param(
            (Turn("MK_HALTING_WORDS", (Shell("touch either-way"),)),),
            "MK_SHOWN",
            marks=pytest.mark.proves("claude-code", "MessageDisplay.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(Shell("touch ../begin"),)), Turn(do=(HELPER,))),
            "MK_BEGUN",
            marks=pytest.mark.proves("claude-code", "SubagentStart.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(OTHER,)),),
            "MK_OVER",
            marks=pytest.mark.proves("claude-code", "SubagentStop.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(TASK,)), Turn(do=(COMPLETE,))),
            "MK_DONE",
            marks=pytest.mark.proves("claude-code", "TaskCompleted.halt=latch"),
        ),
    ],
    ids=["directory", "words", "sub-agent", "report", "task"],
)
def test_a_halt_anywhere_denies_the_tools_that_follow(
    place: Arena, turns: tuple[Turn, ...], reason: str
) -> None:
    first, last = Turn(do=(Shell("touch first"),)), Turn(do=(Shell("touch never-last"),))
    played = place.play(Script(prompt="MK_ASKED", turns=(first, *turns, last)))
    assert "completed with no output" in heard(played, "touch first")
    assert reason in heard(played, "touch never-last")
    assert not place.ran("never-last")
    assert not place.ran("never-helped")
