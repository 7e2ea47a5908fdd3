"""What a caller of ``run`` may rely on, with real programs, on every way of noticing an exit."""

import asyncio
import errno
import gc
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hookline.processes import Finished, run

ENV = {"PATH": os.defpath}
SLEEP = shutil.which("sleep") or "/bin/sleep"


@pytest.fixture(params=["pidfd", "thread", "reaping thread"], autouse=True)
def exit_notice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    notice: str = request.param
    if notice != "pidfd":
        monkeypatch.setattr("hookline.processes.start.open_pidfd", None)
    if notice == "reaping thread":
        monkeypatch.delattr(os, "waitid")
    return notice


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets the waiting times of the module, whose name its own function hides."""
    module = import_module("hookline.processes.run")

    def set_times(**seconds: float) -> None:
        for name, value in seconds.items():
            monkeypatch.setattr(module, name, value)

    return set_times


def start(argv: list[str], **options: Any) -> Coroutine[Any, Any, Finished]:
    given: dict[str, Any] = {"stdin": b"", "cwd": "/", "env": ENV, "timeout": 60.0, **options}
    return run(argv, **given)


def finish(argv: list[str], **options: Any) -> Finished:
    return asyncio.run(start(argv, **options))


def sh(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def python(script: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", script, *arguments]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while True:
            if condition():
                return
            await asyncio.sleep(0.002)


def is_reaped(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def is_dead(pid: int) -> bool:
    """Reaped, or a zombie left to an init process that is in no hurry."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return is_reaped(pid)
    return state == "Z"


def descriptors() -> int:
    return len(os.listdir("/dev/fd"))


def watching_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("watch-")]


class TestAProgramThatEndsByItself:
    def test_gives_its_exit_code_and_both_streams_apart(self) -> None:
        result = finish(sh("echo out; echo err >&2; exit 3"))

        assert result == Finished(
            exit_code=3,
            stdout=b"out\n",
            stderr=b"err\n",
            timed_out=False,
            stdout_cut=False,
            stderr_cut=False,
            seconds=result.seconds,
        )
        assert 0 < result.seconds < 30

    def test_killed_by_a_signal_has_a_negative_exit_code(self) -> None:
        assert finish(sh("kill -9 $$")).exit_code == -signal.SIGKILL

    def test_gets_default_signal_handling_although_python_ignores_sigpipe(self) -> None:
        assert finish(sh("kill -PIPE $$")).exit_code == -signal.SIGPIPE

    def test_reads_its_input_to_the_end_byte_for_byte(self) -> None:
        everything = bytes(range(256)) * 100

        assert finish(["cat"], stdin=everything).stdout == everything

    def test_reads_end_of_file_when_there_is_no_input(self) -> None:
        assert finish(["cat"]).stdout == b""

    def test_runs_in_the_given_folder_with_the_given_environment_and_the_run_mark(
        self, tmp_path: Path
    ) -> None:
        result = finish(sh("pwd; env"), cwd=str(tmp_path), env={"WORD": "a b", **ENV})

        folder, *variables = result.stdout.decode().splitlines()
        assert folder == str(tmp_path)
        names = {line.partition("=")[0] for line in variables}
        assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"WORD", "PATH", "HOOKLINE_RUN"}
        assert "WORD=a b" in variables

    def test_leads_a_session_of_its_own(self) -> None:
        script = "import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))"

        assert finish(python(script)).stdout == b"True\n"

    def test_inherits_nothing_but_the_three_standard_descriptors(self, tmp_path: Path) -> None:
        script = (
            "import os\n"
            "def is_open(fd):\n"
            "    try: return bool(os.fstat(fd))\n"
            "    except OSError: return False\n"
            "print([fd for fd in range(256) if is_open(fd)])"
        )
        with (tmp_path / "secret").open("wb") as secret:
            os.set_inheritable(secret.fileno(), True)
            result = finish(python(script))

        assert result.stdout == b"[0, 1, 2]\n"

    def test_is_not_waited_for_any_longer_when_nobody_holds_its_pipes(
        self, patience: Callable[..., None]
    ) -> None:
        patience(QUIET=1000, LINGER=1000)

        assert finish(sh("echo done"), timeout=2000).stdout == b"done\n"

    def test_may_close_its_output_long_before_it_exits(self) -> None:
        result = finish(sh("exec >&- 2>&-; read line; exit 7"), stdin=b"x" * 1_000_000)

        assert result.exit_code == 7

    def test_has_no_exit_code_when_somebody_else_took_its_status(self) -> None:
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            result = finish(sh("echo deny; exit 2"))
        finally:
            signal.signal(signal.SIGCHLD, before)

        assert result.exit_code is None
        assert result.stdout == b"deny\n"


