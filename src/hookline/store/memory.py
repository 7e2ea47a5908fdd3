"""Session memories, on disk across processes or for the length of one."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

import msgspec

from hookline.model.errors import HooklineError
from hookline.model.memory import SessionMemory, combined

__all__ = ["BriefMemories", "SessionMemories"]


class SessionMemories:
    """One small file per session; a session that never needs one has none."""

    def __init__(self, home: str) -> None:
        self._dir = os.path.join(home, "memory")

    @contextmanager
    def open(self, session: str) -> Iterator["Page"]:
        """The session's memory; what changed is written back when it is closed.

        Raises HooklineError when it cannot be read or kept: a latch that is forgotten would open
        every gate.
        """
        path = os.path.join(self._dir, sha256(session.encode("utf-8", "surrogatepass")).hexdigest())
        try:
            known = _read(path) if session else SessionMemory()
            page = Page(known)
            yield page
            if session and page.memory != known:
                self._write(path, known, page.memory)
        except OSError as error:
            raise HooklineError(f"cannot keep the memory of a session: {error}") from error

    def _write(self, path: str, before: SessionMemory, after: SessionMemory) -> None:
        os.makedirs(self._dir, mode=0o700, exist_ok=True)
        lock = os.open(os.path.join(self._dir, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            memory = combined(before, after, _read(path))
            import tempfile  # slow to load, and most events write nothing

            handle, temporary = tempfile.mkstemp(dir=self._dir)
            with open(handle, "wb") as file:
                file.write(msgspec.json.encode(memory))
            os.replace(temporary, path)
        finally:
            os.close(lock)


class BriefMemories:
    """The same for sessions that end with this process."""

    def __init__(self) -> None:
        self._memories: dict[str, SessionMemory] = {}

    @contextmanager
    def open(self, session: str) -> Iterator["Page"]:
        """The session's memory."""
        before = self._memories.get(session, SessionMemory())
        page = Page(before)
        yield page
        if session and page.memory != before:
            stored = self._memories.get(session, SessionMemory())
            self._memories[session] = combined(before, page.memory, stored)


class Page:
    """A memory that may be replaced while it is open."""

    def __init__(self, memory: SessionMemory) -> None:
        self.memory = memory


_NOTHING = SessionMemory()


def _read(path: str) -> SessionMemory:
    try:
        # Every event asks, and hardly any session has one: `open` takes five times as long to fail.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return _NOTHING
    with open(handle, "rb") as file:
        content = file.read()
    try:
        return msgspec.json.decode(content, type=SessionMemory)
    except msgspec.MsgspecError as error:
        raise HooklineError(f"{path} is damaged ({error}); remove it to go on") from error
