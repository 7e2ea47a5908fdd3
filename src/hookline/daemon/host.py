"""What a connection needs of the server that it belongs to."""

import asyncio
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from hookline.daemon.budget import Budget
from hookline.daemon.frames import Calls, Request, Respond
from hookline.daemon.turns import Turns
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
    respond: Respond
    turns: Turns
    budget: Budget
    calls: Calls
    counts: Counts
    version: str

    def note(self, text: str) -> None:
        """Writes a line for people."""

    def pending(self, connection: "Connection") -> None:
        """An answer is owed: keep-alives begin."""

    def acknowledge_soon(self, connection: "Connection") -> None:
        """Has it acknowledge two turns of the loop later, when what shares a commit has left."""

    def settled(self, connection: "Connection") -> None:
        """No answer is owed any more."""

    def refusal(self, request: Request) -> str:
        """Why no request is taken now; empty when it is."""

    def own_answer(self, request: Request) -> Reply | None:
        """The answer to a question about the daemon itself."""

    def seen(self, session: str, request: Request) -> bool:
        """Counts the request; whether an earlier one of its session was answered quickly."""

    def timed(self, session: str, seconds: float) -> None:
        """How long an event held up all others, at its start."""

    def failed(self, request: Request, error: BaseException) -> None:
        """The answer could not be made."""

    def closed(self, connection: "Connection", unanswered: bool) -> None:
        """The connection is over."""