class TestInput:
    def test_may_be_larger_than_any_pipe_while_the_program_floods_its_output_first(self) -> None:
        script = (
            "import sys\n"
            "sys.stdout.buffer.write(b'x' * 20_000_000)\n"
            "print(len(sys.stdin.buffer.read()))"
        )
        result = finish(python(script), stdin=bytes(50_000_000), output_cap=30_000_000)

        assert result.exit_code == 0
        assert result.stdout == b"x" * 20_000_000 + b"50000000\n"

    def test_may_be_ignored(self) -> None:
        assert finish(["true"], stdin=bytes(50_000_000)).exit_code == 0

    def test_may_be_closed_early_by_a_program_that_goes_on(self) -> None:
        result = finish(sh("exec <&-; echo on; exit 4"), stdin=bytes(50_000_000))

        assert (result.exit_code, result.stdout) == (4, b"on\n")

    def test_may_be_left_in_the_pipe_by_a_program_that_reads_only_a_little(self) -> None:
        assert finish(["head", "-c", "3"], stdin=b"abc" + bytes(5_000_000)).stdout == b"abc"


class TestOutput:
    def test_of_exactly_the_cap_is_whole(self) -> None:
        result = finish(["cat"], stdin=b"12345", output_cap=5)

        assert (result.exit_code, result.stdout, result.stdout_cut) == (0, b"12345", False)

    def test_of_one_byte_more_is_cut_and_counts_as_ended_by_us(self) -> None:
        result = finish(["cat"], stdin=b"123456", output_cap=5)

        assert (result.exit_code, result.stdout, result.stdout_cut) == (None, b"12345", True)
        assert not result.timed_out

    def test_without_end_gets_the_program_killed_at_the_cap(self) -> None:
        result = finish(["yes"], output_cap=1_000_000, timeout=1000)

        assert result.stdout == b"y\n" * 500_000
        assert (result.exit_code, result.stdout_cut, result.timed_out) == (None, True, False)

    def test_on_stderr_is_dropped_past_the_cap_and_the_program_goes_on(self) -> None:
        script = "import sys\nsys.stderr.buffer.write(b'e' * 3_000_000)\nprint('still here')\nsys.exit(5)"
        result = finish(python(script), output_cap=1000)

        assert (result.stderr, result.stderr_cut) == (b"e" * 1000, True)
        assert (result.exit_code, result.stdout, result.stdout_cut) == (5, b"still here\n", False)

    def test_written_just_before_exit_is_never_lost(self) -> None:
        async def many() -> list[Finished]:
            script = "head -c 60000 /dev/zero; head -c 60000 /dev/zero >&2"
            return await asyncio.gather(*(start(sh(script)) for _ in range(20)))

        for result in asyncio.run(many()):
            assert (len(result.stdout), len(result.stderr)) == (60000, 60000)


