"""Rows that wait in a file beside a locked journal."""

import asyncio
import fcntl
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from hookline.store.journal import spill as spill_module
from hookline.store.journal.database import Row, make_row
from hookline.store.journal.spill import Spill
from hookline.store.journal.writer import JournalWriter, write_once
from support.journals import a_journal, all_rows, an_entry, until, write_all


def rows(count: int) -> list[Row]:
    return [make_row(an_entry()) for _ in range(count)]


def ids(rows: list[Row]) -> list[str]:
    return [row.columns[0] for row in rows]


def leave_behind(path: Path, rows: list[Row]) -> None:
    """Each in a file of its own, as processes do that answer one event."""
    for row in rows:
        spill = Spill(str(path))
        assert spill.add_to_file([row])


def older_file(path: Path, rows: list[Row]) -> Path:
    """As it was left by a hookline that added to one file again and again."""
    directory = Path(f"{path}-late")
    directory.mkdir(mode=0o700, exist_ok=True)
    file = directory / f"{1:020}-{0:08x}.v1"
    file.write_bytes(b"".join(spill_module._encode_record([row]) for row in rows))
    return file


def waiting(path: Path) -> list[str]:
    with Spill(str(path)).take_in() as found:
        return [columns[0] for columns in found.rows]


def files(path: Path) -> list[Path]:
    return sorted(Path(f"{path}-late").glob("*"))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_rows_of_a_process_that_goes_on_are_taken_in_by_the_next_to_write(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    spill, some = Spill(str(path)), rows(3)
    assert spill.add(some[:2], in_file=True) == "2 events wait in a file beside it"
    assert spill.add(some[2:], in_file=True) == "3 events wait in a file beside it"
    assert waiting(path) == ids(some)
    assert files(path) == [], "whoever took them has them"
    assert not spill.has_files()
    assert spill.count == 0


def test_a_file_that_somebody_adds_to_is_left_to_him(tmp_path: Path) -> None:
    """An older hookline keeps its file, and has it locked meanwhile."""
    path = tmp_path / "journal.db"
    some = rows(3)
    file = older_file(path, some)
    with open(file, "rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert waiting(path) == []
    assert waiting(path) == ids(some)
    assert files(path) == []


def test_rows_that_could_not_be_taken_stay(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    spill, some = Spill(str(path)), rows(2)
    spill.add_to_file(some)

    def in_vain() -> None:
        with Spill(str(path)).take_in():
            raise sqlite3.OperationalError("locked")

    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError):
            in_vain()
    assert waiting(path) == ids(some)


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    spill = Spill(str(path))
    spill.add_to_file(rows(1))
    (file,) = files(path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("cut", [1, 100])
def test_what_was_only_half_written_hides_nothing_before_it(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal.db"
    some = rows(3)
    file = older_file(path, some)
    os.truncate(file, file.stat().st_size - cut)
    assert waiting(path) == ids(some[:2])


@pytest.mark.parametrize(
    "damage",
    [bytes(4_000), b"\xff" * 4, b"\0\0\0\4\0\0\0\0abcd" * 9],
    ids=["zeros", "a length without end", "another sum"],
)
def test_what_nobody_can_read_is_kept_for_a_person_and_said(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "journal.db"
    some = rows(2)
    file = older_file(path, some)
    text = file.read_bytes()
    file.write_bytes(text[: len(text) // 2] + damage + text[len(text) // 2 + len(damage) :])
    writer = JournalWriter(str(path))
    said = writer.write_now(rows(1))
    writer.close()
    assert some[0].columns[0] in {each.id for each in all_rows(path)}
    if damage == b"\xff" * 4:
        assert (said, files(path)) == ("", []), "as if its writer had been killed"
    else:
        assert "has lost 1 events" in said
        (kept,) = files(path)
        assert kept.suffix == ".damaged"
        assert kept.stat().st_size >= len(text)


def test_a_write_that_failed_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    spill, some = Spill(str(path)), rows(3)
    assert spill.add_to_file(some[:1])

    def fails(*_: object) -> None:
        raise OSError("no more of this")

    for place, name in ((spill_module, "sync"), (os, "rename")):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, fails)
            assert not spill.add_to_file(some[1:2])
        assert len(files(path)) == 1
    assert spill.add_to_file(some[2:])
    assert waiting(path) == ids([some[0], some[2]])


def test_a_file_that_goes_while_others_are_counted_is_no_reason_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    other = Spill(str(path))
    other.add_to_file(rows(1))
    (file,) = files(path)
    really = os.scandir

    @contextmanager
    def and_gone(directory: str) -> Iterator[list[os.DirEntry[str]]]:
        with really(directory) as found:
            entries = list(found)
        file.unlink()
        yield entries

    spill, some = Spill(str(path)), rows(1)
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", and_gone)
        assert spill.add_to_file(some)
    assert waiting(path) == ids(some)


def test_ours_are_among_the_first_to_be_taken_in(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_once(str(path), an_entry())
    older = rows(40)
    leave_behind(path, older)
    own = rows(1)
    writer = JournalWriter(str(path))
    with locked(path):
        writer.write_now(own)
    assert writer.spill.count == 1
    writer.write_now(())
    assert writer.spill.count == 0
    assert own[0].columns[0] in {each.id for each in all_rows(path)}
    while writer.look_after():
        pass
    writer.close()
    assert set(ids(older)) <= {each.id for each in all_rows(path)}


def test_nothing_goes_into_a_journal_that_was_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    writer, spill, some = JournalWriter(str(path)), Spill(str(path)), rows(5)
    writer.write(rows(1))
    spill.add_to_file(some)
    for name in tmp_path.glob("journal.db*"):
        if name.is_file():
            name.unlink()
    assert not writer.look_after()
    assert len(files(path)) == 1
    assert "was removed while in use" in writer.write(rows(1))
    writer.close()
    assert set(ids(some)) <= {each.id for each in all_rows(path)}


def test_a_file_goes_only_when_what_was_in_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    writer, some = JournalWriter(str(path)), rows(1)
    writer.write(rows(1))
    leave_behind(path, some)

    def fails(path: str) -> None:
        assert len(files(Path(path))) == 1, "it is there until then"
        raise OSError("the disk does not answer")

    with monkeypatch.context() as patched:
        patched.setattr("hookline.store.journal.writer.sync_log", fails)
        assert not writer.look_after()
    assert len(files(path)) == 1
    assert writer.look_after()
    writer.close()
    assert files(path) == []
    assert set(ids(some)) <= {each.id for each in all_rows(path)}


def test_events_are_written_again_as_soon_as_what_waited_was_taken_in(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    writer, (waited, after) = JournalWriter(str(path)), rows(2)
    writer.write(rows(1))
    with locked(path):
        writer.write_now([waited])
    assert writer.look_after()
    assert writer.write([after]) == "", "though it was said to be locked a moment ago"
    writer.close()
    assert set(ids([waited, after])) <= {each.id for each in all_rows(path)}


def test_a_daemon_without_events_takes_in_all_of_many(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    some = rows(60)
    leave_behind(path, some)

    async def main() -> None:
        async with a_journal(path) as journal:
            await journal.write(an_entry())
            await until(lambda: not files(path))

    asyncio.run(main())
    assert set(ids(some)) <= {each.id for each in all_rows(path)}


def test_what_is_no_file_of_ours_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    spill, some = Spill(str(path)), rows(1)
    spill.add_to_file(some)
    (file,) = files(path)
    (file.parent / "a directory.v1").mkdir()
    os.mkfifo(file.parent / "a pipe.v1")
    (file.parent / "a link.v1").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(file.read_bytes())
    (file.parent / "nonsense").write_bytes(b"\xff" * 50)
    (file.parent / "of another schema.v0").write_bytes(file.read_bytes())
    assert waiting(path) == ids(some)
    assert (tmp_path / "elsewhere").exists()
    assert len(files(path)) == 5


def test_where_no_file_can_be_made_the_rows_are_said_not_to_be_safe(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Path(f"{path}-late").touch()
    assert not Spill(str(path)).add_to_file(rows(1))


def test_files_that_nobody_takes_in_do_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.store.journal.spill._MOST_FILES", 2)
    path = tmp_path / "journal.db"
    said = []
    for _ in range(3):
        spill = Spill(str(path))
        said.append(spill.add_to_file(rows(1)))
    assert said == [True, True, False]
    assert len(files(path)) == 2


def test_bytes_that_nobody_takes_in_do_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.store.journal.spill._FULL", 1_000)
    monkeypatch.setattr("hookline.store.journal.spill._LOOK_EVERY", 1)
    monkeypatch.setattr("hookline.store.journal.spill._MOST_BYTES", 4_000)
    path = tmp_path / "journal.db"
    spill, some = Spill(str(path)), rows(50)
    kept = [spill.add_to_file([row]) for row in some]
    assert 0 < kept.count(True) < 50
    assert sum(file.stat().st_size for file in files(path)) < 6_000
    found: list[str] = []
    while more := waiting(path):
        found += more
    assert found == ids([row for row, safe in zip(some, kept, strict=True) if safe])


def test_many_files_are_taken_in_a_few_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    some = rows(150)
    leave_behind(path, some)
    found: list[str] = []
    turns = 0
    while more := waiting(path):
        found += more
        turns += 1
    assert found == ids(some), "in the order in which they came"
    assert turns == 3


def test_where_descriptors_are_few_all_is_taken_in(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    some = rows(300)
    leave_behind(path, some)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        said = {write_once(str(path), an_entry()) for _ in range(20)}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert said == {""}
    assert set(ids(some)) <= {each.id for each in all_rows(path)}
    assert files(path) == []


def test_a_row_that_cannot_be_put_into_a_file_holds_nobody_up(tmp_path: Path) -> None:
    spill = Spill(str(tmp_path / "journal.db"))
    strange = structs.replace(rows(1)[0], columns=("\udcff",))
    assert not spill.add_to_file([strange])
    assert spill.add_to_file(rows(1))


def test_more_than_memory_holds_is_safe_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.store.journal.spill._FULL", 50_000)
    monkeypatch.setattr("hookline.store.journal.spill._MOST_MEMORY", 30_000)
    path = tmp_path / "journal.db"
    write_once(str(path), an_entry())
    some = [make_row(an_entry(payload=b"x" * 20_000)) for _ in range(20)]
    writer = JournalWriter(str(path))
    with locked(path):
        said = [writer.write_now([row]) for row in some]
        assert all("in a file beside it" in each and "lost" not in each for each in said)
    while writer.spill.count or files(path):
        assert writer.write_now(()) == ""
        writer.look_after()
    writer.close()
    assert set(ids(some)) <= {each.id for each in all_rows(path)}


def test_of_what_waits_in_memory_the_oldest_is_lost_first_and_counted(tmp_path: Path) -> None:
    some = [make_row(an_entry(payload=bytes(1_000_000)), payload_cap=2 << 20) for _ in range(20)]
    spill = Spill(str(tmp_path / "journal.db"))
    said = [spill.add([row], in_file=False) for row in some]
    assert said[0] == "1 events wait in memory"
    assert said[-1] == "16 events wait in memory, 4 are lost"
    assert (list(spill.held), spill.count, spill.lost) == (some[4:], 16, 4)
    spill.forget_held()
    assert spill.count == 0
    assert files(tmp_path / "journal.db") == []


def test_what_can_be_kept_nowhere_is_said_to_be_lost_by_one_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_once(str(path), an_entry())
    Path(f"{path}-late").touch()
    entry = an_entry()
    with locked(path):
        assert f"event {entry.id} is lost to it" in write_once(str(path), entry)


def test_the_next_to_open_the_journal_takes_them_in(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    first, second, third = an_entry(), an_entry(), an_entry()
    write_once(str(path), first)
    with locked(path):
        warning = write_once(str(path), second)
    assert "1 events wait in a file beside it" in warning
    assert [each.id for each in all_rows(path)] == [first.id]
    assert write_once(str(path), third) == ""
    assert [each.id for each in all_rows(path)] == [first.id, second.id, third.id]
    assert files(path) == []


def test_one_that_has_it_open_takes_them_in_when_it_looks_after_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    writer, (own,), entry = JournalWriter(str(path)), rows(1), an_entry()
    writer.write([own])
    with locked(path):
        write_once(str(path), entry)
        writer.look_after()
        assert len(files(path)) == 1, "nothing is lost while it is locked"
    writer.look_after()
    writer.close()
    assert [each.id for each in all_rows(path)] == [own.columns[0], entry.id]
    assert files(path) == []


def test_rows_that_are_in_both_are_taken_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entry = an_entry()
    spill = Spill(str(path))
    spill.add_to_file([make_row(entry)])
    write_all(path, [entry])
    assert [each.id for each in all_rows(path)] == [entry.id]


# Answers while the journal is locked, until it is killed.
_DAEMON = """
import asyncio, os, sys, time
sys.path[:0] = sys.argv[2:]
from hookline.store.journal.group_commit import SqliteJournal
from support.journals import an_entry

async def main():
    journal = SqliteJournal(sys.argv[1])
    while True:
        entry = an_entry()
        await journal.write(entry)
        os.write(1, f"{entry.id}\\n".encode())
        await asyncio.sleep(0.001)

asyncio.run(main())
"""


def test_what_was_answered_while_the_journal_was_locked_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_once(str(path), an_entry())
    answered: list[str] = []
    support = str(Path(__file__).parents[3])
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}
    with locked(path):
        process = subprocess.Popen([sys.executable, "-c", _DAEMON, str(path), support], **options)
        assert process.stdout is not None
        with process.stdout:
            answered += [process.stdout.readline().strip() for _ in range(50)]
            process.send_signal(signal.SIGKILL)
            answered += process.stdout.read().split()
        process.wait()
    write_once(str(path), an_entry())
    assert set(answered) <= {each.id for each in all_rows(path)}
