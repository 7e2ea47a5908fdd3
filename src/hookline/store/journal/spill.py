"""Rows that could not be written: in files beside the journal while it is locked, else in memory.

An answer does not wait for whoever holds the journal, and what was answered must survive this
process. A file belongs to the process that has it locked. One that nobody has locked was left
behind, and whoever writes to the journal next puts what is in it where it belongs.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from struct import Struct as Layout
from typing import Any

import msgspec

from hookline.store.journal.files import sync
from hookline.store.journal.schema import MIGRATIONS, Row

__all__ = ["Spill"]

# What is taken in is taken in by somebody who answers others, too.
_FULL = 4 << 20
_FILES_AT_ONCE = 16
# While nobody takes anything in, neither the disk nor memory must fill.
_MOST_BYTES = 64 << 20
_MOST_FILES = 1_000
_MOST_MEMORY = 16 << 20
_TRIES = 3
# Rows have the columns of one schema: those of another are for whoever changes it to convert.
_ENDING = f".v{len(MIGRATIONS)}"
_DAMAGED = ".damaged"
_HEADER = Layout(">II")


class Spill:
    """The rows of one process that wait; there is a file of it only while some do."""

    def __init__(self, path: str) -> None:
        """``path`` is the journal's."""
        self._directory = f"{path}-late"
        self._name = ""
        self._file = -1
        self._size = 0
        self._in_file = 0
        self._held: deque[Row] = deque()
        self._held_bytes = 0
        self.lost = 0
        """How many are nowhere: for the oldest there was no memory."""

    @property
    def count(self) -> int:
        """How many rows wait, of this process."""
        return self._in_file + len(self._held)

    @property
    def held(self) -> Sequence[Row]:
        """Those in memory, the oldest first."""
        return self._held

    def add(self, rows: Sequence[Row], *, in_file: bool) -> str:
        """Keeps rows until they can be written; where, and how many are there now, in words."""
        if in_file and self.add_to_file(rows):
            return f"{self._in_file} events wait in a file beside it"
        for row in rows:
            self._held.append(row)
            self._held_bytes += row.size
        while self._held_bytes > _MOST_MEMORY:
            self._held_bytes -= self._held.popleft().size
            self.lost += 1
        lost = f", {self.lost} are lost" if self.lost else ""
        return f"{len(self._held)} events wait in memory{lost}"

    def forget_held(self) -> None:
        """Those in memory are written."""
        self._held.clear()
        self._held_bytes = 0

    def add_to_file(self, rows: Sequence[Row]) -> bool:
        """Whether these will survive this process, and the machine. Never raises."""
        if not rows:
            return True
        try:
            record = _encode_record(rows)
            if self._size >= _FULL:
                self.leave()
            if self._file < 0:
                self._begin()
            if os.write(self._file, record) < len(record):
                raise OSError("the disk is full")
            sync(self._file)
        except Exception:
            # Of whatever kind it is: the rows are kept in memory then.
            self._cut()
            return False
        self._size += len(record)
        self._in_file += len(rows)
        return True

    def _begin(self) -> None:
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        files, size = 0, 0
        with os.scandir(self._directory) as found:
            for each in found:
                with suppress(FileNotFoundError):  # somebody has just taken it in
                    size += each.stat(follow_symlinks=False).st_size
                    files += 1
        if files >= _MOST_FILES or size >= _MOST_BYTES:
            raise OSError("nobody takes them in")
        for left in reversed(range(_TRIES)):
            try:
                self._make()
            except (BlockingIOError, FileNotFoundError):
                # Between making and locking it was nobody's, and somebody has cleared it away.
                if not left:
                    raise
            else:
                return

    def _make(self) -> None:
        # In the order of their names is in the order of time.
        name = f"{time.time_ns():020}-{os.urandom(4).hex()}{_ENDING}"
        name = os.path.join(self._directory, name)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        handle = os.open(name, flags, 0o600)
        try:
            _lock(handle)
            if not os.fstat(handle).st_nlink:
                raise FileNotFoundError(name)
        except OSError:
            os.close(handle)
            raise
        self._file, self._name = handle, name

    def _cut(self) -> None:
        """Half a record would hide those that come after it."""
        try:
            if self._file >= 0:
                os.ftruncate(self._file, self._size)
        except OSError:
            self.leave()

    def leave(self) -> None:
        """To whoever takes it in."""
        if self._file >= 0:
            import fcntl

            with suppress(OSError):
                # Also for a child that has it open, too.
                fcntl.flock(self._file, fcntl.LOCK_UN)
            os.close(self._file)
        self._name, self._file, self._size, self._in_file = "", -1, 0, 0

    def has_files(self) -> bool:
        """Whether something may be waiting beside this journal, whoever has put it there."""
        return bool(self._list_files())

    @contextmanager
    def take_in(self) -> Iterator["Taken"]:
        """Rows to be written: ours, and those in files that nobody has in hand any more.

        If no error ends it the files are forgotten. Not all at once, where there are very many.
        Raises OSError where no file can be opened any more.
        """
        files: list[_File] = []
        taken = Taken()
        try:
            for file in self._open_files():
                files.append(file)
                taken.add(file)
                if taken.size >= _FULL or len(files) >= _FILES_AT_ONCE:
                    break
            yield taken
            for file in files:
                file.forget()
            self.leave()
        finally:
            for file in files:
                file.close()

    def _open_files(self) -> Iterator["_File"]:
        if self._in_file:
            yield _File(os.dup(self._file), self._name)
        for name in self._list_files():
            if name != self._name and (handle := _open(name)) >= 0:
                yield _File(handle, name)

    def _list_files(self) -> Sequence[str]:
        try:
            names = os.listdir(self._directory)
        except OSError:
            return ()
        return sorted(
            os.path.join(self._directory, name) for name in names if name.endswith(_ENDING)
        )


