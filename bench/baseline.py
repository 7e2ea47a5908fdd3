"""The least that a journal costs: many threads, one writer, the same rows into the same tables."""

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from msgspec import Struct

from hookline.store.journal.database import COLUMN_NAMES, INSERT, PAGE, migrate

__all__ = ["Rows", "inserts_per_second", "rows_in"]

_AT_ONCE = 256


class Rows(Struct, frozen=True):
    """What one event leaves in a journal."""

    event: Sequence[Any]
    """In the order of the columns; the id comes first."""


def rows_in(journal: str) -> Rows:
    """Those of the last event in that journal."""
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
        columns = ", ".join(COLUMN_NAMES)
        found = connection.execute(f"SELECT {columns} FROM events ORDER BY seq DESC LIMIT 1")
        event = found.fetchone()
    assert COLUMN_NAMES[0] == "id"
    return Rows(event)


class _Writer(threading.Thread):
    """Writes whatever waits in one transaction, then lets those threads go on."""

    def __init__(self, path: str, rows: Rows) -> None:
        super().__init__()
        self.queue: SimpleQueue[tuple[str, threading.Lock] | None] = SimpleQueue()
        self._path = path
        self._rows = rows

    def run(self) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            migrate(connection, self._path)
            while True:
                first = self.queue.get()
                if first is None:
                    return
                batch = [first]
                while len(batch) < _AT_ONCE and not self.queue.empty():
                    further = self.queue.get()
                    if further is None:
                        self.queue.put(None)
                        break
                    batch.append(further)
                self._write(connection, batch)

    def _write(
        self, connection: sqlite3.Connection, batch: list[tuple[str, threading.Lock]]
    ) -> None:
        rest = self._rows.event[1:]
        connection.execute("BEGIN")
        connection.executemany(INSERT, [(name, *rest) for name, _ in batch])
        connection.execute("COMMIT")
        for _, waiting in batch:
            waiting.release()


def inserts_per_second(rows: Rows, *, threads: int, events: int) -> float:
    """Each thread waits for the commit of its event before it brings the next."""
    share = events // threads
    with TemporaryDirectory(prefix="hookline-bench-") as directory:
        writer = _Writer(str(Path(directory, "journal.db")), rows)

        ids = count()  # which grow with time, as ours do

        def bring() -> None:
            waiting = threading.Lock()
            waiting.acquire()
            for _ in range(share):
                writer.queue.put((f"{next(ids):032x}", waiting))
                waiting.acquire()

        writer.start()
        workers = [threading.Thread(target=bring) for _ in range(threads)]
        started = perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds = perf_counter() - started
        writer.queue.put(None)
        writer.join()
    return share * threads / seconds
