"""Fake handlers, and the shortest way from hooks and an event to an outcome.

Knows the model and the engine; must not know configs, real handlers or platforms.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, ClassVar, Literal, TypeVar

from msgspec.structs import replace

from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.answers import Answer
from hookline.model.events import Event, PreToolUse, ToolEvent
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.outcome import Outcome
from hookline.model.ports import NOBODY, Call, Caller, Match
from hookline.model.tools import tool

__all__ = [
    "Instant",
    "Waiting",
    "Where",
    "bound",
    "command_of",
    "finishing_in",
    "fire",
    "run",
    "shell",
    "untimed",
    "waiting",
]

T = TypeVar("T")
Says = Answer | BaseException | Callable[[Event], Any]


class Instant:
    """Answers at once: with a value, by raising, or with what a function makes of the event."""

    instant: ClassVar[Literal[True]] = True

    def __init__(self, says: Says) -> None:
        self._says = says

    def answer(self, event: Event, caller: Caller) -> Answer:
        return _said(self._says, event)


class Waiting:
    """Answers after ``pause``, if there is one."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, says: Says, pause: Callable[[Call], Awaitable[Any]] | None = None) -> None:
        self._says = says
        self._pause = pause

    async def run(self, call: Call) -> Answer:
        if self._pause is not None:
            await self._pause(call)
        return _said(self._says, call.event)


def _said(says: Says, event: Event) -> Answer:
    if isinstance(says, BaseException):
        raise says
    # Not checked on purpose: a handler that returns nonsense is one of the cases.
    said: Answer = says(event) if callable(says) else says
    return said


class Where:
    """Matches the events that a predicate accepts."""

    def __init__(self, accepts: Callable[[Event], bool]) -> None:
        self._accepts = accepts

    def find(self, event: Event, caller: Caller) -> Match | None:
        return Match() if self._accepts(event) else None

    def identity(self) -> object:
        return self._accepts


def bound(
    name: str,
    says: Says,
    *,
    waits: bool = False,
    pause: Callable[[Call], Awaitable[Any]] | None = None,
    when: Callable[[Event], bool] | None = None,
    same_as: str | None = None,
    **keys: Any,
) -> Bound:
    """A hook with a fake handler; ``same_as`` makes it identical to the one of that name."""
    values: dict[str, Any] = {
        "events": ("pre_tool_use",),
        "handler": HandlerSpec("fake", {"does": same_as or name}),
        "match": None if when is None else Where(when),
        **keys,
    }
    handler = Waiting(says, pause) if waits or pause is not None else Instant(says)
    return Bound(Hook(name=name, **values), handler)


def waiting(hooks: Sequence[Bound], pause: Callable[[Call], Awaitable[Any]]) -> list[Bound]:
    """The same hooks, each of which now waits for ``pause`` before it says the same."""

    def slow(each: Bound) -> Waiting:
        handler = each.handler
        assert isinstance(handler, Instant)
        return Waiting(lambda event: handler.answer(event, NOBODY), pause)

    return [Bound(each.hook, slow(each)) for each in hooks]


def finishing_in(order: Sequence[str]) -> Callable[[Call], Awaitable[None]]:
    """A pause after which the hooks that run together finish in this order of their names."""
    finished: dict[str, asyncio.Event] = {}

    async def pause(call: Call) -> None:
        mine = finished[call.hook.name] = asyncio.Event()
        await asyncio.sleep(0)  # by the next turn of the loop every hook of the tier has begun
        for name in order[: order.index(call.hook.name)]:
            if name in finished:
                await finished[name].wait()
        mine.set()

    return pause


def shell(command: str, **keys: Any) -> PreToolUse:
    """A shell command that an agent is about to run."""
    return PreToolUse(tool=tool("shell", command=command), **keys)


def command_of(event: Event) -> str:
    assert isinstance(event, ToolEvent)
    return event.tool.command or ""


def fire(hooks: Sequence[Bound], event: Event, caller: Caller = NOBODY, **options: Any) -> Outcome:
    """What an engine of these hooks concludes."""
    return run(Engine(hooks, **options).handle(event, caller))


def untimed(outcome: Outcome) -> Outcome:
    """The outcome without how long anything took."""
    return replace(outcome, runs=tuple(replace(each, ns=0) for each in outcome.runs))


def run(main: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, on a clock that jumps instead of letting us wait."""
    loop = _JumpingLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        loop.close()


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise AssertionError("everybody waits and nothing is due: this would hang for ever")
        self._jump(timeout)
        return ready


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipped = 0.0
        super().__init__(_JumpingSelector(self._jump))

    def time(self) -> float:
        return super().time() + self._skipped

    def _jump(self, seconds: float) -> None:
        self._skipped += max(0.0, seconds)
