"""Pi does what its model is scripted to do, and does not what an extension forbids."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.clients.pi import CLIENT, SUCCESSOR
from hookline.lab.playing import Stage, stage
from hookline.lab.ports import Client, Program, Room, Session, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Act, Agent, Edit, Mcp, Read, Script, Shell, Turn, Write
from hookline.model.errors import HooklineError

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

Programs = Callable[[Client], Program]

_BOTH = pytest.mark.parametrize("client", [CLIENT, SUCCESSOR], ids=["0.73", "0.87"])

_ACTS = Script(
    prompt='Please do the "MK_PROMPT" task.',
    files={"read.txt": "MK_READ\n", "edit.txt": "before MK_OLD after\n"},
    turns=(
        Turn("MK_SAID", (Shell("echo MK_RAN > ran.txt && echo MK_OUTPUT"),)),
        Turn(do=(Write("folder/written.txt", "MK_WRITTEN\n"),)),
        Turn(do=(Read("read.txt"),)),
        Turn(do=(Edit("edit.txt", "MK_OLD", "MK_NEW"),)),
        Turn("MK_END"),
    ),
)

_DENY = """
export default function (pi) {
  pi.on("tool_call", async () => ({ block: true, reason: "MK_REFUSED" }))
}
"""

_LOG = """
import { appendFileSync } from "node:fs"

const kept = ["session_start", "input", "before_agent_start", "tool_call", "tool_result",
  "agent_end", "session_before_compact", "session_compact", "session_shutdown"]

export default function (pi) {
  for (const name of kept) {
    pi.on(name, async () => appendFileSync("../events.log", name + "\\n"))
  }
}
"""


@contextmanager
def _stage(
    client: Client, program: Program, extension: str = "", settings: Mapping[str, Any] | None = None
) -> Iterator[Stage]:
    def prepare(room: Room) -> None:
        path = Path(room.project, ".pi", "extensions", "lab.js")
        path.parent.mkdir(parents=True)
        if extension:
            path.write_text(extension)
        if settings:
            Path(room.home, ".pi", "agent", "settings.json").write_text(json.dumps(settings))

    with (
        furnished_room(_ACTS.files) as room,
        stage(client, room=room, program=program, prepare=prepare) as set_up,
    ):
        yield set_up


def _events(room: Room) -> list[str]:
    return Path(room.root, "events.log").read_text().splitlines()


def _results(session: Session) -> list[str]:
    """What the model got back from its tools, in order."""
    messages = session.asked[-1].body["messages"]
    return [json.dumps(each["content"]) for each in messages if each["role"] == "tool"]


@_BOTH
def test_every_act_is_done_and_its_result_reaches_the_model(
    client: Client, program: Programs
) -> None:
    with _stage(client, program(client)) as set_up:
        session = set_up.play(_ACTS)
        project = Path(set_up.room.project)
        texts = {name: (project / name).read_text() for name in session.changed}

    assert (session.exit_code, session.cut) == (0, ""), session.stderr.decode()
    assert "MK_END" in session.stdout.decode()
    assert _ACTS.prompt in session.sent
    assert texts == {
        "edit.txt": "before MK_NEW after\n",
        "folder/written.txt": "MK_WRITTEN\n",
        "ran.txt": "MK_RAN\n",
    }
    results = _results(session)
    assert len(results) == 4
    assert "MK_OUTPUT" in results[0]
    assert "MK_READ" in results[2]


@_BOTH
def test_an_extension_that_blocks_stops_every_act(client: Client, program: Programs) -> None:
    with _stage(client, program(client), _DENY) as set_up:
        session = set_up.play(_ACTS)

    assert session.exit_code == 0
    assert session.changed == {}
    assert ["MK_REFUSED" in result for result in _results(session)] == [True] * 4


@_BOTH
def test_events_fire_in_the_order_of_the_session(client: Client, program: Programs) -> None:
    script = Script(prompt="Go.", turns=(Turn(do=(Shell("exit 3"),)), Turn("Done.")))
    with _stage(client, program(client), _LOG) as set_up:
        session = set_up.play(script)
        assert session.exit_code == 0, session.stderr.decode()
        events = _events(set_up.room)

    assert events == [
        "session_start",
        "input",
        "before_agent_start",
        "tool_call",
        "tool_result",
        "agent_end",
        "session_shutdown",
    ]


@_BOTH
def test_a_resumed_session_goes_on_with_what_was_said(client: Client, program: Programs) -> None:
    first = Script(prompt="Remember MK_FIRST.", turns=(Turn("MK_ANSWER"),))
    second = Script(prompt="Go on.", turns=(Turn(do=(Shell("echo on > on.txt"),)), Turn("Done.")))
    with _stage(client, program(client)) as set_up:
        set_up.play(first)
        session = set_up.play(second, wish=Wish(resume=True))

    assert "MK_FIRST" in session.sent
    assert "MK_ANSWER" in session.sent
    assert session.changed == {"on.txt": "added"}


@_BOTH
def test_a_session_that_outgrows_its_model_is_compacted(client: Client, program: Programs) -> None:
    script = Script(
        prompt="Remember MK_FIRST." + " word" * 4_000,
        turns=(Turn(do=(Shell("echo one > one.txt"),)), Turn("MK_ANSWER")),
    )
    # All but a thousand tokens are held back for the answer.
    settings = {"compaction": {"enabled": True, "reserveTokens": 127_000, "keepRecentTokens": 10}}
    with _stage(client, program(client), _LOG, settings) as set_up:
        session = set_up.play(script)
        again = set_up.play(Script(prompt="Go on."), wish=Wish(resume=True))
        events = _events(set_up.room)

    assert session.changed == {"one.txt": "added"}
    assert "session_before_compact" in events
    assert "session_compact" in events
    assert "MK_FIRST" not in again.sent


@pytest.mark.parametrize("act", [Mcp("echo_text"), Agent("Do a part.")])
def test_an_act_that_pi_cannot_do_is_named(act: Act) -> None:
    with pytest.raises(HooklineError, match="take the act"):
        CLIENT.call(act)


def test_without_trust_the_successor_leaves_out_what_the_project_brings(
    program: Programs,
) -> None:
    with _stage(SUCCESSOR, program(SUCCESSOR), _DENY) as set_up:
        Path(set_up.room.home, ".pi", "agent", "trust.json").unlink()
        session = set_up.play(_ACTS)

    assert set(session.changed) == {"edit.txt", "folder/written.txt", "ran.txt"}
