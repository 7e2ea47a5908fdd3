"""What a process keeps between events: apps that have loaded their configs, and open journals."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from hookline.model.errors import HooklineError
from hookline.model.events import Event
from hookline.model.journal import Entry, Journal, JournalSettings
from hookline.pipeline.call import Call, LineOptions

if TYPE_CHECKING:
    from asyncio import Task

    from hookline.app import App
    from hookline.store.duplicate_calls import DuplicateCalls

__all__ = ["BriefJournals", "Journals", "LastingJournals", "Parts", "journal_file"]

_KEPT_APPS = 32
_KEPT_JOURNALS = 16
_KEPT_WARNINGS = 1000
# All of the environment that is believed, where it is believed at all.
_PERSONAL = (
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "HOOKLINE_HOME",
    "HOOKLINE_CONFIG",
    "HOOKLINE_TRUST",
)


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
        while len(self._open) > _KEPT_JOURNALS:
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


class Parts:
    """All that ``answer`` needs beside the call."""

    def __init__(
        self,
        journals: Journals,
        answers: "DuplicateCalls | None" = None,
        let_go: Callable[[], None] | None = None,
    ) -> None:
        """``answers`` in a process that hears of every call: what else is kept on the disk.

        ``let_go`` is called when an event is judged: what was kept of it for its own hooks may be
        large, and the next one may come in half an hour.
        """
        self._journals = journals
        self._answers = answers
        self._let_go = let_go
        self._apps: dict[tuple[object, ...], App] = {}
        self._warned: dict[str, None] = {}
        self._untold = ""

    def app_for(self, call: Call) -> "App":
        """The app for a call, with all that the last such call has loaded. Raises HooklineError."""
        options = call.options
        key: tuple[object, ...] = (options.home, options.user_config)
        if not options.is_anywhere:
            believed = [call.env.get(name) for name in _PERSONAL] if options.trust_env else ()
            key = (*key, options.config, call.cwd, *believed)
        app = self._apps.get(key)
        if app is None:
            while len(self._apps) >= _KEPT_APPS:
                self._apps.pop(next(iter(self._apps)))
            app = self._apps[key] = _make_app(options, call)
            app.answers = self._answers or app.answers
        return app.for_caller(call.env, call.cwd, attempt=call.attempt, umask=call.umask)

    async def record(self, entry: Entry, app: "App | None") -> str:
        """Writes an event down. A warning for its session, where that failed: no verdict is lost
        for it.
        """
        warning = await self._write(entry, app) or self._untold
        # Where nothing is configured nothing is asked of us, so nobody is to be bothered.
        if not warning or (app is not None and not app.configured) or not self._is_news(entry):
            return ""
        self._untold = ""
        return warning

    async def record_gone(self, entry: Entry, app: "App | None") -> None:
        """The same for a client that has gone: of a failure the next one is told."""
        self._untold = await self._write(entry, app) or self._untold

    async def _write(self, entry: Entry, app: "App | None") -> str:
        if self._let_go is not None:
            self._let_go()
        try:
            journal = self._journals.open(app)
            if app is None or app.journal() is None:
                # Nobody can say now how much may be written, so it is the least.
                entry = replace(entry, event=_without_words(entry.event), payload=b"")
            if journal is None:
                return ""
            outcome = entry.outcome
            if app is not None and outcome is not None:
                told = outcome.with_files(app.files_of)
                entry = entry if told is outcome else replace(entry, outcome=told)
            return await journal.write(entry)
        except Exception as exc:
            return f"this event is not in the journal: {type(exc).__name__}: {exc}"

    def _is_news(self, entry: Entry) -> bool:
        """Whether a session hears for the first time that its events are not written down."""
        session = entry.event.session_id if entry.event is not None else ""
        if session in self._warned:
            return False
        if session:
            while len(self._warned) >= _KEPT_WARNINGS:
                self._warned.pop(next(iter(self._warned)))
            self._warned[session] = None
        return True

    async def aclose(self) -> None:
        """Ends worker processes and connections."""
        for app in self._apps.values():
            await app.aclose()
        self._apps.clear()
        await self._journals.aclose()


def _without_words(event: "Event | None") -> "Event | None":
    """What happened where, and nothing of what was said or done."""
    if event is None:
        return None
    kept = ("id", "session_id", "cwd", "time", "agent", "dialect", "native_event")
    return type(event)(**{name: getattr(event, name) for name in kept})


def _make_app(options: LineOptions, call: Call) -> "App":
    from hookline.app import App

    trusted = dict(call.env) if options.trust_env else {}
    home = options.home or trusted.get("HOOKLINE_HOME")
    if home and not os.path.isabs(home) and not os.path.isdir(call.cwd):
        raise HooklineError(f"`{home}` is no whole path, and where it leads from is gone")
    return App(
        env=call.env,
        cwd=call.cwd,
        home=os.path.join(call.cwd, home) if home else None,
        config=options.config or trusted.get("HOOKLINE_CONFIG"),
        trust=trusted.get("HOOKLINE_TRUST"),
        remember=True,
        person=trusted | ({"XDG_CONFIG_HOME": options.user_config} if options.user_config else {}),
    )
