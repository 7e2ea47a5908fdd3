"""Claude Code's driver: its tools' names, its settings, its command line."""

import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.claude_code import CLIENT, NO, YES, ClaudeCode, answering
from hookline.lab.isolation import place
from hookline.lab.ports import Launch, Room, ToolCall, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.running import run
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write

URL = "http://127.0.0.1:1234"


@pytest.fixture
def room() -> Iterator[Room]:
    with furnished_room() as there:
        yield there


@pytest.mark.parametrize(
    ("act", "name", "part"),
    [
        (Shell("ls"), "Bash", {"command": "ls"}),
        (Write("a", "b"), "Write", {"file_path": "a", "content": "b"}),
        (Edit("a", "b", "c"), "Edit", {"file_path": "a", "old_string": "b", "new_string": "c"}),
        (Read("a"), "Read", {"file_path": "a"}),
        (Mcp("echo_text", {"text": "x"}), "mcp__lab__echo_text", {"text": "x"}),
        (Agent("look"), "Agent", {"prompt": "look", "run_in_background": False}),
        (Native("Glob", {"pattern": "*"}), "Glob", {"pattern": "*"}),
    ],
)
def test_an_act_is_called_as_its_model_calls_it(
    act: Act, name: str, part: dict[str, object]
) -> None:
    call = CLIENT.call(act)
    assert isinstance(call, ToolCall)
    assert call.name == name
    assert part.items() <= call.arguments.items()


def test_its_home_is_furnished_and_the_project_left_as_it_is(room: Room) -> None:
    CLIENT.furnish(room, URL)
    seen = json.loads(Path(room.home, ".claude.json").read_text(encoding="utf-8"))
    assert seen["projects"][room.project]["hasTrustDialogAccepted"] is True
    server = seen["mcpServers"]["lab"]
    assert Path(server["args"][-1]).name == "mcp_server.py"
    assert stat.S_ISREG(Path(server["args"][-1]).stat().st_mode)
    assert [path.name for path in Path(room.project).iterdir()] == [".git"]


def test_a_launch_points_at_the_model_and_ends_with_the_prompt(room: Room) -> None:
    launch = CLIENT.launch(room, URL, ("claude",), Script(prompt="--help"), Wish())
    assert launch.argv[0] == "claude"
    assert launch.argv[-2:] == ("--", "--help")
    assert launch.env["ANTHROPIC_BASE_URL"] == URL
    assert launch.env["HOME"] == room.home
    assert "--allowedTools" in launch.argv
    assert "--continue" not in launch.argv


def test_wishes_shape_the_launch(room: Room) -> None:
    wish = Wish(resume=True, permission="ask", extra=("--agent", "x"), env={"A": "1"})
    launch = CLIENT.launch(room, URL, ("claude",), Script(prompt="/compact"), wish)
    assert "--continue" in launch.argv
    assert "--allowedTools" not in launch.argv
    assert launch.argv[-4:] == ("--agent", "x", "--", "/compact")
    assert launch.env["A"] == "1"


def test_with_somebody_at_its_terminal_it_is_not_headless(room: Room) -> None:
    client = ClaudeCode(talk=answering(YES, b"MK_end"))
    launch = client.launch(room, URL, ("claude",), Script(prompt="go"), Wish())
    assert launch.terminal
    assert launch.talk is client.talk
    assert "-p" not in launch.argv
    assert launch.env["TERM"] != "dumb"


@pytest.mark.parametrize(("key", "said"), [(YES, b"yes, then"), (NO, b"no, then")])
def test_a_person_answers_its_question_and_leaves(room: Room, key: bytes, said: bytes) -> None:
    screen = (
        "import os, sys, tty\n"
        "tty.setraw(0)\n"
        "os.write(1, b'Do you want to proceed? 1. Yes 2. No Esc to cancel ')\n"
        "key = os.read(0, 1)\n"
        "os.write(1, {b'\\r': b'yes', b'\\x1b': b'no'}[key] + b', then MK_end ')\n"
        "assert os.read(0, 1) == b'\\x03'\n"
    )
    launch = Launch(
        argv=(sys.executable, "-I", "-c", screen),
        env=room.env,
        talk=answering(key, b"MK_end"),
        terminal=True,
        timeout=60,
    )
    with place(isolate=False) as where:
        ran = run(where, launch, room.project)
    assert ran.exit_code == 0
    assert said in ran.stdout
