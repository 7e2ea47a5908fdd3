"""A connection that only reads a journal, also where nothing at all can be written."""

import os
import shutil
import sqlite3
from tempfile import TemporaryDirectory

from hookline.model.errors import HooklineError
from hookline.store.journal.files import in_words, quoted

__all__ = ["reading"]

_WAIT = 5.0
_COPY = "journal.db"
_TRIES = 5


def reading(path: str) -> sqlite3.Connection:
    """Sees every event, those too that are still in the log.

    Raises sqlite3.Error, and HooklineError when it takes a copy to read it and none can be made.
    """
    path = os.path.realpath(path)  # beside which SQLite has the log
    try:
        return _connected(path)
    except sqlite3.OperationalError as error:
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            raise
    # SQLite wants a file for its locks beside the log, and cannot make one. So nobody is writing
    # either: that file would be there. `immutable` does without it, but looks into no log.
    return _copied(path) if _has_log(path) else _connected(path, "&immutable=1")


def _connected(path: str, options: str = "") -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quoted(path)}?mode=ro{options}",
        uri=True,
        timeout=_WAIT,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA user_version").fetchone()  # only now the files are opened
    except BaseException:
        connection.close()
        raise
    return connection


def _has_log(path: str) -> bool:
    try:
        return os.stat(f"{path}-wal").st_size > 0
    except OSError:
        return False


def _copied(path: str) -> sqlite3.Connection:
    try:
        with TemporaryDirectory(prefix="hookline-journal-") as directory:
            copy = os.path.join(directory, _COPY)
            for _ in range(_TRIES):
                before = _state(path)
                for end in ("", "-wal"):
                    shutil.copyfile(path + end, copy + end)
                # A writer may have come meanwhile, and what was copied may not fit together.
                if _state(path) == before:
                    break
            else:
                raise HooklineError(f"the journal {path} is being written to; try again")
            # The copy has no name after this, and is gone with the connection, however that ends.
            return _connected(copy)
    except OSError as error:
        if error.filename and os.path.dirname(error.filename) == os.path.dirname(path):
            raise HooklineError(f"the journal {path} cannot be read: {in_words(error)}") from error
        raise HooklineError(
            f"the journal {path} lies where nothing can be written, so it takes a copy to read it, "
            f"and none can be made: {in_words(error)}. TMPDIR says where to make it."
        ) from error


def _state(path: str) -> list[tuple[int, int, int]]:
    found = (os.stat(path + end) for end in ("", "-wal"))
    return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found]
