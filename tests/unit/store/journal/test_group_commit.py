"""Many events at once into one file, which is committed before an answer leaves."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from hookline.model.events import SessionEnd
from hookline.model.journal import Journal, JournalSettings
from hookline.store.journal import database
from hookline.store.journal.group_commit import SqliteJournal
from hookline.store.journal.upkeep import Retention, Upkeep
from hookline.store.journal.writer import BriefJournal, JournalWriter, write_once
from support.journals import a_journal, all_rows, an_entry, secret, shell, until, write_all

Durability = Literal["normal", "full"]
DURABILITIES: list[Durability] = ["normal", "full"]


@contextmanager
def commits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many rows each transaction had."""
    seen: list[int] = []
    whole = JournalWriter._insert

    def counted(self: JournalWriter, rows: list[object]) -> None:
        whole(self, rows)  # type: ignore[arg-type]
        seen.append(len(rows))

    with monkeypatch.context() as patch:
        patch.setattr(JournalWriter, "_insert", counted)
        yield seen


@pytest.mark.parametrize("durability", DURABILITIES)
def test_what_was_written_is_seen_by_others_at_once(tmp_path: Path, durability: Durability) -> None:
    path = tmp_path / "journal.db"

    async def main() -> None:
        async with a_journal(path, JournalSettings(durability=durability)) as journal:
            for count in range(1, 6):
                assert await journal.write(an_entry()) == ""
                assert len(all_rows(path)) == count

    asyncio.run(main())


@pytest.mark.parametrize("durability", DURABILITIES)
def test_events_of_one_moment_share_a_commit(
    tmp_path: Path, durability: Durability, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(64)]

    async def main() -> None:
        async with a_journal(path, JournalSettings(durability=durability)) as journal:
            said = await asyncio.gather(*(journal.write(each) for each in entries))
        assert said == [""] * 64

    with commits(monkeypatch) as seen:
        asyncio.run(main())
    assert seen == ([1, 63] if durability == "normal" else [64])
    assert [each.id for each in all_rows(path)] == [each.id for each in entries]


def statements(journal: SqliteJournal) -> list[str]:
    """What is done from now on, each by its first word."""
    said: list[str] = []
    connection = journal._writer._connection
    assert connection is not None
    connection.set_trace_callback(lambda statement: said.append(statement.split()[0]))
    return said


def test_one_event_is_one_statement_and_many_are_one_transaction(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(7)]

    async def main() -> None:
        async with a_journal(path) as journal:
            await journal.write(entries[0])
            said = statements(journal)
            await asyncio.sleep(0)
            assert await journal.write(entries[1]) == ""
            assert said == ["INSERT"]
            await asyncio.sleep(0)
            said.clear()
            await asyncio.gather(*(journal.write(each) for each in entries[2:]))
            assert said == ["INSERT", "BEGIN", *["INSERT"] * 4, "COMMIT"]

    asyncio.run(main())
    assert [each.id for each in all_rows(path)] == [each.id for each in entries]


def test_the_same_event_and_attempt_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entry = an_entry()
    again = an_entry(id=entry.id, payload=b"another")
    second = an_entry(id=entry.id, attempt=2)
    assert write_all(path, [entry, again, second, entry]) == [""] * 4
    assert write_once(str(path), entry) == ""
    rows = all_rows(path)
    assert [(each.id, each.attempt) for each in rows] == [(entry.id, 1), (entry.id, 2)]
    assert rows[0].payload == entry.payload


@pytest.mark.parametrize("durability", DURABILITIES)
def test_nobody_else_may_read_the_files(tmp_path: Path, durability: Durability) -> None:
    path = tmp_path / "journal" / "journal.db"
    old = os.umask(0)
    try:

        async def main() -> None:
            async with a_journal(path, JournalSettings(durability=durability)) as journal:
                await journal.write(an_entry())
                modes = {
                    name.name: stat.S_IMODE(name.stat().st_mode) for name in path.parent.iterdir()
                }
                assert modes == dict.fromkeys(
                    ("journal.db", "journal.db-wal", "journal.db-shm"), 0o600
                )
                assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

        asyncio.run(main())
        write_once(str(tmp_path / "once" / "journal.db"), an_entry())
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "once" / "journal.db").stat().st_mode) == 0o600


