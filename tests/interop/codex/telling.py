"""What Codex told its model and the person, taken out of a session."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.lab.clients._codex_talk import Talk
from hookline.lab.ports import Session
from interop.arena import conversation, texts

__all__ = ["heard", "results", "shown", "told"]

_CALLS = {"function_call", "custom_tool_call"}


def heard(session: Session, word: str, lane: str = "") -> str:
    """All that the model was told after its call with ``word`` in the input, before the next."""
    found = [text for call, text in results(session, lane) if word in call]
    assert found, f"the model never called anything with {word}"
    return "\n".join(found)


def results(session: Session, lane: str = "") -> list[tuple[str, str]]:
    """Each tool call of a conversation, and all that came after it, as the last request has them."""
    found: list[tuple[str, str]] = []
    for item in conversation(session, lane)[-1].body["input"]:
        if item["type"] in _CALLS:
            found.append((_called(item), ""))
        elif found:
            call, text = found[-1]
            found[-1] = (call, f"{text}\n{texts(item)}")
    return found


def told(session: Session, number: int, lane: str = "") -> str:
    """All of one request of a conversation; -1 is the last."""
    return texts(conversation(session, lane)[number].body["input"])


def shown(talk: Talk, event: str = "") -> str:
    """What the client shows the person of its hooks' own words; of one event if it is named."""
    runs = [each["params"]["run"] for each in talk.heard if each["method"] == "hook/completed"]
    entries = [
        entry
        for run in runs
        if run["eventName"] == event or not event
        for entry in run["entries"]
        if entry["kind"] == "warning"
    ]
    return texts([entry["text"] for entry in entries])


def _called(item: Mapping[str, Any]) -> str:
    """A call as one text, with its input unescaped."""
    given = item.get("arguments")
    arguments = texts(json.loads(given)) if given else item.get("input", "")
    return f"{item['name']} {arguments}"
