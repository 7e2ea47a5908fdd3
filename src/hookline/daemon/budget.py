"""How many bytes of requests and answers are held at once, however many clients there are.

Knows numbers and who waits for them; must not know what the bytes are.
"""

from collections.abc import Callable

__all__ = ["SMALL", "Budget"]

SMALL = 1 << 18
"""Requests up to here are always taken in: no large one that stalls may hold up ordinary events."""

_LARGE = 1 << 23


class Budget:
    """Room for large requests, given in the order in which it was asked for."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: dict[Callable[[], None], int] = {}
        self.held = 0
        self._had_large = False

    def take(self, size: int, resume: Callable[[], None]) -> bool:
        """Takes room for a whole request, so that what was begun can be finished.

        False when there is none now: ``resume`` is called once it has been taken.
        """
        if size > SMALL and (self._waiting or not self._fits(size)):
            self._waiting[resume] = size
            return False
        self.hold(size)
        return True

    def _fits(self, size: int) -> bool:
        return self.held + size <= self._limit or not self.held

    def hold(self, size: int) -> None:
        """Counts bytes that are there already, such as an answer that nobody takes."""
        self.held += size
        self._had_large = self._had_large or size > _LARGE

    def give_back(self, size: int) -> None:
        """Frees room, and gives it to whoever has waited longest."""
        self.held -= size
        while self._waiting:
            resume, wanted = next(iter(self._waiting.items()))
            if not self._fits(wanted):
                return
            del self._waiting[resume]
            self.hold(wanted)
            resume()

    def has_let_go(self) -> bool:
        """Whether something large was held and nothing is now; said once for each time."""
        said = self._had_large and not self.held
        self._had_large = self._had_large and not said
        return said

    def give_up(self, resume: Callable[[], None]) -> bool:
        """Waits no longer; False when room had been taken already."""
        waited = self._waiting.pop(resume, None) is not None
        if waited:
            self.give_back(0)  # those behind it may fit
        return waited
