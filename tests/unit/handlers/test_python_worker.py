"""The child side of Python hooks, looked at from inside one process."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest

from hookline.handlers import _python_worker as child
from hookline.handlers._worker_protocol import REPLY_CAP, Reply, Request
from hookline.model.answers import PASS, Answer, context, deny
from hookline.model.events import PreToolUse

EVENT = PreToolUse(session_id="s1")


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The worker changes its own process at will; a test's process wants itself back."""
    modules, path, environ = dict(sys.modules), list(sys.path), dict(os.environ)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.path[:] = path
    os.environ.clear()
    os.environ.update(environ)


class Project:
    """A directory with hooks in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.library = child.Library()

    def write(self, name: str, source: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        # File systems with coarse clocks would hide a second change within the same tick.
        os.utime(path, ns=(0, sum(map(ord, source))))
        return path

    def ask(self, file: str = "hooks.py", function: str = "check", **more: Any) -> Reply:
        asked: dict[str, Any] = {
            "id": 1,
            "event": EVENT,
            "function": function,
            "file": str(self.directory / file) if file else "",
            "shown": file,
            "folders": (str(self.directory),),
            "cwd": str(self.directory),
            **more,
        }
        return child.reply_to(Request(**asked), self.library, "mark")

    def answer(self, source: str, **more: Any) -> Reply:
        self.write("hooks.py", source)
        return self.ask(**more)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_function_in_a_file_gets_the_event_and_answers(project: Project) -> None:
    reply = project.answer("def check(event): return 'in ' + event.session_id")
    assert reply == Reply(id=1, answer=context("in s1"))


def test_an_async_function_is_awaited(project: Project) -> None:
    source = """
        import asyncio
        from hookline import deny

        async def check(event):
            await asyncio.sleep(0)
            return deny("no")
    """
    assert project.answer(source).answer == deny("no")


def test_a_function_marked_with_the_decorator_is_called_as_it_is(project: Project) -> None:
    source = """
        from hookline import deny, hook

        @hook("pre_tool_use", tool="shell")
        def check(event):
            return deny("no")
    """
    assert project.answer(source).answer == deny("no")


@pytest.mark.parametrize("result", ["None", "''", "{}"])
def test_saying_nothing_is_pass(project: Project, result: str) -> None:
    assert project.answer(f"def check(event): return {result}").answer == PASS


def test_one_file_may_hold_several_functions_and_keeps_its_state(project: Project) -> None:
    project.write("hooks.py", "n = 0\ndef up(e):\n  global n\n  n += 1\ndef get(e): return str(n)")
    project.ask(function="up")
    project.ask(function="up")
    assert project.ask(function="get").answer == context("2")


def test_a_changed_file_is_loaded_again(project: Project) -> None:
    project.answer("def check(event): return 'one'")
    assert project.answer("def check(event): return 'two'").answer == context("two")


def test_a_changed_helper_is_loaded_again_with_everything_that_uses_it(project: Project) -> None:
    project.write("helper.py", "WORD = 'one'")
    main = "from helper import WORD\ndef check(event): return WORD"
    assert project.answer(main).answer == context("one")
    assert project.answer(main).answer == context("one")
    project.write("helper.py", "WORD = 'two'")
    assert project.ask().answer == context("two")
    project.write("helper.py", "WORD = 'three'")
    assert project.ask().answer == context("three")


def test_a_helper_that_is_gone_is_missed(project: Project) -> None:
    project.write("helper.py", "")
    main = "def check(event):\n  import helper"
    assert project.answer(main).answer == PASS
    (project.directory / "helper.py").unlink()
    assert "ModuleNotFoundError: No module named 'helper' (hooks.py:2)" in project.ask().text


def test_compiled_code_beside_a_file_is_never_run(project: Project) -> None:
    source = "def check(event): return 'good'"
    path = project.write("hooks.py", "def check(event): return 'evil'")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(path)], check=True)
    cached = list((project.directory / "__pycache__").iterdir())
    stamp = path.stat().st_mtime_ns
    project.write("hooks.py", source)
    os.utime(path, ns=(stamp, stamp))
    assert cached
    assert project.ask().answer == context("good")


def test_a_module_of_the_project_is_loaded_under_its_name(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/other.py", "WORD = 'other'")
    project.write(
        "pkg/guard.py",
        "from pkg.other import WORD\nfrom . import other\ndef check(e): return __name__ + WORD",
    )
    reply = project.ask("pkg/guard.py", module="pkg.guard")
    assert reply.answer == context("pkg.guardother")


def test_a_package_may_be_the_module(project: Project) -> None:
    project.write("pkg/inner.py", "WORD = 'inner'")
    project.write("pkg/__init__.py", "from pkg.inner import WORD\ndef check(e): return WORD")
    assert project.ask("pkg/__init__.py", module="pkg").answer == context("inner")


def test_an_installed_module_is_imported_the_usual_way(project: Project) -> None:
    reply = project.ask("", module="textwrap", function="dedent", shown="textwrap")
    assert reply.failed == "crashed"
    assert reply.text.startswith("TypeError")
    assert "textwrap.py:" in reply.text


@pytest.mark.parametrize("module", ["no_such_module", "no_such.module"])
def test_a_module_that_is_not_there_is_unavailable(project: Project, module: str) -> None:
    reply = project.ask("", module=module, shown=module)
    assert (reply.failed, reply.text) == ("unavailable", f"there is no module `{module}`")


def test_a_module_that_lacks_one_of_its_own_imports_has_crashed(project: Project) -> None:
    project.write("broken.py", "import no_such_thing")
    reply = project.ask("", module="broken", shown="broken")
    assert reply.failed == "crashed"
    assert "no_such_thing" in reply.text


def test_a_project_module_cannot_take_the_place_of_pythons_own(project: Project) -> None:
    project.write("json.py", "def check(e): return 'x'")
    reply = project.ask("json.py", module="json")
    assert reply.failed == "unavailable"
    assert "name the file instead" in reply.text
    assert project.ask("json.py").answer == context("x")


def test_a_missing_file_is_unavailable(project: Project) -> None:
    reply = project.ask("nowhere.py")
    assert reply.failed == "unavailable"
    assert reply.text == "cannot read `nowhere.py`: No such file or directory"


def test_a_missing_function_is_unavailable_and_the_nearest_is_named(project: Project) -> None:
    reply = project.answer("def check(e): pass\nchek = 1", function="chek")
    assert reply.failed == "unavailable"
    assert reply.text == "`hooks.py` has no function `chek`; did you mean `check`?"


def test_a_file_that_cannot_be_loaded_is_not_taken_for_loaded(project: Project) -> None:
    for _ in range(2):
        reply = project.answer("x = 1\n1 / 0\ndef check(e): pass")
        assert reply.failed == "crashed"
        assert reply.text == "ZeroDivisionError: division by zero (hooks.py:2)"


def test_a_file_with_a_syntax_error_names_the_line(project: Project) -> None:
    reply = project.answer("x = 1\ndef check(e)\n  pass")
    assert reply.failed == "crashed"
    assert reply.text.endswith("(hooks.py:2)")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("raise ValueError('bad')", "ValueError: bad (hooks.py:1)"),
        ("__import__('sys').exit(3)", "called sys.exit(3) (hooks.py:1)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (hooks.py:1)"),
        ("check(event)", "RecursionError"),
    ],
)
def test_whatever_the_function_raises_is_a_crash(project: Project, body: str, text: str) -> None:
    reply = project.answer(f"def check(event): {body}")
    assert reply.failed == "crashed"
    assert reply.text.startswith(text)


def test_a_result_that_is_no_answer_is_a_failed_answer(project: Project) -> None:
    reply = project.answer("def check(event): return 42")
    assert (reply.failed, reply.text.partition(";")[0]) == ("answer", "returned int")


def test_the_function_finds_the_callers_environment_and_its_own_directory(
    project: Project,
) -> None:
    source = """
        import os
        def check(event):
            return "|".join([os.getcwd(), *sorted(f"{k}={v}" for k, v in os.environ.items())])
    """
    reply = project.answer(source, env={"A": "1", "HOOKLINE_RUN": "outer"})
    assert reply.answer is not None
    [text] = reply.answer.context
    assert text == f"{project.directory}|A=1|HOOKLINE_RUN=outer.mark"


def test_a_directory_that_is_gone_is_unavailable(project: Project) -> None:
    reply = project.answer("def check(e): pass", cwd=str(project.directory / "gone"))
    assert reply.failed == "unavailable"
    assert "cannot enter" in reply.text


def test_an_answer_json_cannot_hold_is_a_failed_answer() -> None:
    line = child.encoded(Reply(id=7, answer=Answer(metadata={"x": object()})))
    reply = msgspec.json.decode(line, type=Reply)
    assert (reply.id, reply.failed) == (7, "answer")
    assert "JSON" in reply.text


def test_an_answer_with_half_a_character_is_a_failed_answer() -> None:
    line = child.encoded(Reply(id=7, answer=context("\ud800")))
    assert msgspec.json.decode(line, type=Reply).failed == "answer"


def test_an_answer_that_is_too_long_is_a_failed_answer() -> None:
    line = child.encoded(Reply(id=7, answer=context("x" * REPLY_CAP)))
    reply = msgspec.json.decode(line, type=Reply)
    assert (reply.failed, reply.text) == ("answer", "the answer is longer than 10,000,000 bytes")


def test_requests_are_served_one_line_each_until_the_channel_closes(project: Project) -> None:
    project.write("hooks.py", "def check(event): return 'ok'")
    ours, theirs = socket.socketpair()
    thread = Thread(target=child.serve, args=(theirs, "mark"))
    thread.start()
    request = Request(
        id=1,
        event=EVENT,
        function="check",
        file=str(project.directory / "hooks.py"),
        shown="hooks.py",
        cwd=str(project.directory),
    )
    with ours, ours.makefile("rb") as lines:
        for number in (1, 2):
            ours.sendall(msgspec.json.encode(msgspec.structs.replace(request, id=number)) + b"\n")
            reply = msgspec.json.decode(lines.readline(), type=Reply)
            assert reply == Reply(id=number, answer=context("ok"))
        ours.shutdown(socket.SHUT_WR)
        thread.join(10)
    theirs.close()
    assert not thread.is_alive()


class Exited(Exception):
    """Stands for the end of the process."""


def test_a_forked_child_that_comes_back_ends_without_a_word(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("hooks.py", "def check(event): return 'ok'")
    request = Request(
        id=1, event=EVENT, function="check", file=str(project.directory / "hooks.py"), shown="x"
    )
    ours, theirs = socket.socketpair()
    numbers = iter([1, 2])

    def ended(code: int) -> None:
        raise Exited

    monkeypatch.setattr(os, "getpid", lambda: next(numbers))
    monkeypatch.setattr(os, "_exit", ended)
    with ours, theirs:
        ours.sendall(msgspec.json.encode(request) + b"\n")
        ours.shutdown(socket.SHUT_WR)
        with pytest.raises(Exited):
            child.serve(theirs, "")
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(1)


def test_the_worker_ends_its_whole_group_when_its_parent_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: killed.append((group, number)))
    ours, theirs = socket.socketpair()
    watcher = Thread(target=child._end_with_parent, args=(theirs.fileno(),))
    watcher.start()
    ours.sendall(b"a request is no reason")
    assert not killed
    ours.close()
    watcher.join(10)
    theirs.close()
    assert killed == [(0, signal.SIGKILL)]


def test_the_worker_serves_the_socket_on_its_stdin_and_then_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair()
    served: list[tuple[int, str]] = []
    replaced: list[int] = []
    codes: list[int] = []
    monkeypatch.setattr(os, "dup", lambda fd: theirs.detach())
    monkeypatch.setattr(os, "dup2", lambda old, new: replaced.append(new))
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(child, "_end_with_parent", lambda fd: None)
    monkeypatch.setenv("HOOKLINE_RUN", "mark")

    def serve(channel: socket.socket, mark: str) -> None:
        served.append((channel.family, mark))
        channel.close()

    monkeypatch.setattr(child, "serve", serve)
    child.main()
    ours.close()
    assert served == [(socket.AF_UNIX, "mark")]
    assert replaced == [0]
    assert codes == [0]
