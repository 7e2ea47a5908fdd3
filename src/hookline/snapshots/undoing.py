"""Goes back to where a turn began, and forth again."""

import os
from collections.abc import Iterator, Mapping
from time import time
from urllib.parse import unquote_to_bytes

from hookline.git import GitError
from hookline.snapshots.checkpoints import Checkpoint, Page
from hookline.snapshots.shadow import Shadow, SnapshotError, quoted

__all__ = ["HalfDone", "step"]

# What brings a file back is what took it away, seen from the other side.
_OTHER_WAY = {"A": "D", "D": "A"}


class HalfDone(SnapshotError):
    """Some files were changed and others were not."""


def step(shadow: Shadow, page: Page, expected: Checkpoint, *, again: bool) -> None:
    """Undoes the last turn of a session, or with ``again`` the last undoing.

    That must be ``expected``, which a person has seen. What is there now is kept first; what cannot
    be kept is not taken away, and nothing is put in its place.
    """
    with shadow.held():
        session = page.read()
        source = session.undone if again else session.checkpoints
        if not source or source[-1] != expected:
            raise SnapshotError("another turn has changed files meanwhile; look again")
        now = shadow.capture("")
        there = shadow.files(now.tree)
        files = {path: how for path, how in expected.files.items() if how != "A" or path in there}
        added = {path for path, how in files.items() if how == "A"}
        if not set(files) - added <= shadow.files(expected.tree):
            raise SnapshotError("the tree of this checkpoint is no longer whole")
        for path in sorted(set(files) - added):
            _look(shadow.root, path, added, there)
        back = {path: _OTHER_WAY.get(how, how) for path, how in files.items()}
        # Before anything is touched, so that it can be had again whatever happens.
        (session.checkpoints if again else session.undone).append(
            Checkpoint(tree=now.tree, files=back, time=time(), tool=expected.tool)
        )
        page.write(session)
        _restore(shadow, expected.tree, files, again)
        (session.undone if again else session.checkpoints).pop()
        page.write(session)


def _restore(shadow: Shadow, tree: str, files: Mapping[str, str], again: bool) -> None:
    try:
        shadow.restore(tree, files)
    except (GitError, OSError) as error:
        back = "hookline undo" if again else "hookline undo --redo"
        raise HalfDone(f"it stopped half way: {error}; `{back}` takes that back") from error


def _look(root: str, path: str, added: set[str], there: set[str]) -> None:
    """Raises SnapshotError where a file that comes back would take away what is not kept."""
    found = _in_the_way(os.fsencode(root), unquote_to_bytes(path), added, there)
    if found is not None:
        raise SnapshotError(
            f"`{path}` cannot be put back: `{found}` is in its place, and could not be kept; "
            "move it away first"
        )


def _in_the_way(root: bytes, path: bytes, added: set[str], there: set[str]) -> str | None:
    whole = os.path.join(root, path)
    above = os.path.dirname(path)
    while above:
        place = os.path.join(root, above)
        if os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place)):
            # Only what is in the list of changes can be had again by its own name.
            return None if quoted(above) in added else quoted(above)
        above = os.path.dirname(above)
    if os.path.isdir(whole) and not os.path.islink(whole):
        return next((found for found in _inside(root, whole) if found not in added), None)
    return quoted(path) if os.path.lexists(whole) and quoted(path) not in there else None


def _inside(root: bytes, directory: bytes) -> Iterator[str]:
    """All that is no directory below one."""
    for folder, folders, names in os.walk(directory):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*names, *links):
            yield quoted(os.path.relpath(os.path.join(folder, name), root))
