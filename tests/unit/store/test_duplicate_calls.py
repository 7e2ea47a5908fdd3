"""The same call through two hook files is judged once, and never by a guess."""

import asyncio
import fcntl
import gc
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from hookline import registry
from hookline.model.answers import Answer, Rewrite, allow, deny
from hookline.model.events import Event, PreToolUse, Stop
from hookline.model.outcome import Outcome, Substitution
from hookline.model.ports import needs_loop
from hookline.model.tools import CANONICAL_TOOLS, tool
from hookline.store.duplicate_calls import (
    FRESH,
    KEPT,
    Answered,
    Arrival,
    DiskShelf,
    DuplicateCalls,
    MemoryShelf,
)

HIDDEN = "MK_SECRET"


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def shell(command: str = "rm x", **fields: Any) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=command), session_id="s1", cwd="/srv", **fields)


def arrival(event: Event, entry: str = "one", callers: tuple[str, ...] = ("copilot",)) -> Arrival:
    found = Arrival.of(event, callers=callers, entry=entry)
    assert found is not None
    return found


def ask(
    answers: DuplicateCalls,
    event: Event,
    entry: str,
    outcome: Outcome | None = None,
    timeout: float | None = None,
) -> Answered | None:
    """What is known of a call; else it is answered with ``outcome``."""

    async def once() -> Answered | None:
        async with answers.once(arrival(event, entry), timeout=timeout) as slot:
            if slot.known is None and outcome is not None:
                slot.keep(outcome)
            return slot.known

    return asyncio.run(once())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def each_call_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.store.duplicate_calls._SWEEPS", 256)


@pytest.fixture
def answers(tmp_path: Path, clock: Clock) -> DuplicateCalls:
    return DuplicateCalls(DiskShelf(str(tmp_path), clock=clock))


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """The one file that is there, locked by somebody else."""
    [file] = directory.iterdir()
    handle = os.open(file, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class TestTheSameCall:
    @pytest.fixture(params=["on disk", "in memory"])
    def answers(
        self, request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
    ) -> DuplicateCalls:
        on_disk = request.param == "on disk"
        shelf = DiskShelf(str(tmp_path), clock=clock) if on_disk else MemoryShelf(clock=clock)
        return DuplicateCalls(shelf)

    def test_another_entry_gets_the_first_answer(self, answers: DuplicateCalls) -> None:
        event = shell()
        assert ask(answers, event, "one", Outcome(event=event, answer=deny(HIDDEN))) is None
        known = ask(answers, event, "two")
        assert known is not None
        assert known.answer == deny(HIDDEN)

    def test_it_still_says_whose_answer_that_was(self, answers: DuplicateCalls) -> None:
        event = shell()
        said = Outcome(event=event, answer=deny("No."), signature="— guard, hookline.yaml:3")
        ask(answers, event, "one", said)
        known = ask(answers, event, "two")
        assert known is not None
        assert known.outcome(event, registry.tools("copilot")).signature == said.signature

    def test_each_entry_gets_it_once(self, answers: DuplicateCalls) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event))
        assert ask(answers, event, "two") is not None
        assert ask(answers, event, "two", Outcome(event=event)) is None
        assert ask(answers, event, "one") is not None

    def test_the_same_entry_is_an_agent_doing_it_again(self, answers: DuplicateCalls) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event))
        assert ask(answers, event, "one") is None

    def test_it_is_forgotten_after_seconds(self, answers: DuplicateCalls, clock: Clock) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event))
        clock.now += FRESH + 1
        assert ask(answers, event, "two") is None

    def test_a_clock_that_went_back_makes_nothing_fresh(
        self, answers: DuplicateCalls, clock: Clock
    ) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event))
        clock.now -= 3600
        assert ask(answers, event, "two") is None

    def test_one_that_was_not_answered_is_judged_by_the_next(self, answers: DuplicateCalls) -> None:
        event = shell()
        assert ask(answers, event, "one") is None
        assert ask(answers, event, "two") is None

    def test_the_second_waits_for_the_first(self, answers: DuplicateCalls) -> None:
        event, order = shell(), []

        async def first(began: asyncio.Event, go_on: asyncio.Event) -> None:
            async with answers.once(arrival(event, "one")) as slot:
                began.set()
                await go_on.wait()
                order.append("first")
                slot.keep(Outcome(event=event, answer=deny("no")))

        async def second() -> Answered | None:
            async with answers.once(arrival(event, "two")) as slot:
                order.append("second")
                return slot.known

        async def both() -> Answered | None:
            began, go_on = asyncio.Event(), asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(first(began, go_on))
                await began.wait()
                later = group.create_task(second())
                await asyncio.sleep(0)
                go_on.set()
            return later.result()

        known = asyncio.run(both())
        assert order == ["first", "second"]
        assert known is not None
        assert known.answer == deny("no")

    def test_when_the_first_is_called_off_the_second_judges(self, answers: DuplicateCalls) -> None:
        event = shell()

        async def first(began: asyncio.Event) -> None:
            async with answers.once(arrival(event, "one")):
                began.set()
                await asyncio.Event().wait()

        async def both() -> Answered | None:
            began = asyncio.Event()
            task = asyncio.create_task(first(began))
            await began.wait()
            task.cancel()
            async with answers.once(arrival(event, "two"), timeout=20) as slot:
                return slot.known

        assert asyncio.run(both()) is None

    def test_it_does_not_wait_for_ever(self, answers: DuplicateCalls) -> None:
        event = shell()

        async def both() -> Answered | None:
            async with (
                answers.once(arrival(event, "one")),
                answers.once(arrival(event, "two"), timeout=0.05) as slot,
            ):
                return slot.known

        assert asyncio.run(both()) is None

    def test_a_flood_leaves_the_latest(self, answers: DuplicateCalls) -> None:
        for number in range(600):
            event = shell(f"rm {number}")
            ask(answers, event, "one", Outcome(event=event))
        assert ask(answers, shell("rm 599"), "two") is not None

    def test_a_failure_while_judging_leaves_no_answer(self, answers: DuplicateCalls) -> None:
        async def failing() -> None:
            async with answers.once(arrival(shell())):
                raise RuntimeError("broken")

        with pytest.raises(RuntimeError, match="broken"):
            asyncio.run(failing())
        assert ask(answers, shell(), "two") is None


