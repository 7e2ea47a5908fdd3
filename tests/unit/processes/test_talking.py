"""A program that is talked to: its lines, its limits, and that nothing of it is left."""

import asyncio
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from hookline.processes import CannotStart
from hookline.processes.talking import SaidTooMuch, Talk, talking

T = TypeVar("T")
ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"


@pytest.fixture(params=["pidfd", "thread", "reaping thread"], autouse=True)
def exit_notice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    notice: str = request.param
    if notice != "pidfd":
        monkeypatch.setattr("hookline.processes.start.open_pidfd", None)
    if notice == "reaping thread":
        monkeypatch.delattr(os, "waitid")
    return notice


def talk_to(
    program: str, say: Callable[[Talk], Awaitable[T]], *, cap: int = 1 << 20, line: int = 1 << 16
) -> T:
    async def work() -> T:
        argv = [sys.executable, "-I", "-c", program]
        async with talking(
            argv, cwd="/", env={"PATH": os.defpath}, output_cap=cap, line_cap=line
        ) as talk:
            return await asyncio.wait_for(say(talk), 30)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return asyncio.run(work())


def test_lines_go_to_and_fro() -> None:
    async def say(talk: Talk) -> list[bytes | None]:
        heard = []
        for word in (b"abc", b"x" * 100_000 + b"y"):
            await talk.say(word)
            heard.append(await talk.hear())
        return heard

    first, second = talk_to(ECHO, say, line=1 << 18)
    assert (first, (second or b"")[:2], len(second or b"")) == (b"cba\n", b"yx", 100_002)


def test_a_program_that_is_gone_is_said_nothing_and_says_nothing() -> None:
    async def say(talk: Talk) -> bytes | None:
        assert await talk.hear() is None
        await talk.say(b"hello")
        return bytes(talk.stderr)

    assert talk_to("import sys; sys.stderr.write('sorry'); sys.stderr.flush()", say) == b"sorry"


@pytest.mark.parametrize("program", ["print('x' * 100_000)", "while True: print('x' * 1_000)"])
def test_more_than_the_caps_is_not_listened_to(program: str) -> None:
    async def say(talk: Talk) -> None:
        while await talk.hear() is not None:
            pass

    with pytest.raises(SaidTooMuch):
        talk_to(program, say)


def test_complaints_without_end_neither_fill_us_nor_stop_it() -> None:
    async def say(talk: Talk) -> tuple[bytes | None, int]:
        return await talk.hear(), len(talk.stderr)

    program = "import sys\nsys.stderr.write('x' * 1_000_000)\nsys.stderr.flush()\nprint('done')"
    heard, kept = talk_to(program, say)
    assert (heard, kept <= 4096) == (b"done\n", True)


def test_when_the_talk_is_over_the_program_is_gone(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    async def say(talk: Talk) -> None:
        assert await talk.hear() == b"here\n"

    program = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
        "print('here', flush=True)\n"
        "while True: time.sleep(1)\n"
    )
    talk_to(program, say)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_a_program_that_cannot_be_started_is_told_of_in_words() -> None:
    async def work() -> None:
        async with talking(["no-such"], cwd="/", env={}, output_cap=1, line_cap=1):
            pass

    with pytest.raises(CannotStart, match="there is no program"):
        asyncio.run(work())
