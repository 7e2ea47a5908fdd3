"""Codex's driver: its tools' names, its settings, its command lines."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hookline.lab.clients.codex import CLIENT, Codex
from hookline.lab.mcp_server import COMMAND
from hookline.lab.ports import Room, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write

URL = "http://127.0.0.1:1234"
PROMPT = Script(prompt="--help")


@pytest.fixture
def room() -> Iterator[Room]:
    with furnished_room() as there:
        yield there


@pytest.mark.parametrize(
    ("act", "name", "part"),
    [
        (Shell("ls"), "exec_command", {"cmd": "ls"}),
        (
            Write("a", "one\n\ntwo\n"),
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: a\n+one\n+\n+two\n*** End Patch\n"},
        ),
        (
            Edit("a", "one\ntwo", "three"),
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: a\n@@\n-one\n-two\n+three\n"
                "*** End Patch\n"
            },
        ),
        (Read("a b"), "exec_command", {"cmd": "cat -- 'a b'"}),
        (Mcp("echo_text", {"text": "x"}), "mcp__lab.echo_text", {"text": "x"}),
        (Agent("look"), "multi_agent_v1.spawn_agent", {"message": "look"}),
        (Native("view_image", {"path": "x"}), "view_image", {"path": "x"}),
    ],
)
def test_an_act_is_called_as_its_model_calls_it(
    act: Act, name: str, part: Mapping[str, object]
) -> None:
    call = CLIENT.call(act)
    assert call.name == name
    assert part.items() <= call.arguments.items()


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (Write("a", '\u2028"\\'), 'tools.apply_patch("*** Begin Patch\\n*** Add File: a\\n+'),
        (Shell("ls"), 'tools.exec_command({"cmd": "ls"'),
        (Mcp("echo_text", {"text": "x"}), 'tools.mcp__lab__echo_text({"text": "x"})'),
    ],
)
def test_the_latest_models_call_a_tool_from_a_script(act: Act, code: str) -> None:
    call = Codex(code_mode=True).call(act)
    assert call.name == "functions.exec"
    pragma, script, end = call.arguments["input"].split("\n")
    assert (pragma[:10], end) == ("// @exec: ", "")
    assert script.startswith(f"text(await {code}")
    assert script.isascii()


@pytest.mark.parametrize(
    ("client", "result", "waiting"),
    [
        (
            Codex(),
            '{"agent_id": "x1", "nickname": "Ada"}',
            ("multi_agent_v1.wait_agent", {"targets": ["x1"], "timeout_ms": 60_000}),
        ),
        (
            Codex(code_mode=True),
            '{"task_name": "/agents/task"}',
            ("collaboration.wait_agent", {"timeout_ms": 60_000}),
        ),
    ],
)
def test_a_sub_agent_is_waited_for_unless_it_was_refused(
    client: Codex, result: str, waiting: tuple[str, Mapping[str, object]]
) -> None:
    spawned = client.call(Agent("look"))
    assert spawned.then is not None
    wait = spawned.then(result)
    assert wait is not None
    assert (wait.name, wait.arguments) == waiting
    assert spawned.then("Tool call blocked by PreToolUse hook: no") is None
    assert spawned.then('["no", "object"]') is None


def test_its_home_is_furnished_and_the_project_left_as_it_is(room: Room) -> None:
    CLIENT.furnish(room, URL)
    config = tomllib.loads(Path(room.home, ".codex", "config.toml").read_text(encoding="utf-8"))
    assert config["model_providers"]["lab"]["base_url"] == f"{URL}/v1"
    assert config["projects"][room.project]["trust_level"] == "trusted"
    assert config["analytics"]["enabled"] is False
    server = config["mcp_servers"]["lab"]
    assert (server["command"], *server["args"]) == COMMAND
    assert [path.name for path in Path(room.project).iterdir()] == [".git"]


def test_a_launch_ends_with_the_prompt_and_bypasses_trust_unless_told_not_to(room: Room) -> None:
    launch = CLIENT.launch(room, URL, ("codex",), PROMPT, Wish())
    assert launch.argv[:2] == ("codex", "exec")
    assert launch.argv[-2:] == ("--", "--help")
    assert launch.env["HOME"] == room.home
    assert launch.talk is None
    assert "--dangerously-bypass-hook-trust" in launch.argv
    wary = Codex(bypass_trust=False).launch(room, URL, ("codex",), PROMPT, Wish())
    assert "--dangerously-bypass-hook-trust" not in wary.argv


def test_wishes_shape_the_launch(room: Room) -> None:
    wish = Wish(resume=True, extra=("-c", "x=1"), env={"A": "1"})
    launch = CLIENT.launch(room, URL, ("codex",), PROMPT, wish)
    assert launch.argv[-6:] == ("-c", "x=1", "resume", "--last", "--", "--help")
    assert launch.env["A"] == "1"


def test_a_session_that_asks_is_a_conversation(room: Room) -> None:
    launch = CLIENT.launch(room, URL, ("codex",), PROMPT, Wish(permission="ask"))
    assert launch.argv == ("codex", "app-server")
    assert launch.talk is not None
