"""Events a second through the daemon's socket, its memory, and how the cost of one event grows."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median

from msgspec import Struct

from bench.baseline import inserts_per_second, rows_in
from bench.driving import Driven, drive
from bench.measure import Ratio
from bench.report import Report, Table
from bench.scenes import EMPTY, rules
from bench.spread import spread
from bench.stage import Stage, stage
from hookline.cli.init import starter

__all__ = ["resident_kb", "run"]

CONNECTIONS = (1, 8, 64)
ENOUGH = 3_500
MOST_KB = 60_000
SECONDS = 1.5
BARE_EVENTS = 16_384
TURNS = 5
EARLY = 10_000
LATE, LATE_LONG = 30_000, 100_000
HOOKS = (1, 10, 100, 1000)
SIZES = {
    "2 KB": 2 << 10,
    "20 KB": 20 << 10,
    "200 KB": 200 << 10,
    "1 MB": 1 << 20,
    "10 MB": 10 << 20,
}
BYTES_PER_SIZE = 60 << 20
MOST, LEAST = 400, 6


def run(*, long: bool = False) -> Report:
    """``long``: memory over 100,000 events instead of 30,000."""
    numbers = count(step=100_000)  # each drive begins where no other one comes to
    with ExitStack() as stack:
        empty = stack.enter_context(stage("empty", EMPTY))
        first = stack.enter_context(stage("starter", starter()))
        rates = {
            "empty config": _rates(empty, numbers),
            "starter config": _rates(first, numbers),
        }
        figures = [
            _rate(rates["starter config"]),
            _resident(first),
            _memory(LATE_LONG if long else LATE, numbers),
        ]
        sizes = _sizes(empty, numbers)
    return Report(ratios=figures, tables=[_rate_table(rates), _hooks(numbers), sizes])


class _Rates(Struct, frozen=True):
    """Events a second by connections, and what is compared with them."""

    by_connections: dict[int, float]
    cpu_us: float
    """The daemon's, for one event of many at once."""
    bare: float


def _rates(one: Stage, numbers: Iterator[int]) -> _Rates:
    """Ours and the baseline's, in turns."""
    drive(one, connections=8, events=MOST, first=next(numbers))
    rows = rows_in(one.journal)
    taken: dict[int, list[Driven]] = {connections: [] for connections in CONNECTIONS}
    bare = []
    for _ in range(TURNS):
        for connections, drives in taken.items():
            drives.append(
                drive(
                    one,
                    connections=connections,
                    events=64_000,
                    first=next(numbers),
                    seconds=SECONDS,
                )
            )
        bare.append(inserts_per_second(rows, threads=64, events=BARE_EVENTS))
    middle = {
        connections: median(driven.per_second for driven in drives)
        for connections, drives in taken.items()
    }
    return _Rates(middle, median(driven.per_event for driven in taken[64]), median(bare))


def _rate(rates: _Rates) -> Ratio:
    """More than all agents of one user ever ask."""
    return Ratio(
        what="guarded events/s through 64 connections",
        against="the least that is enough",
        ours_us=rates.by_connections[64],
        theirs_us=ENOUGH,
        limit=1.0,
        least=True,
    )


def _resident(one: Stage) -> Ratio:
    return Ratio(
        what="the daemon's memory after these events (kB)",
        against="the most that it may have",
        ours_us=resident_kb(one.pid()),
        theirs_us=MOST_KB,
        limit=1.0,
    )


def _rate_table(rates: dict[str, _Rates]) -> Table:
    rows = [
        [
            name,
            *(f"{one.by_connections[connections]:,.0f}" for connections in CONNECTIONS),
            f"{one.bare:,.0f}",
            f"{one.cpu_us:,.0f}",
        ]
        for name, one in rates.items()
    ]
    columns = [
        *("events/s by connections", *map(str, CONNECTIONS)),
        *("bare inserts, 64 threads", "daemon's CPU µs an event"),
    ]
    return Table(title="Through the daemon's socket, journal on", columns=columns, rows=rows)


def resident_kb(pid: int) -> int:
    """What of a process is in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def _memory(last: int, numbers: Iterator[int]) -> Ratio:
    """After the first ten thousand events of a daemon's life, and after many more."""
    resident = []
    with stage("memory", starter()) as one:
        for events in (EARLY, last - EARLY):
            drive(one, connections=8, events=events, first=next(numbers))
            resident.append(resident_kb(one.pid()))
    return Ratio(
        what=f"the daemon's memory after {last:,} events (kB)",
        against=f"after {EARLY:,}",
        ours_us=resident[1],
        theirs_us=resident[0],
        limit=1.1,
    )


def _hooks(numbers: Iterator[int]) -> Table:
    """One event at a time, under more and more rules."""
    rows = []
    for many in HOOKS:
        with stage(f"{many} rules", rules(many)) as one:
            drive(one, connections=1, events=MOST // 4, first=next(numbers))
            rows.append(
                _row(f"{many:,}", drive(one, connections=1, events=MOST, first=next(numbers)))
            )
    title = "Cost of an event by number of rules, no spawn"
    return Table(title=title, columns=["rules", *_COSTS], rows=rows)


def _sizes(one: Stage, numbers: Iterator[int]) -> Table:
    """One event at a time, larger and larger."""
    rows = []
    for name, size in SIZES.items():
        events = max(LEAST, min(MOST, BYTES_PER_SIZE // size))
        drive(one, connections=1, events=2, first=next(numbers), size=size)
        driven = drive(one, connections=1, events=events, first=next(numbers), size=size)
        rows.append(_row(name, driven))
    title = "Cost of an event by payload size, empty config, no spawn"
    return Table(title=title, columns=["payload", *_COSTS], rows=rows)


_COSTS = ("p50 µs", "p95 µs", "p99 µs", "daemon's CPU µs")


def _row(name: str, driven: Driven) -> list[str]:
    one = spread(driven.us)
    return [
        name,
        f"{one.p50:,.0f}",
        f"{one.p95:,.0f}",
        f"{one.p99:,.0f}",
        f"{driven.per_event:,.0f}",
    ]
