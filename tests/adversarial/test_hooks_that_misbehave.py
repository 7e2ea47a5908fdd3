"""Hooks that break, lie, flood, hang or run away: each is a failure in words, and never a hang."""

import asyncio
import gzip
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import registry
from hookline.config.copies import FreeFiles
from hookline.dialects.canonical.codec import Canonical
from hookline.handlers import command, http, python
from hookline.handlers._workers import workers
from hookline.model.answers import PASS, Answer, context, deny
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerError,
    HandlerTimeout,
)
from hookline.model.events import PreToolUse
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.ports import Call, Caller, HandlerModule, Match, Services

EVENT = PreToolUse(tool=hookline.tool("shell", command="ls"))
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


SERVICES = Services(
    codec=lambda name: Canonical(), builtin=registry.builtin, pins=lambda hook: FreeFiles()
)


async def asked(
    module: HandlerModule, directory: Path, seconds: float = 20.0, **values: Any
) -> Answer:
    hook = Hook(
        name="bad",
        events=("pre_tool_use",),
        handler=HandlerSpec("under test", values),
        project_dir=str(directory),
    )
    handler = module.make(hook, SERVICES)
    assert not handler.instant
    return await handler.run(Call(EVENT, hook, Caller(env=ENV), Match(), seconds))


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 30


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def until_gone(*pids: int) -> None:
    async with asyncio.timeout(20):
        while any(map(is_running, pids)):  # noqa: ASYNC110 - no other process can set an event of ours
            await asyncio.sleep(0.005)


def pids_in(file: Path) -> list[int]:
    return [int(word) for word in file.read_text().split()]


# Commands


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        ("head -c 100000 /dev/urandom | tr -d '\\0' | sed 's/^/{/'", HandlerAnswerError),
        ('printf "{\\"verdict\\": \\"allow\\", \\"reason\\": \\"\\377\\"}"', HandlerAnswerError),
        ("printf '{%.0s' $(seq 1 100000)", HandlerAnswerError),
        ('echo noise; echo \'{"verdict": "deny", "reason": "no"}\'', HandlerAnswerError),
        ('echo \'{"verdict": "deny", "reason": "no"\'', HandlerAnswerError),
        ("cat /dev/zero", HandlerAnswerError),
        ("kill -KILL $$", HandlerCrashed),
        ('echo \'{"verdict": "allow"}\'; exit 1', HandlerCrashed),
        ('echo \'{"verdict": "allow"}\'; sleep 1000', HandlerTimeout),
        ("trap '' TERM INT HUP; while :; do :; done", HandlerTimeout),
        ("exec >&- 2>&-; sleep 1000", HandlerTimeout),
    ],
)
def test_a_command_that_misbehaves_is_a_failure(
    tmp_path: Path, run: str, kind: type[HandlerError]
) -> None:
    seconds = 0.3 if kind is HandlerTimeout else 20.0
    with pytest.raises(kind) as failure:
        asyncio.run(asked(command, tmp_path, seconds, run=run))
    assert len(str(failure.value)) < 2000


def test_a_flood_of_stderr_does_no_harm(tmp_path: Path) -> None:
    run = "head -c 30000000 /dev/zero >&2; echo fine"
    assert asyncio.run(asked(command, tmp_path, run=run)) == context("fine")


def test_a_helper_that_holds_the_output_open_does_not_hold_us(tmp_path: Path) -> None:
    assert asyncio.run(asked(command, tmp_path, run="sleep 1000 & echo fine")) == context("fine")


def test_processes_that_run_away_are_caught_at_the_deadline(tmp_path: Path) -> None:
    run = "setsid sh -c 'echo $$ > pid; exec sleep 1000' & wait"

    async def scenario() -> None:
        with pytest.raises(HandlerTimeout):
            await asked(command, tmp_path, 2.0, run=run)
        await until_gone(*pids_in(tmp_path / "pid"))

    asyncio.run(scenario())


