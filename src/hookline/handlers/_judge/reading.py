"""What a model's answer says, however it is wrapped; never milder than it may have been meant.

Knows the forms in which models and hooks say yes and no; must not know what follows from it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hookline.model.errors import HandlerAnswerError
from hookline.model.text import visible
from hookline.model.verdicts import BLOCKING, Verdict

__all__ = ["NO_REASON", "REASON_CAP", "Judgement", "decision_in", "judgement_in", "shortened"]

NO_REASON = "(the model gave no reason)"
REASON_CAP = 2_000
"""The longest reason that is passed on, in characters: it is a model's text, not the config's."""

_LONGEST = 200_000
_MOST_OBJECTS = 100
_FENCED = r"(?s)\A```[a-zA-Z0-9_-]*[ \t]*\n(.*?)\n?[ \t]*```\Z"

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
    "refuse": Verdict.DENY,
    # Nobody offered it that word; what it can say at most is no.
    "halt": Verdict.DENY,
}
_SAYING = {"verdict", "decision", "permissiondecision", "behavior"}
_AGREEING = {"ok", "allowed", "approved"}
_REASONS = {"reason", "permissiondecisionreason", "message", "explanation"}
_INSIDE = {"hookspecificoutput", "answer", "result", "output"}


class Judgement(Struct, frozen=True):
    """A model's verdict, its reason, and whether it says that what is asked cannot be done."""

    verdict: Verdict
    reason: str = ""
    impossible: bool = False


def judgement_in(text: str, quotable: str = "") -> Judgement:
    """The verdict in an answer. Raises HandlerAnswerError where there is none to be sure of.

    ``quotable`` is what the model was shown: an object that stands there word for word is no
    answer of the model's when it comes in the middle of a sentence.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise HandlerAnswerError(f"the model's answer is longer than {_LONGEST:,} characters")
    whole = _object(_unfenced(text))
    if whole is not None:
        judged = _judged(whole)
        if judged is not None:
            return judged
        raise HandlerAnswerError(_unreadable(text))
    found = [(written, _judged(each)) for written, each in _objects(text)]
    said = [(written, judged) for written, judged in found if judged is not None]
    blocking = [judged for _, judged in said if judged.verdict in BLOCKING]
    if blocking:
        return max(blocking, key=lambda judged: judged.verdict)
    if len(said) != 1 or _bare(said[0][0]) in _bare(quotable):
        raise HandlerAnswerError(_unreadable(text))
    return said[0][1]


def decision_in(text: str) -> tuple[str, str]:
    """docker-agent's way: from the first brace to the last, ``decision`` and ``reason``."""
    text = _unfenced(text.strip())
    start, end = text.find("{"), text.rfind("}")
    found = _strict(text[start : end + 1]) if 0 <= start < end else None
    if found is None:
        raise HandlerAnswerError(_unreadable(text))
    decision, reason = found.get("decision"), found.get("reason")
    word = decision.strip().lower() if isinstance(decision, str) else ""
    if word not in {"allow", "ask", "deny"}:
        raise HandlerAnswerError(f"the model's decision is not allow, ask or deny: {_shown(text)}")
    why = reason.strip() if isinstance(reason, str) else ""
    return word, shortened(why) or NO_REASON


def shortened(text: str) -> str:
    """A model's text, no longer than a reason should be."""
    text = text.strip()
    return text if len(text) <= REASON_CAP else f"{text[:REASON_CAP]}… (cut by hookline)"


def _bare(text: str) -> str:
    """Without what quoting changes: blanks, and the marks before quotation marks."""
    return re.sub(r"[\s\\]", "", text)


def _unreadable(text: str) -> str:
    if not text:
        return "the model answered nothing"
    return f"no verdict can be read in the model's answer: {_shown(text)}"


def _shown(text: str) -> str:
    short = visible(" ".join(text.split()))
    return short if len(short) <= 120 else f"{short[:120]}…"


def _unfenced(text: str) -> str:
    found = re.match(_FENCED, text)
    return found[1].strip() if found else text


def _judged(said: Mapping[str, Any]) -> Judgement | None:
    """The verdict of one object: of several words the strictest; None when it has none.

    Raises HandlerAnswerError for a word that means nothing: it may have been a no.
    """
    pairs = [(_plain(key), value) for key, value in said.items()]
    for key, inner in tuple(pairs):
        if key in _INSIDE and isinstance(inner, dict):
            pairs += [(_plain(each), value) for each, value in inner.items()]
    verdicts = [_verdict(key, value) for key, value in pairs]
    meant = [each for each in verdicts if each is not None]
    if not meant:
        return None
    reasons = [value for key, value in pairs if key in _REASONS and isinstance(value, str)]
    impossible = ("impossible", True) in pairs
    return Judgement(max(meant), shortened(next(iter(reasons), "")), impossible)


def _verdict(key: str, value: Any) -> Verdict | None:
    if key in _AGREEING:
        if not isinstance(value, bool):
            raise HandlerAnswerError(f"the model's `{key}` is neither true nor false")
        return Verdict.ALLOW if value else Verdict.DENY
    if key not in _SAYING:
        return None
    found = _WORDS.get(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        raise HandlerAnswerError(f"the model's `{key}` is no verdict: {_shown(str(value))}")
    return found


def _plain(key: str) -> str:
    return key.lower().replace("_", "")


# ── objects in text ─────────────────────────────────────────────────────────────────────────


def _objects(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object in a text, from left to right, those inside another not by themselves."""
    at = 0
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        end = _end(text, at)
        found = _object(text[at:end]) if end else None
        if found is not None:
            yield text[at:end], found
        at = end if found is not None else at + 1
    raise HandlerAnswerError(f"the model's answer has more than {_MOST_OBJECTS} objects in it")


def _end(text: str, start: int) -> int:
    """Behind the brace that closes the one at ``start``; 0 when none does."""
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(text)):
        sign = text[at]
        if quoted:
            escaped, quoted = sign == "\\" and not escaped, escaped or sign != '"'
        elif sign == '"':
            quoted = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return at + 1
    return 0


def _object(text: str) -> Mapping[str, Any] | None:
    """The text as one object, with commas too many forgiven; None when it is none."""
    if not text.startswith("{"):
        return None
    return _strict(text) or _strict(_without_last_commas(text))


def _strict(text: str) -> Mapping[str, Any] | None:
    import json  # only a judge's answer needs to be seen through so closely

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise HandlerAnswerError("the model's answer says the same key twice")
        return found

    try:
        found = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _without_last_commas(text: str) -> str:
    """Without commas before a closing bracket, outside of texts."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    parts[::2] = [re.sub(r",(\s*[}\]])", r"\1", part) for part in parts[::2]]
    return "".join(parts)
