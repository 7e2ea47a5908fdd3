"""Gemini CLI, headless, with its model on loopback."""

import json
from collections.abc import Sequence
from pathlib import Path

from hookline.lab.clients._person import say_yes
from hookline.lab.mcp_server import COMMAND
from hookline.lab.ports import Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write

__all__ = ["CLIENT", "Gemini"]

# Left to choose, it asks a small model first which one the prompt deserves.
_MODEL = "gemini-2.5-pro"

_QUIET = {
    "GEMINI_API_KEY": "lab-dummy-key",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "GEMINI_SANDBOX": "false",
    # It would start itself again with more memory, and two processes would have to be ended.
    "GEMINI_CLI_NO_RELAUNCH": "true",
    # Without trust it refuses to run headless: exit code 55.
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
}


class Gemini:
    """How Gemini CLI is furnished, started, and spoken to by its model."""

    id = "gemini"
    dialect = "gemini"
    wire = "gemini"
    package = Package(
        packages=("@google/gemini-cli@0.61.0",),
        program="node_modules/.bin/gemini",
        command="gemini",
        node="20",
    )

    def call(self, act: Act) -> ToolCall:
        """The act as Gemini's tools name it; relative paths are those of the project."""
        match act:
            case Shell(command):
                arguments = {"command": command, "description": "Run a command"}
                return ToolCall("run_shell_command", arguments)
            case Write(path, content):
                return ToolCall("write_file", {"file_path": path, "content": content})
            case Edit(path, old, new):
                return ToolCall(
                    "replace",
                    {
                        "file_path": path,
                        "instruction": "Replace one text by another",
                        "old_string": old,
                        "new_string": new,
                    },
                )
            case Read(path):
                return ToolCall("read_file", {"file_path": path})
            case Mcp(tool, arguments, server):
                return ToolCall(f"mcp_{server}_{tool}", arguments)
            case Agent(prompt):
                # The one agent that comes with it and has all the tools of the main one.
                return ToolCall("invoke_agent", {"agent_name": "generalist", "prompt": prompt})
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def furnish(self, room: Room, url: str) -> None:
        """A key instead of a login, no reports to the maker, and the MCP server known."""
        program, *arguments = COMMAND
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            # A script may well repeat itself; a model that does is asked about it, or stopped.
            "model": {"disableLoopDetection": True},
            "mcpServers": {"lab": {"command": program, "args": arguments}},
        }
        path = Path(room.home, ".gemini", "settings.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings, indent=2), encoding="utf-8")

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """One prompt; without leave for everything, tools that change anything are not offered."""
        options = ["--model", _MODEL]
        if wish.resume:
            options += ["--resume", "latest"]
        if wish.permission == "all":
            options.append("--yolo")
        env = {**room.env, **_QUIET, "GOOGLE_GEMINI_BASE_URL": url, **wish.env}
        argv = (*program, *options, *wish.extra)
        if wish.person is not None:
            return Launch(
                argv=(*argv, f"--prompt-interactive={script.prompt}"),
                env={**env, "TERM": "xterm-256color"},
                talk=say_yes(wish.person, b"suggest", script.turns[-1].say),
                terminal=True,
            )
        return Launch(argv=(*argv, f"--prompt={script.prompt}"), env=env)


CLIENT = Gemini()
