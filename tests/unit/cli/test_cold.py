"""A process that answers one event loads nothing that it does not need, and loses nothing by it."""

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hookline.cli._signals import Ended, run_light
from hookline.model.events import Stop
from hookline.model.ports import needs_loop
from hookline.pipeline.parts import journal_file
from hookline.store.duplicate_calls import Arrival, DiskShelf, DuplicateCalls
from hookline.store.journal.reader import JournalReader

# As `python -m hookline`, but it says at the end what was loaded.
TELLING = """
import os, sys
end, os._exit = os._exit, lambda code: tell(code)
def tell(code):
    sys.stderr.write("\\nloaded: " + " ".join(sys.modules))
    sys.stderr.flush()
    end(code)
from hookline.__main__ import program
program()
"""


class Place:
    """A person's files, and events that are answered by a process each."""

    def __init__(self, base: Path) -> None:
        self.state, self.config, self.project = base / "state", base / "config", base / "project"
        self.project.mkdir()
        self.file = self.config / "hookline/hookline.yaml"
        self.file.parent.mkdir(parents=True)

    def ask(self, *start: str, command: str = "rm x") -> "subprocess.CompletedProcess[str]":
        words = ["hook", "canonical", "pre_tool_use", "--home", str(self.state)]
        payload = {
            "event": "pre_tool_use",
            "session_id": "s",
            "cwd": str(self.project),
            "tool": {"name": "shell", "command": command},
        }
        return subprocess.run(
            [sys.executable, "-I", *start, *words, "--user-config", str(self.config)],
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=self.project,
            # Not what measures a run: it loads half of the standard library.
            env={"PATH": os.environ["PATH"]},
        )

    def loaded(self, command: str) -> tuple[str, set[str]]:
        """What was answered, and the modules that were loaded for it."""
        done = self.ask("-c", TELLING, command=command)
        assert done.returncode == 0, done.stderr
        return done.stdout, set(done.stderr.rpartition("loaded: ")[2].split())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


RULES = """\
version: 1
hooks:
  - {name: no, on: pre_tool_use, match: {tool: shell, command: "/^rm\\\\s/"}, deny: Not this.}
  - {name: better, on: pre_tool_use, match: {command: old}, rewrite: {input: {command: rm x}}}
"""


@pytest.mark.parametrize(
    ("command", "said"), [("rm x", "Not this."), ("ls", ""), ("old", "Not this.")]
)
def test_where_only_rules_are_in_force_no_event_loop_is_loaded(
    place: Place, command: str, said: str
) -> None:
    place.file.write_text(RULES)
    answer, loaded = place.loaded(command)
    assert said in answer
    assert bool(said) == ('"deny"' in answer)
    assert "hookline.store.journal.writer" in loaded
    assert "asyncio" not in loaded


def hooks_that_wait(place: Place, *commands: str) -> Path:
    ran = place.project / "ran"
    hooks = [
        {
            "name": f"hook {place}",
            "on": "pre_tool_use",
            "match": {"command": command},
            "run": f"cat > /dev/null; echo {place} >> {ran}; echo 'not that' >&2; exit 2",
        }
        for place, command in enumerate(commands)
    ]
    place.file.write_text(json.dumps({"version": 1, "hooks": hooks}))
    return ran


def test_a_hook_that_is_waited_for_runs_once(place: Place) -> None:
    ran = hooks_that_wait(place, "rm*", "rm*", "other*")
    answer, loaded = place.loaded("rm x")
    assert "not that" in answer
    assert "asyncio" in loaded
    assert sorted(ran.read_text().split()) == ["0", "1"]


def test_a_hook_that_is_not_meant_is_not_waited_for(place: Place) -> None:
    ran = hooks_that_wait(place, "rm*", "other*")
    _, loaded = place.loaded("ls")
    assert "asyncio" not in loaded
    assert not ran.exists()


def test_an_answer_is_whole_and_in_the_journal_when_its_process_is_gone(place: Place) -> None:
    reason = "No. " * 50_000
    place.file.write_text(
        json.dumps(
            {"version": 1, "hooks": [{"name": "no", "on": "pre_tool_use", "deny": reason}]},
        )
    )
    done = place.ask("-m", "hookline")
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["verdict"] == "deny"
    assert reason.strip() in said["reason"]
    (recorded,) = JournalReader(journal_file(str(place.state))).query()
    assert recorded.verdict == "deny"


def test_a_config_that_cannot_be_read_still_shuts_the_gate(place: Place) -> None:
    place.file.write_text("version: 1\nhooks: [}\n")
    done = place.ask("-m", "hookline")
    assert "deny" in done.stdout


def test_a_library_that_cannot_be_loaded_shuts_the_gate(place: Place, tmp_path: Path) -> None:
    place.file.write_text(RULES)
    script = f"import sys; sys.modules['yaml'] = None; {TELLING.strip()}"
    done = place.ask("-c", script, command="ls")
    assert "deny" in done.stdout


