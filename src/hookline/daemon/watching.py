"""Hears of what arrives on sockets, for less than the loop charges.

On Linux all of them are behind one descriptor of our own: a socket that lives for one answer is
then put there and taken away by one system call each, and none of the loop's objects is made.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Protocol, TypeAlias

from hookline.daemon.pace import Pace

__all__ = ["Reader", "Watching", "watching"]

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


def watching(loop: asyncio.AbstractEventLoop) -> Watching:
    """The cheapest way there is here."""
    return _Epoll(loop) if hasattr(select, "epoll") else _Loop(loop)


class _Epoll:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._epoll = select.epoll()
        self._readers: dict[int, Reader] = {}
        loop.add_reader(self._epoll.fileno(), self._on_ready)

    def add(self, number: int, reader: Reader) -> None:
        self._readers[number] = reader
        self._epoll.register(number, select.EPOLLIN)

    def remove(self, number: int) -> None:
        del self._readers[number]
        self._epoll.unregister(number)

    def close(self) -> None:
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def _on_ready(self) -> None:
        ready = self._epoll.poll(0, _AT_ONCE)
        pace = Pace.NOW if len(ready) == 1 else Pace.TOGETHER
        for number, _ in ready:
            reader = self._readers.get(number)
            if reader is None:
                continue  # taken away by one of those before it
            try:
                reader(pace)
            except Exception as error:
                self._loop.call_exception_handler(
                    {"message": "a reader failed", "exception": error}
                )


class _Loop:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def add(self, number: int, reader: Reader) -> None:
        self._loop.add_reader(number, reader, Pace.NOW)

    def remove(self, number: int) -> None:
        self._loop.remove_reader(number)

    def close(self) -> None:
        """Nothing of ours is left in the loop."""
