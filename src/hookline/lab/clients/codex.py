"""Codex, headless, with its model on loopback; as an app server where it has to be spoken with."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.lab.clients._codex_talk import Talk, approve, refuse
from hookline.lab.mcp_server import COMMAND, NAME
from hookline.lab.ports import Dialogue, Launch, Package, Room, ToolCall, Wish
from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Write

__all__ = ["CLIENT", "Codex"]

# The newest model that calls its tools one by one, and one of those that call them from scripts.
_MODEL = "gpt-5.5"
_CODE_MODEL = "gpt-6-sol"
_KEY = "LAB_MODEL_KEY"

# A command that takes longer is left running, and its end is no part of the turn any more.
_SHELL_PATIENCE = 60_000
_AGENT_PATIENCE = 60_000
_PRAGMA = json.dumps({"yield_time_ms": _SHELL_PATIENCE})

_CONFIG = """\
model = {model}
model_provider = "lab"
check_for_update_on_startup = false
web_search = "disabled"

[analytics]
enabled = false

[model_providers.lab]
name = "lab"
base_url = {url}
wire_api = "responses"
env_key = {key}
request_max_retries = 0
stream_max_retries = 0

[projects.{project}]
trust_level = "trusted"

[mcp_servers.{server}]
command = {program}
args = {arguments}
"""


class Codex(Struct, frozen=True, kw_only=True):
    """How Codex is furnished, started, and spoken to by its model."""

    id = "codex"
    dialect = "codex"
    wire = "responses"
    package = Package(
        packages=("@openai/codex@0.169.0",),
        program="node_modules/@openai/codex-{platform}/vendor/{triple}/bin/codex",
        command="codex",
    )

    bypass_trust: bool = True
    """Run hooks that nobody trusted. A conversation has no switch for that: there the client is
    made to trust them first, which stays in its settings."""
    code_mode: bool = False
    """Be the model as the latest are: tools called from JavaScript, and the newer sub-agents."""
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] = refuse
    """What the person says when a session of ``permission: ask`` asks them."""
    talk: Callable[[Talk, Script], None] | None = None
    """Speaks with the client itself instead of saying the script's prompt."""

    def call(self, act: Act) -> ToolCall:
        """The act as Codex's tools name it. Patches know whole lines only."""
        if self.code_mode:
            return _from_script(act)
        match act:
            case Shell(command):
                return _shell(command)
            case Write(path, content):
                return _patch(f"*** Add File: {path}", *_lines("+", content))
            case Edit(path, old, new):
                hunk = ("@@", *_lines("-", old), *_lines("+", new))
                return _patch(f"*** Update File: {path}", *hunk)
            case Read(path):
                return _shell(f"cat -- {shlex.quote(path)}")
            case Mcp(tool, arguments, server):
                return ToolCall(f"mcp__{server}.{tool}", arguments)
            case Agent(prompt):
                return _agent(prompt)
            case Native(name, arguments):
                return ToolCall(name, arguments)

    def furnish(self, room: Room, url: str) -> None:
        """The model on loopback, the project trusted, the MCP server known, nothing phoned home."""
        program, *arguments = COMMAND
        home = Path(room.home, ".codex")
        home.mkdir(mode=0o700, exist_ok=True)
        config = _CONFIG.format(
            model=_toml(_CODE_MODEL if self.code_mode else _MODEL),
            url=_toml(f"{url}/v1"),
            key=_toml(_KEY),
            project=_toml(room.project),
            server=NAME,
            program=_toml(program),
            arguments=_toml(arguments),
        )
        (home / "config.toml").write_text(config, encoding="utf-8")

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """`codex exec`, which never asks; where it has to ask, a conversation."""
        env = {**room.env, _KEY: "lab", **wish.env}
        if self.talk is not None or wish.permission == "ask" or wish.person:
            argv = (*program, "app-server", *wish.extra)
            return Launch(argv=argv, env=env, talk=partial(self._converse, room, script, wish))
        options = ["--json", "--skip-git-repo-check", "-s", "danger-full-access"]
        if self.bypass_trust:
            options.append("--dangerously-bypass-hook-trust")
        latest = ("resume", "--last") if wish.resume else ()
        argv = (*program, "exec", *options, *wish.extra, *latest, "--", script.prompt)
        return Launch(argv=argv, env=env)

    def _converse(self, room: Room, script: Script, wish: Wish, dialogue: Dialogue) -> None:
        approvals = "untrusted" if wish.permission == "ask" else "never"

        def answer(question: Mapping[str, Any]) -> Mapping[str, Any]:
            if wish.person is None:
                return self.answer(question)
            wish.person(json.dumps(question, ensure_ascii=False))
            return approve(question)

        talk = Talk(dialogue, room.project, answer=answer, approvals=approvals)
        if self.bypass_trust:
            talk.trust_hooks()
        if self.talk is not None:
            self.talk(talk, script)
            return
        talk.begin(resume=talk.latest() if wish.resume else "")
        talk.say(script.prompt)


