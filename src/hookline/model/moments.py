"""Looks at the disk that events share which are judged in one moment.

All of them had come before the first look was made, and none is answered before the last is judged:
so it tells each of them what a look of its own would.
"""

from collections.abc import Callable
from itertools import count
from typing import Any, Generic, TypeVar

__all__ = ["SharedLooks", "begin_moment", "end_moment", "is_shared"]

T = TypeVar("T")

_numbers = count(1)


class _Now:
    number = 0
    """Which moment it is; 0 while each event is by itself."""


def begin_moment() -> None:
    """From now on events are judged that have come already, without a pause."""
    _Now.number = next(_numbers)


def end_moment() -> None:
    """What was seen is not relied on any more, nor kept."""
    _Now.number = 0
    for looks in _every:
        looks.forget()


def is_shared() -> bool:
    """Whether what is looked up now may do for other events, too."""
    return _Now.number != 0


class SharedLooks(Generic[T]):
    """What was seen in this moment, by its path. To be made once for a process."""

    __slots__ = ("_held", "_look")

    def __init__(self, look: Callable[[str], T]) -> None:
        self._look = look
        # Of which moment, and what: read and stored as one, since another thread may ask as well.
        self._held: tuple[int, dict[str, T]] = (0, {})
        _every.append(self)

    def at(self, path: str) -> T:
        """What is there. Raises what the look raises."""
        number = _Now.number
        if not number:
            return self._look(path)
        of, seen = self._held
        if of != number:
            seen = {}
            self._held = (number, seen)
        if path not in seen:
            seen[path] = self._look(path)
        return seen[path]

    def forget(self) -> None:
        """We have changed something there ourselves, or the moment is over."""
        if self._held[0]:
            self._held = (0, {})


_every: list[SharedLooks[Any]] = []
