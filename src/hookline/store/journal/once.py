"""The journal of a process that answers one event and ends: nothing is kept open."""

import time
from contextlib import suppress

from hookline.model.journal import Entry, JournalSettings
from hookline.store.journal.files import sync_log
from hookline.store.journal.ledger import Busy, Ledger
from hookline.store.journal.recording import row_of

__all__ = ["OnceJournal", "write_once"]

_BUSY_LIMIT = 0.1
_BUSY_PAUSE = 0.002
_DEFAULT = JournalSettings()


class OnceJournal:
    """An implementation of ``Journal`` that opens and closes the file for each event."""

    def __init__(self, path: str, settings: JournalSettings = _DEFAULT) -> None:
        self._path = path
        self._settings = settings

    async def write(self, entry: Entry) -> str:
        """Returns when the entry is on the disk; never raises."""
        return write_once(self._path, entry, self._settings)

    async def aclose(self) -> None:
        """Nothing is open."""


def write_once(path: str, entry: Entry, settings: JournalSettings = _DEFAULT) -> str:
    """Opens, commits, syncs, closes; a warning for the person, or nothing. Never raises."""
    ledger = Ledger(path, full=settings.durability == "full")
    try:
        row = row_of(entry, payload_cap=settings.payload_kb << 10)
        until = time.monotonic() + _BUSY_LIMIT
        while True:
            try:
                return ledger.write((row,))
            except Busy:
                if time.monotonic() > until:
                    return f"the journal {path} is locked: event {entry.id} is lost to it."
            time.sleep(_BUSY_PAUSE)
    except Exception as error:
        return f"the journal {path} has lost event {entry.id}: {type(error).__name__}: {error}"
    finally:
        # Whoever closes a journal last syncs it. Where another process has it open, nobody did.
        ledger.close()
        with suppress(OSError):
            sync_log(path)
