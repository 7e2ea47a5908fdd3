"""Begins a task at once instead of in the loop's next turn."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any

__all__ = ["begun"]


def begun(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A task that has begun: most events are over before they would have had to wait."""
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=loop, eager_start=True)
    task = asyncio.Task(work, loop=loop)
    ready = getattr(loop, "_ready", None)
    if ready and asyncio.current_task(loop) is None:
        # What `eager_start` does from 3.12 on: the step that was just put in line is taken first.
        step = ready[-1]
        if getattr(step._callback, "__self__", None) is task:
            ready.pop()
            step._run()
    return task
