"""Command hooks through the engine, against the bare processes they start.

Both run inside one event loop that is there already, as it is for a daemon or an agent: starting
``asyncio.Runner`` for each event is no cost of the engine's.
"""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Ratio, alternate_async, ratio
from hookline import PreToolUse, tool
from hookline.app import App
from hookline.model.events import Event
from hookline.model.ports import Caller

BUSY = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"


class Project:
    """An engine with some command hooks in a directory of its own."""

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
        self.count = len(commands)
        loaded = self.app.config_for(self.event, directory)
        self.engine = self.app.engine_for(loaded)
        self.caller = Caller(env=env, project_dir=directory)

    async def fire(self) -> None:
        """One event; every hook must have passed."""
        outcome = await self.engine.handle(self.event, self.caller)
        assert len(outcome.runs) == self.count, outcome.runs
        assert not any(run.failed for run in outcome.runs), outcome.runs


@asynccontextmanager
async def project(commands: list[str | list[str]]) -> AsyncIterator[Project]:
    """A project that is cleared away again."""
    with TemporaryDirectory() as directory:
        opened = Project(directory, commands)
        yield opened
        await opened.app.aclose()


async def bare(argv: list[str], like: Project) -> None:
    """The same program in the same place without us; blocking is the cheapest way there is."""
    subprocess.run(  # noqa: ASYNC221 - that it blocks is what it is measured for
        argv,
        input=like.payload,
        cwd=like.caller.project_dir,
        env=like.caller.env,
        capture_output=True,
        check=True,
        start_new_session=True,
    )


async def bare_parallel(argv: list[str], count: int) -> None:
    """The same programs at once without us."""
    children = [
        subprocess.Popen(  # noqa: ASYNC220 - as above
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(count)
    ]
    for child in children:
        child.communicate()


async def overhead(name: str, command: str | list[str]) -> Ratio:
    """One hook, against a bare run of the same program with the same input."""
    program = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    async with project([command]) as one:
        times = await alternate_async(one.fire, lambda: bare(program, one), 300)
    return ratio(f"one command hook, {name}", "subprocess.run of it", times, 1.25)


async def waiting() -> Ratio:
    """Eight hooks that wait, against one."""
    async with (
        project(["sleep 0.1"]) as one,
        project([f"sleep 0.1 # {i}" for i in range(8)]) as all8,
    ):
        times = await alternate_async(all8.fire, one.fire, 12)
    return ratio("8 hooks that wait 0.1 s", "one of them", times, 1.5)


async def computing() -> Ratio:
    """Eight hooks that compute, against the bare programs at once."""
    async with project([f"{BUSY} # {i}" for i in range(8)]) as all8:
        times = await alternate_async(
            all8.fire, lambda: bare_parallel(["/bin/sh", "-c", BUSY], 8), 15
        )
    return ratio("8 hooks that compute", "the same 8 by bare Popen", times, 1.25)


def run() -> list[Ratio]:
    """Overhead of one hook, eight that wait, eight that compute."""

    async def all_of_them() -> list[Ratio]:
        return [
            await overhead("/bin/true", ["/bin/true"]),
            await overhead("sh + cat", "cat > /dev/null"),
            await waiting(),
            await computing(),
        ]

    return asyncio.run(all_of_them())
