"""Events a second through ``hookline fire --jsonl``, the whole program."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from hookline.cli.init import starter

EVENTS = 5_000


def run() -> str:
    """One sentence with the figure: it depends on the machine, so it has no limit."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "hookline.yaml")
        path.write_bytes(starter())
        lines = b"".join(
            b'{"event":"pre_tool_use","tool":{"name":"shell","command":"git log -n %d"}}\n' % number
            for number in range(EVENTS)
        )
        env = {**os.environ, "HOME": directory, "XDG_CONFIG_HOME": directory}
        argv = [sys.executable, "-m", "hookline", "fire", "--jsonl", "--config", str(path)]
        started = perf_counter()
        done = subprocess.run(
            argv, input=lines, capture_output=True, check=True, env=env, cwd=directory
        )
        seconds = perf_counter() - started
    assert done.stdout.count(b"\n") == EVENTS
    return f"`fire --jsonl`, starter config: {EVENTS / seconds:,.0f} events/s, start-up included"
