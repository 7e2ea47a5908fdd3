"""What an agent waits for at each tool call, against the barest program that it could start.

Every row was taken in turns with that program; the journal is on everywhere.
"""

import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

import hookline
from bench.measure import Ratio
from bench.report import Report, Table
from bench.scenes import EMPTY, FULL, rules
from bench.spawning import Program, Timed
from bench.spawning import run as spawn
from bench.stage import Stage, stage
from hookline.cli.init import starter
from hookline.client import fastest

__all__ = ["BARE", "against_true", "run", "table", "turns"]

ROUNDS = 800
WARM = 60
COLD_ROUNDS = 40
LARGE_ROUNDS = 150
MEGABYTE = 1 << 20
BARE = "/bin/true"
GUARDED, UNGUARDED = "starter config, beside an empty one", "empty config, beside the starter's"
THIN = str(Path(hookline.__file__).parent / "client" / "thin.py")


def run() -> Report:
    """Each comparison is a run of its own: a fifth daemon beside would take the others' caches."""
    with ExitStack() as stack:
        empty = stack.enter_context(stage("empty", EMPTY))
        first = stack.enter_context(stage("starter", starter()))
        full = stack.enter_context(stage("starter, full", starter() + FULL))
        one = stack.enter_context(stage("one rule", rules(1)))
        hundred = stack.enter_context(stage("100 rules", rules(100)))
        stages = [empty, first, full, one, hundred]
        count = ROUNDS + WARM
        before = sum(each.answered() for each in stages)
        added = turns(first.program(GUARDED, count), empty.program(UNGUARDED, count))
        runs = [
            turns(first.program("starter config", count)),
            turns(empty.program("empty config", count)),
            turns(full.program("starter config, durability: full", count)),
            turns(one.program("one rule", count), hundred.program("100 rules", count)),
        ]
        told = count * (len(stages) + len((first, empty)))
        missed = before + told - sum(each.answered() for each in stages)
        large = turns(
            empty.program("empty config, 2 KB", LARGE_ROUNDS),
            empty.program("empty config, 1 MB", LARGE_ROUNDS, size=MEGABYTE),
            rounds=LARGE_ROUNDS - 10,
            warm=10,
        )
        cold = _cold(first)
        lines = _lines(first)
    return Report(
        ratios=[*_figures([*runs, large, cold]), _added(added), *_line_figures(lines)],
        tables=[
            table("Client + daemon, PreToolUse on a shell command, 2 KB", [*runs, added]),
            table("Payload size", [large]),
            table("Without the native client, starter config", [cold]),
            table("The installed line, as an agent starts it, starter config", [lines]),
        ],
        notes=_notes(missed),
        samples={
            f"{name}, run {number}": row.us
            for number, timed in enumerate([*runs, large, cold, added, lines])
            for name, row in timed.items()
        },
    )


def turns(*programs: Program, rounds: int = ROUNDS, warm: int = WARM) -> dict[str, Timed]:
    """These in turns with the barest one."""
    like = programs[0]
    bare_one = Program(name=BARE, argv=[BARE], env=like.env, cwd=like.cwd, inputs=like.inputs)
    return spawn([bare_one, *programs], rounds=rounds, warm=warm)


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
    return turns(nothing, thin, in_process, rounds=COLD_ROUNDS - 3, warm=3)


# What an agent starts, the line it is given, and how many times a hook that does nothing it may
# cost: a client that starts the person's own shell gets one with a shell inside.
_LINES = {"/bin/sh": (True, 1.3), "/bin/bash": (False, 1.9)}


def _lines(first: Stage) -> dict[str, Timed]:
    """The whole line as an agent starts it, beside one that does nothing."""
    count = ROUNDS + WARM
    programs = []
    for shell, (flat, _) in _LINES.items():
        ours = first.program(
            f"the line, {shell}", count, start=[shell, "-c", first.line(flat=flat)]
        )
        programs += [
            replace(ours, argv=[*ours.argv[:3]]),
            replace(ours, name=f"{BARE}, {shell}", argv=[shell, "-c", BARE]),
        ]
    return turns(*programs)


def _line_figures(timed: dict[str, Timed]) -> list[Ratio]:
    return [
        Ratio(
            what=f"the installed line, started by {shell}, p50",
            against=f"{shell} -c {BARE}",
            ours_us=timed[f"the line, {shell}"].spread.p50,
            theirs_us=timed[f"{BARE}, {shell}"].spread.p50,
            limit=limit,
            ours_p95_us=timed[f"the line, {shell}"].spread.p95,
        )
        for shell, (_, limit) in _LINES.items()
    ]


def _figures(runs: Sequence[dict[str, Timed]]) -> list[Ratio]:
    found = {name: (row, timed) for timed in runs for name, row in timed.items()}
    first, beside = found["starter config"]
    full, beside_full = found["starter config, durability: full"]
    rows = {name: row for name, (row, _) in found.items()}
    return [
        against_true("warm, starter config, p50", first, beside[BARE], 1.7),
        against_true("warm, starter config, p95", first, beside[BARE], 2.5, tail=True),
        against_true("warm, starter config, durability: full, p50", full, beside_full[BARE], 2.2),
        _pair(rows, "100 rules", "one rule", 1.2),
        _pair(rows, "empty config, 1 MB", "empty config, 2 KB", 5.0),
        _pair(rows, "in process, no daemon", "python -c pass", 9.0),
    ]


def _added(timed: dict[str, Timed]) -> Ratio:
    """What the guards of the starter config cost, round by round beside an empty config."""
    pairs = zip(timed[GUARDED].us, timed[UNGUARDED].us, strict=True)
    return Ratio(
        what="warm, what the starter config adds to an empty one, p50",
        against=BARE,
        ours_us=statistics.median(with_it - without for with_it, without in pairs),
        theirs_us=timed[BARE].spread.p50,
        limit=0.5,
    )


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


def _pair(rows: dict[str, Timed], ours: str, theirs: str, limit: float) -> Ratio:
    mine, other = rows[ours].spread, rows[theirs].spread
    return Ratio(
        what=f"warm, {ours}" if "daemon" not in ours else ours,
        against=theirs,
        ours_us=mine.p50,
        theirs_us=other.p50,
        limit=limit,
        ours_p95_us=mine.p95,
    )


def table(title: str, runs: Sequence[dict[str, Timed]], marks: Sequence[str] = ()) -> Table:
    """Every row with its tail, beside the bare spawn of its run; ``marks`` are rows of words."""
    rows = []
    for timed in runs:
        bare_one = timed[BARE].spread
        for name, row in timed.items():
            one = row.spread
            figures = [one.p50, one.p95, one.p99, bare_one.p50]
            times = [one.p50 / bare_one.p50, one.p95 / bare_one.p95]
            if name != BARE:
                rows.append([name, *(f"{us:,.0f}" for us in figures), *(f"{x:.2f}" for x in times)])
    columns = ["started", "p50 µs", "p95 µs", "p99 µs", f"{BARE} beside it", "× p50", "× p95"]
    rows += [[mark, *[""] * (len(columns) - 1)] for mark in marks]
    return Table(title=title, columns=columns, rows=rows)
