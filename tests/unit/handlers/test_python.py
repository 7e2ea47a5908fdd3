"""Python functions named in a config, called in real worker processes; and how they are named."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from hookline.config.copies import FreeFiles
from hookline.handlers import _workers, python
from hookline.handlers._workers import Worker, workers
from hookline.model.answers import PASS, Answer, context, deny
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerTimeout,
    HandlerUnavailable,
)
from hookline.model.events import PreToolUse
from hookline.model.tools import CANONICAL_TOOLS
from support.serving import eventually

EVENT = PreToolUse(
    session_id="s1",
    tool=CANONICAL_TOOLS.read("Bash", {"command": "ls"}),
    raw=Raw(b'{\n  "pretty": "printed"\n}'),
)


class Hooks:
    """A project directory, and a way to call what is in it."""

    def __init__(self, kit: Any, directory: Path) -> None:
        self.kit = kit
        self.directory = directory

    def write(self, source: str, name: str = "hooks.py") -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path

    async def ask(
        self, target: str = "hooks.py:check", *, pins: Any = None, guard: bool = False, **more: Any
    ) -> Answer:
        hook = self.kit.hook({"python": target}, project_dir=str(self.directory), guard=guard)
        handler = python.make(hook, self.kit.services(pins))
        assert not handler.instant
        return await handler.run(self.kit.call(more.pop("event", EVENT), hook, **more))

    def answer(self, source: str, **more: Any) -> Answer:
        self.write(source)
        return asyncio.run(self.ask(**more))


@pytest.fixture
def hooks(kit: Any, tmp_path: Path) -> Hooks:
    return Hooks(kit, tmp_path)


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def all_workers() -> list[Worker]:
    return (await workers.get()).all()


def test_a_function_gets_the_event_and_answers(hooks: Hooks) -> None:
    source = """
import json
from hookline import deny
def check(event):
    return deny(event.tool.command + " " + json.loads(bytes(event.raw))["pretty"])
"""
    assert hooks.answer(source) == deny("ls printed")


@pytest.mark.parametrize("name", ["asyncio", "json", "re", "inspect"])
def test_a_file_beside_the_hook_does_not_take_the_place_of_pythons_own(
    hooks: Hooks, name: str
) -> None:
    hooks.write("def run(x): x.close()\ndef __getattr__(name): return run\n", f"{name}.py")
    source = """
import json
from hookline import deny
async def check(event):
    return deny(json.dumps("still here"))
"""
    assert hooks.answer(source) == deny('"still here"')


def test_a_module_beside_the_hook_is_found_before_installed_ones(hooks: Hooks) -> None:
    hooks.write("word = 'ours'\n", "pytest.py")
    assert hooks.answer("import pytest\ndef check(e): return pytest.word") == context("ours")


def test_none_is_pass(hooks: Hooks) -> None:
    assert hooks.answer("def check(e): pass") is PASS


def test_what_the_function_prints_and_reads_is_not_the_protocol(hooks: Hooks) -> None:
    source = """
import os, subprocess, sys
def check(event):
    print('{"id": 1}')
    os.write(1, b'{"id": 1}\\n')
    subprocess.run(["echo", "hello"])
    return repr(sys.stdin.read())
