"""The first answer to a call, as ``answers`` keeps it, for a process that hears of every call."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

from hookline.model.waiting import needs_loop
from hookline.store.duplicate_calls import FRESH, Answered, Arrival, Packed, Slot

__all__ = ["BriefAnswers"]

_WAIT = 30.0
_MOST_GROUPS = 256
_MOST_CALLS = 64
_ALONE, _FEW_CALLS = 2.0, 8
"""So many seconds after the first call, one that came through no second entry yet will not be the
first to do so: a client runs all of its entries at once. Then only so many are kept."""
# An event longer than this is known by its digest alone, and not kept for one.
_KEPT_WHOLE = 1 << 16
_AT_ONCE = 0.25
"""Seconds within which a client has run all of its entries."""


class _Call:
    """One call: through which entries it came, and what the first of them was answered."""

    __slots__ = (
        *("_answered", "_content", "_first", "at", "entries"),
        *("is_forgotten", "is_large", "is_open", "known"),
    )

    def __init__(self, first: Arrival, at: float) -> None:
        self.entries = {first.entry}
        self.at = at
        self.known: Answered | None = None
        self.is_open = True
        """Whether its first answer is still to come."""
        self._content: bytes | None = None
        self.is_forgotten = False
        """Whether it is not known any more what it was: any call may be the same."""
        self.is_large = memoryview(first.event.raw).nbytes > _KEPT_WHOLE
        # What will soon be known by its digest need not be read again for that.
        self._first: Packed | Arrival | None = first if self.is_large else first.packed()
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

    def forget(self) -> None:
        """Keeps nothing by which it would be known again, unless it was asked for."""
        if self._content is None:
            self._content, self._first, self.is_forgotten = b"", None, True

    async def answer(self, wait: float, clock: Callable[[], float]) -> Answered | None:
        """The first answer; None when there is none after ``wait`` seconds, or it is old."""
        if self.is_open:
            await needs_loop()
        if self.is_open:  # still: meanwhile others went on
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

    __slots__ = ("_since", "calls", "entries", "is_shared")

    def __init__(self, now: float) -> None:
        self.calls: deque[_Call] = deque(maxlen=_MOST_CALLS)
        self.entries: set[str] = set()
        """Those that a call came through first."""
        self.is_shared = False
        """Whether one came through a second entry."""
        self._since = now

    def add(self, call: _Call, entry: str) -> None:
        """Another call, which came through this entry."""
        calls = self.calls
        calls.append(call)
        self.entries.add(entry)
        if len(calls) > _FEW_CALLS and self.is_alone(call.at):
            # Where much is asked, what is kept would only push what is needed out of the caches.
            while len(calls) > _FEW_CALLS:
                calls.popleft()

    def is_alone(self, now: float) -> bool:
        """Whether none will come through a second entry, as far as one can tell."""
        alone = len(self.entries) == 1 and not self.is_shared
        return alone and now - self._since > _ALONE

    def earlier(self, arrival: Arrival) -> _Call | None:
        """The latest equal call, unless it came through this entry: then it is done again."""
        for call in reversed(self.calls):
            if call.is_forgotten:
                return None  # it may be this one, and what was said before it does not count
            if arrival.content and call.content == arrival.content:
                return None if arrival.entry in call.entries else call
        return None


class BriefAnswers:
    """Keeps them in memory, the last few hundred for some seconds."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._large: _Call | None = None

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
            found = self._groups[key] = _Group(self.clock())
        return found

    def put_away(self, call: _Call, group: _Group) -> None:
        """A large call is answered, and is not to be kept as it is.

        Its digest takes longer than all the rest, and whoever comes next would wait for it. So
        where nobody will ask for it, the last one only is kept, and for a moment: one that comes
        through a second entry all the same would be judged again.
        """
        loop = asyncio.get_running_loop()
        if not group.is_alone(call.at):
            loop.call_soon(call.shrink)
            return
        if self._large is not None:
            self._large.forget()
        self._large = call
        loop.call_later(_AT_ONCE, self._forget, call)

    def _forget(self, call: _Call) -> None:
        call.forget()
        if self._large is call:
            self._large = None


class _Once(Slot):
    """The slot and the way in and out of it; every event passes here, so there is little to it."""

    __slots__ = ("_answers", "_arrival", "_call", "_group", "_wait")

    def __init__(self, answers: BriefAnswers, arrival: Arrival | None, wait: float) -> None:
        self.known = self.kept = None  # by hand, which takes half as long as to ask the base
        self._answers = answers
        self._arrival = arrival
        self._wait = wait
        self._call: _Call | None = None
        self._group: _Group

    async def __aenter__(self) -> Slot:
        arrival = self._arrival
        if arrival is None:
            return self
        group, clock = self._answers.group(arrival), self._answers.clock
        # Nearly always all came through one entry, and then nothing need be compared.
        if len(group.entries) > (arrival.entry in group.entries):
            earlier = group.earlier(arrival)
            known = None if earlier is None else await earlier.answer(self._wait, clock)
            if earlier is not None and known is not None:
                earlier.entries.add(arrival.entry)
                group.is_shared = True
                self.known = known
                return self
        self._call, self._group = _Call(arrival, clock()), group
        group.add(self._call, arrival.entry)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        call = self._call
        if call is None:
            return
        if kind is None:
            call.known, call.at = self.kept, self._answers.clock()
        call.settle()
        if call.is_large:
            self._answers.put_away(call, self._group)
