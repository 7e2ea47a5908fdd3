"""Python functions as hooks: a config's in a worker process, an embedding program's in place.

Knows how a function is named and called; must not know worker processes or platforms.
"""

import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import msgspec
from msgspec import Struct

from hookline.handlers._environment import hook_directory, hook_environment
from hookline.handlers._functions import as_answer, crash
from hookline.model.answers import PASS, Answer
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerError,
    HandlerTimeout,
    HandlerUnavailable,
)
from hookline.model.events import Event
from hookline.model.hook import Hook
from hookline.model.ports import NOBODY, Call, Caller, Handler, KeyProblem, PinnedFiles, Services
from hookline.workspace import with_workspace

if TYPE_CHECKING:
    from asyncio import Future

    from hookline.handlers._worker_protocol import Reply
    from hookline.model.events import AnyEvent

# What waits for a function is slow to load, so it is loaded where one is called.

__all__ = [
    "COMBINES",
    "EXTRA_KEYS",
    "KEYS",
    "InlineFunction",
    "aclose",
    "check",
    "make",
    "make_inline",
]

KEYS: Mapping[str, Any] = {"python": str}
EXTRA_KEYS: Mapping[str, Any] = {}
COMBINES: bool = False

_FAILURES: Mapping[str, type[HandlerError]] = {
    "crashed": HandlerCrashed,
    "answer": HandlerAnswerError,
    "unavailable": HandlerUnavailable,
}
_numbers = itertools.count(1)


