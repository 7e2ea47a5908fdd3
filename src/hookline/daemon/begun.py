"""Begins an event at once instead of in the loop's next turn; most are over then, and need no task.

To make a task costs as much as to find out which hooks there are.
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any

from hookline.model.waiting import NEEDS_LOOP

__all__ = ["begun"]


def begun(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None]
) -> asyncio.Task[None] | None:
    """A task for the rest of the work; None when it is over.

    Until it first waits it is in no task. Whoever needs to be in one says so: ``needs_loop``.
    """
    try:
        wanted = work.send(None)
    except StopIteration:
        return None
    return loop.create_task(_Rest(work, wanted))


class _Rest(Coroutine[Any, Any, None]):
    """What is left of a coroutine that waits for something already.

    An end that comes before the first step of its task reaches the work like any later one.
    """

    __slots__ = ("_wanted", "_work")

    def __init__(self, work: Coroutine[Any, Any, None], wanted: Any) -> None:
        self._work = work
        self._wanted = wanted

    def send(self, value: Any) -> Any:
        wanted, self._wanted = self._wanted, NEEDS_LOOP
        return self._work.send(value) if wanted is NEEDS_LOOP else wanted

    def throw(self, *error: Any) -> Any:
        self._wanted = NEEDS_LOOP
        return self._work.throw(*error)

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, None]:
        return (yield from self._work.__await__())
