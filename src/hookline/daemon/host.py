"""What a connection needs of the server that it belongs to."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from hookline.daemon.budget import Budget
from hookline.daemon.frames import Calls, Request, Respond
from hookline.daemon.rounds import Rounds
from hookline.daemon.sessions import Session
from hookline.daemon.turns import Turns
from hookline.daemon.waiting import Waiting
from hookline.daemon.watching import Watching
from hookline.model.outcome import Reply

if TYPE_CHECKING:
    from hookline.daemon.connection import Connection

__all__ = ["Counts", "Host"]


class Counts(Struct):
    """What has happened since the start."""

    answered: int = 0
    refused: int = 0
    abandoned: int = 0
    failed: int = 0


class Host(Protocol):
    """The server, as its connections see it."""

    loop: asyncio.AbstractEventLoop
    watching: Watching
    waiting: Waiting
    respond: Respond
    rounds: Rounds
    turns: Turns
    budget: Budget
    calls: Calls
    counts: Counts
    version: str
    own_answers: Mapping[tuple[str, ...], Callable[[Request], Reply]]
    """Who answers a question about the daemon itself, by its first word."""
    refusing: str
    """Why no request is taken now; empty when it is."""

    def note(self, text: str) -> None:
        """Writes a line for people."""

    def speak_up(self) -> None:
        """Whoever waits hears of us, before an event begins that may hold up all others."""

    def settled(self, connection: "Connection") -> None:
        """No answer is owed any more."""

    def seen(self, name: str, request: Request, now: float) -> Session:
        """Counts the request; what is known of its session."""

    def failed(self, request: Request, error: BaseException) -> None:
        """The answer could not be made."""

    def closed(self, connection: "Connection", unanswered: bool) -> None:
        """The connection is over."""
