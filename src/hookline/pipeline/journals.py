"""The journals that events are written to: one per state directory, as its config wants it kept."""

import os
from typing import TYPE_CHECKING, Protocol

from hookline.model.journal import Journal, JournalSettings

if TYPE_CHECKING:
    from asyncio import Task

    from hookline.app import App

__all__ = ["BriefJournals", "Journals", "LastingJournals", "journal_file"]

_KEPT = 16


def journal_file(home: str) -> str:
    """Where the journal of a state directory lies."""
    return os.path.join(home, "journal", "journal.db")


class Journals(Protocol):
    """Where the journal for an event is found."""

    def open(self, app: "App | None") -> Journal | None:
        """The journal for what this app has judged; None where none is kept."""

    async def aclose(self) -> None:
        """Closes those that are open."""


class BriefJournals:
    """For a process that answers one event: nothing is kept open."""

    def open(self, app: "App | None") -> Journal | None:
        """As the port says."""
        settings = JournalSettings() if app is None else app.journal() or JournalSettings()
        if app is None or not settings.enabled:
            return None
        from hookline.store.journal.writer import BriefJournal

        return BriefJournal(journal_file(app.home), settings)

    async def aclose(self) -> None:
        """Nothing is open."""


class LastingJournals:
    """For a process that answers many: the journals that were used last stay open."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[JournalSettings, Journal | None]] = {}
        self._closing: set[Task[None]] = set()

    def open(self, app: "App | None") -> Journal | None:
        """As the port says."""
        if app is None:
            return None
        home = app.home
        settings, journal = self._open.get(home, (None, None))
        # While a config is broken, its journal stays as it was.
        wanted = app.journal() or settings or JournalSettings()
        if wanted != settings:
            if journal is not None:
                self._close(journal)
            journal = None
            if wanted.enabled:
                from hookline.store.journal.group_commit import SqliteJournal

                journal = SqliteJournal(journal_file(home), wanted)
        self._open.pop(home, None)  # to become the newest
        self._open[home] = wanted, journal
        while len(self._open) > _KEPT:
            _, oldest = self._open.pop(next(iter(self._open)))
            if oldest is not None:
                self._close(oldest)
        return journal

    def _close(self, journal: Journal) -> None:
        """Beside what goes on: its last words go to the disk, and nobody waits for that."""
        import asyncio

        task = asyncio.get_running_loop().create_task(journal.aclose())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        """Writes, syncs and closes them all."""
        for task in tuple(self._closing):
            await task
        for _, journal in self._open.values():
            if journal is not None:
                await journal.aclose()
        self._open.clear()
