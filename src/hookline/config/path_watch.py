"""Notices when a path leads to another file, be it for a moment, while a program runs.

Linux tells of every rename, write and removal of what lies on a path, links and parents too; other
systems are asked how it was before and after. Stores to mapped memory it does not tell, but who has
a file open for writing is seen: when the watch begins, when it ends, or by closing it in between.
"""

import os
import signal
import struct
import sys
from collections import Counter
from errno import EACCES, EAGAIN, EMFILE, ENOSPC, ENOSYS
from functools import lru_cache
from stat import S_ISDIR, S_ISLNK, S_ISREG
from threading import Lock

from hookline.model.errors import HandlerUnavailable

__all__ = ["PathWatch"]

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_DELETE_SELF, _MOVE_SELF, _OVERFLOW = 0x400, 0x800, 0x4000
_SELF = _DELETE_SELF | _MOVE_SELF | 0x02000000 | 0x20000000  # do not follow links; keep other bits
_CHANGES = _MODIFY | _ATTRIB | _CLOSE_WRITE
_EVENT = struct.Struct("iIII")
_MOST_LINKS = 40
_EXHAUSTED = {EMFILE, ENOSPC}
_LIMITS = "the sysctls fs.inotify.max_user_watches and max_user_instances"
# What is watched stays so, since the next event asks for it again; at last all is begun anew.
_MOST_WATCHES = 1_000


class _Inotify:
    """The kernel's news of files. One for all runs of a process, since closing one takes long."""

    def __init__(self) -> None:
        from ctypes import CDLL, get_errno

        self.lock = Lock()
        self.events: Counter[int] = Counter()
        self._handle = -1
        self._errno = get_errno
        self._libc = CDLL(None, use_errno=True)
        self._handle = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def __del__(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def watch(self, path: str, mask: int) -> int:
        """The number under which events of what lies at a path are counted from now on."""
        name = os.fsencode(path)
        return self._checked(self._libc.inotify_add_watch(self._handle, name, mask | _SELF))

    def drain(self) -> None:
        """Count what has happened; when that is too much to tell, number -1 has changed."""
        try:
            while news := os.read(self._handle, 1 << 16):
                at = 0
                while at < len(news):
                    number, mask, _, length = _EVENT.unpack_from(news, at)
                    self.events[-1 if mask & _OVERFLOW else number] += 1
                    at += _EVENT.size + length
        except BlockingIOError:
            return

    def _checked(self, result: int) -> int:
        if result < 0:
            raise OSError(self._errno(), os.strerror(self._errno()))
        return result


@lru_cache(maxsize=1)
def _share_inotify(pid: int) -> _Inotify | None:
    """That of this process; None where there is none. Raises OSError when it cannot be had."""
    try:
        return _Inotify() if sys.platform.startswith("linux") else None
    except OSError as error:
        if error.errno == ENOSYS:
            return None
        raise


class PathWatch:
    """The paths of one run, each from when it is added."""

    def __init__(self) -> None:
        self._inotify: _Inotify | None = None
        self._found: dict[str, os.stat_result] = {}
        self._counts: dict[int, int] = {}

    def add(self, path: str) -> str:
        """Watch a file and every directory and link on the way to it, from the top.

        Where it leads; empty when there is no file, or nobody could tell if there was another.
        Raises HandlerUnavailable when the system has no watches left.
        """
        at, todo, links = "/", path.split("/")[::-1], 0
        try:
            self._inotify = self._inotify or _share_inotify(os.getpid())
            while todo and links <= _MOST_LINKS:
                name = todo.pop()
                if name in {"", ".", ".."}:
                    at = os.path.dirname(at) if name == ".." else at
                    continue
                here = os.path.join(at, name)
                if not S_ISLNK(self._look_at(here).st_mode):
                    at = here
                    continue
                links += 1
                target = os.readlink(here)
                at = "/" if target.startswith("/") else at
                todo += target.split("/")[::-1]
        except OSError as error:
            if error.errno in _EXHAUSTED:
                message = f"files cannot be watched ({error.strerror}): raise {_LIMITS}"
                raise HandlerUnavailable(message) from error
            return ""
        return "" if todo or self._has_writer(at) else at

    def is_quiet(self) -> bool:
        """Whether every path has led to the same file, in the same state, all the time."""
        if self._inotify is not None:
            # Asked first: whoever closes it from now on is told by the kernel.
            if any(map(self._has_writer, self._found)):
                return False
            with self._inotify.lock:
                self._inotify.drain()
                if any(self._inotify.events[each] != seen for each, seen in self._counts.items()):
                    return False
        try:
            return all(_state(os.lstat(path)) == _state(was) for path, was in self._found.items())
        except OSError:
            return False

    def _has_writer(self, path: str) -> bool:
        if self._inotify is None or not S_ISREG(self._found[path].st_mode):
            return False
        try:
            return _is_open_for_writing(path)
        except OSError as error:
            return error.errno != EACCES  # what we cannot read, we do not run by reading it

    def _look_at(self, path: str) -> os.stat_result:
        """How it is, looked at once it is watched, so that no change comes in between."""
        found = self._found.get(path)
        if found is None:
            number = self._watch(path, 0)
            found = self._found[path] = os.lstat(path)
            if not S_ISDIR(found.st_mode) and self._watch(path, _CHANGES) != number:
                raise FileNotFoundError(path)  # it is being replaced right now
        return found

    def _watch(self, path: str, mask: int) -> int:
        if self._inotify is None:
            return 0
        with self._inotify.lock:
            self._inotify.drain()
            try:
                number = self._inotify.watch(path, mask)
            except OSError as error:
                # What we may not read, such as a home among others, we could not move either.
                if error.errno != EACCES or os.access(os.path.dirname(path), os.W_OK):
                    raise
                return 0
            if number > _MOST_WATCHES:
                _share_inotify.cache_clear()
            for each in (number, -1):
                self._counts.setdefault(each, self._inotify.events[each])
            return number


def _is_open_for_writing(path: str) -> bool:
    """Whether anybody could change a file of ours without opening it again.

    The kernel gives a read lease only where nobody can. What belongs to others it does not tell.
    """
    from fcntl import F_RDLCK, F_SETLEASE, F_SETSIG, F_UNLCK, fcntl

    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # Who opens it for writing in this moment waits for us, and this signal does nothing.
        fcntl(handle, F_SETSIG, signal.SIGURG)
        fcntl(handle, F_SETLEASE, F_RDLCK)
        fcntl(handle, F_SETLEASE, F_UNLCK)
    except OSError as error:
        return error.errno == EAGAIN
    finally:
        os.close(handle)
    return False


def _state(found: os.stat_result) -> tuple[int, ...]:
    """What tells another file; of a directory, whose entries come and go, only its identity."""
    if S_ISDIR(found.st_mode):
        return found.st_dev, found.st_ino
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, *times
