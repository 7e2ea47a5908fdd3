"""What an object that a model wrote means: which of its keys and words say yes and which no.

A no counts wherever it stands in the object, a yes only where an answer has its verdict.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hookline.model.errors import HandlerAnswerError
from hookline.model.text import visible
from hookline.model.verdicts import BLOCKING, Verdict

__all__ = ["REASON_CAP", "Judgement", "judged", "plain", "shortened", "shown"]

REASON_CAP = 2_000
"""The longest reason that is passed on, in characters: it is a model's text, not the config's."""

_WORDS: Mapping[str, Verdict] = {
    "allow": Verdict.ALLOW,
    "allowed": Verdict.ALLOW,
    "approve": Verdict.ALLOW,
    "approved": Verdict.ALLOW,
    "pass": Verdict.PASS,
    "ask": Verdict.ASK,
    "deny": Verdict.DENY,
    "denied": Verdict.DENY,
    "block": Verdict.DENY,
    "blocked": Verdict.DENY,
    "reject": Verdict.DENY,
    "rejected": Verdict.DENY,
    "refuse": Verdict.DENY,
    "refused": Verdict.DENY,
    # Nobody offered it that word; what it can say at most is no.
    "halt": Verdict.DENY,
}
_SAYING = r"verdict|decision|behaviou?r|judge?ment|ruling"
_AGREEING = {"ok", "allowed", "approved"}
# They say yes to something; that nothing else is meant is not sure enough to be a verdict.
_ASSENTING = {"allow", "approve", "continue", "pass", "passed", "permitted", "proceed", "safe"}
_REFUSING = {
    *(word for word, verdict in _WORDS.items() if verdict in BLOCKING),
    *("stop", "stopped", "forbidden", "unsafe", "dangerous", "harmful"),
}
_REASONS = {"reason", "permissiondecisionreason", "message", "explanation"}
_EXPLAINS = r"(?:reason|reasons|reasoning|explanation|message|text|note|notes)\Z"
_INSIDE = {"hookspecificoutput", "answer", "result", "output"}


class Judgement(Struct, frozen=True):
    """A model's verdict, its reason, and whether it says that what is asked cannot be done."""

    verdict: Verdict
    reason: str = ""
    impossible: bool = False


def judged(said: Mapping[str, Any]) -> Judgement | None:
    """The verdict of one object: of several words the strictest; None when it has none.

    Raises HandlerAnswerError for a word that means nothing: it may have been a no.
    """
    pairs = list(_pairs(said))
    meant: list[Verdict] = []
    doubts: list[HandlerAnswerError] = []
    for key, value, counts in pairs:
        try:
            verdict = _verdict(key, value)
        except HandlerAnswerError as error:
            doubts.append(error)
        else:
            meant += [verdict] if verdict is not None and (counts or verdict in BLOCKING) else []
    if doubts and not BLOCKING.intersection(meant):
        raise doubts[0]
    if not meant:
        return None
    reasons = [value for key, value, _ in pairs if key in _REASONS and isinstance(value, str)]
    impossible = ("impossible", True, True) in pairs
    return Judgement(max(meant), shortened(next(iter(reasons), "")), impossible)


def plain(key: str) -> str:
    """A key without case, blanks and signs."""
    return re.sub(r"[\W_]", "", key).lower()


def shortened(text: str) -> str:
    """A model's text, no longer than a reason should be."""
    text = text.strip()
    return text if len(text) <= REASON_CAP else f"{text[:REASON_CAP]}… (cut by hookline)"


def shown(text: str) -> str:
    """The beginning of a model's text, for an error."""
    short = visible(" ".join(text.split()))
    return short if len(short) <= 120 else f"{short[:120]}…"


def _pairs(said: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Every key with its value at any depth, and whether a yes there is an answer's."""
    left: list[tuple[Mapping[str, Any], int]] = [(said, 0)]
    for each, depth in left:
        for name, value in each.items():
            key = plain(name)
            yield key, value, depth <= 1
            inner = 1 if depth == 0 and key in _INSIDE else 2
            left += [(found, inner if found is value else 2) for found in _objects(value)]


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """The value if it is an object, or the objects in a list, however deep in lists."""
    found: list[Mapping[str, Any]] = []
    left = [value]
    for each in left:
        if isinstance(each, dict):
            found.append(each)
        elif isinstance(each, list):
            left += each
    return found


def _verdict(key: str, value: Any) -> Verdict | None:
    if key in _AGREEING:
        if not isinstance(value, bool):
            raise HandlerAnswerError(f"the model's `{key}` is neither true nor false")
        return Verdict.ALLOW if value else Verdict.DENY
    if key in _ASSENTING or key in _REFUSING:
        return _contradiction(key, value)
    if isinstance(value, dict | list):
        return _listed(value)
    word = _WORDS.get(value.strip(" \t\n.!").lower()) if isinstance(value, str) else None
    if re.search(_EXPLAINS, key):
        return None
    if not re.search(_SAYING, key):
        return word if word in BLOCKING else None
    if word is None:
        raise HandlerAnswerError(f"the model's `{key}` is no verdict: {shown(str(value))}")
    # A yes has its own name; `first_verdict` may not be the last.
    return word if word in BLOCKING or re.fullmatch(f"(?:permission)?(?:{_SAYING})", key) else None


def _contradiction(key: str, value: Any) -> Verdict | None:
    """The no in a key that is no verdict, such as ``"deny": true``."""
    if value is (key in _ASSENTING):
        return None
    if isinstance(value, bool):
        return Verdict.ASK if key == "ask" else Verdict.DENY
    if value is None or isinstance(value, dict | list):
        return _listed(value or [])
    raise HandlerAnswerError(f"the model's `{key}` is neither true nor false")


def _listed(value: Mapping[str, Any] | list[Any]) -> Verdict | None:
    """A no that stands by itself in a list."""
    words = [each.strip().lower() for each in value if isinstance(each, str)]
    return Verdict.DENY if isinstance(value, list) and _REFUSING.intersection(words) else None
