"""Pinned MCP tools with any real client: one session as pinned, one after the server has changed."""

import json
from collections.abc import Callable
from pathlib import Path

from hookline.lab.ports import Session
from hookline.lab.script import Mcp, Script, Turn
from interop.arena import Arena, config

__all__ = ["HOOKS", "SCRIPT", "PinsHold", "changed", "pinned"]

GUARD = {"unknown": "pass", "pins": "require", "check": "session_start"}
HOOKS = config({"use": "mcp-guard", "with": GUARD})
SCRIPT = Script(
    prompt="MK_PROMPT",
    turns=(
        Turn(do=(Mcp("echo_text", {"text": "MK_ECHO"}),)),
        Turn(do=(Mcp("fail_text", {"text": "MK_FAIL"}),)),
    ),
)


def pinned(place: Arena) -> None:
    """Do as a person does who looks at the server and says yes."""
    done = place.hookline("mcp", "pin", "--yes", env={"HOOKLINE_TRUST": "all"})
    assert done.exit_code == 0, done.stderr


def changed(place: Arena) -> None:
    """Let one tool have said something else when it was pinned, as if it had changed since."""
    path = Path(place.room.env["XDG_STATE_HOME"], "hookline", "mcp", "pins.json")
    pins = json.loads(path.read_bytes())
    (server,) = pins["servers"]
    server["tools"]["echo_text"] = {"sha256": "0" * 64, "text": "MK_BEFORE"}
    path.write_text(json.dumps(pins), encoding="utf-8")


class PinsHold:
    """What is to be seen, for a client that tells what its model has heard."""

    def test_tools_that_are_as_they_were_pinned_run(
        self, before: Session, heard: Callable[[Session, str], str]
    ) -> None:
        assert "MK_ECHO" in heard(before, "MK_ECHO")
        assert "MK_FAIL" in heard(before, "MK_FAIL")

    def test_a_tool_that_the_check_at_the_start_saw_changed_is_denied(
        self, after: Session, heard: Callable[[Session, str], str]
    ) -> None:
        told = heard(after, "MK_ECHO")
        assert "is not what was pinned" in told
        # Neither did the tool run, nor is the model told what the server says.
        assert "MK_ECHO" not in told
        assert "MK_BEFORE" not in told

    def test_the_servers_other_tools_still_run(
        self, after: Session, heard: Callable[[Session, str], str]
    ) -> None:
        assert "MK_FAIL" in heard(after, "MK_FAIL")
