"""Hears of what arrives on sockets, for less than the loop charges.

On Linux all of them are behind one descriptor of our own: a socket that lives for one answer is
then put there and taken away by one system call each, and none of the loop's objects is made.
"""

import asyncio
import select
import selectors
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from hookline.daemon.pace import Pace

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

__all__ = ["Reader", "Watching", "new_loop", "watching"]

_AT_ONCE = 64

Reader: TypeAlias = Callable[[Pace], None]
"""Takes what has come: now, or together with others for whom something has come as well."""


class Watching(Protocol):
    """Calls back while there is something to read, or an end to hear of."""

    def add(self, number: int, reader: Reader) -> None:
        """Calls ``reader`` whenever this descriptor can be read."""

    def remove(self, number: int) -> None:
        """Not any more. To be called before the descriptor is closed."""

    def close(self) -> None:
        """Hears nothing more."""


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop that waits where we do, where that can be: it hands on without a turn of its own."""
    return _OwnLoop() if hasattr(select, "epoll") else asyncio.new_event_loop()


def watching(loop: asyncio.AbstractEventLoop) -> Watching:
    """The cheapest way there is here."""
    if isinstance(loop, _OwnLoop):
        return loop.ours
    return _Nested(loop) if hasattr(select, "epoll") else _Loop(loop)


class _Epoll:
    """Readers behind one descriptor, at which somebody waits."""

    def __init__(self, on_error: Callable[[dict[str, Any]], None]) -> None:
        self.epoll = select.epoll()
        self._on_error = on_error
        self._readers: dict[int, Reader] = {}

    def add(self, number: int, reader: Reader) -> None:
        self._readers[number] = reader
        self.epoll.register(number, select.EPOLLIN)

    def remove(self, number: int) -> None:
        del self._readers[number]
        self.epoll.unregister(number)

    def close(self) -> None:
        """Whoever waits there does so for others, too."""

    def hand_on(self, timeout: float | None = 0.0) -> bool:
        """Waits so long, and calls the readers; whether there may be something for others."""
        ready = self.epoll.poll(timeout, _AT_ONCE)
        pace = Pace.NOW if len(ready) == 1 else Pace.TOGETHER
        others = False
        for number, _ in ready:
            reader = self._readers.get(number)
            if reader is None:
                others = True  # or it was taken away by one of those before it
                continue
            try:
                reader(pace)
            except Exception as error:
                self._on_error({"message": "a reader failed", "exception": error})
        return others


class _Nested(_Epoll):
    """Any loop waits for the one descriptor."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop.call_exception_handler)
        self._loop = loop
        loop.add_reader(self.epoll.fileno(), self.hand_on)

    def close(self) -> None:
        self._loop.remove_reader(self.epoll.fileno())
        self.epoll.close()


class _OwnLoop(asyncio.SelectorEventLoop):
    """Waits at the descriptor itself."""

    def __init__(self) -> None:
        self.ours = _Epoll(self.call_exception_handler)
        super().__init__(_Selector(self.ours))


class _Selector(selectors.BaseSelector):
    """Tells the loop of what is the loop's own; our readers hear of the rest by themselves."""

    def __init__(self, ours: _Epoll) -> None:
        self._ours = ours
        self._loops = selectors.EpollSelector()
        ours.epoll.register(self._loops.fileno(), select.EPOLLIN)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return self._loops.select(0) if self._ours.hand_on(timeout) else []

    def register(
        self, fileobj: "FileDescriptorLike", events: int, data: Any = None
    ) -> selectors.SelectorKey:
        return self._loops.register(fileobj, events, data)

    def unregister(self, fileobj: "FileDescriptorLike") -> selectors.SelectorKey:
        return self._loops.unregister(fileobj)

    def modify(
        self, fileobj: "FileDescriptorLike", events: int, data: Any = None
    ) -> selectors.SelectorKey:
        return self._loops.modify(fileobj, events, data)

    def get_map(self) -> "Mapping[FileDescriptorLike, selectors.SelectorKey]":
        return self._loops.get_map()

    def close(self) -> None:
        self._loops.close()
        self._ours.epoll.close()


class _Loop:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def add(self, number: int, reader: Reader) -> None:
        self._loop.add_reader(number, reader, Pace.NOW)

    def remove(self, number: int) -> None:
        self._loop.remove_reader(number)

    def close(self) -> None:
        """Nothing of ours is left in the loop."""
