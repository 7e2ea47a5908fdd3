"""Run as a program: an MCP server over stdio with a tool that works and one that fails.

Standard library only: the client under test starts it as ``python -I FILE``. ``echo_text`` answers
with the text it was given, ``fail_text`` with the same text as an error.
"""

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["COMMAND", "NAME", "TOOLS", "answer", "main"]

NAME = "lab"
TOOLS = ("echo_text", "fail_text")
COMMAND = (sys.executable, "-I", str(Path(__file__).resolve()))
"""How a client starts it."""

_NEWEST = "2025-06-18"
_NO_METHOD = -32601
_BAD_PARAMETERS = -32602
_NOT_JSON = -32700

_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to answer with."}},
    "required": ["text"],
    "additionalProperties": False,
}
_DESCRIPTIONS = {
    "echo_text": "Answers with the text it was given.",
    "fail_text": "Fails with the text it was given.",
}


def answer(message: Any) -> dict[str, Any] | None:
    """The reply to one message; None for a notification, which gets none."""
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return None
    parameters = message.get("params") or {}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    match message["method"]:
        case "initialize":
            asked = parameters.get("protocolVersion")
            reply["result"] = {
                "protocolVersion": asked if isinstance(asked, str) else _NEWEST,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": NAME, "version": "1"},
            }
        case "ping":
            reply["result"] = {}
        case "tools/list":
            reply["result"] = {"tools": [_described(tool) for tool in TOOLS]}
        case "tools/call":
            reply |= _called(parameters.get("name"), parameters.get("arguments") or {})
        case method:
            reply["error"] = {"code": _NO_METHOD, "message": f"no method is called {method}"}
    return reply


def _described(tool: str) -> dict[str, Any]:
    return {"name": tool, "description": _DESCRIPTIONS[tool], "inputSchema": _SCHEMA}


def _called(tool: object, arguments: dict[str, Any]) -> dict[str, Any]:
    text = arguments.get("text")
    if tool not in TOOLS or not isinstance(text, str):
        known = " and ".join(TOOLS)
        said = f"the tools are {known}, and each takes a string `text`"
        return {"error": {"code": _BAD_PARAMETERS, "message": said}}
    content = [{"type": "text", "text": text}]
    return {"result": {"content": content, "isError": tool == "fail_text"}}


def main() -> None:
    """Answers each line of stdin until it ends."""
    for line in sys.stdin.buffer:
        try:
            reply = answer(json.loads(line))
        except ValueError:
            error = {"code": _NOT_JSON, "message": "a line was no JSON"}
            reply = {"jsonrpc": "2.0", "id": None, "error": error}
        if reply is not None:
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
