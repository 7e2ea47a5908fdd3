"""Rows for which the journal was locked for too long: in a file beside it, until they are in it.

An answer does not wait for whoever holds the journal, and what was answered must survive this
process. A file belongs to the process that has it locked. One that nobody has locked was left
behind, and the next to open the journal puts what is in it where it belongs.
"""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from struct import Struct as Layout
from typing import Any

import msgspec

from hookline.store.journal.recording import Row

__all__ = ["Late", "left_behind"]

_MOST_BYTES = 64 << 20
_MOST_FILES = 1_000
_HEADER = Layout(">II")
_sync = getattr(os, "fdatasync", os.fsync)


def _directory(path: str) -> str:
    return f"{path}-late"


class Late:
    """The rows of one process that wait; the file is there only while some do."""

    def __init__(self, path: str) -> None:
        self._directory = _directory(path)
        self._name = ""
        self._file = -1
        self._size = 0

    def add(self, rows: Sequence[Row]) -> bool:
        """Whether these will survive this process. Never raises."""
        record = _record(rows)
        if self._size + len(record) > _MOST_BYTES:
            return False
        try:
            if self._file < 0:
                self._begin()
            if os.write(self._file, record) < len(record):
                raise OSError("the disk is full")
            _sync(self._file)
        except OSError:
            self._cut()
            return False
        self._size += len(record)
        return True

    def _begin(self) -> None:
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        if len(os.listdir(self._directory)) >= _MOST_FILES:
            raise OSError("nobody takes them in")
        # In the order of their names is in the order of time.
        name = os.path.join(self._directory, f"{time.time_ns():020}-{os.urandom(4).hex()}")
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        handle = os.open(name, flags, 0o600)
        try:
            _lock(handle)
            # Until then it was nobody's, and somebody may have cleared it away.
            if not os.fstat(handle).st_nlink:
                raise FileNotFoundError(name)
        except OSError:
            os.close(handle)
            raise
        self._file, self._name = handle, name

    def _cut(self) -> None:
        """Half a record would hide those that come after it."""
        if self._file >= 0:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)

    def clear(self) -> None:
        """All of them are in the journal."""
        if self._file >= 0:
            with suppress(OSError):
                os.unlink(self._name)
            self.leave()

    def leave(self) -> None:
        """To whoever opens the journal next."""
        if self._file >= 0:
            os.close(self._file)
        self._file, self._name, self._size = -1, "", 0


def _lock(handle: int) -> None:
    """For as long as the file is open. Raises OSError where somebody else has it."""
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _record(rows: Sequence[Row]) -> bytes:
    from zlib import crc32

    body = msgspec.msgpack.encode([row.columns for row in rows])
    return _HEADER.pack(len(body), crc32(body)) + body


@contextmanager
def left_behind(path: str) -> Iterator[list[list[Any]]]:
    """The columns of all rows that nobody has in hand any more; forgotten if no error ends it.

    Never raises by itself.
    """
    taken: list[tuple[int, str]] = []
    rows: list[list[Any]] = []
    try:
        for name in _names(_directory(path)):
            handle = _taken(name)
            if handle is not None:
                taken.append((handle, name))
                rows += _rows(handle)
        yield rows
        for _, name in taken:
            with suppress(OSError):
                os.unlink(name)
    finally:
        for handle, _ in taken:
            os.close(handle)


def _names(directory: str) -> Sequence[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return ()
    return sorted(os.path.join(directory, name) for name in names)


def _taken(name: str) -> int | None:
    """The file, locked; None when it is in somebody's hand, or not ours."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            _lock(handle)
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _rows(handle: int) -> Iterator[list[Any]]:
    """Those that are whole: who wrote the rest was killed before it was answered."""
    from zlib import crc32

    with os.fdopen(os.dup(handle), "rb") as file, suppress(OSError):
        while len(header := file.read(_HEADER.size)) == _HEADER.size:
            length, checked = _HEADER.unpack(header)
            if length > _MOST_BYTES or crc32(body := file.read(length)) != checked:
                return
            with suppress(msgspec.DecodeError):
                yield from msgspec.msgpack.decode(body, type=list[list[Any]])
