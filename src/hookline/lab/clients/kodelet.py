"""Kodelet, headless, with its model on loopback. A person brings the program themselves."""

import os
from collections.abc import Sequence
from pathlib import Path

from hookline.lab.ports import Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write
from hookline.model.errors import HooklineError

__all__ = ["CLIENT", "Kodelet"]

_MODEL = "claude-sonnet-4-5-20250929"
_PATIENCE = 60
_CONFIG = f"""\
provider: anthropic
model: {_MODEL}
weak_model: {_MODEL}
anthropic_api_access: api-key
"""


class Kodelet:
    """How Kodelet is furnished, started, and spoken to by its model.

    On the Anthropic wire, which all versions speak. Some start programs of other makers, which they
    would fetch; without a network they warn and go on.
    """

    id = "kodelet"
    dialect = "kodelet"
    wire = "anthropic"
    package = Package(known="0.4.22", command="kodelet", version_words=("version",), asks=False)

    def __init__(self) -> None:
        self._project = ""

    def call(self, act: Act) -> ToolCall:
        """The act as Kodelet's tools name it; those for files take whole paths."""
        match act:
            case Shell(command):
                arguments = {"description": "run it", "command": command, "timeout": _PATIENCE}
                return ToolCall("bash", arguments)
            case Write(path, content):
                return ToolCall("file_write", {"file_path": self._whole(path), "text": content})
            case Edit(path, old, new):
                whole = self._whole(path)
                arguments = {"file_path": whole, "old_text": old, "new_text": new}
                return ToolCall("file_edit", arguments)
            case Read(path):
                arguments = {"file_path": self._whole(path), "offset": 1, "line_limit": 2000}
                return ToolCall("file_read", arguments)
            case Mcp(tool):
                raise HooklineError(f"nobody has tried MCP servers here: take `mcp: {tool}` out")
            case Agent(prompt):
                return ToolCall("subagent", {"question": prompt})
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def _whole(self, path: str) -> str:
        return os.path.join(self._project, path)

    def furnish(self, room: Room, url: str) -> None:
        """The wire, and a key in place of a login."""
        self._project = room.project
        path = Path(room.home, ".kodelet", "config.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_CONFIG, encoding="utf-8")

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """One prompt, nothing stored: that would ask the model for a summary. It never asks."""
        if wish.resume:
            raise HooklineError("nobody has tried how Kodelet goes on with a session headless")
        env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "lab-dummy-key"}
        return Launch(
            argv=(*program, "run", "--no-save", *wish.extra, "--", script.prompt),
            env={**room.env, **env, **wish.env},
        )


CLIENT = Kodelet()
