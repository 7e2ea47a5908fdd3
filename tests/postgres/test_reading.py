"""What is read from PostgreSQL is what the local journal gives for the same question."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.model.answers import Answer, Rewrite, ask, deny
from hookline.model.errors import HooklineError
from hookline.model.events import PreToolUse, Stop, UserPromptSubmit
from hookline.model.journal import JournalSettings
from hookline.model.tools import tool
from hookline.store.journal.postgres import PostgresReader
from hookline.store.journal.reader import Filter, JournalReader, NoJournal
from support.journals import a_journal, a_run, an_entry, shell, shipped
from support.postgres import Server

T0 = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ENTRIES = [
    an_entry(shell("git status", session_id="alpha-1"), runs=[a_run("look")], at=T0),
    an_entry(
        shell("git push", session_id="alpha-2"),
        deny('not "today"'),
        runs=[a_run("look"), a_run("no pushing", deny("no"))],
        at=T0 + timedelta(minutes=1),
    ),
    an_entry(
        PreToolUse(tool=tool("read", path="/etc/hosts"), session_id="beta", dialect="codex"),
        ask("sure?"),
        at=T0 + timedelta(minutes=2),
        payload='{"note": "Grüße 100% _ok_ back\\\\slash"}'.encode(),
    ),
    an_entry(
        UserPromptSubmit(prompt="tidy up", session_id="beta"),
        Answer(context=("line one\nline two",)),
        at=T0 + timedelta(minutes=3),
    ),
    an_entry(Stop(session_id="beta"), outcome=None, failure="no config", at=T0),
    an_entry(shell("make fmt"), runs=[a_run("fmt", failed="exit code 7")], at=T0),
    an_entry(shell("make"), runs=[a_run("less", Answer(rewrite=Rewrite(output="less")))], at=T0),
    an_entry(
        shell("old"), runs=[a_run("new", Answer(rewrite=Rewrite(input={"command": "new"})))], at=T0
    ),
    an_entry(shell("ls"), runs=[a_run("look")], at=T0, project_dir='/home/dev/"other"'),
]


@pytest.fixture
def readers(server: Server, tmp_path: Path) -> Iterator[tuple[JournalReader, PostgresReader]]:
    path, dsn = tmp_path / "journal.db", server.dsn("journal")

    async def main() -> None:
        # Old events: kept, so that both have the same.
        async with a_journal(path, JournalSettings(dsn=dsn, keep_days=36_500)) as journal:
            for entry in ENTRIES:
                assert await journal.write(entry) == ""
            await shipped(path, dsn)

    asyncio.run(main())
    with JournalReader(str(path)) as local, PostgresReader(dsn) as remote:
        yield local, remote


FILTERS: list[dict[str, Any]] = [
    {},
    {"limit": 2},
    {"after_seq": 2},
    {"after_seq": 1, "limit": 2},
    {"session": "beta"},
    {"session": "alpha"},
    {"event": "pre_tool_use"},
    {"verdict": "deny"},
    {"verdict": "failed"},
    {"tool": "shell"},
    {"tool": "SHELL"},
    {"telling": True},
    {"telling": True, "session": "alpha"},
    {"project": "/home/dev/app"},
    {"project": '/home/dev/"other"'},
    {"project": "/home/dev"},
    {"hook": "look"},
    {"hook": "no pushing"},
    {"hook": "no push"},
    {"hook": "LOOK"},
    {"hook": "l%k"},
    {"dialect": "codex"},
    {"since": T0 + timedelta(minutes=2)},
    {"until": T0 + timedelta(minutes=1)},
    {"text": "GIT PUSH"},
    {"text": 'not "today"'},
    {"text": "one\nline"},
    {"text": "Grüße"},
    {"text": "100% _ok"},
    {"text": "100x"},
    {"text": "back\\slash"},
    {"text": "alpha-2"},
    {"session": "beta", "verdict": "failed", "text": "config"},
]


def test_every_filter_finds_the_same_in_both(readers: tuple[JournalReader, PostgresReader]) -> None:
    local, remote = readers
    for given in FILTERS:
        wanted = Filter(**given)
        mine, theirs = local.query(wanted), remote.query(wanted)
        assert [each.id for each in mine] == [each.id for each in theirs], given
    assert any(local.query(Filter(**given)) for given in FILTERS)


def test_all_else_is_the_same_in_both(readers: tuple[JournalReader, PostgresReader]) -> None:
    _, remote = readers
    entry = ENTRIES[1]
    assert remote.find(entry.id[:10]).id == entry.id
    newest, denied = (
        remote.query(Filter(limit=1, **each))[0] for each in ({}, {"verdict": "deny"})
    )
    assert (newest.id, denied.id) == (ENTRIES[-1].id, entry.id)
    assert remote.version() == newest.seq
    with pytest.raises(HooklineError, match="no event in the journal"):
        remote.find("xyz")
    with pytest.raises(HooklineError, match="several events"):
        remote.find("")


def test_an_id_is_found_however_many_newer_ones_begin_with_it(
    server: Server, tmp_path: Path
) -> None:
    path, dsn = tmp_path / "journal.db", server.dsn("journal")

    async def main() -> None:
        async with a_journal(path, JournalSettings(dsn=dsn)) as journal:
            for name in ("e1", *(f"e1{at}" for at in range(10, 35))):
                assert await journal.write(an_entry(id=name)) == ""
            await shipped(path, dsn)

    asyncio.run(main())
    with PostgresReader(dsn) as remote:
        assert remote.find("e1").id == "e1"


def test_a_server_that_is_away_or_empty_is_an_error_in_words(server: Server) -> None:
    with pytest.raises(NoJournal, match="no hookline has written to this database yet"):
        PostgresReader(server.dsn("journal"))
    with pytest.raises(HooklineError, match="cannot be read"):
        PostgresReader("postgresql://hookline@127.0.0.1:1/nowhere")


def test_a_connection_that_was_lost_is_made_again(
    readers: tuple[JournalReader, PostgresReader], server: Server
) -> None:
    _, remote = readers
    assert len(remote.query()) == len(ENTRIES)
    server.kill()
    with pytest.raises(HooklineError, match="cannot be read"):
        remote.query()
    server.start()
    assert len(remote.query()) == len(ENTRIES)
