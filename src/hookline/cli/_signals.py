"""Runs what a command does so that, told to end, it ends its hooks first."""

from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hookline.client.thin_io import Signals
from hookline.model.errors import HooklineError
from hookline.model.ports import NEEDS_LOOP

if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal  # what `signal` adds are names for the numbers, and they take a while to make

__all__ = ["ENDINGS", "INTERRUPT", "Ended", "limit_time", "note_signals", "run", "run_light"]

T = TypeVar("T")

# Agents end a hook that takes too long by one of these; a hook's own programs would outlive it.
ENDINGS = (_signal.SIGTERM, _signal.SIGHUP)
INTERRUPT: int = _signal.SIGINT
_FORCED = 2.0
"""Seconds after such a signal when what has not ended by itself is ended."""


class Ended(HooklineError):
    """This process was told to end before it had an answer."""


def run(work: Awaitable[T]) -> T:
    """As ``asyncio.run``. Raises Ended when told to end, after everything it started is gone."""
    import asyncio  # slow to load; see run_light

    with limit_time():
        return asyncio.run(_until_told(work, []))


@contextmanager
def limit_time(seconds: float = 0.0, late: Callable[[], object] | None = None) -> Iterator[None]:
    """Ends this process after ``seconds``, or soon after it was told to end.

    Whatever it waits for: an event loop that waits inside a hook of ours hears no signal. ``late``
    has the last word; without it the system ends us.
    """
    with suppress(ValueError):  # only a main thread can be told
        _signal.signal(_signal.SIGALRM, (lambda *_: late()) if late else _signal.SIG_DFL)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _hurry() -> None:
    """There is not much time left for what is limited."""
    left = _signal.getitimer(_signal.ITIMER_REAL)[0]
    _signal.setitimer(_signal.ITIMER_REAL, min(left or _FORCED, _FORCED))


def run_light(work: Coroutine[Any, Any, T]) -> T:
    """As ``run``, but no event loop is loaded before the work says that it ``needs_loop``."""
    with note_signals() as told:
        try:
            wanted = work.send(None)
        except StopIteration as answered:
            result: T = answered.value
            return result
        if wanted is not NEEDS_LOOP:
            work.close()
            raise RuntimeError("it waits for something, and there is no event loop")
        import asyncio

        return asyncio.run(_until_told(_Rest(work), told))


class _Rest(Generic[T]):
    """What is left of a coroutine that was begun elsewhere; to await it again Python refuses."""

    def __init__(self, begun: Coroutine[Any, Any, T]) -> None:
        self._begun = begun

    def __await__(self) -> Generator[Any, Any, T]:
        return (yield from self._begun.__await__())


@contextmanager
def note_signals(*numbers: int) -> Iterator[list[int]]:
    """Notes the signals that come, those that end us or these, for as long as nothing waits.

    Nothing is raised from where they happen to arrive: that may be inside a hook, whose failure
    it would be taken for. What does not wait is over in a moment, and has an answer then.
    """
    told: list[int] = []
    before: dict[int, Any] = {}
    Signals.told = False

    def note(number: int, frame: object) -> None:
        Signals.told = True
        told.append(number)
        if not numbers:
            _hurry()

    for number in numbers or ENDINGS:
        with suppress(ValueError):  # only a main thread can be told
            before[number] = _signal.signal(number, note)
    try:
        yield told
    finally:
        Signals.told = False
        for each, handler in before.items():
            _signal.signal(each, _signal.SIG_DFL if handler is None else handler)


async def _until_told(work: Awaitable[T], told: list[int]) -> T:
    import asyncio

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def end(number: int) -> None:
        told.append(number)
        task.cancel()

    for number in ENDINGS:
        # ValueError, RuntimeError: only a main thread can be told, and any other has nobody's
        # signals to mind. NotImplementedError: Windows, where loops take no signals at all.
        with suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(number, end, number)
            # The loop hears of it all the same. Its own way would begin a call anew that waits.
            _signal.signal(number, lambda number, frame: _hurry())
    if told:
        task.cancel()  # at its first pause, which it makes before it starts anything
    try:
        return await work
    except asyncio.CancelledError:
        if not told:
            raise
        from signal import Signals

        name = Signals(told[0]).name
        raise Ended(f"it was told to end by {name} before its hooks had answered") from None
