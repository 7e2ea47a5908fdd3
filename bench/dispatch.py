"""One event through ten Python functions: hookline, strands-agents and pluggy."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pluggy
from strands.hooks import HookEvent, HookRegistry

from bench.measure import Ratio, alternate_async, ratio
from hookline import Hooks, PreToolUse, hook, tool

HOOKS = 10
CALLS = 500


def functions() -> list[Callable[[Any], None]]:
    """Ten different functions that look at the event and have nothing to say."""

    def make(index: int) -> Callable[[Any], None]:
        def look(event: Any) -> None:
            return None

        look.__name__ = f"look_{index}"
        return look

    return [make(index) for index in range(HOOKS)]


def ours() -> Callable[[], Any]:
    """The library API, with every Run recorded."""
    hooks = Hooks(*(hook("pre_tool_use")(function) for function in functions()))
    event = PreToolUse(tool=tool("shell", command="git status"))

    async def fire() -> None:
        for _ in range(CALLS):
            outcome = await hooks.fire(event)
        assert len(outcome.runs) == HOOKS

    return fire


def strands() -> Callable[[], Any]:
    """strands-agents' registry."""

    @dataclass
    class Before(HookEvent):
        agent: Any = None
        command: str = ""

    registry = HookRegistry()
    for function in functions():
        registry.add_callback(Before, function)
    event = Before(command="git status")

    async def fire() -> None:
        for _ in range(CALLS):
            await registry.invoke_callbacks_async(event)

    return fire


def plugins() -> Callable[[], Any]:
    """pluggy's manager."""
    manager = pluggy.PluginManager("bench")

    class Spec:
        @pluggy.HookspecMarker("bench")
        def look(self, event: Any) -> None: ...

    manager.add_hookspecs(Spec)
    mark = pluggy.HookimplMarker("bench")
    for function in functions():
        manager.register(SimpleNamespace(look=mark(function)))
    event = PreToolUse(tool=tool("shell", command="git status"))

    async def fire() -> None:
        for _ in range(CALLS):
            manager.hook.look(event=event)

    return fire


def run() -> list[Ratio]:
    """Both comparisons."""
    what = f"dispatch through {HOOKS} Python hooks"

    async def all_of_them() -> list[Ratio]:
        mine = ours()
        return [
            ratio(
                what, "strands-agents", await alternate_async(mine, strands(), 60), 1.5, per=CALLS
            ),
            ratio(what, "pluggy", await alternate_async(mine, plugins(), 60), 3.0, per=CALLS),
        ]

    return asyncio.run(all_of_them())
