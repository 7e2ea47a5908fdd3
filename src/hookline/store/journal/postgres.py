"""Ships the local journal to PostgreSQL: in order, each event once, whenever the server is there.

The local file is the spool, so nothing waits for the network and nothing is lost while it is away.
How far it got is written down after the commit over there; what was committed but not written down
is sent again, and not taken twice.
"""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.store.journal.postgres_schema import INSERT, LOCK, connect, migrate, shown
from hookline.store.journal.schema import COLUMNS
from hookline.store.journal.spool import Batch, Machine, Spool, watermark

if TYPE_CHECKING:
    import asyncpg

__all__ = ["Shipper"]

# Processes that answer one event write to the spool without telling us.
_LOOK_EVERY = 30.0
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 60.0
_LAST_CHANCE = 2.0
_CUT = COLUMNS.index("cut")
_HEARD = (
    "INSERT INTO hookline.machines VALUES ($1, $2, now()) "
    "ON CONFLICT (machine) DO UPDATE SET name = excluded.name, heard = excluded.heard"
)


class Shipper:
    """One local journal on its way to one database."""

    def __init__(self, path: str, dsn: str) -> None:
        self._directory = os.path.dirname(path) or "."
        self._dsn = dsn
        self.watermark = watermark(dsn)
        """The key of ``meta`` under which it is written down how far it got."""
        self._spool = Spool(path, self.watermark)
        self._machine: Machine | None = None
        self._connection: asyncpg.Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="hookline-shipping")
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._told = ""
        self.trouble = ""
        """Why events are not shipped at the moment; empty when they are."""

    def nudge(self) -> None:
        """There is something to ship."""
        self._wake.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def warning(self) -> str:
        """What is wrong, once for each thing that is."""
        if self.trouble == self._told:
            return ""
        self._told = self.trouble
        return self.trouble and (
            f"events are not shipped to {shown(self._dsn)}: {self.trouble}. They are kept in the "
            "local journal until they are."
        )

    async def _run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            self._wake.clear()
            if await self._try():
                pause, event, seconds = _FIRST_PAUSE, self._wake, _LOOK_EVERY
            else:
                pause, event, seconds = min(pause * 2, _LAST_PAUSE), self._stop, pause
            if self._stop.is_set():
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()

    async def _try(self) -> bool:
        """Ships all there is; whether that went well."""
        try:
            await self._ship()
        except Exception as error:
            # Whatever it is, it is tried again: the events wait where they are.
            self.trouble = str(error) or type(error).__name__
            self._drop()
            return False
        self.trouble = ""
        return True

    async def _ship(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := await loop.run_in_executor(self._worker, self._spool.next):
            connection = self._connection or await self._connect()
            assert self._machine is not None
            await _add(connection, self._machine.id, batch)
            await loop.run_in_executor(self._worker, self._spool.shipped, batch.last)

    async def _connect(self) -> "asyncpg.Connection":
        machine = self._machine = Machine.of(self._directory)
        connection = self._connection = await connect(self._dsn)
        await migrate(connection)
        await connection.execute(_HEARD, machine.id, machine.name)
        return connection

    def _drop(self) -> None:
        """Whatever state it is in, the next try begins with a new one."""
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None

    async def aclose(self) -> None:
        """Ships what it can in a moment, and lets go."""
        self._stop.set()
        self._wake.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_LAST_CHANCE)
            self._task.cancel()
            await asyncio.wait([self._task])
        self._drop()
        # In its turn, after what may still be under way there.
        await asyncio.get_running_loop().run_in_executor(self._worker, self._spool.close)
        self._worker.shutdown()


async def _add(connection: "asyncpg.Connection", machine: str, batch: Batch) -> None:
    async with connection.transaction():
        await connection.execute(LOCK)
        await connection.executemany(INSERT, [_values(machine, row) for row in batch.rows])


def _values(machine: str, row: Sequence[Any]) -> list[Any]:
    """As PostgreSQL takes them: it knows truth, and no text with a zero in it."""
    values = [each.replace("\0", "�") if isinstance(each, str) else each for each in row]
    values[_CUT] = bool(values[_CUT])
    return [machine, *values]