def test_a_command_cannot_be_told_lies_through_the_callers_environment(tmp_path: Path) -> None:
    async def scenario() -> Answer:
        hook = Hook(
            name="guard",
            events=("pre_tool_use",),
            handler=HandlerSpec("command", {"run": 'ls; echo "$HOOKLINE_COMMAND"'}),
            project_dir=str(tmp_path),
            guard=True,
        )
        trap = tmp_path / "trap.sh"
        trap.write_text("echo sprung; exit 0")
        env = {
            **ENV,
            "ENV": str(trap),
            "BASH_ENV": str(trap),
            "BASH_FUNC_ls%%": "() { echo sprung; }",
            "LD_PRELOAD": "/no/such.so",
            "HOOKLINE_COMMAND": "echo harmless",
        }
        handler = command.make(hook, SERVICES)
        assert not handler.instant
        return await handler.run(Call(EVENT, hook, Caller(env=env), Match(), 20.0))

    assert asyncio.run(scenario()) == context("trap.sh\nls")


# Python functions


@pytest.fixture
def checked(tmp_path: Path) -> Callable[..., Answer]:
    """What a Python hook with this body answers, and that the next call finds a sound worker."""

    def answer(body: str, seconds: float = 20.0) -> Answer:
        source = f"def check(event):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
        (tmp_path / "bad.py").write_text(source, encoding="utf-8")
        (tmp_path / "good.py").write_text("def check(event): return 'good'", encoding="utf-8")

        async def scenario() -> Answer:
            await asked(python, tmp_path, python="good.py:check")  # a worker is up and waiting
            try:
                return await asked(python, tmp_path, seconds, python="bad.py:check")
            finally:
                good = await asked(python, tmp_path, python="good.py:check")
                assert good == context("good")

        return asyncio.run(scenario())

    return answer


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("import sys; sys.exit(2)", r"called sys\.exit\(2\) \(bad\.py:2\)"),
        ("import os; os._exit(0)", "ended its process with exit code 0"),
        ("import os; os._exit(3)", "ended its process with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("import os; os.kill(os.getpid(), 34)", "was killed by"),
        ("import os; os.abort()", "was killed by SIGABRT"),
        ("import os, signal; os.killpg(0, signal.SIGTERM)", "was killed by SIGTERM"),
        ("import ctypes; ctypes.string_at(0)", "was killed by SIGSEGV"),
        ("import os; os.closerange(3, 200)", "instead of answering"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise MemoryError", "MemoryError"),
        ("check(event)", "RecursionError"),
        ("import os; os.write(2, b'last words'); os._exit(1)", "stderr: last words"),
    ],
)
def test_a_function_that_ends_in_any_way_but_an_answer_has_crashed(
    checked: Callable[..., Answer], body: str, text: str
) -> None:
    with pytest.raises(HandlerCrashed, match=text):
        checked(body)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return 42", "returned int"),
        ("return lambda: 1", "returned function"),
        ("yield 'deny'", "returned generator"),
        ("return {'verdict': 'deny'}", "needs a reason"),
        ("return {'metadata': {'x': object()}}", "JSON"),
        ("return {'context': ['x' * 11_000_000]}", "longer than 10,000,000 bytes"),
        ("return {'context': ['\\ud800']}", "JSON"),
        ("x = {}\nx['x'] = x\nreturn {'metadata': x}", "JSON"),
    ],
)
def test_a_result_that_is_no_answer_is_a_failed_answer(
    checked: Callable[..., Answer], body: str, text: str
) -> None:
    with pytest.raises(HandlerAnswerError, match=text):
        checked(body)


# A socket among the descriptors: the channel, which only a hook that looks for it would find.
FIND_CHANNEL = """
import os, stat
channel = next(fd for fd in range(3, 100) if stat.S_ISSOCK(os.fstat(fd).st_mode))
"""


