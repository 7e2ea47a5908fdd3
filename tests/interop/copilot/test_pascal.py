"""Under the keys of Claude Code's files, hooks are shown other payloads and obeyed just the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients._copilot_talk import Talk
from hookline.lab.clients.copilot import CLIENT, Copilot
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Agent, Edit, Mcp, Read, Script, Shell, Turn, Write
from interop.arena import Arena, arena, config, conversation, rule, texts, witness
from interop.copilot.pascal import use_pascal_keys
from interop.copilot.telling import heard, told_at, warned
from interop.copilot.wording import command, commands, halting, if_seen, in_background, saying

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, ASKED, POST, FAILED = "pre_tool_use", "permission_request", "post_tool_use", "post_tool_use_failure"  # fmt: skip
PROMPT, STOP = "user_prompt_submit", "stop"
HELPER = "MK_HELPER do your part"


def once(text: str) -> str:
    """A program that keeps an agent going the first time it wants to stop."""
    mark = f"{{root}}/{text}"
    return f"test -e {mark} && exit 0; touch {mark}; echo {text} >&2; exit 2"


HOOKS = config(
    witness("session_start", "session_end", PROMPT, PRE, ASKED, POST, FAILED, STOP, "subagent_start", "subagent_stop", "error", "notification", "pre_compact"),
    rule("start", "session_start", context="MK_START"),
    rule("start env", "session_start", run=saying(rewrite={"env": {"MK_ENV": "value"}})),
    rule("no prompt", PROMPT, run=if_seen("MK_BAD", "echo MK_NO_PROMPT >&2; exit 2")),
    rule("no more", PROMPT, run=if_seen("MK_ENDING", halting("MK_HALT"))),
    rule("other prompt", PROMPT, run=if_seen("MK_OLD", saying(rewrite={"prompt": "MK_NEW"}))),
    rule("prompt context", PROMPT, match={"agent": "root"}, context="MK_CONTEXT"),
    rule("denied", PRE, match=command("touch denied"), deny="MK_DENIED"),
    rule("asked", PRE, match=command("touch asked"), ask="MK_ASKED"),
    rule("may", PRE, match=command("touch allowed"), allow=True),
    rule("told", PRE, match=command("touch told"), context="MK_TOLD"),
    rule("other", PRE, match=command("touch original"), rewrite={"input": {"command": "touch other"}}),
    rule("env", PRE, match=command("touch with-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("enough", PRE, match=command("touch at-pre"), run=halting("MK_PRE")),
    rule("no edit", PRE, match={"tool": "edit", "path": "guarded.txt"}, deny="MK_NO_EDIT"),
    rule("no write", PRE, match={"tool": "write", "path": "unwritten.txt"}, deny="MK_NO_WRITE"),
    rule("no mcp", PRE, match={"mcp": "lab.echo_text"}, run=if_seen("MK_MCP_BAD", "echo MK_NO_MCP >&2; exit 2")),
    rule("granted", ASKED, match=command("touch granted"), allow=True),
    rule("refused", ASKED, match=command("touch refused"), deny="MK_REFUSED"),
    rule("left", ASKED, match=command("touch left"), ask="MK_LEFT"),
    rule("changed", ASKED, match=command("touch changed"), rewrite={"input": {"command": "touch sly"}}),
    rule("asked env", ASKED, match=command("touch asked-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("over", ASKED, match=command("touch halted"), run=halting("MK_HALT")),
    rule("redact", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("hide", POST, match=command("cat hidden.txt"), deny="MK_NOT_SHOWN"),
    rule("after", POST, match=command("touch plain"), context="MK_AFTER"),
    rule("post halt", POST, match=command("touch at-post"), run=halting("MK_POST")),
    rule("fails", FAILED, match={"tool": "read", "path": "absent-1.txt"}, context="MK_FAILED"),
    rule("blames", FAILED, match={"tool": "read", "path": "absent-2.txt"}, deny="MK_BLAMED"),
    rule("failed halt", FAILED, match={"tool": "read", "path": "absent-3.txt"}, run=halting("MK_HALT_FAILED")),
    rule("sub start", "subagent_start", context="MK_BEGIN"),
    rule("sub refuse", "subagent_start", run="echo MK_TOO_LATE >&2; exit 2"),
    rule("sub halt", "subagent_start", run=f"rm {{root}}/project/begin && {halting('MK_BEGUN')} || true"),
    rule("sub go on", "subagent_stop", run=once("MK_AGENT_GO_ON")),
    rule("sub over", "subagent_stop", run=f"rm {{root}}/project/over && {halting('MK_OVER')} || true"),
    rule("go on", STOP, match={"agent": "root"}, run=once("MK_GO_ON")),
    rule("stop halt", STOP, run=f"test -e {{root}}/stop && {halting('MK_STOP')} || true"),
    rule("stop go on", STOP, run="test -e {root}/stop && { echo MK_NOT_HEARD >&2; exit 2; } || true"),
    rule("keep", "pre_compact", run="echo MK_KEEP >&2; exit 2"),
    rule("mine", "pre_compact", run=saying(rewrite={"summary": "MK_MINE"})),
    rule("compacts", "pre_compact", run=if_seen('"trigger": *"auto"', halting("MK_COMPACTS"))),
    rule("broke", "error", run=halting("MK_BROKE")),
    rule("note", "notification", run=f"touch {{root}}/project/noted; {saying(context=['MK_NOTED'])}"),
    rule("note halt", "notification", run=if_seen("MK_LAST_NOTE", halting("MK_HALT_NOTE"))),
)  # fmt: skip

FILES = {
    "open.txt": "MK_OPEN\n",
    "secret.txt": "MK_SECRET\n",
    "hidden.txt": "MK_HIDDEN\n",
    "edited.txt": "before\n",
    "guarded.txt": "before\n",
}


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS, files=FILES) as made:
        use_pascal_keys(made)
        yield made


HELPING = (
    Turn(do=(Shell("touch sub-ran"),)),
    Turn("MK_ENOUGH"),
    Turn(do=(Shell("touch sub-went-on"),)),
    Turn("MK_REPORT"),
)
ACTS = (
    *map(Shell, ("touch plain", "touch denied", "touch asked", "touch told", "touch original")),
    *map(Shell, ("touch with-env", 'touch "env-$MK_ENV"')),
    *map(Shell, ("cat open.txt", "cat secret.txt", "cat hidden.txt")),
    *map(Shell, ("touch refused", "touch left", "touch changed", "touch asked-env")),
    Read("absent-1.txt"),
    Read("absent-2.txt"),
    Write("written.txt", "MK_NEW\n"),
    Write("unwritten.txt", "MK_NEW\n"),
    Edit("edited.txt", "before", "after"),
    Edit("guarded.txt", "before", "after"),
    Mcp("echo_text", {"text": "MK_MCP_GOOD"}),
    Mcp("echo_text", {"text": "MK_MCP_BAD"}),
    Agent(HELPER, HELPING),
)
LAST = (Turn("MK_ENOUGH_OF_ALL"), Turn(do=(Shell("touch went-on"),)), Turn("MK_REALLY_ENOUGH"))
SCRIPT = Script(prompt="MK_PROMPT", turns=(*(Turn(do=(act,)) for act in ACTS), *LAST))


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


@pytest.mark.proves(
    "copilot",
    "SessionStart.fires",
    "SessionEnd.fires",
    "UserPromptSubmit.fires",
    "PreToolUse.fires",
    "PermissionRequest.fires",
    "PostToolUse.fires",
    "PostToolUseFailure.fires",
    "SubagentStart.fires",
    "SubagentStop.fires",
    "Stop.fires",
)
def test_every_moment_is_told_under_its_other_name(place: Arena, played: Session) -> None:
    assert {
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStart",
        "SubagentStop",
        "Stop",
    } <= set(place.natives())


@pytest.mark.proves("copilot", "PreToolUse.deny")
def test_denied_commands_and_edits_do_not_happen_and_their_twins_do(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("denied")
    assert "MK_DENIED" in heard(played, "touch denied")
    assert place.file("edited.txt") == "after\n"
    assert place.file("guarded.txt") == "before\n"
    assert place.ran("written.txt")
    assert not place.ran("unwritten.txt")
    assert "MK_MCP_GOOD" in heard(played, "MK_MCP_GOOD")
    assert "MK_NO_MCP" in heard(played, "MK_MCP_BAD")


@pytest.mark.proves("copilot", "PreToolUse.ask", "PreToolUse.env=deny")
def test_questions_and_variables_are_refusals(place: Arena, played: Session) -> None:
    assert place.ran("plain")
    assert not place.ran("asked")
    assert "MK_ASKED" in heard(played, "touch asked")
    assert not place.ran("with-env")
    assert "MK_NAME" in heard(played, "touch with-env")


@pytest.mark.proves("copilot", "PreToolUse.input", "PreToolUse.context")
def test_a_rewritten_command_runs_and_context_reaches_the_model(
    place: Arena, played: Session
) -> None:
    assert place.ran("other")
    assert not place.ran("original")
    assert "MK_TOLD" in heard(played, "touch told")
    assert "MK_TOLD" not in heard(played, "touch plain")


@pytest.mark.proves(
    "copilot",
    "PermissionRequest.deny",
    "PermissionRequest.ask=deny",
    "PermissionRequest.input=deny",
    "PermissionRequest.env=deny",
)
def test_where_permission_is_asked_all_but_an_allow_is_a_refusal(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    for name, told in (
        ("refused", "MK_REFUSED"),
        ("left", "MK_LEFT"),
        ("changed", "touch sly"),
        ("asked-env", "MK_NAME"),
    ):
        assert not place.ran(name)
        assert told in heard(played, f"touch {name}")
    assert not place.ran("sly")


@pytest.mark.proves("copilot", "PostToolUse.output", "PostToolUse.deny", "PostToolUse.context")
def test_output_is_redacted_hidden_and_commented(played: Session) -> None:
    assert "MK_OPEN" in heard(played, "cat open.txt")
    assert "MK_REDACTED" in heard(played, "cat secret.txt")
    assert "MK_SECRET" not in played.sent
    assert "MK_NOT_SHOWN" in heard(played, "cat hidden.txt")
    assert "MK_HIDDEN" not in played.sent
    assert "MK_AFTER" in heard(played, "touch plain")


@pytest.mark.proves("copilot", "PostToolUseFailure.context", "PostToolUseFailure.deny=feedback")
def test_what_is_said_of_a_failure_stands_beside_the_error(played: Session) -> None:
    assert "MK_FAILED" in heard(played, "absent-1.txt")
    told = heard(played, "absent-2.txt")
    assert "does not exist" in told
    assert "MK_BLAMED" in told
    assert "MK_FAILED" not in told


@pytest.mark.proves("copilot", "SessionStart.context", "UserPromptSubmit.context")
def test_context_at_the_start_and_the_prompt_reaches_the_model(played: Session) -> None:
    assert "MK_START" in told_at(played, 0)
    assert "MK_CONTEXT" in told_at(played, 0)


@pytest.mark.proves("copilot", "SessionStart.env=none")
def test_variables_at_the_start_are_not_given_to_commands(place: Arena, played: Session) -> None:
    assert place.ran("env-")
    assert not place.ran("env-value")


@pytest.mark.proves(
    "copilot", "SubagentStart.context", "SubagentStart.deny=none", "SubagentStop.follow_up"
)
def test_a_sub_agent_is_told_begins_anyway_and_is_kept_going(place: Arena, played: Session) -> None:
    assert "MK_BEGIN" in told_at(played, 0, HELPER)
    assert "MK_TOO_LATE" not in played.sent
    assert place.ran("sub-ran")
    assert place.ran("sub-went-on")
    after = [each for each in conversation(played, HELPER) if "MK_AGENT_GO_ON" in texts(each.body)]
    assert len(after) == 2


@pytest.mark.proves("copilot", "Stop.follow_up")
def test_the_agent_is_kept_going_and_then_may_stop(place: Arena, played: Session) -> None:
    assert place.ran("went-on")
    assert "MK_GO_ON" in told_at(played, -1)
    assert b"MK_REALLY_ENOUGH" in played.stdout


# ── where the client would ask ──


@pytest.mark.proves("copilot", "PreToolUse.allow", "PermissionRequest.allow", "Notification.fires")
def test_what_hooks_allow_runs_unasked_and_its_twin_does_not(place: Arena, played: Session) -> None:
    script = commands("touch allowed", "touch granted", "touch unasked")
    wary = place.play(script, wish=Wish(permission="ask"))
    assert {"allowed", "granted"} <= set(wary.changed)
    assert "unasked" not in wary.changed
    assert "Notification" in place.natives()


# ── prompts ──


@pytest.mark.proves("copilot", "limits.rewritten-prompts-under-these-keys")
def test_a_prompt_that_is_rewritten_is_not_sent_at_all_since_the_event_could_be_another_clients(
    place: Arena, played: Session
) -> None:
    """VS Code reads the same file, sends the same payload, and cannot replace a prompt."""
    assert "MK_PROMPT" in played.sent
    changed = place.play(Script(prompt="MK_OLD"))
    assert changed.asked == ()
    assert "MK_NEW" in warned(changed)


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("MK_BAD", marks=pytest.mark.proves("copilot", "UserPromptSubmit.deny")),
        pytest.param(
            "MK_ENDING", marks=pytest.mark.proves("copilot", "UserPromptSubmit.halt=deny")
        ),
    ],
    ids=["denied", "halted"],
)
def test_a_prompt_that_is_stopped_never_reaches_a_model(
    place: Arena, played: Session, prompt: str
) -> None:
    assert conversation(played)
    stopped = place.play(Script(prompt=prompt))
    assert stopped.asked == ()
    assert stopped.exit_code == 1


# ── halts ──

AGENT = Agent("MK_OTHER do your part", (Turn("MK_REPORT"),))


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        pytest.param(
            (Turn(do=(Shell("touch at-pre"),)),),
            "MK_PRE",
            marks=pytest.mark.proves("copilot", "PreToolUse.halt=deny"),
        ),
        pytest.param(
            (Turn(do=(Shell("touch at-post"),)),),
            "MK_POST",
            marks=pytest.mark.proves("copilot", "PostToolUse.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(Read("absent-3.txt"),)),),
            "MK_HALT_FAILED",
            marks=pytest.mark.proves("copilot", "PostToolUseFailure.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(Shell("touch begin"),)), Turn(do=(AGENT,))),
            "MK_BEGUN",
            marks=pytest.mark.proves("copilot", "SubagentStart.halt=latch"),
        ),
        pytest.param(
            (Turn(do=(Shell("touch over"),)), Turn(do=(AGENT,))),
            "MK_OVER",
            marks=pytest.mark.proves("copilot", "SubagentStop.halt=latch"),
        ),
        pytest.param(
            (Turn(fail=500),),
            "MK_BROKE",
            marks=pytest.mark.proves("copilot", "ErrorOccurred.fires", "ErrorOccurred.halt=latch"),
        ),
    ],
    ids=["tool", "result", "failure", "sub-agent", "report", "error"],
)
def test_a_halt_anywhere_denies_the_tools_that_follow(
    place: Arena, played: Session, turns: tuple[Turn, ...], reason: str
) -> None:
    first, last = Turn(do=(Shell("true first"),)), Turn(do=(Shell("touch never"),))
    halted = place.play(Script(prompt="MK_PROMPT", turns=(first, *turns, last)))
    assert "completed with exit code 0" in heard(halted, "true first")
    assert reason in heard(halted, "touch never")
    assert "never" not in halted.changed


@pytest.mark.proves("copilot", "PermissionRequest.halt")
def test_a_halt_at_the_question_ends_the_run(place: Arena, played: Session) -> None:
    halted = place.play(commands("touch first", "touch halted", "touch later"))
    assert set(halted.changed) == {"first"}
    assert len(conversation(halted)) == 2


@pytest.mark.proves("copilot", "Stop.halt=latch")
def test_a_halt_at_the_stop_outweighs_what_would_keep_it_going(
    place: Arena, played: Session
) -> None:
    assert "MK_GO_ON" in played.sent
    mark = Path(place.room.root, "stop")
    mark.touch()
    halted = place.play(Script(prompt="MK_PROMPT", turns=(Turn("MK_ENOUGH"),) * 20))
    mark.unlink()
    assert len(conversation(halted)) == 1
    assert "MK_NOT_HEARD" not in halted.sent


# ── notifications, for which the client does not wait, and compaction ──


@pytest.mark.proves("copilot", "Notification.context", "Notification.halt=latch")
def test_context_and_a_halt_at_a_notification_reach_the_model_and_its_tools(
    place: Arena, played: Session
) -> None:
    free = place.play(in_background("MK_NOTE"))
    assert "MK_NOTED" in free.sent
    assert "completed with exit code 0" in heard(free, "touch last")
    halted = place.play(in_background("MK_LAST_NOTE"))
    assert "MK_HALT_NOTE" in heard(halted, "touch last")


@pytest.mark.proves("copilot", "PreCompact.halt=latch")
def test_a_halt_at_a_compaction_denies_the_tools_that_follow(place: Arena, played: Session) -> None:
    talkative = Turn(do=(Shell("seq -s' ' 1 6000"),))
    early, late = Turn(do=(Shell("touch early"),)), Turn(do=(Shell("touch compacted"),))
    small = Wish(env={"COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "16000"})
    turns = (early, *(talkative,) * 8, late)
    halted = place.play(Script(prompt="MK_PROMPT", turns=turns), wish=small)
    assert set(halted.changed) == {"early"}
    assert "MK_COMPACTS" in heard(halted, "touch compacted")


@pytest.mark.proves(
    "copilot", "PreCompact.fires", "PreCompact.deny=none", "PreCompact.summary=none"
)
def test_a_compaction_is_seen_and_nothing_that_is_said_changes_it(copilot: Program) -> None:
    def talk(talk: Talk, script: Script) -> None:
        talk.begin()
        talk.say(script.prompt)
        talk.say("/compact")
        talk.say("MK_AFTERWARDS")

    turns = (Turn("MK_LONG_TALK"), Turn("MK_YES"))
    with arena(Copilot(talk=talk), copilot, config=HOOKS) as place:
        use_pascal_keys(place)
        Path(place.room.root, "MK_GO_ON").touch()
        session = place.play(Script(prompt="MK_PROMPT", turns=turns))
        assert "PreCompact" in place.natives()
    assert sum(each.side for each in session.asked) == 1
    assert "MK_AFTERWARDS" in told_at(session, -1)
    assert "MK_LONG_TALK" not in told_at(session, -1), "it was compacted"
    assert "MK_KEEP" not in session.sent
    assert "MK_MINE" not in session.sent
