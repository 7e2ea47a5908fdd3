"""Sub-agents, tasks and stopping: hooks reach into all of them, and keep Claude Code going."""

import json
from collections.abc import Iterator

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Agent, Native, Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, texts, witness
from interop.claude_code.telling import ended, heard, shown, told_at

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HELPER = "MK_HELPER do your part"
OTHER = "MK_OTHER do a forbidden part"


def command(text: str) -> dict[str, str]:
    return {"tool": "shell", "command": text}


def once(text: str) -> str:
    """A program that keeps an agent going the first time it wants to stop."""
    mark = f"{{root}}/{text}"
    return f"test -e {mark} && exit 0; touch {mark}; echo {text} >&2; exit 2"


def when(word: str, then: str) -> str:
    return f"grep -q {word} && {{ {then}; }} || true"


HOOKS = config(
    witness("subagent_start", "subagent_stop", "task_created", "task_completed", "stop", "pre_tool_use"),
    rule("denied", "pre_tool_use", match=command("touch sub-denied"), deny="MK_DENIED"),
    rule("no helper", "pre_tool_use", match={"tool": "agent"}, run=when("MK_OTHER", "echo MK_NO_HELPER >&2; exit 2")),
    rule("context", "subagent_start", context="MK_BEGIN"),
    rule("refuse", "subagent_start", run="echo MK_TOO_LATE >&2; exit 2"),
    rule("go on", "subagent_stop", match={"agent": "general-purpose"}, run=once("MK_AGENT_GO_ON")),
    rule("no task", "task_created", run=when("Forbidden", "echo MK_NO_TASK >&2; exit 2")),
    rule("halt task", "task_created", run=when("Halting", """echo '{"verdict": "halt", "reason": "MK_HALT_TASK"}'""")),
    rule("not done", "task_completed", run=once("MK_NOT_DONE")),
    rule("keep", "stop", run=once("MK_GO_ON")),
    rule("keep too", "stop", run=once("MK_GO_ON_TOO")),
    rule("tell", "stop", run="""echo '{"notice": ["MK_STOPPING"]}'"""),
)  # fmt: skip


def task(subject: str) -> Turn:
    return Turn(do=(Native("TaskCreate", {"subject": subject, "description": "A part"}),))


COMPLETE = Turn(do=(Native("TaskUpdate", {"taskId": "1", "status": "completed"}),))
TASKS = Turn(do=(Native("TaskList"),))

SCRIPT = Script(
    prompt="MK_PROMPT",
    turns=(
        Turn(
            do=(
                Agent(
                    HELPER,
                    (
                        Turn(do=(Shell("touch sub-ran"),)),
                        Turn(do=(Shell("touch sub-denied"),)),
                        Turn("MK_ENOUGH"),
                        Turn(do=(Shell("touch sub-went-on"),)),
                        Turn("MK_REPORT"),
                    ),
                ),
            )
        ),
        Turn(do=(Agent(OTHER, (Turn(do=(Shell("touch other-ran"),)),)),)),
        task("Allowed"),
        task("Forbidden"),
        COMPLETE,
        TASKS,
        COMPLETE,
        TASKS,
        Turn("MK_ENOUGH_OF_ALL"),
        Turn(do=(Shell("touch went-on"),)),
        Turn("MK_REALLY_ENOUGH"),
    ),
)


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


def seen(place: Arena, played: Session, native: str) -> list[str]:
    """The events of one kind, as the texts that hooks were shown."""
    return [json.dumps(each) for each in place.witnessed(played) if each["native_event"] == native]


# ── sub-agents ──


@pytest.mark.proves("claude-code", "subagent.deny")
def test_a_sub_agents_command_is_denied_and_its_twin_runs(place: Arena, played: Session) -> None:
    assert place.ran("sub-ran")
    assert not place.ran("sub-denied")
    assert "MK_DENIED" in heard(played, "touch sub-denied", HELPER)


@pytest.mark.proves("claude-code", "subagent.fires")
def test_hooks_are_told_which_agent_calls_a_tool(place: Arena, played: Session) -> None:
    called = [each for each in place.witnessed() if each["native_event"] == "PreToolUse"]
    agents = {each["tool"].get("command"): each["agent"] for each in called}
    assert agents["touch sub-ran"]["name"] == "general-purpose"
    assert agents["touch sub-ran"]["id"]
    assert agents["touch went-on"]["name"] == "root"


@pytest.mark.proves("claude-code", "subagent.deny")
def test_a_sub_agent_that_is_denied_never_begins_and_its_twin_does(
    place: Arena, played: Session
) -> None:
    assert conversation(played, HELPER)
    assert not conversation(played, OTHER)
    assert not place.ran("other-ran")
    assert "MK_NO_HELPER" in heard(played, "MK_OTHER")


@pytest.mark.proves("claude-code", "SubagentStart.fires", "SubagentStart.context")
def test_context_at_its_start_reaches_the_sub_agents_own_model(
    place: Arena, played: Session
) -> None:
    assert "MK_BEGIN" in told_at(played, 0, HELPER)
    assert "MK_BEGIN" not in "".join(texts(each.body) for each in conversation(played))
    assert len(seen(place, played, "SubagentStart")) == 1


