"""Files with words for the model: the nearest on the way up, and the person's own."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert

from hookline.builtin import add_prompt_files
from hookline.model.events import TurnStart
from hookline.model.ports import Caller


@pytest.fixture
def project(tmp_path: Path) -> Path:
    inner = tmp_path / "home" / "project" / "src"
    inner.mkdir(parents=True)
    return inner


def told(project: Path, **options: Any) -> str:
    home = str(project.parent.parent)
    answer = add_prompt_files.make(convert(options, add_prompt_files.Options))
    return "".join(answer(TurnStart(cwd=str(project)), Caller(env={"HOME": home})).context)


def test_the_nearest_file_is_told_and_then_the_persons_own(project: Path) -> None:
    (project.parent / "AGENTS.md").write_text("of the project")
    (project.parent.parent / "AGENTS.md").write_text("of the person")
    assert told(project, files=["AGENTS.md"]) == "of the project\n\nof the person"
    (project / "AGENTS.md").write_text("of the folder")
    assert told(project, args=["AGENTS.md"]) == "of the folder\n\nof the person"


def test_a_file_that_is_both_is_told_once(project: Path) -> None:
    (project.parent.parent / "AGENTS.md").write_text("of the person")
    assert told(project, files=["AGENTS.md"]) == "of the person"


def test_several_names_are_told_in_their_order(project: Path) -> None:
    (project / "A.md").write_text("a")
    (project / "B.md").write_text("b")
    assert told(project, files=["B.md", "A.md", "missing.md"]) == "b\n\na"


def test_what_cannot_be_read_is_left_out(project: Path) -> None:
    os.mkfifo(project / "pipe.md")
    (project / "folder.md").mkdir()
    (project / "A.md").write_bytes(b"a\xff")
    assert told(project, files=["pipe.md", "folder.md", "A.md", "\0"]) == "a\ufffd"


def test_a_huge_file_is_cut(project: Path) -> None:
    (project / "A.md").write_bytes(b"a" * (add_prompt_files.CAP + 1))
    assert len(told(project, files=["A.md"])) == add_prompt_files.CAP


def test_no_names_from_docker_agent_are_nothing_to_tell(project: Path) -> None:
    assert told(project, args=[]) == ""


def test_without_any_name_the_config_is_refused() -> None:
    with pytest.raises(ValidationError, match="files"):
        convert({}, add_prompt_files.Options)
