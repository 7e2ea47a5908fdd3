"""Where nothing can be written every event is read all the same, those too in the log."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hookline.model.errors import HooklineError
from hookline.model.journal import Entry
from hookline.store.journal.reader import JournalReader
from hookline.store.journal.writer import write_once
from support.journals import an_entry

NOBODY = 65534


@pytest.fixture
def directory() -> Iterator[Path]:
    """One that somebody else than us can get to, unlike pytest's own."""
    made = Path(tempfile.mkdtemp(prefix="hookline-frozen-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)


@pytest.fixture
def copies(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made."""
    place = directory / "copies"
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@contextmanager
def frozen(directory: Path) -> Iterator[None]:
    """Nobody may write to the directory; root may anywhere, and becomes somebody else."""
    us = os.geteuid()
    if us == 0:
        for each in (directory.parent, directory, *directory.iterdir()):
            os.chown(each, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    directory.chmod(0o500)
    try:
        yield
    finally:
        directory.chmod(0o700)
        os.seteuid(us)


def left_by_a_writer(directory: Path, entries: list[Entry], *, in_log: int, ends: str) -> Path:
    """A journal as a writer leaves it that is stopped at once, with so many events in its log.

    ``ends`` names the files beside it that are there.
    """
    path, place = directory / "written" / "journal.db", directory / "journal"
    write_once(str(path), entries[0])
    with closing(sqlite3.connect(path, isolation_level=None)) as last:
        last.execute("PRAGMA wal_autocheckpoint = 0")
        last.execute("SELECT count(*) FROM events").fetchone()  # it keeps the log alive
        for number, entry in enumerate(entries[1:], 1):
            if number == len(entries) - in_log:
                last.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            write_once(str(path), entry)
        if not in_log:
            last.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        place.mkdir()
        for end in ("", *ends.split()):
            shutil.copy(f"{path}{end}", f"{place / 'journal.db'}{end}")
    return place / "journal.db"


def contents(path: Path) -> dict[str, bytes]:
    """Of what holds events; the third file is the readers', too."""
    files = (each for each in path.parent.iterdir() if not each.name.endswith("-shm"))
    return {each.name: each.read_bytes() for each in files}


@pytest.mark.parametrize(
    ("in_log", "ends"),
    [
        (2, "-wal"),
        (2, "-wal -shm"),
        (5, "-wal"),
        (5, "-wal -shm"),
        (0, ""),
        (0, "-wal"),
        (0, "-shm"),
        (0, "-wal -shm"),
    ],
)
def test_every_event_is_read(directory: Path, copies: Path, in_log: int, ends: str) -> None:
    entries = [an_entry() for _ in range(5)]
    path = left_by_a_writer(directory, entries, in_log=in_log, ends=ends)
    before = contents(path)
    with frozen(path.parent):
        with JournalReader(str(path)) as reader:
            found = [each.id for each in reversed(reader.query())]
            assert len(reader.query()) == 5
            assert reader.version() == reader.version()
            assert list(copies.iterdir()) == [], "no copy outlives us, even if we are killed"
        assert contents(path) == before
    assert found == [each.id for each in entries]


def test_a_link_to_a_journal_is_followed_to_its_log(directory: Path, copies: Path) -> None:
    entries = [an_entry() for _ in range(5)]
    path = left_by_a_writer(directory, entries, in_log=3, ends="-wal")
    link = directory / "link.db"
    link.symlink_to(path)
    with frozen(path.parent), JournalReader(str(link)) as reader:
        assert len(reader.query()) == 5


def test_a_copy_of_what_is_written_to_is_made_again(
    directory: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = left_by_a_writer(directory, [an_entry() for _ in range(5)], in_log=3, ends="-wal")
    real, copied = shutil.copyfile, []

    def meddled(source: str, to: str) -> str:
        copied.append(source)
        if len(copied) in {1, 3}:  # somebody writes between the two
            os.utime(f"{path}-wal", ns=(len(copied), len(copied)))
        return real(source, to)

    monkeypatch.setattr(shutil, "copyfile", meddled)
    with frozen(path.parent), JournalReader(str(path)) as reader:
        assert len(reader.query()) == 5
    assert len(copied) == 6


def test_what_nobody_may_read_is_not_said_to_need_a_copy(directory: Path, copies: Path) -> None:
    path = left_by_a_writer(directory, [an_entry() for _ in range(3)], in_log=2, ends="-wal")
    with frozen(path.parent):
        Path(f"{path}-wal").chmod(0)
        with pytest.raises(HooklineError, match="cannot be read") as raised:
            JournalReader(str(path))
    assert "TMPDIR" not in str(raised.value)


def test_what_cannot_be_copied_says_why_and_what_to_do(directory: Path, copies: Path) -> None:
    path = left_by_a_writer(directory, [an_entry() for _ in range(3)], in_log=2, ends="-wal")
    copies.rmdir()
    with frozen(path.parent), pytest.raises(HooklineError, match="none can be made") as raised:
        JournalReader(str(path))
    assert "TMPDIR" in str(raised.value)
    assert "damaged" not in str(raised.value)
