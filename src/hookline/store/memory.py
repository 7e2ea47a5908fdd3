"""Session memories, on disk across processes or for the length of one."""

import fcntl
import os
from hashlib import sha256

import msgspec

from hookline.model.errors import HooklineError
from hookline.model.memory import SessionMemory, combined

__all__ = ["BriefMemories", "SessionMemories"]

_NOTHING = SessionMemory()


class SessionMemories:
    """One small file per session; a session that never needs one has none."""

    def __init__(self, home: str) -> None:
        self._dir = os.path.join(home, "memory")

    def read(self, session: str) -> SessionMemory:
        """As it is kept; an empty one for a session without a name. Raises HooklineError."""
        if not session:
            return _NOTHING
        try:
            return _read(self._path(session))
        except OSError as error:
            raise _unkept(error) from error

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what has changed. Raises HooklineError."""
        if session and after != before:
            try:
                self._write(self._path(session), before, after)
            except OSError as error:
                raise _unkept(error) from error

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


def _unkept(error: OSError) -> HooklineError:
    return HooklineError(f"cannot keep the memory of a session: {error}")


class BriefMemories:
    """The same for sessions that end with this process."""

    def __init__(self) -> None:
        self._memories: dict[str, SessionMemory] = {}

    def read(self, session: str) -> SessionMemory:
        """As it is kept; an empty one for a session without a name."""
        return self._memories.get(session, _NOTHING)

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what has changed."""
        if session and after != before:
            self._memories[session] = combined(before, after, self.read(session))


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
