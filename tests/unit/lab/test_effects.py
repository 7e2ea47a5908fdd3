"""What a session did to its project."""

import os
from pathlib import Path

from hookline.lab.playing import changes, snapshot


def test_files_that_were_added_changed_and_removed_are_told_apart(tmp_path: Path) -> None:
    for name in ("same", "other", "gone"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    before = snapshot(str(tmp_path))
    (tmp_path / "other").write_text("y", encoding="utf-8")
    (tmp_path / "gone").unlink()
    (tmp_path / "deep/down").mkdir(parents=True)
    (tmp_path / "deep/down/new").write_text("", encoding="utf-8")
    assert changes(before, snapshot(str(tmp_path))) == {
        "deep/down/new": "added",
        "gone": "removed",
        "other": "changed",
    }


def test_a_new_mode_and_a_link_elsewhere_are_changes(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to("here")
    (tmp_path / "folder").symlink_to("/")
    before = snapshot(str(tmp_path))
    assert before.keys() == {"run", "link", "folder"}  # a link is not gone into
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("there")
    assert changes(before, snapshot(str(tmp_path))) == {"link": "changed", "run": "changed"}


def test_gits_own_files_are_no_part_of_the_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("x", encoding="utf-8")
    assert snapshot(str(tmp_path)) == {}


def test_a_pipe_in_the_project_is_seen_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert list(snapshot(str(tmp_path))) == ["pipe"]
