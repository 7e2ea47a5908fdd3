"""Several events by one commit: nobody is answered before it, whatever happens to it."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from hookline.model.journal import JournalSettings
from hookline.model.together import Together
from hookline.store.journal import SqliteJournal
from support.journals import all_rows, an_entry, until

Made = Callable[[Path], SqliteJournal]


class Answered:
    """What somebody who waits for the end has heard."""

    def __init__(self, *paths: Path) -> None:
        self._paths = paths
        self.rows: list[int] = []
        self.warnings: list[str] = []

    def __call__(self, warning: str) -> None:
        """How much is in the files when it is said to be there."""
        self.warnings.append(warning)
        self.rows += [len(all_rows(path)) for path in self._paths]


def journals(
    *paths: Path, durability: Literal["normal", "full"] = "normal"
) -> tuple[Together, list[SqliteJournal]]:
    together = Together()
    settings = JournalSettings(durability=durability)
    return together, [SqliteJournal(str(path), settings, together=together) for path in paths]


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_what_is_written_together_is_there_when_the_end_is_done_and_not_before(
    tmp_path: Path, durability: Literal["normal", "full"]
) -> None:
    path = tmp_path / "journal.db"

    async def main() -> None:
        together, (journal,) = journals(path, durability=durability)
        await journal.write(an_entry())
        done = Answered(path)
        together.begin()
        for _ in range(5):
            assert await journal.write(an_entry()) == ""
        assert len(all_rows(path)) == 1
        together.end(done)
        assert (done.rows, done.warnings) == ([6], [""])
        # And outside of it each waits for itself again.
        await journal.write(an_entry())
        assert len(all_rows(path)) == 7
        await journal.aclose()

    asyncio.run(main())


def test_who_writes_nothing_waits_for_nothing(tmp_path: Path) -> None:
    together, done = Together(), Answered()
    together.begin()
    together.end(done)
    assert done.warnings == [""]
    assert not together.is_open


def test_the_end_waits_for_every_journal(tmp_path: Path) -> None:
    paths = (tmp_path / "one.db", tmp_path / "other.db")

    async def main() -> None:
        together, both = journals(*paths)
        done = Answered(*paths)
        together.begin()
        for journal in (*both, *both):
            await journal.write(an_entry())
        together.end(done)
        assert done.rows == [2, 2]
        for journal in both:
            await journal.aclose()

    asyncio.run(main())


def test_while_another_process_writes_nobody_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def main() -> None:
        together, (journal,) = journals(path)
        await journal.write(an_entry())
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        done = Answered(path)
        together.begin()
        await journal.write(an_entry())
        together.end(done)
        assert done.rows == []
        # Others of the same moment, and of the next, come after it.
        alone = asyncio.create_task(journal.write(an_entry()))
        again = Answered(path)
        together.begin()
        await journal.write(an_entry())
        together.end(again)
        assert (done.rows, again.rows) == ([], [])
        other.execute("ROLLBACK")
        other.close()
        await until(lambda: bool(done.rows))
        assert again.rows == done.rows
        assert await alone == ""
        await journal.aclose()

    asyncio.run(main())
    assert len(all_rows(path)) == 4


def test_where_it_cannot_be_written_all_are_answered_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def main() -> None:
        together, (journal,) = journals(path)
        path.mkdir()
        heard: list[str] = []
        together.begin()
        assert await journal.write(an_entry()) == ""
        assert await journal.write(an_entry()) == ""
        together.end(heard.append)
        (warning,) = heard
        assert "cannot be written" in warning
        assert "2 events wait in memory" in warning
        # In trouble nobody waits for the others: each has to be told.
        together.begin()
        warning = await journal.write(an_entry())
        together.end(heard.append)
        assert "cannot be written" in warning
        assert heard[1:] == [""]
        path.rmdir()
        await until(lambda: not journal._ledger.waiting)
        await journal.aclose()

    asyncio.run(main())
    assert len(all_rows(path)) == 3


def test_closing_commits_what_waits_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def main() -> None:
        together, (journal,) = journals(path)
        await journal.write(an_entry())
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        heard: list[str] = []
        together.begin()
        await journal.write(an_entry())
        together.end(heard.append)
        closing = asyncio.create_task(journal.aclose())
        await until(lambda: bool(heard))
        other.execute("ROLLBACK")
        other.close()
        await closing

    asyncio.run(main())
    assert len(all_rows(path)) == 2