@pytest.mark.proves("claude-code", "SubagentStart.deny=none")
def test_a_sub_agent_that_began_cannot_be_refused_any_more(place: Arena, played: Session) -> None:
    assert place.ran("sub-ran")
    assert "MK_TOO_LATE" not in played.sent


@pytest.mark.proves("claude-code", "SubagentStop.fires", "SubagentStop.follow_up")
def test_a_sub_agent_is_kept_going_and_then_may_stop(place: Arena, played: Session) -> None:
    assert place.ran("sub-went-on")
    after = [each for each in conversation(played, HELPER) if "MK_AGENT_GO_ON" in texts(each.body)]
    assert len(after) == 2
    assert "MK_REPORT" in heard(played, "MK_HELPER")
    assert len(seen(place, played, "SubagentStop")) == 2


# ── tasks ──


@pytest.mark.proves("claude-code", "TaskCreated.fires", "TaskCreated.deny")
def test_a_denied_task_is_not_on_the_list_and_its_twin_is(place: Arena, played: Session) -> None:
    assert "MK_NO_TASK" in heard(played, "Forbidden")
    listed = heard(played, "TaskList")
    assert "Allowed" in listed
    assert "Forbidden" not in listed
    assert len(seen(place, played, "TaskCreated")) == 2


@pytest.mark.proves("claude-code", "TaskCompleted.fires", "TaskCompleted.follow_up")
def test_a_task_that_is_not_done_stays_open_until_it_may_be_completed(
    place: Arena, played: Session
) -> None:
    told = heard(played, "TaskUpdate")
    assert "MK_NOT_DONE" in told
    assert "#1 [pending] Allowed" in played.sent
    assert "#1 [completed] Allowed" in played.sent
    assert len(seen(place, played, "TaskCompleted")) == 2


@pytest.fixture(scope="module")
def halted(place: Arena, played: Session) -> Session:
    turns = (task("Allowed again"), task("Halting"), TASKS, Turn(do=(Shell("touch never"),)))
    return place.play(Script(prompt="MK_HALTING", turns=turns))


@pytest.mark.proves("claude-code", "TaskCreated.halt=deny")
def test_a_halt_at_a_task_denies_it_and_all_that_follows(place: Arena, halted: Session) -> None:
    assert "created successfully" in heard(halted, "Allowed again")
    assert "MK_HALT_TASK" in heard(halted, "Halting")
    assert "MK_HALT_TASK" in heard(halted, "touch never")
    assert not place.ran("never")


# ── stopping ──


@pytest.mark.proves("claude-code", "Stop.fires", "Stop.follow_up", "continuation.happens")
def test_the_agent_is_kept_going_and_then_may_stop(place: Arena, played: Session) -> None:
    assert place.ran("went-on")
    assert "MK_GO_ON" in told_at(played, -1)
    assert ended(played)["result"] == "MK_REALLY_ENOUGH"
    assert played.exit_code == 0
    assert len(seen(place, played, "Stop")) >= 2


@pytest.mark.proves("claude-code", "several.follow-ups")
def test_of_two_hooks_that_keep_it_going_the_model_hears_both(played: Session) -> None:
    first = next(each for each in conversation(played) if "MK_GO_ON" in texts(each.body))
    assert "MK_GO_ON_TOO" in texts(first.body)


@pytest.mark.proves("claude-code", "Stop.notice")
def test_a_notice_at_the_stop_is_shown_to_the_person(played: Session) -> None:
    assert "MK_STOPPING" in shown(played)
    assert "MK_STOPPING" not in played.sent


ENDLESS = config(
    rule("on and on", "stop", run=when("MK_STUBBORN", "echo MK_AGAIN >&2; exit 2")),
    rule("but no more", "stop", run=when("MK_STUBBORN_HALT", """echo '{"verdict": "halt", "reason": "MK_HALT"}'""")),
    max_follow_ups=3,
)  # fmt: skip


@pytest.fixture(scope="module")
def endless(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=ENDLESS) as made:
        yield made


def stubborn(word: str) -> Script:
    return Script(prompt="MK_PROMPT", turns=(Turn(word),) * 20)


@pytest.mark.proves("claude-code", "continuation.capped")
def test_an_agent_is_kept_going_only_as_often_as_the_config_says(endless: Arena) -> None:
    played = endless.play(stubborn("MK_STUBBORN"))
    assert len(conversation(played)) == 1 + 3
    assert told_at(played, -1).count("MK_AGAIN") >= 3
    assert played.exit_code == 0


@pytest.mark.proves("claude-code", "Stop.halt")
def test_a_halt_at_the_stop_outweighs_what_would_keep_it_going(endless: Arena) -> None:
    played = endless.play(stubborn("MK_STUBBORN_HALT"))
    assert len(conversation(played)) == 1
    assert "MK_AGAIN" not in played.sent
