"""What a hook written for VS Code said, by that client's rules on where a word counts."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hookline.dialects._native import said
from hookline.dialects._wire import NO_REASON, crashed, object_at, read_object
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, deny
from hookline.model.errors import HandlerAnswerError

__all__ = ["read"]

_NEVER_STOPPED = {"SessionStart", "SubagentStart"}
_EXIT_2_IS_NOTHING = {"SessionStart", "SubagentStart", "PreCompact"}
_CONTINUED = {"Stop", "SubagentStop"}
# Where `decision` counts: beside hookSpecificOutput, inside it, or both.
_DECIDES_OUTSIDE = {"UserPromptSubmit", "PostToolUse", "SubagentStop"}
_DECIDES_INSIDE = {"Stop", "SubagentStop"}
# Output of the first is taken on the second as well, never the other way round.
_ALIASES = {("Stop", "SubagentStop"), ("SessionStart", "SubagentStart")}
_PERMISSIONS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}


def read(native: str, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
    """The answer. Raises HandlerError where the client would only log one."""
    if exit_code == 2:
        return _exit_2(native, stderr)
    if exit_code != 0:
        raise crashed(exit_code, stderr)
    text = said(stdout)
    if not text.startswith("{") or native == "PreCompact":
        return PASS  # the client keeps other text as it is, and reads nothing in it
    body = read_object(text, "not an answer of VS Code's")
    own = body.get("hookSpecificOutput") or {}
    if not isinstance(own, dict):
        raise HandlerAnswerError("`hookSpecificOutput` must be an object")
    whole = _misnamed(body, native, "hookEventName")
    if whole:
        raise HandlerAnswerError(whole)
    part = _misnamed(own, native, "hookSpecificOutput.hookEventName")
    answer = _answer(body, {} if part else own, native)
    if part and answer == PASS:
        raise HandlerAnswerError(part)
    if part:  # only that object is dropped, and what stands beside it counts
        return replace(answer, notice=(*answer.notice, part))
    return PASS if answer == PASS else answer


def _exit_2(native: str, stderr: bytes) -> Answer:
    reason = said(stderr)
    if native in _EXIT_2_IS_NOTHING or (native in _CONTINUED and not reason):
        raise crashed(2, stderr)
    return deny(reason or NO_REASON)


def _misnamed(part: Mapping[str, Any], native: str, where: str) -> str:
    """Why the client does not read this part; empty when it does."""
    name = part.get("hookEventName")
    if not isinstance(name, str) or name == native or (name, native) in _ALIASES:
        return ""
    return f"`{where}` is `{name}` and the event `{native}`: VS Code passes over such an answer"


def _answer(body: Mapping[str, Any], own: Mapping[str, Any], native: str) -> Answer:
    notes = (body["systemMessage"],) if _has(body, "systemMessage") else ()
    stop = body.get("stopReason")
    stopped = isinstance(stop, str) or body.get("continue") is False
    if stopped and native in _NEVER_STOPPED:
        return Answer(notice=notes)
    if stopped:
        # Whatever else is said, and however badly: the client looks at this first.
        verdict, reason = Verdict.HALT, stop or _reason(body, own)
    else:
        verdict, reason = _decision(body, own, native)
    if verdict >= Verdict.ASK and not reason.strip():
        reason = NO_REASON
    extra = own if native != "UserPromptSubmit" or _has(own, "additionalContext") else body
    updated = object_at(own, "updatedInput") if native == "PreToolUse" and not stopped else None
    takes_context = native not in _CONTINUED and _has(extra, "additionalContext")
    return Answer(
        verdict=verdict,
        reason=reason,
        notice=notes,
        context=(extra["additionalContext"],) if takes_context else (),
        rewrite=Rewrite(input=updated or None),
    )


def _decision(body: Mapping[str, Any], own: Mapping[str, Any], native: str) -> tuple[Verdict, str]:
    if native == "PreToolUse":
        word = own.get("permissionDecision")
        if word:
            if not isinstance(word, str) or word not in _PERMISSIONS:
                raise HandlerAnswerError(f"`permissionDecision` is `{word}`, which is no decision")
            return _PERMISSIONS[word], _text(own, "permissionDecisionReason")
    blocks = [part for part in (own, body) if _text(part, "decision") in {"block", "deny"}]
    for part in blocks:
        counts = _DECIDES_INSIDE if part is own else _DECIDES_OUTSIDE
        if native in counts and part["decision"] == "block":
            reason = _text(part, "reason")
            if native in _CONTINUED and not reason.strip():
                raise HandlerAnswerError(f"a block on {native} counts only with a `reason`")
            return Verdict.DENY, reason
    if blocks:
        where = "inside `hookSpecificOutput`" if native == "Stop" else "as VS Code documents it"
        raise HandlerAnswerError(f"`decision` does not count here on {native}; say it {where}")
    return Verdict.PASS, ""


def _reason(body: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    words = (_text(own, "permissionDecisionReason"), _text(own, "reason"), _text(body, "reason"))
    return next(filter(str.strip, words), "")


def _has(part: Mapping[str, Any], key: str) -> bool:
    return bool(_text(part, key))


def _text(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""
