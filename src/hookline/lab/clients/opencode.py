"""OpenCode, headless, with its model on loopback."""

import json
from collections.abc import Sequence
from pathlib import Path

from hookline.lab.mcp_server import COMMAND
from hookline.lab.ports import Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write

__all__ = ["CLIENT", "OpenCode"]

_MODEL = "lab/scripted"
_PLUGIN = "@opencode-ai/plugin"
_IGNORED = ("node_modules", "package.json", "package-lock.json", "bun.lock", ".gitignore")

_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
}


class OpenCode:
    """How OpenCode is furnished, started, and spoken to by its model."""

    id = "opencode"
    dialect = "opencode"
    wire = "chat"
    package = Package(
        packages=("opencode-ai@1.18.33", f"{_PLUGIN}@1.18.33"),
        program="node_modules/opencode-{platform}/bin/opencode",
        command="opencode",
    )

    def call(self, act: Act) -> ToolCall:
        """The act as OpenCode's tools name it; relative paths are those of the project."""
        match act:
            case Shell(command):
                return ToolCall("bash", {"command": command})
            case Write(path, content):
                return ToolCall("write", {"filePath": path, "content": content})
            case Edit(path, old, new):
                arguments = {"filePath": path, "oldString": old, "newString": new}
                return ToolCall("edit", arguments)
            case Read(path):
                return ToolCall("read", {"filePath": path})
            case Mcp(tool, arguments, server):
                return ToolCall(f"{server}_{tool}", arguments)
            case Agent(prompt):
                return ToolCall(
                    "task",
                    {
                        "description": "A part of the work",
                        "prompt": prompt,
                        "subagent_type": "general",
                    },
                )
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def furnish(self, room: Room, url: str) -> None:
        """A provider on loopback, the MCP server, and plugins that need nothing from a registry."""
        settings = {
            # It would add this line itself, to a file that somebody may be comparing.
            "$schema": "https://opencode.ai/config.json",
            "model": _MODEL,
            "small_model": _MODEL,
            "autoupdate": False,
            "share": "disabled",
            # It would keep a second repository of the project and commit to it at every step.
            "snapshot": False,
            "provider": {
                "lab": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": f"{url}/v1", "apiKey": "lab-dummy-key"},
                    "models": {
                        "scripted": {
                            "tool_call": True,
                            "limit": {"context": 200_000, "output": 8_000},
                        }
                    },
                }
            },
            "mcp": {"lab": {"type": "local", "command": list(COMMAND)}},
        }
        for directory in _directories(room):
            _pretend_installed(directory)
        path = _directories(room)[0] / "opencode.json"
        path.write_text(json.dumps(settings, indent=2), encoding="utf-8")

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """One prompt, on stdin: as an argument it would reach the model in quotation marks."""
        _lend_plugin(room, program[0])
        options = ["--format", "json", "--print-logs"]
        env = {**room.env, **_QUIET}
        if wish.resume:
            options.append("--continue")
        if wish.permission == "all":
            options.append("--auto")
        else:
            # Left alone it asks about nothing at all.
            env["OPENCODE_PERMISSION"] = json.dumps(dict.fromkeys(("bash", "edit", "task"), "ask"))
        return Launch(
            argv=(*program, "run", *options, *wish.extra),
            env={**env, **wish.env},
            stdin=script.prompt.encode(),
        )


def _directories(room: Room) -> tuple[Path, Path]:
    """Where it looks for plugins: the person's, the project's."""
    return Path(room.home, ".config", "opencode"), Path(room.project, ".opencode")


def _pretend_installed(directory: Path) -> None:
    """Keeps it from asking a registry for the package of plugins' types, for over a minute.

    It looks no further than a lock file that names the package, and a place where it could be.
    """
    Path(directory, "node_modules").mkdir(parents=True, exist_ok=True)
    named = {"dependencies": {_PLUGIN: "*"}}
    lock = {"lockfileVersion": 3, "requires": True, "packages": {"": named}}
    Path(directory, "package.json").write_text(json.dumps(named), encoding="utf-8")
    Path(directory, "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    # It would write this one itself, and that would look like something the session did.
    Path(directory, ".gitignore").write_text("\n".join(_IGNORED), encoding="utf-8")


def _lend_plugin(room: Room, program: str) -> None:
    """Plugins may import that package; an installation of ours has it beside the client."""
    for folder in Path(program).parents:
        if folder.name == "node_modules" and Path(folder, _PLUGIN).is_dir():
            for directory in _directories(room):
                link = Path(directory, "node_modules", _PLUGIN)
                if not link.exists():
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(Path(folder, _PLUGIN), target_is_directory=True)
            return


CLIENT = OpenCode()
