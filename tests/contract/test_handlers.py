"""What every handler promises, whatever it runs: one suite over all of them."""

import ast
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, inspect
from msgspec.structs import replace

import hookline
from hookline import registry
from hookline.config.copies import FreeFiles
from hookline.dialects.canonical.codec import Canonical
from hookline.model.answers import Answer, deny
from hookline.model.errors import HandlerError, HandlerTimeout
from hookline.model.events import BeforeLlmCall, Event, PreToolUse
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.ports import Call, Caller, HandlerModule, KeyProblem, Match, Services

SRC = Path(hookline.__file__).parent
# Those that a config can choose; the one that it cannot is for what nothing here can run.
HANDLERS = {name: module for name, module in registry.handlers().items() if module.KEYS}
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}

SCRIPT = """\
import os, signal, time
from hookline import deny

def says_no(event): return deny("no")
def answers_nonsense(event): return {"verdict": "perhaps"}
def answers_a_number(event): return 42
def crashes(event): raise RuntimeError("boom")
def exits(event): os._exit(0)
def is_missing_soon(event): pass

def hangs(event):
    with open("pid.part", "w") as file: file.write(str(os.getpid()))
    os.rename("pid.part", "pid")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)
"""


class Case(Struct, kw_only=True):
    """How one handler is made to say no, to answer badly and to hang."""

    event: Event = PreToolUse(tool=hookline.tool("shell", command="ls"))
    says_no: Mapping[str, Any]
    wrong: Mapping[str, Any]
    """Values that ``check`` must refuse."""
    fails: list[Mapping[str, Any]] = []
    hangs: Mapping[str, Any] | None = None


def judge(endpoint: str, **keys: Any) -> dict[str, Any]:
    return {
        "model": "openai/scripted",
        "endpoint": endpoint,
        "prompt": "{{ tool.command }}?",
    } | keys


def completion(text: str) -> bytes:
    """A model's answer, as OpenAI's wire has it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": "scripted"}
    body = json.dumps(head | {"choices": [choice | {"finish_reason": "stop"}]})
    kind = "Content-Type: application/json"
    return f"HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


CASES: Mapping[str, Callable[[str], Case]] = {
    "rule": lambda url: Case(
        says_no={"deny": "no"},
        wrong={"deny": ""},
        fails=[{"deny": "{{ tool.nothing }}"}, {"deny": "{{ '' }}"}],
    ),
    "command": lambda url: Case(
        says_no={"run": "echo no >&2; exit 2"},
        wrong={"run": []},
        fails=[
            {"run": 'echo \'{"verdict": "perhaps"}\''},
            {"run": 'echo \'{"verdict": "deny"}\''},
            {"run": "echo '{'"},
            {"run": "printf '{\\377'"},
            {"run": "exit 1"},
            {"run": "kill -9 $$"},
            {"run": ["no-such-program"]},
        ],
        hangs={"run": "trap '' TERM; echo $$ > pid.part; mv pid.part pid; sleep 1000; sleep 1000"},
    ),
    "python": lambda url: Case(
        says_no={"python": "hooks.py:says_no"},
        wrong={"python": "hooks.py"},
        fails=[
            {"python": "hooks.py:answers_nonsense"},
            {"python": "hooks.py:answers_a_number"},
            {"python": "hooks.py:crashes"},
            {"python": "hooks.py:exits"},
            {"python": "hooks.py:no_such_function"},
            {"python": "nowhere.py:check"},
            {"python": "no_such_module:check"},
        ],
        hangs={"python": "hooks.py:hangs"},
    ),
    "http": lambda url: Case(
        says_no={"http": f"{url}/no"},
        wrong={"http": "nowhere"},
        fails=[
            {"http": f"{url}/nonsense"},
            {"http": f"{url}/error"},
            {"http": f"{url}/hang-up"},
            {"http": "http://127.0.0.1:1/"},
            {"http": {"url": f"{url}/no", "headers": {"A": "${MISSING}"}}},
        ],
        hangs={"http": f"{url}/hang"},
    ),
    "judge": lambda url: Case(
        says_no={"judge": judge(f"{url}/judge-no")},
        wrong={"judge": judge(url, model="nobody/x")},
        fails=[
            {"judge": judge(f"{url}/judge-nonsense")},
            {"judge": judge(f"{url}/judge-garbage")},
            {"judge": judge(f"{url}/judge-error")},
            {"judge": judge(f"{url}/judge-hang-up")},
            {"judge": judge("http://127.0.0.1:1/v1")},
            {"judge": judge(f"{url}/judge-no", key="MISSING")},
            {"judge": judge(f"{url}/judge-no", prompt="{{ tool.nothing }}")},
            {"judge": {"model": "unnamed", "prompt": "?"}},
        ],
        hangs={"judge": judge(f"{url}/judge-hang")},
    ),
    "builtin": lambda url: Case(
        event=BeforeLlmCall(iteration=2),
        says_no={"use": "max-iterations", "with": {"limit": 1}},
        wrong={"use": "no-such-builtin"},
    ),
}


@pytest.fixture(params=sorted(HANDLERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def module(name: str) -> HandlerModule:
    return HANDLERS[name]


SERVICES = Services(
    codec=lambda name: Canonical(), builtin=registry.builtin, pins=lambda hook: FreeFiles()
)


class Bench:
    """One handler's cases, with the directory and the server they need."""

    def __init__(self, module: HandlerModule, case: Case, directory: Path) -> None:
        self.module = module
        self.case = case
        self.directory = directory
        self.url = ""

    def hook(self, values: Mapping[str, Any]) -> Hook:
        return Hook(
            name="under test",
            events=(self.case.event.event_id(),),
            handler=HandlerSpec("under test", values),
            project_dir=str(self.directory),
        )

    async def answer(self, values: Mapping[str, Any], seconds: float = 20.0) -> Answer:
        hook = self.hook(values)
        handler = self.module.make(hook, SERVICES)
        caller = Caller(env=ENV)
        if handler.instant:
            return handler.answer(self.case.event, caller)
        return await handler.run(Call(self.case.event, hook, caller, Match(), seconds))


