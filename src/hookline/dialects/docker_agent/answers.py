"""How docker-agent reads what a hook printed; knows nothing of payloads or replies."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from hookline.dialects._native import said
from hookline.dialects._wire import NO_REASON, crashed, folded
from hookline.model.answers import NO_REWRITE, PASS, Answer, Rewrite, Verdict, context
from hookline.model.errors import HandlerAnswerError

__all__ = ["PREEMPT", "PREEMPT_LANE", "advisory", "read_answer"]

PREEMPT_LANE = "pre_tool_use+preempt"
"""The lane before all approval. Its payload says pre_tool_use; only the entry tells it apart."""

PREEMPT = "preempt_yolo"
"""The key of an entry that puts it on that lane."""


_TEXT_IS_CONTEXT = {
    "session_start",
    "user_prompt_submit",
    "user_steering_messages_submit",
    "user_followup_submit",
    "turn_start",
    "post_tool_use",
    "pre_compact",
    "stop",
}
_DENIES = {
    "pre_tool_use",
    "permission_request",
    "user_prompt_submit",
    "pre_compact",
    "before_compaction",
    "worktree_create",
}
# A block here ends the run, not only the thing at hand.
_HALTS = {
    "post_tool_use",
    "user_steering_messages_submit",
    "user_followup_submit",
    "before_llm_call",
}
_PERMITS = {"pre_tool_use", "permission_request"}
_PERMISSIONS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}


class _Own(Struct, frozen=True, kw_only=True):
    permission_decision: str | None = None
    permission_decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    additional_context: str | None = None
    summary: str | None = None
    updated_messages: list[dict[str, Any]] | None = None
    updated_tool_response: str | None = None


class _Output(Struct, frozen=True, kw_only=True):
    going: bool | None = field(name="continue", default=None)
    stop_reason: str | None = None
    system_message: str | None = None
    decision: str | None = None
    reason: str | None = None
    own: _Own | None = field(name="hook_specific_output", default=None)


def read_answer(native: str, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
    """Exit 0 with JSON or text, exit 2 as a block; anything else is a failure."""
    text = said(stdout)
    if exit_code == 2:
        # The client reads stderr only, yet its own example prints the reason as JSON beside it.
        return _blocked(native, said(stderr) or _printed_reason(text) or NO_REASON)
    if exit_code != 0:
        raise crashed(exit_code, stderr)
    if not text.startswith("{"):
        return _plain(native, text)
    try:
        return _answer(native, _parse(text))
    except HandlerAnswerError:
        if native in _DENIES | _HALTS:
            raise  # half of a block must not pass for a remark
        return _plain(native, text)


def advisory(answer: Answer) -> Answer:
    """An answer on the preempt lane: an allow there is advice, and the input stays as it is."""
    if answer.verdict is Verdict.ALLOW:
        answer = replace(answer, verdict=Verdict.PASS, reason="")
    answer = replace(answer, rewrite=NO_REWRITE)
    return PASS if answer == PASS else answer


def _plain(native: str, text: str) -> Answer:
    if text and native == "worktree_create":
        return Answer(notice=(text,))
    return context(text) if text and native in _TEXT_IS_CONTEXT else PASS


def _parse(text: str) -> _Output:
    try:
        body = folded(msgspec.json.decode(text, type=dict[str, Any]))
        own = body.get("hook_specific_output")
        if isinstance(own, dict):
            body["hook_specific_output"] = folded(own)
        return msgspec.convert(body, _Output)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
        raise HandlerAnswerError(f"not an answer of docker-agent's: {exc}") from exc


def _printed_reason(text: str) -> str:
    try:
        output = _parse(text)
    except HandlerAnswerError:
        return text
    own = output.own or _Own()
    texts = (output.stop_reason, output.reason, own.permission_decision_reason)
    return "\n".join(each for each in (*texts, output.system_message) if each)


def _blocked(native: str, reason: str) -> Answer:
    if native in _HALTS:
        return Answer(verdict=Verdict.HALT, reason=reason)
    if native in _DENIES:
        return Answer(verdict=Verdict.DENY, reason=reason)
    return Answer(notice=(reason,))  # nothing can be blocked here, and nothing is continued


def _answer(native: str, output: _Output) -> Answer:
    own = output.own or _Own()
    if output.decision not in {None, "", "block"}:
        raise HandlerAnswerError(f"`decision` can be `block` only, not `{output.decision}`")
    verdict, reason = _permission(own)
    said = [output.stop_reason if output.going is False else None]
    said.append(output.reason if output.decision == "block" else None)
    if output.going is False or output.decision == "block":
        said.append(reason if verdict is Verdict.DENY else None)
        block = _blocked(native, "\n".join(filter(None, said)).strip() or NO_REASON)
    elif verdict in {Verdict.ASK, Verdict.DENY}:
        block = Answer(verdict=verdict, reason=reason.strip() or NO_REASON)
    else:
        block = Answer(verdict=verdict, reason=reason)
    texts = tuple(filter(None, (output.system_message,)))
    # Why a call may run is no secret to the model that made it.
    why = reason if block.verdict is Verdict.ALLOW and native in _PERMITS else ""
    extra = tuple(filter(None, (own.additional_context, why)))
    to_person = native == "worktree_create"
    answer = Answer(
        verdict=block.verdict,
        reason=block.reason,
        context=() if to_person else extra,
        notice=(*block.notice, *texts, *(extra if to_person else ())),
        rewrite=_rewrite(own),
        metadata=_metadata(own),
    )
    return PASS if answer == PASS else answer


def _permission(own: _Own) -> tuple[Verdict, str]:
    word = own.permission_decision
    if not word:
        return Verdict.PASS, ""
    if word not in _PERMISSIONS:
        raise HandlerAnswerError(f"`permission_decision` is `allow`, `ask` or `deny`, not `{word}`")
    return _PERMISSIONS[word], own.permission_decision_reason or ""


def _rewrite(own: _Own) -> Rewrite:
    """An empty summary or message list is no change; an empty response is one."""
    return Rewrite(
        input=own.updated_input,
        output=own.updated_tool_response,
        messages=own.updated_messages or None,
        summary=own.summary or None,
    )


def _metadata(own: _Own) -> dict[str, Any]:
    found: Mapping[str, str] = own.metadata or {}
    return dict(found)
