"""Hears of what arrives on sockets, for less than the loop charges.

On Linux all of them are behind one descriptor of our own: a socket that lives for one answer is
then put there and taken away by one system call each, and none of the loop's objects is made.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Protocol

__all__ = ["Watching", "watching"]

_AT_ONCE = 64


class Watching(Protocol):
    """Calls back while there is something to read, or an end to hear of."""

    def add(self, number: int, reader: Callable[[], None]) -> None:
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
        self._readers: dict[int, Callable[[], None]] = {}
        loop.add_reader(self._epoll.fileno(), self._on_ready)

    def add(self, number: int, reader: Callable[[], None]) -> None:
        self._readers[number] = reader
        self._epoll.register(number, select.EPOLLIN)

    def remove(self, number: int) -> None:
        del self._readers[number]
        self._epoll.unregister(number)

    def close(self) -> None:
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def _on_ready(self) -> None:
        for number, _ in self._epoll.poll(0, _AT_ONCE):
            reader = self._readers.get(number)
            if reader is None:
                continue  # taken away by one of those before it
            try:
                reader()
            except Exception as error:
                self._loop.call_exception_handler(
                    {"message": "a reader failed", "exception": error}
                )


class _Loop:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def add(self, number: int, reader: Callable[[], None]) -> None:
        self._loop.add_reader(number, reader)

    def remove(self, number: int) -> None:
        self._loop.remove_reader(number)

    def close(self) -> None:
        """Nothing of ours is left in the loop."""
