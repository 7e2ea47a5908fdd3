"""What a client does with a reply, in one vocabulary for all of them."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Protocol

from msgspec import Struct

from hookline.model.outcome import Reply


class Does(IntEnum):
    """The client's next step, by strictness."""

    SKIPS_ITS_QUESTION = 0
    GOES_ON = 1
    ASKS = 2
    BLOCKS = 3
    ENDS_THE_RUN = 4


class Effect(Struct, frozen=True, kw_only=True):
    """Everything a reply brings about."""

    does: Does = Does.GOES_ON
    reason: str = ""
    """What the model, or the person, is told about a block."""
    context: str = ""
    """What reaches the model beside that."""
    input: Mapping[str, Any] | None = None
    """The tool's input, where it was replaced."""
    output: Any = None
    """The tool's output, where it was replaced."""
    follow_up: str = ""
    """What the agent goes on with instead of stopping."""
    failed: str = ""
    """Why the client threw the reply away and went on; never what we want."""


class ClientModel(Protocol):
    """A small model of one client, written from what the real one was seen to do."""

    def obey(self, native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
        """What the client does with this reply to this event."""