class TestContent:
    SAME = (
        ("another id and time", lambda event: replace(event, id="e2")),
        ("another spelling", lambda event: replace(event, native_event="PreToolUse")),
        (
            "another name of the tool",
            lambda event: replace(event, tool=replace(event.tool, name="Bash")),
        ),
    )
    OTHER = (
        ("another command", lambda event: shell("rm y")),
        ("another session", lambda event: replace(event, session_id="s2")),
        ("another directory", lambda event: replace(event, cwd="/")),
        ("another call", lambda event: replace(event, tool=replace(event.tool, call_id="2"))),
    )

    @pytest.mark.parametrize(("_", "change"), SAME, ids=[name for name, _ in SAME])
    def test_how_it_is_spelled_does_not_matter(self, _: str, change: Any) -> None:
        assert arrival(change(shell())).content == arrival(shell()).content

    @pytest.mark.parametrize(("_", "change"), OTHER, ids=[name for name, _ in OTHER])
    def test_what_is_told_does(self, _: str, change: Any) -> None:
        assert arrival(change(shell())).content != arrival(shell()).content

    def test_so_does_who_is_calling(self) -> None:
        assert arrival(shell()).content != arrival(shell(), callers=("vscode",)).content

    def test_a_tool_of_no_kind_is_known_by_its_name(self) -> None:
        one, other = (
            PreToolUse(tool=tool(name, x=1), session_id="s") for name in ("deploy", "undeploy")
        )
        assert arrival(one).content != arrival(other).content

    def test_without_a_session_nothing_is_the_same(self) -> None:
        assert Arrival.of(Stop(), callers=("codex",), entry="one") is None

    def test_what_is_no_unicode_is_judged_each_time(self) -> None:
        assert arrival(shell("\ud800")).content == b""
        for store in (DuplicateCalls(DiskShelf("/nowhere")), DuplicateCalls(MemoryShelf())):
            event = shell("\ud800")
            assert ask(store, event, "one", Outcome(event=event)) is None
            assert ask(store, event, "two", Outcome(event=event)) is None


