"""The MCP server of the lab, spoken with as a client does: lines over stdio."""

import json
import os
import subprocess
from typing import Any

from hookline.lab.mcp_server import COMMAND


def spoken(*lines: object) -> list[dict[str, Any]]:
    """What the server answers to these messages; a text is sent as it is."""
    said = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    done = subprocess.run(
        COMMAND,
        input=said.encode(),
        capture_output=True,
        env={"PATH": os.environ["PATH"]},
        timeout=60,
        check=True,
    )
    assert not done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def message(number: int, method: str, **params: object) -> dict[str, object]:
    """A request with its number."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_it_greets_in_the_version_of_the_protocol_it_was_greeted_in() -> None:
    hello = message(0, "initialize", protocolVersion="2024-11-05", capabilities={})
    (answer,) = spoken(hello, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert answer["id"] == 0
    assert answer["result"]["protocolVersion"] == "2024-11-05"
    assert answer["result"]["serverInfo"]["name"] == "lab"
    assert "tools" in answer["result"]["capabilities"]


def test_it_lists_a_tool_that_works_and_one_that_fails_with_their_schemas() -> None:
    (answer,) = spoken(message(1, "tools/list"))
    tools = {tool["name"]: tool["inputSchema"] for tool in answer["result"]["tools"]}
    assert sorted(tools) == ["echo_text", "fail_text"]
    assert tools["echo_text"]["required"] == ["text"]


def test_a_call_is_answered_with_the_text_it_was_given_as_a_result_or_as_an_error() -> None:
    calls = [
        message(n, "tools/call", name=name, arguments={"text": "hé\nllo"})
        for n, name in enumerate(("echo_text", "fail_text"))
    ]
    echoed, failed = (answer["result"] for answer in spoken(*calls))
    assert echoed["content"] == failed["content"] == [{"type": "text", "text": "hé\nllo"}]
    assert (echoed["isError"], failed["isError"]) == (False, True)


def test_what_it_does_not_know_is_an_error_and_it_goes_on() -> None:
    answers = spoken(
        "not json",
        message(1, "resources/list"),
        message(2, "tools/call", name="no_tool", arguments={"text": "x"}),
        message(3, "tools/call", name="echo_text", arguments={"text": 7}),
        ["a", "list"],
        message(4, "ping"),
    )
    codes = [answer.get("error", {}).get("code") for answer in answers]
    assert codes == [-32700, -32601, -32602, -32602, None]
    assert answers[-1] == {"jsonrpc": "2.0", "id": 4, "result": {}}