def test_a_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry()])
    path.chmod(0o644)
    write_all(path, [an_entry()])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_in_the_journals_place_is_refused(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "journal.db", tmp_path / "elsewhere"
    elsewhere.touch()
    path.symlink_to(elsewhere)
    (warning,) = write_all(path, [an_entry()])
    assert "is not a file of this user's" in warning
    assert elsewhere.read_bytes() == b""


def contents(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir()}


def test_secrets_are_never_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entry = an_entry(shell(f"curl -H 'Authorization: Bearer {secret}' example.com"))

    async def main() -> None:
        async with a_journal(path) as journal:
            await journal.write(entry)
            found.update(contents(tmp_path))

    found: dict[str, bytes] = {}
    asyncio.run(main())
    assert sorted(found) == ["journal.db", "journal.db-shm", "journal.db-wal"]
    for name, content in [*found.items(), *contents(tmp_path).items()]:
        assert secret.encode() not in content, name
        assert name != "journal.db-wal" or entry.id.encode() in content


def test_a_commit_is_synced_soon_and_the_end_of_a_session_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def sync(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        assert threading.current_thread() is not threading.main_thread(), "it waits for the disk"
        os.fdatasync(handle)

    monkeypatch.setattr(database, "sync", sync)
    path = tmp_path / "journal.db"

    async def main() -> None:
        async with a_journal(path) as journal:
            await journal.write(an_entry())
            await until(lambda: len(synced) == 1)
            monkeypatch.setattr("hookline.store.journal.group_commit.SYNC_EVERY", 3600.0)
            await journal.write(an_entry())
            await journal.write(an_entry(SessionEnd(session_id="s")))
            await until(lambda: len(synced) == 2)
        assert len(synced) == 3, "closing syncs, too"

    asyncio.run(main())
    assert set(synced) == {f"{path}-wal"}


def test_the_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    payload = os.urandom(60_000).hex().encode()

    async def main() -> None:
        async with a_journal(path, JournalSettings(payload_kb=256)) as journal:
            for number in range(600):
                await journal.write(an_entry(payload=payload))
                if number % 50 == 49:
                    await until(lambda: journal._keeping is None and not journal._dirty)
            log = os.stat(f"{path}-wal").st_size
            assert log < 40_000_000 < os.stat(path).st_size

    asyncio.run(main())


def test_a_row_that_no_database_takes_is_lost_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    fine, other = an_entry(), an_entry()
    said = write_all(path, [fine, an_entry(ns=2**70), other])
    assert said[0] == said[2] == ""
    assert "has lost 1 events" in said[1]
    assert [each.id for each in all_rows(path)] == [fine.id, other.id]


def test_among_many_of_one_moment_it_is_lost_alone_as_well(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry(ns=2**70 if number == 3 else 1) for number in range(6)]

    async def main() -> None:
        async with a_journal(path) as journal:
            said = await asyncio.gather(*(journal.write(each) for each in entries))
        assert said[0] == ""
        assert all("has lost 1 events" in each for each in said[1:])

    asyncio.run(main())
    assert [each.id for each in all_rows(path)] == [e.id for e in entries if e.ns == 1]


def test_where_each_commit_is_synced_nothing_is_left_to_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync(handle: int) -> None:
        raise AssertionError("all is on the disk already")

    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(20)]

    async def main() -> None:
        async with a_journal(path, JournalSettings(durability="full")) as journal:
            with monkeypatch.context() as patch:
                patch.setattr(database, "sync", sync)
                for entry in entries:
                    assert await journal.write(entry) == ""
                await until(lambda: journal._keeping is None and journal._timer is None)
                assert not journal._warning

    asyncio.run(main())
    assert [each.id for each in all_rows(path)] == [each.id for each in entries]


def test_to_open_a_journal_that_is_there_changes_nothing_in_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry()])
    before = path.read_bytes()
    connection = database.open_journal(str(path), full=False)
    settings = [
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "auto_vacuum")
    ]
    assert os.stat(f"{path}-wal").st_size == 0
    connection.close()
    assert path.read_bytes() == before
    assert settings == [database.PAGE, 2]


def test_while_another_process_writes_an_answer_waits_a_little_and_then_no_longer(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry()])
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    async def main() -> None:
        async with a_journal(path) as journal:
            await journal.write(an_entry())
            other.execute("BEGIN IMMEDIATE")
            ending = threading.Timer(0.02, other.execute, ["ROLLBACK"])
            ending.start()
            assert await journal.write(an_entry()) == ""
            ending.join()

            other.execute("BEGIN IMMEDIATE")
            warning = await journal.write(an_entry())
            assert "another process has it locked" in warning
            assert "1 events wait in a file beside it" in warning
            other.execute("ROLLBACK")
            await until(lambda: not journal._writer.spill.count)

    asyncio.run(main())
    other.close()
    assert len(all_rows(path)) == 4


