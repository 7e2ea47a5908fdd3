"""Playing a script: server, room, client and evidence together, with a very small agent."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.cli._lab_files import trust_room
from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.exchanges import exchanges
from hookline.lab.hooked import install_hookline, journal
from hookline.lab.playing import play, stage
from hookline.lab.ports import Program, Room
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Script, Shell, Turn
from hookline.model.errors import HooklineError
from support.person import command_line
from support.tiny_agent import put_agent

PINNED = CLIENT.package.version

DENY = """\
version: 1
hooks:
  - name: no secrets
    on: pre_tool_use
    match: {tool: shell, command: "touch secret*"}
    deny: Secrets stay secret.
"""


def prepare(room: Room) -> None:
    install_hookline(room, "claude-code")
    trust_room(room)


def script(*commands: str, files: dict[str, str] | None = None) -> Script:
    """One turn for each command."""
    turns = tuple(Turn(do=(Shell(command),)) for command in commands)
    return Script(prompt="Go MK_prompt", turns=turns, files=files or {})


@pytest.fixture
def agent(tmp_path: Path) -> Program:
    return Program(argv=(put_agent(tmp_path),), version=PINNED)


@pytest.fixture
def room() -> Iterator[Room]:
    with furnished_room({"old.txt": "x\n", "gone.txt": "y\n", "hookline.yaml": DENY}) as there:
        yield there


def test_a_session_leaves_its_evidence(room: Room, agent: Program) -> None:
    plot = script("echo MK_said; touch new.txt", "echo more >> old.txt; rm gone.txt")
    session = play(CLIENT, plot, room=room, program=agent, timeout=60)
    assert session.exit_code == 0, session.stderr.decode()
    assert (session.client, session.version) == ("claude-code", PINNED)
    assert session.changed == {"gone.txt": "removed", "new.txt": "added", "old.txt": "changed"}
    assert len(session.asked) == 3
    assert "MK_prompt" in session.sent
    assert [each.told for each in exchanges(session.asked)] == ["MK_said\n", ""]


def test_what_is_prepared_in_the_room_holds_for_the_session(room: Room, agent: Program) -> None:
    plot = script("touch secret.txt", "touch open.txt")
    session = play(
        CLIENT,
        plot,
        room=room,
        program=agent,
        timeout=60,
        prepare=prepare,
    )
    assert session.changed == {"open.txt": "added"}
    denied, ran = exchanges(session.asked)
    assert denied.error
    assert "Secrets stay secret." in (denied.told or "")
    assert not ran.error
    verdicts = [(each["event"], each["verdict"]) for each in journal(room)]
    assert ("pre_tool_use", "deny") in verdicts
    assert ("post_tool_use", "pass") in verdicts


def test_hookline_can_be_taken_out_again_between_two_sessions_on_one_stage(
    room: Room, agent: Program
) -> None:
    plot = script("touch secret.txt")
    with stage(CLIENT, room=room, program=agent, prepare=prepare) as set_up:
        assert set_up.play(plot, timeout=60).changed == {}
        words = command_line("uninstall", "claude-code", says="yes")
        subprocess.run(words, cwd=room.project, env=room.env, check=True, capture_output=True)
        assert set_up.play(plot, timeout=60).changed == {"secret.txt": "added"}


def test_nothing_of_a_session_runs_when_it_is_over(room: Room, agent: Program) -> None:
    command = "setsid sleep 600 >/dev/null 2>&1 & echo $!"
    session = play(CLIENT, script(command), room=room, program=agent, timeout=60)
    (told,) = exchanges(session.asked)
    assert told.told is not None
    assert not os.path.exists(f"/proc/{told.told.strip()}")


def test_a_client_that_hangs_is_cut_off_and_the_session_says_so(room: Room, agent: Program) -> None:
    session = play(CLIENT, script("sleep 600"), room=room, program=agent, timeout=2)
    assert session.exit_code is None
    assert session.cut == "it took longer than 2 seconds"
    assert len(session.asked) == 1


def test_a_client_that_crashes_is_a_session_with_its_exit_code(room: Room, tmp_path: Path) -> None:
    crashing = tmp_path / "crashing"
    crashing.write_text("#!/bin/sh\necho 'out of luck' >&2\nexit 70\n", encoding="utf-8")
    crashing.chmod(0o755)
    program = Program(argv=(str(crashing),), version="")
    session = play(CLIENT, script("true"), room=room, program=program, timeout=60)
    assert session.exit_code == 70
    assert session.stderr == b"out of luck\n"
    assert not session.asked


def test_a_client_that_is_not_there_is_an_error_that_names_it(room: Room) -> None:
    program = Program(argv=("/no/such/claude",), version="")
    with pytest.raises(HooklineError, match="cannot start `/no/such/claude`"):
        play(CLIENT, script("true"), room=room, program=program)


def test_a_config_that_is_wrong_is_an_error_before_the_session(agent: Program) -> None:
    with (
        furnished_room({"hookline.yaml": "version: 1\nhooks: 7\n"}) as there,
        pytest.raises(HooklineError, match=r"hookline\.yaml:2"),
    ):
        play(
            CLIENT,
            script("true"),
            room=there,
            program=agent,
            prepare=prepare,
        )
