"""Where links lead: what a path is once all of them are followed, with few looks at the disk."""

import os
from collections.abc import Iterable
from stat import S_ISLNK

__all__ = ["Links", "resolved", "spellings"]

# Where the system tells of an open file where it is, one look follows all links of a path.
_OPEN = os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else None
_SELF = frozenset({"", ".", ".."})


class Links:
    """Follows the links of one event's paths; a directory is looked up once for all of them."""

    __slots__ = ("_folders",)

    def __init__(self) -> None:
        self._folders = {"": ""}

    def followed(self, path: str) -> str:
        """A whole path as `os.path.realpath` has it; empty where no file can have that name."""
        head, _, tail = path.rpartition("/")
        try:
            if tail not in _SELF:
                return _entry(self.folder(head), tail)
            return _followed(path) if tail == ".." else self.folder(head) or _followed(path)
        except (OSError, ValueError):
            return ""

    def folder(self, path: str) -> str:
        """The same of the directory that others lie in; raises OSError or ValueError."""
        found = self._folders.get(path)
        if found is None:
            found = self._folders[path] = _followed(path)
        return found


def resolved(path: str) -> str:
    """A directory with its links followed; empty where no file can have that name."""
    # Not remembered for later: what lies above it may be moved without a trace on the directory.
    try:
        return _followed(path)
    except (OSError, ValueError):
        return ""


def spellings(directories: Iterable[str]) -> tuple[str, ...]:
    """Whole paths among these, as they are written and as they resolve."""
    found: dict[str, None] = {}
    for path in dict.fromkeys(directories):
        if path.startswith("/"):
            found[_tidy(os.path.normpath(path))] = None
            found[resolved(path)] = None
    found.pop("", None)
    return tuple(found)


def _entry(folder: str, name: str) -> str:
    """What a name in a directory is that has no links in it."""
    found = f"{'' if folder == '/' else folder}/{name}"
    try:
        if not S_ISLNK(os.lstat(found).st_mode):
            return found
    except OSError:
        return found  # nothing there, or nothing that can be looked at
    return _tidy(os.path.realpath(found))


def _followed(path: str) -> str:
    if _OPEN is None:
        return _tidy(os.path.realpath(path))
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:  # it is not there, or not as a whole
        return _tidy(os.path.realpath(path))
    try:
        found = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        found = ""
    finally:
        os.close(descriptor)
    # Of what is gone meanwhile, or is no file, the system says something else than a path.
    plain = found.startswith("/") and not found.endswith(" (deleted)")
    return found if plain else _tidy(os.path.realpath(path))


def _tidy(path: str) -> str:
    return path[1:] if path.startswith("//") else path