"""
    assert hooks.answer(source) == context("''")


def test_a_crash_tells_type_message_and_line(hooks: Hooks) -> None:
    with pytest.raises(HandlerCrashed, match=r"^KeyError: 'x' \(hooks\.py:2\)$"):
        hooks.answer("def check(e):\n  return {}['x']")


def test_other_failures_keep_their_kind(hooks: Hooks) -> None:
    with pytest.raises(HandlerAnswerError, match="returned int"):
        hooks.answer("def check(e): return 1")
    with pytest.raises(HandlerUnavailable, match="no function"):
        hooks.answer("")


def test_a_module_of_the_project_is_found(hooks: Hooks) -> None:
    hooks.write("", "pkg/__init__.py")
    hooks.write("def check(e): return __name__", "pkg/guard.py")
    assert asyncio.run(hooks.ask("pkg.guard:check")) == context("pkg.guard")


def test_an_installed_module_is_found(hooks: Hooks) -> None:
    with pytest.raises(HandlerUnavailable, match="`textwrap` has no function `dedant`"):
        asyncio.run(hooks.ask("textwrap:dedant"))


def test_the_trusted_copy_of_a_file_is_called_with_its_own_neighbours(
    hooks: Hooks, tmp_path: Path
) -> None:
    hooks.write("def check(e): return 'edited'")
    hooks.write("WORD = 'edited'", "helper.py")
    hooks.write("WORD = 'not pinned'", "other.py")
    source = "import helper, other\ndef check(e): return helper.WORD + ', ' + other.WORD"
    copy = hooks.write(source, "copies/hooks.py")
    hooks.write("WORD = 'trusted'", "copies/helper.py")

    class Copies(FreeFiles):
        def stand_in(self, path: str) -> str | None:
            assert path == str(tmp_path / "hooks.py")
            return str(copy)

    assert asyncio.run(hooks.ask(pins=Copies())) == context("trusted, not pinned")


def test_a_failure_in_a_trusted_copy_is_shown_under_the_configs_name(hooks: Hooks) -> None:
    copy = hooks.write("def check(e): 1/0", "copies/hooks.py")

    class Copies(FreeFiles):
        def stand_in(self, path: str) -> str | None:
            return str(copy)

    with pytest.raises(HandlerCrashed, match=r"\(hooks\.py:1\)"):
        asyncio.run(hooks.ask(pins=Copies()))


def test_the_trusted_copy_of_a_module_is_called_under_the_modules_name(hooks: Hooks) -> None:
    copy = hooks.write("def check(e): return __name__", "copies/guard.py")

    class Copies(FreeFiles):
        def stand_in(self, path: str) -> str | None:
            return str(copy) if path.endswith("/guard.py") else None

    assert asyncio.run(hooks.ask("guard:check", pins=Copies())) == context("guard")


def test_calls_share_a_worker_and_find_it_as_they_left_it(hooks: Hooks) -> None:
    hooks.write("import os\ndef check(e): return str(os.getpid())")

    async def scenario() -> set[tuple[str, ...]]:
        return {(await hooks.ask()).context for _ in range(3)}

    assert len(asyncio.run(scenario())) == 1


def test_guards_do_not_share_a_worker_with_other_hooks(hooks: Hooks) -> None:
    hooks.write("import os\ndef check(e): return str(os.getpid())")

    async def scenario() -> bool:
        return await hooks.ask(guard=True) == await hooks.ask()

    assert not asyncio.run(scenario())


def test_a_guard_does_not_see_loader_variables(hooks: Hooks) -> None:
    hooks.write("import os\ndef check(e): return str(os.environ.get('LD_PRELOAD'))")
    env = {"LD_PRELOAD": "/x.so", "PYTHONPATH": "/evil"}
    assert asyncio.run(hooks.ask(guard=True, env=env)) == context("None")
    assert asyncio.run(hooks.ask(env=env)) == context("/x.so")


def test_code_in_the_callers_python_variables_is_not_loaded(hooks: Hooks) -> None:
    evil = hooks.write("raise SystemExit('evil')", "evil/sitecustomize.py")
    env = {"PYTHONPATH": str(evil.parent), "PYTHONSTARTUP": str(evil), "PYTHONHOME": "/nowhere"}
    assert hooks.answer("def check(e): return 'fine'", env=env) == context("fine")


def test_no_more_than_four_calls_run_at_once_for_one_project(hooks: Hooks) -> None:
    hooks.write("def check(e): pass")

    async def scenario() -> int:
        await asyncio.gather(*(hooks.ask() for _ in range(9)))
        return len(await all_workers())

    assert 1 <= asyncio.run(scenario()) <= _workers.AT_ONCE


def test_workers_end_with_their_loop(hooks: Hooks) -> None:
    hooks.write("def check(e): pass")

    async def scenario() -> list[Worker]:
        await hooks.ask()
        return await all_workers()

    [worker] = asyncio.run(scenario())
    assert not worker.alive
    assert not exists(worker.pid)


def test_workers_end_when_asked_to_and_start_again(hooks: Hooks) -> None:
    hooks.write("def check(e): pass")

    async def scenario() -> None:
        await python.aclose()  # nothing there yet
        await hooks.ask()
        [worker] = await all_workers()
        await python.aclose()
        assert not exists(worker.pid)
        assert await hooks.ask() is PASS

    asyncio.run(scenario())


def test_an_idle_worker_ends(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_workers, "IDLE_SECONDS", 0.01)
    hooks.write("def check(e): pass")

    async def scenario() -> None:
        await hooks.ask()
        [worker] = await all_workers()
        await asyncio.wait_for(worker.gone, 10)
        assert await all_workers() == []
        assert await hooks.ask() is PASS

    asyncio.run(scenario())


def test_a_worker_that_died_idle_is_replaced(hooks: Hooks) -> None:
    hooks.write("def check(e): pass")

    async def scenario() -> None:
        await hooks.ask()
        [worker] = await all_workers()
        os.kill(worker.pid, 9)
        await asyncio.wait_for(worker.gone, 10)
        assert await hooks.ask() is PASS

    asyncio.run(scenario())


def test_a_worker_that_dies_while_it_is_asked_has_crashed(hooks: Hooks) -> None:
    hooks.write("def check(e): pass")

    async def scenario() -> None:
        await hooks.ask()
        [worker] = await all_workers()
        os.kill(worker.pid, 9)
        # Dead, and not yet noticed, since the loop had no turn.
        os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222
        with pytest.raises(HandlerCrashed, match="killed by SIGKILL"):
            await hooks.ask()
        assert await hooks.ask() is PASS

    asyncio.run(scenario())


def test_a_call_past_its_deadline_ends_the_worker_and_the_next_gets_a_new_one(
    hooks: Hooks, tmp_path: Path
) -> None:
    source = """
