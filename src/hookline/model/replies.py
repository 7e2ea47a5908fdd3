"""Answers compared, and several clients' replies put into one. Pure values."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hookline.model.answers import Answer, Verdict, deny
from hookline.model.outcome import Reply

__all__ = [
    "cap_at_deny",
    "find_reason",
    "is_as_strict",
    "merge_bodies",
    "read_body",
    "says_all",
    "says_as_much",
]

_DENIED = deny("denied")


def cap_at_deny(answer: Answer) -> Answer:
    """An answer that is no stricter than a deny."""
    return _DENIED if answer.verdict >= Verdict.DENY else answer


def is_as_strict(heard: Answer, meant: Answer, gate: bool) -> bool:
    """Nothing gets through that was meant to be held back or changed."""
    if heard.verdict < meant.verdict:
        return False
    if gate and heard.verdict >= Verdict.DENY:
        return True
    # Where there is no gate, a deny alone leaves the output that was to be replaced.
    changed = heard.rewrite == meant.rewrite
    return changed and bool(heard.follow_up) == bool(meant.follow_up)


def says_as_much(heard: Answer, meant: Answer, gate: bool) -> bool:
    """The same happens, though something beside it may be lost."""
    return heard.verdict is meant.verdict and is_as_strict(heard, meant, gate)


def says_all(heard: Answer, meant: Answer, gate: bool) -> bool:
    """Also the texts arrive."""
    return says_as_much(heard, meant, gate) and all(
        bool(getattr(heard, part)) >= bool(getattr(meant, part)) for part in ("context", "notice")
    )


def read_body(reply: Reply) -> dict[str, Any]:
    """The JSON object on stdout; empty when there is none."""
    try:
        body = msgspec.json.decode(reply.stdout)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def merge_bodies(bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All keys; of two values the first, since what comes of it is asked again afterwards."""
    whole: dict[str, Any] = {}
    for body in bodies:
        for key, value in body.items():
            known = whole.get(key)
            if isinstance(known, dict) and isinstance(value, dict):
                whole[key] = merge_bodies([known, value])
            else:
                whole.setdefault(key, value)
    return whole


def find_reason(body: Mapping[str, Any]) -> str:
    """A reason somewhere in an answer: exit 2 counts for some only with a text beside it."""
    places = (body, *(value for value in body.values() if isinstance(value, dict)))
    words = ("permissionDecisionReason", "reason", "message", "user_message", "stopReason")
    texts = (place.get(word) for word in words for place in places)
    found = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return f"{found or 'blocked by a hook'}\n"
