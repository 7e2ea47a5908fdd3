"""Rows that could not be written yet, as many as memory may hold."""

from collections import deque
from collections.abc import Iterable

from hookline.store.journal.recording import Row

__all__ = ["Backlog"]

_MOST_BYTES = 16 << 20


class Backlog:
    """Oldest first; when there are too many, the oldest are lost, and counted."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._rows: deque[Row] = deque()
        self._bytes = 0
        self._most = most_bytes
        self.lost = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Keeps these until they can be written."""
        for row in rows:
            self._rows.append(row)
            self._bytes += row.size
        while self._bytes > self._most:
            self._bytes -= self._rows.popleft().size
            self.lost += 1

    def first(self, most_bytes: int) -> list[Row]:
        """The oldest ones, which stay until they are ``dropped``."""
        rows: list[Row] = []
        size = 0
        for row in self._rows:
            size += row.size
            if rows and size > most_bytes:
                break
            rows.append(row)
        return rows

    def drop(self, count: int) -> None:
        """Forgets the oldest ones: they are written."""
        for _ in range(count):
            self._bytes -= self._rows.popleft().size
