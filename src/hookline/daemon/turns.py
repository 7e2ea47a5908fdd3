"""Who may run now, and who is next: a few at once, one session after the other.

Knows counts and the order of waiting; must not know what is run.
"""

from collections import deque
from collections.abc import Callable

__all__ = ["Turns"]


class Turns:
    """Bounds what runs at once. What waits is taken from one session after the other."""

    def __init__(self, *, at_once: int, waiting: int) -> None:
        """``at_once`` per level: see ``enter``."""
        self._at_once = at_once
        # Nobody gives a turn back before its end, so one session alone never has them all.
        self._for_one = max(at_once // 2, 1)
        self._most_waiting = waiting
        self._levels: dict[int, _Level] = {}
        self.waiting = 0

    @property
    def running(self) -> int:
        """How many have a turn."""
        return sum(level.running for level in self._levels.values())

    def enter(self, session: str, depth: int) -> bool:
        """Takes a turn if there is one for this session.

        A hook may start an agent whose own events come here. They have turns of their own, level
        by level: an event must never wait for one that waits for it.
        """
        level = self._levels.get(depth)
        if level is None:
            level = self._levels[depth] = _Level()
        return level.enter(session, self._at_once, self._for_one)

    def wait(self, session: str, depth: int, start: Callable[[], None]) -> bool:
        """Calls ``start`` when it is this one's turn; False when too many wait already."""
        level = self._levels[depth]
        # No session alone may have all the room there is for waiting, either.
        too_many = level.waiting(session) >= max(self._most_waiting // 2, 1)
        if too_many or self.waiting >= self._most_waiting:
            return False
        level.add(session, start)
        self.waiting += 1
        return True

    def give_up(self, session: str, depth: int, start: Callable[[], None]) -> None:
        """This one waits no longer."""
        self._levels[depth].remove(session, start)
        self.waiting -= 1

    def leave(self, session: str, depth: int) -> None:
        """Gives the turn back, and starts whoever is next."""
        level = self._levels[depth]
        level.leave(session)
        while (following := level.following(self._at_once, self._for_one)) is not None:
            self.waiting -= 1
            following()


class _Level:
    """The turns of one depth."""

    def __init__(self) -> None:
        self.running = 0
        self._of: dict[str, int] = {}
        # A dict as a queue: whoever gives up is taken out at once, wherever it stands.
        self._queues: dict[str, dict[Callable[[], None], None]] = {}
        self._order: deque[str] = deque()

    def enter(self, session: str, at_once: int, for_one: int) -> bool:
        of = self._of.get(session, 0)
        if self.running >= at_once or of >= for_one:
            return False
        self.running += 1
        self._of[session] = of + 1
        return True

    def leave(self, session: str) -> None:
        self.running -= 1
        left = self._of[session] - 1
        if left:
            self._of[session] = left
        else:
            del self._of[session]

    def waiting(self, session: str) -> int:
        return len(self._queues.get(session, ()))

    def add(self, session: str, start: Callable[[], None]) -> None:
        if session not in self._queues:
            self._queues[session] = {}
            self._order.append(session)
        self._queues[session][start] = None

    def remove(self, session: str, start: Callable[[], None]) -> None:
        queue = self._queues[session]
        del queue[start]
        if not queue:
            del self._queues[session]
            self._order.remove(session)

    def following(self, at_once: int, for_one: int) -> Callable[[], None] | None:
        """Who is next, with a turn taken; None when nobody waits who could run."""
        for _ in range(len(self._order) if self.running < at_once else 0):
            session = self._order[0]
            self._order.rotate(-1)
            if self.enter(session, at_once, for_one):
                start = next(iter(self._queues[session]))
                self.remove(session, start)
                return start
        return None
