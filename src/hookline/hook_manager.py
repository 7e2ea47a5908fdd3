"""Kodelet's hooks for a program that has its moments: the hook manager of ADR 021, in Python.

Knows Kodelet's files and words through their ports; the engine runs its hooks as everywhere.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline import registry
from hookline.config.copies import FreeFiles
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.errors import HooklineError
from hookline.model.hook import Layer
from hookline.model.native import NativeFile
from hookline.model.ports import Caller, NativeFiles, Services

__all__ = ["HookManager", "HookResult"]

_ID = "kodelet"
_SECONDS = 30.0
_USUAL = (".kodelet/hooks", "~/.kodelet/hooks")
_SERVICES = Services(
    codec=registry.dialect, builtin=registry.builtin, pins=lambda hook: FreeFiles()
)


class HookResult(Struct, frozen=True, kw_only=True):
    """What the hooks of one type say together; fields that nobody filled are empty."""

    blocked: bool = False
    reason: str = ""
    input: dict[str, Any] | None = None
    """The whole new input of the tool."""
    output: dict[str, Any] | None = None
    """The new result of the tool, as Kodelet structures it."""
    follow_up_messages: tuple[str, ...] = ()


class HookManager:
    """The hooks in Kodelet's directories, and a call for each of their four moments.

    ``result = await HookManager(timeout=5).before_tool_call("bash", {"command": "ls"})``. A hook
    that fails says nothing. Without directories: the project's, then the person's; without any
    hook every result is empty.
    """

    def __init__(
        self,
        *directories: str | os.PathLike[str],
        timeout: float = _SECONDS,
        mode: str = "adr",
        cwd: str | os.PathLike[str] = ".",
        env: Mapping[str, str] | None = None,
    ) -> None:
        """``timeout`` is in seconds, for each hook. Raises HooklineError."""
        self._cwd = os.path.abspath(cwd)
        self._caller = Caller(env=dict(os.environ if env is None else env), project_dir=self._cwd)
        files = registry.native_files()[_ID].in_mode(mode)
        places = [os.path.join(self._cwd, os.path.expanduser(d)) for d in directories or _USUAL]
        read = [file for place in places for file in _read_files(files, place)]
        hooks = files.hooks(read, layer=Layer.USER, project_dir=self._cwd)
        make = registry.handlers()["command"].make
        # This program stands for Kodelet, so nobody else runs them.
        own = [
            replace(each, timeout=timeout, match=None, run_by=frozenset[str]()) for each in hooks
        ]
        bound = [Bound(each, make(each, _SERVICES)) for each in own]
        self._engine = Engine(bound, tools=registry.tools)

    async def user_message_send(self, message: str, **base: Any) -> HookResult:
        """Before a message goes out. ``base``: ``conv_id``, ``invoked_by``, ``cwd``."""
        return await self.execute("user_message_send", message=message, **base)

    async def before_tool_call(
        self, tool_name: str, tool_input: Mapping[str, Any], tool_user_id: str = "", **base: Any
    ) -> HookResult:
        """Before a tool runs."""
        tool = {"tool_name": tool_name, "tool_input": tool_input, "tool_user_id": tool_user_id}
        return await self.execute("before_tool_call", **tool, **base)

    async def after_tool_call(
        self,
        tool_name: str,
        tool_input: Mapping[str, Any],
        tool_output: Mapping[str, Any],
        tool_user_id: str = "",
        **base: Any,
    ) -> HookResult:
        """After a tool ran."""
        tool = {"tool_name": tool_name, "tool_input": tool_input, "tool_user_id": tool_user_id}
        return await self.execute("after_tool_call", **tool, tool_output=tool_output, **base)

    async def agent_stop(self, messages: Sequence[Mapping[str, Any]], **base: Any) -> HookResult:
        """When the agent has no more to do."""
        return await self.execute("agent_stop", messages=messages, **base)

    async def execute(self, event: str, /, **payload: Any) -> HookResult:
        """What the hooks of a type say of a payload. Raises HooklineError."""
        dialect = registry.dialect(_ID)
        base = {"event": event, "conv_id": "", "cwd": self._cwd, "invoked_by": "main"}
        told = dialect.decode(msgspec.json.encode({**base, **payload}), event)
        outcome = await self._engine.handle(told, self._caller)
        reply = dialect.encode(outcome)
        return msgspec.json.decode(reply.stdout or b"{}", type=HookResult)


def _read_files(files: NativeFiles, directory: str) -> Iterator[NativeFile]:
    try:
        names = files.members(directory, os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return
    if names is None:
        raise HooklineError(
            f"`{directory}` is no directory of Kodelet's: expected `.kodelet/hooks`"
        )
    for name in names:
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                yield files.read(path, file.read())
