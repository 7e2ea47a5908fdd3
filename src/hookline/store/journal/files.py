"""The journal's files: made for nobody else's eyes, opened, and set aside when damaged."""

import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from hookline.model.errors import HooklineError
from hookline.store.journal.schema import migrate

__all__ = [
    "DAMAGED",
    "connected",
    "identity",
    "is_busy",
    "is_damage",
    "opened",
    "quoted",
    "set_aside",
    "sync_log",
]

DAMAGED = "journal-damaged-"
_DAMAGED_KEPT = 3
_COMPANIONS = ("-wal", "-shm")
_GROWN = 4 << 20

_OPEN_WAIT = 0.1


def opened(path: str, *, full: bool, grow: bool = False) -> sqlite3.Connection:
    """The journal ready for writing, made if there is none; ``grow`` makes room for many events.

    Raises OSError, sqlite3.Error, and HooklineError when it is not ours to write.
    """
    _made(path)
    connection = connected(path)
    try:
        # Before anything is written: it decides the layout of the file.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
        # Checkpoints wait for the disk. They are made beside the writer, not inside a commit.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA cache_size = -4096")
        migrate(connection, path)
        if grow:
            _grow(connection, f"{path}-wal")
        connection.execute("PRAGMA busy_timeout = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def connected(path: str) -> sqlite3.Connection:
    """A connection to a journal that is there, in which every statement is a transaction."""
    return sqlite3.connect(
        f"file:{quoted(path)}?mode=rw",
        uri=True,
        timeout=_OPEN_WAIT,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=32,
    )


def quoted(path: str) -> str:
    """The path in a URI, as SQLite reads it."""
    from urllib.parse import quote

    return quote(os.fsencode(os.path.abspath(path)))


def _made(path: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    # Only looked at, never opened: to close any descriptor of a database would give up the locks
    # that other connections of this process hold on it.
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        raise HooklineError(f"{path} is not a file of this user's; move it away")
    for name in (path, *(path + end for end in _COMPANIONS)):
        with suppress(FileNotFoundError):
            if os.lstat(name).st_mode & 0o077:
                os.chmod(name, 0o600)


def _grow(connection: sqlite3.Connection, wal: str) -> None:
    """Room for what is to come: to sync a file that grows costs half as much again.

    Zeros are no frame to any reader. The lock keeps others from appending meanwhile.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        with suppress(OSError):
            handle = os.open(wal, os.O_WRONLY | os.O_CLOEXEC)
            try:
                size = os.fstat(handle).st_size
                if size < _GROWN:
                    os.pwrite(handle, bytes(_GROWN - size), size)
                    os.fsync(handle)
            finally:
                os.close(handle)
    finally:
        connection.execute("ROLLBACK")


def sync_log(path: str) -> None:
    """Returns when all commits are on the disk; without a log they are. Raises OSError."""
    try:
        handle = os.open(f"{path}-wal", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def identity(path: str) -> tuple[int, int] | None:
    """Which file stands under this name now; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_busy(error: Exception) -> bool:
    """Whether another process is writing, so that it is worth trying again soon."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_damage(error: Exception) -> bool:
    """Whether the file is no database any more, so that trying again is of no use."""
    return _code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _code(error: Exception) -> int | None:
    # The upper bits tell which kind of it.
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def set_aside(path: str, seen: tuple[int, int] | None) -> str:
    """Renames a damaged journal, unless another process did so already; its new name, or empty.

    Raises OSError.
    """
    with _alone(os.path.dirname(path) or "."):
        if seen is None or identity(path) != seen:
            return ""
        time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        aside = os.path.join(os.path.dirname(path), f"{DAMAGED}{time}.db")
        # The database last: until then a process that stops in the middle leaves a damaged one,
        # which will be set aside again, and never a fresh one beside an old log.
        for end in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                os.rename(path + end, aside + end)
        _forget_older(os.path.dirname(path) or ".")
    return aside


@contextmanager
def _alone(directory: str) -> Iterator[None]:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _forget_older(directory: str) -> None:
    """A file that is damaged again and again must not fill the disk."""
    damaged = sorted(
        name for name in os.listdir(directory) if name.startswith(DAMAGED) and name.endswith(".db")
    )
    for name in damaged[:-_DAMAGED_KEPT]:
        for end in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(directory, name + end))
