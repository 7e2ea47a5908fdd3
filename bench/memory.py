"""Peak memory over many events: it must not grow with them."""

import asyncio
import gc
import os
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Ratio
from hookline import PreToolUse, tool
from hookline.app import App
from hookline.cli.init import starter
from hookline.pipeline.judge import judge

EVENTS = 10_000


def run() -> list[Ratio]:
    """Traced memory after 1,000 and after 10,000 different events under the starter config."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "hookline.yaml")
        path.write_bytes(starter())
        env = {**os.environ, "HOME": directory, "XDG_CONFIG_HOME": directory}
        app = App(env=env, cwd=directory, home=directory, config=str(path))

        async def fire(first: int, last: int) -> None:
            for number in range(first, last):
                command = f"git log --oneline -n {number}"
                await judge(PreToolUse(tool=tool("shell", command=command), cwd=directory), app)

        async def measure() -> tuple[int, int]:
            tracemalloc.start()
            await fire(0, 4_000)  # the bounded caches fill up first; what grows after is a leak
            peaks = []
            for first, last in ((4_000, 5_000), (5_000, 5_000 + EVENTS)):
                gc.collect()
                tracemalloc.reset_peak()
                await fire(first, last)
                peaks.append(tracemalloc.get_traced_memory()[1])
            return peaks[0], peaks[1]

        early, late = asyncio.run(measure())
        tracemalloc.stop()
    return [
        Ratio(
            what=f"peak memory over {EVENTS:,} events (kB)",
            against="over the first 1,000",
            ours_us=late / 1000,
            theirs_us=early / 1000,
            limit=1.1,
        )
    ]
