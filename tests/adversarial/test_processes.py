"""Programs that try to outlive, outgrow or outrun the runner; none may leave anything behind."""

import asyncio
import os
import random
import shutil
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from hookline.processes import Finished, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="strays are found on Linux only")

ENV = {"PATH": os.defpath}
SLEEP = shutil.which("sleep") or "/bin/sleep"

# Every way of becoming hard to find, several times over. The last two are found by one trail
# only: the orphan by its mark, the naked one by its descent.
FAMILY = """
import os, signal, sys
sleep, seconds, how_many = sys.argv[1], sys.argv[2], int(sys.argv[3])

def become_sleeper(env=os.environ):
    os.execve(sleep, ["sleep", seconds], env)

def plain(): become_sleeper()
def deaf(): signal.signal(signal.SIGTERM, signal.SIG_IGN); become_sleeper()
def own_group(): os.setpgid(0, 0); become_sleeper()
def own_session(): os.setsid(); become_sleeper()
def orphan():
    os.setsid()
    if os.fork(): os._exit(0)
    become_sleeper()
def naked(): os.setsid(); become_sleeper({})

for _ in range(how_many):
    for kind in (plain, deaf, own_group, own_session, orphan, naked):
        if not os.fork():
            kind()
"""
KINDS = 6

# Each generation leaves session and parent behind within a millisecond.
RUNAWAY = """
import os, sys
for _ in range(100_000):
    if os.fork(): os._exit(0)
    os.setsid()
"""


# Moves on faster than the process list can be read, with or without our pipes, and far longer than
# the test waits. Only the thread that all of its lives hold on to tells that one of them is alive.
HOPPER = """
import os, sys, time
os.open(sys.argv[1], os.O_WRONLY)
if sys.argv[2] == "quietly":
    if os.fork(): time.sleep(60)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2): os.dup2(nowhere, number)
end = time.monotonic() + 300
while time.monotonic() < end:
    if os.fork(): os._exit(0)
    os.setsid()
    time.sleep(0.002)
"""


@pytest.fixture(params=["pidfd", "thread", "reaping thread"], autouse=True)
def exit_notice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "pidfd":
        monkeypatch.setattr("hookline.processes.start.open_pidfd", None)
    if request.param == "reaping thread":
        monkeypatch.delattr(os, "waitid")


@pytest.fixture
def seconds() -> str:
    """A time to sleep that marks the sleepers of one test in the process list."""
    return f"300.{random.randrange(10**12):012}"


def start(argv: list[str], **options: Any) -> Coroutine[Any, Any, Finished]:
    given: dict[str, Any] = {"stdin": b"", "cwd": "/", "env": ENV, "timeout": 60.0, **options}
    return run(argv, **given)