class Taken:
    """What was found in files."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        """The columns of each."""
        self.size = 0
        self.damaged = 0
        """How many files have something in them that nobody can read."""

    def add(self, file: "_File") -> None:
        """Reads a file, if that can be done."""
        with suppress(OSError):
            self.rows += file.read()
            self.size += file.size
            self.damaged += file.is_damaged


class _File:
    """One file of rows, which nobody else takes in meanwhile."""

    def __init__(self, handle: int, name: str) -> None:
        self._handle = handle
        self._name = name
        self._is_read = False
        self.size = 0
        self.is_damaged = False

    def read(self) -> list[list[Any]]:
        """The rows that are whole. Raises OSError."""
        from zlib import crc32

        rows: list[list[Any]] = []
        with open(self._handle, "rb", closefd=False) as file:
            file.seek(0)
            left = self.size = os.fstat(self._handle).st_size
            # Of a record that is not all there, its writer was killed before it was answered.
            while left > _HEADER.size:
                length, checksum = _HEADER.unpack(file.read(_HEADER.size))
                left -= _HEADER.size + length
                if left < 0:
                    break
                body = file.read(length)
                try:
                    if not length or crc32(body) != checksum:
                        raise msgspec.DecodeError("this is no record")
                    rows += msgspec.msgpack.decode(body, type=list[list[Any]])
                except msgspec.DecodeError:
                    self.is_damaged = True
                    break  # nobody knows where the next one begins
        self._is_read = True
        return rows

    def forget(self) -> None:
        """What could be read is in the journal; what could not stays for a person to look at."""
        with suppress(OSError):
            if self.is_damaged:
                os.rename(self._name, self._name.removesuffix(_ENDING) + _DAMAGED)
            elif self._is_read:
                os.unlink(self._name)

    def close(self) -> None:
        """Lets go of it."""
        os.close(self._handle)


def _lock(handle: int) -> None:
    """For as long as the file is open. Raises OSError where somebody else has it."""
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _encode_record(rows: Sequence[Row]) -> bytes:
    from zlib import crc32

    body = msgspec.msgpack.encode([row.columns for row in rows])
    return _HEADER.pack(len(body), crc32(body)) + body


def _open(name: str) -> int:
    """The file, locked; -1 when it is in somebody's hand, or nothing that we have made."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        found = os.fstat(handle)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if ours and found.st_size <= _MOST_BYTES:
            _lock(handle)
            return handle
    except OSError:
        pass
    os.close(handle)
    return -1
