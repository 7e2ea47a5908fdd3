"""Entries for the journal, and short ways to write and read them."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookline.model.answers import PASS, Answer
from hookline.model.events import Event, PreToolUse
from hookline.model.hook import HandlerSpec, Hook, Layer, Source
from hookline.model.journal import Entry, JournalSettings, Recorded
from hookline.model.outcome import Outcome, Reply, Run
from hookline.model.tools import tool
from hookline.store.journal.group_commit import SqliteJournal
from hookline.store.journal.postgres import Spool, watermark
from hookline.store.journal.reader import Filter, JournalReader

__all__ = [
    "a_journal",
    "a_run",
    "all_rows",
    "an_entry",
    "new_id",
    "secret",
    "shell",
    "shipped",
    "until",
    "write_all",
]

# Assembled, so that no scanner takes this file for a leak.
secret = "ghp_" + "A1b2C3d4" * 4 + "E5f6"


USUAL = JournalSettings()


def new_id() -> str:
    return os.urandom(16).hex()


def shell(command: str = "git status", **keys: Any) -> PreToolUse:
    given = {"session_id": "s-1", "cwd": "/home/dev/app", "dialect": "claude-code", **keys}
    return PreToolUse(tool=tool("shell", command=command), **given)


def a_run(name: str = "a hook", answer: Answer = PASS, **keys: Any) -> Run:
    source = Source("/home/dev/app/hookline.yaml", 7, Layer.PROJECT)
    hook = Hook(name=name, events=("pre_tool_use",), handler=HandlerSpec("rule", {}), source=source)
    return Run(hook, answer, 1_000, **keys)


def an_entry(
    event: Event | None = None,
    answer: Answer = PASS,
    runs: Sequence[Run] = (),
    **keys: Any,
) -> Entry:
    """An entry for a shell command, unless another event is given."""
    event = event if event is not None else shell()
    given: dict[str, Any] = {
        "id": new_id(),
        "at": datetime.now(UTC),
        "ns": 1_234_567,
        "dialect": event.dialect,
        "native_event": "PreToolUse",
        "event": event,
        "payload": b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"}',
        "outcome": Outcome(event=event, answer=answer, runs=tuple(runs)),
        "reply": Reply(stdout=b"{}"),
        "project_dir": "/home/dev/app",
        "config": "ab" * 16,
        "version": "0.1.0",
        **keys,
    }
    return Entry(**given)


def write_all(
    path: Path | str, entries: Sequence[Entry], settings: JournalSettings = USUAL
) -> list[str]:
    """What each write said, one after another."""

    async def main() -> list[str]:
        async with a_journal(path, settings) as journal:
            return [await journal.write(each) for each in entries]

    return asyncio.run(main())


@asynccontextmanager
async def a_journal(
    path: Path | str, settings: JournalSettings = USUAL
) -> AsyncIterator[SqliteJournal]:
    """A journal that is closed at the end, whatever happens."""
    journal = SqliteJournal(str(path), settings)
    try:
        yield journal
    finally:
        await journal.aclose()


def all_rows(path: Path | str, **wanted: Any) -> list[Recorded]:
    """Everything in a journal, oldest first."""
    with JournalReader(str(path)) as reader:
        return list(reader.query(Filter(limit=1_000_000, after_seq=0, **wanted)))


async def until(condition: Callable[[], object]) -> None:
    """Waits for a condition to hold, not longer than half a minute."""
    async with asyncio.timeout(30):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


async def shipped(path: Path | str, dsn: str) -> None:
    """Waits until the local journal has nothing left to ship to this database."""
    spool = Spool(str(path), watermark(dsn))
    try:
        await until(lambda: spool.next() is None)
    finally:
        spool.close()
