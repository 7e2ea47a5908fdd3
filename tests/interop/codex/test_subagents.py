"""Sub-agents of Codex: whether they begin, what they may do, and when they may end."""

from collections.abc import Iterator

import pytest

from hookline.lab.ports import Program, Session
from hookline.lab.script import Agent, Shell, Turn
from interop.arena import Arena, config, conversation, rule, witness
from interop.codex.ground import Spoken, command, guarded, halting, notice, one_by_one, speak
from interop.codex.telling import heard, shown, told

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

START, STOP = "subagent_start", "subagent_stop"

GOOD = "MK_TASK_GOOD"
BAD = "MK_TASK_BAD"

HOOKS = config(
    witness(START, STOP, "user_prompt_submit", "pre_tool_use"),
    rule("no", "pre_tool_use", match={"tool": "agent"}, run="if grep -q MK_TASK_BAD; then echo MK_NO_AGENT >&2; exit 2; fi"),
    rule("denied", "pre_tool_use", match=command("touch denied"), deny="MK_DENIED"),
    rule("secret", "post_tool_use", match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("hint", START, context="MK_HINT"),
    rule("hello", START, run=notice("MK_HELLO")),
    rule("on", STOP, run="if grep -q MK_UNFINISHED; then echo MK_GO_ON >&2; exit 2; fi"),
    rule("word", STOP, run=notice("MK_WORD")),
)  # fmt: skip

TURNS = (
    Turn(do=(Shell("touch helped"),)),
    Turn(do=(Shell("touch denied"),)),
    Turn(do=(Shell("cat secret.txt"),)),
    Turn("MK_UNFINISHED"),
    Turn("MK_REPORT"),
)
SCRIPT = one_by_one(Agent(BAD, (Turn(do=(Shell("touch bad"),)),)), Agent(GOOD, TURNS))


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    with guarded(codex, config=HOOKS, files={"secret.txt": "MK_SECRET\n"}) as made:
        yield made


@pytest.fixture(scope="module")
def spoken(place: Arena) -> Spoken:
    return speak(place, SCRIPT)


@pytest.fixture(scope="module")
def played(spoken: Spoken) -> Session:
    return spoken.session


@pytest.mark.proves("codex", "PreToolUse.deny", "subagent.deny")
def test_a_denied_sub_agent_is_not_started_and_its_twin_is(place: Arena, played: Session) -> None:
    assert conversation(played, GOOD)
    assert not conversation(played, BAD)
    assert not place.ran("bad")
    assert "MK_NO_AGENT" in heard(played, BAD)


@pytest.mark.proves("codex", "PreToolUse.deny", "subagent.deny-of-its-tools")
def test_what_a_sub_agent_may_not_run_does_not_run(place: Arena, played: Session) -> None:
    assert place.ran("helped")
    assert not place.ran("denied")
    assert "MK_DENIED" in heard(played, "touch denied", GOOD)


@pytest.mark.proves("codex", "PostToolUse.output", "subagent.output")
def test_a_sub_agent_sees_redacted_output_too(played: Session) -> None:
    assert "MK_REDACTED" in heard(played, "cat secret.txt", GOOD)
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("codex", "SubagentStart.fires", "SubagentStart.context")
def test_context_at_its_start_reaches_the_sub_agent_alone(played: Session) -> None:
    assert "MK_HINT" in told(played, 0, GOOD)
    assert "MK_HINT" not in told(played, -1)


@pytest.mark.proves("codex", "SubagentStart.notice", "SubagentStop.notice")
def test_notices_at_its_start_and_end_are_shown_to_the_person(spoken: Spoken) -> None:
    assert "MK_HELLO" in shown(spoken.talk, "subagentStart")
    assert "MK_WORD" in shown(spoken.talk, "subagentStop")
    assert "MK_HELLO" not in spoken.session.sent
    assert "MK_WORD" not in spoken.session.sent


@pytest.mark.proves("codex", "SubagentStop.fires", "SubagentStop.follow_up")
def test_a_sub_agent_that_has_not_finished_is_sent_on(played: Session) -> None:
    assert "MK_GO_ON" in told(played, -1, GOOD)
    assert "MK_REPORT" in told(played, -1)


@pytest.mark.proves("codex", "subagent.fires")
def test_hooks_are_told_which_agent_an_event_belongs_to(place: Arena, played: Session) -> None:
    tools = {
        each["tool"]["command"]: each["agent"]["depth"]
        for each in place.witnessed()
        if each["native_event"] == "PreToolUse" and each["tool"]["kind"] == "shell"
    }
    assert tools == {"touch helped": 1, "touch denied": 1, "cat secret.txt": 1}
    prompts = [each for each in place.witnessed() if each["native_event"] == "UserPromptSubmit"]
    assert [each["agent"]["depth"] for each in prompts] == [0, 1]


# ── what cannot be stopped where it begins and ends ──

DENYING = 'echo \'{"verdict": "deny", "reason": "MK_DENYING"}\''
HELPER = Agent(GOOD, (Turn(do=(Shell("touch by-helper"),)), Turn("MK_REPORT")))


def played_with(codex: Program, event: str, program: str) -> Spoken:
    """A session with a hook at this event: one act before a sub-agent, one by it, one after."""
    hooks = config(rule("says so", event, run=program))
    with guarded(codex, config=hooks) as place:
        return speak(place, one_by_one(Shell("touch before"), HELPER, Shell("touch after")))


@pytest.mark.proves("codex", "SubagentStart.deny=none")
def test_a_sub_agent_cannot_be_denied_at_its_start_and_the_person_is_told(codex: Program) -> None:
    spoken = played_with(codex, START, DENYING)
    assert set(spoken.session.changed) == {"before", "by-helper", "after"}
    assert "MK_DENYING" in shown(spoken.talk, "subagentStart")


@pytest.mark.proves("codex", "SubagentStart.halt=latch")
def test_a_halt_at_its_start_keeps_the_sub_agent_and_the_others_from_doing_anything(
    codex: Program,
) -> None:
    spoken = played_with(codex, START, halting("MK_HALT"))
    assert set(spoken.session.changed) == {"before"}
    assert not conversation(spoken.session, GOOD), "its own prompt is a gate, and that is closed"
    assert "MK_HALT" in heard(spoken.session, "touch after")


@pytest.mark.proves("codex", "SubagentStop.halt=latch")
def test_a_halt_at_its_end_keeps_the_main_agent_from_doing_more(codex: Program) -> None:
    spoken = played_with(codex, STOP, halting("MK_HALT"))
    assert set(spoken.session.changed) == {"before", "by-helper"}
    assert "MK_HALT" in heard(spoken.session, "touch after")
