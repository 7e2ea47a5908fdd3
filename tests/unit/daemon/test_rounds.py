"""Events of one moment are begun together, and answered when all are written down."""

import asyncio
import time
from collections.abc import Callable

import pytest

from hookline.daemon.begun import begun
from hookline.daemon.rounds import Rounds
from hookline.daemon.sessions import QUICK
from hookline.model.waiting import needs_loop
from support.journals import until


class Books:
    """Says when it is done only when the test wants it."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.done: Callable[[str], None] | None = None

    def begin(self) -> None:
        self.said.append("begin")

    def end(self, done: Callable[[str], None]) -> None:
        self.said.append("end")
        self.done = done

    async def aclose(self) -> None:
        """Nothing is open."""


class Judged:
    """An event that is judged as soon as it is begun."""

    def __init__(self, rounds: Rounds, told: list[bytes], name: bytes) -> None:
        self._rounds = rounds
        self._told = told
        self._name = name

    def start(self) -> None:
        if self._name == b"breaks at its start":
            raise RuntimeError("this is how it breaks")
        if self._name == b"takes long":
            time.sleep(2 * QUICK)
        self._rounds.conclude(self, self._name)

    def conclude(self, message: bytes) -> None:
        if message == b"breaks at its end":
            raise RuntimeError("this is how it breaks")
        self._told.append(message)


def play(*names: bytes) -> tuple[Books, list[bytes], list[str]]:
    """What was told before the books were done is the first list, all of it the second."""
    books, told, notes = Books(), list[bytes](), list[str]()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: notes.append(context["message"]))
        rounds = Rounds(loop, books, notes.append)
        for name in names:
            rounds.start_soon(Judged(rounds, told, name))
        await asyncio.sleep(0)

    asyncio.run(main())
    return books, told, notes


def test_nobody_is_answered_before_all_is_written_down() -> None:
    books, told, _ = play(b"one", b"two", b"three")
    assert books.said == ["begin", "end"]
    assert told == []
    assert books.done is not None
    books.done("")
    assert told == [b"one", b"two", b"three"]


def test_where_it_could_not_be_written_down_the_log_says_so_and_all_are_answered() -> None:
    books, told, notes = play(b"one", b"two")
    assert books.done is not None
    books.done("the journal cannot be written")
    assert (told, notes) == ([b"one", b"two"], ["the journal cannot be written"])


def test_behind_one_that_takes_long_nobody_waits_for_those_before_it() -> None:
    books, told, _ = play(b"one", b"takes long", b"two", b"three")
    assert books.said == ["begin", "end", "begin", "end"]
    assert told == []


def test_one_alone_sees_to_itself() -> None:
    books, told, _ = play(b"one")
    assert (books.said, told) == ([], [b"one"])


def test_one_that_breaks_holds_up_no_other() -> None:
    books, told, notes = play(b"one", b"breaks at its start", b"breaks at its end", b"two")
    assert books.done is not None
    books.done("")
    assert told == [b"one", b"two"]
    assert notes[0] == "an event could not be begun"
    assert "an answer could not be given: RuntimeError: this is how it breaks" in notes[1]


# Begun without a task


def test_what_waits_for_nothing_is_over_at_once_and_has_no_task() -> None:
    async def main() -> None:
        seen: list[object] = []

        async def work() -> None:
            seen.append(asyncio.current_task())

        asyncio.get_running_loop().call_soon(
            lambda: seen.append(begun(asyncio.get_running_loop(), work()))
        )
        await until(lambda: bool(seen))
        assert seen == [None, None]

    asyncio.run(main())


@pytest.mark.parametrize("way", ["says so", "waits"])
def test_what_waits_goes_on_in_a_task(way: str) -> None:
    async def main() -> None:
        loop, seen = asyncio.get_running_loop(), list[object]()
        gate: asyncio.Future[str] = loop.create_future()

        async def work() -> None:
            if way == "says so":
                await needs_loop()
                async with asyncio.timeout(30):  # which only a task can
                    seen.append(await gate)
            else:
                seen.append(await gate)
            seen.append(asyncio.current_task() is not None)

        tasks: list[asyncio.Task[None] | None] = []
        loop.call_soon(lambda: tasks.append(begun(loop, work())))
        loop.call_later(0.01, gate.set_result, "open")
        await until(lambda: bool(tasks))
        assert tasks[0] is not None
        await tasks[0]
        assert seen == ["open", True]

    asyncio.run(main())


def test_an_end_and_a_failure_reach_what_waits() -> None:
    async def main() -> None:
        loop, seen = asyncio.get_running_loop(), list[str]()
        never: asyncio.Future[None] = loop.create_future()
        broken: asyncio.Future[None] = loop.create_future()
        broken.set_exception(RuntimeError("broken"))

        async def work() -> None:
            try:
                await broken
            except RuntimeError as error:
                seen.append(str(error))
            try:
                await never
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        tasks: list[asyncio.Task[None] | None] = []
        loop.call_soon(lambda: tasks.append(begun(loop, work())))
        await until(lambda: "broken" in seen)
        assert tasks[0] is not None
        await asyncio.sleep(0)
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert seen == ["broken", "cancelled"]

    asyncio.run(main())


def test_an_end_before_its_first_step_reaches_it_like_any_other() -> None:
    async def main() -> None:
        loop, seen = asyncio.get_running_loop(), list[str]()

        async def work() -> None:
            try:
                await needs_loop()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        def begin_and_end() -> None:
            task = begun(loop, work())
            assert task is not None
            task.cancel()

        loop.call_soon(begin_and_end)
        await until(lambda: bool(seen))
        assert seen == ["cancelled"]

    asyncio.run(main())