def _shell(command: str) -> ToolCall:
    return ToolCall("exec_command", {"cmd": command, "yield_time_ms": _SHELL_PATIENCE})


def _patch(*lines: str) -> ToolCall:
    whole = ("*** Begin Patch", *lines, "*** End Patch", "")
    return ToolCall("apply_patch", {"input": "\n".join(whole)})


def _lines(sign: str, text: str) -> tuple[str, ...]:
    return tuple(sign + line for line in text.removesuffix("\n").split("\n")) if text else ()


def _agent(prompt: str) -> ToolCall:
    """A sub-agent by the older tools; it has to be waited for by the id it was given."""

    def wait(result: str) -> ToolCall | None:
        agent = _answered(result, "agent_id")
        arguments = {"targets": [agent], "timeout_ms": _AGENT_PATIENCE}
        return ToolCall("multi_agent_v1.wait_agent", arguments) if agent else None

    return ToolCall("multi_agent_v1.spawn_agent", {"message": prompt}, wait)


def _from_script(act: Act) -> ToolCall:
    """The act as the latest models do it: one script around one tool, whose result it hands on."""
    match act:
        case Mcp(tool, arguments, server):
            return _script(f"mcp__{server}__{tool}", arguments)
        case Agent(prompt):
            return _agent_by_name(prompt)
        case Native(name, arguments):
            return ToolCall(name, arguments)
        case _:
            call = CLIENT.call(act)
            return _script(call.name, call.arguments.get("input", call.arguments))


def _script(tool: str, argument: object) -> ToolCall:
    # What JSON writes, JavaScript reads.
    code = f"text(await tools.{tool}({json.dumps(argument)}));"
    return ToolCall("functions.exec", {"input": f"// @exec: {_PRAGMA}\n{code}\n"})


def _agent_by_name(prompt: str) -> ToolCall:
    """A sub-agent by the newer tools, where whichever ends first is waited for."""

    def wait(result: str) -> ToolCall | None:
        # Without an agent there would be nothing to wait for until the time is up.
        arguments = {"timeout_ms": _AGENT_PATIENCE}
        started = _answered(result, "task_name")
        return ToolCall("collaboration.wait_agent", arguments) if started else None

    name = f"task_{blake2b(prompt.encode(), digest_size=4).hexdigest()}"
    arguments = {"task_name": name, "fork_turns": "none", "message": prompt}
    return ToolCall("collaboration.spawn_agent", arguments, wait)


def _answered(result: str, key: str) -> str:
    """What a tool's JSON result has under a key; empty when the call was refused instead."""
    try:
        found = json.loads(result)
    except ValueError:
        return ""
    return str(found.get(key, "")) if isinstance(found, dict) else ""


def _toml(value: str | Sequence[str]) -> str:
    """Strings and lists of them are written the same in TOML and in JSON."""
    return json.dumps(value, ensure_ascii=False)


CLIENT = Codex()
