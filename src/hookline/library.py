"""hookline inside a Python program: the same engine, fed by functions and config files."""

import asyncio
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

from hookline import registry
from hookline.app import App
from hookline.client.thin_io import deliver, find_number
from hookline.config.discover import project_root
from hookline.engine.engine import Engine
from hookline.functions import bind_function, bound_hooks, marks
from hookline.model.errors import HooklineError, UnknownNameError
from hookline.model.events import Event
from hookline.model.hook import DEFAULT_PRIORITY
from hookline.model.memory import SessionMemory
from hookline.model.outcome import Outcome, Reply
from hookline.model.ports import Caller, Dialect
from hookline.pipeline.call import refuse
from hookline.pipeline.derivation import DERIVED, find_moments
from hookline.pipeline.judge import judge

__all__ = ["Hooks", "main"]

F = TypeVar("F", bound=Callable[[dict[str, Any]], Any])


class Hooks:
    """Hooks ready to fire: ``Hooks(no_force_push)`` or ``Hooks.load("path/to/project")``.

    ``await hooks.fire(event)`` in asynchronous code, ``hooks.fire_sync(event)`` in a script.
    """

    def __init__(
        self, *functions: Callable[..., Any], env: Mapping[str, str] | None = None
    ) -> None:
        self._caller = Caller(env=dict(os.environ if env is None else env))
        self._app: App | None = None
        self._functions = bound_hooks(functions)
        self._engine = Engine(self._functions, tools=registry.tools)
        self._runner: asyncio.Runner | None = None
        self._turn = Lock()

    @classmethod
    def load(
        cls,
        directory: str | os.PathLike[str] = ".",
        *functions: Callable[..., Any],
        config: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Self:
        """Every config file in force for ``directory``, and ``functions`` beside them.

        Project files count in the bytes their user trusted; ``config`` replaces them with one
        file that needs no trust, because this program names it.
        """
        if not os.path.isdir(directory):
            raise HooklineError(f"`{directory}` is no directory, so no config is in force there")
        hooks = cls(env=env)
        values = hooks._caller.env
        hooks._app = App(
            env=values,
            cwd=str(Path(directory).resolve()),
            home=values.get("HOOKLINE_HOME"),
            config=None if config is None else str(Path(config).resolve()),
            trust=values.get("HOOKLINE_TRUST"),
            functions=bound_hooks(functions),
            root=project_root(str(Path(directory).resolve()), project_var=None),
        )
        return hooks

    def register(
        self, event: str, handler: F | None = None, *, priority: int = DEFAULT_PRIORITY
    ) -> Any:
        """Takes a function of BaseCoat's contract: an envelope in, a response or None out.

        ``hooks.register("SessionStart", load_memory)``, or as a decorator without ``handler``; the
        function may be a coroutine. Raises IllegalValueError for an event that BaseCoat has not.
        """
        if handler is None:
            return lambda later: self.register(event, later, priority=priority)
        book = registry.registrations()
        book.register(event, handler, priority=priority)
        added = [bind_function(hook) for hook in book.hooks()]
        if self._app is not None:
            self._app.add_functions(added)
        self._functions = [*self._functions, *added]
        self._engine = Engine(self._functions, tools=registry.tools)
        return handler

    async def fire(self, event: Event) -> Outcome:
        """The outcome of ``event``. A failing hook is part of it, never an exception."""
        if self._app is not None:
            return await judge(event, self._app)
        outcome = await self._engine.handle(event, self._caller)
        if DERIVED.isdisjoint(self._engine.heard):
            return outcome
        try:
            client = registry.dialect(event.dialect)
        except UnknownNameError:  # a program's own word, of which nothing can be known
            return outcome
        moments = find_moments(self._engine, client, event, first=False)
        if moments is None:
            return outcome
        # Functions alone remember nothing of a session.
        outcome = await moments.add_beside(outcome, self._caller, SessionMemory())
        return await moments.add_after(outcome, self._caller)

    def fire_sync(self, event: Event) -> Outcome:
        """``fire`` for code that has no event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise HooklineError("an event loop is running here: use `await hooks.fire(event)`")
        with self._turn:  # threads of one program share the loop and its worker processes
            if self._runner is None:
                self._runner = asyncio.Runner()
                # Functions alone need no closing, so nobody may be left with an open loop.
                weakref.finalize(self, self._runner.get_loop().close)
            return self._runner.run(self.fire(event))

    async def aclose(self) -> None:
        """Ends worker processes and connections; needed only if config hooks ran."""
        if self._app is not None:
            await self._app.aclose()

    def close(self) -> None:
        """``aclose`` for code that has no event loop."""
        with self._turn:
            if self._runner is not None:
                self._runner.run(self.aclose())
                self._runner.close()
                self._runner = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


def main(dialect: str | None = None) -> NoReturn:
    """Makes a file of ``@hook`` functions a program: payload on stdin, answer on stdout.

    The dialect is the first word of the command line, or canonical; the second may name the event.
    """
    words = sys.argv[1:]
    # What functions print, and what programs they start print, must not mix with the answer.
    answers = _take_stdout()
    codec: Dialect | None = None
    event = words[1] if len(words) > 1 else None
    try:
        codec = registry.dialect(dialect or (words[0] if words else "canonical"))
        reply = _answer(codec, event)
    except Exception as exc:
        what = str(exc) if isinstance(exc, HooklineError) else f"{type(exc).__name__}: {exc}"
        reply = refuse(codec, event, what)
    numbers = -1 if answers is None else answers, find_number(sys.stderr)
    # 2 blocks, where the answer could not be written.
    sys.exit(reply.exit_code if deliver(reply.stdout, reply.stderr, inf, numbers) else 2)


def _take_stdout() -> int | None:
    """A descriptor for the answer alone; stdout goes where stderr goes from here on."""
    if sys.stdout is None:  # as Python has it when the descriptor is closed
        return None
    answers = os.dup(1)
    os.dup2(2 if sys.stderr is not None else os.open(os.devnull, os.O_WRONLY), 1)
    return answers


def _answer(codec: Dialect, event: str | None) -> Reply:
    if sys.stdin is None:
        raise HooklineError("there is no payload: stdin is closed")
    decoded = codec.decode(sys.stdin.buffer.read(), event)
    functions = [value for value in vars(sys.modules["__main__"]).values() if marks(value)]
    if not functions:
        raise HooklineError("no function of this program is marked with @hook")
    with Hooks(*functions) as hooks:
        return codec.encode(hooks.fire_sync(decoded))