class TestWhatIsKept:
    def test_only_its_owner_may_read_it(self, answers: DuplicateCalls, tmp_path: Path) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event, answer=deny(HIDDEN)))
        [file] = (tmp_path / "answers").iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700

    def test_neither_the_call_nor_the_answer_stands_there_in_clear(
        self, answers: DuplicateCalls, tmp_path: Path
    ) -> None:
        event = shell(f"echo {HIDDEN}")
        ask(answers, event, HIDDEN, Outcome(event=event, answer=deny(HIDDEN)))
        [file] = (tmp_path / "answers").iterdir()
        assert HIDDEN.encode() not in file.read_bytes()
        assert arrival(event).content.hex() not in file.name

    def test_an_allow_is_kept_as_a_pass(self, answers: DuplicateCalls) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event, answer=allow("fine")))
        known = ask(answers, event, "two")
        assert known is not None
        assert known.answer == Answer()

    def test_a_rewrite_is_applied_again(self, answers: DuplicateCalls) -> None:
        event = shell()
        change = Answer(rewrite=Rewrite(input={"command": "ls"}))
        told = (Substitution("a", "b", "c"),)
        ask(answers, event, "one", Outcome(event=event, answer=change, substitutions=told))
        known = ask(answers, event, "two")
        assert known is not None
        outcome = known.outcome(event, CANONICAL_TOOLS)
        assert isinstance(outcome.final, PreToolUse)
        assert outcome.final.tool.command == "ls"
        assert outcome.substitutions[0] == told[0]
        assert outcome.substitutions[1].now == "the first answer"

    def test_nothing_rewritten_is_nothing_final(self) -> None:
        event = shell()
        assert Answered(Answer()).outcome(event, CANONICAL_TOOLS).final is None

    def test_old_answers_are_removed(
        self, answers: DuplicateCalls, clock: Clock, tmp_path: Path
    ) -> None:
        ask(answers, shell("first"), "one", Outcome(event=shell("first")))
        [file] = (tmp_path / "answers").iterdir()
        os.utime(file, (clock.now - KEPT - 1,) * 2)
        ask(answers, shell("second"), "one", Outcome(event=shell("second")))
        assert not file.exists()

    def test_a_flood_of_them_is_cut(
        self, answers: DuplicateCalls, clock: Clock, tmp_path: Path
    ) -> None:
        directory = tmp_path / "answers"
        directory.mkdir()
        for index in range(300):
            file = directory / f"{index:064}"
            file.touch()
            os.utime(file, (clock.now - FRESH - 1,) * 2)
        ask(answers, shell(), "one", Outcome(event=shell()))
        assert len(list(directory.iterdir())) == 1

    def test_an_answer_too_large_is_not_kept(self, answers: DuplicateCalls) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event, answer=deny("x" * 2_000_000)))
        assert ask(answers, event, "two") is None


def test_a_first_answer_that_comes_while_the_second_is_about_to_wait_is_not_missed() -> None:
    event, brief = shell(), DuplicateCalls(MemoryShelf())

    async def both() -> list[Answered | None]:
        loop = asyncio.get_running_loop()
        go_on, over = loop.create_future(), loop.create_future()
        known: list[Answered | None] = []
        calls: list[asyncio.Task[None]] = []

        async def call(entry: str) -> None:
            async with brief.once(arrival(event, entry), timeout=4) as slot:
                known.append(slot.known)
                if entry == "one":
                    await needs_loop()
                    await go_on
                    slot.keep(Outcome(event=event, answer=deny("no")))
            if len(known) == 2:
                over.set_result(None)

        def in_one_turn() -> None:
            calls.append(loop.create_task(call("two")))
            go_on.set_result(None)

        calls.append(loop.create_task(call("one")))
        await asyncio.sleep(0.01)
        loop.call_soon(in_one_turn)
        await over
        return known

    _, second = asyncio.run(both())
    assert second is not None
    assert second.answer == deny("no")


class TestLargeCalls:
    """In a process that hears of every call."""

    @pytest.fixture
    def brief(self, clock: Clock) -> DuplicateCalls:
        return DuplicateCalls(MemoryShelf(clock=clock))

    @staticmethod
    def large(command: str = "rm x") -> PreToolUse:
        return shell(command, raw=Raw(b'"' + b"x" * 100_000 + b'"'))

    def judged(self, brief: DuplicateCalls, command: str, entry: str) -> bool:
        event = self.large(command)
        return ask(brief, event, entry, Outcome(event=event, answer=deny("no"))) is None

    def test_through_a_second_entry_it_is_known_again(
        self, brief: DuplicateCalls, clock: Clock
    ) -> None:
        assert self.judged(brief, "rm x", "one")
        assert not self.judged(brief, "rm x", "two")
        # So there are two entries, however long ago the first call was.
        clock.now += 5
        for command in ("rm y", "rm z"):
            assert self.judged(brief, command, "one")
        for command in ("rm y", "rm z"):
            assert not self.judged(brief, command, "two")

    def test_where_all_came_through_one_entry_they_are_known_too(
        self, brief: DuplicateCalls, clock: Clock
    ) -> None:
        assert self.judged(brief, "rm x", "one")
        clock.now += 5
        for command in ("rm y", "rm z"):
            assert self.judged(brief, command, "one")
        assert not self.judged(brief, "rm y", "two")

    def test_the_latest_answer_stands_for_a_call_that_was_made_again(
        self, brief: DuplicateCalls
    ) -> None:
        event = self.large()
        assert ask(brief, event, "one", Outcome(event=event)) is None  # it passes
        assert self.judged(brief, "rm x", "one")  # and is denied now
        known = ask(brief, self.large(), "two")
        assert known is not None
        assert known.answer == deny("no")

    def test_nothing_of_it_is_kept_but_a_digest(self, brief: DuplicateCalls) -> None:
        event = self.large()
        before = sys.getrefcount(event)
        outcome = Outcome(event=shell(), answer=deny("no"))
        ask(brief, event, "one", outcome)
        gc.collect()
        assert sys.getrefcount(event) == before
        assert not self.judged(brief, "rm x", "two")


