"""What a hook written for Cursor said: its own flat words, or Claude Code's nested ones."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.dialects._native import said
from hookline.dialects._wire import NO_REASON, crashed, object_at, read_object, text_at
from hookline.dialects.cursor.tools import mcp_text
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, deny
from hookline.model.errors import HandlerAnswerError

__all__ = ["read"]

_PERMISSION = {
    "preToolUse",
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "beforeTabFileRead",
    "subagentStart",
}
_CONTINUED = {"stop", "subagentStop"}
_CONTEXT = {"sessionStart", "postToolUse"}
_WORDS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}


def read(native: str, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
    """The answer. Raises HandlerError for what Cursor takes for a failed hook."""
    text = said(stdout)
    if exit_code == 2:
        reason = _why(text) or said(stderr) or text or NO_REASON
        # It denies a permission, and no permission is asked for when an agent ends.
        return Answer(notice=(reason,)) if native in _CONTINUED else deny(reason)
    if exit_code != 0:
        raise crashed(exit_code, stderr)
    if not text:
        return PASS
    body = _object(text)
    answer = _answer(body, _nested(body), native)
    return PASS if answer == PASS else answer


def _object(text: str) -> dict[str, Any]:
    return read_object(text, "Cursor takes one JSON object or nothing")


def _why(text: str) -> str:
    """The reason in what a hook printed before it left with 2."""
    try:
        body = _object(text)
        return _reason(body, _nested(body)) or _text(body, "reason")
    except HandlerAnswerError:
        return ""


def _nested(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_at(body, "hookSpecificOutput") or {}


def _answer(body: Mapping[str, Any], own: Mapping[str, Any], native: str) -> Answer:
    if native in _PERMISSION:
        return _permission(body, own, native)
    if native == "beforeSubmitPrompt":
        go_on = body.get("continue", True)
        if not isinstance(go_on, bool):
            raise HandlerAnswerError("`continue` must be true or false")
        return PASS if go_on else deny(_text(body, "user_message") or NO_REASON)
    if native in _CONTINUED:
        return _follow_up(body, own)
    if native == "preCompact":
        return Answer(notice=_maybe(_text(body, "user_message")))
    if native in _CONTEXT:
        output = body.get("updated_mcp_tool_output") if native == "postToolUse" else None
        # Cursor sets these for the session's later hooks; whoever can do so finds them here.
        env = body.get("env") if native == "sessionStart" else None
        return Answer(
            context=_maybe(_text(body, "additional_context")),
            rewrite=Rewrite(output=None if output is None else _shown(output)),
            metadata={"cursor": {"env": env}} if env else {},
        )
    return PASS


def _permission(body: Mapping[str, Any], own: Mapping[str, Any], native: str) -> Answer:
    words = [word for word in (_text(body, "permission"), _text(own, "permissionDecision")) if word]
    for word in words:
        if word not in _WORDS:
            raise HandlerAnswerError(f"`permission` is `{word}`: allow, deny or ask is wanted")
    # Which of the two counts is nowhere said, so the stricter does.
    verdict = max((_WORDS[word] for word in words), default=Verdict.PASS)
    if verdict is Verdict.ASK and native == "subagentStart":
        verdict = Verdict.DENY  # as Cursor takes it
    updated = body.get("updated_input", own.get("updatedInput"))
    if updated is not None and not isinstance(updated, dict):
        raise HandlerAnswerError("`updated_input` must be an object")
    reason = _reason(body, own) if words else ""
    shown = _text(body, "user_message")
    return Answer(
        verdict=verdict,
        reason=(reason or NO_REASON) if verdict >= Verdict.ASK else reason,
        notice=_maybe(shown) if verdict >= Verdict.ASK and shown != reason else (),
        rewrite=Rewrite(input=(updated or None) if native == "preToolUse" else None),
    )


def _follow_up(body: Mapping[str, Any], own: Mapping[str, Any]) -> Answer:
    text = _text(body, "followup_message")
    for part in (own, body):
        if not text and part.get("decision") == "block":
            text = _text(part, "reason")
    return Answer(follow_up=_maybe(text))


def _reason(body: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """What the agent is told; else what the person is."""
    words = (_text(body, "agent_message"), _text(body, "user_message"))
    return next(filter(str.strip, words), _text(own, "permissionDecisionReason"))


def _shown(output: Any) -> str:
    if isinstance(output, str):
        return output
    text = mcp_text(output)
    return msgspec.json.encode(output).decode() if text is None else text


def _maybe(text: str) -> tuple[str, ...]:
    return (text,) if text.strip() else ()


def _text(part: Mapping[str, Any], key: str) -> str:
    return text_at(part, key) or ""
