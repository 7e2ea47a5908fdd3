"""What hookline wrote where, and the bytes that were there before: so that it can be undone.

Knows its own directory in the state home; must not know any platform.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from hookline._version import __version__
from hookline.installing.files import make_private, write_private
from hookline.model.installing import InstallError, Scope

__all__ = ["Record", "Records", "digest"]


def digest(content: bytes) -> str:
    """By which a file is known to be as we left it."""
    return sha256(content).hexdigest()


class Record(Struct, frozen=True, kw_only=True):
    """One file that hookline was written into."""

    dialect: str
    scope: Scope
    file: str
    before: bytes | None
    """The file as it was; None when there was none."""
    after: str
    """The digest of what we made of it."""
    made: tuple[str, ...] = ()
    """Directories that were made for it."""
    time: float = msgspec.field(default_factory=time.time)
    version: str = __version__


class Records:
    """All records of one state home."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._dir = os.path.join(home, "installs")

    def find(self, dialect: str, file: str) -> Record | None:
        """The record for this file; None when there is none, or none that can be read."""
        return self._load(self._path(dialect, file))

    def all(self) -> Iterator[Record]:
        """Every record there is."""
        names = sorted(os.listdir(self._dir)) if os.path.isdir(self._dir) else []
        for name in names:
            if name.endswith(".json"):
                record = self._load(os.path.join(self._dir, name))
                if record is not None:
                    yield record

    def has_any(self) -> bool:
        """Whether there is a record, be it one that cannot be read."""
        return any(Path(self._dir).glob("*.json"))

    def save(self, record: Record) -> None:
        """Remember it. Raises InstallError."""
        try:
            write_private(self._path(record.dialect, record.file), msgspec.json.encode(record))
        except OSError as error:
            raise self._unusable(error) from error

    def forget(self, record: Record) -> None:
        """There is nothing to undo any more."""
        with suppress(FileNotFoundError):
            os.unlink(self._path(record.dialect, record.file))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One installation at a time. Raises InstallError."""
        try:
            make_private(self._dir)
            handle = os.open(os.path.join(self._dir, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _path(self, dialect: str, file: str) -> str:
        name = sha256(os.fsencode(f"{dialect}\0{file}")).hexdigest()[:32]
        return os.path.join(self._dir, f"{name}.json")

    def _load(self, path: str) -> Record | None:
        try:
            with open(path, "rb") as file:
                return msgspec.json.decode(file.read(), type=Record)
        except (OSError, msgspec.MsgspecError, UnicodeError):
            return None

    def _unusable(self, error: OSError) -> InstallError:
        message = f"the install record in `{self._dir}` cannot be written: {error.strerror}"
        return InstallError(f"{message}; nothing was changed")
