"""Moments that a client does not tell, on the real clients: their hooks fire, and the model hears."""

from collections.abc import Callable

import pytest

from hookline.lab.clients.claude_code import CLIENT as CLAUDE_CODE
from hookline.lab.clients.codex import CLIENT as CODEX
from hookline.lab.clients.copilot import CLIENT as COPILOT
from hookline.lab.clients.gemini import CLIENT as GEMINI
from hookline.lab.ports import Client, Program
from hookline.lab.script import Script, Shell, Turn
from interop.arena import arena, config, rule, witness

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

CLIENTS = pytest.mark.parametrize(
    "client", [CLAUDE_CODE, CODEX, COPILOT, GEMINI], ids=lambda client: client.dialect
)
# Codex does not say that a tool failed.
TELL_FAILURES = pytest.mark.parametrize(
    "client", [CLAUDE_CODE, COPILOT, GEMINI], ids=lambda client: client.dialect
)


@CLIENTS
def test_a_turn_begins_and_ends_once_and_what_is_said_at_its_beginning_reaches_the_model(
    client: Client, program: Callable[[Client], Program]
) -> None:
    hooks = config(
        rule("date", "turn_start", context="MK_TODAY"),
        witness("turn_start", "turn_end", "session_end"),
    )
    with arena(client, program(client), config=hooks) as place:
        played = place.play(
            Script(prompt="MK_PROMPT", turns=(Turn(do=(Shell("touch made"),)), Turn(say="MK_DONE")))
        )
        told = [(event["event"], event["derived_from"]) for event in place.witnessed()]
    assert "MK_TODAY" in played.sent
    assert told.count(("turn_start", "user_prompt_submit")) == 1
    assert told.count(("turn_end", "stop")) == 1
    assert [event for event, _ in told].count("session_end") == 1


@TELL_FAILURES
def test_a_command_that_fails_fires_hooks_for_failures_and_for_what_comes_after_a_tool(
    client: Client, program: Callable[[Client], Program]
) -> None:
    hooks = config(
        witness("post_tool_use_failure", name="failed"),
        witness("post_tool_use", name="done"),
        witness("error", name="error"),
    )
    with arena(client, program(client), config=hooks) as place:
        place.play(Script(prompt="MK_PROMPT", turns=(Turn(do=(Shell("cat MK_GONE"),)),)))
        told = sorted(
            event["event"]
            for event in place.witnessed()
            if event["event"] == "error" or "MK_GONE" in event["tool"]["command"]
        )
    assert told.count("post_tool_use_failure") == 1
    assert told.count("post_tool_use") == 1
    assert told.count("error") == 1 or client is COPILOT  # which has an event of its own for errors


@CLIENTS
def test_what_a_turn_has_changed_by_shell_is_undone(
    client: Client, program: Callable[[Client], Program]
) -> None:
    hooks = config({"use": "snapshot"})
    files = {"kept": "MK_OLD\n", "gone": "MK_GONE\n"}
    act = Shell("echo MK_NEW > kept; rm gone; echo MK_MADE > made")
    with arena(client, program(client), config=hooks, files=files) as place:
        place.play(Script(prompt="MK_PROMPT", turns=(Turn(do=(act,)), Turn(say="MK_DONE"))))
        assert (place.file("kept"), place.ran("gone")) == ("MK_NEW\n", False)
        undone = place.hookline("undo")
        assert undone.exit_code == 0, undone.stderr
        assert (place.file("kept"), place.file("gone")) == ("MK_OLD\n", "MK_GONE\n")
        assert not place.ran("made")
