"""Session memories, on disk across processes or for the length of one."""

import fcntl
import os
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from hookline.model.errors import HooklineError, StateError
from hookline.model.memory import SessionMemory, combined

__all__ = ["BriefMemories", "SessionMemories"]

_NOTHING = SessionMemory()
_PATHS_KEPT = 1000


class SessionMemories:
    """One small file per session; a session that never needs one has none."""

    def __init__(self, home: str) -> None:
        self._dir = os.path.join(home, "memory")
        self._paths: dict[str, str] = {}

    def read(self, session: str) -> SessionMemory:
        """As it is kept; an empty one for a session without a name. Raises StateError."""
        if not session:
            return _NOTHING
        path = self._path(session)
        try:
            return _read(path)
        except OSError as error:
            raise StateError(self._dir, error) from error

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what has changed. Raises StateError."""
        if session and after != before:
            try:
                self._write(self._path(session), before, after)
            except OSError as error:
                raise StateError(self._dir, error) from error

    def add_untold(self, name: str, text: str) -> None:
        """Have a notice shown in a session, by the name of its file. Raises HooklineError."""
        path = f"{self._dir}/{name}"
        try:
            before = _read(path)
            self._write(path, before, replace(before, untold=(*before.untold, text)))
        except OSError as error:
            raise StateError(self._dir, error) from error

    def _path(self, session: str) -> str:
        path = self._paths.get(session)
        if path is None:
            name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
            if len(self._paths) >= _PATHS_KEPT:
                self._paths.clear()
            path = self._paths[session] = f"{self._dir}/{name}"
        return path

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

    def read(self, session: str) -> SessionMemory:
        """As it is kept; an empty one for a session without a name."""
        return self._memories.get(session, _NOTHING)

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what has changed."""
        if session and after != before:
            self._memories[session] = combined(before, after, self.read(session))


def _read(path: str) -> SessionMemory:
    try:
        # Every event asks, and hardly any session has one: this fails in less time than `os.open`
        # does, and in a fifth of what `open` takes.
        os.lstat(path)
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return _NOTHING
    with open(handle, "rb") as file:
        content = file.read()
    try:
        return msgspec.json.decode(content, type=SessionMemory)
    except msgspec.MsgspecError as error:
        raise HooklineError(f"{path} is damaged ({error}); remove it to go on") from error
