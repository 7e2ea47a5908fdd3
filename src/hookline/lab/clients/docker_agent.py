"""docker-agent, headless, with its model on loopback. A person brings the program themselves."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from hookline.lab.ports import Dialogue, Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write
from hookline.model.errors import HooklineError

__all__ = ["CLIENT", "DockerAgent"]

_FILE = "agent.yaml"
_KEY = "LAB_MODEL_KEY"
_HELPER = "helper"
_QUIET = {"TELEMETRY_ENABLED": "false", "DOCKER_AGENT_HIDE_TELEMETRY_BANNER": "1", _KEY: "lab"}

# On lines of their own, since hookline is written in between.
_AGENTS = """\
models:
  lab:
    provider: openai
    model: scripted-1
    base_url: {url}
    token_key: {key}
agents:
  root:
    model: lab
    description: The agent of the session
    instruction: Do what you are asked.
    redact_secrets: false
    sub_agents:
      - {helper}
    toolsets:
      - type: shell
      - type: filesystem
  {helper}:
    model: lab
    description: An agent for parts of the work
    instruction: Do what you are asked.
    redact_secrets: false
    toolsets:
      - type: shell
      - type: filesystem
"""


class DockerAgent:
    """How docker-agent is furnished, started, and spoken to by its model."""

    id = "docker-agent"
    dialect = "docker-agent"
    wire = "chat"
    package = Package(
        known="1.123.0",
        command="docker-agent",
        version_words=("version",),
        # Its drop-in folder is read by newer versions only, an agent's own file by all.
        file=_FILE,
    )

    def call(self, act: Act) -> ToolCall:
        """The act as docker-agent's tools name it; relative paths are those of the project."""
        match act:
            case Shell(command):
                return ToolCall("shell", {"cmd": command})
            case Write(path, content):
                return ToolCall("write_file", {"path": path, "content": content})
            case Edit(path, old, new):
                edits = [{"oldText": old, "newText": new}]
                return ToolCall("edit_file", {"path": path, "edits": edits})
            case Read(path):
                return ToolCall("read_file", {"path": path})
            case Mcp(tool):
                raise HooklineError(f"nobody has tried MCP servers here: take `mcp: {tool}` out")
            case Agent(prompt):
                task = {"agent": _HELPER, "task": prompt, "expected_output": "What you did."}
                return ToolCall("transfer_task", task)
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def furnish(self, room: Room, url: str) -> None:
        """A file with two agents, of whom one hands work to the other."""
        text = _AGENTS.format(url=json.dumps(f"{url}/v1"), key=_KEY, helper=_HELPER)
        Path(room.home, _FILE).write_text(text, encoding="utf-8")

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """One message. Without a terminal the program answers its own questions with no."""
        if wish.resume:
            raise HooklineError("nobody has tried how docker-agent goes on with a session headless")
        options = ["--yolo"] if wish.permission == "all" else []
        file = str(Path(room.home, _FILE))
        return Launch(
            argv=(*program, "run", "--exec", file, *options, *wish.extra, "--", script.prompt),
            env={**room.env, **_QUIET, **wish.env},
            talk=_say_yes(wish.person, script.turns[-1].say) if wish.person else None,
            terminal=wish.person is not None,
        )


def _say_yes(tell: Callable[[str], None], end: str) -> Callable[[Dialogue], None]:
    """Answers each question until ``end`` is said."""

    def talk(client: Dialogue) -> None:
        last = end.encode()
        while not (said := client.read_until(b"[n]o)", last)).endswith(last):
            tell(" ".join(said.decode(errors="replace").split()))
            client.write(b"y")

    return talk


CLIENT = DockerAgent()
