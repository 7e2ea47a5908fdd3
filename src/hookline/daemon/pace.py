"""How soon an event is begun, and when its client is told that we have it."""

from enum import Enum, auto

__all__ = ["Pace"]


class Pace(Enum):
    """When an event is begun that has just been read, and when its client hears of us."""

    NOW = auto()
    """At once; where the answer is sure to come at once, the acknowledgement goes with it."""
    TOGETHER = auto()
    """When all that came in the same moment are read: they share a look and a commit."""
    LATER = auto()
    """When the client has its acknowledgement."""
