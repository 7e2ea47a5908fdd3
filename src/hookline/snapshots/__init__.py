"""What a work tree held at a moment, in a repository of our own beside it."""

from hookline.snapshots.checkpoints import Checkpoint, Page, Session, forget_old, pages
from hookline.snapshots.shadow import Captured, Shadow, SnapshotError
from hookline.snapshots.undoing import HalfDone, step

__all__ = [
    "Captured",
    "Checkpoint",
    "HalfDone",
    "Page",
    "Session",
    "Shadow",
    "SnapshotError",
    "forget_old",
    "pages",
    "step",
]
