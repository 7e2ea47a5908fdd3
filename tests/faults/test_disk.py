"""A disk that is full, a journal that is damaged: no verdict depends on either."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from support.faults import Said, World, world
from support.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")


def is_denied_by_the_rule(said: Said) -> bool:
    return said.blocks and "Nothing is removed here." in said.effect.reason


# Full


@contextmanager
def small_disk(at: Path, size: str) -> Iterator[None]:
    at.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(at)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(at)], timeout=60, check=True)


def filled(directory: Path) -> Path:
    """A file that takes all the room there is."""
    ballast = directory / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        for piece in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while file.write(bytes(piece)) == piece:
                    pass
    return ballast


@pytest.fixture
def tight(tmp_path: Path) -> Iterator[World]:
    """A world whose state is on a disk of its own."""
    with small_disk(tmp_path / "state", "2m"), world(tmp_path) as found:
        yield found


def test_on_a_full_disk_verdicts_stay_and_a_person_is_told_once_a_session(tight: World) -> None:
    daemon = tight.daemon()
    session, quiet = tight.session(), tight.session()
    assert not tight.ask("ls", session=session).blocks
    assert not tight.ask("ls", session=quiet).blocks
    ballast = filled(tight.state)
    said = [tight.ask(command, session=session) for command in ("rm -rf build", "ls") * 8]
    assert all(is_denied_by_the_rule(each) for each in said[::2])
    assert not any(each.blocks for each in said[1::2])
    told = [each.notice for each in said if "cannot be written" in each.notice]
    assert len(told) == 1, [each.reply for each in said]
    assert "Verdicts are not affected" in told[0]
    assert "full" in told[0]
    assert "cannot be written" in tight.ask("ls", session=quiet).notice
    ballast.unlink()
    # What had to wait is written without anybody's asking.
    written = eventually(
        lambda: (rows := tight.rows("session_id")).count((session,)) == 17 and rows
    )
    assert written.count((quiet,)) == 2
    assert tight.is_sound()
    assert tight.daemon().pid == daemon.pid
    assert not tight.ask("ls", session=session).notice


def test_a_session_that_begins_on_a_full_disk_is_never_judged_more_weakly(tight: World) -> None:
    tight.daemon()
    ballast = filled(tight.state)
    assert tight.ask("rm -rf build").blocks
    ballast.unlink()
    said = tight.ask("rm -rf build")
    assert is_denied_by_the_rule(said)


def test_with_no_daemon_and_a_full_disk_verdicts_stay(tight: World) -> None:
    session = tight.session()
    assert is_denied_by_the_rule(tight.ask(session=session))
    daemon = tight.daemon()
    filled(tight.state)
    os.kill(daemon.pid, signal.SIGKILL)
    eventually(lambda: daemon.pid not in tight.serving())
    said = tight.ask("rm -rf build", session=session)
    assert is_denied_by_the_rule(said)
    assert "cannot be written" in said.notice
    assert not tight.ask("ls", session=session).blocks


def test_a_daemon_that_may_write_no_more_says_so_once_and_catches_up_later(place: World) -> None:
    """What a full disk does, also where none can be mounted."""
    daemon = place.daemon()
    session = place.session()
    assert not place.ask("ls", session=session).blocks
    before = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    said = [place.ask(command, session=session) for command in ("rm -rf build", "ls") * 4]
    assert all(is_denied_by_the_rule(each) for each in said[::2])
    assert not any(each.blocks for each in said[1::2])
    assert ["cannot be written" in each.notice for each in said] == [True] + [False] * 7
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, before)
    eventually(lambda: place.rows("session_id").count((session,)) == 9)
    assert place.is_sound()
    assert place.daemon().pid == daemon.pid


def test_where_the_state_cannot_be_written_no_daemon_stays_and_verdicts_stay(
    tight: World,
) -> None:
    session = tight.session()
    assert not tight.ask("ls", session=session).blocks
    tight.stop()
    remount = ("mount", "-o", "remount,ro", str(tight.state))
    # A process that ends has no command line any more while its files are still open.
    eventually(lambda: subprocess.run(remount, capture_output=True, timeout=60).returncode == 0)
    for _ in range(2):
        said = tight.ask("rm -rf build", session=session)
        assert is_denied_by_the_rule(said)
        assert "cannot be written" in said.notice
        assert not tight.ask("ls", session=session).blocks
        # One that is new has a project that cannot be remembered.
        assert tight.ask("rm -rf build").blocks
    eventually(lambda: not tight.serving())


# Damaged


def scribbled(path: Path) -> None:
    """Noise in the place of every page but the first."""
    rng = random.Random(7)
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(rng.randbytes(max(size, 8192) - 100))


def no_database(path: Path) -> None:
    path.write_bytes(b"This is not a journal.\n" * 500)


def cut_off(path: Path) -> None:
    os.truncate(path, 2000)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


HARMS = (scribbled, no_database, cut_off, emptied)


def harmed(place: World, harm: Callable[[Path], None]) -> None:
    """The journal file and its log, both."""
    harm(Path(place.journal))
    log = Path(f"{place.journal}-wal")
    if log.exists():
        harm(log)


def recovered(place: World) -> None:
    """Every event is written again, into a journal that is whole."""
    said = [place.ask() for _ in range(3)]
    assert all(map(is_denied_by_the_rule, said))
    assert (said[-1].session,) in place.rows("session_id")
    assert place.is_sound()


@pytest.mark.parametrize("harm", HARMS)
def test_a_journal_damaged_before_the_start_is_set_aside_and_a_person_is_told(
    place: World, harm: Callable[[Path], None]
) -> None:
    place.daemon()
    for _ in range(5):
        place.ask()
    place.stop()
    harmed(place, harm)
    said = place.ask()
    assert is_denied_by_the_rule(said)
    if harm is not emptied:  # an empty file is a new journal, to anybody
        assert "damaged" in said.notice, said
        assert list(Path(place.journal).parent.glob("journal-damaged-*.db"))
    recovered(place)


@pytest.mark.parametrize("harm", HARMS)
def test_a_journal_damaged_under_the_daemon_is_set_aside_and_a_person_is_told(
    place: World, harm: Callable[[Path], None]
) -> None:
    daemon = place.daemon()
    for _ in range(5):
        place.ask()
    harmed(place, harm)
    told = ""
    for _ in range(200):
        said = place.ask()
        assert is_denied_by_the_rule(said)
        told = said.notice
        if "the journal was damaged" in told:
            break
    assert "the journal was damaged" in told
    assert list(Path(place.journal).parent.glob("journal-damaged-*.db"))
    recovered(place)
    assert place.daemon().pid == daemon.pid


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_whichever_file_of_the_journal_is_removed_it_is_written_again(
    place: World, end: str
) -> None:
    place.daemon()
    before = [place.ask().session for _ in range(5)]
    os.unlink(f"{place.journal}{end}")
    told = [place.ask() for _ in range(3)]
    assert all(map(is_denied_by_the_rule, told))
    assert end == "-shm" or "removed while in use" in told[0].notice
    recovered(place)
    for aside in Path(place.journal).parent.glob("journal-damaged-*.db"):
        with closing(sqlite3.connect(aside)) as connection:
            kept = connection.execute("SELECT session_id FROM events").fetchall()
        assert {(each,) for each in before} <= set(kept)


def test_a_journal_removed_under_the_daemon_is_begun_anew_and_a_person_is_told(
    place: World,
) -> None:
    place.daemon()
    shutil.rmtree(Path(place.journal).parent)
    said = place.ask()
    assert is_denied_by_the_rule(said)
    assert "removed" in said.notice
    recovered(place)
