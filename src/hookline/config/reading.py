"""Files as bytes: read once and remembered, or put in place whole.

Knows the disk; must not know what is in a file.
"""

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import EAGAIN, EFBIG, EINVAL
from typing import TypeAlias

from msgspec import Struct

from hookline.model.errors import TrustError

__all__ = [
    "MAX_BYTES",
    "MAX_FILES",
    "Reader",
    "Reading",
    "Stamp",
    "are_settled",
    "file_names",
    "locked",
    "make_private",
    "read_file",
    "stamp_of",
    "too_much",
    "write_file",
]

MAX_FILES = 1_000
MAX_BYTES = 20_000_000

# How old a file has to be before an unchanged stamp proves that nobody wrote to it again: stamps
# are as coarse as two seconds on some file systems.
SETTLED = 2.0

Stamp: TypeAlias = tuple[int, ...]
"""All by which a changed file is told from an unchanged one without reading it."""


class Reading(Struct, frozen=True):
    """One file as it was read, once: what is shown, hashed and stored are these bytes."""

    path: str
    real: str
    """Where ``path`` led; another path when there was a link on the way."""
    content: bytes | None = None
    """None for a link that leads out of the project: then only where it leads is pinned."""
    executable: bool = False


class Reader:
    """Reads files from disk, each of them once, and remembers what it read."""

    def __init__(self) -> None:
        self._readings: dict[str, Reading] = {}
        self._left = MAX_BYTES

    def __call__(self, path: str) -> bytes:
        """The content at ``path``; raises OSError."""
        content = self.pin(path).content
        assert content is not None
        return content

    def pin(self, path: str) -> Reading:
        """The file at ``path``, and with it the file that a link there leads to."""
        path = os.path.normpath(path)
        found = self._readings.get(path)
        if found is None:
            real = os.path.realpath(path)
            if real == path:
                found = Reading(path, path, *self._read(path))
            else:
                behind = self.pin(real)
                found = Reading(path, real, behind.content, behind.executable)
            self._keep(found)
        return found

    def pin_direction(self, path: str) -> Reading:
        """Only where ``path`` leads, for a link that leads to what is not the project's."""
        found = Reading(path, os.path.realpath(path))
        self._keep(found)
        return found

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Everything that was read."""
        return tuple(self._readings.values())

    def _read(self, path: str) -> tuple[bytes, bool]:
        try:
            content, executable = read_file(path, limit=self._left)
        except OSError as error:
            if error.errno == EFBIG:
                raise too_much(f"more than {MAX_BYTES:,} bytes") from error
            raise
        self._left -= len(content)
        return content, executable

    def _keep(self, reading: Reading) -> None:
        self._readings[reading.path] = reading
        if len(self._readings) > MAX_FILES:
            raise too_much(f"more than {MAX_FILES:,} files")


def read_file(path: str, *, limit: int) -> tuple[bytes, bool]:
    """The content of a regular file, read in one go, and whether it may be executed.

    Raises OSError for anything but a regular file of at most ``limit`` bytes.
    """
    # Without O_NONBLOCK a pipe in the file's place would hold us until somebody writes to it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(EINVAL, "not a regular file", path)
        if found.st_size > limit:
            raise OSError(EFBIG, f"more than {limit:,} bytes", path)
        with open(handle, "rb", closefd=False) as file:
            content = file.read(found.st_size + 1)
    finally:
        os.close(handle)
    if len(content) != found.st_size:
        raise OSError(EAGAIN, "it changed while it was read", path)
    return content, bool(found.st_mode & 0o111)


def file_names(directory: str) -> list[str]:
    """The names in a directory that are no directories themselves; raises OSError."""
    with os.scandir(directory) as entries:
        return sorted(entry.name for entry in entries if not entry.is_dir())


def write_file(path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Put a file in place whole or not at all, and on the disk before anybody relies on it."""
    import tempfile  # slow to load, and most events write nothing

    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".")
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def stamp_of(path: str) -> Stamp:
    """How a file is now; one number, the kind of error, when there is none to look at."""
    try:
        found = os.stat(path)
    except OSError as error:
        return (error.errno or 0,)
    # Nobody can set the first of these, so a time put back with `touch` hides nothing.
    return (
        found.st_ctime_ns,
        found.st_mtime_ns,
        found.st_size,
        found.st_ino,
        found.st_dev,
        found.st_mode,
        found.st_uid,
    )


def are_settled(stamps: Iterable[Stamp], now: float) -> bool:
    """Whether all of these files are old enough for their stamps to be relied on."""
    return all(len(stamp) == 1 or stamp[0] / 1e9 < now - SETTLED for stamp in stamps)


def make_private(directory: str) -> None:
    """Make a directory that is nobody else's to look into; one that exists stays as it is."""
    os.makedirs(directory, mode=0o700, exist_ok=True)


@contextmanager
def locked(directory: str) -> Iterator[None]:
    """Keep every other process out of whatever is done to a directory under this lock."""
    handle = os.open(os.path.join(directory, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def too_much(what: str) -> TrustError:
    """The refusal to trust a config that names half a disk."""
    return TrustError(f"this config would pin {what}: name the files its hooks run instead")