class TestTrouble:
    @pytest.mark.parametrize(
        "content", [b"", b"{", b"\xff" * 99, b'{"entries":[],"at":1000000.0,"sealed":"QUJD"}']
    )
    def test_a_damaged_file_is_no_answer(
        self, answers: DuplicateCalls, tmp_path: Path, content: bytes
    ) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event))
        [file] = (tmp_path / "answers").iterdir()
        file.write_bytes(content)
        assert ask(answers, event, "two", Outcome(event=event)) is None
        assert ask(answers, event, "three") is not None

    def test_a_changed_byte_is_no_answer(self, answers: DuplicateCalls, tmp_path: Path) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event, answer=deny("no")))
        [file] = (tmp_path / "answers").iterdir()
        at = file.read_bytes().index(b'"sealed":"') + 80
        content = bytearray(file.read_bytes())
        content[at] = ord("A") if content[at] != ord("A") else ord("B")
        file.write_bytes(content)
        assert ask(answers, event, "two") is None

    def test_where_nothing_can_be_written_each_call_is_judged(self, tmp_path: Path) -> None:
        (tmp_path / "answers").write_text("in the way", encoding="utf-8")
        answers = DuplicateCalls(DiskShelf(str(tmp_path)))
        assert ask(answers, shell(), "one", Outcome(event=shell())) is None
        assert ask(answers, shell(), "two") is None

    def test_a_link_is_not_followed(self, answers: DuplicateCalls, tmp_path: Path) -> None:
        event = shell()
        ask(answers, event, "one", Outcome(event=event))
        [file] = (tmp_path / "answers").iterdir()
        target = tmp_path / "target"
        file.rename(target)
        file.symlink_to(target)
        assert ask(answers, event, "two") is None

    def test_no_session_is_no_slot(self, answers: DuplicateCalls, tmp_path: Path) -> None:
        async def once() -> Answered | None:
            async with answers.once(None) as slot:
                slot.keep(Outcome(event=Stop()))
                return slot.known

        assert asyncio.run(once()) is None
        assert not (tmp_path / "answers").exists()


FIRST = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from test_duplicate_calls import arrival, shell
from hookline.model.answers import deny
from hookline.model.outcome import Outcome
from hookline.store.duplicate_calls import DiskShelf, DuplicateCalls

async def first():
    async with DuplicateCalls(DiskShelf(sys.argv[1])).once(arrival(shell(), "one")) as slot:
        print("judging", flush=True)
        sys.stdin.readline()
        slot.keep(Outcome(event=shell(), answer=deny("first")))

asyncio.run(first())
"""


@contextmanager
def first_process(home: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that is judging the call, until it is told to answer."""
    here = str(Path(__file__).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", FIRST, str(home), here],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "judging\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class TestAtTheSameTime:
    def test_the_second_waits_for_the_first(self, tmp_path: Path) -> None:
        async def second(process: "subprocess.Popen[str]") -> Answered | None:
            async def waits() -> Answered | None:
                async with DuplicateCalls(DiskShelf(str(tmp_path))).once(
                    arrival(shell(), "two")
                ) as slot:
                    return slot.known

            waiting = asyncio.create_task(waits())
            await asyncio.sleep(0)
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
            return await waiting

        with first_process(tmp_path) as process:
            known = asyncio.run(second(process))
        assert known is not None
        assert known.answer == deny("first")

    def test_when_the_first_dies_the_second_judges(self, tmp_path: Path) -> None:
        with first_process(tmp_path) as process:
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert ask(DuplicateCalls(DiskShelf(str(tmp_path))), shell(), "two") is None

    def test_it_waits_half_its_time_at_most(self, tmp_path: Path, answers: DuplicateCalls) -> None:
        ask(answers, shell(), "one")
        with held(tmp_path / "answers"):
            assert ask(answers, shell(), "two", Outcome(event=shell()), timeout=0.1) is None

    def test_the_same_entry_does_not_wait(self, tmp_path: Path, answers: DuplicateCalls) -> None:
        ask(answers, shell(), "one")
        with held(tmp_path / "answers"):
            assert ask(answers, shell(), "one") is None

    def test_who_is_called_off_while_waiting_lets_go(
        self, tmp_path: Path, answers: DuplicateCalls
    ) -> None:
        async def called_off() -> None:
            async with asyncio.timeout(0.05), answers.once(arrival(shell(), "two")):
                pass

        ask(answers, shell(), "one")
        with held(tmp_path / "answers"), pytest.raises(TimeoutError):
            asyncio.run(called_off())
