"""What builtins remember between events: one file, which nobody else reads and nothing waits for."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.model.errors import HooklineError
from hookline.store import tool_calls
from hookline.store.state import StateDatabase
from hookline.store.tool_calls import Actor, TrackedCall

ACTOR = Actor.of("canonical", "s1", "root")
CALL = TrackedCall(1.0, b"c", b"o", 0)


def add(state: StateDatabase, source: str) -> int:
    """Adds a call; how many there are then."""
    with state.write() as connection:
        return len(tool_calls.add_call(connection, ACTOR, CALL, source))


def count(state: StateDatabase) -> int:
    with state.read() as connection:
        return len(tool_calls.list_calls(connection, ACTOR))


def test_what_is_written_is_there_for_the_next_process(tmp_path: Path) -> None:
    assert add(StateDatabase(str(tmp_path)), "a") == 1
    assert count(StateDatabase(str(tmp_path))) == 1


def test_nothing_is_made_before_it_is_asked_for(tmp_path: Path) -> None:
    StateDatabase(str(tmp_path)).close()
    assert list(tmp_path.iterdir()) == []


def test_it_is_nobody_elses_to_read(tmp_path: Path) -> None:
    state = StateDatabase(str(tmp_path / "home"))
    add(state, "a")
    files = list((tmp_path / "home").iterdir())
    assert {file.name for file in files} >= {"state.db"}
    assert [file.stat().st_mode & 0o077 for file in files] == [0] * len(files)


def test_an_error_undoes_all_of_its_block(tmp_path: Path) -> None:
    state = StateDatabase(str(tmp_path))

    def fail() -> None:
        with state.write() as connection:
            tool_calls.add_call(connection, ACTOR, CALL, "a")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert count(state) == 0


def test_a_brief_one_begins_with_what_is_there_and_leaves_the_file_as_it_is(
    tmp_path: Path,
) -> None:
    lasting = StateDatabase(str(tmp_path))
    add(lasting, "a")
    lasting.close()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    brief = StateDatabase(str(tmp_path), brief=True)
    assert add(brief, "b") == 2
    brief.close()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_brief_one_makes_no_file(tmp_path: Path) -> None:
    assert add(StateDatabase(str(tmp_path), brief=True), "a") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_kept_beside_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"no database at all" * 500)
    state = StateDatabase(str(tmp_path))
    with pytest.raises(HooklineError, match="was damaged: it was kept as"):
        count(state)
    assert add(state, "a") == 1
    (aside,) = tmp_path.glob("state-damaged-*.db")
    assert aside.read_bytes().startswith(b"no database")


def test_a_file_of_a_newer_hookline_is_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "state.db")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = (tmp_path / "state.db").read_bytes()
    for brief in (False, True):
        with pytest.raises(HooklineError, match="newer hookline"):
            count(StateDatabase(str(tmp_path), brief=brief))
    assert sqlite3.connect(tmp_path / "state.db").execute("PRAGMA user_version").fetchone() == (
        999,
    )
    assert len(before) == (tmp_path / "state.db").stat().st_size


def test_a_locked_file_is_given_up_and_works_again_afterwards(tmp_path: Path) -> None:
    state = StateDatabase(str(tmp_path))
    add(state, "a")
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(HooklineError, match="another process has it locked"):
        add(state, "b")
    assert count(state) == 1  # to read, nobody has to wait
    other.execute("ROLLBACK")
    assert add(state, "b") == 2


def test_a_file_that_was_removed_or_replaced_is_opened_anew(tmp_path: Path) -> None:
    state = StateDatabase(str(tmp_path))
    add(state, "a")
    for file in tmp_path.glob("state.db*"):
        file.unlink()
    assert add(state, "b") == 1
    assert add(StateDatabase(str(tmp_path)), "c") == 2


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    with pytest.raises(HooklineError, match="cannot be used"):
        count(StateDatabase(str(tmp_path / "home")))


def test_a_link_or_a_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state.db").symlink_to(tmp_path / "other.db")
    with pytest.raises(HooklineError, match=r"state\.db"):
        count(StateDatabase(str(tmp_path)))
    assert not (tmp_path / "other.db").exists()


def test_a_full_disk_is_said_and_harms_nothing_that_is_there(tmp_path: Path) -> None:
    code = f"""
import resource, sys
sys.path.insert(0, {os.fspath(Path(__file__).parent)!r})
from test_state import HooklineError, StateDatabase, add
state = StateDatabase({os.fspath(tmp_path)!r})
add(state, "before")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    add(state, "after")
except HooklineError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cannot be used" in done.stdout
    assert count(StateDatabase(str(tmp_path))) == 1


def test_two_processes_lose_and_double_nothing(tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {os.fspath(Path(__file__).parent)!r})
from test_state import StateDatabase, add
state = StateDatabase({os.fspath(tmp_path)!r})
for number in range(20):
    add(state, f"{{sys.argv[1]}}-{{number}}")
    add(state, f"both-{{number}}")
"""
    running = [subprocess.Popen([sys.executable, "-c", code, name]) for name in ("one", "two")]
    assert [process.wait() for process in running] == [0, 0]
    with StateDatabase(str(tmp_path)).read() as connection:
        found = connection.execute("SELECT source FROM tool_calls").fetchall()
    assert len(found) == len({*found})
    assert len(found) == 60
