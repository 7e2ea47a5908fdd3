"""What goes over the channel to a worker process, one line of JSON each way."""

from typing import Literal

from msgspec import Struct

from hookline.model.answers import Answer
from hookline.model.events import AnyEvent

__all__ = ["REPLY_CAP", "Reply", "Request"]

REPLY_CAP = 10_000_000
"""The longest reply, in bytes."""


class Request(Struct, frozen=True, kw_only=True):
    """Call this function with this event."""

    id: int
    event: AnyEvent
    function: str
    module: str = ""
    """Its module's name; empty for a function in a file."""
    file: str = ""
    """The file to load; empty for a module that is imported the usual way."""
    shown: str
    """The file or module as the config spells it."""
    folders: tuple[str, ...] = ()
    """Where its imports are looked for first."""
    cwd: str = "/"
    env: dict[str, str] = {}
    umask: int = -1


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The function's answer, or why there is none."""

    id: int
    answer: Answer | None = None
    failed: Literal["", "crashed", "answer", "unavailable"] = ""
    text: str = ""
