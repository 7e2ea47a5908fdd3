"""Pi, headless, with its model on loopback; under its old name and under its new one."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from hookline.lab.acquiring import platform_name
from hookline.lab.ports import Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write
from hookline.model.errors import HooklineError

__all__ = ["CLIENT", "SUCCESSOR", "Pi"]

_PROVIDER = "lab"
_MODEL = "scripted"

_QUIET = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}


class Pi:
    """How Pi is furnished, started, and spoken to by its model."""

    id = "pi"
    dialect = "pi"
    wire = "chat"
    package = Package(
        packages=("@mariozechner/pi-coding-agent@0.73.1",),
        program="node_modules/.bin/pi",
        command="pi",
        node="20",
    )

    def call(self, act: Act) -> ToolCall:
        """The act as Pi's tools name it; it has none for MCP and none for sub-agents."""
        match act:
            case Shell(command):
                return ToolCall("bash", {"command": command})
            case Write(path, content):
                return ToolCall("write", {"path": path, "content": content})
            case Edit(path, old, new):
                return ToolCall("edit", {"path": path, "edits": [{"oldText": old, "newText": new}]})
            case Read(path):
                return ToolCall("read", {"path": path})
            case Mcp(tool):
                raise HooklineError(f"Pi knows no MCP servers: take the act `mcp: {tool}` out")
            case Agent(prompt):
                raise HooklineError(f"Pi has no sub-agents: take the act `agent: {prompt}` out")
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def furnish(self, room: Room, url: str) -> None:
        """A provider on loopback, and the project trusted where trust is asked for."""
        provider = {
            "baseUrl": f"{url}/v1",
            "api": "openai-completions",
            "apiKey": "lab-dummy-key",
            "models": [{"id": _MODEL, "contextWindow": 128_000, "maxTokens": 4_096}],
        }
        files = {
            "models.json": {"providers": {_PROVIDER: provider}},
            # Only newer versions read it; older ones do not know the switch they have for it.
            "trust.json": {room.project: True},
        }
        directory = Path(room.home, ".pi", "agent")
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            Path(directory, name).write_text(json.dumps(content, indent=2), encoding="utf-8")

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """One prompt, on stdin: as an argument it could be taken for a file or an option.

        Pi asks for no permission, whatever the wish.
        """
        options = ["--mode", "json", "--provider", _PROVIDER, "--model", _MODEL]
        if wish.resume:
            options.append("--continue")
        return Launch(
            argv=(*program, "--print", *options, *wish.extra),
            env={**room.env, **_QUIET, "PATH": _path(room, program[0]), **wish.env},
            stdin=script.prompt.encode(),
        )


class _Successor(Pi):
    """The same client under the name it has now."""

    package = Package(
        # It runs on a newer Node than most machines have, so that comes along.
        packages=("@earendil-works/pi-coding-agent@0.87.1", f"node-{platform_name()}@24.21.0"),
        program="node_modules/.bin/pi",
        command="pi",
    )


def _path(room: Room, program: str) -> str:
    """The room's PATH, but first the Node that was installed together with the client."""
    beside = os.path.dirname(program)
    path = room.env.get("PATH", os.defpath)
    return f"{beside}{os.pathsep}{path}" if os.path.exists(f"{beside}/node") else path


CLIENT = Pi()
SUCCESSOR = _Successor()
"""Pinned on its own, because the two answer some hooks differently."""
