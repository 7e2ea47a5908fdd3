"""What is kept of each session: its project root, its memory, what it is still to be told, and that
it is open where no event tells of its end.

A session's first event says which project it belongs to, and nothing later changes that. What a
person did that makes hookline protect less is told in every open session.

Knows session ids and directories; must not know how a project is found.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.errors import HooklineError, StateError
from hookline.model.memory import SessionMemory, combined

__all__ = [
    "DAY",
    "BriefMemories",
    "MemoryRoots",
    "OpenSession",
    "OpenSessions",
    "SessionMemories",
    "SessionRoots",
    "last_weakening",
    "open_sessions",
    "record_weakening",
]

DAY = 86_400.0
KEPT = 30 * DAY
_REMEMBERED = 1000
_PATHS_KEPT = 1000
_ON_NOTICE = 0
_NOTHING = SessionMemory()
_LONGEST = 100_000


def open_sessions(home: str, now: float) -> Iterator[str]:
    """The names of the files of all sessions that were heard of within two days."""
    with suppress(FileNotFoundError), os.scandir(os.path.join(home, "sessions")) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and now - entry.stat().st_mtime < 2 * DAY:
                yield entry.name


def _name(session_id: str) -> str:
    """A file name for any session id, whatever characters are in it."""
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()


@contextmanager
def _lock(directory: str) -> Iterator[None]:
    for each in (os.path.dirname(directory), directory):
        os.makedirs(each, mode=0o700, exist_ok=True)
    handle = os.open(os.path.join(directory, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace_file(path: str, content: bytes) -> None:
    import tempfile  # slow to load, and most events write nothing

    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))  # 0600, as it always does
    with open(handle, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


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
            root, first = self._settle(os.path.join(self._dir, _name(session_id)), first_guess)
        except OSError as error:
            raise StateError(self._dir, error) from error
        while len(self._known) >= _REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[session_id] = root, self._clock()
        return root, first

    def _settle(self, path: str, first_guess: Callable[[], str]) -> tuple[str, bool]:
        known = self._read(path)
        if known is not None:
            return known, False
        guess = first_guess()
        with _lock(self._dir):
            # Another process may have been first while this one was guessing.
            known = self._read(path)
            if known is not None:
                return known, False
            root = os.fsencode(guess)
            _replace_file(path, _digest(root) + b"\n" + root)
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


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


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
            return _read_memory(path)
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
            before = _read_memory(path)
            self._write(path, before, replace(before, untold=(*before.untold, text)))
        except OSError as error:
            raise StateError(self._dir, error) from error

    def _path(self, session: str) -> str:
        path = self._paths.get(session)
        if path is None:
            if len(self._paths) >= _PATHS_KEPT:
                self._paths.clear()
            path = self._paths[session] = f"{self._dir}/{_name(session)}"
        return path

    def _write(self, path: str, before: SessionMemory, after: SessionMemory) -> None:
        with _lock(self._dir):
            memory = combined(before, after, _read_memory(path))
            _replace_file(path, msgspec.json.encode(memory))


def _read_memory(path: str) -> SessionMemory:
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


class OpenSession(Struct, frozen=True, kw_only=True):
    """What it takes to tell that a session is over, and to run its hooks then."""

    session_id: str
    dialect: str
    argv: tuple[str, ...]
    """The words of the installed line after ``hookline hook``."""
    cwd: str
    agent: tuple[int, int] = (0, 0)
    """The number and start of the agent's process; zeros where they are not known."""
    believed: dict[str, str] = {}
    """What a line with ``--trust-env`` takes from the environment; never what it trusts."""


class OpenSessions:
    """Sessions that no event ends: one file each, as old as the session's last event."""

    SILENT = 1800.0
    """Seconds without an event after which a session is taken to be over."""

    def __init__(self, home: str) -> None:
        self._dir = os.path.join(home, "open-sessions")

    def keep_open(self, name: str, make: Callable[[], OpenSession], *, anew: bool) -> None:
        """A session has spoken; ``anew`` when another process may speak for it from now on."""
        path = os.path.join(self._dir, _name(name))
        # Whoever cannot write here cannot settle the session's root either, and says so there.
        with suppress(OSError):
            try:
                if not anew:
                    os.utime(path)
                    return
            except FileNotFoundError:
                pass
            with _lock(self._dir):
                _replace_file(path, msgspec.json.encode(make()))

    def take_over(
        self, now: float, is_running: Callable[[int, int], bool], *, only: str = ""
    ) -> Iterator[tuple[OpenSession, str]]:
        """Each session that is over, or ``only`` this one, and why; nobody else takes it meanwhile.

        It is forgotten when the next one is asked for, unless it has spoken since: whoever breaks
        off leaves it to the next process.
        """
        if only:
            yield from self._take(os.path.join(self._dir, _name(only)), now, is_running)
            return
        with suppress(FileNotFoundError):
            for entry in sorted(os.scandir(self._dir), key=lambda each: each.name):
                if not entry.name.startswith("."):
                    yield from self._take(entry.path, now, is_running)

    def _take(
        self, path: str, now: float, is_running: Callable[[int, int], bool]
    ) -> Iterator[tuple[OpenSession, str]]:
        with suppress(OSError, msgspec.MsgspecError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            seen = _identify(os.fstat(file.fileno()))
            session = msgspec.json.decode(file.read(), type=OpenSession)
            why = ""
            if session.agent[0] and not is_running(*session.agent):
                why = "the agent's process is gone"
            elif now - seen[1] / 1e9 > self.SILENT:
                why = f"no event for {self.SILENT / 60:g} minutes"
            if why and seen == _identify(os.stat(path)):
                yield session, why
                with _lock(self._dir):
                    if seen == _identify(os.stat(path)):
                        os.unlink(path)


def _identify(found: os.stat_result) -> tuple[int, int]:
    return found.st_ino, found.st_mtime_ns


def record_weakening(home: str, what: str, *, now: float) -> None:
    """Keep it, and have it told with the next event of every open session. Raises HooklineError."""
    text = f"{what}, at {datetime.fromtimestamp(now):%Y-%m-%d %H:%M:%S}".replace("\n", " ")
    path = os.path.join(home, "weakenings.log")
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with open(handle, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{now:.3f} {text}\n")
    except OSError as error:
        raise HooklineError(f"`{home}` cannot be written: {error.strerror}") from error
    memories = SessionMemories(home)
    for name in open_sessions(home, now):
        with suppress(HooklineError):  # one damaged memory keeps nobody else from being told
            memories.add_untold(name, text)


def last_weakening(home: str) -> str:
    """The last one, when it is not older than a day; empty if there is none."""
    try:
        with open(os.path.join(home, "weakenings.log"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LONGEST))
            when, _, text = file.read().decode(errors="replace").splitlines()[-1].partition(" ")
        return text if time.time() - float(when) < DAY else ""
    except (OSError, IndexError, ValueError):
        return ""
