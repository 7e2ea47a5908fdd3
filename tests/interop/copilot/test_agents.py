"""Sub-agents and stopping: hooks reach into both, and keep Copilot CLI going."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Agent, Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, texts, witness
from interop.copilot.telling import heard, told_at
from interop.copilot.wording import command, halting, if_seen

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HELPER = "MK_HELPER do your part"
OTHER = "MK_OTHER do a forbidden part"


def once(text: str) -> str:
    """A program that keeps an agent going the first time it wants to stop."""
    mark = f"{{root}}/{text}"
    return f"test -e {mark} && exit 0; touch {mark}; echo {text} >&2; exit 2"


HOOKS = config(
    witness("subagent_start", "subagent_stop", "stop", "pre_tool_use", "post_tool_use"),
    rule("denied", "pre_tool_use", match=command("touch sub-denied"), deny="MK_DENIED"),
    rule("no helper", "pre_tool_use", match={"tool": "agent"}, run=if_seen("MK_OTHER", "echo MK_NO_HELPER >&2; exit 2")),
    rule("redact", "post_tool_use", match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("context", "subagent_start", context="MK_BEGIN"),
    rule("refuse", "subagent_start", run="echo MK_TOO_LATE >&2; exit 2"),
    rule("go on", "subagent_stop", run=once("MK_AGENT_GO_ON")),
    rule("keep", "stop", match={"agent": "root"}, run=once("MK_GO_ON")),
    rule("keep too", "stop", match={"agent": "root"}, run=once("MK_BOTH_GO_ON")),
)  # fmt: skip

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
                        Turn(do=(Shell("cat secret.txt"),)),
                        Turn("MK_ENOUGH"),
                        Turn(do=(Shell("touch sub-went-on"),)),
                        Turn("MK_REPORT"),
                    ),
                ),
            )
        ),
        Turn(do=(Agent(OTHER, (Turn(do=(Shell("touch other-ran"),)),)),)),
        Turn("MK_ENOUGH_OF_ALL"),
        Turn(do=(Shell("touch went-on"),)),
        Turn("MK_REALLY_ENOUGH"),
    ),
)


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS, files={"secret.txt": "MK_SECRET\n"}) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


def seen(place: Arena, played: Session, native: str) -> list[Any]:
    """The events of one kind that hooks were shown."""
    return [each for each in place.witnessed(played) if each["native_event"] == native]


# ── sub-agents ──


@pytest.mark.proves("copilot", "subagent.deny")
def test_a_sub_agents_command_is_denied_and_its_twin_runs(place: Arena, played: Session) -> None:
    assert place.ran("sub-ran")
    assert not place.ran("sub-denied")
    assert "MK_DENIED" in heard(played, "touch sub-denied", HELPER)


@pytest.mark.proves("copilot", "subagent.output")
def test_redacted_output_is_what_a_sub_agents_model_sees(played: Session) -> None:
    assert "MK_REDACTED" in heard(played, "cat secret.txt", HELPER)
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("copilot", "subagent.fires")
def test_hooks_are_told_which_agent_calls_a_tool(place: Arena, played: Session) -> None:
    called = {each["tool"].get("command"): each for each in seen(place, played, "preToolUse")}
    assert called["touch sub-ran"]["agent"]["name"] == "general-purpose"
    assert called["touch sub-ran"]["agent"]["id"]
    assert called["touch went-on"]["agent"]["name"] == "root"
    sessions = {each["session_id"] for each in called.values()}
    assert len(sessions) == 1, "it is part of the session that started it"


@pytest.mark.proves("copilot", "subagent.deny")
def test_a_sub_agent_that_is_denied_never_begins_and_its_twin_does(
    place: Arena, played: Session
) -> None:
    assert conversation(played, HELPER)
    assert not conversation(played, OTHER)
    assert not place.ran("other-ran")
    assert "MK_NO_HELPER" in heard(played, "MK_OTHER")


@pytest.mark.proves("copilot", "subagentStart.fires", "subagentStart.context")
def test_context_at_its_start_reaches_the_sub_agents_own_model(
    place: Arena, played: Session
) -> None:
    assert "MK_BEGIN" in told_at(played, 0, HELPER)
    assert "MK_BEGIN" not in "".join(texts(each.body) for each in conversation(played))
    assert len(seen(place, played, "subagentStart")) == 1


@pytest.mark.proves("copilot", "subagentStart.deny=none")
def test_a_sub_agent_that_began_cannot_be_refused_any_more(place: Arena, played: Session) -> None:
    assert len(seen(place, played, "subagentStart")) == 1
    assert place.ran("sub-ran")
    assert "MK_TOO_LATE" not in played.sent


@pytest.mark.proves("copilot", "subagentStop.fires", "subagentStop.follow_up")
def test_a_sub_agent_is_kept_going_and_then_may_stop(place: Arena, played: Session) -> None:
    assert place.ran("sub-went-on")
    after = [each for each in conversation(played, HELPER) if "MK_AGENT_GO_ON" in texts(each.body)]
    assert len(after) == 2
    assert "MK_REPORT" in heard(played, "MK_HELPER")
    assert len(seen(place, played, "subagentStop")) == 2


# ── stopping ──


@pytest.mark.proves("copilot", "agentStop.fires", "agentStop.follow_up", "continuation.happens")
def test_the_agent_is_kept_going_and_then_may_stop(place: Arena, played: Session) -> None:
    assert place.ran("went-on")
    assert "MK_GO_ON" in told_at(played, -1)
    assert b"MK_REALLY_ENOUGH" in played.stdout
    assert played.exit_code == 0
    assert len(seen(place, played, "agentStop")) >= 2


@pytest.mark.proves("copilot", "several.follow-ups")
def test_of_two_hooks_that_keep_it_going_the_model_hears_both(played: Session) -> None:
    first = next(each for each in conversation(played) if "MK_GO_ON" in texts(each.body))
    assert "MK_BOTH_GO_ON" in texts(first.body)


# The event does not say what the agent said last, so hooks go by a file.
ON_AND_ON = rule("on and on", "stop", run="echo MK_AGAIN >&2; exit 2")
NO_MORE = rule("no more", "stop", run=f"test -e {{root}}/halt && {halting('MK_HALT')} || true")
STUBBORN = Script(prompt="MK_PROMPT", turns=(Turn("MK_ENOUGH"),) * 20)


@pytest.fixture(scope="module")
def endless(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=config(ON_AND_ON, NO_MORE, max_follow_ups=3)) as made:
        yield made


@pytest.mark.proves("copilot", "continuation.capped")
def test_an_agent_is_kept_going_only_as_often_as_the_config_says(endless: Arena) -> None:
    played = endless.play(STUBBORN)
    assert len(conversation(played)) == 1 + 3
    assert told_at(played, -1).count("MK_AGAIN") == 3
    assert played.exit_code == 0


@pytest.mark.proves("copilot", "agentStop.halt=latch")
def test_a_halt_at_the_stop_outweighs_what_would_keep_it_going(endless: Arena) -> None:
    kept = endless.play(STUBBORN)
    assert "MK_AGAIN" in kept.sent
    mark = Path(endless.room.root, "halt")
    mark.touch()
    played = endless.play(STUBBORN)
    mark.unlink()
    assert len(conversation(played)) == 1
    assert "MK_AGAIN" not in played.sent


@pytest.mark.proves("copilot", "continuation.capped-by-the-client")
def test_past_the_clients_own_limit_nothing_keeps_an_agent_going(copilot: Program) -> None:
    with arena(CLIENT, copilot, config=config(ON_AND_ON, max_follow_ups=20)) as place:
        played = place.play(STUBBORN)
    assert len(conversation(played)) == 1 + 8
    assert played.exit_code == 0