import os, subprocess, time
def check(event):
    if event.id == "slow":
        child = subprocess.Popen(["sleep", "1000"])
        with open("pids", "w") as pids: print(os.getpid(), child.pid, file=pids)
        time.sleep(1000)
"""
    hooks.write(source)

    async def scenario() -> None:
        await hooks.ask()
        with pytest.raises(HandlerTimeout):
            await hooks.ask(timeout=1.0, event=PreToolUse(id="slow"))
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        eventually(lambda: not any(map(alive, pids)))  # what is killed takes a moment to go
        assert await hooks.ask() is PASS

    asyncio.run(scenario())


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead but not yet reaped by its new parent does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_python_that_cannot_be_started_makes_the_hook_unavailable(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with pytest.raises(HandlerUnavailable, match="cannot start Python"):
        hooks.answer("def check(e): pass")


def test_a_call_that_is_cancelled_while_its_worker_starts_leaves_nothing(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.write("def check(e): pass")
    started: list[Any] = []
    spawn = _workers._spawn

    def spawned(*args: Any) -> Any:
        started.append(spawn(*args))
        return started[-1]

    async def cancelled(**more: Any) -> Any:
        raise asyncio.CancelledError

    monkeypatch.setattr(_workers, "_spawn", spawned)
    monkeypatch.setattr(asyncio, "open_connection", cancelled)

    async def scenario() -> None:
        with pytest.raises(asyncio.CancelledError):
            await hooks.ask()

    asyncio.run(scenario())
    assert not exists(started[0].pid)


@pytest.mark.parametrize(
    "target",
    [
        "hooks:check",
        "pkg.hooks:check",
        "hooks.py:check",
        "./a/hooks.py:check",
        "/abs/x.py:f",
        "a/b:f",
    ],
)
def test_names_of_functions_that_can_be(kit: Any, target: str) -> None:
    assert python.check({"python": target}, kit.hook({}), kit.services()) == []


@pytest.mark.parametrize(
    ("target", "message", "hint"),
    [
        ("hooks.py", "names no function", "`hooks.py:function`"),
        ("hooks.py:", "names no function", "`hooks.py:function`"),
        (":check", "names no function", "`check:function`"),
        ("", "names no function", "`hooks.py:function`"),
        ("hooks.py:a b", "cannot be the name of a function", ""),
        ("my-hooks:check", "neither a module nor a file", "`file.py:function`"),
        ("a..b:check", "neither a module nor a file", ""),
        ("a\0/b.py:check", "NUL", ""),
    ],
)
def test_names_of_functions_that_cannot_be(kit: Any, target: str, message: str, hint: str) -> None:
    [problem] = python.check({"python": target}, kit.hook({}), kit.services())
    assert problem.key == "python"
    assert message in problem.message
    assert hint in problem.hint
