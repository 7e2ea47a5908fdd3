"""Run as a program: an MCP server over stdio whose one tool asks the person and tells what they did.

Standard library only, as the lab's own server: the client starts it as ``python -I FILE``.
"""

import json
import sys
from typing import Any

_SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
}
_TOOL = {"name": "ask_person", "description": "Asks the person.", "inputSchema": _SCHEMA}
_FORM = {"type": "object", "properties": {"answer": {"type": "string"}}}


def _send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def _read() -> dict[str, Any] | None:
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def _ask(message: str) -> str:
    """What became of the question, as the client tells it."""
    asked = {"message": message, "requestedSchema": _FORM}
    _send({"id": "question", "method": "elicitation/create", "params": asked})
    while (answer := _read()) is not None:
        if answer.get("id") == "question":
            said = answer.get("result") or answer.get("error") or {}
            return f"MK_BECAME_{said.get('action', said)}"
    return "MK_BECAME_nothing"


def _result(message: dict[str, Any]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "asking", "version": "1"},
            }
        case "tools/list":
            return {"tools": [_TOOL]}
        case "tools/call":
            text = _ask(message["params"]["arguments"]["message"])
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return {}


def main() -> None:
    """Answers until stdin ends."""
    while (message := _read()) is not None:
        if "id" in message and "method" in message:
            _send({"id": message["id"], "result": _result(message)})


if __name__ == "__main__":
    main()
