"""Asking real MCP servers for their tools: over stdio, over HTTP, and hostile ones."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.mcp_server import COMMAND
from hookline.pinning.asking import CannotAsk, tools_of
from hookline.pinning.definitions import Definition, Surroundings
from support.faults import is_alive
from support.mcp_servers import HOSTILE, HttpServer, Toolbox
from support.serving import eventually


def ask(said: dict[str, Any], project: Path, *, timeout: float = 30, **env: str) -> dict[str, Any]:
    server = Definition(name="x", clients=("claude-code",), file="f", said=said)
    where = Surroundings(str(project), str(project), {"PATH": os.environ["PATH"], **env})
    return asyncio.run(tools_of(server, where, timeout=timeout))


def test_a_server_tells_of_its_tools_page_by_page_and_is_answered_meanwhile(tmp_path: Path) -> None:
    toolbox = Toolbox(tmp_path)
    found = ask(toolbox.definition, tmp_path)
    assert list(found) == ["search", "delete", "count"]
    assert found["delete"]["description"] == "Deletes things."


def test_the_labs_own_server_tells_of_its_tools(tmp_path: Path) -> None:
    program, *words = COMMAND
    assert list(ask({"command": program, "args": words}, tmp_path)) == ["echo_text", "fail_text"]


def test_a_server_is_started_as_its_client_does(tmp_path: Path) -> None:
    toolbox = Toolbox(tmp_path / "server")
    (tmp_path / "inner").mkdir()
    said = {
        **toolbox.definition,
        "cwd": "${workspaceFolder}/inner",
        "env": {"A": "${B}", "C": "${NONE:-default}", "D": "${env:B}", "E": 3},
    }
    ask(said, tmp_path, B="b", HOOKLINE_HOME="/secret")
    (start,) = toolbox.starts
    assert start["cwd"] == str(tmp_path / "inner")
    assert {name: start["env"][name] for name in "ABCDE"} == {
        "A": "b",
        "B": "b",
        "C": "default",
        "D": "b",
        "E": "3",
    }
    assert "HOOKLINE_HOME" not in start["env"]


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_server_is_bounded_and_gone_afterwards(what: str, tmp_path: Path) -> None:
    program, message = HOSTILE[what]
    script = tmp_path / "server.py"
    script.write_text(f"import os\nopen('pid', 'w').write(str(os.getpid()))\n{program}")
    patient = 0.8 if "no answer" in message else 30
    with pytest.raises(CannotAsk, match=message):
        ask({"command": sys.executable, "args": ["-I", str(script)]}, tmp_path, timeout=patient)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_a_server_has_started_goes_with_it(tmp_path: Path) -> None:
    child = (
        "import os, time; os.setsid(); open('child', 'w').write(str(os.getpid())); time.sleep(99)"
    )
    script = tmp_path / "server.py"
    script.write_text(
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        "while not os.path.exists('child') or not open('child').read(): time.sleep(0.01)\n"
        "print('that is all', flush=True)\n"
    )
    with pytest.raises(CannotAsk, match="no JSON-RPC"):
        ask({"command": sys.executable, "args": ["-I", str(script)]}, tmp_path)
    pid = int((tmp_path / "child").read_text())
    # Killed, and perhaps not yet dead, or buried by whoever inherited it.
    eventually(lambda: not is_alive(pid))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"command": "no-such-program"}, "there is no program `no-such-program` on your PATH"),
        ({"command": "x", "args": ["${input:token}"]}, "`\\${input:token}` is not set"),
        ({"command": "x", "env": {"A": "$NOBODY"}}, "`\\$NOBODY` is not set"),
        ({}, "neither a command nor an address"),
        ({"type": "sse", "url": "http://127.0.0.1:1"}, "older SSE transport"),
        ({"url": "http://127.0.0.1:1/secret-path"}, r"talking to it failed \(ConnectError\)"),
        ({"url": "no address"}, "talking to it failed"),
    ],
)
def test_a_server_that_cannot_be_asked_is_told_of_in_words(
    said: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(CannotAsk, match=message) as caught:
        ask(said, tmp_path)
    assert "secret" not in str(caught.value)


def test_a_server_without_tools_has_none(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(
        "import json\nn = json.loads(input())['id']\n"
        "print(json.dumps({'id': n, 'result': {'capabilities': {}}}), flush=True)\ninput()\n"
    )
    assert ask({"command": sys.executable, "args": ["-I", str(script)]}, tmp_path) == {}


@pytest.mark.parametrize("streams", [False, True])
def test_a_server_over_http_is_asked_in_one_session(streams: bool, tmp_path: Path) -> None:
    with HttpServer(streams=streams) as server:
        assert list(ask({"type": "http", "url": server.url}, tmp_path)) == ["search"]
    sessions = [sent.get("mcp-session-id") for sent in server.headers]
    versions = [sent.get("mcp-protocol-version") for sent in server.headers]
    assert sessions == [None, "s1", "s1"]
    assert versions == [None, "2025-06-18", "2025-06-18"]


@pytest.mark.parametrize(
    "keys",
    [
        {"headers": {"Authorization": "Bearer ${TOKEN}"}},
        {"http_headers": {"Authorization": "Bearer ${TOKEN}"}},
        {"env_http_headers": {"Authorization": "HEADER"}},
        {"bearer_token_env_var": "TOKEN"},
    ],
)
def test_headers_are_sent_under_each_clients_name_for_them(
    keys: dict[str, Any], tmp_path: Path
) -> None:
    word = "fake" + "-token"
    with HttpServer(token=word) as server:
        found = ask({"url": server.url, **keys}, tmp_path, TOKEN=word, HEADER=f"Bearer {word}")
        assert list(found) == ["search"]
        with pytest.raises(CannotAsk, match="it answered 401"):
            ask({"url": server.url}, tmp_path)
