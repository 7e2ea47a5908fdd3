"""The journal forgets what is too old and what is too much, in steps, and never its newest."""

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hookline.model.journal import JournalSettings
from hookline.store.journal.database import connect
from hookline.store.journal.upkeep import Retention, Upkeep, measure, prune
from support.journals import a_journal, all_rows, an_entry, until, write_all

NOW = datetime.now(UTC)
MUCH = 1 << 40


def days_ago(count: float) -> datetime:
    return NOW - timedelta(days=count)


def pruned(path: Path, retention: Retention, now: float | None = NOW.timestamp()) -> int:
    """Steps until there is nothing more to do; how many events went."""
    connection = connect(str(path))
    try:
        gone, shrinking = 0, measure(connection) > retention.max_bytes
        for _ in range(1_000):
            step = prune(connection, retention, now=now, shrinking=shrinking)
            assert step.events <= 100, "a step is small"
            gone += step.events
            if not step.more:
                return gone
        raise AssertionError("it never ends")
    finally:
        connection.close()


def test_events_that_are_too_old_go(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    old = [an_entry(at=days_ago(10 + number / 1e6)) for number in range(1_200)]
    new = [an_entry(at=days_ago(1)) for _ in range(3)]
    write_all(path, [*old, *new])
    assert pruned(path, Retention(keep_days=7, max_bytes=MUCH)) == 1_200
    assert [each.id for each in all_rows(path)] == [each.id for each in new]


def test_old_events_go_though_a_wrong_clock_made_those_before_them_new(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    ahead = [an_entry(at=days_ago(-1_000)) for _ in range(600)]
    old = [an_entry(at=days_ago(10)) for _ in range(5)]
    write_all(path, [*ahead, *old, an_entry(at=days_ago(1)), an_entry(at=days_ago(0))])
    assert pruned(path, Retention(keep_days=7, max_bytes=MUCH)) == 5


def test_the_newest_event_stays_so_that_no_number_is_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    # Also where a clock that was wrong has made it old.
    write_all(path, [an_entry(at=days_ago(count)) for count in (60, 60, 1, 60)])
    assert pruned(path, Retention(keep_days=7, max_bytes=MUCH)) == 2
    assert pruned(path, Retention(keep_days=7, max_bytes=1)) == 1
    write_all(path, [an_entry()])
    assert [each.seq for each in all_rows(path)] == [4, 5]


def test_when_there_is_too_much_the_oldest_go_and_the_disk_gets_its_room_back(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry(payload=os.urandom(5_000), at=NOW) for _ in range(2_000)]
    write_all(path, entries)
    full = path.stat().st_size
    cap = 5_000_000
    assert full > 2 * cap

    pruned(path, Retention(keep_days=7, max_bytes=cap))

    rows = all_rows(path)
    assert [each.id for each in rows] == [each.id for each in entries[-len(rows) :]]
    assert 0.5 * cap < path.stat().st_size < 1.5 * cap


def test_a_clock_that_cannot_be_believed_makes_nothing_old(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry(at=days_ago(60)) for _ in range(4)])
    assert pruned(path, Retention(keep_days=7, max_bytes=MUCH), now=None) == 0


def test_a_clock_that_jumped_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry() for _ in range(4)])
    careful = Upkeep(str(path), Retention(keep_days=7, max_bytes=MUCH))
    real = time.time
    monkeypatch.setattr("hookline.store.journal.upkeep.time.time", lambda: real() + 365 * 86_400)
    assert not careful.prune()
    careful.close()
    assert len(all_rows(path)) == 4


@pytest.mark.parametrize("keep_days", [1, 30])
def test_a_clock_that_was_ahead_before_the_start_makes_nothing_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep_days: float
) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry() for _ in range(50)])
    real = time.time
    monkeypatch.setattr("hookline.store.journal.upkeep.time.time", lambda: real() + 365 * 86_400)
    # What is written meanwhile says so, too, and is no proof of it.
    write_all(path, [an_entry(at=days_ago(-365))])
    careful = Upkeep(str(path), Retention(keep_days=keep_days, max_bytes=MUCH))
    assert not careful.prune()
    careful.close()
    assert len(all_rows(path)) == 51


def test_after_a_year_switched_off_a_day_of_events_makes_the_old_ones_go(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    month = Retention(keep_days=30, max_bytes=MUCH)
    write_all(path, [an_entry(at=days_ago(365)) for _ in range(5)])
    back = [an_entry(at=days_ago(0.9 - number / 10)) for number in range(9)]
    write_all(path, back)
    assert pruned(path, month) == 0
    assert pruned(path, month, now=(NOW + timedelta(days=0.2)).timestamp()) == 5
    assert [each.id for each in all_rows(path)] == [each.id for each in back]


def test_one_event_of_a_wrong_clock_holds_up_nothing_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    week = Retention(keep_days=7, max_bytes=MUCH)
    write_all(path, [an_entry(at=days_ago(-4_000))])
    for day in range(60):
        write_all(
            path, [an_entry(at=NOW + timedelta(days=day, minutes=each)) for each in range(90)]
        )
        pruned(path, week, now=(NOW + timedelta(days=day, hours=2)).timestamp())
    # Numbers are not given twice, so there is a hole behind the first that grows and grows.
    ages = [(NOW + timedelta(days=59) - each.at).days for each in all_rows(path)]
    assert max(ages) <= 8


def test_of_large_events_no_more_go_than_there_is_no_room_for(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry(payload=os.urandom(55_000), at=NOW) for _ in range(85)]
    write_all(path, entries)
    pruned(path, Retention(keep_days=7, max_bytes=1 << 20))
    kept = [each.id for each in all_rows(path)]
    assert kept == [each.id for each in entries[-len(kept) :]]
    assert 13 <= len(kept) <= 17


def test_what_was_not_shipped_stays_however_old_but_not_when_room_is_short(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    old = [an_entry(at=days_ago(60), payload=b"x" * 4_000) for _ in range(99)]
    write_all(path, [*old, an_entry(at=days_ago(1))])
    connection = connect(str(path))
    connection.execute("INSERT INTO meta VALUES ('shipped', '40')")
    kept = Retention(keep_days=7, max_bytes=MUCH, hold="shipped")
    assert pruned(path, kept) == 40
    assert [each.seq for each in all_rows(path)] == list(range(41, 101))

    connection.execute("UPDATE meta SET value = '60'")
    step = prune(
        connection, Retention(keep_days=7, max_bytes=1, hold="shipped"), now=None, shrinking=True
    )
    connection.close()
    assert (step.events, step.unshipped) == (59, 39)


def test_the_writer_forgets_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    old = [an_entry(at=datetime.now(UTC) - timedelta(days=40)) for _ in range(700)]

    async def main() -> None:
        async with a_journal(path, JournalSettings(keep_days=30)) as journal:
            await asyncio.gather(*(journal.write(each) for each in old))
            await journal.write(an_entry(at=datetime.now(UTC) - timedelta(days=1)))
            await until(lambda: len(all_rows(path)) == 1)

    asyncio.run(main())
