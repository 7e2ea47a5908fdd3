"""What a work tree held at a moment, in a repository of our own beside it."""

from hookline.snapshots.checkpoints import Checkpoint, Page, Session, forget_old, pages
from hookline.snapshots.shadow import Captured, Change, Shadow, SnapshotError
from hookline.snapshots.undoing import HalfDone, Plan, make_plan, undo

__all__ = [
    "Captured",
    "Change",
    "Checkpoint",
    "HalfDone",
    "Page",
    "Plan",
    "Session",
    "Shadow",
    "SnapshotError",
    "forget_old",
    "make_plan",
    "pages",
    "undo",
]
