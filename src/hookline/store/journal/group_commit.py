"""The journal of a process that answers many events: commits in its loop, syncs beside it.

A commit costs less than handing it to a thread would. What waits for the disk, which is a sync or a
checkpoint, is done by one thread and delays no answer.
"""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.model.journal import Entry, JournalSettings
from hookline.secrets import looked_through
from hookline.store.journal.database import Row, is_damage, make_row, sync_log
from hookline.store.journal.upkeep import Retention, Upkeep
from hookline.store.journal.writer import JournalWriter, write_once

if TYPE_CHECKING:
    from hookline.store.journal.postgres import Shipper

__all__ = ["SqliteJournal"]

SYNC_EVERY = 0.15
CHECKPOINT_EVERY = 8 << 20
PRUNE_EVERY = 600.0
_LAST_LOOKS = 100
_STEPS = 16
_DEFAULT = JournalSettings()


class SqliteJournal:
    """One file that many events at once are written to; an implementation of ``Journal``.

    It lives in one event loop, in whatever thread that runs.
    """

    def __init__(self, path: str, settings: JournalSettings = _DEFAULT) -> None:
        self._settings = settings
        self._full = settings.durability == "full"
        self._payload_cap = settings.payload_kb << 10
        self._max_bytes = settings.max_mb << 20
        self._writer = JournalWriter(path, full=self._full)
        self._shipper = _make_shipper(path, settings.dsn) if settings.dsn else None
        hold = self._shipper.watermark if self._shipper is not None else ""
        self._upkeep = Upkeep(path, Retention.of(settings, hold=hold))
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hookline-journal")
        self._waiting: list[tuple[Row, asyncio.Future[str]]] = []
        self._turn_taken = False
        self._timer: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._keeping: asyncio.Task[None] | None = None
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
            return write_once(self._writer.path, entry, self._settings)
        try:
            row = make_row(entry, payload_cap=self._payload_cap)
        except Exception as error:
            # Nothing that was not searched for secrets is ever stored.
            self._writer.spill.lost += 1
            return f"the journal has lost event {entry.id}: {type(error).__name__}: {error}"
        looked_through(row.size)
        loop = asyncio.get_running_loop()
        # The first of a turn of the loop is committed at once, which is all there is with one
        # agent at work. Others of the same turn share one commit; a sync is always shared.
        if not (self._full or self._turn_taken or self._waiting):
            self._turn_taken = True
            loop.call_soon(self._end_turn)
            return self._follow_up(self._writer.write((row,)), row.session_end)
        done: asyncio.Future[str] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._flush)
        self._waiting.append((row, done))
        return await done

    def _end_turn(self) -> None:
        self._turn_taken = False

    def _flush(self) -> None:
        """Commits all that waits, in one transaction."""
        batch, self._waiting = self._waiting, []
        if not batch:
            return  # they were written when it was closed
        rows = [row for row, _ in batch]
        warning = self._writer.write(rows)
        warning = self._follow_up(warning, any(row.session_end for row in rows))
        for _, done in batch:
            if not done.done():
                done.set_result(warning)

    def _follow_up(self, warning: str, session_end: bool) -> str:
        """Sees to what follows a commit; the warning, or one that was waiting to be told."""
        if self._closed:
            return warning
        self._plan_upkeep(session_end)
        if self._shipper is not None:
            self._shipper.nudge()
            warning = warning or self._shipper.warning()
        if self._warning and not warning:
            warning, self._warning = self._warning, ""
        return warning

    def _plan_upkeep(self, session_end: bool) -> None:
        loop = asyncio.get_running_loop()
        self._dirty = True
        self._hurry = self._hurry or session_end
        if self._keeping is None:
            if self._hurry:
                self._begin_upkeep()
            elif self._timer is None:
                self._timer = loop.call_later(SYNC_EVERY, self._begin_upkeep)
        if self._retry is None and self._writer.spill.count:
            self._retry = loop.call_later(self._writer.pause() or SYNC_EVERY, self._catch_up)

    def _catch_up(self) -> None:
        """Tries again to write what could not be written, though no event comes."""
        self._retry = None
        if not self._writer.spill.count or self._closed:
            return
        note = self._writer.write(())
        if not self._writer.trouble:  # else the next event is told by itself
            self._warning = note or self._warning
        self._plan_upkeep(session_end=False)

    def _begin_upkeep(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._dirty = self._hurry = False
        self._keeping = asyncio.get_running_loop().create_task(self._keep_up())

    async def _keep_up(self) -> None:
        """Syncs; and when it is time, moves the log into the file and forgets the oldest."""
        loop = asyncio.get_running_loop()
        try:
            if self._writer.is_open:
                if not self._full:
                    await loop.run_in_executor(self._thread, sync_log, self._writer.path)
                # There may be more of it; and then it is time for the next look.
                self._dirty = self._writer.look_after() or self._dirty
                if self._writer.written > CHECKPOINT_EVERY:
                    self._since_pruning += self._writer.written
                    self._writer.written = 0
                    await loop.run_in_executor(self._thread, self._upkeep.checkpoint)
                await self._prune(loop)
        except (OSError, sqlite3.Error) as error:
            self._warning = f"the journal cannot be kept in order: {error}."
            if is_damage(error):
                with suppress(OSError):
                    self._warning = self._writer.set_aside(str(error))
        finally:
            self._keeping = None
            if self._dirty and not self._closed:
                pause = 0.0 if self._hurry else SYNC_EVERY
                self._timer = loop.call_later(pause, self._begin_upkeep)

    async def _prune(self, loop: asyncio.AbstractEventLoop) -> None:
        """A few small steps, and more of them while nothing else is to do."""
        much = self._since_pruning > self._max_bytes // 16
        if not much and loop.time() < self._pruned_at + PRUNE_EVERY:
            return
        steps = 0
        while await loop.run_in_executor(self._thread, self._upkeep.prune):
            steps += 1
            if self._upkeep.unshipped:
                self._warning = self._upkeep.tell_unshipped()
            if self._closed or (self._dirty and steps >= _STEPS):
                return
        self._pruned_at, self._since_pruning = loop.time(), 0

    async def aclose(self) -> None:
        """Writes what is left, syncs and closes."""
        if self._closed:
            return
        self._closed = True
        for handle in (self._timer, self._retry):
            if handle is not None:
                handle.cancel()
        self._flush()
        if self._keeping is not None:
            await asyncio.wait([self._keeping])
        if self._shipper is not None:
            await self._shipper.aclose()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._finish)
        self._thread.shutdown()

    def _finish(self) -> None:
        writer = self._writer
        if writer.spill.count:
            writer.write_now(())
        for _ in range(_LAST_LOOKS):
            if not writer.look_after():
                break
        if writer.is_open:
            with suppress(OSError):
                sync_log(writer.path)
        self._upkeep.close()
        writer.close()


def _make_shipper(path: str, dsn: str) -> "Shipper":
    from hookline.store.journal.postgres import Shipper

    return Shipper(path, dsn)
