"""Things that belong to one event loop, such as open connections, and end with it.

Knows when a loop ends; must not know what it keeps. Loads no event loop by itself: to close what
was never needed takes none.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

__all__ = ["PerLoop"]

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One value for each running event loop, made on first use and closed with the loop."""

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._kept: dict[AbstractEventLoop, tuple[T, AsyncGenerator[None, None]]] = {}

    async def get(self) -> T:
        """The running loop's value."""
        from asyncio import get_running_loop

        loop = get_running_loop()
        kept = self._kept.get(loop)
        if kept is None:
            self._forget_closed()
            value = self._make()
            # The one thing that every loop runs before it ends is the rest of the async
            # generators that were begun in it.
            keeper = self._keep(loop, value)
            kept = self._kept[loop] = (value, keeper)
            await anext(keeper)
        return kept[0]

    async def aclose(self) -> None:
        """Close the running loop's value now, if there is one."""
        if not self._kept:
            return
        from asyncio import get_running_loop

        kept = self._kept.get(get_running_loop())
        if kept is not None:
            await kept[1].aclose()

    async def _keep(self, loop: "AbstractEventLoop", value: T) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._kept.pop(loop, None)
            await self._close(value)

    def _forget_closed(self) -> None:
        for loop in [loop for loop in self._kept if loop.is_closed()]:
            del self._kept[loop]
