"""What is kept of sessions, how much of it, and what becomes of a state that cannot be used."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hookline.store.handoffs import FileUse, Handoff, Handoffs, Place
from hookline.store.state import MIGRATIONS, StateDatabase
from support.cli import Done, Machine, program

DAY = 86_400.0
PLACE = Place("/srv/app/.git", "example/app", "main")


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def handoffs(tmp_path: Path, clock: Clock) -> Handoffs:
    return Handoffs(StateDatabase(str(tmp_path)), clock=clock)


def leave(handoffs: Handoffs, session: str, place: Place = PLACE) -> None:
    """A session that ended with something to do."""

    def change(handoff: Handoff) -> None:
        handoff.next_steps, handoff.ended = [f"of {session}"], True

    handoffs.change(session, place, change)


def take(handoffs: Handoffs, session: str) -> Handoff | None:
    taken = handoffs.take(session, PLACE, load="open")
    return None if taken is None else taken[0]


def test_what_changes_nothing_writes_nothing(handoffs: Handoffs) -> None:
    assert handoffs.change("s1", PLACE, lambda _: 7) == 7
    assert handoffs.query(PLACE) == []


@pytest.mark.parametrize(("days", "is_told"), [(6.9, True), (7.1, False), (-7.1, False)])
def test_an_old_one_is_not_told(
    handoffs: Handoffs, clock: Clock, days: float, is_told: bool
) -> None:
    leave(handoffs, "s1")
    clock.now += days * DAY
    assert (take(handoffs, "s2") is not None) is is_told


def test_of_each_branch_the_latest_are_kept_and_none_for_ever(
    handoffs: Handoffs, clock: Clock
) -> None:
    other = PLACE._replace(branch="other")
    leave(handoffs, "other", other)
    for number in range(25):
        clock.now += 60
        leave(handoffs, f"s{number}")
    assert take(handoffs, "new") is not None
    assert [each.session for each, _ in handoffs.query(PLACE)] == [
        f"s{n}" for n in range(24, 14, -1)
    ]
    assert len(handoffs.query(PLACE, any_branch=True)) == 11
    clock.now += 91 * DAY
    take(handoffs, "later")
    assert handoffs.query(PLACE, any_branch=True) == []


def test_in_all_a_thousand_are_kept(handoffs: Handoffs, tmp_path: Path, clock: Clock) -> None:
    for number in range(1010):
        clock.now += 1
        leave(handoffs, f"s{number}", PLACE._replace(branch=f"b{number}"))
    take(handoffs, "new")
    assert len(handoffs.query(PLACE, any_branch=True)) == 1000


def test_a_session_that_goes_on_takes_its_handoff_back(handoffs: Handoffs) -> None:
    leave(handoffs, "s1")
    assert take(handoffs, "s2") is not None

    def go_on(handoff: Handoff) -> None:
        handoff.ended, handoff.files = False, {"a": FileUse(writes=1)}

    handoffs.change("s1", PLACE, go_on)
    leave(handoffs, "s1")
    assert take(handoffs, "s3") is not None


def test_it_can_be_forgotten_by_branch(handoffs: Handoffs) -> None:
    leave(handoffs, "s1")
    leave(handoffs, "s2", PLACE._replace(branch="other"))
    assert handoffs.forget(PLACE) == 1
    assert handoffs.forget(PLACE, any_branch=True) == 1


def test_a_row_that_cannot_be_read_is_begun_anew(handoffs: Handoffs, tmp_path: Path) -> None:
    leave(handoffs, "s1")
    with closing(sqlite3.connect(tmp_path / "state.db")) as state, state:
        state.execute("UPDATE handoffs SET body = x'ff'")
    assert take(handoffs, "s2") is None
    leave(handoffs, "s1")
    assert take(handoffs, "s2") is not None


# ── through the installed line ──


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    made = Machine(tmp_path, capfdbinary)
    made.user_file.parent.mkdir(parents=True)
    made.user_file.write_text("version: 1\nhooks:\n  - use: handoff\n")
    (made.project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return made


def send(machine: Machine, session: str, event: str, **payload: object) -> Done:
    return machine.call(
        "hook",
        "claude-code",
        event,
        *machine.own,
        stdin=json.dumps({"hook_event_name": event, "session_id": session, "cwd": str(machine.project), **payload}),
    )  # fmt: skip


def work(machine: Machine) -> None:
    send(machine, "s1", "Stop", last_assistant_message="Next step: MK_NEXT")
    send(machine, "s1", "SessionEnd")


@contextmanager
def locked(machine: Machine) -> Iterator[None]:
    with closing(sqlite3.connect(machine.state / "state.db", isolation_level=None)) as state:
        state.execute("BEGIN IMMEDIATE")
        yield


def test_while_the_state_is_locked_the_agent_goes_on_and_the_person_is_told(
    machine: Machine,
) -> None:
    work(machine)
    with locked(machine):
        said = send(machine, "s2", "SessionStart", source="startup")
    assert said.code == 0
    assert "the state" in said.out
    assert "MK_NEXT" not in said.out
    assert "MK_NEXT" in send(machine, "s3", "SessionStart", source="startup").out, "not used up"


def test_a_damaged_state_is_kept_aside_and_another_begins(machine: Machine) -> None:
    machine.state.mkdir(mode=0o700)
    (machine.state / "state.db").write_bytes(b"no database at all, " * 500)
    assert "was damaged" in send(machine, "s1", "SessionStart", source="startup").out
    work(machine)
    assert "MK_NEXT" in send(machine, "s2", "SessionStart", source="startup").out
    assert len([*machine.state.glob("state-damaged-*.db")]) == 1


def test_a_state_of_a_newer_hookline_is_left_alone(machine: Machine) -> None:
    work(machine)
    with closing(sqlite3.connect(machine.state / "state.db")) as state:
        state.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    said = send(machine, "s2", "SessionStart", source="startup")
    assert said.code == 0
    assert "newer hookline" in said.out
    call = {"tool_name": "Write", "tool_input": {"file_path": "a"}, "tool_response": {}}
    assert "newer" not in send(machine, "s2", "PostToolUse", **call).out, "tools come too often"
    assert "newer hookline" in send(machine, "s2", "UserPromptSubmit", prompt="go").out


def test_a_state_that_cannot_be_written_stops_nobody(machine: Machine) -> None:
    machine.state.mkdir(mode=0o700)
    os.mkdir(machine.state / "state.db")
    said = send(machine, "s1", "SessionStart", source="startup")
    assert said.code == 0
    assert "handoff" in said.out


def test_of_two_processes_that_begin_at_once_one_is_told(machine: Machine) -> None:
    work(machine)
    started = []
    for number in range(4):
        payload = {"hook_event_name": "SessionStart", "session_id": f"n{number}", "cwd": str(machine.project), "source": "startup"}  # fmt: skip
        process = subprocess.Popen(
            program("hook", "claude-code", "SessionStart", *machine.own),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=machine.project,
            env={**machine.env, "HOOKLINE_NO_DAEMON": "1"},
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        started.append(process)
    said = [process.communicate(timeout=60)[0] for process in started]
    assert sum(b"MK_NEXT" in each for each in said) == 1
