"""What an agent does, in each platform's own words: the payloads its hooks are sent.

Written by hand from captures and documentation and not by the dialects' own writers, so that who
reads a payload is not checked against itself.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

import hookline
from hookline.lab.script import Mcp, Read, Shell
from hookline.model.outcome import Reply
from support import native_calls as calls
from support.clients.effects import ClientModel, Effect
from support.native_calls import Call

__all__ = ["Act", "Arrival", "Messages", "Printed", "Prompt", "arrivals", "obey"]

DIALECTS = Path(hookline.__file__).parent / "dialects"


class Prompt(Struct, frozen=True):
    """A person asks something."""

    text: str


class Messages(Struct, frozen=True):
    """The model is about to be sent a conversation."""

    text: str


class Printed(Struct, frozen=True):
    """A tool has run and said something."""

    act: Call
    output: str


Act = Call | Prompt | Messages | Printed
Told = Iterator[tuple[str, dict[str, Any]]]
"""Native events, each with its payload."""


class Arrival(Struct, frozen=True):
    """One event as a client sends it."""

    dialect: str
    native: str
    payload: dict[str, Any]


# ── events: where the call, the output and the words of a person stand in a payload ──


def arrivals(act: Act, project: str) -> Iterator[Arrival]:
    """The act as every platform tells its hooks, under every name that it tells it by."""
    for dialect, tell in _PLATFORMS.items():
        for native, payload in tell(act, project):
            yield Arrival(dialect, native, payload)


def _standard(
    dialect: str, call: Any, *, pre: str, post: str, ask: str
) -> Callable[[Act, str], Told]:
    """A platform whose payloads have ``tool_name``, ``tool_input`` and ``tool_response``."""

    def tell(act: Act, project: str) -> Told:
        match act:
            case Prompt(text):
                yield ask, _like(dialect, ask, project, {"prompt": text})
            case Messages():
                return
            case Printed(call_made, output):
                own = _named(dialect, call, call_made, project)
                own["tool_response"] = calls.response(dialect, call_made, output)
                yield post, _like(dialect, post, project, own)
            case _:
                yield pre, _like(dialect, pre, project, _named(dialect, call, act, project))

    return tell


def _named(dialect: str, call: Any, act: Call, project: str) -> dict[str, Any]:
    name, given = call(act, _at(project))
    own: dict[str, Any] = {"tool_name": name, "tool_input": given}
    if isinstance(act, Mcp) and dialect == "gemini":
        own["mcp_context"] = {"server_name": act.server, "tool_name": act.tool}
    if isinstance(act, Mcp) and dialect == "claude-code":
        own["mcp_server"] = {"name": act.server, "source": "project"}
    return own


def _tell_basecoat(act: Act, project: str) -> Told:
    own: dict[str, Any]
    match act:
        case Prompt(text):
            native, own = "UserPromptSubmitted", {"prompt": text}
        case Messages():
            return
        case Printed(call, output):
            name, given = calls.basecoat(call, _at(project))
            done = {"success": True, "durationMs": 3, "output": output}
            native, own = "PostToolUse", {"tool": {"name": name, "input": given, **done}}
        case _:
            name, given = calls.basecoat(act, _at(project))
            native, own = "PreToolUse", {"tool": {"name": name, "input": given}}
    yield native, _like("basecoat", native, "", own)


def _tell_copilot(dialect: str) -> Callable[[Act, str], Told]:
    def tell(act: Act, project: str) -> Told:
        match act:
            case Prompt(text):
                for native in ("userPromptSubmitted", "UserPromptSubmit"):
                    yield native, _like(dialect, native, project, {"prompt": text})
            case Messages():
                return
            case Printed(call, output):
                name, given = calls.copilot(call, _at(project))
                result = {"resultType": "success", "textResultForLlm": output}
                own = {"toolName": name, "toolArgs": given, "toolResult": result}
                yield "postToolUse", _like(dialect, "postToolUse", project, own)
                name, given = calls.copilot_pascal(call, _at(project))
                result = {"result_type": "success", "text_result_for_llm": output}
                own = {"tool_name": name, "tool_input": given, "tool_result": result}
                yield "PostToolUse", _like(dialect, "PostToolUse", project, own)
            case _:
                name, given = calls.copilot(act, _at(project))
                own = {"toolName": name, "toolArgs": given}
                yield "preToolUse", _like(dialect, "preToolUse", project, own)
                name, given = calls.copilot_pascal(act, _at(project))
                own = {"tool_name": name, "tool_input": given}
                yield "PreToolUse", _like(dialect, "PreToolUse", project, own)

    return tell


def _tell_cursor(act: Act, project: str) -> Told:
    roots = {"workspace_roots": [project]}
    match act:
        case Prompt(text):
            native = "beforeSubmitPrompt"
            yield native, _like("cursor", native, "", {**roots, "prompt": text})
        case Messages():
            return
        case Printed(call, output):
            name, given = calls.cursor(call, _at(project))
            text = json.dumps({"content": [{"type": "text", "text": output}]})
            if isinstance(call, Shell):
                text = json.dumps({"exitCode": 0, "stdout": output})
            own = {**roots, "tool_name": name, "tool_input": given, "tool_output": text}
            yield "postToolUse", _like("cursor", "postToolUse", project, own)
            if isinstance(call, Shell):
                own = {**roots, "command": call.command, "output": output}
                yield "afterShellExecution", _like("cursor", "afterShellExecution", "", own)
        case _:
            name, given = calls.cursor(act, _at(project))
            own = {**roots, "tool_name": name, "tool_input": given}
            yield "preToolUse", _like("cursor", "preToolUse", project, own)
            yield from _cursor_alone(act, project)


def _cursor_alone(act: Call, project: str) -> Told:
    """The events that Cursor has for one kind of tool."""
    own: dict[str, Any] = {"workspace_roots": [project]}
    match act:
        case Shell(command):
            native, own = "beforeShellExecution", {**own, "command": command, "cwd": project}
        case Read(path):
            native, own = "beforeReadFile", {**own, "file_path": _at(project)(path), "content": ""}
        case Mcp(tool, given, server):
            called = {"tool_name": tool, "tool_input": json.dumps(given), "command": server}
            native, own = "beforeMCPExecution", {**own, **called}
        case _:
            return
    payload = _like("cursor", native, "", own)
    if native == "beforeMCPExecution":
        del payload["url"]  # a server has a command or an address
    yield native, payload


def _tell_docker_agent(act: Act, project: str) -> Told:
    own: dict[str, Any]
    events: dict[str, dict[str, Any]]
    match act:
        case Prompt(text):
            events = {"user_prompt_submit": {"prompt": text}}
        case Messages(text):
            messages = [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": text},
            ]
            events = {"before_llm_call": {"messages": messages}}
        case Printed(call, output):
            name, given = calls.docker_agent(call, _at(project))
            own = {"tool_name": name, "tool_input": given, "tool_response": output}
            events = {"tool_response_transform": own}
        case _:
            name, given = calls.docker_agent(act, _at(project))
            own = {"tool_name": name, "tool_input": given}
            events = {"pre_tool_use": own, "pre_tool_use+preempt": own}
    for native, own in events.items():
        yield native, _like("docker-agent", native, project, own)


def _tell_gemini(act: Act, project: str) -> Told:
    if not isinstance(act, Messages):
        yield from _standard(
            "gemini", calls.gemini, pre="BeforeTool", post="AfterTool", ask="BeforeAgent"
        )(act, project)
        return
    request = {"model": "gemini-2.5-pro", "messages": [{"role": "user", "content": act.text}]}
    own = {"llm_request": {**request, "config": {"temperature": 1}}}
    yield "BeforeModel", _like("gemini", "BeforeModel", project, own)


def _tell_kodelet(act: Act, project: str) -> Told:
    own: dict[str, Any]
    match act:
        case Prompt(text):
            native, own = "user_message_send", {"message": text}
        case Messages():
            return
        case Printed(call, output):
            name, given = calls.kodelet(call, _at(project))
            kept = {"command": "x", "exitCode": 0, "output": output, "executionTime": 5}
            done = {"toolName": name, "success": True, "metadataType": "bash", "metadata": kept}
            native, own = "after_tool_call", {"tool_name": name, "tool_input": given}
            own["tool_output"] = {**done, "timestamp": "2026-05-30T15:01:03Z"}
        case _:
            name, given = calls.kodelet(act, _at(project))
            native, own = "before_tool_call", {"tool_name": name, "tool_input": given}
    yield native, _like("kodelet", native, project, own)


def _tell_canonical(act: Act, project: str) -> Told:
    base = {"session_id": "s1", "cwd": project}
    match act:
        case Prompt(text):
            yield "user_prompt_submit", {**base, "event": "user_prompt_submit", "prompt": text}
        case Messages(text):
            messages = [{"role": "user", "content": text}]
            yield "before_llm_call", {**base, "event": "before_llm_call", "messages": messages}
        case Printed(call, output):
            tool = {**calls.canonical(call), "output": output}
            yield "post_tool_use", {**base, "event": "post_tool_use", "tool": tool}
        case _:
            yield "pre_tool_use", {**base, "event": "pre_tool_use", "tool": calls.canonical(act)}


_PLATFORMS: Mapping[str, Callable[[Act, str], Told]] = {
    "basecoat": _tell_basecoat,
    "canonical": _tell_canonical,
    "claude-code": _standard(
        "claude-code",
        calls.claude_code,
        pre="PreToolUse",
        post="PostToolUse",
        ask="UserPromptSubmit",
    ),
    "codex": _standard(
        "codex", calls.codex, pre="PreToolUse", post="PostToolUse", ask="UserPromptSubmit"
    ),
    "copilot": _tell_copilot("copilot"),
    "copilot-cloud": _tell_copilot("copilot-cloud"),
    "cursor": _tell_cursor,
    "docker-agent": _tell_docker_agent,
    "gemini": _tell_gemini,
    "kodelet": _tell_kodelet,
    "vscode": _standard(
        "vscode", calls.vscode, pre="PreToolUse", post="PostToolUse", ask="UserPromptSubmit"
    ),
}


def _at(project: str) -> Callable[[str], str]:
    """Most clients make paths whole before hooks see them."""
    return lambda path: str(Path(project, path))


def _like(dialect: str, native: str, cwd: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """A payload of this event with other words in it."""
    known = _captured(native) if dialect == "claude-code" else _client(dialect).payload(native)
    return {**known, **({"cwd": cwd} if cwd else {}), **own}


def _captured(native: str) -> dict[str, Any]:
    """What the real client sent, where it was run."""
    tool = "-Bash" if "ToolUse" in native else ""
    file = DIALECTS / "claude_code" / "captures" / f"{native}{tool}.json"
    return dict(json.loads(file.read_bytes())["payload"])


# ── what a client makes of the reply ──


def _client(dialect: str) -> Any:
    return import_module(f"support.clients.{dialect.replace('-', '_')}")


def obey(arrival: Arrival, reply: Reply) -> Effect:
    """The effect of a reply on the client that sent this."""
    client: ClientModel = _client(arrival.dialect)
    return client.obey(arrival.native, reply, arrival.payload)
