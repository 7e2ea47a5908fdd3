"""How JSON travels where a platform reads it more loosely than it is written."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.model.answers import Answer, Verdict
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerCrashed
from hookline.model.outcome import Outcome
from hookline.model.text import visible
from hookline.model.tools import Tool, ToolKind, ToolRow, ToolTable

__all__ = [
    "NO_REASON",
    "FoldingTools",
    "behaviour",
    "crashed",
    "decision",
    "folded",
    "joined",
    "line",
    "object_at",
    "permission",
    "read_object",
    "said",
    "text_at",
]

NO_REASON = "blocked by a hook that gave no reason"


def line(body: Mapping[str, Any]) -> bytes:
    """One line of JSON; what is no Unicode is spelled out, since a lost answer is a weaker one."""
    try:
        return msgspec.json.encode(body) + b"\n"
    except UnicodeEncodeError:
        import json  # only for text that is no Unicode

        return json.dumps(body).encode() + b"\n"


def behaviour(answer: Answer) -> dict[str, Any]:
    """Nothing at all leaves the question with the person, which is what ask and pass mean here."""
    if answer.verdict is Verdict.ALLOW:
        return {"behavior": "allow"}
    if answer.verdict is Verdict.DENY:
        return {"behavior": "deny", "message": answer.reason}
    if answer.verdict is Verdict.HALT:
        return {"behavior": "deny", "message": answer.reason, "interrupt": True}
    return {}


def decision(answer: Answer) -> dict[str, Any]:
    """The same where it stands in an object of its own."""
    found = behaviour(answer)
    return {"decision": found} if found else {}


def permission(
    outcome: Outcome, answer: Answer, final_input: Callable[[Outcome], dict[str, Any]]
) -> dict[str, Any]:
    """The words before a tool; ``continue: false`` alone would still run it, so a halt denies."""
    own: dict[str, Any] = {}
    verdict = Verdict.DENY if answer.verdict is Verdict.HALT else answer.verdict
    if verdict is not Verdict.PASS:
        own["permissionDecision"] = verdict.value
        if answer.reason:
            own["permissionDecisionReason"] = answer.reason
    if answer.rewrite.input is not None and verdict is not Verdict.DENY:
        own["updatedInput"] = final_input(outcome)
    return own


def crashed(exit_code: int, stderr: bytes) -> HandlerCrashed:
    """The failure of a hook whose exit code is no answer."""
    tail = visible(stderr.decode("utf-8", "replace").strip())[-500:]
    return HandlerCrashed(f"exit code {exit_code}" + (f": {tail}" if tail else ""))


def read_object(text: str, flaw: str) -> dict[str, Any]:
    """The object that a hook printed. Raises HandlerAnswerError, which begins with ``flaw``."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
        raise HandlerAnswerError(f"{flaw}: {exc}") from exc


def text_at(part: Mapping[str, Any], key: str) -> str | None:
    """The text under a key, if there is one. Raises HandlerAnswerError for anything else."""
    value = part.get(key)
    if value is not None and not isinstance(value, str):
        raise HandlerAnswerError(f"`{key}` must be a text")
    return value


def object_at(part: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """The object under a key, if there is one. Raises HandlerAnswerError for anything else."""
    value = part.get(key)
    if value is not None and not isinstance(value, dict):
        raise HandlerAnswerError(f"`{key}` must be an object")
    return value


def folded(data: Mapping[str, Any]) -> dict[str, Any]:
    """The object as Go finds its keys: without regard to case, the last of several."""
    return {key.casefold(): value for key, value in data.items()}


class FoldingTools(ToolTable):
    """The tools of a program that finds the keys of their input without regard to case, as Go does.

    A guard that knew `path` only would be walked round with `Path`.
    """

    def __init__(self, rows: Mapping[str, ToolRow], also: Collection[str] = ()) -> None:
        super().__init__(rows)
        self._also = frozenset(also)

    def strays(self, name: str, input: Mapping[str, Any]) -> dict[str, str]:
        """Keys that are spelled otherwise than the tool's own, and what each is taken for."""
        row = self.rows.get(name)
        if row is None:
            return {}
        known = {*row.keys.values(), *self._also}
        return {
            key: key.casefold() for key in input if key not in known and key.casefold() in known
        }

    def check(self, name: str, input: Mapping[str, Any]) -> None:
        """Raises DecodeError when one thing is said twice: which of them counts is a guess."""
        meant = list(self.strays(name, input).values())
        twice = next((key for key in meant if key in input or meant.count(key) > 1), None)
        if twice is not None:
            raise DecodeError(f"the input of `{visible(name)}` says `{twice}` more than once")

    def read(self, name: str, input: dict[str, Any], *, kind: ToolKind | None = None) -> Tool:
        """The canonical tool, however its keys are spelled; the exact spelling wins."""
        strays = self.strays(name, input)
        if not strays:
            return super().read(name, input, kind=kind)
        plain = {strays[key]: input[key] for key in strays}
        plain |= {key: value for key, value in input.items() if key not in strays}
        return replace(super().read(name, plain, kind=kind), input=input)


def joined(texts: tuple[str, ...]) -> str:
    """Several texts for one place."""
    return "\n\n".join(texts)


def said(stream: bytes) -> str:
    """A stream as text, without the white space round it."""
    return stream.decode("utf-8", "replace").strip()