def check(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    """Whether the value can name a function; whether there is one shows when it is called."""
    return [KeyProblem("python", message, hint) for message, hint in _mistakes(values["python"])]


def make(hook: Hook, services: Services) -> Handler:
    """The handler for a function named in a config."""
    return WorkerFunction(hook.handler.values["python"], services)


def make_inline(function: Callable[[Any], Any], timeout: float | None = None) -> Handler:
    """The handler for a function of the program that embeds the engine."""
    if _is_async(function):
        return InlineCoroutine(function, timeout)
    return InlineFunction(function) if timeout is None else InlineThread(function, timeout)


async def aclose() -> None:
    """End the running loop's workers."""
    module = sys.modules.get("hookline.handlers._workers")
    if module is not None:  # else there are none
        await module.workers.aclose()


class _Place(Struct, frozen=True):
    """Where a function is found on this call."""

    file: str
    shown: str
    stand_in: str | None
    folders: tuple[str, ...]


class WorkerFunction:
    """A function of the user's, called in a worker process."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, target: str, services: Services) -> None:
        self._source, _, self._function = target.rpartition(":")
        self._services = services

    async def run(self, call: Call) -> Answer:
        """The function's answer."""
        from asyncio import timeout

        from hookline.handlers._workers import workers

        files = self._services.pins(call.hook)
        place = self._place(call, files)
        key = (hook_directory(call), place.stand_in, call.hook.guard)
        number = next(_numbers)
        try:
            async with timeout(call.timeout):
                pool = await workers.get()
                reply = await pool.ask(key, number, self._request(call, place, number))
        except TimeoutError as error:
            raise HandlerTimeout(call.timeout) from error
        try:
            files.finish()
        except HandlerUnavailable:
            await aclose()  # what a worker has loaded stays loaded
            raise
        return _answer_in(reply)

    def _place(self, call: Call, pins: PinnedFiles) -> _Place:
        directory = hook_directory(call)
        if _is_file(self._source):
            path = os.path.join(directory, self._source)
            stand_in = pins.stand_in(path)
            folders = [os.path.dirname(file) for file in (stand_in, path) if file]
            return _Place(stand_in or path, self._source, stand_in, tuple(folders))
        # A module of the project's own is a file that may be pinned; any other is installed.
        for file in _module_files(self._source):
            path = os.path.join(directory, file)
            stand_in = pins.stand_in(path)
            if stand_in or os.path.isfile(path):
                return _Place(stand_in or path, file, stand_in, (directory,))
        return _Place("", self._source, None, (directory,))

    def _request(self, call: Call, place: _Place, number: int) -> bytes:
        from hookline.handlers._worker_protocol import Request

        request = Request(
            id=number,
            event=cast("AnyEvent", with_workspace(call.event, call.caller)),
            function=self._function,
            module="" if _is_file(self._source) else self._source,
            file=place.file,
            shown=place.shown,
            folders=place.folders,
            cwd=hook_directory(call),
            env=hook_environment(call),
            umask=call.caller.umask,
        )
        # One line: in JSON a line break can only stand between tokens, such as in a pretty
        # payload that is passed on raw.
        return msgspec.json.encode(request).replace(b"\n", b" ")


class InlineFunction:
    """A function called in place: one frame around it, since agents wait for us."""

    instant: ClassVar[Literal[True]] = True
    __slots__ = ("_function",)

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def answer(self, event: Event, caller: Caller) -> Answer:
        """The function's answer."""
        try:
            said = self._function(event)
        except (Exception, SystemExit) as error:
            raise _crashed(error, self._function) from error
        return PASS if said is None else _understood(said, event)


class InlineCoroutine:
    """An async function, awaited in the caller's loop."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, function: Callable[[Any], Any], timeout: float | None) -> None:
        self._function = function
        self._timeout = timeout

    async def run(self, call: Call) -> Answer:
        """The function's answer, within the time it has."""
        from asyncio import timeout

        seconds = min(call.timeout, self._timeout or call.timeout)
        limit = timeout(seconds)
        try:
            async with limit:
                said = await self._said(call.event)
        except TimeoutError as error:
            if not limit.expired():  # its own, from something it waited for
                raise _crashed(error, self._function) from error
            raise HandlerTimeout(seconds) from error
        return _understood(said, call.event)

    async def _said(self, event: Event) -> Any:
        from asyncio import CancelledError, current_task

        try:
            return await self._function(event)
        except TimeoutError:
            raise
        except CancelledError as error:
            task = current_task()
            if task is not None and task.cancelling():
                raise
            raise _crashed(error, self._function) from error
        except (Exception, SystemExit) as error:
            raise _crashed(error, self._function) from error


class InlineThread:
    """A function that may be slow, in a thread of its own.

    A thread cannot be ended: one that outstays its time is left behind, and does not keep the
    program from exiting.
    """

    instant: ClassVar[Literal[False]] = False

    def __init__(self, function: Callable[[Any], Any], timeout: float) -> None:
        self._function = function
        self._timeout = timeout

    async def run(self, call: Call) -> Answer:
        """The function's answer, within the time it has."""
        from asyncio import timeout

        seconds = min(call.timeout, self._timeout)
        try:
            async with timeout(seconds):
                return await self._answered(call.event)
        except TimeoutError as error:
            raise HandlerTimeout(seconds) from error

    def _answered(self, event: Event) -> "Future[Answer]":
        from asyncio import get_running_loop
        from contextvars import copy_context
        from threading import Thread

        loop = get_running_loop()
        future: Future[Answer] = loop.create_future()
        inline = InlineFunction(self._function)

        def work() -> None:
            try:
                settle = partial(future.set_result, inline.answer(event, NOBODY))
            except BaseException as error:
                settle = partial(future.set_exception, _crashed(error, self._function))
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(lambda: None if future.done() else settle())

        context = copy_context()
        Thread(target=context.run, args=(work,), name="hookline-hook", daemon=True).start()
        return future


def _answer_in(reply: "Reply") -> Answer:
    if reply.failed:
        raise _FAILURES[reply.failed](reply.text)
    return PASS if reply.answer is None or reply.answer == PASS else reply.answer


def _understood(said: Any, event: Event) -> Answer:
    if isinstance(said, CoroutineType):
        said.close()  # or Python would warn that it was never awaited
    return as_answer(said, event)


def _crashed(error: BaseException, function: Callable[[Any], Any]) -> HandlerError:
    if isinstance(error, HandlerError):
        return error
    from inspect import unwrap

    code = getattr(unwrap(function), "__code__", None)
    return HandlerCrashed(crash(error, code.co_filename if code else ""))


def _is_async(function: Callable[[Any], Any]) -> bool:
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object whose __call__ is async
    )


def _is_file(source: str) -> bool:
    return source.endswith(".py") or "/" in source


def _module_files(module: str) -> tuple[str, str]:
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def _mistakes(target: str) -> Iterator[tuple[str, str]]:
    source, colon, function = target.rpartition(":")
    if not colon or not source or not function:
        example = target.strip(":") or "hooks.py"
        yield f"`{target}` names no function", f"write `{example}:function`"
    elif not function.isidentifier():
        yield f"`{function}` cannot be the name of a function", ""
    elif "\0" in source:
        yield "the file's name has a NUL character", ""
    elif not _is_file(source) and not all(name.isidentifier() for name in source.split(".")):
        yield (
            f"`{source}` is neither a module nor a file",
            "write `module:function` or `file.py:function`",
        )