class TestTheDeadline:
    def test_ends_a_program_that_would_run_on_and_keeps_what_it_said(self) -> None:
        result = finish(sh("echo begun; exec sleep 300"), timeout=1)

        assert (result.exit_code, result.timed_out, result.stdout) == (None, True, b"begun\n")
        assert result.seconds < 30

    def test_sends_sigterm_first_and_leaves_the_grace_to_clean_up(self) -> None:
        script = "trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 300; done"

        result = finish(sh(script), timeout=1, grace=60)

        assert (result.exit_code, result.timed_out) == (None, True)
        assert result.stdout == b"ready\ncleaned\n"
        assert result.seconds < 30

    def test_sends_sigkill_when_the_grace_is_over(self) -> None:
        script = "trap '' TERM; while :; do sleep 300; done"

        result = finish(sh(script), timeout=0.2, grace=0.05)

        assert result.timed_out
        assert result.seconds < 30

    def test_reaches_a_program_that_stopped_itself(self) -> None:
        assert finish(sh("kill -STOP $$"), timeout=0.2, grace=0.05).timed_out

    def test_may_have_passed_before_the_program_ran(self) -> None:
        assert finish([SLEEP, "300"], timeout=0).timed_out

    def test_is_kept_even_when_the_program_cannot_be_killed_and_it_is_reaped_later(
        self, tmp_path: Path, patience: Callable[..., None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        patience(PATIENCE=0.05)
        gate = tmp_path / "gate"
        os.mkfifo(gate)

        def forbidden(*_: object) -> None:
            raise PermissionError(errno.EPERM, "a setuid program")

        async def outlive() -> Finished:
            with monkeypatch.context() as powerless:
                powerless.setattr(os, "killpg", forbidden)
                result = await start(sh(f"echo $$; read line < '{gate}'"), timeout=1, grace=0.01)
            pid = int(result.stdout)
            assert not is_dead(pid)
            gate.write_bytes(b"go\n")
            await until(lambda: is_reaped(pid) and not watching_threads())
            await asyncio.sleep(0)  # the turn in which the thread's notice is read
            return result

        result = asyncio.run(outlive())

        assert (result.exit_code, result.timed_out) == (None, True)


class TestCancellation:
    @pytest.mark.parametrize("times", [1, 3])
    def test_kills_and_reaps_before_it_is_passed_on(self, tmp_path: Path, times: int) -> None:
        note = tmp_path / "pid"

        async def cancelled() -> int:
            script = f"echo $$ > '{note}.new'; mv '{note}.new' '{note}'; exec sleep 300"
            task = asyncio.create_task(start(sh(script)))
            await until(note.exists)
            for _ in range(times):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            return int(note.read_text())

        assert is_reaped(asyncio.run(cancelled()))

    def test_by_an_outer_timeout_works_as_for_any_coroutine(self) -> None:
        async def impatient() -> None:
            async with asyncio.timeout(0.1):
                await start([SLEEP, "300"])

        with pytest.raises(TimeoutError):
            asyncio.run(impatient())


class TestHelpersLeftBehind:
    def test_that_hold_the_pipes_neither_delay_nor_survive(self) -> None:
        result = finish(sh("sleep 300 & echo $!"), timeout=1000)

        assert result.exit_code == 0
        assert result.seconds < 30
        asyncio.run(until(lambda: is_dead(int(result.stdout))))

    def test_that_hold_no_pipe_do_not_survive_in_the_group_either(self) -> None:
        result = finish(sh("sleep 300 <&- >&- 2>&- & echo $!"), timeout=1000)

        assert result.exit_code == 0
        asyncio.run(until(lambda: is_dead(int(result.stdout))))

    def test_are_heard_out_while_they_still_have_something_to_say(
        self, patience: Callable[..., None]
    ) -> None:
        patience(QUIET=60, LINGER=60)

        result = finish(sh("(sleep 0.05; echo late; echo later >&2) & echo first"))

        assert (result.stdout, result.stderr) == (b"first\nlate\n", b"later\n")
        assert result.seconds < 30

    def test_that_never_stop_talking_are_cut_short(self) -> None:
        result = finish(sh("yes >&2 & exit 6"), timeout=1000)

        assert result.exit_code == 6
        assert result.seconds < 30

    def test_that_flood_stdout_count_as_a_flood_of_the_program(self) -> None:
        result = finish(sh("yes & exit 0"), timeout=1000, output_cap=1000)

        assert (result.exit_code, result.stdout_cut, len(result.stdout)) == (None, True, 1000)

    def test_that_became_a_service_of_their_own_are_left_alone_after_a_clean_exit(self) -> None:
        result = finish(python(_SERVICE, SLEEP))

        service = int(result.stdout)
        assert result.exit_code == 0
        assert not is_dead(service)
        os.kill(service, signal.SIGKILL)


_SERVICE = """
import os, sys
ready, go = os.pipe()
service = os.fork()
if not service:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.set_inheritable(go, False)
    os.execv(sys.argv[1], ["sleep", "60"])
os.close(go)
os.read(ready, 1)
print(service)
"""


class TestManyRuns:
    def test_leave_no_descriptor_behind(self) -> None:
        async def many() -> tuple[int, int]:
            await start(["true"])
            before = descriptors()
            for _ in range(200):
                await start(["true"], stdin=b"payload")
            return before, descriptors()

        before, after = asyncio.run(many())

        assert after == before

    def test_leave_no_descriptor_behind_however_they_end(self) -> None:
        async def one_of_each() -> None:
            await start([SLEEP, "300"], timeout=0.01, grace=0)
            await start(["yes"], output_cap=10)
            await start(sh("sleep 300 &"))
            await start(["true"], stdin=bytes(1_000_000))

        async def twice() -> tuple[int, int]:
            await one_of_each()
            before = descriptors()
            await one_of_each()
            return before, descriptors()

        before, after = asyncio.run(twice())

        assert after == before

    def test_go_on_side_by_side(self) -> None:
        async def together() -> float:
            began = asyncio.get_running_loop().time()
            await asyncio.gather(*(start([SLEEP, "1"]) for _ in range(20)))
            return asyncio.get_running_loop().time() - began

        assert asyncio.run(together()) < 15

    def test_work_from_several_event_loops_at_once(self) -> None:
        failures: list[BaseException] = []

        def one_loop(word: bytes) -> None:
            try:
                for _ in range(20):
                    assert finish(["cat"], stdin=word).stdout == word
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=one_loop, args=(word,)) for word in (b"a", b"b", b"c")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

        assert failures == []


class TestTheMachinery:
    def test_starts_no_thread_where_there_are_pidfds(
        self, exit_notice: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if exit_notice != "pidfd" or not hasattr(os, "pidfd_open"):
            pytest.skip("about pidfds")

        def no_thread(_: threading.Thread) -> None:
            raise AssertionError("a thread was started")

        monkeypatch.setattr(threading.Thread, "start", no_thread)

        assert finish(["cat"], stdin=b"text").stdout == b"text"

    def test_falls_back_to_a_thread_where_the_system_refuses_a_pidfd(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(_: int) -> int:
            raise OSError(errno.ENOSYS, "forbidden by a sandbox")

        monkeypatch.setattr("hookline.processes.start.open_pidfd", refuse)

        assert finish(["cat"], stdin=b"text").stdout == b"text"

    @pytest.mark.parametrize("room", [0, 1])
    def test_kills_and_releases_everything_when_the_loop_cannot_watch_one_more_descriptor(
        self, room: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def crowded() -> tuple[int, int]:
            loop = asyncio.get_running_loop()
            add_reader = loop.add_reader
            watched: list[int] = []

            def add_while_there_is_room(fd: int, callback: Callable[[], object]) -> None:
                if len(watched) == room:
                    raise OSError(errno.ENOSPC, "no room")
                watched.append(fd)
                add_reader(fd, callback)

            before = descriptors()
            with monkeypatch.context() as full:
                full.setattr(loop, "add_reader", add_while_there_is_room)
                with pytest.raises(OSError, match="no room"):
                    await start([SLEEP, "300"])
            return before, descriptors()

        before, after = asyncio.run(crowded())

        assert after == before

    def test_does_not_mind_that_its_loop_is_gone_when_an_abandoned_program_ends(
        self, tmp_path: Path, patience: Callable[..., None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("hookline.processes.start.open_pidfd", None)
        patience(PATIENCE=0)
        gate = tmp_path / "gate"
        os.mkfifo(gate)
        with monkeypatch.context() as powerless, warnings.catch_warnings():
            # Nobody is left to reap it, and Popen is right to say so.
            warnings.simplefilter("ignore", ResourceWarning)
            powerless.setattr(os, "killpg", lambda *_: None)
            finish(sh(f"read line < '{gate}'"), timeout=0.2, grace=0)
            gate.write_bytes(b"go\n")
            for thread in watching_threads():
                thread.join(30)
            gc.collect()

        assert not watching_threads()
