"""Builtins: hooks that ship with hookline, chosen by name.

Knows what a builtin module offers; must not know any one of them.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, ClassVar, Literal

from msgspec import ValidationError, convert
from msgspec.structs import replace

from hookline.model.answers import Announcement, Answer
from hookline.model.errors import (
    HandlerCrashed,
    HandlerError,
    HandlerTimeout,
    UnknownNameError,
    nearest,
)
from hookline.model.events import Event
from hookline.model.hook import Hook
from hookline.model.ports import BuiltinModule, Call, Caller, Handler, KeyProblem, Services

__all__ = ["COMBINES", "EXTRA_KEYS", "KEYS", "check", "make"]

KEYS: Mapping[str, Any] = {"use": str}
EXTRA_KEYS: Mapping[str, Any] = {"with": dict[str, Any]}
COMBINES: bool = False

_Function = Callable[[Event, Caller], Answer | Announcement]


def check(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    """Whether there is such a builtin, and whether it takes these options on these events."""
    try:
        module = services.builtin(values["use"])
    except UnknownNameError as error:
        problem = error.problems[0]
        return [KeyProblem("use", problem.message, problem.hint)]
    return [
        *_option_problems(values.get("with", {}), module, values["use"]),
        *_event_problems(module, values["use"], hook.events),
        *_misfits(values.get("with", {}), module, hook.events),
    ]


def make(hook: Hook, services: Services) -> Handler:
    """The builtin with its options."""
    values = hook.handler.values
    module = services.builtin(values["use"])
    options = convert(values.get("with", {}), module.Options)
    function = _as_placed(module.make(options), hook)
    waits = getattr(module, "WAITS", False)
    waiting = waits(options) if callable(waits) else waits
    return Waiting(function) if waiting else Instant(function)


def _as_placed(function: _Function, hook: Hook) -> _Function:
    """The builtin in the directory, and with the variables, of another platform's entry."""
    start = hook.start
    if start is None or not (start.directory or start.variables):
        return function

    def placed(event: Event, caller: Caller) -> Answer | Announcement:
        cwd = os.path.join(event.cwd, hook.directory) if start.directory else event.cwd
        env = {**caller.env, **start.variables}
        return function(replace(event, cwd=cwd), replace(caller, env=env))

    return placed


class Instant:
    """A builtin that answers from what it knows."""

    instant: ClassVar[Literal[True]] = True
    __slots__ = ("answer",)

    def __init__(self, function: _Function) -> None:
        self.answer = function


class Waiting:
    """A builtin that states ``WAITS``, in a thread so that nobody else has to wait for it."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, function: _Function) -> None:
        self._function = function

    async def run(self, call: Call) -> Answer | Announcement:
        """The builtin's answer; its caller's deadline is cut to this run's."""
        import asyncio  # slow to load, and most builtins do not wait

        deadline = monotonic() + call.timeout
        if call.caller.deadline is not None:
            deadline = min(deadline, call.caller.deadline)
        caller = replace(call.caller, deadline=deadline)
        try:
            async with asyncio.timeout(call.timeout):
                return await asyncio.to_thread(self._function, call.event, caller)
        except HandlerError:
            raise
        except TimeoutError as error:
            raise HandlerTimeout(call.timeout) from error
        except Exception as error:
            raise HandlerCrashed(f"{type(error).__name__}: {error}") from error


def _option_problems(
    options: Mapping[str, Any], module: BuiltinModule, name: str
) -> Iterator[KeyProblem]:
    known = module.Options.__struct_encode_fields__
    unknown = [key for key in options if key not in known]
    for key in unknown:
        hint = nearest(key, known) or (f"it takes {', '.join(known)}" if known else "it takes none")
        yield KeyProblem("with", f"`{name}` has no option `{key}`", hint)
    if not unknown:
        try:
            convert(dict(options), module.Options)
        except ValidationError as error:
            yield KeyProblem("with", f"the options of `{name}` do not fit: {error}")


def _event_problems(
    module: BuiltinModule, name: str, events: Sequence[str]
) -> Iterator[KeyProblem]:
    legal = {*module.EVENTS, *getattr(module, "ALSO", ())}
    for event in events:
        if event not in legal:
            hint = f"it works on {', '.join(sorted(legal))}"
            yield KeyProblem("on", f"`{name}` can do nothing on `{event}`", hint)


def _misfits(
    options: Mapping[str, Any], module: BuiltinModule, events: Sequence[str]
) -> Iterator[KeyProblem]:
    """What the builtin itself finds wrong with its options on these events."""
    judge = getattr(module, "misfits", None)
    if judge is None:
        return
    with suppress(ValidationError):  # which is said already
        given = convert(dict(options), module.Options)
        yield from (KeyProblem("on", message, hint) for message, hint in judge(given, events))
