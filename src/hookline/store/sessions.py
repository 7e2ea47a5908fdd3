"""Which project a session belongs to: its first event says so, and nothing later changes it.

Knows session ids and directories; must not know how a project is found.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from hookline.model.errors import StateError

__all__ = ["DAY", "MemoryRoots", "SessionRoots", "open_sessions"]

DAY = 86_400.0
KEPT = 30 * DAY
_REMEMBERED = 1000
_ON_NOTICE = 0


def open_sessions(home: str, now: float) -> Iterator[str]:
    """The names of the files of all sessions that were heard of within two days."""
    with suppress(FileNotFoundError), os.scandir(os.path.join(home, "sessions")) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and now - entry.stat().st_mtime < 2 * DAY:
                yield entry.name


class SessionRoots:
    """The project root of every session, remembered on disk across processes."""

    def __init__(self, home: str, *, clock: Callable[[], float] = time.time) -> None:
        self._dir = os.path.join(home, "sessions")
        self._clock = clock
        # What was settled never changes, so a process that hears of many events reads it once;
        # and once more a day, which tells everybody that it is still in use.
        self._known: dict[str, tuple[str, float]] = {}

    def root_for(self, session_id: str, first_guess: Callable[[], str]) -> tuple[str, bool]:
        """The session's root, and whether this event was the first and settled it.

        ``first_guess`` says what the root is when no earlier event did; a session without an id
        is settled anew each time.

        Raises StateError when it cannot be remembered: a root that every event may choose
        anew would let a ``cd`` take the project's hooks out of force.
        """
        if not session_id:
            return first_guess(), True
        known, read_at = self._known.get(session_id, ("", 0.0))
        if known and 0 <= self._clock() - read_at < DAY:
            return known, False
        try:
            root, first = self._settled(os.path.join(self._dir, _name(session_id)), first_guess)
        except OSError as error:
            raise StateError(self._dir, error) from error
        while len(self._known) >= _REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[session_id] = root, self._clock()
        return root, first

    def _settled(self, path: str, first_guess: Callable[[], str]) -> tuple[str, bool]:
        known = self._read(path)
        if known is not None:
            return known, False
        guess = first_guess()
        with self._lock():
            # Another process may have been first while this one was guessing.
            known = self._read(path)
            if known is not None:
                return known, False
            self._write(path, guess)
            self._prune()
        return guess, True

    def _read(self, path: str) -> str | None:
        try:
            with open(path, "rb") as file:
                digest, _, root = file.read().partition(b"\n")
                age = self._clock() - os.fstat(file.fileno()).st_mtime
        except FileNotFoundError:
            return None
        if digest != _digest(root):
            return None
        if age > DAY:  # still in use, so not one to prune
            with suppress(OSError):
                os.utime(path, (self._clock(), self._clock()))
        return os.fsdecode(root)

    def _write(self, path: str, root: str) -> None:
        content = os.fsencode(root)
        import tempfile  # slow to load, and most events write nothing

        handle, temporary = tempfile.mkstemp(dir=self._dir)  # 0600, as mkstemp always does
        with open(handle, "wb") as file:
            file.write(_digest(content) + b"\n" + content)
        os.replace(temporary, path)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        for directory in (os.path.dirname(self._dir), self._dir):
            os.makedirs(directory, mode=0o700, exist_ok=True)
        handle = os.open(os.path.join(self._dir, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _prune(self) -> None:
        """Forget sessions that nobody has heard of for a month; looks at most once a day.

        Whatever looks that old is put on notice first, and stays if it is heard of within two
        days: it may be the clock that was put forward.
        """
        now = self._clock()
        mark = os.path.join(self._dir, ".pruned")
        with suppress(FileNotFoundError):
            if abs(now - os.stat(mark).st_mtime) < DAY:
                return
        with open(mark, "wb"):
            os.utime(mark, (now, now))
        with os.scandir(self._dir) as entries:
            for entry in entries:
                if entry.name.startswith(".") or now - entry.stat().st_mtime <= KEPT:
                    continue
                if entry.stat().st_atime == _ON_NOTICE:
                    os.unlink(entry.path)
                else:
                    os.utime(entry.path, (_ON_NOTICE, now - KEPT + 2 * DAY))


class MemoryRoots:
    """The same for sessions that end with this process."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}

    def root_for(self, session_id: str, first_guess: Callable[[], str]) -> tuple[str, bool]:
        """The session's root, and whether this event was the first and settled it."""
        first = session_id not in self._roots
        if first:
            root = first_guess()
            if not session_id:
                return root, True
            self._roots[session_id] = root
        return self._roots[session_id], first


def _name(session_id: str) -> str:
    """A file name for any session id, whatever characters are in it."""
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()
