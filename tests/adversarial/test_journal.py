"""What becomes of the journal when processes are killed, disks fill up and files are damaged.

An event that was answered is in it; a verdict never waits for it nor fails with it; whatever is
wrong is said.
"""

import asyncio
import os
import random
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hookline.model.journal import JournalSettings
from hookline.store.journal.database import DAMAGED, PAGE
from hookline.store.journal.group_commit import SqliteJournal
from hookline.store.journal.reader import JournalReader
from hookline.store.journal.writer import write_once
from support.journals import a_journal, all_rows, an_entry, until, write_all

# Writes until it is killed, several events at once, and says the id of each when it is written.
WRITER = """
import asyncio, os, sys, time
from datetime import UTC, datetime
from hookline.model.events import PreToolUse
from hookline.model.journal import Entry, JournalSettings
from hookline.store.journal.group_commit import SqliteJournal

async def agent(journal, until):
    while time.monotonic() < until:
        entry = Entry(
            id=os.urandom(16).hex(), at=datetime.now(UTC), ns=1, dialect="codex",
            event=PreToolUse(session_id="s"), payload=os.urandom(700).hex().encode(),
        )
        said = await journal.write(entry)
        os.write(1, f"{entry.id} {said}\\n".encode())
        await asyncio.sleep(0)

async def main():
    path, durability, seconds = sys.argv[1:]
    journal = SqliteJournal(path, JournalSettings(durability=durability))
    until = time.monotonic() + float(seconds)
    await asyncio.gather(*(agent(journal, until) for _ in range(8)))
    await journal.aclose()

asyncio.run(main())
"""


