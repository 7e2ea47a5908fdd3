"""Reads and extends regular files that somebody else names, bounded and without waiting.

A FIFO, a terminal or a device in a file's place would hold the agent up for as long as it likes,
and one of them may be our own stdin.
"""

import os
from errno import EINVAL, EISDIR
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO

__all__ = ["append_regular", "open_regular", "read_regular", "text_of"]

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_ADDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
# What these name is another thing in this process than in the one that a command starts.
_OUR_OWN = ("/dev/std", "/dev/fd/", "/dev/tty", "/proc/", "/sys/")


def open_regular(path: str, *, follow: bool = True) -> BinaryIO:
    """A regular file, open for reading; raises OSError or ValueError for all else."""
    # Before it is opened: to open a device may do something.
    mode = os.stat(path, follow_symlinks=follow).st_mode
    if S_ISREG(mode) and not os.path.normpath(path).startswith(_OUR_OWN):
        file = open(os.open(path, _FLAGS | (0 if follow else os.O_NOFOLLOW)), "rb")  # noqa: SIM115 - the caller closes it
        if S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        file.close()
    raise OSError(EISDIR if S_ISDIR(mode) else EINVAL, "not a regular file", path)


def append_regular(path: str, text: str) -> None:
    """Adds text to a regular file, in one write; raises OSError for all else."""
    number = os.open(path, _ADDING, 0o600)
    try:
        if not S_ISREG(os.fstat(number).st_mode):
            raise OSError(EINVAL, "not a regular file", path)
        os.write(number, text.encode("utf-8", "surrogatepass"))
    finally:
        os.close(number)


def read_regular(path: str, limit: int, *, follow: bool = True) -> bytes:
    """The first ``limit`` bytes of a regular file; raises as ``open_regular``."""
    with open_regular(path, follow=follow) as file:
        return file.read(limit) or b""


def text_of(path: str, limit: int) -> str:
    """The same as text; empty where it cannot be read."""
    try:
        return read_regular(path, limit).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
