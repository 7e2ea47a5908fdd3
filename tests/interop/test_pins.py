"""In every client an MCP tool runs as it was pinned, and no longer when its server has changed."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from hookline.lab.clients import claude_code, codex, copilot, gemini
from hookline.lab.ports import Client, Program, Session
from hookline.lab.script import Mcp, Script, Turn
from interop.arena import Arena, arena, config
from interop.claude_code import telling as told_by_claude
from interop.codex import telling as told_by_codex
from interop.codex.ground import guarded
from interop.copilot import telling as told_by_copilot
from interop.gemini import telling as told_by_gemini

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

GUARD = {"unknown": "pass", "pins": "require", "check": "session_start"}
HOOKS = config({"use": "mcp-guard", "with": GUARD})
SCRIPT = Script(
    prompt="MK_PROMPT",
    turns=(
        Turn(do=(Mcp("echo_text", {"text": "MK_ECHO"}),)),
        Turn(do=(Mcp("fail_text", {"text": "MK_FAIL"}),)),
    ),
)


class Place(NamedTuple):
    """A client, a room with hookline in it, and how its model is overheard."""

    client: Client
    opened: Callable[..., AbstractContextManager[Arena]]
    heard: Callable[[Session, str], str]


PLACES = [
    Place(claude_code.CLIENT, partial(arena, claude_code.CLIENT), told_by_claude.heard),
    Place(codex.CLIENT, guarded, told_by_codex.heard),
    Place(copilot.CLIENT, partial(arena, copilot.CLIENT), told_by_copilot.heard),
    Place(gemini.CLIENT, partial(arena, gemini.CLIENT), told_by_gemini.heard),
]


class Played(NamedTuple):
    """What the model heard of a tool, before its server had changed and after."""

    before: Callable[[str], str]
    after: Callable[[str], str]


@pytest.fixture(scope="module", params=PLACES, ids=lambda place: place.client.dialect)
def played(
    request: pytest.FixtureRequest, program: Callable[[Client], Program]
) -> Iterator[Played]:
    place: Place = request.param
    with place.opened(program(place.client), config=HOOKS) as made:
        _pin(made)
        before = made.play(SCRIPT)
        _change(made)
        after = made.play(SCRIPT)
        yield Played(partial(place.heard, before), partial(place.heard, after))


def _pin(place: Arena) -> None:
    """Do as a person does who looks at the server and says yes."""
    done = place.hookline("mcp", "pin")
    assert done.exit_code == 0, done.stderr


def _change(place: Arena) -> None:
    """Let one tool have said something else when it was pinned, as if it had changed since."""
    path = Path(place.room.env["XDG_STATE_HOME"], "hookline", "mcp", "pins.json")
    pins = json.loads(path.read_bytes())
    (server,) = pins["servers"]
    server["tools"]["echo_text"] = {"sha256": "0" * 64, "text": "MK_BEFORE"}
    path.write_text(json.dumps(pins), encoding="utf-8")


def test_tools_that_are_as_they_were_pinned_run(played: Played) -> None:
    assert "MK_ECHO" in played.before("MK_ECHO")
    assert "MK_FAIL" in played.before("MK_FAIL")


def test_a_tool_that_the_check_at_the_start_saw_changed_is_denied(played: Played) -> None:
    told = played.after("MK_ECHO")
    assert "is not what was pinned" in told
    # Neither did the tool run, nor is the model told what the server says.
    assert "MK_ECHO" not in told
    assert "MK_BEFORE" not in told


def test_the_servers_other_tools_still_run(played: Played) -> None:
    assert "MK_FAIL" in played.after("MK_FAIL")