@contextmanager
def writing(
    path: Path, durability: str = "normal", seconds: float = 60.0
) -> Iterator["subprocess.Popen[bytes]"]:
    argv = [sys.executable, "-c", WRITER, str(path), durability, str(seconds)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def said_by(output: bytes) -> dict[str, str]:
    """What was said of each event; a line that was cut off was not said."""
    lines = output.decode().split("\n")[:-1]
    return {line[:32]: line[33:] for line in lines}


def sound(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["normal", "full"])
def test_what_was_answered_is_there_after_a_kill_at_any_instant(
    tmp_path: Path, durability: str
) -> None:
    path = tmp_path / "journal.db"
    answered: dict[str, str] = {}
    rounds = 16
    for number in range(rounds):
        with writing(path, durability) as process:
            assert process.stdout is not None
            # At any instant after its first word, counted in what it has written by then.
            wanted = random.Random(number).randrange(1, 40_000)
            output = b""
            while len(output) < wanted:
                piece = os.read(process.stdout.fileno(), wanted - len(output))
                assert piece, "it ended by itself"
                output += piece
            process.kill()
            output += process.stdout.read()
        answered |= said_by(output)
        stored = {each.id for each in all_rows(path)}
        lost = set(answered) - stored
        assert not lost, f"round {number}: {len(lost)} of {len(answered)}"
    assert sound(path)
    assert len(answered) > 10 * rounds
    assert set(answered.values()) == {""}


def test_two_processes_write_one_journal_and_neither_loses_anything(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with writing(path, seconds=1.5) as one, writing(path, seconds=1.5) as two:
        first, _ = one.communicate(timeout=60)
        second, _ = two.communicate(timeout=60)
    assert (one.returncode, two.returncode) == (0, 0)
    said = said_by(first) | said_by(second)
    assert {each.id for each in all_rows(path)} == set(said)
    assert sound(path)


def test_a_daemon_and_processes_that_come_and_go_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(20)]
    with writing(path, seconds=2) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        for entry in entries:
            assert write_once(str(path), entry) == ""
        output, _ = process.communicate(timeout=60)
    assert {each.id for each in entries} | set(said_by(output)) <= {e.id for e in all_rows(path)}


def damaged_at(path: Path, offset: int, content: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(content)


def set_aside(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"{DAMAGED}*.db"))


@pytest.mark.parametrize(
    "content", [b"not a database at all", b"\0" * 20_000, bytes(range(256)) * 9]
)
def test_what_is_no_database_is_set_aside_and_a_new_one_begun(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    entry = an_entry()
    (warning,) = write_all(path, [entry])
    (aside,) = set_aside(tmp_path)
    assert f"the old one is {aside}" in warning
    assert aside.read_bytes() == content
    assert [each.id for each in all_rows(path)] == [entry.id]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_wherever_a_page_is_damaged_new_events_are_kept_and_no_write_fails(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    write_all(whole, [an_entry(payload=os.urandom(3_000)) for _ in range(30)])
    size = whole.stat().st_size
    said = 0
    for number in range(60):
        directory = tmp_path / str(number)
        directory.mkdir()
        path = Path(shutil.copy(whole, directory / "journal.db"))
        at = random.Random(number).randrange(size - 600)
        damaged_at(path, at, random.Random(number).randbytes(600))
        entries = [an_entry() for _ in range(10)]

        warnings = write_all(path, entries)

        damage = [each for each in warnings if each]
        assert all("was damaged" in each for each in damage), damage
        assert len(damage) == len(set_aside(directory)) <= 1
        said += len(damage)
        kept = sqlite3.connect(path)
        newest = "SELECT id FROM events NOT INDEXED ORDER BY seq DESC LIMIT 10"
        ids = {each for (each,) in kept.execute(newest)}
        kept.close()
        after = [index for index, each in enumerate(warnings) if each] or [0]
        assert {each.id for each in entries[after[0] :]} <= ids
    assert said, "some of it is where new events go"


def test_damage_under_a_running_journal_is_noticed_and_outlived(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    last = an_entry()

    async def main() -> None:
        async with a_journal(path) as journal:
            for _ in range(20):
                await journal.write(an_entry())
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            other.close()
            damaged_at(path, 0, b"\xff" * os.stat(path).st_size)
            # What it has in memory it still believes, until it has to look.
            said = [await journal.write(an_entry()) for _ in range(200)]
            assert await journal.write(last) == ""
        assert any("was damaged" in each for each in said) or not any(said)

    asyncio.run(main())
    write_once(str(path), last)
    assert last.id in {each.id for each in all_rows(path)}


def test_damage_that_only_retention_runs_into_sets_the_journal_aside(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    old = datetime.now(UTC) - timedelta(days=20)
    entries = [an_entry(at=old, payload=b"%04d" % number * 800) for number in range(50)]
    write_all(path, entries)
    page = path.read_bytes().index(entries[3].payload[:400]) // PAGE
    damaged_at(path, page * PAGE, b"\xff" * PAGE)
    first, second = an_entry(), an_entry()
    said: list[str] = []

    async def main() -> None:
        async with a_journal(path, JournalSettings(keep_days=10)) as journal:
            said.append(await journal.write(first))
            await until(lambda: set_aside(tmp_path))
            await until(lambda: journal._warning)
            said.append(await journal.write(second))

    asyncio.run(main())
    assert said[0] == "", "new events go elsewhere in the file"
    assert "was damaged" in said[1]
    (aside,) = set_aside(tmp_path)
    assert str(aside) in said[1]
    assert [each.id for each in all_rows(path)] == [second.id]


def test_damaged_journals_do_not_fill_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    for number in range(6):
        for name in tmp_path.glob("journal.db*"):
            name.unlink()
        path.write_bytes(f"nonsense {number} ".encode() * 100)
        write_once(str(path), an_entry())
    kept = [each.read_bytes().split()[1] for each in set_aside(tmp_path)]
    assert kept == [b"3", b"4", b"5"]


def test_a_journal_that_is_removed_while_in_use_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "journal.db"
    first, second, third = an_entry(), an_entry(), an_entry()

    async def main() -> None:
        async with a_journal(path) as journal:
            assert await journal.write(first) == ""
            shutil.rmtree(path.parent)
            assert "was removed while in use" in await journal.write(second)
            assert await journal.write(third) == ""

    asyncio.run(main())
    assert [each.id for each in all_rows(path)] == [second.id, third.id]


def test_a_log_that_is_removed_while_in_use_is_noticed_at_the_next_event(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(4)]

    async def main() -> None:
        async with a_journal(path) as journal:
            for entry in entries[:2]:
                assert await journal.write(entry) == ""
            os.unlink(f"{path}-wal")
            assert "its log was removed while in use" in await journal.write(entries[2])
            assert await journal.write(entries[3]) == ""

    asyncio.run(main())
    (aside,) = set_aside(tmp_path)
    assert [each.id for each in all_rows(aside)] == [each.id for each in entries[:2]]
    assert [each.id for each in all_rows(path)] == [each.id for each in entries[2:]]


def test_a_log_that_another_took_the_place_of_is_noticed_soon_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry()]
    said: list[str] = []

    async def main() -> None:
        async with a_journal(path) as journal:
            assert await journal.write(entries[0]) == ""
            shutil.copy(f"{path}-wal", tmp_path / "other")
            os.rename(tmp_path / "other", f"{path}-wal")
            async with asyncio.timeout(30):
                while not any(said):
                    entries.append(an_entry())
                    said.append(await journal.write(entries[-1]))
                    await asyncio.sleep(0.005)

    asyncio.run(main())
    assert "its log was removed while in use" in said[-1]
    (aside,) = set_aside(tmp_path)
    assert {each.id for each in (*all_rows(aside), *all_rows(path))} == {e.id for e in entries}


def test_a_directory_that_cannot_be_made_is_a_warning_until_it_can(tmp_path: Path) -> None:
    blocker = tmp_path / "home"
    blocker.touch()
    path = blocker / "journal" / "journal.db"
    entries = [an_entry() for _ in range(3)]

    async def main() -> None:
        async with a_journal(path) as journal:
            for number, entry in enumerate(entries[:2]):
                warning = await journal.write(entry)
                assert "cannot be written: Not a directory" in warning
                assert f"{number + 1} events wait in memory" in warning
            tries = journal._writer._pause
            await until(lambda: journal._writer._pause > tries)  # once more in vain
            blocker.unlink()
            await until(lambda: not journal._writer.spill.count)
            assert await journal.write(entries[2]) == ""

    asyncio.run(main())
    assert [each.id for each in all_rows(path)] == [each.id for each in entries]


# The largest file that a process may write; a disk that is full says the same in other words.
LIMITED = """
import asyncio, os, resource, sys
from datetime import UTC, datetime
from hookline.model.journal import Entry
from hookline.store.journal.group_commit import SqliteJournal

def entry():
    return Entry(
        id=os.urandom(16).hex(), at=datetime.now(UTC), ns=1, dialect="codex", payload=bytes(3000)
    )

async def main():
    journal = SqliteJournal(sys.argv[1])
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
    for number in range(400):
        one = entry()
        os.write(1, f"{one.id} {await journal.write(one)}\\n".encode())
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await journal.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize("limit", [0, 10_000, 300_000])
def test_a_file_that_may_not_grow_costs_warnings_and_no_event_that_memory_can_hold(
    tmp_path: Path, limit: int
) -> None:
    path = tmp_path / "journal.db"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(limit)],
        capture_output=True,
        timeout=60,
        check=True,
    )
    said = said_by(done.stdout)
    warnings = [each for each in said.values() if each]
    assert len(said) == 400
    assert warnings
    assert all("cannot be written" in each and "not affected" in each for each in warnings)
    assert {each.id for each in all_rows(path)} == set(said)
    assert sound(path)


@contextmanager
def small_disk(directory: Path, options: str) -> Iterator[Path]:
    directory.mkdir()
    mount = shutil.which("mount") or "mount"
    if (
        os.geteuid()
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", options, "tmpfs", directory], check=False
        ).returncode
    ):
        pytest.skip("a disk of its own can be mounted by root only")
    try:
        yield directory
    finally:
        subprocess.run([shutil.which("umount") or "umount", "-l", directory], check=True)


def fill(path: Path) -> None:
    with suppress(OSError), open(path, "wb", buffering=0) as file:
        for _ in range(100_000):
            file.write(bytes(1_000))


def remount(disk: Path, how: str) -> None:
    subprocess.run([shutil.which("mount") or "mount", "-o", f"remount,{how}", disk], check=True)


def test_a_full_disk_is_a_warning_and_all_is_written_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "size=2m") as disk:
        path = disk / "journal.db"
        ballast = disk / "ballast"
        ids: list[str] = []

        async def main() -> list[str]:
            said = []
            async with a_journal(path) as journal:
                said.append(await journal.write(an_entry()))
                fill(ballast)
                for _ in range(100):
                    entry = an_entry(payload=os.urandom(2_000))
                    ids.append(entry.id)
                    said.append(await journal.write(entry))
                os.unlink(ballast)
                await until(lambda: not journal._writer.spill.count)
                said.append(await journal.write(an_entry()))
            return said

        first, *full, last = asyncio.run(main())
        assert first == last == ""
        assert any("cannot be written: database or disk is full" in each for each in full)
        assert set(ids) <= {each.id for each in all_rows(path)}
        assert sound(path)


def test_a_disk_that_became_read_only_is_a_warning(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "size=8m") as disk:
        path = disk / "journal.db"
        first, second, third = an_entry(), an_entry(), an_entry()

        async def main() -> None:
            journal = SqliteJournal(str(path))
            assert await journal.write(first) == ""
            await journal.aclose()
            remount(disk, "ro")
            async with a_journal(path) as journal:
                assert "cannot be written" in await journal.write(second)
                with JournalReader(str(path)) as reader:
                    assert len(reader.query()) == 1, "what is there can still be read"
                remount(disk, "rw")
                await until(lambda: not journal._writer.spill.count)
                assert await journal.write(third) == ""

        asyncio.run(main())
        assert [each.id for each in all_rows(path)] == [first.id, second.id, third.id]


def test_more_than_memory_may_hold_is_lost_and_counted(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "journal.db"

    async def main() -> str:
        async with a_journal(path, JournalSettings(payload_kb=1024)) as journal:
            for _ in range(39):
                await journal.write(an_entry(payload=bytes(1_000_000)))
            return await journal.write(an_entry())

    warning = asyncio.run(main())
    assert "17 events wait in memory, 23 are lost" in warning


def test_a_frozen_process_that_holds_the_journal_delays_nobody_for_long(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry()])
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
            "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(60)",
            str(path),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGSTOP)
        entries = [an_entry() for _ in range(20)]

        async def main() -> list[str]:
            async with a_journal(path) as journal:
                said = [await journal.write(each) for each in entries]
                holder.kill()
                await until(lambda: not journal._writer.spill.count)
                return said

        said = asyncio.run(main())
        assert "another process has it locked" in said[0]
        assert {each.id for each in entries} <= {each.id for each in all_rows(path)}
    finally:
        holder.kill()
        holder.wait()
        assert holder.stdout is not None
        holder.stdout.close()


def test_the_files_of_this_test_can_be_as_large_as_the_disk() -> None:
    """Otherwise the limits above would be somebody else's."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
