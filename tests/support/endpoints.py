"""A model's server on loopback that answers what a test says, in OpenAI's wire format."""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, NamedTuple

from support.loopback import Loopback, Quiet

__all__ = ["Asked", "Calls", "Endpoint", "Raw", "Reply", "completion"]


class Asked(NamedTuple):
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        decoded: dict[str, Any] = json.loads(self.raw)
        return decoded

    def said(self, role: str) -> str:
        """The text of all messages of a role."""
        found = (each["content"] for each in self.body["messages"] if each["role"] == role)
        return "\n".join(text for text in found if isinstance(text, str))


class Raw(NamedTuple):
    """A response that is no model's answer."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}


class Calls(NamedTuple):
    """Tool calls of the model's: names with their arguments."""

    calls: tuple[tuple[str, Mapping[str, Any]], ...]


Reply = str | Raw | Calls | Callable[[BaseHTTPRequestHandler, threading.Event], None]
"""Text of the model's, something else, or a function that writes by itself until the end."""


class Endpoint(Loopback):
    """Gives its replies in order, and the last one to whoever asks again."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self._lock = threading.Lock()
        self.ended = threading.Event()
        self.asked: list[Asked] = []
        endpoint = self

        class Handler(Quiet):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                endpoint._serve(self)

        super().__init__(Handler)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended.set()
        super().__exit__(kind, error, trace)

    @property
    def url(self) -> str:
        """What a config says as `endpoint`."""
        return f"{self.origin}/v1"

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        names = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            self.asked.append(Asked(handler.path, names, raw))
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if callable(reply) and not isinstance(reply, tuple):
            handler.close_connection = True
            reply(handler, self.ended)
            return
        status, body, headers = reply if isinstance(reply, Raw) else Raw(200, completion(reply))
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


def completion(reply: Any, finish: str = "stop") -> bytes:
    """A model's answer, as the wire has it."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(reply, Calls):
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(reply.calls)
        ]
    else:
        message["content"] = reply
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "scripted",
            "choices": [choice],
            "usage": {"prompt_tokens": 120, "completion_tokens": 15, "total_tokens": 135},
        }
    ).encode()