def test_a_cancelled_write_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(3)]

    async def main() -> None:
        async with a_journal(path) as journal:
            tasks = [asyncio.create_task(journal.write(each)) for each in entries]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert {each.id for each in all_rows(path)} == {each.id for each in entries}


def test_closing_writes_what_still_waits(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(5)]

    async def main() -> list[str]:
        journal = SqliteJournal(str(path))
        tasks = [asyncio.create_task(journal.write(each)) for each in entries]
        await asyncio.sleep(0)
        await journal.aclose()
        return await asyncio.gather(*tasks)

    assert asyncio.run(main()) == [""] * 5
    assert os.listdir(tmp_path) == ["journal.db"], "nothing is left in the log"
    assert len(all_rows(path)) == 5


def test_an_event_that_comes_after_closing_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry(), an_entry()]

    async def main() -> None:
        journal = SqliteJournal(str(path))
        await journal.write(entries[0])
        await journal.aclose()
        assert await journal.write(entries[1]) == ""
        await journal.aclose()

    asyncio.run(main())
    assert [each.id for each in all_rows(path)] == [each.id for each in entries]


def test_what_cannot_be_looked_at_for_secrets_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(raw: bytes) -> None:
        raise MemoryError("too much")

    path = tmp_path / "journal.db"
    lost, kept = an_entry(), an_entry()
    with monkeypatch.context() as patch:
        patch.setattr("hookline.store.journal.recording.find_secrets", broken)
        (warning,) = write_all(path, [lost])
        assert "has lost event" in write_once(str(path), lost)
    assert f"has lost event {lost.id}: MemoryError: too much" in warning
    write_all(path, [kept])
    assert [each.id for each in all_rows(path)] == [kept.id]


def test_upkeep_waits_for_its_turn_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    days = (9, 9, 9, 9, 1)
    write_all(path, [an_entry(at=datetime.now(UTC) - timedelta(days=each)) for each in days])
    careful = Upkeep(str(path), Retention(keep_days=1, max_bytes=1 << 30))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not careful.prune()
    careful.checkpoint()
    other.execute("ROLLBACK")
    other.close()
    assert careful.prune()
    careful.close()
    assert len(all_rows(path)) == 1


def test_both_are_journals(tmp_path: Path) -> None:
    journals: list[Journal] = [
        SqliteJournal(str(tmp_path / "a")),
        BriefJournal(str(tmp_path / "b")),
    ]

    async def main() -> None:
        for journal in journals:
            assert await journal.write(an_entry()) == ""
            await journal.aclose()

    asyncio.run(main())


def test_one_event_can_be_written_without_a_loop(tmp_path: Path) -> None:
    path = str(tmp_path / "journal" / "journal.db")
    entries = [an_entry() for _ in range(3)]
    for entry in entries:
        assert write_once(path, entry) == ""
    assert [each.id for each in all_rows(path)] == [each.id for each in entries]


# One event, written by a process that then ends without looking back.
ONCE = """
import os, sys
before = {*sys.modules}  # whatever measures this run has loaded some of its own
from datetime import UTC, datetime
from hookline.model.journal import Entry
from hookline.store.journal.writer import BriefJournal

entry = Entry(
    id=sys.argv[2], at=datetime.now(UTC), ns=1, dialect="codex", payload=os.urandom(9_000)
)
try:
    BriefJournal(sys.argv[1]).write(entry).send(None)
except StopIteration as said:
    unwanted = {"asyncio", "concurrent.futures", "json", "tempfile", "urllib.parse"}
    loaded = unwanted & ({*sys.modules} - before)
    os.write(1, f"{said.value}{sorted(loaded)}".encode())
os._exit(0)
"""


def test_processes_of_one_event_each_leave_a_log_that_the_next_goes_on_with(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.db"
    logs: list[int] = []
    for number in range(16):
        done = subprocess.run(
            [sys.executable, "-c", ONCE, str(path), f"event-{number}"],
            stdout=subprocess.PIPE,
            timeout=60,
            check=True,
        )
        assert done.stdout == b"[]", "no warning, and nothing loaded that is not needed"
        log = tmp_path / "journal.db-wal"
        logs.append(log.stat().st_size if log.exists() else 0)
        assert [each.id for each in all_rows(path)] == [f"event-{n}" for n in range(number + 1)]
    assert logs[0] > 0, "it is left as it is"
    assert 0 in logs, "and moved into the file when it is long"
    assert max(logs) < 400_000


def test_one_event_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_once(str(path), an_entry())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert "another process has it locked" in write_once(str(path), an_entry())
    other.close()
    (tmp_path / "file").touch()
    assert "cannot be written" in write_once(str(tmp_path / "file" / "journal.db"), an_entry())
