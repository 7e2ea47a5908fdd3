"""What a model's answer says, however it is wrapped; never milder than it may have been meant.

Knows the forms in which an answer is written, and what its keys and words mean: a no counts
wherever it stands in an object, a yes only where an answer has its verdict.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hookline.model.answers import BLOCKING, Verdict
from hookline.model.errors import HandlerAnswerError
from hookline.model.text import visible

__all__ = ["NO_REASON", "REASON_CAP", "Judgement", "decision_in", "judgement_in"]

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


def _judged(said: Mapping[str, Any]) -> Judgement | None:
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
    return Judgement(max(meant), _shortened(next(iter(reasons), "")), impossible)


def _plain(key: str) -> str:
    """A key without case, blanks and signs."""
    return re.sub(r"[\W_]", "", key).lower()


def _shortened(text: str) -> str:
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
            key = _plain(name)
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


NO_REASON = "(the model gave no reason)"

_LONGEST = 200_000
_MOST_OBJECTS = 100

# All that may stand beside a yes. Any other word, in whatever language, may be the no that the
# object was only an example for.
_COURTESIES = frozenset(
    re.findall(
        r"\w+",
        "a an and answer anything as asked below command decision else fine following for good "
        "harmless here is it its json judgement judgment looks my object of ok okay output "
        "requested response result safe sure thank thanks that the this verdict yes you your",
    )
)
_HARMLESS_SIGNS = r"[\s.,:;!?'*#_`-]*"


def judgement_in(text: str, quotable: str = "") -> Judgement:
    """The verdict in an answer. Raises HandlerAnswerError where there is none to be sure of.

    ``quotable`` is what the model was shown: an object that stands there word for word is no
    answer of the model's when words stand beside it.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise HandlerAnswerError(f"the model's answer is longer than {_LONGEST:,} characters")
    found, beside = _taken_apart(text)
    said, doubts = _said(found)
    blocking = [each for _, each in said if each.verdict in BLOCKING]
    if blocking:
        return max(blocking, key=lambda each: each.verdict)
    if doubts:
        raise doubts[0]
    if len(said) != 1 or len(found) != 1 or not _is_courtesy(beside):
        raise HandlerAnswerError(_unreadable(text))
    if re.search(r"\w", beside) and _bare(said[0][0]) in _bare(quotable):
        raise HandlerAnswerError(_unreadable(text))
    return said[0][1]


def decision_in(text: str) -> tuple[str, str]:
    """docker-agent's way: from the first brace to the last, ``decision`` and ``reason``."""
    text = text.strip()
    start, end = text.find("{"), text.rfind("}")
    found = _strict(text[start : end + 1]) if 0 <= start < end else None
    if found is None:
        raise HandlerAnswerError(_unreadable(text))
    decision, reason = found.get("decision"), found.get("reason")
    word = decision.strip().lower() if isinstance(decision, str) else ""
    if word not in {"allow", "ask", "deny"}:
        raise HandlerAnswerError(f"the model's decision is not allow, ask or deny: {shown(text)}")
    # docker-agent reads keys in whatever case, and takes the last of them.
    meant = _judged(found)
    if sum(_plain(key) == "decision" for key in found) > 1 or (
        meant is not None and meant.verdict > Verdict(word)
    ):
        raise HandlerAnswerError(f"the model's decision contradicts itself: {shown(text)}")
    if word == "allow" and not _is_courtesy(text[:start] + " " + text[end + 1 :]):
        raise HandlerAnswerError(_unreadable(text))
    why = reason.strip() if isinstance(reason, str) else ""
    return word, _shortened(why) or NO_REASON


def _said(
    found: list[tuple[str, Mapping[str, Any]]],
) -> tuple[list[tuple[str, Judgement]], list[HandlerAnswerError]]:
    """What each object says, and what is wrong with those that say nothing clear."""
    said: list[tuple[str, Judgement]] = []
    doubts: list[HandlerAnswerError] = []
    for written, each in found:
        try:
            meant = _judged(each)
        except HandlerAnswerError as error:
            doubts.append(error)
        else:
            said += [(written, meant)] if meant is not None else []
    return said, doubts


def _is_courtesy(beside: str) -> bool:
    """Whether what stands beside an object cannot speak against it."""
    words = re.findall(r"[A-Za-z]+", beside)
    if not re.fullmatch(_HARMLESS_SIGNS, re.sub(r"[A-Za-z]+", "", beside)):
        return False
    return all(word.lower() in _COURTESIES for word in words)


def _bare(text: str) -> str:
    """Without what quoting changes: blanks, and the marks before quotation marks."""
    return re.sub(r"[\s\\]", "", text)


def _unreadable(text: str) -> str:
    if not text:
        return "the model answered nothing"
    return f"no verdict can be read in the model's answer: {shown(text)}"


# ── objects in text ─────────────────────────────────────────────────────────────────────────


def _taken_apart(text: str) -> tuple[list[tuple[str, Mapping[str, Any]]], str]:
    """The objects in a text, those inside another not by themselves, and what is beside them."""
    found, beside = _split(text)
    if "{" in beside:
        # Models write commas too many; what is an object without them was meant as one.
        again, rest = _split(_without_last_commas(text))
        if "{" not in rest:
            return again, rest
    return found, beside


def _split(text: str) -> tuple[list[tuple[str, Mapping[str, Any]]], str]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    beside: list[str] = []
    at = done = 0
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return found, " ".join([*beside, text[done:]])
        end = _end(text, at)
        if end:
            # Read again to see whether it says a key twice.
            each = _strict(text[at:end])
            assert each is not None
            found.append((text[at:end], each))
            beside.append(text[done:at])
            done = end
        at = end or at + 1
    raise HandlerAnswerError(f"the model's answer has more than {_MOST_OBJECTS} objects in it")


def _end(text: str, start: int) -> int:
    """Behind the object that begins at ``start``; 0 when none does."""
    import json  # only a judge's answer needs to be seen through so closely

    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return 0


def _strict(text: str) -> Mapping[str, Any] | None:
    import json

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
    # One that is not closed goes to the end, so that none is looked through twice.
    parts = re.split(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))', text, flags=re.DOTALL)
    parts[::2] = [re.sub(r",(\s*+[}\]])", r"\1", part) for part in parts[::2]]
    return "".join(parts)
