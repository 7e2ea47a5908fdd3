"""The journal of a process that answers many events: commits in the loop, syncs beside it.

A commit costs less than handing it to a thread would. What waits for the disk, which is a sync or a
checkpoint, is done by one thread and delays no answer.
"""

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.model.journal import Entry, JournalSettings
from hookline.secrets import looked_through
from hookline.store.journal.files import is_damage
from hookline.store.journal.once import write_once
from hookline.store.journal.recording import Row, row_of
from hookline.store.journal.retention import Retention
from hookline.store.journal.upkeep import Keeper
from hookline.store.journal.writer import Busy, Ledger

if TYPE_CHECKING:
    from hookline.store.journal.postgres import Shipper

__all__ = ["SqliteJournal"]

SYNC_EVERY = 0.15
CHECKPOINT_EVERY = 8 << 20
PRUNE_EVERY = 600.0
# A process that only inserts a row is done in less; one that holds the file for longer than this
# must not hold up an agent.
BUSY_LIMIT = 0.1
_BUSY_PAUSE = 0.002
# Some seconds in all: nobody waits for them any more.
_LAST_TRIES = 3_000
_LAST_LOOKS = 100
_STEPS = 16
_DEFAULT = JournalSettings()


class SqliteJournal:
    """One file that many events at once are written to; an implementation of ``Journal``."""

    def __init__(self, path: str, settings: JournalSettings = _DEFAULT) -> None:
        self._settings = settings
        self._full = settings.durability == "full"
        self._payload_cap = settings.payload_kb << 10
        self._max_bytes = settings.max_mb << 20
        self._ledger = Ledger(path, full=self._full)
        self._shipper = _shipper(path, settings.dsn) if settings.dsn else None
        hold = self._shipper.watermark if self._shipper is not None else ""
        self._keeper = Keeper(path, Retention.of(settings, hold=hold))
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="hookline-journal")
        self._waiting: list[tuple[Row, asyncio.Future[str]]] = []
        self._busy_since: float | None = None
        self._turn_taken = False
        self._flushing: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._upkeep: asyncio.Task[None] | None = None
        self._dirty = False
        self._hurry = False
        self._pruned_at = -PRUNE_EVERY  # on a machine that has just been started, too
        self._since_pruning = 0
        self._warning = ""
        self._closed = False

    async def write(self, entry: Entry) -> str:
        """Returns when the entry will survive this process; never raises."""
        if self._closed:
            # Settings changed, or the process is about to end, while this event was judged.
            return write_once(self._ledger.path, entry, self._settings)
        try:
            row = row_of(entry, payload_cap=self._payload_cap)
        except Exception as error:
            # Nothing that was not looked at is ever stored.
            self._ledger.backlog.lost += 1
            return f"the journal has lost event {entry.id}: {type(error).__name__}: {error}"
        looked_through(row.size)
        loop = asyncio.get_running_loop()
        # The first of a turn of the loop is committed at once, which is all there is with one
        # agent at work. Others of the same turn share one commit; a sync is always shared.
        if not (self._full or self._turn_taken or self._waiting):
            self._turn_taken = True
            loop.call_soon(self._turn_over)
            try:
                warning = self._ledger.write_one(row)
            except Busy:
                pass
            else:
                ordinary = not (warning or self._warning or row.session_end or self._shipper)
                if ordinary and self._timer is not None:  # so there is nothing to see to
                    return ""
                return self._wrote(warning, row.session_end)
        done: asyncio.Future[str] = loop.create_future()
        self._waiting.append((row, done))
        if self._flushing is None:
            self._flushing = loop.call_soon(self._flush)
        return await done

    def _turn_over(self) -> None:
        self._turn_taken = False

    def _flush(self) -> None:
        """Commits all that waits, in one transaction."""
        self._flushing = None
        batch, rows = self._waiting, [row for row, _ in self._waiting]
        loop = asyncio.get_running_loop()
        try:
            warning = self._ledger.write(rows)
        except Busy:
            now = loop.time()
            self._busy_since = self._busy_since or now
            if now - self._busy_since < BUSY_LIMIT and not self._closed:
                if now - self._busy_since < _BUSY_PAUSE:
                    # A commit takes less: meanwhile there may be more to be written with this.
                    self._flushing = loop.call_soon(self._flush)
                else:
                    self._flushing = loop.call_later(_BUSY_PAUSE, self._flush)
                return
            warning = self._ledger.locked(rows)
        self._busy_since = None
        self._waiting = []
        warning = self._wrote(warning, any(row.session_end for row in rows))
        for _, done in batch:
            if not done.done():
                done.set_result(warning)

    def _wrote(self, warning: str, session_end: bool) -> str:
        """Sees to what follows a commit; the warning, or one that was waiting to be said."""
        if self._closed:
            return warning
        self._follow_up(session_end)
        if self._shipper is not None:
            self._shipper.nudge()
            warning = warning or self._shipper.warning()
        if self._warning and not warning:
            warning, self._warning = self._warning, ""
        return warning

    def _follow_up(self, session_end: bool) -> None:
        loop = asyncio.get_running_loop()
        self._dirty = True
        self._hurry = self._hurry or session_end
        if self._upkeep is None:
            if self._hurry:
                self._begin_upkeep()
            elif self._timer is None:
                self._timer = loop.call_later(SYNC_EVERY, self._begin_upkeep)
        if self._retry is None and self._ledger.waiting:
            self._retry = loop.call_later(self._ledger.pause(), self._catch_up)

    def _catch_up(self) -> None:
        """Tries again to write what could not be written, though no event comes."""
        self._retry = None
        if not self._ledger.waiting or self._closed:
            return
        try:
            note = self._ledger.write(())
        except Busy:
            self._retry = asyncio.get_running_loop().call_later(BUSY_LIMIT, self._catch_up)
            return
        if not self._ledger.pause():  # else the next event is told by itself
            self._warning = note or self._warning
        self._follow_up(session_end=False)

    def _begin_upkeep(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._dirty = self._hurry = False
        self._upkeep = asyncio.get_running_loop().create_task(self._keep_up())

    async def _keep_up(self) -> None:
        """Syncs; and when it is time, moves the log into the file and forgets the oldest."""
        loop = asyncio.get_running_loop()
        try:
            if self._ledger.is_open:
                # Where each commit is synced, the log has to be ready for the next ones.
                step = self._keeper.make_room if self._full else self._keeper.sync
                await loop.run_in_executor(self._worker, step)
                # There may be more of it; and then it is time for the next look.
                self._dirty = self._ledger.look_after() or self._dirty
                if self._ledger.written > CHECKPOINT_EVERY:
                    self._since_pruning += self._ledger.written
                    self._ledger.written = 0
                    await loop.run_in_executor(self._worker, self._keeper.checkpoint)
                await self._prune(loop)
        except (OSError, sqlite3.Error) as error:
            self._warning = self._disorder(error)
        finally:
            self._upkeep = None
            if self._dirty and not self._closed:
                pause = 0.0 if self._hurry else SYNC_EVERY
                self._timer = loop.call_later(pause, self._begin_upkeep)

    def _disorder(self, error: OSError | sqlite3.Error) -> str:
        if isinstance(error, sqlite3.Error) and is_damage(error):
            with suppress(OSError):
                return self._ledger.set_aside(error)
        return f"the journal cannot be kept in order: {error}."

    async def _prune(self, loop: asyncio.AbstractEventLoop) -> None:
        """A few small steps, and more of them while nothing else is to do."""
        much = self._since_pruning > self._max_bytes // 16
        if not much and loop.time() < self._pruned_at + PRUNE_EVERY:
            return
        steps = 0
        while await loop.run_in_executor(self._worker, self._keeper.prune):
            steps += 1
            if self._keeper.unshipped:
                self._warning = self._keeper.confession()
            if self._closed or (self._dirty and steps >= _STEPS):
                return
        self._pruned_at, self._since_pruning = loop.time(), 0

    async def aclose(self) -> None:
        """Writes what is left, syncs and closes."""
        if self._closed:
            return
        self._closed = True
        for handle in (self._timer, self._retry, self._flushing):
            if handle is not None:
                handle.cancel()
        if self._waiting:
            self._flush()
        if self._upkeep is not None:
            await asyncio.wait([self._upkeep])
        if self._shipper is not None:
            await self._shipper.aclose()
        await asyncio.get_running_loop().run_in_executor(self._worker, self._finish)
        self._worker.shutdown()

    def _finish(self) -> None:
        ledger = self._ledger
        for _ in range(_LAST_TRIES):
            before = ledger.waiting
            try:
                if before:
                    ledger.write_now(())
            except Busy:
                time.sleep(_BUSY_PAUSE)
                continue
            if ledger.waiting == before:
                break
        for _ in range(_LAST_LOOKS):
            if not ledger.look_after():
                break
        self._keeper.close(sync=ledger.is_open)
        ledger.leave()


def _shipper(path: str, dsn: str) -> "Shipper":
    from hookline.store.journal.postgres import Shipper

    return Shipper(path, dsn)
