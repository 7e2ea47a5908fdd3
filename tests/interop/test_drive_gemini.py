"""Gemini CLI does what its model is scripted to do, and does not what a hook of its own forbids."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.playing import Stage, stage
from hookline.lab.ports import Client, Program, Room, Session, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Agent, Edit, Mcp, Read, Script, Shell, Turn, Write

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Programs = Callable[[Client], Program]

_PART = "Please do the MK_PART of it."
_ACTS = Script(
    prompt='Please do the "MK_PROMPT" task.',
    files={"read.txt": "MK_READ\n", "edit.txt": "before MK_OLD after\n"},
    turns=(
        Turn("MK_SAID", (Shell("echo MK_RAN > ran.txt && echo MK_OUTPUT"),)),
        Turn(do=(Write("folder/written.txt", "MK_WRITTEN\n"),)),
        Turn(do=(Read("read.txt"),)),
        Turn(do=(Edit("edit.txt", "MK_OLD", "MK_NEW"),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_ECHO"}),)),
        Turn(do=(Mcp("fail_text", {"text": "MK_FAILED"}),)),
        Turn(
            do=(
                Agent(
                    _PART,
                    (Turn(do=(Shell("echo MK_INNER > inner.txt"),)), Turn("MK_PART_RESULT")),
                ),
            )
        ),
        Turn("MK_END"),
    ),
)

_LOG = "cat >> ../events.log; echo >> ../events.log"
_DENY = 'cat >/dev/null; echo \'{"decision":"deny","reason":"MK_REFUSED"}\''


@contextmanager
def _stage(program: Program, settings: Mapping[str, Any] | None = None) -> Iterator[Stage]:
    def prepare(room: Room) -> None:
        path = Path(room.project, ".gemini", "settings.json")
        path.parent.mkdir()
        path.write_text(json.dumps(settings or {}))

    with (
        furnished_room(_ACTS.files) as room,
        stage(CLIENT, room=room, program=program, prepare=prepare) as set_up,
    ):
        yield set_up


def _hooks(command: str, *events: str) -> dict[str, Any]:
    entry = {"hooks": [{"type": "command", "command": command}]}
    return {"hooks": {event: [entry] for event in events}}


def _events(room: Room) -> list[dict[str, Any]]:
    lines = Path(room.root, "events.log").read_text().splitlines()
    return [json.loads(line) for line in lines if line]


def _results(session: Session, lane: str = "") -> dict[str, str]:
    """What the model got back from each tool, the last one by that name, in one conversation."""
    found = {}
    for asked in session.asked:
        if asked.lane == lane and not asked.side:
            parts = [part for content in asked.body["contents"] for part in content["parts"]]
            came = [part["functionResponse"] for part in parts if "functionResponse" in part]
            found |= {each["name"]: json.dumps(each["response"]) for each in came}
    return found


@pytest.fixture(scope="module")
def played(program: Programs) -> Iterator[tuple[Session, Path]]:
    """One session with every act in it, and no hook."""
    with _stage(program(CLIENT)) as set_up:
        yield set_up.play(_ACTS), Path(set_up.room.project)


def test_it_ends_well_with_the_models_last_word(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert (session.exit_code, session.cut) == (0, ""), session.stderr.decode()
    assert "MK_END" in session.stdout.decode()
    assert _ACTS.prompt in session.sent


def test_a_command_runs_and_its_output_reaches_the_model(played: tuple[Session, Path]) -> None:
    session, project = played
    assert (project / "ran.txt").read_text() == "MK_RAN\n"
    assert "MK_OUTPUT" in _results(session)["run_shell_command"]


def test_a_file_is_written_where_the_project_is(played: tuple[Session, Path]) -> None:
    _, project = played
    assert (project / "folder/written.txt").read_text() == "MK_WRITTEN\n"


def test_a_file_is_read_to_the_model(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert "MK_READ" in _results(session)["read_file"]


def test_a_file_is_edited_in_place(played: tuple[Session, Path]) -> None:
    _, project = played
    assert (project / "edit.txt").read_text() == "before MK_NEW after\n"


def test_an_mcp_tool_answers_the_model(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert "MK_ECHO" in _results(session)["mcp_lab_echo_text"]


def test_a_failing_mcp_tool_tells_the_model_why(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert "MK_FAILED" in _results(session)["mcp_lab_fail_text"]


def test_a_sub_agent_takes_its_own_turns_and_reports_back(played: tuple[Session, Path]) -> None:
    session, project = played
    assert (project / "inner.txt").read_text() == "MK_INNER\n"
    assert "run_shell_command" in _results(session, _PART)
    assert "MK_PART_RESULT" in _results(session)["invoke_agent"]


def test_nothing_else_changed_in_the_project(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert session.changed == {
        "edit.txt": "changed",
        "folder/written.txt": "added",
        "inner.txt": "added",
        "ran.txt": "added",
    }


def test_a_hook_that_denies_stops_every_act(program: Programs) -> None:
    with _stage(program(CLIENT), _hooks(_DENY, "BeforeTool")) as set_up:
        session = set_up.play(_ACTS)

    results = _results(session)
    assert session.exit_code == 0
    assert session.changed == {}
    assert set(results) == {
        "run_shell_command",
        "write_file",
        "read_file",
        "replace",
        "mcp_lab_echo_text",
        "mcp_lab_fail_text",
        "invoke_agent",
    }
    assert all("MK_REFUSED" in result for result in results.values())
    assert not any(asked.lane for asked in session.asked)


def test_a_hook_that_denies_commands_stops_them_in_a_sub_agent_too(program: Programs) -> None:
    hooks = _hooks(_DENY, "BeforeTool")
    hooks["hooks"]["BeforeTool"][0]["matcher"] = "run_shell_command"
    with _stage(program(CLIENT), hooks) as set_up:
        session = set_up.play(_ACTS)

    assert "MK_REFUSED" in _results(session, _PART)["run_shell_command"]
    assert set(session.changed) == {"edit.txt", "folder/written.txt"}


def test_events_fire_in_the_order_of_the_session(program: Programs) -> None:
    names = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
    script = Script(prompt="Go.", turns=(Turn(do=(Shell("exit 3"),)), Turn("Done.")))
    with _stage(program(CLIENT), _hooks(_LOG, *names)) as set_up:
        set_up.play(script)
        events = _events(set_up.room)

    assert tuple(event["hook_event_name"] for event in events) == names
    assert events[0]["source"] == "startup"


def test_a_resumed_session_goes_on_with_what_was_said(program: Programs) -> None:
    first = Script(prompt="Remember MK_FIRST.", turns=(Turn("MK_ANSWER"),))
    second = Script(prompt="Go on.", turns=(Turn(do=(Shell("echo on > on.txt"),)), Turn("Done.")))
    with _stage(program(CLIENT), _hooks(_LOG, "SessionStart")) as set_up:
        set_up.play(first)
        session = set_up.play(second, wish=Wish(resume=True))
        sources = [event["source"] for event in _events(set_up.room)]

    assert sources == ["startup", "resume"]
    assert "MK_FIRST" in session.sent
    assert "MK_ANSWER" in session.sent
    assert session.changed == {"on.txt": "added"}


def test_a_long_session_is_compacted_when_it_is_resumed(program: Programs) -> None:
    first = Script(prompt="Remember MK_FIRST." + " word" * 2000, turns=(Turn("MK_ANSWER"),))
    second = Script(prompt="Go on.", turns=(Turn(do=(Shell("echo on > on.txt"),)), Turn("Done.")))
    settings = _hooks(_LOG, "PreCompress") | {"model": {"compressionThreshold": 0.00001}}
    with _stage(program(CLIENT), settings) as set_up:
        set_up.play(first)
        session = set_up.play(second, wish=Wish(resume=True))
        triggers = {event["trigger"] for event in _events(set_up.room)}

    assert triggers == {"auto"}
    assert any(asked.side and "MK_FIRST" in json.dumps(asked.body) for asked in session.asked)
    assert "MK_FIRST" not in session.sent
    assert session.changed == {"on.txt": "added"}


def test_without_leave_for_everything_nothing_that_changes_anything_is_offered(
    program: Programs,
) -> None:
    with _stage(program(CLIENT)) as set_up:
        session = set_up.play(_ACTS, wish=Wish(permission="ask"))

    offered = {
        tool["name"]
        for asked in session.asked
        for group in asked.body["tools"]
        for tool in group["functionDeclarations"]
    }
    assert "read_file" in offered
    assert offered.isdisjoint({"run_shell_command", "write_file", "replace"})
    assert session.changed == {}


def test_a_project_that_is_not_trusted_is_refused(program: Programs) -> None:
    untrusted = Wish(env={"GEMINI_CLI_TRUST_WORKSPACE": "false"})
    with _stage(program(CLIENT)) as set_up:
        session = set_up.play(_ACTS, wish=untrusted)

    assert session.exit_code == 55
    assert not session.asked
