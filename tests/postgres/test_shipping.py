"""Events of many machines arrive in one database: in order, each once, whatever happens."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from hookline.model.errors import HooklineError
from hookline.model.journal import JournalSettings
from hookline.store.journal import postgres
from hookline.store.journal.database import connect
from hookline.store.journal.group_commit import SqliteJournal
from hookline.store.journal.postgres import (
    PG_MIGRATIONS,
    PostgresReader,
    ShippingMachine,
    watermark,
)
from hookline.store.journal.reader import Filter
from hookline.store.journal.writer import write_once
from support.journals import a_journal, all_rows, an_entry, shipped, until, write_all
from support.postgres import Server


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries again soon: the tests' server is away for moments, not for hours."""
    monkeypatch.setattr(postgres, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(postgres, "_LAST_PAUSE", 0.05)


def shipping(server: Server) -> JournalSettings:
    return JournalSettings(dsn=server.dsn("journal"))


def arrived(server: Server) -> list[str]:
    """The ids over there, in their order."""
    try:
        found = server.execute("SELECT id FROM hookline.events ORDER BY seq", "journal")
    except subprocess.CalledProcessError:
        return []
    return found.split()


def count(server: Server) -> Callable[[], int]:
    return lambda: len(arrived(server))


def test_events_arrive_in_order_and_whole(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry(payload=f'{{"number": {number}}}'.encode()) for number in range(700)]

    async def main() -> None:
        async with a_journal(path, shipping(server)) as journal:
            for entry in entries:
                assert await journal.write(entry) == ""
            await shipped(path, server.dsn("journal"))

    asyncio.run(main())
    assert arrived(server) == [each.id for each in entries]
    local = all_rows(path)
    with PostgresReader(server.dsn("journal")) as reader:
        remote = reader.query(Filter(after_seq=0, limit=1_000))
    for mine, theirs in zip(local, remote, strict=True):
        for name in mine.__struct_fields__:
            if name not in {"seq", "machine"}:
                assert getattr(mine, name) == getattr(theirs, name), name
    assert {each.machine for each in remote} == {os.uname().nodename}


def test_two_machines_write_one_journal(server: Server, tmp_path: Path) -> None:
    entries = {name: [an_entry() for _ in range(300)] for name in ("one", "two")}

    async def main() -> None:
        async with AsyncExitStack() as stack:
            journals = {}
            for name in entries:
                path = tmp_path / name / "journal.db"
                journals[name] = await stack.enter_async_context(a_journal(path, shipping(server)))
            for number in range(300):
                for name, journal in journals.items():
                    assert await journal.write(entries[name][number]) == ""
            await until(lambda: len(arrived(server)) == 600)

    asyncio.run(main())
    there = arrived(server)
    for name, written in entries.items():
        ids = [each.id for each in written]
        assert [each for each in there if each in set(ids)] == ids, f"the order of {name}"
    assert server.execute("SELECT count(*) FROM hookline.machines", "journal") == "2"


def test_events_wait_while_the_server_is_away_at_the_start(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(50)]
    server.stop()

    async def main() -> None:
        async with a_journal(path, shipping(server)) as journal:
            assert await journal.write(entries[0]) == ""
            assert journal._shipper is not None
            await until(lambda: journal._shipper is not None and journal._shipper.trouble)
            said = [await journal.write(each) for each in entries[1:]]
            assert "events are not shipped to" in said[0]
            assert "kept in the local journal" in said[0]
            assert set(said[1:]) == {""}, "said once"
            await asyncio.to_thread(server.start)
            await until(lambda: len(arrived(server)) == 50)

    asyncio.run(main())
    assert arrived(server) == [each.id for each in entries]


@pytest.mark.slow
def test_a_server_that_is_killed_again_and_again_gets_each_event_once(
    server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    written: list[str] = []

    async def agent(journal: SqliteJournal, stop: asyncio.Event) -> None:
        while not stop.is_set():
            entry = an_entry(payload=os.urandom(500).hex().encode())
            await journal.write(entry)
            written.append(entry.id)
            await asyncio.sleep(0.002)

    async def main() -> None:
        stop = asyncio.Event()
        async with a_journal(path, shipping(server)) as journal:
            agents = [asyncio.create_task(agent(journal, stop)) for _ in range(4)]
            for _ in range(4):
                before = await asyncio.to_thread(count(server))
                async with asyncio.timeout(60):
                    while await asyncio.to_thread(count(server)) <= before + 20:
                        pass
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start)
            stop.set()
            await asyncio.gather(*agents)
            await shipped(path, server.dsn("journal"))

    asyncio.run(main())
    there = arrived(server)
    assert len(there) == len(set(there))
    assert there == [each.id for each in all_rows(path)]
    assert set(there) == set(written)


# Ships until it is killed.
MACHINE = """
import asyncio, os, sys, time
from datetime import UTC, datetime
from hookline.model.journal import Entry, JournalSettings
from hookline.store.journal.group_commit import SqliteJournal

async def main():
    journal = SqliteJournal(sys.argv[1], JournalSettings(dsn=sys.argv[2]))
    end = time.monotonic() + 60
    while time.monotonic() < end:
        entry = Entry(id=os.urandom(16).hex(), at=datetime.now(UTC), ns=1, dialect="codex")
        await journal.write(entry)
        os.write(1, f"{entry.id}\\n".encode())
        await asyncio.sleep(0.001)

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_machine_that_is_killed_ships_each_event_once(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    answered: list[str] = []
    for number in range(4):
        argv = [sys.executable, "-c", MACHINE, str(path), server.dsn("journal")]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE)
        assert process.stdout is not None
        try:
            answered += [
                process.stdout.readline().decode().strip() for _ in range(150 * (1 + number))
            ]
            process.kill()
            answered += process.stdout.read().decode().split("\n")[:-1]
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    async def main() -> None:
        async with a_journal(path, shipping(server)) as journal:
            await journal.write(an_entry())
            await shipped(path, server.dsn("journal"))

    asyncio.run(main())
    there = arrived(server)
    assert there == [each.id for each in all_rows(path)]
    assert set(answered) <= set(there)
    assert len(there) == len(set(there))


def test_what_was_committed_there_but_not_noted_here_is_not_taken_twice(
    server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry() for _ in range(10)]

    def ship() -> None:
        async def main() -> None:
            async with a_journal(path, shipping(server)) as journal:
                await journal.write(entries[0])
                await shipped(path, server.dsn("journal"))

        asyncio.run(main())

    write_all(path, entries)
    ship()
    connection = connect(str(path))
    connection.execute("DELETE FROM meta")
    connection.close()
    ship()
    assert arrived(server) == [each.id for each in entries]


def test_what_others_wrote_to_the_spool_is_shipped_as_well(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    alone, after = an_entry(), an_entry()
    write_once(str(path), alone, shipping(server))

    async def main() -> None:
        async with a_journal(path, shipping(server)) as journal:
            await journal.write(after)
            await shipped(path, server.dsn("journal"))

    asyncio.run(main())
    assert arrived(server) == [alone.id, after.id]


def test_text_that_postgresql_does_not_take_is_no_obstacle(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entry = an_entry(native_event="a\0b", payload=b"\x00\xff\xfe", failure="zero \0 and \ud800")

    async def main() -> None:
        async with a_journal(path, shipping(server)) as journal:
            assert await journal.write(entry) == ""
            await shipped(path, server.dsn("journal"))

    asyncio.run(main())
    with PostgresReader(server.dsn("journal")) as reader:
        found = reader.find(entry.id)
    assert (found.native_event, found.payload) == ("a�b", b"\x00\xff\xfe")
    assert found.failure == "zero \0 and ?"


def test_many_that_arrive_at_an_empty_database_make_the_tables_once(
    server: Server, tmp_path: Path
) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            for number in range(8):
                path = tmp_path / str(number) / "journal.db"
                journal = await stack.enter_async_context(a_journal(path, shipping(server)))
                await journal.write(an_entry())
            await until(lambda: len(arrived(server)) == 8)

    asyncio.run(main())
    version = server.execute("SELECT version FROM hookline.version", "journal")
    assert version == str(len(PG_MIGRATIONS))


def test_newer_tables_are_left_alone_and_that_is_said(server: Server, tmp_path: Path) -> None:
    server.execute("CREATE SCHEMA hookline", "journal")
    server.execute("CREATE TABLE hookline.version (version INTEGER NOT NULL)", "journal")
    server.execute("INSERT INTO hookline.version VALUES (99)", "journal")
    path = tmp_path / "journal.db"

    async def main() -> str:
        async with a_journal(path, shipping(server)) as journal:
            await journal.write(an_entry())
            await until(lambda: journal._shipper is not None and journal._shipper.trouble)
            return await journal.write(an_entry())

    assert "newer hookline (schema 99" in asyncio.run(main())
    assert len(all_rows(path)) == 2


def test_without_the_library_the_warning_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    path = tmp_path / "journal.db"

    async def main() -> str:
        settings = JournalSettings(dsn="postgresql://user:pass" + "word@db.example/journal")
        async with a_journal(path, settings) as journal:
            await journal.write(an_entry())
            await until(lambda: journal._shipper is not None and journal._shipper.trouble)
            return await journal.write(an_entry())

    warning = asyncio.run(main())
    assert "hookline[postgres]" in warning
    assert "db.example/journal" in warning
    assert "pass" + "word" not in warning
    with pytest.raises(HooklineError, match=r"hookline\[postgres\]"):
        PostgresReader("postgresql://db.example/journal")


def test_retention_says_loudly_when_room_is_short_and_events_were_not_shipped(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.db"
    settings = JournalSettings(dsn="postgresql://127.0.0.1:1/nowhere", max_mb=1, keep_days=1)

    async def main() -> list[str]:
        async with a_journal(path, settings) as journal:
            large = [an_entry(payload=os.urandom(3_000)) for _ in range(1_000)]
            said = [await journal.write(each) for each in large]
            async with asyncio.timeout(30):
                while not any("never shipped" in each for each in said):
                    said.append(await journal.write(an_entry()))
                    await asyncio.sleep(0.01)
        return said

    loud = [each for each in asyncio.run(main()) if "never shipped" in each]
    assert loud
    assert "is full" in loud[0]
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM events").fetchone()[0] < 1_000
    connection.close()


def test_a_machine_keeps_its_number(tmp_path: Path) -> None:
    first = ShippingMachine.of(str(tmp_path))
    assert ShippingMachine.of(str(tmp_path)) == first
    assert len(first.id) == 32
    assert (tmp_path / "machine").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "dsn",
    ["host=db password=" + "hunter2", "postgresql://u@[::1/db", "postgresql://h:port/db", "?"],
)
def test_a_dsn_that_is_none_is_a_warning_and_shows_no_password(tmp_path: Path, dsn: str) -> None:
    path = tmp_path / "journal.db"

    async def main() -> str:
        async with a_journal(path, JournalSettings(dsn=dsn)) as journal:
            assert await journal.write(an_entry()) == ""
            await until(lambda: journal._shipper is not None and journal._shipper.trouble)
            return await journal.write(an_entry())

    warning = asyncio.run(main())
    assert "events are not shipped to" in warning
    assert "hunter2" not in warning
    assert len(all_rows(path)) == 2


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("postgresql://u:a@h/db", "postgresql://u:b@h/db", True),
        ("postgresql://u@h/db", "postgresql://u@h/db?sslmode=require", True),
        ("postgresql://u@h/db", "postgresql://u@h/other", False),
        ("postgresql://u@h/db", "postgresql://u@elsewhere/db", False),
        ("postgresql://u@/db?host=/a", "postgresql://u@/db?host=/b", False),
    ],
)
def test_how_far_events_were_shipped_is_known_for_each_database(
    one: str, two: str, same: bool
) -> None:
    assert (watermark(one) == watermark(two)) is same
