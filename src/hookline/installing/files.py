"""Other programs' settings files: read as they are, replaced whole or not at all.

Knows the disk; must not know what is in a file.
"""

import errno
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass

from hookline.files import open_regular
from hookline.model.installing import InstallError

__all__ = ["File", "look", "make_private", "remove", "write", "write_private"]

LARGEST = 5_000_000

_READ_ONLY = "is read-only; make it writable first (chmod u+w), or edit it yourself"


@dataclass(frozen=True, slots=True)
class File:
    """A settings file as it was read; without content when there is none yet."""

    path: str
    real: str
    """Where it really is, with every link followed."""
    content: bytes | None
    info: os.stat_result | None = None


def look(path: str) -> File:
    """The file at ``path``. Raises InstallError for what is no file that could be edited."""
    try:
        content, info = _read(path)
    except FileNotFoundError:
        if os.path.islink(path):
            message = f"`{path}` is a link to `{os.path.realpath(path)}`, which does not exist"
            raise InstallError(f"{message}; make that file, or remove the link") from None
        return File(path, os.path.realpath(path), None)
    except OSError as error:
        raise _failed(path, "cannot be read", error) from error
    return File(path, os.path.realpath(path), content, info)


def _read(path: str) -> tuple[bytes, os.stat_result]:
    with open_regular(path) as file:
        info = os.fstat(file.fileno())
        if info.st_size > LARGEST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return file.read(), info


def write(file: File, content: bytes, *, executable: bool = False) -> tuple[str, ...]:
    """Put ``content`` in the file's place, whole, with the owner and permissions it had.

    Returns the directories that had to be made. Raises InstallError, then nothing was changed.
    """
    file = _unchanged(file)
    if file.info is not None:
        _check_writable(file, file.info)
    try:
        made = _make_directories(os.path.dirname(file.real))
        _replace(file, content, executable=executable)
    except OSError as error:
        raise _failed(file.path, "cannot be written", error) from error
    return made


def remove(file: File, made: tuple[str, ...] = ()) -> None:
    """Remove the file, and the directories made for it as far as nothing else is in them."""
    _unchanged(file)
    try:
        os.unlink(file.path)
    except OSError as error:
        raise _failed(file.path, "cannot be removed", error) from error
    for directory in reversed(made):
        with suppress(OSError):
            os.rmdir(directory)


def write_private(path: str, content: bytes) -> None:
    """A file of our own, for nobody else to read; raises OSError."""
    directory = os.path.dirname(path)
    make_private(directory)
    handle, temporary = tempfile.mkstemp(dir=directory)  # 0600, as mkstemp always does
    try:
        _fill(handle, content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def make_private(directory: str) -> None:
    """A directory in the state home, and that home, for nobody else to look into."""
    for each in (os.path.dirname(directory), directory):
        os.makedirs(each, mode=0o700, exist_ok=True)


def _unchanged(file: File) -> File:
    """The file as it is now, with the content that it had."""
    now = look(file.path)
    if now.content != file.content:
        message = f"`{file.path}` was changed by another program just now, so it was left alone"
        raise InstallError(f"{message}; run the command again")
    return now


def _check_writable(file: File, info: os.stat_result) -> None:
    # The bits count even for root, who could write it all the same: somebody set them on purpose.
    if not info.st_mode & 0o222 or not os.access(file.real, os.W_OK):
        raise InstallError(f"`{file.path}` {_READ_ONLY}")
    if info.st_nlink > 1:
        message = f"`{file.path}` has another name (a hard link), which would keep the old content"
        raise InstallError(f"{message}; make it a file of its own, or edit it yourself")


def _make_directories(directory: str) -> tuple[str, ...]:
    missing: list[str] = []
    while not os.path.isdir(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    made = tuple(reversed(missing))
    for each in made:
        os.mkdir(each)
    return made


def _replace(file: File, content: bytes, *, executable: bool) -> None:
    directory, name = os.path.split(file.real)
    handle, temporary = tempfile.mkstemp(dir=directory, prefix=f".{name}.")
    try:
        if file.info is None:
            os.fchmod(handle, (0o755 if executable else 0o644) & ~_umask())
        else:
            os.fchown(handle, file.info.st_uid, file.info.st_gid)
            os.fchmod(handle, stat.S_IMODE(file.info.st_mode))
        _fill(handle, content)
        os.replace(temporary, file.real)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(directory)


def _fill(handle: int, content: bytes) -> None:
    with open(handle, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _sync_directory(directory: str) -> None:
    with suppress(OSError):  # some file systems cannot, and the file is in place either way
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    # There is no way to ask for it without setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _failed(path: str, what: str, error: OSError) -> InstallError:
    why = {
        errno.ELOOP: "its links lead in a circle",
        errno.EISDIR: "it is a directory",
        errno.EINVAL: "it is not a regular file",
        errno.EFBIG: f"it has more than {LARGEST:,} bytes",
    }.get(error.errno or 0, error.strerror or str(error))
    return InstallError(f"`{path}` {what}: {why}; it was left as it is")
