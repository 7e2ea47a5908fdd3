"""Functions of the program that embeds the engine, called in place."""

import asyncio
import contextvars
import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from hookline.handlers.python import make_inline
from hookline.model.answers import PASS, Answer, context, deny
from hookline.model.errors import HandlerAnswerError, HandlerCrashed, HandlerTimeout
from hookline.model.events import Event, PreToolUse
from hookline.model.ports import NOBODY

EVENT = PreToolUse()


@pytest.fixture
def said(kit: Any) -> Any:
    def answer(function: Callable[[Any], Any], timeout: float | None = None) -> Answer:
        handler = make_inline(function, timeout)
        if handler.instant:
            return handler.answer(EVENT, NOBODY)
        return asyncio.run(handler.run(kit.call(EVENT, kit.hook({}))))

    return answer


class Async:
    """An object that is called like an async function."""

    async def __call__(self, event: Event) -> str:
        return "from an object"


async def waits(event: Event) -> str:
    await asyncio.sleep(0)
    return "waited"


def test_a_plain_function_is_instant_and_others_wait() -> None:
    assert make_inline(lambda event: None).instant
    assert not make_inline(waits).instant
    assert not make_inline(Async()).instant
    assert not make_inline(functools.partial(waits)).instant
    assert not make_inline(lambda event: None, 1.0).instant


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_results_are_read_as_answers(said: Any, timeout: float | None) -> None:
    assert said(lambda event: None, timeout) is PASS
    assert said(lambda event: deny("no"), timeout) == deny("no")
    assert said(lambda event: "mind", timeout) == context("mind")
    assert said(lambda event: {"verdict": "deny", "reason": "no"}, timeout) == deny("no")
    with pytest.raises(HandlerAnswerError, match="returned int"):
        said(lambda event: 1, timeout)


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_async_functions_are_awaited(said: Any, timeout: float | None) -> None:
    assert said(waits, timeout) == context("waited")
    assert said(Async(), timeout) == context("from an object")


def test_a_coroutine_from_a_plain_function_is_named_and_not_left_unawaited(said: Any) -> None:
    with pytest.raises(HandlerAnswerError, match="returned coroutine"):
        said(lambda event: waits(event))


def crashes(event: Event) -> None:
    raise KeyError("x")


async def crashes_later(event: Event) -> None:
    crashes(event)


@pytest.mark.parametrize(
    ("function", "timeout"), [(crashes, None), (crashes, 20.0), (crashes_later, None)]
)
def test_a_crash_is_a_failure_that_names_the_line(
    said: Any, function: Callable[[Any], Any], timeout: float | None
) -> None:
    with pytest.raises(
        HandlerCrashed, match=r"^KeyError: 'x' \(.*test_inline\.py:\d+\)$"
    ) as failure:
        said(function, timeout)
    assert isinstance(failure.value.__cause__, KeyError) or timeout


def exits(event: Event) -> None:
    raise SystemExit(3)


async def exits_later(event: Event) -> None:
    exits(event)


@pytest.mark.parametrize(
    ("function", "timeout"), [(exits, None), (exits, 20.0), (exits_later, None)]
)
def test_a_function_that_exits_does_not_take_the_program_with_it(
    said: Any, function: Callable[[Any], Any], timeout: float | None
) -> None:
    with pytest.raises(HandlerCrashed, match=r"called sys\.exit\(3\)"):
        said(function, timeout)


def test_a_failure_of_ours_keeps_its_kind(said: Any) -> None:
    def gives_up(event: Event) -> None:
        raise HandlerAnswerError("mine")

    with pytest.raises(HandlerAnswerError, match="mine"):
        said(gives_up)


def test_an_interrupt_of_the_person_is_not_the_hooks_failure(said: Any) -> None:
    def interrupted(event: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        said(interrupted)


def test_an_object_without_source_can_crash_too(said: Any) -> None:
    with pytest.raises(HandlerCrashed, match="TypeError"):
        said(int)


def test_an_async_function_past_its_time_is_a_timeout(said: Any) -> None:
    async def forever(event: Event) -> None:
        await asyncio.Event().wait()

    with pytest.raises(HandlerTimeout, match=r"0\.05 s"):
        said(forever, 0.05)


def test_a_timeout_inside_the_function_is_its_own_crash(said: Any) -> None:
    async def inner(event: Event) -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    with pytest.raises(HandlerCrashed, match="TimeoutError"):
        said(inner)


def test_a_cancellation_inside_the_function_is_its_own_crash(said: Any) -> None:
    async def inner(event: Event) -> None:
        raise asyncio.CancelledError

    with pytest.raises(HandlerCrashed, match="CancelledError"):
        said(inner)


def test_a_cancelled_call_is_cancelled(kit: Any) -> None:
    async def forever(event: Event) -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        handler = make_inline(forever)
        assert not handler.instant
        task = asyncio.ensure_future(handler.run(kit.call(EVENT, kit.hook({}))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_a_slow_function_with_a_timeout_blocks_neither_the_loop_nor_the_exit(said: Any) -> None:
    release = threading.Event()
    threads: list[threading.Thread] = []

    def slow(event: Event) -> None:
        threads.append(threading.current_thread())
        release.wait()

    started = time.monotonic()
    with pytest.raises(HandlerTimeout):
        said(slow, 0.05)
    assert time.monotonic() - started < 10
    assert threads[0].daemon
    release.set()  # its late answer finds the loop closed
    threads[0].join(10)
    assert not threads[0].is_alive()


def test_a_late_answer_of_a_thread_is_dropped(kit: Any) -> None:
    release = threading.Event()
    threads: list[threading.Thread] = []

    def slow(event: Event) -> None:
        threads.append(threading.current_thread())
        release.wait()

    handler = make_inline(slow, 0.05)
    assert not handler.instant

    async def scenario() -> None:
        with pytest.raises(HandlerTimeout):
            await handler.run(kit.call(EVENT, kit.hook({})))
        release.set()
        await asyncio.to_thread(threads[0].join, 10)
        await asyncio.sleep(0)

    asyncio.run(scenario())


def test_context_variables_reach_the_thread(kit: Any) -> None:
    who = contextvars.ContextVar[str]("who")
    handler = make_inline(lambda event: who.get(), 20.0)
    assert not handler.instant

    async def scenario() -> Answer:
        who.set("me")
        return await handler.run(kit.call(EVENT, kit.hook({})))

    assert asyncio.run(scenario()) == context("me")
