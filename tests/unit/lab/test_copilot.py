"""Copilot CLI's driver: its tools' names, its settings, its command lines."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hookline.lab.clients._copilot_talk import approve, refuse
from hookline.lab.clients.copilot import CLIENT, Copilot
from hookline.lab.mcp_server import COMMAND
from hookline.lab.ports import Room, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write
from hookline.model.errors import HooklineError

URL = "http://127.0.0.1:1234"
PROMPT = Script(prompt="--help")


@pytest.fixture
def room() -> Iterator[Room]:
    with furnished_room() as there:
        yield there


@pytest.mark.parametrize(
    ("act", "name", "part"),
    [
        (Shell("ls"), "bash", {"command": "ls"}),
        (Write("a", "b"), "create", {"path": "a", "file_text": "b"}),
        (Edit("a", "b", "c"), "edit", {"path": "a", "old_str": "b", "new_str": "c"}),
        (Read("a"), "view", {"path": "a"}),
        (Mcp("echo_text", {"text": "x"}), "lab-echo_text", {"text": "x"}),
        (Agent("look"), "task", {"prompt": "look", "mode": "sync"}),
        (Native("glob", {"pattern": "*"}), "glob", {"pattern": "*"}),
    ],
)
def test_an_act_is_called_as_its_model_calls_it(
    act: Act, name: str, part: Mapping[str, object]
) -> None:
    call = CLIENT.call(act)
    assert call.name == name
    assert part.items() <= call.arguments.items()


@pytest.mark.parametrize("trusted", [True, False])
def test_its_home_is_furnished_and_the_project_left_as_it_is(room: Room, trusted: bool) -> None:
    Copilot(trusted=trusted).furnish(room, URL)
    home = Path(room.home, ".copilot")
    config = json.loads((home / "config.json").read_text(encoding="utf-8"))
    assert config["trustedFolders"] == ([room.project] if trusted else [])
    servers = json.loads((home / "mcp-config.json").read_text(encoding="utf-8"))["mcpServers"]
    assert (servers["lab"]["command"], *servers["lab"]["args"]) == COMMAND
    assert [path.name for path in Path(room.project).iterdir()] == [".git"]


def test_a_launch_points_at_the_model_and_has_the_prompt(room: Room) -> None:
    launch = CLIENT.launch(room, URL, ("copilot",), PROMPT, Wish())
    assert launch.argv[-1] == "--prompt=--help"
    assert launch.env["COPILOT_PROVIDER_BASE_URL"] == f"{URL}/v1"
    assert launch.env["COPILOT_OFFLINE"] == "true"
    assert launch.env["HOME"] == room.home
    assert "--allow-all-tools" in launch.argv
    assert "--continue" not in launch.argv
    assert launch.talk is None


def test_wishes_shape_the_launch(room: Room) -> None:
    wish = Wish(resume=True, permission="ask", extra=("--agent", "x"), env={"A": "1"})
    launch = CLIENT.launch(room, URL, ("copilot",), Script(prompt="/compact"), wish)
    assert "--continue" in launch.argv
    assert "--allow-all-tools" not in launch.argv
    assert launch.argv[-3:] == ("--agent", "x", "--prompt=/compact")
    assert launch.env["A"] == "1"


def test_with_somebody_to_ask_a_session_is_a_conversation(room: Room) -> None:
    client = Copilot(answer=approve)
    launch = client.launch(room, URL, ("copilot",), PROMPT, Wish(permission="ask"))
    assert "--acp" in launch.argv
    assert launch.talk is not None
    with pytest.raises(HooklineError, match="cannot resume"):
        client.launch(room, URL, ("copilot",), PROMPT, Wish(resume=True))


def test_an_answer_is_one_of_the_options_or_none() -> None:
    options = [
        {"optionId": "1", "kind": "allow_always"},
        {"optionId": "2", "kind": "allow_once"},
        {"optionId": "3", "kind": "reject_once"},
    ]
    question = {"method": "session/request_permission", "params": {"options": options}}
    assert approve(question) == {"outcome": {"outcome": "selected", "optionId": "2"}}
    assert refuse(question) == {"outcome": {"outcome": "selected", "optionId": "3"}}
    unanswerable = {"method": "session/request_permission", "params": {}}
    assert refuse(unanswerable) == {"outcome": {"outcome": "cancelled"}}
