"""How GitHub's agents read what a hook printed: flat JSON, and an exit code of its own meaning.

Knows the answer's words on each event; must not know the event's payload.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hookline.dialects._native import said
from hookline.dialects._wire import NO_REASON, crashed, object_at, read_object, text_at
from hookline.model.answers import (
    BLOCKING,
    PASS,
    Answer,
    Rewrite,
    Verdict,
    context,
    deny,
    follow_up,
    notice,
)
from hookline.model.errors import HandlerAnswerError

__all__ = ["read"]

_DECISIONS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
_BLOCK = ("block", "allow", "approve")
Body = Mapping[str, Any]


def read(kind: str, *, pascal: bool, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
    """The answer to the event whose camelCase name is ``kind``; empty for one Copilot has not.

    ``rewrite.input`` is the new arguments as the hook gave them, whole. Raises HandlerError.
    """
    if exit_code == 2:
        return _exit_2(kind, stdout, stderr)
    if exit_code != 0:
        raise crashed(exit_code, stderr)
    reader = _READERS.get(kind)
    return reader(_body(stdout), pascal) if reader is not None else PASS


def _exit_2(kind: str, stdout: bytes, stderr: bytes) -> Answer:
    """A deny only where permission is at stake; elsewhere a warning to the person."""
    warning = said(stderr)
    match kind:
        case "preToolUse" | "":
            return deny(warning or "a hook exited with code 2")
        case "permissionRequest":
            return _permission_request({**_tolerant(stdout), "behavior": "deny"}, pascal=False)
        case "postToolUseFailure" if said(stdout):
            return context(said(stdout))
        case _:
            return notice(warning) if warning else PASS


def _body(stdout: bytes) -> dict[str, Any]:
    """What is left without progress lines, read once; text that is no JSON says nothing."""
    lines = [line for line in said(stdout).splitlines() if not _is_progress(line)]
    text = "\n".join(lines).strip()
    if not text.startswith("{"):
        return {}
    return read_object(text, "not an answer of Copilot's")


def _tolerant(stdout: bytes) -> dict[str, Any]:
    """The message beside an exit code that has decided already; what is no message is left out."""
    try:
        body = _body(stdout)
        return {"message": _text(body, "message"), "interrupt": body.get("interrupt")}
    except HandlerAnswerError:
        return {}


def _is_progress(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        found = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("type") == "progress"


# ── one reader for each event that reads anything ───────────────────────────────────────────


def _pre_tool_use(body: Body, pascal: bool) -> Answer:
    nested = object_at(body, "hookSpecificOutput") or {}
    own = nested if pascal else {}
    words = [word for each in (body, own) if (word := _choice(each, "permissionDecision"))]
    verdict = max((_DECISIONS[word] for word in words), default=Verdict.PASS)
    reasons = (_text(each, "permissionDecisionReason") for each in (body, own))
    fallback = NO_REASON if verdict in BLOCKING else ""
    changes = (
        object_at(each, key)
        for each, key in ((body, "modifiedArgs"), (body, "updatedInput"), (own, "updatedInput"))
    )
    return Answer(
        verdict=verdict,
        reason=next(filter(None, reasons), fallback),
        context=_texts(body, own),
        notice=_unheard(body, {} if pascal else nested),
        rewrite=Rewrite(input=next((args for args in changes if args is not None), None)),
    )


def _unheard(body: Body, nested: Body) -> tuple[str, ...]:
    """A refusal in words that Copilot does not read here: the tool runs, and somebody is told."""
    lost = {
        "decision": body.get("decision") in ("block", "deny"),
        "continue": body.get("continue") is False,
        "hookSpecificOutput": bool(nested.get("permissionDecision")),
    }
    return tuple(
        f"a hook said `{key}`, which Copilot does not read here: `permissionDecision` at the top "
        "level is what counts"
        for key, is_lost in lost.items()
        if is_lost
    )


def _permission_request(body: Body, pascal: bool) -> Answer:
    word = _choice(body, "behavior", ("allow", "deny"))
    message = _text(body, "message")
    if word == "deny":
        verdict = Verdict.HALT if body.get("interrupt") is True else Verdict.DENY
        return Answer(verdict=verdict, reason=message or NO_REASON)
    return Answer(verdict=Verdict.ALLOW, reason=message) if word else PASS


def _post_tool_use(body: Body, pascal: bool) -> Answer:
    result = object_at(body, "modifiedResult")
    if result is None:
        return _blockable(body, Rewrite())
    key = "textResultForLlm" if "textResultForLlm" in result else "text_result_for_llm"
    if key not in result:
        raise HandlerAnswerError("`modifiedResult` has no `textResultForLlm`")
    return _blockable(body, Rewrite(output=_text(result, key)))


def _user_prompt(body: Body, pascal: bool) -> Answer:
    if body.get("handled") is True:
        return deny(_text(body, "responseContent") or "a hook answered the prompt itself")
    return _blockable(body, Rewrite(prompt=_text(body, "modifiedPrompt") or None))


def _transformed(body: Body, pascal: bool) -> Answer:
    return Answer(rewrite=Rewrite(prompt=_text(body, "modifiedTransformedPrompt") or None))


def _stop(body: Body, pascal: bool) -> Answer:
    if _choice(body, "decision", _BLOCK) == "block":
        return follow_up(_text(body, "reason") or NO_REASON)
    if _text(body, "modifiedResponse"):
        return notice("a hook wanted another answer of the sub-agent, which only Copilot can do")
    return PASS


def _context_only(body: Body, pascal: bool) -> Answer:
    return Answer(context=_texts(body))


def _unknown_event(body: Body, pascal: bool) -> Answer:
    return _blockable(body, Rewrite())


def _blockable(body: Body, change: Rewrite) -> Answer:
    blocks = _choice(body, "decision", _BLOCK) == "block"
    return Answer(
        verdict=Verdict.DENY if blocks else Verdict.PASS,
        reason=(_text(body, "reason") or NO_REASON) if blocks else "",
        context=_texts(body),
        rewrite=change,
    )


# What is not here, Copilot does not read at all: sessionEnd, errorOccurred, preCompact.
_READERS: Mapping[str, Callable[[Body, bool], Answer]] = {
    "": _unknown_event,
    "preToolUse": _pre_tool_use,
    "permissionRequest": _permission_request,
    "postToolUse": _post_tool_use,
    "postToolUseFailure": _context_only,
    "userPromptSubmitted": _user_prompt,
    "userPromptTransformed": _transformed,
    "agentStop": _stop,
    "subagentStop": _stop,
    "sessionStart": _context_only,
    "subagentStart": _context_only,
    "notification": _context_only,
}


# ── values, each in its type or not an answer ───────────────────────────────────────────────


def _text(body: Body, key: str) -> str:
    return text_at(body, key) or ""


def _texts(*bodies: Body) -> tuple[str, ...]:
    return tuple(text for body in bodies if (text := _text(body, "additionalContext")))


def _choice(body: Body, key: str, known: tuple[str, ...] = tuple(_DECISIONS)) -> str:
    word = _text(body, key)
    if word and word not in known:
        raise HandlerAnswerError(f"`{key}` must be one of {', '.join(known)}")
    return word
