"""The journal's files: made for nobody else's eyes, opened, synced, and set aside when damaged."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from hookline.model.errors import HooklineError
from hookline.store.journal.schema import migrate

__all__ = [
    "BUSY_MS",
    "DAMAGED",
    "PAGE",
    "connect",
    "describe_error",
    "file_identity",
    "is_busy",
    "is_damage",
    "open_journal",
    "quote_path",
    "set_aside",
    "sync",
    "sync_log",
    "transaction",
]

DAMAGED = "journal-damaged-"
_DAMAGED_KEPT = 3
_COMPANIONS = ("-wal", "-shm")

PAGE = 8192
"""An event and its payload are in one, mostly, and a commit has fewer of them to write."""

BUSY_MS = 100
"""For so many milliseconds an answer may wait for another process that is writing."""

sync = getattr(os, "fdatasync", os.fsync)
"""Returns when what was written through this descriptor is on the disk. Raises OSError."""

_PLAIN = frozenset(b"/-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def open_journal(path: str, *, full: bool) -> sqlite3.Connection:
    """The journal ready for writing, made if there is none.

    Raises OSError, sqlite3.Error, and HooklineError when it is not ours to write.
    """
    fresh = not _make(path)
    connection = connect(path)
    try:
        if fresh:
            # The layout of the file, which it keeps. To say it again would be a commit, and a sync.
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
        connection.execute("PRAGMA cache_size = -4096")
        migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: str) -> sqlite3.Connection:
    """A connection to a journal that is there, in which every statement is a transaction."""
    connection = sqlite3.connect(
        f"file:{quote_path(path)}?mode=rw",
        uri=True,
        timeout=BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=32,
    )
    # Checkpoints wait for the disk. They are made beside the writer, not inside a commit.
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


def quote_path(path: str) -> str:
    """The path in a URI, as SQLite reads it."""
    # By hand: to load the library that knows how takes longer than to write an event.
    raw = os.fsencode(os.path.abspath(path))
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)


def _make(path: str) -> int:
    """Sees to it that there is a file, and that nobody else can read it; its size."""
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
    return found.st_size


def sync_log(path: str) -> None:
    """Returns when all commits are on the disk; without a log they are. Raises OSError."""
    try:
        handle = os.open(f"{path}-wal", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        sync(handle)
    finally:
        os.close(handle)


def file_identity(path: str) -> tuple[int, int] | None:
    """Which file stands under this name now; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Alone with the file until it commits at the end, or earlier; an error undoes all of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        if connection.in_transaction:
            connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def is_busy(error: Exception) -> bool:
    """Whether another process is writing, so that it is worth trying again soon."""
    return _read_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_damage(error: Exception) -> bool:
    """Whether the file is no database any more, so that trying again is of no use."""
    return _read_code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _read_code(error: Exception) -> int | None:
    # The upper bits tell which kind of it.
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def describe_error(error: Exception) -> str:
    """The error in words; SQLite's own do not say which of many reasons it was."""
    if is_busy(error):
        return "another process has it locked"
    if isinstance(error, OSError) and error.strerror:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        return f"{error.strerror}{where}"
    return str(error) or type(error).__name__


def set_aside(path: str, seen: tuple[int, int] | None) -> str:
    """Renames a damaged journal, unless another process did so already; its new name, or empty.

    Raises OSError.
    """
    import fcntl

    directory = os.path.dirname(path) or "."
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if seen is None or file_identity(path) != seen:
            return ""
        time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        aside = os.path.join(os.path.dirname(path), f"{DAMAGED}{time}.db")
        # The database last: until then a process that stops in the middle leaves a damaged one,
        # which will be set aside again, and never a fresh one beside an old log.
        for end in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                os.rename(path + end, aside + end)
        _remove_oldest(directory)
    finally:
        os.close(lock)
    return aside


def _remove_oldest(directory: str) -> None:
    """A file that is damaged again and again must not fill the disk."""
    damaged = sorted(
        name for name in os.listdir(directory) if name.startswith(DAMAGED) and name.endswith(".db")
    )
    for name in damaged[:-_DAMAGED_KEPT]:
        for end in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(directory, name + end))
