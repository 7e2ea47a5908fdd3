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
        of = level.of.get(session, 0)
        if level.running >= self._at_once or of >= self._for_one:
            return False
        level.running += 1
        level.of[session] = of + 1
        return True

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
        level.running -= 1
        left = level.of[session] - 1
        if left:
            level.of[session] = left
        else:
            del level.of[session]
        while level.order and (following := self._following(level, depth)) is not None:
            self.waiting -= 1
            following()

    def _following(self, level: "_Level", depth: int) -> Callable[[], None] | None:
        """Who is next, with a turn taken; None when nobody waits who could run."""
        for _ in range(len(level.order) if level.running < self._at_once else 0):
            session = level.order.popleft()
            if self.enter(session, depth):
                return level.first(session)
            level.order.append(session)
        return None


class _Level:
    """The turns of one depth."""

    __slots__ = ("_queues", "of", "order", "running")

    def __init__(self) -> None:
        self.running = 0
        self.of: dict[str, int] = {}
        """How many of each session run."""
        self.order: deque[str] = deque()
        """The sessions of which something waits; the first is the next."""
        # A dict as a queue: whoever gives up is taken out at once, wherever it stands.
        self._queues: dict[str, dict[Callable[[], None], None]] = {}

    def waiting(self, session: str) -> int:
        return len(self._queues.get(session, ()))

    def add(self, session: str, start: Callable[[], None]) -> None:
        queue = self._queues.get(session)
        if queue is None:
            queue = self._queues[session] = {}
            self.order.append(session)
        queue[start] = None

    def remove(self, session: str, start: Callable[[], None]) -> None:
        queue = self._queues[session]
        del queue[start]
        if not queue:
            del self._queues[session]
            self.order.remove(session)

    def first(self, session: str) -> Callable[[], None]:
        """Takes out whoever of this session has waited longest; its others go behind all."""
        queue = self._queues[session]
        start = next(iter(queue))
        del queue[start]
        if queue:
            self.order.append(session)
        else:
            del self._queues[session]
        return start
