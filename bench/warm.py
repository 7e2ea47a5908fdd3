"""What an agent waits for at each tool call, against the barest program that it could start.

All rows of a table are of one run in turns; the journal is on everywhere.
"""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import hookline
from bench.measure import Ratio
from bench.report import Report, Table
from bench.scenes import EMPTY, FULL, rules
from bench.spawning import Program, Timed
from bench.spawning import run as spawn
from bench.stage import Stage, stage
from hookline.cli.init import starter
from hookline.client import fastest

__all__ = ["against_true", "bare", "run", "table"]

ROUNDS = 1_000
WARM = 60
COLD_ROUNDS = 40
LARGE_ROUNDS = 150
MEGABYTE = 1 << 20
THIN = str(Path(hookline.__file__).parent / "client" / "thin.py")


def bare(like: Stage, count: int) -> Program:
    """The barest program, in the same place with the same input."""
    return Program(
        name="/bin/true",
        argv=["/bin/true"],
        env=like.env,
        cwd=like.project,
        inputs=like.inputs(count),
    )


def run() -> Report:
    """Warm rows, rules and sizes, the cold path: three runs in turns."""
    with ExitStack() as stack:
        empty = stack.enter_context(stage("empty", EMPTY))
        first = stack.enter_context(stage("starter", starter()))
        full = stack.enter_context(stage("starter, full", starter() + FULL))
        one = stack.enter_context(stage("one rule", rules(1)))
        hundred = stack.enter_context(stage("100 rules", rules(100)))
        stages = [empty, first, full, one, hundred]
        count = ROUNDS + WARM
        before = sum(each.answered() for each in stages)
        warm = spawn(
            [
                bare(first, count),
                empty.program("client + daemon, empty config", count),
                first.program("client + daemon, starter config", count),
                full.program("client + daemon, starter config, durability: full", count),
                one.program("client + daemon, one rule", count),
                hundred.program("client + daemon, 100 rules", count),
            ],
            rounds=ROUNDS,
            warm=WARM,
        )
        missed = before + count * len(stages) - sum(each.answered() for each in stages)
        large = spawn(
            [
                bare(empty, LARGE_ROUNDS),
                empty.program("client + daemon, empty config, 2 KB", LARGE_ROUNDS),
                empty.program("client + daemon, empty config, 1 MB", LARGE_ROUNDS, size=MEGABYTE),
            ],
            rounds=LARGE_ROUNDS - 10,
            warm=10,
        )
        cold = _cold(first)
    tables = [
        table("Warm path, PreToolUse on a shell command, 2 KB", warm),
        table("Payload size, empty config", large),
        table("Without the native client, starter config", cold),
    ]
    timed = {**cold, **large, **warm}
    return Report(
        ratios=_figures(timed),
        tables=tables,
        notes=_notes(missed),
        samples={name: row.us for name, row in timed.items()},
    )


def _notes(missed: int) -> list[str]:
    """What would make the figures mean something else."""
    notes = []
    if fastest(sys.executable)[0] == sys.executable:
        notes.append("The native client is not compiled here: the warm rows are the Python one's.")
    if missed > 0:
        notes.append(f"{missed} events of the warm rows were not answered by a daemon.")
    return notes


def _cold(first: Stage) -> dict[str, Timed]:
    """In process, and through the client that needs no compiler."""
    python = sys.executable
    in_process = first.program(
        "in process, no daemon", COLD_ROUNDS, start=[python, "-I", "-m", "hookline"]
    )
    thin = first.program(
        "thin Python client + daemon",
        COLD_ROUNDS,
        start=[python, "-I", "-S", "-E", THIN, python],
    )
    nothing = Program(
        name="python -c pass",
        argv=[python, "-c", "pass"],
        env=first.env,
        cwd=first.project,
        inputs=first.inputs(COLD_ROUNDS),
    )
    programs = [bare(first, COLD_ROUNDS), nothing, thin, in_process]
    return spawn(programs, rounds=COLD_ROUNDS - 3, warm=3)


def _figures(timed: dict[str, Timed]) -> list[Ratio]:
    first = timed["client + daemon, starter config"]
    return [
        against_true("warm, starter config, p50", first, timed["/bin/true"], 1.7),
        against_true("warm, starter config, p95", first, timed["/bin/true"], 2.5, tail=True),
        against_true(
            "warm, starter config, durability: full, p50",
            timed["client + daemon, starter config, durability: full"],
            timed["/bin/true"],
            2.2,
        ),
        _pair(timed, "client + daemon, 100 rules", "client + daemon, one rule", 1.2),
        _pair(
            timed,
            "client + daemon, empty config, 1 MB",
            "client + daemon, empty config, 2 KB",
            5.0,
        ),
        _pair(timed, "in process, no daemon", "python -c pass", 9.0),
    ]


def against_true(
    what: str, ours: Timed, theirs: Timed, limit: float, *, tail: bool = False
) -> Ratio:
    """The same part of both: the middle, or the tail."""
    mine, bare_one = ours.spread, theirs.spread
    return Ratio(
        what=what,
        against="/bin/true, p95" if tail else "/bin/true",
        ours_us=mine.p95 if tail else mine.p50,
        theirs_us=bare_one.p95 if tail else bare_one.p50,
        limit=limit,
        ours_p95_us=mine.p95,
    )


def _pair(timed: dict[str, Timed], ours: str, theirs: str, limit: float) -> Ratio:
    return Ratio(
        what=ours,
        against=theirs,
        ours_us=median(timed[ours].us),
        theirs_us=median(timed[theirs].us),
        limit=limit,
        ours_p95_us=timed[ours].spread.p95,
    )


def table(title: str, timed: dict[str, Timed], marks: Sequence[str] = ()) -> Table:
    """Every row with its tail, and how many bare spawns it takes; ``marks`` are rows of words."""
    bare_one = timed["/bin/true"].spread
    rows = []
    for name, row in timed.items():
        one = row.spread
        rows.append(
            [
                name,
                f"{one.p50:,.0f}",
                f"{one.p95:,.0f}",
                f"{one.p99:,.0f}",
                f"{one.p50 / bare_one.p50:.2f}",
                f"{one.p95 / bare_one.p95:.2f}",
            ]
        )
    rows += [[mark, "", "", "", "", ""] for mark in marks]
    columns = ["started", "p50 µs", "p95 µs", "p99 µs", "× p50", "× p95"]
    return Table(title=title, columns=columns, rows=rows)
