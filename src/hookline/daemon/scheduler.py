"""Who may run now, who is next, and how many bytes may be held at once.

Knows sessions, levels and sizes; must not know what is run or what the bytes are.
"""

import re
from collections import deque
from collections.abc import Callable

from hookline.daemon.frames import ClientRequest

__all__ = ["SMALL", "MemoryBudget", "RecentSessions", "Scheduler", "find_depth", "find_session"]

SMALL = 1 << 18
"""Requests up to here are always taken in: no large one that stalls may hold up ordinary events."""

_LARGE = 1 << 23
_RECENT = 900.0
_SESSIONS_KEPT = 1024
_DEEPEST = 4
# Where a client names the session; only who waits for whom depends on it, never a verdict.
_SESSION = re.compile(rb'"(?:session_?[iI]d|conversation_id|thread_id)"\s*:\s*"([^"]{1,200})"')
_SESSION_WITHIN = 4096


def find_session(request: ClientRequest) -> str:
    """The name that the payload gives to its session, else the directory that the client is in."""
    found = _SESSION.search(request.stdin, 0, _SESSION_WITHIN)
    return str(found[1], "utf-8", "replace") if found else request.cwd


def find_depth(request: ClientRequest) -> int:
    """How many hooks deep the agent is that asks."""
    text = request.env.get("HOOKLINE_DEPTH", "")
    return min(int(text[:2]), _DEEPEST) if text.isascii() and text.isdigit() else 0


class RecentSessions:
    """The sessions that have asked something lately."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def add(self, name: str, now: float) -> None:
        """Notes an event of this session."""
        self._seen.pop(name, None)
        self._seen[name] = now
        if len(self._seen) > _SESSIONS_KEPT:
            del self._seen[next(iter(self._seen))]

    def count(self, now: float) -> int:
        """How many asked something in the last quarter of an hour."""
        return sum(now - at < _RECENT for at in self._seen.values())


class Scheduler:
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
        too_many = len(level.queues.get(session, ())) >= max(self._most_waiting // 2, 1)
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
        while level.order and (start := self._take_next(level, depth)) is not None:
            self.waiting -= 1
            start()

    def _take_next(self, level: "_Level", depth: int) -> Callable[[], None] | None:
        """Who is next, with a turn taken; None when nobody waits who could run."""
        for _ in range(len(level.order) if level.running < self._at_once else 0):
            session = level.order.popleft()
            if self.enter(session, depth):
                return level.take_first(session)
            level.order.append(session)
        return None


class _Level:
    """The turns of one depth."""

    __slots__ = ("of", "order", "queues", "running")

    def __init__(self) -> None:
        self.running = 0
        self.of: dict[str, int] = {}
        """How many of each session run."""
        self.order: deque[str] = deque()
        """The sessions of which something waits; the first is the next."""
        # A dict as a queue: whoever gives up is taken out at once, wherever it stands.
        self.queues: dict[str, dict[Callable[[], None], None]] = {}

    def add(self, session: str, start: Callable[[], None]) -> None:
        queue = self.queues.get(session)
        if queue is None:
            queue = self.queues[session] = {}
            self.order.append(session)
        queue[start] = None

    def remove(self, session: str, start: Callable[[], None]) -> None:
        queue = self.queues[session]
        del queue[start]
        if not queue:
            del self.queues[session]
            self.order.remove(session)

    def take_first(self, session: str) -> Callable[[], None]:
        """Whoever of this session has waited longest; its others go behind all."""
        queue = self.queues[session]
        start = next(iter(queue))
        del queue[start]
        if queue:
            self.order.append(session)
        else:
            del self.queues[session]
        return start


class MemoryBudget:
    """Room for the bytes of requests and answers, given in the order in which it was asked for."""

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

    def give_up(self, resume: Callable[[], None]) -> bool:
        """Waits no longer; False when room had been taken already."""
        waited = self._waiting.pop(resume, None) is not None
        if waited:
            self.give_back(0)  # those behind it may fit
        return waited

    def has_let_go(self) -> bool:
        """Whether something large was held and nothing is now; said once for each time."""
        said = self._had_large and not self.held
        self._had_large = self._had_large and not said
        return said
