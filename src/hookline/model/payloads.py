"""A payload is read once, though two ask what is in it: who is calling, and what happened."""

from typing import Any

import msgspec

__all__ = ["peeked", "taken"]


class _Latest:
    """The payload that was looked at last, and what was in it."""

    __slots__ = ("read",)

    def __init__(self) -> None:
        self.read: tuple[bytes, Any] = _NONE


_NONE: tuple[bytes, Any] = (b"", None)
_latest = _Latest()


def peeked(payload: bytes) -> Any:
    """The JSON value in a payload, for who only looks: it is somebody else's. Raises as msgspec."""
    value = msgspec.json.decode(payload)
    _latest.read = (payload, value)
    return value


def taken(payload: bytes) -> Any:
    """The same for who goes on with it: nothing of it is kept here. Raises as msgspec."""
    read, _latest.read = _latest.read, _NONE
    # By identity: it is this very payload that was peeked at, and nobody had it since.
    return read[1] if read[0] is payload and payload else msgspec.json.decode(payload)