def test_libraries_work_though_their_patterns_are_compiled_when_they_are_used() -> None:
    script = """
import re
from hookline.__main__ import compile_when_used
compile_when_used()
import yaml, textwrap, platform
assert yaml.load("{a: 1.5, b: 2001-01-01, c: !!binary eA==}", yaml.SafeLoader)["a"] == 1.5
assert yaml.dump(["1", "x"]) == "- '1'\\n- x\\n"
try:
    yaml.load("\\x01", yaml.SafeLoader)
except yaml.reader.ReaderError:
    pass
else:
    raise AssertionError
assert textwrap.fill("a b", 1) == "a\\nb"
"""
    # Without variables, so that nothing which measures a run loads libraries first.
    subprocess.run([sys.executable, "-I", "-c", script], env={}, check=True, timeout=60)


def test_a_pattern_of_a_module_is_compiled_when_it_is_used_and_any_other_at_once() -> None:
    script = """
import re
from hookline.__main__ import compile_when_used
compile_when_used()
def compiled(source):
    return re.compile(source)
pattern, wrong = re.compile("a(b)"), re.compile("(")
class Some:
    pattern = re.compile("a(b)", re.IGNORECASE)
assert {type(each).__name__ for each in (pattern, wrong, Some.pattern)} == {"_Later"}
assert type(compiled("a(b)")) is re.Pattern
for asked in (compiled, lambda source: re.search(source, ""), lambda _: wrong.search("")):
    try:
        asked("(")
    except re.error:
        continue
    raise AssertionError
assert pattern.fullmatch("ab")[1] == "b" and pattern.pattern == "a(b)" and pattern.groups == 1
assert Some.pattern.sub("x", "ABab") == "xx"
assert isinstance(pattern, re.Pattern)
assert re.sub(pattern, "x", "abc") == "xc" and re.match(pattern, "b") is None
"""
    subprocess.run([sys.executable, "-I", "-c", script], check=True, timeout=60)


async def _first(steps: list[str]) -> int:
    steps.append("first")
    await needs_loop()
    steps.append("second")
    await asyncio.sleep(0)
    asyncio.get_running_loop()
    steps.append("third")
    return 7


async def _waits(steps: list[str]) -> int:
    try:
        return await _first(steps)
    finally:
        steps.append("tidied up")


class TestRunningLight:
    def test_what_waits_goes_on_in_a_loop_where_it_was(self) -> None:
        steps: list[str] = []
        assert run_light(_waits(steps)) == 7
        assert steps == ["first", "second", "third", "tidied up"]

    def test_inside_a_loop_nothing_is_handed_over(self) -> None:
        steps: list[str] = []
        assert asyncio.run(_waits(steps)) == 7
        assert steps == ["first", "second", "third", "tidied up"]

    def test_what_does_not_wait_is_answered_though_told_to_end(self) -> None:
        async def work() -> int:
            os.kill(os.getpid(), signal.SIGTERM)
            return 7

        before = signal.getsignal(signal.SIGTERM)
        assert run_light(work()) == 7
        assert signal.getsignal(signal.SIGTERM) is before

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_told_to_end_nothing_is_begun_that_would_have_to_be_waited_for(
        self, number: signal.Signals
    ) -> None:
        steps: list[str] = []

        async def work() -> int:
            os.kill(os.getpid(), number)
            return await _waits(steps)

        before = signal.getsignal(number)
        with pytest.raises(Ended, match=number.name):
            run_light(work())
        assert steps == ["first", "tidied up"]
        assert signal.getsignal(number) is before

    def test_told_to_end_while_it_waits_it_ends(self) -> None:
        async def work() -> None:
            await needs_loop()
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)

        with pytest.raises(Ended, match="SIGTERM"):
            run_light(work())

    @pytest.mark.parametrize("waits", [True, False])
    def test_what_is_raised_comes_out(self, waits: bool) -> None:
        async def work() -> None:
            if waits:
                await needs_loop()
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            run_light(work())

    def test_to_wait_without_a_word_is_a_mistake(self) -> None:
        class Odd:
            def __await__(self) -> Any:
                yield "something"

        async def work() -> None:
            await Odd()

        with pytest.raises(RuntimeError, match="no event loop"):
            run_light(work())


def test_whoever_waits_for_another_process_to_answer_has_a_loop(tmp_path: Path) -> None:
    arrival = Arrival.of(Stop(session_id="s"), callers=("codex",), entry="here")
    assert arrival is not None
    (tmp_path / "answers").mkdir()
    file = tmp_path / "answers" / sha256(arrival.content).hexdigest()
    handle = os.open(file, os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)

    async def work() -> bool:
        async with DuplicateCalls(DiskShelf(str(tmp_path))).once(arrival, timeout=0.1) as slot:
            asyncio.get_running_loop()
            return slot.known is None

    try:
        assert run_light(work())
    finally:
        os.close(handle)
