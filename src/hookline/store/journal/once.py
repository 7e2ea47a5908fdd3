"""The journal of a process that answers one event and ends: nothing is kept for a next one."""

import os
import time
from collections.abc import Callable
from contextlib import suppress

from hookline.model.journal import Entry, JournalSettings
from hookline.store.journal.files import sync_log
from hookline.store.journal.recording import Row, row_of
from hookline.store.journal.writer import Busy, Ledger

__all__ = ["OnceJournal", "write_once"]

_BUSY_LIMIT = 0.1
_BUSY_PAUSE = 0.002
_DEFAULT = JournalSettings()

# The next process has to read all of it.
_LONG_LOG = 256 << 10
_left: list[Ledger] = []


class OnceJournal:
    """An implementation of ``Journal`` that leaves the file to the end of the process.

    Whoever closes a journal last moves its log into the file, which waits for the disk three times
    more. A process that ends at once need not: the log is as good, and the next one goes on with
    it. Every few events, when it has become long, one process does close it.
    """

    def __init__(self, path: str, settings: JournalSettings = _DEFAULT) -> None:
        self._path = path
        self._settings = settings

    async def write(self, entry: Entry) -> str:
        """Returns when the entry is on the disk; never raises."""
        return _written(self._path, entry, self._settings, _leave)

    async def aclose(self) -> None:
        """What is open is left to the end of the process, or to the next event."""


def write_once(path: str, entry: Entry, settings: JournalSettings = _DEFAULT) -> str:
    """Opens, commits, syncs, closes; a warning for the person, or nothing. Never raises."""
    return _written(path, entry, settings, Ledger.leave)


def _written(
    path: str, entry: Entry, settings: JournalSettings, done: Callable[[Ledger], None]
) -> str:
    full = settings.durability == "full"
    ledger = Ledger(path, full=full)
    try:
        row = row_of(entry, payload_cap=settings.payload_kb << 10)
        warning = _tried(ledger, row)
        if ledger.backlog:  # what waits in memory goes with it
            return (
                f"the journal {path} cannot be written: {ledger.trouble}. Verdicts are not "
                f"affected; event {entry.id} is lost to it."
            )
        return warning
    except Exception as error:
        return f"the journal {path} has lost event {entry.id}: {type(error).__name__}: {error}"
    finally:
        done(ledger)
        # Whoever closes a journal last syncs it. Where it is still open, nobody did.
        if not full:
            with suppress(OSError):
                sync_log(path)


def _tried(ledger: Ledger, row: Row) -> str:
    until = time.monotonic() + _BUSY_LIMIT
    while True:
        try:
            return ledger.write((row,))
        except Busy:
            if time.monotonic() > until:
                return ledger.locked((row,))
        time.sleep(_BUSY_PAUSE)


def _leave(ledger: Ledger) -> None:
    for each in _left:
        each.close()
    _left.clear()
    try:
        long = os.stat(f"{ledger.path}-wal").st_size > _LONG_LOG
    except OSError:
        long = True
    if long or ledger.waiting or not ledger.is_open:
        ledger.leave()
    else:
        _left.append(ledger)
