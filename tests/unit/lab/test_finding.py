"""The client a person has: where it is, which version, and how that compares with ours."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.finding import age, find
from hookline.lab.ports import Package, Program, Room
from hookline.lab.rooms import furnished_room
from hookline.model.errors import HooklineError

PACKAGE = Package(packages=("@maker/tool@1.2.3",), program="tool", command="tool")


@pytest.fixture
def room() -> Iterator[Room]:
    with furnished_room() as there:
        yield there


def put(directory: Path, body: str) -> Path:
    """A client that does this."""
    path = directory / "tool"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def found(room: Room, directory: Path, path: str | None = None) -> Program:
    """The client, with this directory alone on the person's PATH."""
    return find(PACKAGE, room=room, env={"PATH": str(directory)}, path=path)


def test_the_client_on_the_path_is_found_and_asked_for_its_version(
    room: Room, tmp_path: Path
) -> None:
    program = put(tmp_path, '[ "$1" = --version ] && echo "Tool v4.5.6-beta.1 (build 7)"')
    assert found(room, tmp_path) == Program(argv=(str(program),), version="4.5.6-beta.1")


def test_a_client_that_is_named_counts_before_the_path(room: Room, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    put(tmp_path, "echo 1.0.0")
    other = put(tmp_path / "other", "echo 2.0.0")
    assert found(room, tmp_path, str(other)).version == "2.0.0"


def test_a_client_is_asked_in_the_room_and_not_in_the_persons_home(
    room: Room, tmp_path: Path
) -> None:
    put(tmp_path, 'echo "1.0.0"; echo touched > "$HOME/mark"')
    found(room, tmp_path)
    assert Path(room.home, "mark").exists()
    assert not Path(os.environ["HOME"], "mark").exists()


def test_a_client_that_does_not_say_its_version_has_none(room: Room, tmp_path: Path) -> None:
    put(tmp_path, "echo tool of the future")
    assert found(room, tmp_path).version == ""


def test_a_client_that_is_not_on_the_path_is_missed_with_what_to_do(
    room: Room, tmp_path: Path
) -> None:
    with pytest.raises(HooklineError, match=r"no `tool` is on the PATH: install it .*--client"):
        found(room, tmp_path)


def test_a_named_client_that_is_not_there_or_no_program_is_refused(
    room: Room, tmp_path: Path
) -> None:
    with pytest.raises(HooklineError, match="there is no client at"):
        found(room, tmp_path, str(tmp_path / "none"))
    (tmp_path / "text").write_text("x", encoding="utf-8")
    with pytest.raises(HooklineError, match="is not executable"):
        found(room, tmp_path, str(tmp_path / "text"))


def test_a_client_that_crashes_when_asked_is_an_error_with_its_last_words(
    room: Room, tmp_path: Path
) -> None:
    put(tmp_path, "echo 'needs Node 22' >&2; exit 7")
    with pytest.raises(HooklineError, match="failed with exit code 7: needs Node 22"):
        found(room, tmp_path)


@pytest.mark.parametrize(
    ("version", "how"),
    [
        ("1.2.3", "same"),
        ("1.10.0", "newer"),
        ("1.2.3.1", "newer"),
        ("1.2.2", "older"),
        ("1.2.3-beta", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_version_is_compared_by_numbers_with_the_one_that_was_proven(
    version: str, how: str
) -> None:
    assert age(version, "1.2.3") == how
