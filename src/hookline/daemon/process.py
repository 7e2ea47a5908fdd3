"""This process: a clean start whatever started it, its limits, and what the system says of it.

Nothing of whoever was first to need a daemon may reach the hooks of another. Loads little: a
process that answers one event asks here when it was started.
"""

import gc
import os
import pwd
import resource
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from socket import socket

__all__ = [
    "count_descriptors",
    "find_limit",
    "freeze_heap",
    "keep_memory",
    "lift_limits",
    "read_memory",
    "read_start_time",
    "silence",
    "start_clean",
    "trim_memory",
]

_MOST_DESCRIPTORS = 65_536
_COLLECTING = (10_000, 20, 20)
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h
_KEPT_FREE = 16 << 20

# Not raised: dumps are never wanted, descriptors have a rule of their own, and programs that hooks
# run lay out their memory in another way when there is no end to the stack.
_NOT_LIFTED = {"RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_STACK"}
# By their names in /proc, and for people.
_LIMITS = {
    "RLIMIT_CPU": ("Max cpu time", "the time that it may compute"),
    "RLIMIT_FSIZE": ("Max file size", "the size of its files"),
    "RLIMIT_DATA": ("Max data size", "its memory"),
    "RLIMIT_AS": ("Max address space", "its memory"),
}


def start_clean(client: int | None = None) -> "socket | None":
    """Leaves behind what came with the start: directory, session, descriptors, environment.

    All but ``client``, the descriptor of a connection, which is returned.
    """
    if client:
        os.dup2(client, 0)
    os.chdir("/")
    os.umask(0o077)
    with suppress(PermissionError):  # we lead a group already, as when a person runs this
        os.setsid()
    _close_descriptors()
    lift_limits()
    _raise_descriptors()
    # The callers' environments are in our memory, and are never to be on a disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    with suppress(KeyError):
        environment["HOME"] = pwd.getpwuid(os.getuid()).pw_dir
    os.environ.clear()
    os.environ.update(environment)
    return None if client is None else _take_connection()


def _close_descriptors() -> None:
    # One inherited pipe is enough to make an agent wait for its end.
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        numbers = list(range(4096))
    for number in numbers:
        if number > 2:
            with suppress(OSError):  # the one of the list itself is closed already
                os.close(number)
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number, which is this one


def _raise_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Programs that hooks run inherit it, and some go through every number there could be.
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _take_connection() -> "socket":
    """The connection at 0, where nothing is afterwards: hooks inherit it."""
    import socket

    connection = socket.socket(fileno=os.dup(0))
    _open_nothing_at(0)
    return connection


def silence() -> None:
    """Lets nobody hear what libraries print: it may be of any event, and hold anything."""
    _open_nothing_at(1, 2)


def _open_nothing_at(*numbers: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in numbers:
        os.dup2(nothing, number)
    os.close(nothing)


# Limits


def lift_limits() -> None:
    """Raises every limit as far as this process may: hooks of other clients would fail by it."""
    for name in dir(resource):
        if not name.startswith("RLIMIT_") or name in _NOT_LIFTED:
            continue
        with suppress(OSError, ValueError):
            which = getattr(resource, name)
            soft, hard = resource.getrlimit(which)
            if soft != hard:
                resource.setrlimit(which, (hard, hard))


def find_limit(usual: str = "/proc/1/limits") -> str:
    """The limit that only the hooks of this process's client should bear; empty without one.

    ``usual`` is where the system says which limits its first process has.
    """
    if os.getpriority(os.PRIO_PROCESS, 0) > 0:
        return "its priority is lowered"
    common: dict[str, int] = {}
    for name, (title, meaning) in _LIMITS.items():
        which = getattr(resource, name, None)  # not every system has all of them
        hard = resource.RLIM_INFINITY if which is None else resource.getrlimit(which)[1]
        if hard == resource.RLIM_INFINITY:
            continue
        common = common or _read_limits(usual)
        if title not in common or hard < common[title]:
            return f"{meaning} is limited to {hard} (`ulimit`)"
    return ""


def _read_limits(path: str) -> dict[str, int]:
    """The finite hard limits of the first process: a container may have them for all of its own."""
    found: dict[str, int] = {}
    with suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            # Max file size             unlimited            1024                 bytes
            title, words = line[:26].rstrip(), line[26:].split()
            if len(words) > 1 and words[1].isdigit():
                found[title] = int(words[1])
    return found


# Time and memory


def read_start_time() -> float:
    """When this process was started, by the monotonic clock; now, where nobody tells.

    Deadlines count from there, and not from when Python was ready.
    """
    now = time.monotonic()
    try:
        with open("/proc/self/stat", "rb") as file:
            # The name of the program comes before, in brackets, and may hold anything.
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except Exception:  # whatever it is, no answer depends on it
        return now
    return now - max(age, 0.0)


def read_memory() -> int:
    """Bytes of this process that are in memory; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def count_descriptors() -> int:
    """How many descriptors are open; 0 where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/fd")) - 1
    except OSError:
        return 0


def freeze_heap() -> None:
    """Tells the collector that what is loaded by now stays: it need not be walked again.

    A walk through all of it takes longer than answering an event does.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTING)


def keep_memory() -> None:
    """Keeps free memory, up to a measure, and in one place for all threads.

    Else glibc gives that of every large request back, and the next one gets it page by page, which
    takes longer than to judge it; and what one thread has freed would be of no use to another.
    """
    _call_libc("mallopt", _M_ARENA_MAX, 1)
    for option in (_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD):
        _call_libc("mallopt", option, _KEPT_FREE)


def trim_memory() -> None:
    """Gives memory that large requests have left unused back to the system."""
    _call_libc("malloc_trim", 0)


def _call_libc(name: str, *values: int) -> None:
    """Calls a function of the C library, where that has it."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            import ctypes

            getattr(ctypes.CDLL(None), name)(*values)
