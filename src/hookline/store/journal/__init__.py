"""The durable record of events: written before the answer leaves, read by people's commands."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.store.journal.group_commit import SqliteJournal
    from hookline.store.journal.once import OnceJournal, write_once

__all__ = ["OnceJournal", "SqliteJournal", "write_once"]

_HOMES = {"OnceJournal": "once", "write_once": "once", "SqliteJournal": "group_commit"}


def __getattr__(name: str) -> Any:
    """A process that answers one event does not pay for what keeps a daemon's journal."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
