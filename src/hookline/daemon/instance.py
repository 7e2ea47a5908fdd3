"""One daemon per user, home, version and sight of the files: its directory, its lock, its socket.

The directory is a real one, ours, and closed to others, or it is not used. Whoever holds the lock
is the daemon; the socket is replaced and removed under the lock only. Nothing is left at the end.
"""

import fcntl
import os
import socket
import stat
import time
from contextlib import suppress
from struct import Struct as Layout

import msgspec
from msgspec import Struct

from hookline.client.thin_io import find_run_dir, is_ours_alone
from hookline.model.errors import HooklineError

__all__ = [
    "Claim",
    "InstanceError",
    "LockHolder",
    "claim",
    "connect",
    "find_holder",
    "is_held_by",
    "peer_pid",
    "peer_uid",
]

_LOCK = "lock"
_SOCKET = "daemon.sock"
_NEW_SOCKET = "daemon.sock.new"
_BACKLOG = 1024
_TRIES = 20
_LOOKS = 2
_LOOK = 0.005
# SO_PEERCRED: process, user, group. LOCAL_PEERCRED elsewhere: an xucred, whose version comes first.
_PEER, _PEER_LAYOUT = (
    ((socket.SOL_SOCKET, socket.SO_PEERCRED), Layout("iII"))
    if hasattr(socket, "SO_PEERCRED")
    else ((0, 1), Layout("2Ih66x"))
)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class InstanceError(HooklineError):
    """The directory of the daemon cannot be used."""


class LockHolder(Struct, frozen=True):
    """Who holds the lock, as the lock file says."""

    pid: int
    version: str
    started: float
    """Seconds since 1970."""