@asynccontextmanager
async def bench(name: str, directory: Path) -> AsyncIterator[Bench]:
    (directory / "hooks.py").write_text(SCRIPT, encoding="utf-8")
    answers: Mapping[str, bytes] = {
        "/no": b'HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\n{"verdict":"deny","reason":"no"}',
        "/nonsense": b'HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{"verdict":"perhaps"}',
        "/error": b"HTTP/1.1 500 Oh no\r\nContent-Length: 0\r\n\r\n",
        "/hang-up": b"",
        "/judge-no": completion('{"verdict": "deny", "reason": "no"}'),
        "/judge-nonsense": completion("Whatever you like."),
        "/judge-garbage": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        "/judge-error": b"HTTP/1.1 500 Oh no\r\nContent-Length: 0\r\n\r\n",
        "/judge-hang-up": b"",
    }

    tasks: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split()[1].decode().removesuffix("/chat/completions")
            if path in {"/hang", "/judge-hang"}:
                (directory / "pid").write_text("0")
                while await reader.read(65536):
                    pass
                (directory / "hung-up").touch()
            else:
                writer.write(answers[path])
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        url = "http://{}:{}".format(*server.sockets[0].getsockname())
        yield Bench(HANDLERS[name], CASES[name](url), directory)
    finally:
        close: Callable[[], Awaitable[None]] | None = getattr(HANDLERS[name], "aclose", None)
        if close is not None:
            await close()
        for _ in range(5):  # asyncio drops a connection that arrives while its server closes
            await asyncio.sleep(0)
        server.close()
        for task in filter(None, tasks):
            task.cancel()
            await asyncio.wait([task])
        await asyncio.sleep(0)  # a closed transport lets go of its socket in the next turn


def test_a_module_offers_all_that_a_handler_must(module: HandlerModule) -> None:
    assert isinstance(module, HandlerModule)
    assert module.__doc__
    assert module.KEYS
    assert isinstance(module.COMBINES, bool)
    for kind in (*module.KEYS.values(), *module.EXTRA_KEYS.values()):
        inspect.type_info(kind)  # a type that config can check and describe


