"""Taking a turn back: which files change, which do not, and who may say so."""

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.builtin import snapshot
from hookline.git import find_repository
from hookline.model.answers import PASS
from hookline.model.events import TurnEnd, TurnStart
from hookline.model.ports import Caller
from hookline.snapshots import (
    HalfDone,
    Page,
    Plan,
    Shadow,
    SnapshotError,
    make_plan,
    pages,
    undo,
)
from support.cli import Done, Machine

YES = {"HOOKLINE_TRUST": "all"}


class Work:
    """A work tree in which an agent's turns are kept."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.root = machine.project
        (self.root / ".git").rmdir()
        subprocess.run(["git", "init", "-q", str(self.root)], check=True, env=machine.env)
        self.write(a="one", b="one")

    def write(self, **files: str | None) -> None:
        for name, text in files.items():
            path = self.root / name
            path.unlink() if text is None else path.write_text(text)

    def read(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.root.iterdir() if path.is_file()}

    def turn(self, session: str = "s1", **files: str | None) -> None:
        """A turn in which an agent writes files, or deletes them."""
        self.during(lambda: self.write(**files), session)

    def during(self, change: Callable[[], object], session: str = "s1") -> None:
        keys: dict[str, Any] = {"cwd": str(self.root), "session_id": session}
        caller = Caller(env=self.machine.env, home=str(self.machine.state))
        answering = snapshot.make(snapshot.Options())
        assert answering(TurnStart(**keys), caller) == PASS
        change()
        assert answering(TurnEnd(**keys), caller) == PASS

    def shadow(self, **keys: Any) -> Shadow:
        folder = str(self.machine.state / "snapshot")
        repository = find_repository(str(self.root))
        assert repository is not None
        return Shadow(folder, repository, env=self.machine.env, **keys)

    def undo(self, *words: str) -> Done:
        return self.machine.call("undo", "--yes", *words, **YES)


class Again:
    """A person who has been shown what the last undoing would do, and now says yes."""

    def __init__(self, work: Work, **keys: Any) -> None:
        self.shadow = work.shadow(**keys)
        self.points = next(pages(self.shadow.directory)).checkpoints[-1:]
        self.shown: Plan = make_plan(self.shadow, self.points)

    def undo(self) -> None:
        page = Page(self.shadow.directory, "s1")
        undo(self.shadow, page, self.points, self.shown, again=False)


@pytest.fixture(name="work")
def _work(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Work:
    return Work(Machine(tmp_path.resolve(), capfdbinary))


def test_an_agents_prompt_and_stop_keep_what_its_turn_changed(work: Work) -> None:
    machine = work.machine
    machine.trust("version: 1\nhooks: [{use: snapshot, on: [user_prompt_submit, stop]}]\n")
    common = {"session_id": "s1", "cwd": str(work.root)}
    assert machine.hook({"event": "user_prompt_submit", "prompt": "go", **common}).code == 0
    work.write(a="two")
    assert machine.hook({"event": "stop", **common}).code == 0
    assert work.undo("--json").json == {"session": "s1", "files": {"a": "M"}}
    assert work.read()["a"] == "one"


def test_a_turn_is_taken_back_whatever_it_did(work: Work) -> None:
    work.turn(a="two", b=None, c="new")
    assert work.read() == {"a": "two", "c": "new"}
    done = work.undo()
    assert done.code == 0
    assert done.out.splitlines()[:3] == ["put back   a", "bring back b", "remove     c"]
    assert work.read() == {"a": "one", "b": "one"}


def test_turns_are_taken_back_one_by_one_and_can_be_had_again(work: Work) -> None:
    work.turn(a="two")
    work.turn(a="three", c="new")
    work.undo()
    assert work.read() == {"a": "two", "b": "one"}
    work.undo()
    assert work.read() == {"a": "one", "b": "one"}
    assert "nothing to undo" in work.undo().err
    work.undo("--redo")
    work.undo("--redo")
    assert work.read() == {"a": "three", "b": "one", "c": "new"}
    assert "nothing to redo" in work.undo("--redo").err


def test_a_session_can_be_reset_to_a_number_of_turns(work: Work) -> None:
    work.turn(a="two")
    work.turn(a="three", b=None, c="new")
    work.turn(c="newer", d="new")
    done = work.undo("--keep", "1", "--json")
    assert done.json["files"] == {"a": "M", "b": "D", "c": "A", "d": "A"}
    assert work.read() == {"a": "two", "b": "one"}
    assert work.undo("--keep", "5").out == "nothing to undo\n"
    work.undo("--keep", "0")
    assert work.read() == {"a": "one", "b": "one"}
    for _ in range(3):
        work.undo("--redo")
    assert work.read() == {"a": "three", "c": "newer", "d": "new"}
    assert "leave --keep out" in work.undo("--redo", "--keep", "1").err


def test_files_that_the_turn_did_not_touch_stay(work: Work) -> None:
    work.turn(a="two")
    work.write(b="mine", d="mine")
    work.undo()
    assert work.read() == {"a": "one", "b": "mine", "d": "mine"}


def test_files_that_somebody_else_changed_since_are_not_overwritten(work: Work) -> None:
    work.turn(a="two", b="two", c="new")
    work.write(a="mine", c="mine too")
    done = work.undo()
    assert done.code == 1
    assert "nothing was undone: `a`, `c` changed after the turn" in done.err
    assert work.read() == {"a": "mine", "b": "two", "c": "mine too"}


def test_files_that_another_session_changed_since_are_not_overwritten(work: Work) -> None:
    work.turn("s1", a="two", b="two")
    work.turn("s2", a="three")
    assert "`a` changed after the turn" in work.undo("--session", "s1").err
    assert work.read() == {"a": "three", "b": "two"}
    work.undo("--session", "s2")
    assert work.undo("--session", "s1").code == 0
    assert work.read() == {"a": "one", "b": "one"}


def test_what_was_changed_between_two_turns_is_not_overwritten(work: Work) -> None:
    work.turn(a="two")
    work.write(a="mine")
    work.turn(a="three")
    assert "`a` changed after the turn" in work.undo("--keep", "0").err
    work.undo()
    assert work.read()["a"] == "mine"
    assert "`a` changed after the turn" in work.undo().err
    assert work.read()["a"] == "mine"


def test_what_was_changed_after_undoing_is_not_overwritten_by_redoing(work: Work) -> None:
    work.turn(a="two", b="two")
    work.undo()
    work.write(b="mine")
    assert "`b` changed after the turn" in work.undo("--redo").err
    assert work.read() == {"a": "one", "b": "mine"}


def test_what_a_person_has_taken_back_by_hand_is_no_obstacle(work: Work) -> None:
    work.turn(a="two", b="two", c="new")
    work.write(a="one", c=None)
    done = work.undo("--json")
    assert (done.code, done.json["files"]) == (0, {"b": "M"})
    assert work.read() == {"a": "one", "b": "one"}


def test_what_is_overwritten_by_force_is_kept(work: Work) -> None:
    work.turn(a="two", c="new")
    work.write(a="mine", c="mine too")
    work.undo("--force")
    assert work.read() == {"a": "one", "b": "one"}
    work.undo("--redo")
    assert work.read() == {"a": "mine", "b": "one", "c": "mine too"}
    work.undo("--force")
    assert work.read() == {"a": "one", "b": "one"}


def count_git(work: Work, tmp_path: Path) -> Callable[[], list[str]]:
    """Counts the processes of git from now on; what they were asked is in the order they began."""
    real = shutil.which("git", path=work.machine.env["PATH"])
    (tmp_path / "counting").mkdir()
    counting, log = tmp_path / "counting" / "git", tmp_path / "counted"
    counting.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{log}\nexec {real} "$@"\n')
    counting.chmod(0o755)
    work.machine.env["PATH"] = f"{counting.parent}:{work.machine.env['PATH']}"
    return lambda: log.read_text().splitlines()


@pytest.mark.parametrize("turns", [1, 10])
def test_a_thousand_files_are_undone_with_at_most_twenty_processes_of_git(
    work: Work, tmp_path: Path, turns: int
) -> None:
    names = [f"f{number}" for number in range(1_000)]
    work.write(**dict.fromkeys(names[:500], "before"))
    each = len(names) // turns
    for number in range(turns):
        work.turn(**dict.fromkeys(names[number * each : (number + 1) * each], "after"))
    counted = count_git(work, tmp_path)
    done = work.undo("--keep", "0")
    assert done.code == 0
    assert len(done.out.splitlines()) == 1_001
    assert len(counted()) <= 20
    assert work.read() == {"a": "one", "b": "one", **dict.fromkeys(names[:500], "before")}
    for _ in range(turns):
        assert work.undo("--redo").code == 0
    assert work.read() == {"a": "one", "b": "one", **dict.fromkeys(names, "after")}


def test_a_file_that_cannot_be_kept_is_not_removed(work: Work) -> None:
    work.turn(c="new")
    work.write(c=None)
    work.turn("s2", a="two")
    work.write(**{"c": "mine", ".gitignore": "c"})
    assert "`c` changed after the turn" in work.undo("--session", "s1").err
    assert work.undo("--session", "s1", "--force").code == 0
    assert work.read()["c"] == "mine"


def test_a_file_that_grew_since_is_kept_as_it_is_now(work: Work) -> None:
    work.turn(c="new")
    work.write(c="x" * (3 << 20))
    work.undo("--force")
    assert "c" not in work.read()
    work.undo("--redo")
    assert len(work.read()["c"]) == 3 << 20


def test_nothing_outside_the_work_tree_is_removed_through_a_link(
    work: Work, tmp_path: Path
) -> None:
    def change() -> None:
        (work.root / "inner").mkdir()
        (work.root / "inner" / "x").write_text("new")

    work.during(change)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("precious")
    (work.root / "inner" / "x").unlink()
    (work.root / "inner").rmdir()
    (work.root / "inner").symlink_to(outside)
    work.undo()
    assert (outside / "x").read_text() == "precious"


def test_the_last_session_counts_unless_one_is_named(work: Work) -> None:
    work.turn("s1", a="two")
    work.turn("s2", b="two")
    assert work.undo("--session", "s1", "--json").json == {"session": "s1", "files": {"a": "M"}}
    assert work.undo("--json").json == {"session": "s2", "files": {"b": "M"}}
    assert "nothing of the session `s3` to undo" in work.undo("--session", "s3").err


def test_a_new_turn_ends_what_could_be_had_again(work: Work) -> None:
    work.turn(a="two")
    work.undo()
    work.turn(b="two")
    assert "nothing to redo" in work.undo("--redo").err


def test_only_a_person_may_undo(work: Work) -> None:
    work.turn(a="two")
    assert work.machine.call("undo", "--yes").code == 1
    assert work.machine.call("undo", CLAUDECODE="1").code == 1
    assert work.read()["a"] == "two"


def test_modes_and_bytes_come_back_as_they_were(work: Work) -> None:
    script = work.root / "run.sh"
    script.write_bytes(b"#!/bin/sh\r\n\xff")
    script.chmod(0o755)
    work.during(script.unlink)
    work.undo()
    assert script.read_bytes() == b"#!/bin/sh\r\n\xff"
    assert os.access(script, os.X_OK)


def test_what_could_be_undone_is_listed(work: Work) -> None:
    list_all = work.machine.call("snapshots")
    assert list_all.out == "nothing is kept of this work tree; `use: snapshot` keeps it\n"
    work.turn(a="two", c="c", d="d", e="e")
    lines = work.machine.call("snapshots").out.splitlines()
    assert lines[0] == "session s1"
    assert lines[1].endswith("4 files: a, c, d and 1 more")
    (row,) = work.machine.call("snapshots", "--json").json
    assert (row["session"], row["checkpoints"][0]["files"]["c"]["before"]) == ("s1", "")


def test_outside_a_work_tree_there_is_nothing_to_undo(work: Work, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = work.machine.call("undo", cwd=tmp_path / "elsewhere")
    assert done.code == 1
    assert "in no git work tree" in done.err


def test_a_checkpoint_whose_content_is_gone_is_refused_and_changes_nothing(work: Work) -> None:
    work.turn(a="two")
    (shadow,) = (work.machine.state / "snapshot").iterdir()
    (page,) = (shadow / "sessions").iterdir()
    (point,) = work.machine.call("snapshots", "--json").json[0]["checkpoints"]
    kept = point["files"]["a"]["before"].split()[1]
    page.write_text(page.read_text().replace(kept, "0" * 40))
    done = work.undo()
    assert done.code == 1
    assert "nothing was undone" in done.err
    assert work.read()["a"] == "two"


def test_a_directory_that_took_a_files_place_makes_way_for_it_again(work: Work) -> None:
    def replaced() -> None:
        (work.root / "a").unlink()
        (work.root / "a" / "deep").mkdir(parents=True)
        (work.root / "a" / "deep" / "new").write_text("new")

    work.during(replaced)
    assert work.undo().code == 0
    assert work.read() == {"a": "one", "b": "one"}
    assert work.undo("--redo").code == 0
    assert (work.root / "a" / "deep" / "new").read_text() == "new"


def test_a_link_that_took_a_directorys_place_makes_way_for_it_again(
    work: Work, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "f").write_text("not ours")
    (work.root / "folder").mkdir()
    (work.root / "folder" / "f").write_text("one")

    def linked() -> None:
        (work.root / "folder" / "f").unlink()
        (work.root / "folder").rmdir()
        (work.root / "folder").symlink_to(tmp_path / "elsewhere")

    work.during(linked)
    assert work.undo().code == 0
    assert not (work.root / "folder").is_symlink()
    assert (work.root / "folder" / "f").read_text() == "one"
    assert (tmp_path / "elsewhere" / "f").read_text() == "not ours"


def test_a_link_to_a_directory_makes_way_for_the_file_that_it_replaced(
    work: Work, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere" / "empty").mkdir(parents=True)

    def linked() -> None:
        (work.root / "a").unlink()
        (work.root / "a").symlink_to(tmp_path / "elsewhere")

    work.during(linked)
    assert work.undo().code == 0
    assert work.read() == {"a": "one", "b": "one"}
    assert (tmp_path / "elsewhere" / "empty").is_dir()
    assert work.undo("--redo").code == 0
    assert (work.root / "a").is_symlink()


def test_directories_that_undoing_empties_go_with_their_last_file(work: Work) -> None:
    (work.root / "old").mkdir()
    (work.root / "old" / "stays").write_text("one")

    def made() -> None:
        for folder in ("new/deep", "old/deep"):
            (work.root / folder).mkdir(parents=True)
            (work.root / folder / "f").write_text("new")

    work.during(made)
    assert work.undo().code == 0
    assert sorted(
        path.name for path in work.root.rglob("*") if path.is_dir() and ".git" not in str(path)
    ) == ["old"]
    assert work.undo("--redo").code == 0
    assert (work.root / "new" / "deep" / "f").read_text() == "new"


def test_a_file_that_only_its_owner_may_read_stays_so(work: Work) -> None:
    (work.root / "a").chmod(0o600)
    work.turn(a="two")
    (work.root / "a").chmod(0o600)
    assert work.undo().code == 0
    assert work.read()["a"] == "one"
    assert (work.root / "a").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", ["large", "ignored", "in a directory", "behind a link"])
def test_what_a_person_has_put_in_a_deleted_files_place_is_not_lost(
    work: Work, what: str, tmp_path: Path
) -> None:
    (work.root / ".gitignore").write_text("*.mine\n")
    (work.root / "d").mkdir()
    (work.root / "d" / "x.mine").write_text("one")
    subprocess.run(
        ["git", "-C", str(work.root), "add", "-f", "d/x.mine"], check=True, env=work.machine.env
    )
    gone = work.root / "a"
    work.turn(a=None)
    if what == "large":
        gone.write_bytes(b"x" * (3 << 20))
    elif what == "ignored":
        (work.root / ".gitignore").write_text("a\n")
        gone.write_text("mine")
    elif what == "in a directory":
        gone.mkdir()
        (gone / "notes.mine").write_text("mine")
    else:
        gone.symlink_to(tmp_path)
        (work.root / ".gitignore").write_text("a\n")
    before = sorted(str(path) for path in work.root.rglob("*"))
    done = work.undo("--force")
    assert done.code != 0
    assert "`a`" in done.err
    assert "nothing was undone" in done.err
    assert sorted(str(path) for path in work.root.rglob("*")) == before


def test_a_turn_that_ended_while_the_person_was_asked_is_not_undone_for_another(
    work: Work,
) -> None:
    work.turn(a="two")
    again = Again(work)
    work.turn(b="two")
    with pytest.raises(SnapshotError, match="another turn"):
        again.undo()
    assert work.read() == {"a": "two", "b": "two"}


def test_a_file_that_changed_while_the_person_was_asked_is_not_overwritten(work: Work) -> None:
    work.turn(a="two")
    again = Again(work)
    work.write(a="mine")
    with pytest.raises(SnapshotError, match="meanwhile"):
        again.undo()
    assert work.read()["a"] == "mine"


def test_what_the_persons_own_git_ignores_everywhere_is_not_kept_by_undoing(work: Work) -> None:
    home = Path(work.machine.env["HOME"])
    (home / "ignored").write_text("*.private\n")
    (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {home / 'ignored'}\n")
    work.turn(a="two")
    work.write(**{"k.private": "mine"})
    assert work.undo().code == 0
    words = ["git", "--git-dir", f"{work.shadow().directory}/git", "ls-files"]
    kept = subprocess.run(words, capture_output=True, check=True, text=True, env=work.machine.env)
    assert kept.stdout.split() == ["a", "b"]


def test_a_person_may_think_for_as_long_as_they_like(work: Work) -> None:
    work.turn(a="two")
    now = [0.0]
    again = Again(work, clock=lambda: now[0])
    now[0] = 3600.0
    again.undo()
    assert work.read()["a"] == "one"


def test_what_was_there_can_be_had_again_when_undoing_stops_half_way(work: Work) -> None:
    # Long enough that git sees what is wrong with it only on the way.
    first = random.Random(1).randbytes(100_000).hex()
    work.write(a=first)
    work.turn(a="two", c="new")
    again = Again(work)
    words = ["git", "hash-object", "--stdin"]
    name = subprocess.run(words, input=first, capture_output=True, check=True, text=True)
    folder = Path(again.shadow.directory, "git/objects", name.stdout[:2])
    blob = folder / name.stdout[2:].strip()
    blob.chmod(0o600)
    blob.write_bytes(blob.read_bytes()[:-4] + b"evil")
    with pytest.raises(HalfDone, match="--redo --force"):
        again.undo()
    assert "c" not in work.read()
    assert work.undo("--redo", "--force").code == 0
    assert work.read() == {"a": "two", "b": "one", "c": "new"}
