"""Notices when a path leads to another file, be it for a moment, while a program runs.

Linux tells of every rename, write and removal of what lies on a path, links and parents too; other
systems are asked how it was before and after.
"""

import os
import stat
import struct
import sys
from collections import Counter
from errno import EACCES, ELOOP, ENOENT, ENOSYS
from threading import Lock

__all__ = ["PathWatch"]

_MODIFY, _ATTRIB, _DELETE_SELF, _MOVE_SELF = 0x2, 0x4, 0x400, 0x800
_OVERFLOW = 0x4000
_DONT_FOLLOW, _MASK_ADD = 0x02000000, 0x20000000
_EVENT = struct.Struct("iIII")
_MOST_LINKS = 40


class _Inotify:
    """The kernel's news of files. One for all runs of a process, since closing one takes long."""

    def __init__(self) -> None:
        from ctypes import CDLL, get_errno

        self.pid = os.getpid()
        self.lock = Lock()
        self.events: Counter[int] = Counter()
        self._users: Counter[int] = Counter()
        self._errno = get_errno
        self._libc = CDLL(None, use_errno=True)
        self._handle: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0:
            error = self._errno()
            raise OSError(error, f"inotify: {os.strerror(error)}")

    def watch(self, path: str, mask: int) -> int:
        """The number under which events of what lies at a path are counted from now on."""
        flags = mask | _DELETE_SELF | _MOVE_SELF | _DONT_FOLLOW | _MASK_ADD
        number: int = self._libc.inotify_add_watch(self._handle, os.fsencode(path), flags)
        if number < 0:
            error = self._errno()
            raise OSError(error, os.strerror(error), path)
        self._users[number] += 1
        return number

    def drop(self, number: int) -> None:
        """End one use of a watch."""
        self._users[number] -= 1
        if not self._users[number]:
            del self._users[number], self.events[number]
            self._libc.inotify_rm_watch(self._handle, number)

    def drain(self) -> None:
        """Count what has happened; when too much has, everything has changed."""
        while True:
            try:
                news = os.read(self._handle, 1 << 16)
            except BlockingIOError:
                return
            at = 0
            while at < len(news):
                number, mask, _, length = _EVENT.unpack_from(news, at)
                at += _EVENT.size + length
                changed = [*self._users] if mask & _OVERFLOW else [number]
                self.events.update(each for each in changed if each in self._users)


_shared: _Inotify | None = None


def _share_inotify() -> _Inotify | None:
    """That of this process; None where there is none. Raises OSError when it cannot be had."""
    global _shared  # noqa: PLW0603 - one for the process
    if not sys.platform.startswith("linux"):
        return None
    if _shared is None or _shared.pid != os.getpid():
        try:
            _shared = _Inotify()
        except OSError as error:
            if error.errno == ENOSYS:
                return None
            raise
    return _shared


class PathWatch:
    """The paths of one run, from when each is added until it is closed."""

    def __init__(self) -> None:
        self._inotify = _share_inotify()
        self._found: dict[str, os.stat_result] = {}
        self._counts: dict[int, int] = {}
        self._numbers: list[int] = []

    def add(self, path: str) -> None:
        """Watch a file and every directory and link on the way to it, from the top.

        Raises OSError when there is no file, or nobody could tell if there was another.
        """
        at, todo, links = "/", path.split("/")[::-1], 0
        while todo:
            name = todo.pop()
            here = os.path.dirname(at) if name == ".." else os.path.join(at, name)
            if name in {"", ".", ".."} or not stat.S_ISLNK(self._look_at(here).st_mode):
                at = here if name not in {"", "."} else at
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OSError(ELOOP, os.strerror(ELOOP), path)
            target = os.readlink(here)
            at = "/" if target.startswith("/") else at
            todo += target.split("/")[::-1]

    def is_quiet(self) -> bool:
        """Whether every path has led to the same file, in the same state, all the time."""
        if self._inotify is not None:
            with self._inotify.lock:
                self._inotify.drain()
                if any(self._inotify.events[each] != seen for each, seen in self._counts.items()):
                    return False
        try:
            return all(_state(os.lstat(path)) == _state(was) for path, was in self._found.items())
        except OSError:
            return False

    def close(self) -> None:
        """Stop watching."""
        if self._inotify is not None:
            with self._inotify.lock:
                while self._numbers:
                    self._inotify.drop(self._numbers.pop())

    def _look_at(self, path: str) -> os.stat_result:
        """How it is, looked at once it is watched, so that no change comes in between."""
        found = self._found.get(path)
        if found is None:
            self._watch(path, 0)
            found = self._found[path] = os.lstat(path)
            if not stat.S_ISDIR(found.st_mode):
                self._watch(path, _MODIFY | _ATTRIB)
        return found

    def _watch(self, path: str, mask: int) -> None:
        if self._inotify is None:
            return
        with self._inotify.lock:
            self._inotify.drain()
            try:
                number = self._inotify.watch(path, mask)
            except OSError as error:
                # What we may not read, such as a home among others, we could not move either.
                if error.errno == EACCES and not os.access(os.path.dirname(path), os.W_OK):
                    return
                raise
            if mask and number not in self._counts:
                raise OSError(ENOENT, "it is being replaced", path)
            self._numbers.append(number)
            self._counts.setdefault(number, self._inotify.events[number])


def _state(found: os.stat_result) -> tuple[int, ...]:
    """What tells another file; of a directory, whose entries come and go, only its identity."""
    if stat.S_ISDIR(found.st_mode):
        return found.st_dev, found.st_ino
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, *times
