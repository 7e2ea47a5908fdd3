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

    __slots__ = ("_content", "_first", "answered", "at", "entries", "is_large", "known")

    def __init__(self, first: Arrival, at: float) -> None:
        self.entries = {first.entry}
        self.at = at
        self.known: Answered | None = None
        self.answered = asyncio.Event()
        self.is_large = len(bytes(first.event.raw)) > _KEPT_WHOLE
        self._content: bytes | None = None
        self._first: Arrival | None = first

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


class _Group:
    """The last calls of one kind in one session, and the entries that they came through."""

    __slots__ = ("calls", "entries")

    def __init__(self) -> None:
        self.calls: deque[_Call] = deque(maxlen=_MOST_CALLS)
        self.entries: set[str] = set()

    def earlier(self, arrival: Arrival) -> _Call | None:
        """The latest equal call, unless it came through this entry: then it is done again."""
        if self.entries <= {arrival.entry}:
            return None  # as it is nearly always, and then nothing need be compared
        for call in reversed(self.calls):
            if arrival.content and call.content == arrival.content:
                return None if arrival.entry in call.entries else call
        return None

    def begin(self, arrival: Arrival, now: float) -> _Call:
        call = _Call(arrival, now)
        self.calls.append(call)
        self.entries.add(arrival.entry)
        return call


class BriefAnswers:
    """Keeps them in memory, the last few hundred for some seconds."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._groups: dict[tuple[object, ...], _Group] = {}

    def once(self, arrival: Arrival | None, *, timeout: float | None = None) -> "_Once":
        """The slot of a call. While the first one's hooks run, an equal call waits here.

        At most half of ``timeout``, so that it can still judge by itself when the first one does
        not come to an end.
        """
        return _Once(self, arrival, _WAIT if timeout is None else timeout / 2)

    async def begin(self, arrival: Arrival, wait: float) -> tuple[Slot, _Call | None]:
        """The slot, and the call that it is the first of; None where it was answered already."""
        group = self._group(arrival)
        earlier = group.earlier(arrival)
        if earlier is not None:
            known = await self._answer_of(earlier, wait)
            if known is not None:
                earlier.entries.add(arrival.entry)
                return Slot(known), None
        return Slot(), group.begin(arrival, self._clock())

    def keep(self, call: _Call, slot: Slot) -> None:
        """What the call was answered, for those that are equal to it."""
        call.known, call.at = slot.kept, self._clock()

    def _group(self, arrival: Arrival) -> _Group:
        key = (arrival.event.session_id, type(arrival.event), arrival.policy)
        found = self._groups.get(key)
        if found is None:
            while len(self._groups) >= _MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
            found = self._groups[key] = _Group()
        return found

    async def _answer_of(self, call: _Call, wait: float) -> Answered | None:
        if not call.answered.is_set():
            try:
                await asyncio.wait_for(call.answered.wait(), wait)
            except TimeoutError:
                return None
        fresh = 0 <= self._clock() - call.at <= FRESH
        return call.known if fresh else None


class _Once:
    """Written out, because every event passes here and a generator costs more."""

    __slots__ = ("_answers", "_arrival", "_call", "_slot", "_wait")

    def __init__(self, answers: BriefAnswers, arrival: Arrival | None, wait: float) -> None:
        self._answers = answers
        self._arrival = arrival
        self._wait = wait
        self._call: _Call | None = None

    async def __aenter__(self) -> Slot:
        if self._arrival is None:
            return Slot()
        self._slot, self._call = await self._answers.begin(self._arrival, self._wait)
        return self._slot

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        call = self._call
        if call is None:
            return
        if kind is None:
            self._answers.keep(call, self._slot)
        call.answered.set()
        if call.is_large:
            # Of a megabyte that takes as long as all the rest: when the answer has left.
            asyncio.get_running_loop().call_soon(call.shrink)