@pytest.mark.parametrize(
    "garbage", ["b'hello\\n'", "b'{}\\n'", "b'{\"id\": 0}\\n'", "b'\\xff' * 12_000_000 + b'\\n'"]
)
def test_garbage_on_the_channel_is_a_failed_answer(
    checked: Callable[..., Answer], garbage: str
) -> None:
    body = f"{FIND_CHANNEL}\nview = memoryview({garbage})\nwhile view: view = view[os.write(channel, view):]"
    with pytest.raises(HandlerAnswerError):
        checked(body)


def test_a_function_that_shuts_the_channel_ends_its_own_worker(
    checked: Callable[..., Answer],
) -> None:
    shut = "import socket, time\nsocket.socket(fileno=channel).shutdown(socket.SHUT_RDWR)"
    with pytest.raises(HandlerCrashed, match="killed by SIGKILL instead of answering"):
        checked(f"{FIND_CHANNEL}\n{shut}\ntime.sleep(1000)")


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import re; re.match('(a+)+$', 'a' * 50 + 'b')",
        "import time, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
        "import asyncio\nasync def f(): await asyncio.Event().wait()\nreturn f()",
        "while True: print('x' * 10_000)",
        "import os\nwhile True: os.write(2, b'x' * 10_000)",
    ],
)
def test_a_function_that_never_ends_is_ended(checked: Callable[..., Answer], body: str) -> None:
    with pytest.raises(HandlerTimeout):
        checked(body, seconds=1.0)


def test_a_function_that_forks_answers_once(checked: Callable[..., Answer]) -> None:
    assert checked("import os\nos.fork()\nreturn 'once'") == context("once")


def test_a_child_that_holds_the_channel_does_not_hide_its_parents_end(
    checked: Callable[..., Answer], tmp_path: Path
) -> None:
    body = """
        import os, time
        read_end, write_end = os.pipe()
        if os.fork():
            os.read(read_end, 1)
            os._exit(5)
        os.setsid()
        with open("pids", "w") as pids: print(os.getpid(), file=pids)
        os.write(write_end, b".")
        time.sleep(1000)
    """
    with pytest.raises(HandlerCrashed, match="exit code 5"):
        checked(body)
    asyncio.run(until_gone(*pids_in(tmp_path / "pids")))


def test_processes_of_a_function_die_with_it_even_if_they_ran_away(
    checked: Callable[..., Answer], tmp_path: Path
) -> None:
    body = """
        import subprocess, time
        for away in (False, True):
            child = subprocess.Popen(["sleep", "1000"], start_new_session=away)
            with open("pids", "a") as pids: print(child.pid, file=pids)
        time.sleep(1000)
    """
    with pytest.raises(HandlerTimeout):
        checked(body, seconds=2.0)
    pids = pids_in(tmp_path / "pids")
    assert len(pids) == 2
    asyncio.run(until_gone(*pids))


def test_threads_left_behind_keep_nobody(checked: Callable[..., Answer]) -> None:
    body = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()"
    assert checked(body) is PASS


