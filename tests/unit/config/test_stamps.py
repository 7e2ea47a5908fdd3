"""Files that were looked at once are known to be the same, or not to be, without reading them."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.config.reading import stamp_of
from hookline.config.stamps import Stamps

LATER = 60.0


def seen(*paths: Path, ahead: float = LATER) -> Stamps:
    """By a clock that is ahead, so that no directory is too young for its stamp to be relied on."""
    stamps = {str(path): stamp_of(str(path)) for path in paths}
    return Stamps(stamps, clock=lambda: time.time() + ahead)


def in_another_tick(directory: Path, change: Callable[[], object]) -> None:
    """Makes a change that the clock of the file system can tell from the last one."""
    before, probe = directory.stat().st_mtime_ns, directory.parent / "probe"
    while not probe.exists() or probe.stat().st_mtime_ns <= before:
        probe.write_bytes(b"")
    change()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


def way_in(project: Path) -> list[Path]:
    return [project / "hookline.yaml", project / ".hookline/hookline.yaml"]


def test_they_hold_while_nothing_changes(project: Path) -> None:
    (project / "there").write_bytes(b"x")
    stamps = seen(project / "there", *way_in(project))
    assert [stamps.hold() for _ in range(3)] == [True, True, True]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("ahead", [0.0, LATER], ids=["young", "settled"])
def test_a_file_that_comes_is_seen(project: Path, which: int, ahead: float) -> None:
    stamps = seen(*way_in(project), ahead=ahead)
    assert stamps.hold()
    path = way_in(project)[which]

    def come() -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"version: 1\n")

    in_another_tick(project, come)
    assert not stamps.hold()


def test_a_file_that_comes_in_the_same_tick_is_seen_in_a_young_directory(project: Path) -> None:
    stamps = seen(*way_in(project), ahead=0.0)
    assert stamps.hold()
    (project / "hookline.yaml").write_bytes(b"version: 1\n")
    assert not stamps.hold()


def test_a_file_that_comes_between_the_look_and_the_first_question_is_seen(project: Path) -> None:
    stamps = seen(*way_in(project))
    (project / "hookline.yaml").write_bytes(b"version: 1\n")
    assert not stamps.hold()


def test_other_files_that_come_and_go_change_nothing(project: Path) -> None:
    stamps = seen(*way_in(project))
    for number in range(3):
        in_another_tick(project, (project / f"other{number}").touch)
        assert stamps.hold()
    in_another_tick(project, (project / "hookline.yaml").touch)
    assert not stamps.hold()


@pytest.mark.parametrize(
    "change",
    [lambda path: path.write_bytes(b"longer"), os.unlink, lambda path: path.chmod(0o640)],
    ids=["edited", "gone", "another mode"],
)
def test_a_file_that_changes_is_seen(project: Path, change: Callable[[Path], object]) -> None:
    path = project / "there"
    path.write_bytes(b"x")
    path.chmod(0o600)
    stamps = seen(path)
    assert stamps.hold()
    change(path)
    assert not stamps.hold()


def test_a_link_that_leads_nowhere_is_seen_to_lead_somewhere(project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    (project / "hookline.yaml").symlink_to(elsewhere / "hookline.yaml")
    (project / ".hookline").symlink_to(elsewhere)
    stamps = seen(*way_in(project))
    assert stamps.hold()
    elsewhere.mkdir()
    (elsewhere / "hookline.yaml").write_bytes(b"version: 1\n")
    assert not stamps.hold()


def test_another_directory_in_place_of_one_is_seen_by_what_is_in_it(project: Path) -> None:
    stamps = seen(*way_in(project))
    assert stamps.hold()
    other = project.parent / "other"
    other.mkdir()
    (other / "hookline.yaml").write_bytes(b"version: 1\n")
    os.rename(project, project.parent / "old")
    os.rename(other, project)
    assert not stamps.hold()


def test_a_directory_that_goes_and_comes_back_with_a_file_is_seen(project: Path) -> None:
    stamps = seen(*way_in(project))
    assert stamps.hold()
    shutil.rmtree(project)
    assert stamps.hold()
    project.mkdir()
    (project / "hookline.yaml").write_bytes(b"version: 1\n")
    assert not stamps.hold()
