"""MCP servers for tests: one that tells of the tools in a file, hostile ones, and one over HTTP."""

import json
import sys
from pathlib import Path
from typing import Any

from support.loopback import Loopback, Quiet

__all__ = ["HOSTILE", "HttpServer", "Toolbox"]

# Reads its tools anew each time, so that a server changes what it says and not how it is started.
_PROGRAM = """
import json, os, sys
tools = json.load(open(sys.argv[1]))
with open(sys.argv[1] + ".started", "a") as log:
    log.write(json.dumps({"cwd": os.getcwd(), "env": dict(os.environ)}) + "\\n")
PAGE = 2
def answer(message):
    if message["method"] == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "toolbox", "version": "1"}}
    start = int(message.get("params", {}).get("cursor") or 0)
    page = {"tools": tools[start:start + PAGE]}
    if start + PAGE < len(tools):
        page["nextCursor"] = str(start + PAGE)
    return page
print("", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}))
    print(json.dumps({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
    print(json.dumps({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}), flush=True)
    pong, roots = json.loads(sys.stdin.readline()), json.loads(sys.stdin.readline())
    assert pong == {"jsonrpc": "2.0", "id": "p", "result": {}}, pong
    assert roots["error"]["code"] == -32601, roots
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}), flush=True)
"""

_BEGINS = """
import json, sys, time
def answer(result, number):
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
def begin():
    number = json.loads(sys.stdin.readline())["id"]
    answer({"capabilities": {"tools": {}}}, number)
    sys.stdin.readline()
    return json.loads(sys.stdin.readline())["id"]
"""

HOSTILE = {
    "never answers": ("import time\nwhile True: time.sleep(1)", "no answer within"),
    "ignores every signal": (
        "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        "no answer within",
    ),
    "never ends its line": (
        "import sys\nwhile True: sys.stdout.write('x' * 65536)",
        "says more than is listened to",
    ),
    "never ends its talk": (
        "import sys\nwhile True: sys.stdout.write('{}\\n' * 4096)",
        "says more than is listened to",
    ),
    "speaks no JSON": ("print('hello', flush=True)\ninput()", "no JSON-RPC"),
    "ends at once": ("import sys\nsys.exit('out of order')", "ended before it answered: out of"),
    "answers with an error": (
        "import json\nn = json.loads(input())['id']\n"
        "print(json.dumps({'id': n, 'error': {'message': 'no'}}), flush=True)\ninput()",
        "answered with an error: no",
    ),
    "has ten thousand tools": (
        _BEGINS + "n = begin()\nanswer({'tools': [{'name': f't{i}'} for i in range(10000)]}, n)",
        "more than 2,000 tools",
    ),
    "has pages without end": (
        _BEGINS + "n = begin()\nwhile True:\n    answer({'tools': [], 'nextCursor': 'x'}, n)\n"
        "    n = json.loads(sys.stdin.readline())['id']",
        "more than 200 pages",
    ),
    "names a tool twice": (
        _BEGINS + "n = begin()\nanswer({'tools': [{'name': 'a'}, {'name': 'a'}]}, n)",
        "two of its tools are called `a`",
    ),
    "has a tool without a name": (
        _BEGINS + "n = begin()\nanswer({'tools': [{}]}, n)",
        "has no name",
    ),
    "has no list": (_BEGINS + "n = begin()\nanswer({'tools': 3}, n)", "no list of tools"),
}
"""By what it does, a server's program and what is said of it."""


class Toolbox:
    """A server over stdio with the tools of a file."""

    def __init__(self, folder: Path, name: str = "toolbox") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._program = folder / "server.py"
        self._program.write_text(_PROGRAM, encoding="utf-8")
        self._file = folder / f"{name}.json"
        self.has(search="Finds things.", delete="Deletes things.", count="Counts things.")

    def has(self, **descriptions: str) -> None:
        """Tell of these tools from now on."""
        schema = {"type": "object", "properties": {"what": {"type": "string"}}}
        tools = [
            {"name": name, "description": text, "inputSchema": schema}
            for name, text in descriptions.items()
        ]
        self.tells(tools)

    def tells(self, tools: list[dict[str, Any]]) -> None:
        """Tell of exactly this."""
        self._file.write_text(json.dumps(tools), encoding="utf-8")

    @property
    def definition(self) -> dict[str, Any]:
        """How a client starts it."""
        return {"command": sys.executable, "args": ["-I", str(self._program), str(self._file)]}

    @property
    def starts(self) -> list[dict[str, Any]]:
        """Each time it was started: where, and with which environment."""
        log = self._file.with_name(f"{self._file.name}.started")
        lines = log.read_text().splitlines() if log.exists() else []
        return [json.loads(line) for line in lines]


class HttpServer(Loopback):
    """A server over streamable HTTP, which answers in JSON or in a stream of events."""

    def __init__(self, *, streams: bool = False, token: str = "", status: int = 200) -> None:
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(Quiet):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                sent = {name.lower(): value for name, value in self.headers.items()}
                outer.headers.append(sent)
                if status != 200 or (token and sent.get("authorization") != f"Bearer {token}"):
                    self._reply(status if status != 200 else 401, "text/plain", b"no")
                elif "id" not in message:
                    self._reply(202, "text/plain", b"")
                elif message["method"] != "initialize" and sent.get("mcp-session-id") != "s1":
                    self._reply(400, "text/plain", b"no session")
                else:
                    self._answer(message)

            def _answer(self, message: dict[str, Any]) -> None:
                if message["method"] == "initialize":
                    result: dict[str, Any] = {
                        "protocolVersion": "2025-06-18",
                        "capabilities": {"tools": {}},
                    }
                else:
                    result = {"tools": [{"name": "search", "description": "Finds things."}]}
                body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
                if not streams:
                    self._reply(200, "application/json", body.encode())
                    return
                other = json.dumps({"jsonrpc": "2.0", "method": "notifications/message"})
                events = f": hello\n\nevent: message\ndata: {other}\n\ndata: {body}\n\n"
                self._reply(200, "text/event-stream", events.encode())

            def _reply(self, code: int, kind: str, body: bytes) -> None:
                self.send_response(code)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.send_header("mcp-session-id", "s1")
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)
        self.url = f"{self.origin}/mcp"
