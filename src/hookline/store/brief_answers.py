"""The first answer to a call, as ``answers`` keeps it, for a process that hears of every call."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

from hookline.store.answers import FRESH, Answered, Arrival, Slot

__all__ = ["BriefAnswers"]

_WAIT = 30.0
_MOST_GROUPS = 256
_MOST_CALLS = 64
# An event longer than this is known by its digest alone, and not kept for one.
_KEPT_WHOLE = 1 << 16


class _Call:
    """One call: through which entries it came, and what the first of them was answered."""

    __slots__ = ("_answered", "_content", "_first", "at", "entries", "is_open", "known")

    def __init__(self, first: Arrival, at: float) -> None:
        self.entries = {first.entry}
        self.at = at
        self.known: Answered | None = None
        self.is_open = True
        """Whether its first answer is still to come."""
        self._content: bytes | None = None
        self._first: Arrival | None = first
        self._answered: asyncio.Event | None = None

    @property
    def content(self) -> bytes:
        """The digest of the call; worked out when another one might be the same, at the latest."""
        if self._content is None:
            assert self._first is not None
            self._content, self._first = self._first.content, None
        return self._content

    def shrink(self) -> None:
        """Keeps the digest of the event and no more."""
        _ = self.content

    async def answer(self, wait: float, clock: Callable[[], float]) -> Answered | None:
        """The first answer; None when there is none after ``wait`` seconds, or it is old."""
        if self.is_open:
            self._answered = self._answered or asyncio.Event()
            try:
                await asyncio.wait_for(self._answered.wait(), wait)
            except TimeoutError:
                return None
        return self.known if 0 <= clock() - self.at <= FRESH else None

    def settle(self) -> None:
        """The first answer has come, or never will."""
        self.is_open = False
        if self._answered is not None:
            self._answered.set()


class _Group:
    """The last calls of one kind in one session, and the entries that they came through."""

    __slots__ = ("calls", "entries")

    def __init__(self) -> None:
        self.calls: deque[_Call] = deque(maxlen=_MOST_CALLS)
        self.entries: set[str] = set()

    def earlier(self, arrival: Arrival) -> _Call | None:
        """The latest equal call, unless it came through this entry: then it is done again."""
        for call in reversed(self.calls):
            if arrival.content and call.content == arrival.content:
                return None if arrival.entry in call.entries else call
        return None


class BriefAnswers:
    """Keeps them in memory, the last few hundred for some seconds."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._groups: dict[tuple[object, ...], _Group] = {}

    def once(self, arrival: Arrival | None, *, timeout: float | None = None) -> "_Once":
        """The slot of a call. While the first one's hooks run, an equal call waits here.

        At most half of ``timeout``, so that it can still judge by itself when the first one does
        not come to an end.
        """
        return _Once(self, arrival, _WAIT if timeout is None else timeout / 2)

    def group(self, arrival: Arrival) -> _Group:
        """Where equal calls are to be found."""
        key = (arrival.event.session_id, type(arrival.event), arrival.policy)
        found = self._groups.get(key)
        if found is None:
            while len(self._groups) >= _MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
            found = self._groups[key] = _Group()
        return found


class _Once(Slot):
    """The slot and the way in and out of it; every event passes here, so there is little to it."""

    __slots__ = ("_answers", "_arrival", "_call", "_wait")

    def __init__(self, answers: BriefAnswers, arrival: Arrival | None, wait: float) -> None:
        super().__init__()
        self._answers = answers
        self._arrival = arrival
        self._wait = wait
        self._call: _Call | None = None

    async def __aenter__(self) -> Slot:
        arrival = self._arrival
        if arrival is None:
            return self
        group, clock = self._answers.group(arrival), self._answers.clock
        # Nearly always all came through one entry, and then nothing need be compared.
        if not group.entries <= {arrival.entry}:
            earlier = group.earlier(arrival)
            known = None if earlier is None else await earlier.answer(self._wait, clock)
            if earlier is not None and known is not None:
                earlier.entries.add(arrival.entry)
                self.known = known
                return self
        self._call = _Call(arrival, clock())
        group.calls.append(self._call)
        group.entries.add(arrival.entry)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        call = self._call
        if call is None:
            return
        if kind is None:
            call.known, call.at = self.kept, self._answers.clock()
        call.settle()
        assert self._arrival is not None
        if len(bytes(self._arrival.event.raw)) > _KEPT_WHOLE:
            # Of a megabyte that takes as long as all the rest: when the answer has left.
            asyncio.get_running_loop().call_soon(call.shrink)