class Claim:
    """The lock, held, and the socket that is bound under it."""

    def __init__(self, path: str, directory: int, lock: int) -> None:
        self.path = path
        self.socket = f"{path}/{_SOCKET}"
        self._directory = directory
        self._lock = lock
        self._bound: tuple[int, int] | None = None

    def bind(self) -> socket.socket:
        """A new socket in the place of whatever is there. Raises OSError."""
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with suppress(FileNotFoundError):
                os.unlink(_NEW_SOCKET, dir_fd=self._directory)
            bound.bind(_find_address(self._directory, self.path, _NEW_SOCKET))
            os.chmod(_NEW_SOCKET, 0o600, dir_fd=self._directory)
            # It listens before anybody can find it, so that nobody is turned away.
            bound.listen(_BACKLOG)
            self._bound = _identify(_NEW_SOCKET, self._directory)
            os.rename(_NEW_SOCKET, _SOCKET, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        except BaseException:
            bound.close()
            raise
        return bound

    def is_current(self) -> bool:
        """Whether the lock is still the one that others would find."""
        return _identify(self.path) == _identify(self._directory) and _identify(
            _LOCK, self._directory
        ) == _identify(self._lock)

    def is_reachable(self) -> bool:
        """Whether the socket is still ours, in a directory that clients accept."""
        found = os.fstat(self._directory)
        return (
            stat.S_IMODE(found.st_mode) == 0o700
            and self._bound is not None
            and _identify(_SOCKET, self._directory) == self._bound
        )

    def repair(self) -> socket.socket:
        """A new socket after something has happened to the old one. Raises OSError."""
        os.fchmod(self._directory, 0o700)
        return self.bind()

    def release(self) -> None:
        """Removes what is ours, the lock last, and lets go of it."""
        with suppress(OSError):
            if self.is_current():
                if self._bound and _identify(_SOCKET, self._directory) == self._bound:
                    os.unlink(_SOCKET, dir_fd=self._directory)
                # Whoever waits with this lock in hand sees that it is nobody's any more.
                os.unlink(_LOCK, dir_fd=self._directory)
                os.rmdir(self.path)
        self.drop()

    def drop(self) -> None:
        """Lets go of the lock and touches nothing: what is there belongs to another."""
        os.close(self._lock)
        os.close(self._directory)


def claim(home: str, version: str) -> Claim | None:
    """The place of the daemon, if it is free. Raises InstanceError."""
    path = find_run_dir(home, version)
    for tried in range(_TRIES):
        try:
            directory = _open_directory(path)
        except FileNotFoundError:
            continue  # removed by its last holder as soon as we had made it
        except OSError as error:
            raise InstanceError(f"{path} cannot be used: {error.strerror}") from error
        taken = False
        try:
            lock = _take_lock(directory)
            if lock is None:
                # Whoever only looks who has the lock has it for a moment.
                if tried < _LOOKS:
                    time.sleep(_LOOK)
                    continue
                return None
            found = Claim(path, directory, lock)
            if found.is_current():
                _sign(lock, version)
                taken = True
                return found
            os.close(lock)  # removed by its last holder while we took it
        except FileNotFoundError:
            pass  # the directory was removed by its last holder while we were in it
        except OSError as error:
            raise InstanceError(f"the lock in {path} cannot be used: {error.strerror}") from error
        finally:
            if not taken:
                os.close(directory)
    raise InstanceError(f"the lock in {path} changes hands too often to be taken")


def _open_directory(path: str) -> int:
    """The directory, made if it is missing. Raises OSError, InstanceError."""
    with suppress(FileExistsError):
        os.makedirs(os.path.dirname(path), mode=0o700)
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    directory = os.open(path, _DIRECTORY)
    try:
        found = os.fstat(directory)
        if found.st_uid != os.getuid():
            raise InstanceError(f"{path} belongs to user {found.st_uid}: remove it")
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.fchmod(directory, 0o700)
    except BaseException:
        os.close(directory)
        raise
    return directory


def _take_lock(directory: int) -> int | None:
    """The lock file, locked; None while another process has it. Raises OSError, InstanceError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    lock = os.open(_LOCK, flags, 0o600, dir_fd=directory)
    try:
        found = os.fstat(lock)
        # A second name would be a file of somebody's that is written to by mistake.
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_nlink > 1:
            raise InstanceError("the daemon's lock is not a plain file of ours: remove it")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except BaseException:
        os.close(lock)
        raise
    return lock


def _sign(lock: int, version: str) -> None:
    told = msgspec.json.encode(LockHolder(os.getpid(), version, time.time()))
    # Only for people to read: on a full disk there is a daemon all the same.
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, told, 0)


def find_holder(home: str, version: str) -> LockHolder | None:
    """Who holds the lock, if anybody does; its process may be anything but gone."""
    with suppress(OSError, msgspec.MsgspecError):
        lock = os.open(
            f"{find_run_dir(home, version)}/{_LOCK}", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return msgspec.json.decode(os.pread(lock, 4096, 0), type=LockHolder)
        finally:
            os.close(lock)
    return None


def is_held_by(home: str, version: str, pid: int) -> bool:
    """Whether the system says, too, that this process has the lock. Only Linux does."""
    try:
        inode = os.lstat(f"{find_run_dir(home, version)}/{_LOCK}").st_ino
        with open("/proc/locks", encoding="ascii") as file:
            # 7: FLOCK  ADVISORY  WRITE 4711 fe:00:2441378 0 EOF
            held = [line.split() for line in file]
    except OSError:
        return False
    # The device is left out: some file systems have another one there than in `stat`.
    return any(
        words[1:2] == ["FLOCK"] and words[4] == str(pid) and words[5].endswith(f":{inode}")
        for words in held
        if len(words) > 5
    )


def connect(home: str, version: str, timeout: float) -> socket.socket:
    """A connection to the daemon, found as clients find it. Raises OSError."""
    path = find_run_dir(home, version)
    directory = os.open(path, _DIRECTORY)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if not is_ours_alone(os.fstat(directory)):
            raise PermissionError(f"{path} is not a directory of ours alone")
        sock.settimeout(timeout)
        sock.connect(_find_address(directory, path, _SOCKET))
    except BaseException:
        sock.close()
        raise
    finally:
        os.close(directory)
    return sock


def peer_uid(sock: socket.socket) -> int:
    """Whose process is at the other end, as the system says."""
    return _read_peer(sock)[1]


def peer_pid(sock: socket.socket) -> int | None:
    """Its number, as it is called here; None where the system does not tell."""
    with suppress(OSError):  # it has gone already
        return _read_peer(sock)[0] if hasattr(socket, "SO_PEERCRED") else None
    return None


def _read_peer(sock: socket.socket) -> tuple[int, ...]:
    return _PEER_LAYOUT.unpack(sock.getsockopt(*_PEER, _PEER_LAYOUT.size))


def _find_address(directory: int, path: str, name: str) -> str:
    # Through the descriptor the name is short, whatever the home is called, and cannot be swapped.
    through = f"/proc/self/fd/{directory}"
    return f"{through if os.path.isdir(through) else path}/{name}"


def _identify(what: str | int, directory: int | None = None) -> tuple[int, int] | None:
    try:
        if isinstance(what, int):
            found = os.fstat(what)
        else:
            found = os.stat(what, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None
    return found.st_dev, found.st_ino
