"""What a judge may look at: the project's own text files."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.handlers._judge.looking import Looking
from hookline.model.errors import HandlerUnavailable


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git/config").write_text("needle")
    (root / "src/a.py").write_text("one\ntwo needle\nthree\n")
    (root / "b.txt").write_text("needle\n")
    (root / "bytes").write_bytes(b"needle\0")
    (tmp_path / "outside").write_text("needle")
    (root / "link").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "pipe")
    return root


def look(project: Path, name: str, /, **arguments: Any) -> str:
    return Looking(str(project), str(project / "src"), time.monotonic() + 60).use(name, arguments)


def test_a_file_is_read_with_its_line_numbers(project: Path) -> None:
    assert look(project, "Read", file_path="a.py") == "1\tone\n2\ttwo needle\n3\tthree"
    assert look(project, "Read", file_path="../b.txt") == "1\tneedle"
    assert look(project, "Read", file_path=str(project / "src/a.py"), offset=3) == "3\tthree"
    assert look(project, "Read", file_path="a.py", offset=2, limit=1) == "2\ttwo needle"


@pytest.mark.parametrize("path", ["../../outside", "/etc/passwd", "../link", "x\0y"])
def test_nothing_outside_of_the_project_is_shown(project: Path, path: str) -> None:
    found = look(project, "Read", file_path=path)
    assert found.startswith("Error:")
    assert "needle" not in found
    assert "Error:" in look(project, "Grep", pattern="needle", path=path)


@pytest.mark.parametrize("path", ["../pipe", "../bytes", "../src", "nowhere"])
def test_what_is_no_text_file_is_not_waited_for(project: Path, path: str) -> None:
    assert look(project, "Read", file_path=path).startswith("Error:")


def test_files_are_searched_and_listed_without_what_is_not_the_projects(project: Path) -> None:
    assert look(project, "Grep", pattern="ne+dle").splitlines() == [
        "b.txt:1:needle",
        "src/a.py:2:two needle",
    ]
    assert look(project, "Grep", pattern="needle", glob="*.py") == "src/a.py:2:two needle"
    assert look(project, "Glob", pattern="**/*.py") == "src/a.py"
    assert look(project, "Glob", pattern="*.txt") == "b.txt"
    assert look(project, "Glob", pattern="*.rs") == "(nothing found)"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {}),
        ("Read", {"file_path": 3}),
        ("Read", {"file_path": "a.py", "offset": 0}),
        ("Read", {"file_path": "a.py", "limit": "all"}),
        ("Grep", {"pattern": "("}),
        ("Grep", {"pattern": "\ud800"}),
        ("Glob", {"pattern": "*", "path": "\ud800"}),
        ("Read", {"file_path": "\ud800"}),
        ("Write", {"file_path": "a.py", "content": "x"}),
        ("Bash", {"command": "rm -rf ."}),
    ],
)
def test_a_mistake_in_using_a_tool_is_told_to_the_model(
    project: Path, name: str, arguments: Mapping[str, Any]
) -> None:
    found = look(project, name, **arguments)
    assert found.startswith(("Error:", "There is no tool"))
    assert (project / "src/a.py").read_text() == "one\ntwo needle\nthree\n"


def test_a_long_file_is_cut_and_says_so(project: Path) -> None:
    (project / "long.txt").write_text("x" * 400 + "\n" + "line of text\n" * 3_000)
    found = look(project, "Read", file_path="../long.txt")
    assert "cut" in found
    assert len(found) < 30_000


def test_a_part_of_a_secret_is_as_secret_as_the_whole(project: Path) -> None:
    line = "MIIEowIBAAKCAQEA" * 4
    kind = "RSA " + "PRIVATE KEY-----"
    key = f"-----BEGIN {kind}\n{line}\n{line}\n-----END {kind}\n"
    (project / "id.pem").write_text(f"first\n{key}last\n")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (project / "long.txt").write_text("x" * 480 + f" {token}\n")
    shown = [
        look(project, "Read", file_path="../id.pem", offset=2, limit=2),
        look(project, "Read", file_path="../id.pem", offset=3),
        look(project, "Grep", pattern="MIIE|last", path="../id.pem"),
        look(project, "Read", file_path="../long.txt"),
    ]
    assert not [text for text in shown if "MIIE" in text or "ghp_" in text]
    assert "id.pem:3:last" in shown[2]


@pytest.mark.parametrize("root", ["", "/", "//", "/.", "/usr/.."])
def test_the_whole_machine_is_no_project(root: str) -> None:
    with pytest.raises(HandlerUnavailable):
        Looking(root, "/", time.monotonic() + 60)


def test_looking_ends_when_its_time_is_up(project: Path) -> None:
    with pytest.raises(TimeoutError):
        Looking(str(project), str(project), time.monotonic() - 1).use("Grep", {"pattern": "x"})
