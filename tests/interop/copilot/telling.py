"""What Copilot CLI told its model and the person, taken out of a session."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.lab.ports import Session
from interop.arena import conversation, texts

__all__ = ["heard", "lines", "results", "told_at", "warned"]


def heard(session: Session, word: str, lane: str = "") -> str:
    """All that the model was told after its call with ``word`` in the input, before it spoke again.

    Of a call that a hook rewrote the model is shown the new words, as if they were its own.
    """
    found = [text for call, text in results(session, lane) if word in call]
    assert found, f"the model never called anything with {word}"
    return "\n".join(found)


def results(session: Session, lane: str = "") -> list[tuple[str, str]]:
    """Each message with tool calls, and all that came after it, as the last request has them."""
    found: list[tuple[str, str]] = []
    for message in conversation(session, lane)[-1].body["messages"]:
        if message["role"] == "assistant":
            found.append((_calls(message), ""))
        elif found:
            call, text = found[-1]
            found[-1] = (call, f"{text}\n{texts(message['content'])}")
    return [(call, text) for call, text in found if call]


def told_at(session: Session, number: int, lane: str = "") -> str:
    """All of one request of a conversation; -1 is the last."""
    return texts(conversation(session, lane)[number].body)


def lines(session: Session) -> list[Mapping[str, Any]]:
    """What the client printed for the person's programs."""
    return [json.loads(line) for line in session.stdout.splitlines() if line.startswith(b"{")]


def warned(session: Session) -> str:
    """What the client warned the person of."""
    return texts([each["data"] for each in lines(session) if each["type"] == "session.warning"])


def _calls(message: Mapping[str, Any]) -> str:
    called = (call["function"] for call in message.get("tool_calls") or ())
    return "\n".join(f"{each['name']} {each['arguments']}" for each in called)
