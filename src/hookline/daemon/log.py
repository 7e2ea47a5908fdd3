"""The daemon's log: a line for each thing that a person may want to know, and never too many."""

import os
import time
import traceback
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["Log", "log_path"]

_LARGEST = 1 << 20
_LONGEST = 16_384
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def log_path(home: str) -> str:
    """Where the log is; what was before it has `.1` at its end."""
    return os.path.join(home, "logs", "daemon.log")


class Log:
    """Appends lines. A log that cannot be written never keeps an event from its answer."""

    def __init__(self, redact: Callable[[str], str] = lambda text: text) -> None:
        """``redact`` takes out of a line what nobody may read."""
        self._redact = redact
        self._path = ""
        self._file: int | None = None

    def at(self, home: str) -> None:
        """Writes to the log of this home from now on."""
        self._path = log_path(home)

    @property
    def number(self) -> int | None:
        """The descriptor, which stays the same when the file is turned over; None: not writable."""
        if self._file is None and self._path:
            self._open()
        return self._file

    def note(self, text: str) -> None:
        """One line, with the time and our number."""
        if not self._path:
            return
        shown = self._redact(text)[:_LONGEST].rstrip().replace("\n", "\n  ")
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{now} {os.getpid()} {shown}\n".encode(errors="backslashreplace")
        with suppress(OSError):
            self._fit(len(line))
            if self._file is not None:
                os.write(self._file, line)

    def on_exception(self, loop: AbstractEventLoop, context: dict[str, Any]) -> None:
        """What the loop is to do with an exception that nobody took."""
        error = context.get("exception")
        where = "".join(traceback.format_exception(error)) if error is not None else ""
        self.note(f"{context.get('message', 'something failed')}: {where}")

    def _fit(self, size: int) -> None:
        if self._file is None:
            self._open()
        if self._file is None or os.fstat(self._file).st_size + size <= _LARGEST:
            return
        with suppress(OSError):
            # Another process of ours may have done it already.
            if os.path.samestat(os.fstat(self._file), os.lstat(self._path)):
                os.replace(self._path, f"{self._path}.1")
        self._open()

    def _open(self) -> None:
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            fresh = os.open(self._path, _FLAGS, 0o600)
        except OSError:
            return
        if self._file is None:
            self._file = fresh
            return
        # Whoever knows the number must never write to another file by it, not even for a moment.
        os.dup2(fresh, self._file, inheritable=False)
        os.close(fresh)
