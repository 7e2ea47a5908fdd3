"""What a session did to its project: the files before, the files after, and the difference."""

import os
from collections.abc import Mapping
from hashlib import blake2b

__all__ = ["changes", "snapshot"]

_CHUNK = 1 << 20


def snapshot(project: str) -> dict[str, str]:
    """A fingerprint of every file of the project by its path; git's own files are left out."""
    found: dict[str, str] = {}
    for folder, folders, files in os.walk(project):
        if ".git" in folders:
            folders.remove(".git")
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*files, *linked):
            path = os.path.join(folder, name)
            found[os.path.relpath(path, project)] = _fingerprint(path)
    return found


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Each path that is not as it was, and whether it was ``added``, ``changed``, ``removed``."""
    said = {
        path: "added" if path not in before else "removed" if path not in after else "changed"
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    return dict(sorted(said.items()))


def _fingerprint(path: str) -> str:
    try:
        if os.path.islink(path):
            return f"link {os.readlink(path)}"
        if not os.path.isfile(path):
            return "special"  # a pipe or socket: reading it would wait
        mode = os.stat(path).st_mode & 0o777
        digest = blake2b(digest_size=16)
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{mode:o} {digest.hexdigest()}"
