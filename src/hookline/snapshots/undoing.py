"""Goes back to where a turn began, and forth again."""

import os
from collections.abc import Iterator, Mapping, Sequence
from time import time
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from hookline.git import GitError
from hookline.snapshots.checkpoints import Checkpoint, Page
from hookline.snapshots.shadow import Change, Shadow, SnapshotError, quoted

__all__ = ["HalfDone", "Plan", "make_plan", "undo"]


class HalfDone(SnapshotError):
    """Some files were changed and others were not."""


class Plan(NamedTuple):
    """What an undoing would do to the files as they are now."""

    files: Mapping[str, Change]
    """From what is there now to what comes back."""
    changed_since: tuple[str, ...]
    """Files that somebody else has changed after the turn did."""
    undone: tuple[Checkpoint, ...]
    """What takes it back, in the order in which it is undone."""


def make_plan(shadow: Shadow, points: Sequence[Checkpoint]) -> Plan:
    """What to undo these means now, the last one first. Raises GitError."""
    with shadow.held():
        return _plan(shadow, points)


def _plan(shadow: Shadow, points: Sequence[Checkpoint]) -> Plan:
    now = shadow.files(shadow.capture("").tree)
    state = dict(now)
    theirs: set[str] = set()
    undone: list[Checkpoint] = []
    for point in reversed(points):
        back: dict[str, Change] = {}
        for path, change in point.files.items():
            here = state.get(path, "")
            if path not in now and _is_file(shadow.root, path):
                theirs.add(path)
                if not change.before:
                    continue  # it could not be kept, so it is not taken away
            elif here == change.before:
                continue
            elif here != change.after:
                theirs.add(path)
            back[path] = Change(here, change.before)
            state[path] = change.before
        if back:
            undone.append(Checkpoint(files=back, time=time(), tool=point.tool))
    paths = sorted({path for point in undone for path in point.files})
    whole = {path: Change(now.get(path, ""), state[path]) for path in paths}
    files = {path: change for path, change in whole.items() if change.before != change.after}
    return Plan(files, tuple(sorted(theirs)), tuple(undone))


def undo(
    shadow: Shadow, page: Page, points: Sequence[Checkpoint], shown: Plan, *, again: bool
) -> None:
    """Undoes the last turns of a session, or with ``again`` the last undoing.

    They must be ``points``, and mean what a person was ``shown``. What is there now is kept first;
    what cannot be kept is not taken away, and nothing is put in its place.
    """
    with shadow.held():
        session = page.read()
        source, kept = session.checkpoints, session.undone
        if again:
            source, kept = kept, source
        if source[-len(points) :] != list(points):
            raise SnapshotError("another turn has changed files meanwhile; look again")
        plan = _plan(shadow, points)
        if plan.files != shown.files:
            raise SnapshotError("files have been changed meanwhile; look again")
        back = {path: change.after for path, change in plan.files.items()}
        added = {path for path, said in back.items() if not said}
        for path in sorted(set(back) - added):
            _look(shadow.root, path, added, bool(plan.files[path].before))
        shadow.prepare(back)
        # Before anything is touched, so that it can be had again whatever happens.
        kept.append(Checkpoint(files=dict(plan.files), time=time()))
        page.write(session)
        _restore(shadow, back, again)
        kept[-1:] = plan.undone
        del source[-len(points) :]
        page.write(session)


def _restore(shadow: Shadow, files: Mapping[str, str], again: bool) -> None:
    try:
        shadow.restore(files)
    except (GitError, OSError) as error:
        # One file may be half as it was.
        back = f"hookline undo{'' if again else ' --redo'} --force"
        raise HalfDone(f"it stopped half way: {error}; `{back}` takes that back") from error


def _is_file(root: str, path: str) -> bool:
    """Whether something lies at this path that is no directory; not behind a link on the way."""
    whole = os.path.join(os.fsencode(root), unquote_to_bytes(path))
    folder = os.path.dirname(whole)
    is_directory = os.path.isdir(whole) and not os.path.islink(whole)
    return os.path.lexists(whole) and not is_directory and os.path.realpath(folder) == folder


def _look(root: str, path: str, added: set[str], is_kept: bool) -> None:
    """Raises SnapshotError where a file that comes back would take away what is not kept."""
    found = _in_the_way(os.fsencode(root), unquote_to_bytes(path), added, is_kept)
    if found is not None:
        raise SnapshotError(
            f"`{path}` cannot be put back: `{found}` is in its place, and could not be kept; "
            "move it away first"
        )


def _in_the_way(root: bytes, path: bytes, added: set[str], is_kept: bool) -> str | None:
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
    return quoted(path) if os.path.lexists(whole) and not is_kept else None


def _inside(root: bytes, directory: bytes) -> Iterator[str]:
    """All that is no directory below one."""
    for folder, folders, names in os.walk(directory):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*names, *links):
            yield quoted(os.path.relpath(os.path.join(folder, name), root))