def python(script: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", script, *arguments]


def family(seconds: str, ending: str, how_many: int = 1) -> list[str]:
    return python(FAMILY + ending, SLEEP, seconds, str(how_many))


def sleepers(seconds: str) -> int:
    """How many processes with this mark on their command line live; zombies have none."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        count += words[0].endswith(b"sleep") and seconds.encode() in words
    return count


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


async def nobody_left(seconds: str) -> None:
    await until(lambda: sleepers(seconds) == 0)


def test_a_whole_family_dies_with_the_deadline(seconds: str) -> None:
    async def outlive() -> Finished:
        argv = family(seconds, "print('ready', flush=True); signal.pause()", how_many=8)
        result = await start(argv, timeout=1.5)
        await nobody_left(seconds)
        return result

    result = asyncio.run(outlive())

    assert (result.stdout, result.exit_code, result.timed_out) == (b"ready\n", None, True)
    assert result.seconds < 30


def test_a_whole_family_dies_with_the_deadline_even_if_its_leader_ignores_sigterm(
    seconds: str,
) -> None:
    async def outlive() -> Finished:
        ending = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"
        result = await start(family(seconds, ending), timeout=1, grace=0.05)
        await nobody_left(seconds)
        return result

    assert asyncio.run(outlive()).timed_out


def test_a_whole_family_dies_with_the_cancelled_task(seconds: str) -> None:
    async def cancel() -> None:
        task = asyncio.create_task(start(family(seconds, "signal.pause()", how_many=3)))
        await until(lambda: sleepers(seconds) == 3 * KINDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await nobody_left(seconds)

    asyncio.run(cancel())


def test_a_whole_family_dies_with_a_flood(seconds: str) -> None:
    async def flood() -> Finished:
        ending = "input()\nwhile True: print('flood' * 1000)"
        result = await start(family(seconds, ending), stdin=b"go\n", output_cap=1_000_000)
        await nobody_left(seconds)
        return result

    assert asyncio.run(flood()).stdout_cut


def test_an_orphan_that_keeps_the_pipes_after_a_clean_exit_dies_although_it_left_the_session(
    seconds: str,
) -> None:
    async def slip_away() -> Finished:
        script = (
            "import os, sys\n"
            "ready, go = os.pipe()\n"
            "if not os.fork():\n"
            "    os.setsid()\n"
            "    os.execv(sys.argv[1], ['sleep', sys.argv[2]])\n"
            "os.close(go)\n"
            "os.read(ready, 1)\n"
        )
        result = await start(python(script, SLEEP, seconds), timeout=1000)
        await nobody_left(seconds)
        return result

    result = asyncio.run(slip_away())

    assert result.exit_code == 0
    assert result.seconds < 30


def test_a_run_inside_a_run_dies_with_the_outer_one(seconds: str) -> None:
    inner = (
        "import asyncio, os, sys\n"
        "from hookline.processes import run\n"
        "argv = sys.argv[1:]\n"
        "asyncio.run(run(argv, stdin=b'', cwd='/', env=dict(os.environ), timeout=1000))"
    )

    async def nest() -> None:
        argv = [sys.executable, "-c", inner, SLEEP, seconds]
        env = {**ENV, "PYTHONPATH": os.pathsep.join(sys.path)}
        task = asyncio.create_task(start(argv, env=env))
        await until(lambda: sleepers(seconds) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await nobody_left(seconds)

    asyncio.run(nest())


def test_a_runaway_that_forks_ahead_of_every_search_cannot_hold_the_caller() -> None:
    result = asyncio.run(start(python(RUNAWAY), timeout=0.5))

    assert result.seconds < 30


@pytest.mark.parametrize("how", ["aloud", "quietly"])
def test_a_child_that_moves_from_session_to_session_is_caught(how: str, tmp_path: Path) -> None:
    thread = tmp_path / "thread"
    os.mkfifo(thread)
    end = os.open(thread, os.O_RDONLY | os.O_NONBLOCK)

    async def chase() -> None:
        await start(python(HOPPER, str(thread), how), timeout=0.5)
        await until(lambda: is_let_go(end))

    asyncio.run(chase())
    os.close(end)


def is_let_go(end: int) -> bool:
    """Whether nobody holds the other end of a pipe."""
    try:
        return os.read(end, 1) == b""
    except BlockingIOError:
        return False


def test_a_flood_on_both_streams_with_input_pending_ends_at_the_cap() -> None:
    script = (
        "import os\nwhile True:\n    os.write(1, b'o' * 10000)\n    os.write(2, b'e' * 10000)\n"
    )
    result = asyncio.run(
        start(python(script), stdin=bytes(10_000_000), output_cap=100_000, timeout=1000)
    )

    assert (result.stdout, result.stdout_cut) == (b"o" * 100_000, True)
    assert result.stderr == b"e" * len(result.stderr)
    assert len(result.stderr) <= 100_000


def test_output_byte_by_byte_is_put_together_again() -> None:
    script = "import os\nfor _ in range(20_000): os.write(1, b'.')"

    assert asyncio.run(start(python(script))).stdout == b"." * 20_000


def test_a_program_that_takes_its_pipes_for_its_own_cannot_block_the_loop() -> None:
    """The child's ends are its own: making them non-blocking, or tiny, must not reach ours."""
    script = (
        "import fcntl, os\n"
        "for fd in range(3):\n"
        "    os.set_blocking(fd, True)\n"
        "fcntl.fcntl(1, 1031, 4096)\n"
        "os.write(1, b'x' * 300_000)\n"
        "os.read(0, 1)\n"
    )

    async def with_heartbeat() -> tuple[Finished, int]:
        beats = 0

        async def heart() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(heart())
        result = await start(python(script), stdin=bytes(5_000_000))
        task.cancel()
        return result, beats

    result, beats = asyncio.run(with_heartbeat())

    assert (result.exit_code, len(result.stdout)) == (0, 300_000)
    assert beats > 10
