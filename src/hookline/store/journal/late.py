"""Rows for which the journal was locked for too long: in files beside it, until they are in it.

An answer does not wait for whoever holds the journal, and what was answered must survive this
process. A file belongs to the process that has it locked. One that nobody has locked was left
behind, and whoever writes to the journal next puts what is in it where it belongs.
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

__all__ = ["Late", "are_late", "left_behind"]

# What is taken in is taken in by somebody who answers others, too.
_FULL = 4 << 20
_FILES_AT_ONCE = 16
# While nobody takes anything in, the disk must not fill.
_MOST_BYTES = 64 << 20
_MOST_FILES = 1_000
_TRIES = 3
_HEADER = Layout(">II")
_sync = getattr(os, "fdatasync", os.fsync)


def _directory(path: str) -> str:
    return f"{path}-late"


class Late:
    """The rows of one process that wait; there is a file of it only while some do."""

    def __init__(self, path: str) -> None:
        self._directory = _directory(path)
        self._file = -1
        self._size = 0
        self.count = 0
        """How many rows are in the file at hand."""

    def add(self, rows: Sequence[Row]) -> bool:
        """Whether these will survive this process, and the machine. Never raises."""
        try:
            record = _record(rows)
            if self._size >= _FULL:
                self.leave()
            if self._file < 0:
                self._begin()
            if os.write(self._file, record) < len(record):
                raise OSError("the disk is full")
            _sync(self._file)
        except Exception:
            # Of whatever kind it is: the rows are kept in memory then.
            self._cut()
            return False
        self._size += len(record)
        self.count += len(rows)
        return True

    def _begin(self) -> None:
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        with os.scandir(self._directory) as found:
            sizes = [each.stat(follow_symlinks=False).st_size for each in found]
        if len(sizes) >= _MOST_FILES or sum(sizes) >= _MOST_BYTES:
            raise OSError("nobody takes them in")
        for left in reversed(range(_TRIES)):
            try:
                self._file = self._made()
            except (BlockingIOError, FileNotFoundError):
                # Between making and locking it was nobody's, and somebody has cleared it away.
                if not left:
                    raise
            else:
                return

    def _made(self) -> int:
        # In the order of their names is in the order of time.
        name = os.path.join(self._directory, f"{time.time_ns():020}-{os.urandom(4).hex()}")
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        handle = os.open(name, flags, 0o600)
        try:
            _lock(handle)
            if not os.fstat(handle).st_nlink:
                raise FileNotFoundError(name)
        except OSError:
            os.close(handle)
            raise
        return handle

    def _cut(self) -> None:
        """Half a record would hide those that come after it."""
        if self._file >= 0:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)

    def leave(self) -> None:
        """To whoever takes it in."""
        if self._file >= 0:
            os.close(self._file)
        self._file, self._size, self.count = -1, 0, 0


def _lock(handle: int) -> None:
    """For as long as the file is open. Raises OSError where somebody else has it."""
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _record(rows: Sequence[Row]) -> bytes:
    from zlib import crc32

    body = msgspec.msgpack.encode([row.columns for row in rows])
    return _HEADER.pack(len(body), crc32(body)) + body


def are_late(path: str) -> bool:
    """Whether something may be waiting beside this journal."""
    return bool(_names(_directory(path)))


@contextmanager
def left_behind(path: str) -> Iterator[list[list[Any]]]:
    """The columns of rows that nobody has in hand any more; forgotten if no error ends it.

    Not all of them, where there are very many. Never raises by itself.
    """
    taken: list[tuple[int, str]] = []
    rows: list[list[Any]] = []
    size = 0
    try:
        for name in _names(_directory(path)):
            handle = _taken(name)
            if handle < 0:
                continue
            taken.append((handle, name))
            try:
                size += os.fstat(handle).st_size
                rows += _rows(handle)
            except OSError:
                os.close(handle)
                taken.pop()  # perhaps it can be read the next time
            if size >= _FULL or len(taken) >= _FILES_AT_ONCE:
                break
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


def _taken(name: str) -> int:
    """The file, locked; -1 when it is in somebody's hand, or not ours."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            _lock(handle)
            return handle
    except OSError:
        pass
    os.close(handle)
    return -1


def _rows(handle: int) -> list[list[Any]]:
    """Those that are whole: who wrote the rest was killed before it was answered.

    Raises OSError.
    """
    from zlib import crc32

    rows: list[list[Any]] = []
    with open(handle, "rb", closefd=False) as file:
        while len(header := file.read(_HEADER.size)) == _HEADER.size:
            length, checked = _HEADER.unpack(header)
            if crc32(body := file.read(length)) != checked:
                break
            with suppress(msgspec.DecodeError):
                rows += msgspec.msgpack.decode(body, type=list[list[Any]])
    return rows
