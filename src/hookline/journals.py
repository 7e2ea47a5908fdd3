"""The journals that events are written to: one per state directory, as its config wants it kept."""

import os
from typing import TYPE_CHECKING, Protocol

from hookline.model.journal import Journal, JournalSettings

if TYPE_CHECKING:
    from hookline.app import App

__all__ = ["BriefJournals", "Journals", "LastingJournals", "journal_file"]


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
        settings = _settings(app)
        if app is None or settings is None:
            return None
        from hookline.store.journal import OnceJournal

        return OnceJournal(journal_file(app.home), settings)

    async def aclose(self) -> None:
        """Nothing is open."""


class LastingJournals:
    """For a process that answers many: each journal stays open while its settings are the same."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[JournalSettings, Journal]] = {}
        self._old: list[Journal] = []

    def open(self, app: "App | None") -> Journal | None:
        """As the port says."""
        settings = _settings(app)
        if app is None or settings is None:
            return None
        path = journal_file(app.home)
        kept = self._open.get(path)
        if kept is None or kept[0] != settings:
            from hookline.store.journal import SqliteJournal

            if kept is not None:
                self._old.append(kept[1])
            kept = self._open[path] = settings, SqliteJournal(path, settings)
        return kept[1]

    async def aclose(self) -> None:
        """Writes, syncs and closes them all."""
        for journal in (*self._old, *(journal for _, journal in self._open.values())):
            await journal.aclose()
        self._old.clear()
        self._open.clear()


def _settings(app: "App | None") -> JournalSettings | None:
    """None where nothing is written down."""
    return app.journal if app is not None and app.journal.enabled else None