def test_no_two_handlers_want_the_same_key() -> None:
    keys = [key for module in HANDLERS.values() for key in (*module.KEYS, *module.EXTRA_KEYS)]
    assert len(keys) == len(set(keys))


def test_good_values_have_no_problems_and_wrong_ones_are_told(name: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(name, tmp_path) as it:
            good, wrong = it.case.says_no, it.case.wrong
            assert list(it.module.check(good, it.hook(good), SERVICES)) == []
            problems = it.module.check(wrong, it.hook(wrong), SERVICES)
            assert problems
            for problem in problems:
                assert isinstance(problem, KeyProblem)
                assert problem.key in {*it.module.KEYS, *it.module.EXTRA_KEYS}

    asyncio.run(scenario())


def test_a_handler_says_what_its_hook_says(name: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(name, tmp_path) as it:
            # What it took to know may differ, what is said may not.
            first = replace(await it.answer(it.case.says_no), metadata={})
            again = replace(await it.answer(it.case.says_no), metadata={})
            assert first == again
            assert first == deny(first.reason)

    asyncio.run(scenario())


def test_whatever_goes_wrong_is_a_handler_error(name: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(name, tmp_path) as it:
            for values in it.case.fails:
                with pytest.raises(HandlerError) as failure:
                    await it.answer(values)
                assert str(failure.value).strip(), values

    asyncio.run(scenario())


def test_a_deadline_is_kept(name: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(name, tmp_path) as it:
            if it.case.hangs is None:
                assert it.module.make(it.hook(it.case.says_no), SERVICES).instant
                return
            started = time.monotonic()
            with pytest.raises(HandlerTimeout):
                await it.answer(it.case.hangs, seconds=0.5)
            assert time.monotonic() - started < 10

    asyncio.run(scenario())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - no other process can set an event of ours
            await asyncio.sleep(0.005)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_cancelled_run_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(name, tmp_path) as it:
            if it.case.hangs is None:
                return
            task = asyncio.ensure_future(it.answer(it.case.hangs))
            await until((tmp_path / "pid").exists)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            pid = int((tmp_path / "pid").read_text())
            if pid:
                assert not is_running(pid)
            else:
                await until((tmp_path / "hung-up").exists)

    asyncio.run(scenario())


class Poisoned(dict[str, str]):
    """An environment that our own code may not look at, and others may."""

    def _look(self) -> None:
        caller = sys._getframe(2).f_code.co_filename
        assert not caller.startswith((str(SRC / "handlers"), str(SRC / "builtin"))), caller

    def __getitem__(self, name: str) -> str:
        self._look()
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._look()
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self._look()
        return super().__iter__()

    def copy(self) -> dict[str, str]:
        self._look()
        return super().copy()


def test_no_handler_looks_at_its_own_process(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    def cwd() -> str:
        caller = sys._getframe(1).f_code.co_filename
        assert not caller.startswith((str(SRC / "handlers"), str(SRC / "builtin"))), caller
        return str(tmp_path / "elsewhere")

    async def scenario() -> None:
        async with bench(name, tmp_path) as it:
            with monkeypatch.context() as patch:
                patch.setattr(os, "environ", Poisoned(os.environ))
                patch.setattr(os, "getcwd", cwd)
                assert (await it.answer(it.case.says_no)).reason

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "path",
    [
        path
        for part in ("handlers", "builtin")
        for path in sorted((SRC / part).glob("*.py"))
        if path.name != "_python_worker.py"  # the child: its environment is set for each call
    ],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_no_handler_even_names_its_own_environment(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {
        f"os.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "os"
        for name in node.names
    }
    assert not (named | imported) & {"os.environ", "os.getcwd", "os.getenv", "os.environb"}


def test_an_entry_that_nothing_can_run_says_why_and_never_answers() -> None:
    module = registry.handlers()["native"]
    spec = HandlerSpec("native", {"why": "prompts cannot be run here yet"})
    hook = Hook(name="h", events=("pre_tool_use",), handler=spec)
    assert not module.check(spec.values, hook, SERVICES)

    handler = module.make(hook, SERVICES)

    assert handler.instant
    with pytest.raises(HandlerError, match="prompts cannot be run here yet"):
        handler.answer(PreToolUse(tool=hookline.tool("shell", command="ls")), Caller())
