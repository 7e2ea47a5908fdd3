"""Claude Code with its model on loopback: headless, or at a terminal for what it asks people."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.lab.clients._person import LEAVE, YES
from hookline.lab.mcp_server import COMMAND
from hookline.lab.ports import Dialogue, Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write

__all__ = ["CLIENT", "NO", "YES", "ClaudeCode", "answering"]

NO = b"\x1b"
"""The key that says no to a question, and ends the turn with it."""

_KEY = "sk-ant-lab-0000000000000000000000000000"
_MODEL = "claude-sonnet-4-5"

_ALLOWED = ("Bash", "Write", "Edit", "Read", "Agent", "Task", "mcp__lab")

_QUIET = {
    "ANTHROPIC_API_KEY": _KEY,
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
}


class ClaudeCode(Struct, frozen=True, kw_only=True):
    """How Claude Code is furnished, started, and spoken to by its model."""

    id = "claude-code"
    dialect = "claude-code"
    wire = "anthropic"
    package = Package(
        packages=("@anthropic-ai/claude-code@2.1.327",),
        # The wrapper beside it wants a newer Node than the binary, which wants none.
        program="node_modules/@anthropic-ai/claude-code-{platform}/claude",
        command="claude",
    )

    talk: Callable[[Dialogue], None] | None = None
    """Sits at its terminal, after the prompt was given. Without anybody there it is headless, and
    takes every question that it would ask for a no."""

    def call(self, act: Act) -> ToolCall:
        """The act as Claude's tools name it; relative paths are those of the project."""
        match act:
            case Shell(command):
                return ToolCall("Bash", {"command": command, "description": "Run a command"})
            case Write(path, content):
                return ToolCall("Write", {"file_path": path, "content": content})
            case Edit(path, old, new):
                arguments = {"file_path": path, "old_string": old, "new_string": new}
                return ToolCall("Edit", arguments)
            case Read(path):
                return ToolCall("Read", {"file_path": path})
            case Mcp(tool, arguments, server):
                return ToolCall(f"mcp__{server}__{tool}", arguments)
            case Agent(prompt):
                return ToolCall(
                    "Agent",
                    {
                        "description": "A part of the work",
                        "prompt": prompt,
                        "subagent_type": "general-purpose",
                        # By default it runs beside us, and no script could say when it is done.
                        "run_in_background": False,
                    },
                )
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def furnish(self, room: Room, url: str) -> None:
        """Onboarding done, the key approved, the project trusted, and the MCP server known."""
        program, *arguments = COMMAND
        seen = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": self.package.version,
            "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
            "projects": {room.project: {"hasTrustDialogAccepted": True}},
            "mcpServers": {"lab": {"type": "stdio", "command": program, "args": arguments}},
        }
        Path(room.home, ".claude.json").write_text(json.dumps(seen), encoding="utf-8")

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """One prompt; headless, all it says is JSON lines, the hooks' outcomes among them."""
        options = ["--model", _MODEL]
        if self.talk is None:
            options += ["-p", "--verbose", "--output-format", "stream-json"]
            options.append("--include-hook-events")
        if wish.resume:
            options.append("--continue")
        if wish.permission == "all":
            options += ["--allowedTools", ",".join(_ALLOWED)]
        env = {**room.env, **_QUIET, "ANTHROPIC_BASE_URL": url}
        if wish.person is not None:
            options += ["--input-format", "stream-json", "--permission-prompt-tool", "stdio"]
            talk = partial(_say_yes, wish.person, script.prompt)
            return Launch(
                argv=(*program, *options, *wish.extra), env={**env, **wish.env}, talk=talk
            )
        if self.talk is not None:
            env["TERM"] = "xterm-256color"
        return Launch(
            argv=(*program, *options, *wish.extra, "--", script.prompt),
            env={**env, **wish.env},
            talk=self.talk,
            terminal=self.talk is not None,
        )


def answering(key: bytes, then: bytes) -> Callable[[Dialogue], None]:
    """A person who answers one question about a tool with a key, and leaves when they see ``then``.

    ``then`` has to be one word: between words the client may move the cursor instead of drawing.
    """

    def talk(client: Dialogue) -> None:
        client.read_until(b"proceed?")
        client.read_until(b"cancel")  # the last line of the question: from here on keys count
        client.write(key)
        client.read_until(then)
        client.write(LEAVE)

    return talk


def _say_yes(tell: Callable[[str], None], prompt: str, client: Dialogue) -> None:
    """Says the prompt, and yes to every question, in the client's own JSON lines."""

    def write(kind: str, **message: Any) -> None:
        client.write(json.dumps({"type": kind, **message}).encode() + b"\n")

    write("user", message={"role": "user", "content": prompt})
    while line := client.readline():
        said = json.loads(line)
        if said["type"] == "result":
            return
        if said["type"] == "control_request":
            tell(json.dumps(said["request"], ensure_ascii=False))
            yes = {"behavior": "allow", "updatedInput": said["request"].get("input")}
            answer = {"subtype": "success", "request_id": said["request_id"], "response": yes}
            write("control_response", response=answer)


CLIENT = ClaudeCode()
