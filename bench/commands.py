"""Command hooks through the engine, against the bare processes they start."""

import asyncio
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Ratio, alternate, ratio
from hookline import PreToolUse, tool
from hookline.app import App
from hookline.model.events import Event
from hookline.model.ports import Caller

BUSY = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"


class Project:
    """An engine with some command hooks in a directory of its own, on a loop that stays."""

    def __init__(self, directory: str, commands: list[str | list[str]]) -> None:
        rules = "\n".join(
            f"  - {{on: pre_tool_use, name: h{i}, run: {c!r}}}" for i, c in enumerate(commands)
        )
        path = Path(directory, "hookline.yaml")
        path.write_text(f"version: 1\nhooks:\n{rules}\n", encoding="utf-8")
        env = {**os.environ, "HOME": directory, "XDG_CONFIG_HOME": directory}
        self.app = App(env=env, cwd=directory, home=directory, config=str(path))
        self.event: Event = PreToolUse(tool=tool("shell", command="git status"), cwd=directory)
        self.payload = b"x" * 600
        self.runner = asyncio.Runner()
        self.count = len(commands)
        loaded = self.app.config_for(self.event, directory)
        self.engine = self.app.engine_for(loaded)
        self.caller = Caller(env=env, project_dir=directory)

    def fire(self) -> None:
        """One event; every hook must have passed."""
        outcome = self.runner.run(self.engine.handle(self.event, self.caller))
        assert len(outcome.runs) == self.count, outcome.runs
        assert not any(run.failed for run in outcome.runs), outcome.runs

    def close(self) -> None:
        """Ends the loop."""
        self.runner.run(self.app.aclose())
        self.runner.close()


def bare(argv: list[str], payload: bytes) -> None:
    """The same program without us."""
    subprocess.run(argv, input=payload, capture_output=True, check=True, start_new_session=True)


def bare_parallel(argv: list[str], count: int) -> None:
    """The same programs at once without us."""
    children = [
        subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(count)
    ]
    for child in children:
        child.communicate()


def overhead(name: str, command: str | list[str]) -> Ratio:
    """One hook, against a bare run of the same program with the same input."""
    program = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    with TemporaryDirectory() as directory:
        project = Project(directory, [command])
        times = alternate(project.fire, lambda: bare(program, project.payload), 300)
        project.close()
    return ratio(f"one command hook, {name}", "subprocess.run of it", times, 1.25)


def run() -> list[Ratio]:
    """Overhead of one hook, eight that wait, eight that compute."""
    lines = [overhead("/bin/true", ["/bin/true"]), overhead("sh + cat", "cat > /dev/null")]
    with TemporaryDirectory() as one, TemporaryDirectory() as many:
        single = Project(one, ["sleep 0.1"])
        eight = Project(many, [f"sleep 0.1 # {i}" for i in range(8)])
        lines.append(
            ratio(
                "8 hooks that wait 0.1 s",
                "one of them",
                alternate(eight.fire, single.fire, 12),
                1.5,
            )
        )
        single.close()
        eight.close()
    with TemporaryDirectory() as directory:
        eight = Project(directory, [f"{BUSY} # {i}" for i in range(8)])
        times = alternate(eight.fire, lambda: bare_parallel(["/bin/sh", "-c", BUSY], 8), 15)
        lines.append(ratio("8 hooks that compute", "the same 8 by bare Popen", times, 1.25))
        eight.close()
    return lines
