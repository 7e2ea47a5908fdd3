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

    def open(self, session: str) -> "_Opened":
        """The session's memory; what changed is written back when it is closed.

        Raises HooklineError when it cannot be read or kept: a latch that is forgotten would open
        every gate.
        """
        return _Opened(self, session)

    def read(self, session: str) -> SessionMemory:
        """As it is kept; an empty one for a session without a name. Raises OSError."""
        return _read(self._path(session)) if session else _NOTHING

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what has changed. Raises OSError."""
        if session and after != before:
            self._write(self._path(session), before, after)

    def _path(self, session: str) -> str:
        name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self._dir}/{name}"

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


class _Opened:
    """Written out, because every event passes here and a generator costs more."""

    __slots__ = ("_before", "_memories", "_page", "_session")

    def __init__(self, memories: SessionMemories, session: str) -> None:
        self._memories = memories
        self._session = session

    def __enter__(self) -> "Page":
        try:
            self._before = self._memories.read(self._session)
        except OSError as error:
            raise _unkept(error) from error
        self._page = Page(self._before)
        return self._page

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if isinstance(error, OSError):
            raise _unkept(error) from error
        if kind is None:
            try:
                self._memories.write(self._session, self._before, self._page.memory)
            except OSError as failed:
                raise _unkept(failed) from failed


def _unkept(error: OSError) -> HooklineError:
    return HooklineError(f"cannot keep the memory of a session: {error}")


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
