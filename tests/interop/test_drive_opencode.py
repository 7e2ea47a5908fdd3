"""OpenCode does what its model is scripted to do, and does not what a plugin forbids."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.clients.opencode import CLIENT
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

_DENY = """
export const Deny = async () => ({
  "tool.execute.before": async (input) => {
    if (%s) throw new Error("MK_REFUSED");
  },
})
"""

_LOG = """
import { appendFileSync } from "node:fs"
import { tool } from "@opencode-ai/plugin"

const log = (name) => appendFileSync("../events.log", name + "\\n")
const kept = ["session.created", "session.idle", "session.compacted"]

export const Log = async () => ({
  event: async ({ event }) => { if (kept.includes(event.type)) log(event.type) },
  dispose: async () => log(typeof tool === "function" ? "dispose" : "no tool"),
  "chat.message": async () => log("chat.message"),
  "tool.execute.before": async () => log("tool.execute.before"),
  "tool.execute.after": async () => log("tool.execute.after"),
  "experimental.session.compacting": async () => log("experimental.session.compacting"),
})
"""


@contextmanager
def _stage(
    program: Program, plugin: str = "", settings: Mapping[str, Any] | None = None
) -> Iterator[Stage]:
    def prepare(room: Room) -> None:
        path = Path(room.project, ".opencode", "plugins", "lab.js")
        path.parent.mkdir()
        path.write_text(plugin)
        if settings:
            Path(room.project, "opencode.json").write_text(json.dumps(settings))

    with (
        furnished_room(_ACTS.files) as room,
        stage(CLIENT, room=room, program=program, prepare=prepare) as set_up,
    ):
        yield set_up


def _events(room: Room) -> list[str]:
    return Path(room.root, "events.log").read_text().splitlines()


def _results(session: Session, lane: str = "") -> list[str]:
    """What the model got back from its tools, in order, in one conversation."""
    bodies = [each.body for each in session.asked if each.lane == lane and not each.side]
    return [each["content"] for each in bodies[-1]["messages"] if each["role"] == "tool"]


@pytest.fixture(scope="module")
def played(program: Programs) -> Iterator[tuple[Session, Path]]:
    """One session with every act in it, and no hook."""
    with _stage(program(CLIENT)) as set_up:
        yield set_up.play(_ACTS), Path(set_up.room.project)


def test_it_ends_well_with_the_models_last_word(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert (session.exit_code, session.cut) == (0, ""), session.stderr.decode()
    assert "MK_END" in session.stdout.decode()


def test_the_prompt_reaches_the_model_word_for_word(played: tuple[Session, Path]) -> None:
    session, _ = played
    first = next(asked for asked in session.asked if not asked.side)
    assert first.body["messages"][-1] == {"role": "user", "content": _ACTS.prompt}


def test_a_command_runs_and_its_output_reaches_the_model(played: tuple[Session, Path]) -> None:
    session, project = played
    assert (project / "ran.txt").read_text() == "MK_RAN\n"
    assert "MK_OUTPUT" in _results(session)[0]


def test_a_file_is_written_where_the_project_is(played: tuple[Session, Path]) -> None:
    _, project = played
    assert (project / "folder/written.txt").read_text() == "MK_WRITTEN\n"


def test_a_file_is_read_to_the_model(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert "MK_READ" in _results(session)[2]


def test_a_file_is_edited_in_place(played: tuple[Session, Path]) -> None:
    _, project = played
    assert (project / "edit.txt").read_text() == "before MK_NEW after\n"


def test_an_mcp_tool_answers_the_model(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert "MK_ECHO" in _results(session)[4]


def test_a_failing_mcp_tool_tells_the_model_why(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert "MK_FAILED" in _results(session)[5]


def test_a_sub_agent_takes_its_own_turns_and_reports_back(played: tuple[Session, Path]) -> None:
    session, project = played
    assert (project / "inner.txt").read_text() == "MK_INNER\n"
    assert len(_results(session, _PART)) == 1
    assert "MK_PART_RESULT" in _results(session)[6]


def test_nothing_else_changed_in_the_project(played: tuple[Session, Path]) -> None:
    session, _ = played
    assert session.changed == {
        "edit.txt": "changed",
        "folder/written.txt": "added",
        "inner.txt": "added",
        "ran.txt": "added",
    }


def test_a_plugin_that_throws_stops_every_act(program: Programs) -> None:
    with _stage(program(CLIENT), _DENY % "true") as set_up:
        session = set_up.play(_ACTS)

    assert session.exit_code == 0
    assert session.changed == {}
    assert ["MK_REFUSED" in result for result in _results(session)] == [True] * 7
    assert not any(asked.lane for asked in session.asked)


def test_a_plugin_that_forbids_commands_stops_them_in_a_sub_agent_too(program: Programs) -> None:
    with _stage(program(CLIENT), _DENY % 'input.tool === "bash"') as set_up:
        session = set_up.play(_ACTS)

    assert "MK_REFUSED" in _results(session, _PART)[0]
    assert set(session.changed) == {"edit.txt", "folder/written.txt"}


def test_events_fire_in_order_in_a_plugin_that_imports_the_plugin_package(
    program: Programs,
) -> None:
    script = Script(prompt="Go.", turns=(Turn(do=(Shell("exit 3"),)), Turn("Done.")))
    with _stage(program(CLIENT), _LOG) as set_up:
        set_up.play(script)
        events = _events(set_up.room)

    assert events == [
        "session.created",
        "chat.message",
        "tool.execute.before",
        "tool.execute.after",
        "session.idle",
        "dispose",
    ]


def test_a_resumed_session_goes_on_with_what_was_said(program: Programs) -> None:
    first = Script(prompt="Remember MK_FIRST.", turns=(Turn("MK_ANSWER"),))
    second = Script(prompt="Go on.", turns=(Turn(do=(Shell("echo on > on.txt"),)), Turn("Done.")))
    with _stage(program(CLIENT)) as set_up:
        set_up.play(first)
        session = set_up.play(second, wish=Wish(resume=True))

    assert "MK_FIRST" in session.sent
    assert "MK_ANSWER" in session.sent
    assert session.changed == {"on.txt": "added"}


def test_a_session_that_outgrows_its_model_is_compacted(program: Programs) -> None:
    script = Script(
        prompt="Remember MK_FIRST." + " word" * 40_000,
        turns=(Turn(do=(Shell("echo one > one.txt"),)), Turn(do=(Shell("echo two > two.txt"),))),
    )
    limit = {"context": 20_000, "output": 1_000}
    settings = {
        # It would add this line itself.
        "$schema": "https://opencode.ai/config.json",
        "provider": {"lab": {"models": {"scripted": {"limit": limit}}}},
    }
    with _stage(program(CLIENT), _LOG, settings) as set_up:
        session = set_up.play(script)
        events = _events(set_up.room)

    assert "experimental.session.compacting" in events
    assert "session.compacted" in events
    assert session.changed == {"one.txt": "added", "two.txt": "added"}
    assert "MK_FIRST" not in json.dumps(session.asked[-1].body)


def test_what_would_be_asked_about_is_not_done_when_nobody_is_there(program: Programs) -> None:
    with _stage(program(CLIENT)) as set_up:
        session = set_up.play(_ACTS, wish=Wish(permission="ask"))

    assert "permission requested: bash" in session.stderr.decode()
    assert session.changed == {}
    # Not even told that it may not, the model is never asked again.
    assert [asked.lane for asked in session.asked if not asked.side] == [""]
