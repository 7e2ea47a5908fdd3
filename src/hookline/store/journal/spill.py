"""Rows that could not be written: in files beside the journal while it is locked, else in memory.

An answer does not wait for whoever holds the journal, and what was answered must survive this
process. Whoever writes to the journal next puts what is in the files where it belongs.
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

from hookline.store.journal.database import MIGRATIONS, Row, sync

__all__ = ["Spill"]

_FULL = 4 << 20
_FILES_AT_ONCE = 64
# While nobody takes anything in, neither the disk nor memory must fill.
_MOST_BYTES = 64 << 20
_MOST_FILES = 10_000
_LOOK_EVERY = 16
_MOST_MEMORY = 16 << 20
# Rows have the columns of one schema: those of another are for whoever changes it to convert.
_ENDING = f".v{len(MIGRATIONS)}"
_DAMAGED = ".damaged"
_HEADER = Layout(">II")


class Spill:
    """The rows of one process that wait, and the files of all."""

    def __init__(self, path: str) -> None:
        """``path`` is the journal's."""
        self._directory = f"{path}-late"
        self._own: dict[str, int] = {}
        self._made = 0
        self._held: deque[Row] = deque()
        self._held_bytes = 0
        self.lost = 0
        """How many are nowhere: for the oldest there was no memory."""

    @property
    def count(self) -> int:
        """How many rows of this process wait."""
        return len(self._held) + (self._in_files if self._own else 0)

    @property
    def _in_files(self) -> int:
        return sum(self._own.values())

    @property
    def held(self) -> Sequence[Row]:
        """Those in memory, the oldest first."""
        return self._held

    def add(self, rows: Sequence[Row], *, in_file: bool) -> str:
        """Keeps rows until they can be written; where, and how many are there now, in words."""
        if in_file and self.add_to_file(rows):
            return f"{self._in_files} events wait in a file beside it"
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
        try:
            if rows:
                self._own[self._make_file(_encode_record(rows))] = len(rows)
        except Exception:
            # Of whatever kind it is: the rows are kept in memory then.
            return False
        return True

    def _make_file(self, record: bytes) -> str:
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        if self._made % _LOOK_EVERY == 0 and not self._has_room():
            raise OSError("nobody takes them in")
        # In the order of their names is in the order of time.
        name = os.path.join(self._directory, f"{time.time_ns():020}-{os.urandom(4).hex()}")
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(handle, "wb", buffering=0) as file:
                if file.write(record) < len(record):
                    raise OSError("the disk is full")
                sync(handle)
            # Nobody sees half of it.
            os.rename(name, name + _ENDING)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        self._made += 1
        return name + _ENDING

    def _has_room(self) -> bool:
        files, size = 0, 0
        with os.scandir(self._directory) as found:
            for each in found:
                with suppress(FileNotFoundError):  # somebody has just taken it in
                    size += each.stat(follow_symlinks=False).st_size
                    files += 1
        return files < _MOST_FILES and size < _MOST_BYTES

    def has_files(self) -> bool:
        """Whether something may be waiting beside this journal, whoever has put it there."""
        return bool(self._list_files())

    @contextmanager
    def take_in(self) -> Iterator["Taken"]:
        """The rows to be written of the files that are there, if no error ends it forgotten.

        Not all at once, where there are very many: whoever takes them in answers others, too.
        Raises OSError where no file can be opened any more.
        """
        files: list[_File] = []
        taken = Taken()
        try:
            for name in self._list_files():
                if (handle := _open(name)) < 0:
                    continue
                file = _File(handle, name)
                files.append(file)
                taken.add(file)
                if taken.size >= _FULL or len(files) >= _FILES_AT_ONCE:
                    break
            yield taken
            for file in files:
                file.forget()
            self._list_files()
        finally:
            for file in files:
                file.close()

    def _list_files(self) -> Sequence[str]:
        try:
            names = os.listdir(self._directory)
        except OSError:
            names = []
        found = [os.path.join(self._directory, name) for name in names if name.endswith(_ENDING)]
        if self._own:  # others may have taken them in
            self._own = {name: self._own[name] for name in found if name in self._own}
        return sorted(found)


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
    import fcntl

    try:
        found = os.fstat(handle)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if ours and found.st_size <= _MOST_BYTES:
            # An older hookline has a file locked while it adds to it.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
    except OSError:
        pass
    os.close(handle)
    return -1
