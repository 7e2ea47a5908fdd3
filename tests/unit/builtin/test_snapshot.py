"""Snapshots in real repositories: what is kept, and that nothing of the person's is touched."""

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline.builtin import snapshot
from hookline.model.answers import PASS, Answer
from hookline.model.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    TurnEnd,
    TurnStart,
    UserPromptSubmit,
)
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind
from hookline.snapshots import Checkpoint, Page

PATH = os.environ["PATH"]
answering = snapshot.make(snapshot.Options())


def git(directory: Path, *words: str) -> str:
    who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    env = {"PATH": PATH, "HOME": str(directory.parent)}
    command = ["git", "-C", str(directory), *who, *words]
    return subprocess.run(command, check=True, env=env, capture_output=True, text=True).stdout


@pytest.fixture(name="work")
def _work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    (work / "a.txt").write_text("one\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "first")
    return work


class Machine:
    """One person's machine: its state directory, and what is remembered there."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "state"
        self.env = {"PATH": PATH, "HOME": str(tmp_path)}

    def fire(self, event: Event) -> Answer:
        return answering(event, Caller(env=self.env, home=str(self.home)))

    def turn(self, work: Path, change: Any, session: str = "s1") -> list[Checkpoint]:
        """The checkpoints of a session after a turn in which something was changed."""
        keys: dict[str, Any] = {"cwd": str(work), "session_id": session}
        assert self.fire(TurnStart(**keys)) == PASS
        change()
        assert self.fire(TurnEnd(**keys)) == PASS
        return self.points(session)

    def points(self, session: str = "s1") -> list[Checkpoint]:
        return Page(str(self.shadow), session).read().checkpoints

    @property
    def shadow(self) -> Path:
        (found,) = (self.home / "snapshot").iterdir()
        return found

    def shown(self, point: Checkpoint, path: str) -> bytes:
        """What a file held before."""
        kept = point.files[path].before.split()[1]
        command = ["git", "--git-dir", str(self.shadow / "git"), "cat-file", "-p", kept]
        return subprocess.run(command, check=True, env=self.env, capture_output=True).stdout


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def letters(point: Checkpoint) -> dict[str, str]:
    return {path: change.how for path, change in point.files.items()}


def state_of(work: Path) -> dict[str, str]:
    """Every byte of a work tree, its index and its references included."""
    return {
        str(path.relative_to(work)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(work.rglob("*"))
        if path.is_file()
    }


def test_a_turn_that_changed_files_leaves_a_checkpoint_with_the_tree_before_it(
    machine: Machine, work: Path
) -> None:
    def change() -> None:
        (work / "a.txt").write_text("two\n")
        (work / "new.txt").write_text("new\n")

    (point,) = machine.turn(work, change)
    assert letters(point) == {"a.txt": "M", "new.txt": "A"}
    assert machine.shown(point, "a.txt") == b"one\n"


def test_a_turn_that_changed_nothing_leaves_none(machine: Machine, work: Path) -> None:
    assert machine.turn(work, lambda: None) == []


def test_the_persons_index_head_references_and_files_stay_as_they_are(
    machine: Machine, work: Path
) -> None:
    (work / "staged.txt").write_text("staged")
    git(work, "add", "staged.txt")
    (work / "loose.txt").write_text("loose")
    before = state_of(work)
    machine.turn(work, lambda: None)
    machine.fire(SessionEnd(cwd=str(work), session_id="s1"))
    assert state_of(work) == before


def test_what_git_ignores_is_left_out_wherever_it_is_said(machine: Machine, work: Path) -> None:
    (work / ".gitignore").write_text("*.log\n")
    (work / ".git" / "info" / "exclude").write_text("private/\n")
    everywhere = machine.home.parent / "ignore"
    everywhere.write_text("*.swp\n")
    (machine.home.parent / ".gitconfig").write_text(f"[core]\nexcludesFile = {everywhere}\n")
    git(work, "add", ".gitignore")

    def change() -> None:
        (work / "private").mkdir()
        for name in ("x.log", "private/x", "x.swp", "x.py"):
            (work / name).write_text("x")

    (point,) = machine.turn(work, change)
    assert letters(point) == {"x.py": "A"}


def test_new_files_above_two_mebibytes_are_left_out(machine: Machine, work: Path) -> None:
    def change() -> None:
        (work / "large").write_bytes(b"x" * (2 << 20 | 1))
        (work / "just").write_bytes(b"x" * (2 << 20))

    (point,) = machine.turn(work, change)
    assert letters(point) == {"just": "A"}


def test_a_file_that_was_only_left_out_is_not_taken_for_a_new_one(
    machine: Machine, work: Path
) -> None:
    (work / "large").write_bytes(b"x" * (3 << 20))
    (work / ".gitignore").write_text("secret\n")
    (work / "secret").write_text("mine")

    def change() -> None:
        (work / "large").write_bytes(b"x")
        (work / ".gitignore").write_text("")

    (point,) = machine.turn(work, change)
    # Going back must not delete what was there before.
    assert letters(point) == {".gitignore": "M"}


def test_bytes_are_kept_as_they_are_whatever_attributes_say(machine: Machine, work: Path) -> None:
    (work / ".gitattributes").write_text("* text=auto eol=lf filter=evil\n")
    git(work, "config", "filter.evil.clean", "touch ran; cat")
    (work / "crlf").write_bytes(b"a\r\nb\r\n")
    (point,) = machine.turn(work, lambda: (work / "crlf").write_bytes(b""))
    assert machine.shown(point, "crlf") == b"a\r\nb\r\n"
    assert not (work / "ran").exists()


def test_a_turn_is_compared_where_it_began(machine: Machine, work: Path) -> None:
    (work / "inner").mkdir()
    (work / "inner" / "x").write_text("x")
    (work / "outer").write_text("outer")
    assert machine.fire(TurnStart(cwd=str(work / "inner"), session_id="s1")) == PASS
    (work / "inner" / "x").write_text("y")
    (work / "outer").write_text("changed")
    assert machine.fire(TurnEnd(cwd=str(work), session_id="s1")) == PASS
    (point,) = machine.points()
    assert letters(point) == {"inner/x": "M"}


def tool(call: str) -> Tool:
    return Tool(kind=ToolKind.SHELL, name="shell", call_id=call)


@pytest.mark.parametrize("done", [PostToolUse, PostToolUseFailure])
def test_a_single_call_can_be_kept_too(machine: Machine, work: Path, done: Any) -> None:
    keys: dict[str, Any] = {"cwd": str(work), "session_id": "s1"}
    machine.fire(PreToolUse(tool=tool("t1"), **keys))
    (work / "a.txt").write_text("two")
    machine.fire(PreToolUse(tool=tool("t2"), **keys))
    (work / "b.txt").write_text("b")
    machine.fire(done(tool=tool("t2"), **keys))
    machine.fire(done(tool=tool("t1"), **keys))
    machine.fire(done(tool=tool("t1"), **keys))
    points = [(point.tool, letters(point)) for point in machine.points()]
    assert points == [("t2", {"b.txt": "A"}), ("t1", {"a.txt": "M", "b.txt": "A"})]


def test_a_turn_that_is_over_stands_for_its_single_calls(machine: Machine, work: Path) -> None:
    keys: dict[str, Any] = {"cwd": str(work), "session_id": "s1"}

    def call(name: str, text: str) -> None:
        machine.fire(PreToolUse(tool=tool(name), **keys))
        (work / "a.txt").write_text(text)
        machine.fire(PostToolUse(tool=tool(name), **keys))

    call("t0", "before the turn")
    machine.fire(TurnStart(**keys))
    call("t1", "two")
    call("t2", "three")
    assert [point.tool for point in machine.points()] == ["t0", "t1", "t2"]
    machine.fire(TurnEnd(**keys))
    assert [point.tool for point in machine.points()] == ["t0", ""]


def test_where_there_are_no_turns_a_prompt_and_a_stop_are_one(machine: Machine, work: Path) -> None:
    keys: dict[str, Any] = {"cwd": str(work), "session_id": "s1"}
    machine.fire(UserPromptSubmit(prompt="go", **keys))
    (work / "a.txt").write_text("two")
    machine.fire(Stop(**keys))
    assert [letters(point) for point in machine.points()] == [{"a.txt": "M"}]


def test_sessions_do_not_see_each_others_checkpoints(machine: Machine, work: Path) -> None:
    machine.turn(work, lambda: (work / "a.txt").write_text("two"), "s1")
    machine.turn(work, lambda: (work / "a.txt").write_text("three"), "../s2")
    assert (len(machine.points("s1")), len(machine.points("../s2"))) == (1, 1)


def test_checkpoints_outlive_their_session(machine: Machine, work: Path) -> None:
    (point,) = machine.turn(work, lambda: (work / "a.txt").write_text("two"))
    assert machine.fire(SessionEnd(cwd=str(work), session_id="s1")) == PASS
    assert machine.points() == [point]
    assert machine.shown(point, "a.txt") == b"one\n"


def test_names_that_are_no_text_and_repositories_inside_are_no_trouble(
    machine: Machine, work: Path
) -> None:
    inner = work / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x").write_text("x")
    odd = os.path.join(os.fsencode(work), b"\xff\nodd")

    def change() -> None:
        with open(odd, "w") as file:
            file.write("x")

    (point,) = machine.turn(work, change)
    assert letters(point) == {"%FF%0Aodd": "A"}


def test_an_index_that_was_left_locked_is_used_again(machine: Machine, work: Path) -> None:
    machine.turn(work, lambda: (work / "a.txt").write_text("two"))
    (machine.shadow / "git" / "index.lock").touch()
    assert len(machine.turn(work, lambda: (work / "a.txt").write_text("three"))) == 2


@pytest.mark.parametrize(
    "keys", [{"session_id": ""}, {"cwd": ""}, {"cwd": "/"}, {"cwd": "/nowhere/at/all"}]
)
def test_without_a_session_or_a_work_tree_nothing_happens(
    machine: Machine, work: Path, keys: dict[str, str]
) -> None:
    fields: dict[str, Any] = {"session_id": "s1", "cwd": str(work), **keys}
    assert machine.fire(SessionStart(**fields)) == PASS
    assert not machine.home.exists()


def test_without_git_nothing_happens(machine: Machine, work: Path, tmp_path: Path) -> None:
    machine.env["PATH"] = str(tmp_path)
    assert machine.fire(TurnStart(session_id="s1", cwd=str(work))) == PASS
    assert not machine.home.exists()


def test_a_snapshot_that_cannot_be_taken_is_said_and_stops_nothing(
    machine: Machine, work: Path
) -> None:
    machine.home.write_text("in the way")
    answer = machine.fire(PreToolUse(tool=tool("t"), session_id="s1", cwd=str(work)))
    assert answer.verdict is PASS.verdict
    assert "no snapshot was taken" in answer.notice[0]


def test_a_pipe_in_the_place_of_what_is_ignored_holds_nobody_up(
    machine: Machine, work: Path
) -> None:
    rules = work / ".git" / "info" / "exclude"
    rules.parent.mkdir(exist_ok=True)
    rules.unlink(missing_ok=True)
    os.mkfifo(rules)
    machine.turn(work, lambda: (work / "a.txt").write_text("two"))
    assert [letters(point) for point in machine.points()] == [{"a.txt": "M"}]


def put_in_the_way(machine: Machine, content: bytes) -> Path:
    """Makes git's `add` fail for a file with these bytes, and for no other."""
    name = hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()
    folder = machine.shadow / "git" / "objects" / name[:2]
    assert not folder.exists()
    folder.touch()
    return folder


def test_a_failed_add_is_no_snapshot_and_no_stale_one(machine: Machine, work: Path) -> None:
    keys: dict[str, Any] = {"cwd": str(work), "session_id": "s1"}
    machine.fire(SessionStart(**keys))
    blocked = put_in_the_way(machine, b"two\n")
    (work / "a.txt").write_text("two\n")
    answer = machine.fire(TurnStart(**keys))
    assert "no snapshot was taken: git cannot keep every file" in answer.notice[0]
    # Were the turn's tree that of the session's start, going back would lose what is there now.
    (work / "a.txt").write_text("three\n")
    blocked.unlink()
    machine.fire(TurnEnd(**keys))
    assert machine.points() == []


def test_a_failed_add_at_the_end_of_a_turn_leaves_no_checkpoint(
    machine: Machine, work: Path
) -> None:
    keys: dict[str, Any] = {"cwd": str(work), "session_id": "s1"}
    machine.fire(TurnStart(**keys))
    put_in_the_way(machine, b"two\n")
    (work / "a.txt").write_text("two\n")
    (work / "b.txt").write_text("b\n")
    assert "no snapshot" in machine.fire(TurnEnd(**keys)).notice[0]
    assert machine.points() == []


def test_what_git_cannot_read_is_left_out_and_not_taken_for_removed(
    machine: Machine, work: Path
) -> None:
    (work / "b.txt").write_text("b\n")

    def change() -> None:
        (work / "a.txt").unlink()
        os.mkfifo(work / "a.txt")
        (work / "b.txt").write_text("changed\n")

    (point,) = machine.turn(work, change)
    assert letters(point) == {"b.txt": "M"}
