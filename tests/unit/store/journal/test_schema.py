"""A journal of any earlier shape is brought to today's; one of a later shape is left alone."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.model.errors import HooklineError
from hookline.store.journal import database
from hookline.store.journal.database import MIGRATIONS, NewerJournal, migrate
from hookline.store.journal.reader import JournalReader
from support.journals import all_rows, an_entry, write_all


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def shape(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
def test_every_earlier_version_becomes_what_a_new_journal_is(tmp_path: Path, version: int) -> None:
    old, new = connect(tmp_path / "old.db"), connect(tmp_path / "new.db")
    for step in MIGRATIONS[:version]:
        step(old)
    old.execute(f"PRAGMA user_version = {version}")

    migrate(old, "old.db")
    migrate(new, "new.db")

    assert shape(old) == shape(new)
    assert old.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    old.close()
    new.close()


def test_events_survive_a_later_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.db"
    first, second = an_entry(), an_entry()
    write_all(path, [first])

    def later(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE events ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")

    steps: tuple[Callable[[sqlite3.Connection], None], ...] = (*MIGRATIONS, later)
    monkeypatch.setattr(database, "MIGRATIONS", steps)
    monkeypatch.setattr("hookline.store.journal.reader.MIGRATIONS", steps)
    assert write_all(path, [second]) == [""]

    assert [each.id for each in all_rows(path)] == [first.id, second.id]
    connection = connect(path)
    assert connection.execute("SELECT mood FROM events").fetchall() == [("calm",), ("calm",)]
    connection.close()


def test_a_migration_that_fails_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(tmp_path / "journal.db")
    migrate(connection, "journal.db")
    before = shape(connection)

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (a)")
        connection.execute("CREATE TABLE half (a)")

    monkeypatch.setattr(database, "MIGRATIONS", (*MIGRATIONS, half))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, "journal.db")

    assert shape(connection) == before
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    connection.close()


def test_a_newer_journal_is_not_written_to_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry()])
    connection = connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()

    (warning,) = write_all(path, [an_entry()])

    assert "newer hookline (schema 99" in warning
    assert "Verdicts are not affected" in warning
    connection = connect(path)
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (1,)
    connection.close()
    with pytest.raises(NewerJournal, match="schema 99"):
        JournalReader(str(path))


def test_a_newer_journal_is_an_error_in_words() -> None:
    assert issubclass(NewerJournal, HooklineError)
