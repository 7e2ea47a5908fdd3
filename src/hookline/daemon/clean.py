"""The process itself: a clean start whatever started it, and what the system says of it.

Nothing of whoever was first to need a daemon may reach the hooks of another.
"""

import gc
import os
import pwd
import resource
import signal
import socket
import sys
from contextlib import suppress

from hookline.daemon.burdens import lift

__all__ = [
    "descriptors",
    "keep_memory",
    "memory",
    "settle",
    "silence",
    "start_clean",
    "trim",
]

_MOST_DESCRIPTORS = 65_536
_COLLECTING = (10_000, 20, 20)
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_KEPT_FREE = 16 << 20


def start_clean(client: int | None = None) -> socket.socket | None:
    """Leaves behind what came with the start: directory, session, descriptors, environment.

    All but ``client``, the descriptor of a connection, which is returned.
    """
    if client:
        os.dup2(client, 0)
    os.chdir("/")
    os.umask(0o077)
    with suppress(PermissionError):  # we lead a group already, as when a person runs this
        os.setsid()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    _close_descriptors()
    lift()
    _raise_descriptors()
    # The callers' environments are in our memory, and are never to be on a disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    with suppress(KeyError):
        environment["HOME"] = pwd.getpwuid(os.getuid()).pw_dir
    os.environ.clear()
    os.environ.update(environment)
    return None if client is None else _taken()


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


def _taken() -> socket.socket:
    """The connection at 0, where nothing is afterwards: hooks inherit it."""
    connection = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    return connection


def silence() -> None:
    """Lets nobody hear what libraries print: it may be of any event, and hold anything."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def memory() -> int:
    """Bytes of this process that are in memory; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def descriptors() -> int:
    """How many descriptors are open; 0 where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/fd")) - 1
    except OSError:
        return 0


def settle() -> None:
    """Tells the collector that what is loaded by now stays: it need not be walked again.

    A walk through all of it takes longer than answering an event does.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTING)


def keep_memory() -> None:
    """Memory that is free stays ours, up to a measure.

    Else glibc gives that of every large request back, and the next one gets it page by page, which
    takes longer than to judge it.
    """
    for option in (_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD):
        _libc("mallopt", option, _KEPT_FREE)


def trim() -> None:
    """Gives memory that large requests have left unused back to the system."""
    _libc("malloc_trim", 0)


def _libc(name: str, *values: int) -> None:
    """Calls a function of the C library, where that has it."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            import ctypes

            getattr(ctypes.CDLL(None), name)(*values)
