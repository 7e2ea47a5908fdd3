"""How a process that answers events ends: nobody who was promised an answer goes without one."""

from collections.abc import Awaitable, Callable

from hookline.daemon.server import Server

__all__ = ["GRACE", "wind_down"]

GRACE = 30.0
"""Seconds that running events get when the daemon is told to end."""
_LAST = 5.0
"""Seconds that they get to end after they were cancelled."""


async def wind_down(
    server: Server,
    grace: float,
    *,
    told: Callable[[], bool],
    on_end: Callable[[], Awaitable[None]] | None,
) -> None:
    """Finishes what runs. Unless we were ``told`` to end there is no hurry.

    Every event has a deadline of its own. ``on_end`` is called when none runs any more.
    """
    while not await server.until_quiet(grace) and not told():
        pass
    server.cancel()
    await server.until_quiet(_LAST)
    server.close()
    if on_end is not None:
        await on_end()
