"""hookline inside a Python program: the same engine, fed by functions and config files."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from hookline import registry
from hookline.app import App
from hookline.engine.engine import Engine
from hookline.functions import bound_hooks, marks
from hookline.model.errors import HooklineError
from hookline.model.events import Event
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller

__all__ = ["Hooks", "main"]


class Hooks:
    """Hooks ready to fire: ``Hooks(no_force_push)`` or ``Hooks.load("path/to/project")``.

    ``await hooks.fire(event)`` in asynchronous code, ``hooks.fire_sync(event)`` in a script.
    """

    def __init__(
        self, *functions: Callable[..., Any], env: Mapping[str, str] | None = None
    ) -> None:
        self._caller = Caller(env=dict(os.environ if env is None else env))
        self._app: App | None = None
        self._engine = Engine(bound_hooks(functions), tools=registry.tools)
        self._runner: asyncio.Runner | None = None

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
        hooks = cls(env=env)
        values = hooks._caller.env
        hooks._app = App(
            env=values,
            cwd=str(Path(directory).resolve()),
            home=values.get("HOOKLINE_HOME"),
            config=None if config is None else str(Path(config).resolve()),
            trust=values.get("HOOKLINE_TRUST"),
            functions=bound_hooks(functions),
        )
        return hooks

    async def fire(self, event: Event) -> Outcome:
        """The outcome of ``event``. A failing hook is part of it, never an exception."""
        if self._app is not None:
            return await self._app.fire(event)
        return await self._engine.handle(event, self._caller)

    def fire_sync(self, event: Event) -> Outcome:
        """``fire`` for code that has no event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise HooklineError("an event loop is running here: use `await hooks.fire(event)`")
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self.fire(event))

    async def aclose(self) -> None:
        """Ends worker processes and connections; needed only if config hooks ran."""
        if self._app is not None:
            await self._app.aclose()

    def close(self) -> None:
        """``aclose`` for code that has no event loop."""
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

    The dialect is the first word of the command line, or canonical.
    """
    codec = registry.dialect(dialect or (sys.argv[1] if len(sys.argv) > 1 else "canonical"))
    module = sys.modules["__main__"]
    try:
        event = codec.decode(sys.stdin.buffer.read(), None)
        functions = [value for value in vars(module).values() if marks(value)]
        with Hooks(*functions) as hooks:
            reply = codec.encode(hooks.fire_sync(event))
    except HooklineError as exc:
        reply = codec.refuse(None, str(exc))
    sys.stdout.buffer.write(reply.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(reply.stderr)
    sys.exit(reply.exit_code)
