"""How two things are timed against each other: in turns, so that a busy machine hits both."""

import gc
import statistics
from collections.abc import Awaitable, Callable
from time import perf_counter_ns

from msgspec import Struct


class Ratio(Struct, frozen=True, kw_only=True):
    """One line of the table."""

    what: str
    against: str
    ours_us: float
    theirs_us: float
    limit: float
    ours_p95_us: float = 0.0
    least: bool = False
    """The limit is the least that it may be: more is better, as with events a second."""

    @property
    def ratio(self) -> float:
        """How many times theirs ours takes."""
        return self.ours_us / self.theirs_us

    @property
    def holds(self) -> bool:
        """Whether the figure is reached."""
        return self.ratio >= self.limit if self.least else self.ratio <= self.limit


Times = tuple[list[float], list[float]]


def alternate(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> Times:
    """Microseconds of each call of both, in turns."""
    times: Times = ([], [])
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for index, call in enumerate((ours, theirs)):
                started = perf_counter_ns()
                call()
                times[index].append((perf_counter_ns() - started) / 1e3)
    finally:
        gc.enable()
    return times


async def alternate_async(
    ours: Callable[[], Awaitable[object]], theirs: Callable[[], Awaitable[object]], rounds: int
) -> Times:
    """``alternate`` inside one event loop."""
    times: Times = ([], [])
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for index, call in enumerate((ours, theirs)):
                started = perf_counter_ns()
                await call()
                times[index].append((perf_counter_ns() - started) / 1e3)
    finally:
        gc.enable()
    return times


def ratio(
    what: str,
    against: str,
    times: Times,
    limit: float,
    *,
    per: int = 1,
) -> Ratio:
    """The medians of both sides as one line; ``per`` calls were made in each timing."""
    ours, theirs = times
    return Ratio(
        what=what,
        against=against,
        ours_us=statistics.median(ours) / per,
        theirs_us=statistics.median(theirs) / per,
        limit=limit,
        ours_p95_us=statistics.quantiles(ours, n=20)[-1] / per,
    )
