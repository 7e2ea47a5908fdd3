"""What is said to ``copilot --acp``, by the Agent Client Protocol.

This is where Copilot has somebody to ask: with a prompt on its command line it has nobody.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hookline.lab.clients._rpc import Message, Rpc
from hookline.lab.ports import Dialogue

__all__ = ["Talk", "approve", "refuse"]

_PROTOCOL = 1


def refuse(question: Message) -> Message:
    """The answer of a person who lets nothing through."""
    return _chosen(question, "reject_once")


def approve(question: Message) -> Message:
    """The answer of a person who lets everything through, once each."""
    return _chosen(question, "allow_once")


def _chosen(question: Message, kind: str) -> Message:
    options = question["params"].get("options") or ()
    found = next((each["optionId"] for each in options if each["kind"] == kind), None)
    if found is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": found}}


class Talk(Rpc):
    """One conversation: a session, its prompts, and all that the client told meanwhile."""

    def __init__(
        self,
        dialogue: Dialogue,
        project: str,
        *,
        answer: Callable[[Message], Message] = refuse,
    ) -> None:
        super().__init__(dialogue, answer)
        self._project = project
        self._session = ""
        self.request("initialize", protocolVersion=_PROTOCOL, clientCapabilities={})

    def begin(self) -> str:
        """A new session; its id."""
        result = self.request("session/new", cwd=self._project, mcpServers=[])
        self._session = str(result["sessionId"])
        return self._session

    def say(self, prompt: str) -> str:
        """One prompt to its end; why it ended, as in ``end_turn`` or ``cancelled``."""
        return self.finish(self.start(prompt))

    def start(self, prompt: str) -> int:
        """Say something without waiting for the end; the number that `finish` waits for."""
        words = [{"type": "text", "text": prompt}]
        return self.send("session/prompt", sessionId=self._session, prompt=words)

    def finish(self, number: int) -> str:
        """Wait for the end of a prompt; why it ended."""
        return str(self.reply(number).get("stopReason", ""))

    def cancel(self) -> None:
        """Stop what runs, as a person does with the escape key."""
        self.notify("session/cancel", sessionId=self._session)

    def until_tool_call(self) -> None:
        """Wait until the client is about to make a tool call."""
        self.until("session/update", _is_tool_call)


def _is_tool_call(params: Mapping[str, Any]) -> bool:
    update = params.get("update") or {}
    return bool(update.get("sessionUpdate") == "tool_call")