def test_what_a_function_changes_around_itself_is_set_right_for_the_next(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(
        "import os, sys\n"
        "def wreck(event):\n"
        "    os.chdir('/'); os.environ.clear(); os.environ['HOOKLINE_ID'] = 'x'\n"
        "    sys.stdout.close(); sys.stdin.close(); os.close(1)\n"
        "def look(event):\n"
        "    return os.getcwd() + ' ' + os.environ['HOOKLINE_ID']\n",
        encoding="utf-8",
    )

    async def scenario() -> Answer:
        await asked(python, tmp_path, python="hooks.py:wreck")
        return await asked(python, tmp_path, python="hooks.py:look")

    assert asyncio.run(scenario()) == context(f"{tmp_path.resolve()} {EVENT.id}")


def test_a_worker_dies_with_its_parent_in_the_middle_of_a_hook(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(
        "import os, subprocess, time\n"
        "def check(event):\n"
        "    child = subprocess.Popen(['sleep', '1000'])\n"
        "    with open('pids.part', 'w') as pids: print(os.getpid(), child.pid, file=pids)\n"
        "    os.rename('pids.part', 'pids')\n"
        "    time.sleep(1000)\n",
        encoding="utf-8",
    )
    program = f"""
import asyncio, runpy
from pathlib import Path
from hookline.handlers import python
suite = runpy.run_path({str(Path(__file__))!r})
asyncio.run(suite["asked"](python, Path({str(tmp_path)!r}), python="hooks.py:check"))
"""
    parent = subprocess.Popen([sys.executable, "-c", program])

    async def scenario() -> None:
        async with asyncio.timeout(20):
            while not (tmp_path / "pids").exists():  # noqa: ASYNC110 - no other process can set an event of ours
                await asyncio.sleep(0.005)
        parent.send_signal(signal.SIGKILL)
        await until_gone(*pids_in(tmp_path / "pids"))

    try:
        asyncio.run(scenario())
    finally:
        parent.kill()
        parent.wait()


def test_many_bad_calls_leave_no_workers_and_no_descriptors(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import os\ndef check(e): os._exit(1)", encoding="utf-8")

    async def scenario() -> int:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(8):
            with pytest.raises(HandlerCrashed):
                await asked(python, tmp_path, python="bad.py:check")
        await asyncio.sleep(0)  # transports close in the next turn of the loop
        assert (await workers.get()).all() == []
        return len(os.listdir("/proc/self/fd")) - before

    assert asyncio.run(scenario()) == 0


# HTTP servers


def posted(answer: Callable[[asyncio.StreamWriter], Awaitable[None]], seconds: float) -> Answer:
    tasks: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        try:
            await reader.readuntil(b"\r\n\r\n")
            await answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def scenario() -> Answer:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = "http://{}:{}/".format(*server.sockets[0].getsockname())
        try:
            return await asked(http, Path("/"), seconds, http=url)
        finally:
            await http.aclose()
            for _ in range(5):  # asyncio drops a connection that arrives while its server closes
                await asyncio.sleep(0)
            server.close()
            for task in filter(None, tasks):
                task.cancel()
                await asyncio.wait([task])
            await asyncio.sleep(0)  # a closed transport lets go of its socket in the next turn

    return asyncio.run(scenario())


def saying(
    *parts: bytes, for_ever: bytes = b""
) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    async def answer(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
        while for_ever:
            writer.write(for_ever)
            await writer.drain()
            await asyncio.sleep(0)

    return answer


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (saying(b""), HandlerCrashed),
        (saying(b"\x00\xff" * 1000), HandlerCrashed),
        (saying(OK, for_ever=b"X-Header: more\r\n"), HandlerCrashed),
        (saying(OK, b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), HandlerCrashed),
        (saying(OK, b"Content-Length: -1\r\n\r\n"), HandlerCrashed),
        (saying(OK, b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"), HandlerCrashed),
        (saying(b"HTTP/1.1 999 What\r\n\r\n"), HandlerCrashed),
        (saying(OK, b"\r\n", for_ever=b"x" * 100_000), HandlerAnswerError),
        (
            saying(OK, b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"x" * 50_000_000)),
            HandlerAnswerError,
        ),
        (saying(OK, b"\r\n", b'{"verdict": "allow"'), HandlerAnswerError),
        (saying(for_ever=b"HTTP/1.1 100 Continue\r\n\r\n"), HandlerTimeout),
    ],
)
def test_a_server_that_misbehaves_is_a_failure(
    answer: Callable[[asyncio.StreamWriter], Awaitable[None]], kind: type[HandlerError]
) -> None:
    with pytest.raises(kind):
        posted(answer, 0.5 if kind is HandlerTimeout else 20.0)


def test_a_verdict_in_a_compressed_body_counts() -> None:
    body = gzip.compress(b'{"verdict":"deny","reason":"no"}')
    assert posted(saying(OK, b"Content-Encoding: gzip\r\n\r\n", body), 20.0) == deny("no")
