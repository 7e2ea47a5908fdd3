"""The moment before somebody waits: only then an event needs an event loop.

To load one costs five times what starting Python costs, and most events have no hook that anybody
waits for. So a process that answers one of them begins without a loop, and whoever is about to
wait says so first.
"""

import sys
from collections.abc import Generator

__all__ = ["NEEDS_LOOP", "needs_loop"]

NEEDS_LOOP = object()
"""What a driver without a loop is given; it goes on with the same coroutine inside one."""


class _Handover:
    def __await__(self) -> Generator[object, None, None]:
        yield NEEDS_LOOP
        # Now to the loop: who was told to end meanwhile is ended here, before a hook begins.
        yield None


async def needs_loop() -> None:
    """Returns inside a running event loop."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        await _Handover()
