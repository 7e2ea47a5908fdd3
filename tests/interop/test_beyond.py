"""What clients keep out of any hook's reach, as it is said of them; a client that mends it fails here."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.lab.clients._copilot_talk import Talk, approve
from hookline.lab.clients.claude_code import CLIENT as CLAUDE_CODE
from hookline.lab.clients.gemini import Gemini
from hookline.lab.ports import Client, Dialogue, Launch, Program, Room, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import arena, config, rule

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


def test_claude_code_shows_the_model_what_a_failing_command_printed(
    program: Callable[[Client], Program],
) -> None:
    hooks = config(
        rule("after", "post_tool_use", rewrite={"output": "MK_HIDDEN"}),
        rule("failed", "post_tool_use_failure", context="MK_FAILED"),
    )
    turns = tuple(
        Turn(do=(Shell(f"cat {name}; exit {code}"),)) for name, code in (("one", 0), ("two", 1))
    )
    files = {"one": "MK_ONE\n", "two": "MK_TWO\n"}
    with arena(CLAUDE_CODE, program(CLAUDE_CODE), config=hooks, files=files) as place:
        played = place.play(Script(prompt="MK_PROMPT", turns=turns))
    assert "MK_ONE" not in played.sent
    assert "MK_HIDDEN" in played.sent
    assert "MK_TWO" in played.sent
    assert "MK_FAILED" in played.sent, "the failure was seen by a hook"


class Served(Gemini):
    """Gemini CLI as an editor starts it, with a person who says yes."""

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """A conversation over stdin and stdout."""
        made = super().launch(room, url, program, script, wish)

        def talk(dialogue: Dialogue) -> None:
            acp = Talk(dialogue, room.project, answer=approve)
            acp.begin()
            acp.say(script.prompt)

        return replace(made, argv=(*made.argv[:-1], "--acp"), talk=talk)


def test_gemini_calls_no_guard_when_it_is_started_with_acp(
    program: Callable[[Client], Program],
) -> None:
    hooks = config(rule("no", "pre_tool_use", deny="MK_NO"))
    client = Served()
    with arena(client, program(client), config=hooks) as place:
        script = Script(prompt="MK_PROMPT", turns=(Turn(do=(Shell("touch guarded"),)),))
        # With an MCP server at work it would not end with its stdin.
        settings = Path(place.room.home, ".gemini", "settings.json")
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "mcpServers": {}}))
        played = place.play(script)
        events = {each["event"] for each in place.journal()}
    assert "guarded" in played.changed
    assert "MK_NO" not in played.sent
    assert "user_prompt_submit" in events
    assert "pre_tool_use" not in events
