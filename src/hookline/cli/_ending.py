"""Runs what a command does so that, told to end, it ends its hooks first."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from hookline.model.errors import HooklineError

__all__ = ["Ended", "run"]

T = TypeVar("T")

# Agents end a hook that takes too long by one of these; a hook's own programs would outlive it.
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ended(HooklineError):
    """This process was told to end before it had an answer."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``. Raises Ended when told to end, after everything it started is gone."""
    return asyncio.run(_until_told(work))


async def _until_told(work: Coroutine[Any, Any, T]) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    told: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        told.append(number)
        task.cancel()

    for number in _SIGNALS:
        # ValueError, RuntimeError: only a main thread can be told, and any other has nobody's
        # signals to mind. NotImplementedError: Windows, where loops take no signals at all.
        with suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(number, end, number)
    try:
        return await work
    except asyncio.CancelledError:
        if not told:
            raise
        raise Ended(f"it was told to end by {told[0].name} before its hooks had answered") from None
