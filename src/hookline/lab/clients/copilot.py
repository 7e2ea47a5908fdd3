"""Copilot CLI, headless, with its model on loopback; as an ACP server where it has to ask."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.lab.clients._copilot_talk import Talk, refuse
from hookline.lab.clients._person import say_yes
from hookline.lab.mcp_server import COMMAND, NAME
from hookline.lab.ports import Dialogue, Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write
from hookline.model.errors import HooklineError

__all__ = ["CLIENT", "Copilot"]

_MODEL = "gpt-4.1"
# It strikes this out wherever it stands in what it says, so it has to be no common word.
_KEY = "lab-key-0000000000000000"

# Offline it asks nobody but the model it was given: no account, no telemetry, no update.
_QUIET = {
    "COPILOT_OFFLINE": "true",
    "COPILOT_PROVIDER_API_KEY": _KEY,
    "COPILOT_MODEL": _MODEL,
    "COPILOT_AUTO_UPDATE": "false",
}


class Copilot(Struct, frozen=True, kw_only=True):
    """How Copilot CLI is furnished, started, and spoken to by its model."""

    id = "copilot"
    dialect = "copilot"
    wire = "chat"
    package = Package(
        packages=("@github/copilot@1.0.102",),
        program="node_modules/@github/copilot-{platform}/copilot",
        command="copilot",
    )

    trusted: bool = True
    """Whether the project is trusted; in one that is not, none of its hooks are loaded."""
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """What the person says when a session asks them; None when there is nobody to ask."""
    talk: Callable[[Talk, Script], None] | None = None
    """Speaks with the client itself instead of saying the script's prompt."""

    def call(self, act: Act) -> ToolCall:
        """The act as Copilot's tools name it; relative paths are those of the project."""
        match act:
            case Shell(command):
                return ToolCall("bash", {"command": command, "description": "Run a command"})
            case Write(path, content):
                return ToolCall("create", {"path": path, "file_text": content})
            case Edit(path, old, new):
                return ToolCall("edit", {"path": path, "old_str": old, "new_str": new})
            case Read(path):
                return ToolCall("view", {"path": path})
            case Mcp(tool, arguments, server):
                return ToolCall(f"{server}-{tool}", arguments)
            case Agent(prompt):
                return ToolCall("task", _task(prompt))
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def furnish(self, room: Room, url: str) -> None:
        """The MCP server known, and the project trusted as if the person had said so before."""
        home = Path(room.home, ".copilot")
        home.mkdir(mode=0o700, exist_ok=True)
        program, *arguments = COMMAND
        server = {"type": "local", "command": program, "args": arguments, "tools": ["*"]}
        _write(home / "mcp-config.json", {"mcpServers": {NAME: server}})
        _write(home / "config.json", {"trustedFolders": [room.project] if self.trusted else []})

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """One prompt on the command line; a conversation where somebody can be asked."""
        env = {**room.env, **_QUIET, "COPILOT_PROVIDER_BASE_URL": f"{url}/v1", **wish.env}
        options = ["--disable-client-telemetry", "--no-color"]
        if wish.permission == "all":
            options.append("--allow-all-tools")
        if wish.person is not None:
            # A conversation asks about its own questions only, and takes a hook's for a no.
            return Launch(
                argv=(*program, *options, *wish.extra, "--interactive", script.prompt),
                env={**env, "TERM": "xterm-256color"},
                talk=say_yes(wish.person, b"cancel", script.turns[-1].say),
                terminal=True,
            )
        if self.talk is not None or self.answer is not None:
            if wish.resume:
                raise HooklineError("a conversation with Copilot begins anew: it cannot resume")
            argv = (*program, "--acp", *options, *wish.extra)
            return Launch(argv=argv, env=env, talk=partial(self._converse, room, script))
        options += ["--output-format", "json"]
        if wish.resume:
            options.append("--continue")
        # Joined to its flag, a prompt that begins with a dash is still a prompt.
        return Launch(argv=(*program, *options, *wish.extra, f"--prompt={script.prompt}"), env=env)

    def _converse(self, room: Room, script: Script, dialogue: Dialogue) -> None:
        talk = Talk(dialogue, room.project, answer=self.answer or refuse)
        if self.talk is not None:
            self.talk(talk, script)
            return
        talk.begin()
        talk.say(script.prompt)


def _task(prompt: str) -> Mapping[str, str]:
    return {
        "name": "helper",
        "description": "A part of the work",
        "agent_type": "general-purpose",
        "prompt": prompt,
        # In the background its turns would race with those of the main conversation.
        "mode": "sync",
    }


def _write(path: Path, content: Mapping[str, object]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


CLIENT = Copilot()
