"""Fifty agents at work, one of which sends commands that take long to read: what the others wait.

Each agent connects for each event, as its client does. Whoever is not answered within the quarter
of a second that clients wait for an acknowledgement would have to judge the event by itself.
"""

import asyncio
import os
from contextlib import closing
from struct import unpack
from time import monotonic, perf_counter

import msgspec

from bench.measure import Ratio
from bench.report import Report, Table
from bench.scenes import agent_env, payload
from bench.spread import spread
from bench.stage import Stage, stage
from hookline._version import __version__
from hookline.cli.init import starter
from hookline.daemon.frames import encode_request
from hookline.daemon.instance import connect

__all__ = ["run"]

AGENTS = 50
EVERY = 0.2
SECONDS = 20.0
ENOUGH_US = 250_000.0
WORST = (
    "echo " + "$(" * 200 + "ls" + ")" * 200,
    "; ".join(f"x{number}=$(cat f{number} | sed s/a/b/ | xargs rm -f)" for number in range(900)),
    "eval " + " ".join(f"'eval \"rm -rf {number}\"'" for number in range(1500)),
    "for a in {1..9}{1..9}{1..9}{1..9}; do " + "if true; then " * 300 + "rm $a" + "; fi" * 300,
    "bash -c " * 60 + "'rm -rf /tmp/x'",
    "cat <<A <<B\n" + "$(find / -exec rm {} +)\n" * 2000 + "A\nB\n",
)


def run() -> Report:
    """The others' tail, and that of the one."""
    with stage("agents", starter()) as one:
        others, worst = asyncio.run(_work(one))
    tail, slow = spread(others), spread(worst)
    rows = [
        [name, str(each.count), *(f"{us:,.0f}" for us in (each.p50, each.p95, each.p99))]
        for name, each in (("the others", tail), ("the one", slow))
    ]
    return Report(
        ratios=[
            Ratio(
                what=f"{AGENTS} agents, one of them pathological: the others' p99",
                against="what clients wait before they judge by themselves",
                ours_us=tail.p99,
                theirs_us=ENOUGH_US,
                limit=1.0,
            )
        ],
        tables=[
            Table(
                title=f"{AGENTS} agents at {1 / EVERY:g} events/s each",
                columns=["events of", "answered", "p50 µs", "p95 µs", "p99 µs"],
                rows=rows,
            )
        ],
    )


async def _work(one: Stage) -> tuple[list[float], list[float]]:
    """Microseconds of each event: of the ordinary agents, and of the other one."""
    until = monotonic() + SECONDS
    agents = [_agent(one, which, until) for which in range(AGENTS)]
    worst, *others = await asyncio.gather(*agents)
    return [us for agent in others for us in agent], worst


async def _agent(one: Stage, which: int, until: float) -> list[float]:
    """One event after the other, each at its time; the first agent is the one."""
    taken: list[float] = []
    due = monotonic() + which * EVERY / AGENTS
    number = which * 10_000
    while (now := monotonic()) < until:
        if due > now:
            await asyncio.sleep(due - now)
        due = max(due + EVERY, monotonic())
        number += 1
        frame = _frame(one, which, number)
        began = perf_counter()
        await _ask(one, frame)
        taken.append((perf_counter() - began) * 1e6)
    return taken


def _frame(one: Stage, which: int, number: int) -> bytes:
    told = payload(number, one.project, session=f"agent-{which}")
    if which == 0:
        shape = msgspec.json.decode(told)
        shape["tool_input"]["command"] = f"{WORST[number % len(WORST)]} # {number}"
        told = msgspec.json.encode(shape)
    return encode_request(
        one.words,
        version=__version__,
        event=os.urandom(16).hex(),
        cwd=one.project,
        env=agent_env(str(one.root), one.project),
        stdin=told,
    )


async def _ask(one: Stage, frame: bytes) -> None:
    """Returns with the answer. Raises RuntimeError when the event is sent elsewhere."""
    with closing(connect(one.home, __version__, 5.0)) as sock:
        sock.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=sock)
        writer.write(frame)
        while (kind := await reader.read(1)) in {b"A", b"K"}:
            pass
        if kind != b"R":
            raise RuntimeError("an event was sent elsewhere")
        _, out, err = unpack(">BII", await reader.readexactly(9))
        await reader.readexactly(out + err)
        writer.close()
