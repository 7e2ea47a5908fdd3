"""The first answer to a call, as ``answers`` keeps it, for a process that hears of every call."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from hookline.store.answers import FRESH, Answered, Arrival, Slot

__all__ = ["BriefAnswers"]

_WAIT = 30.0
_MOST = 256


class _Call:
    """One call: through which entries it came, and what the first of them was answered."""

    __slots__ = ("answered", "at", "entries", "known")

    def __init__(self, entry: str) -> None:
        self.entries = {entry}
        self.at = 0.0
        self.known: Answered | None = None
        self.answered = asyncio.Event()


class BriefAnswers:
    """Keeps them in memory, the last few hundred for some seconds."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._calls: dict[bytes, _Call] = {}

    @asynccontextmanager
    async def once(
        self, arrival: Arrival | None, *, timeout: float | None = None
    ) -> AsyncIterator[Slot]:
        """The slot of a call. While the first one's hooks run, an equal call waits here.

        At most half of ``timeout``, so that it can still judge by itself when the first one does
        not come to an end.
        """
        if arrival is None:
            yield Slot()
            return
        earlier = self._calls.get(arrival.content)
        if earlier is not None and arrival.entry not in earlier.entries:
            known = await self._answer_of(earlier, _WAIT if timeout is None else timeout / 2)
            if known is not None:
                earlier.entries.add(arrival.entry)
                yield Slot(known)
                return
        call = self._begun(arrival)
        slot = Slot()
        try:
            yield slot
            call.known, call.at = slot.kept, self._clock()
        finally:
            call.answered.set()

    def _begun(self, arrival: Arrival) -> _Call:
        self._calls.pop(arrival.content, None)
        while len(self._calls) >= _MOST:
            del self._calls[next(iter(self._calls))]
        call = self._calls[arrival.content] = _Call(arrival.entry)
        return call

    async def _answer_of(self, call: _Call, wait: float) -> Answered | None:
        if not call.answered.is_set():
            try:
                await asyncio.wait_for(call.answered.wait(), wait)
            except TimeoutError:
                return None
        fresh = 0 <= self._clock() - call.at <= FRESH
        return call.known if fresh else None
