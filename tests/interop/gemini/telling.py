"""What Gemini CLI told its model and the person, taken out of a session."""

import json
from typing import Any

from hookline.lab.ports import Session
from interop.arena import conversation, texts

__all__ = ["heard", "results", "shown", "told_at"]


def heard(session: Session, word: str, lane: str = "") -> str:
    """All that the model was told after its call with ``word`` in the input, before it spoke again."""
    found = [text for call, text in results(session, lane) if word in call]
    assert found, f"the model never called anything with {word}"
    return "\n".join(found)


def results(session: Session, lane: str = "") -> list[tuple[str, str]]:
    """Each message with tool calls, and all that came after it, as the last request has them."""
    found: list[tuple[str, str]] = []
    for content in conversation(session, lane)[-1].body["contents"]:
        if content["role"] == "model":
            found.append((_calls(content), ""))
        elif found:
            call, text = found[-1]
            found[-1] = (call, f"{text}\n{texts(content['parts'])}")
    return [(call, text) for call, text in found if call]


def told_at(session: Session, number: int, lane: str = "") -> str:
    """All of one request of a conversation; -1 is the last."""
    return texts(conversation(session, lane)[number].body)


def shown(session: Session) -> str:
    """What the client says to the person beside the model's answer."""
    return session.stderr.decode(errors="replace")


def _calls(content: Any) -> str:
    parts = (part["functionCall"] for part in content["parts"] if "functionCall" in part)
    return "\n".join(f"{call['name']} {json.dumps(call['args'])}" for call in parts)
