"""What a daemon says of itself."""

from msgspec import Struct

__all__ = ["Status"]


class Status(Struct, frozen=True, kw_only=True):
    """What a daemon says of itself."""

    pid: int
    version: str
    uptime: float
    """Seconds."""
    sessions: int
    """That have asked something in the last quarter of an hour."""
    answered: int
    running: int
    waiting: int
    refused: int
    abandoned: int
    failed: int
    connections: int
    held: int
    """Bytes of requests and answers in hand."""
    memory: int
    """Bytes of this process in memory; 0 where the system does not tell."""
    descriptors: int
    socket: str
    home: str
    idle: float
    stopping: bool
