"""Claude Code in a conversation over its stdin: several prompts, and requests beside them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.lab.clients.claude_code import ClaudeCode
from hookline.lab.ports import Dialogue, Launch, Room, Wish
from hookline.lab.script import Script

__all__ = ["Spoken", "Talk"]


class Spoken(ClaudeCode, frozen=True, kw_only=True):
    """The client as programs use it that hold a conversation with it."""

    speak: Callable[["Talk"], None]

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """As ever, but the prompts come over stdin."""
        made = super().launch(room, url, program, script, wish)
        argv = (*made.argv[: made.argv.index("--")], "--input-format", "stream-json")
        return replace(made, argv=argv, talk=lambda dialogue: self.speak(Talk(dialogue)))


class Talk:
    """One such conversation."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._requests = 0

    def say(self, prompt: str) -> dict[str, Any]:
        """A prompt, and how the run for it ended."""
        self._write({"type": "user", "message": {"role": "user", "content": prompt}})
        return self._until(lambda said: said["type"] == "result")

    def request(self, **asked: Any) -> dict[str, Any]:
        """A request to the client itself, and its answer."""
        self._requests += 1
        own = f"request-{self._requests}"
        self._write({"type": "control_request", "request_id": own, "request": asked})
        said = self._until(
            lambda said: (
                said["type"] == "control_response" and said["response"]["request_id"] == own
            )
        )
        response: dict[str, Any] = said["response"]
        return response

    def _write(self, message: dict[str, Any]) -> None:
        self._dialogue.write(json.dumps(message).encode() + b"\n")

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while line := self._dialogue.readline():
            said: dict[str, Any] = json.loads(line)
            if wanted(said):
                return said
        raise AssertionError("the client ended before it said so")
