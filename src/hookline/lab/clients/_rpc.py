"""Speaks JSON-RPC with a client over its stdin and stdout, one message a line.

Knows requests, answers and what comes unasked; must not know any client's methods.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hookline.lab.ports import Dialogue
from hookline.model.errors import HooklineError

__all__ = ["Message", "Rpc"]

Message = Mapping[str, Any]


class Rpc:
    """One side of a conversation; the other side's questions are answered by ``answer``."""

    def __init__(self, dialogue: Dialogue, answer: Callable[[Message], Message]) -> None:
        self._dialogue = dialogue
        self._answer = answer
        self._number = 0
        self.heard: list[Message] = []
        """All that the client said of its own accord, in order."""
        self.questions: list[Message] = []
        """What of it were questions, which it waits for an answer to."""

    def request(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Ask the client for something, and its answer. Raises HooklineError if it refuses."""
        return self.reply(self.send(method, **params))

    def send(self, method: str, **params: Any) -> int:
        """Ask the client for something; `reply` hears the answer under this number."""
        self._number += 1
        self._tell({"id": self._number, "method": method, "params": params})
        return self._number

    def notify(self, method: str, **params: Any) -> None:
        """Tell the client something that it does not answer."""
        self._tell({"method": method, "params": params})

    def reply(self, number: int) -> Mapping[str, Any]:
        """The answer to a request. Raises HooklineError if it was refused."""
        while True:
            message = self._next()
            if message.get("id") != number or "method" in message:
                continue
            if "error" in message:
                raise HooklineError(f"the client refused a request: {_why(message['error'])}")
            result = message.get("result")
            return result if isinstance(result, dict) else {}

    def until(
        self, method: str, fits: Callable[[Mapping[str, Any]], bool] = lambda _: True
    ) -> Mapping[str, Any]:
        """The content of the next message of this kind that fits; all before it is heard too."""
        while True:
            message = self._next()
            params = message.get("params") or {}
            if message.get("method") == method and fits(params):
                return params

    def _next(self) -> Message:
        """The next message, noted, and answered if it is a question."""
        line = self._dialogue.readline()
        if not line:
            raise HooklineError("the client ended in the middle of a conversation")
        message = _decoded(line)
        if "method" in message:
            self.heard.append(message)
            if "id" in message:
                self.questions.append(message)
                self._tell({"id": message["id"], "result": self._answer(message)})
        return message

    def _tell(self, message: Message) -> None:
        whole = {"jsonrpc": "2.0", **message}
        self._dialogue.write(json.dumps(whole).encode() + b"\n")


def _decoded(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        shown = line[:200].decode(errors="replace").strip()
        raise HooklineError(f"the client said what is no message of JSON-RPC: {shown}")
    return message


def _why(error: object) -> str:
    said = error.get("message") if isinstance(error, dict) else None
    return str(said or error)
