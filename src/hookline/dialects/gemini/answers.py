"""Reads what a hook written for Gemini CLI said, by the client's own rules.

Text is stdout, or stderr when stdout is empty; JSON in it beats the exit code. What the client
would pass over in silence is a failed hook here, unless the hook blocked in the same breath.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.dialects._native import said
from hookline.dialects._wire import NO_REASON
from hookline.model.answers import NO_REWRITE, PASS, Answer, Rewrite, Verdict, deny, notice
from hookline.model.errors import HandlerAnswerError, HandlerCrashed
from hookline.model.events import Event
from hookline.model.text import visible

__all__ = ["read_answer"]

# The client's allow is no grant: it means no objection, and the question is still asked.
_DECISIONS = {
    "allow": Verdict.PASS,
    "approve": Verdict.PASS,
    "ask": Verdict.ASK,
    "deny": Verdict.DENY,
    "block": Verdict.DENY,
}
# What other hosts have no word for; it travels along for those that can use it.
_KEPT = ("llm_request", "llm_response", "toolConfig", "tailToolCallRequest", "clearContext")


def read_answer(
    event: Event, native: str, *, stdout: bytes, stderr: bytes, exit_code: int
) -> Answer:
    """The answer in a hook's output. Raises HandlerError for what the client calls a failure."""
    text = _text(stdout) or _text(stderr)
    body = _object(text)
    if body is not None:
        return _Reading(event, native, body).answer()
    # A program that is missing must not keep an agent going for ever, as it does in the client.
    crashed = exit_code not in {0, 2} if event.continues else exit_code == 1 or exit_code < 0
    if crashed or (exit_code and not text):
        tail = visible(text)[-500:]
        raise HandlerCrashed(f"exit code {exit_code}" + (f": {tail}" if tail else ", and no text"))
    if exit_code:
        return deny(text)
    if text.startswith(("{", "[")):
        raise HandlerAnswerError(f"not an answer of Gemini CLI's: {visible(text)[:200]}")
    return notice(text) if text else PASS


def _text(stream: bytes) -> str:
    # PowerShell writes a byte order mark, which the client takes for white space.
    return said(stream).strip("\ufeff").strip()


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object in a text, also when it was encoded twice."""
    try:
        value = _json(text)
        value = _json(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        # Half a surrogate pair is JSON to the client, and no reason to lose a deny.
        import json

        return json.loads(text)


class _Reading:
    """One answer on one event."""

    def __init__(self, event: Event, native: str, body: Mapping[str, Any]) -> None:
        own = body.get("hookSpecificOutput")
        self.event, self.native, self.body = event, native, body
        self.own: Mapping[str, Any] = own if isinstance(own, dict) else {}

    def answer(self) -> Answer:
        verdict, reason = self._verdict()
        if verdict is Verdict.PASS:
            self._check()
        extra, message = self.own.get("additionalContext"), self.body.get("systemMessage")
        kept = {key: self.own[key] for key in _KEPT if key in self.own}
        answer = Answer(
            verdict=verdict,
            reason=reason,
            context=(extra,) if isinstance(extra, str) and extra else (),
            notice=(str(message),) if message else (),
            rewrite=self._rewrite() if verdict < Verdict.DENY else NO_REWRITE,
            metadata={"gemini": kept} if kept else {},
        )
        return PASS if answer == PASS else answer

    def _verdict(self) -> tuple[Verdict, str]:
        given = self.body.get("stopReason") or self.body.get("reason")
        response = _spoken(self.own.get("llm_response"))
        reason = (str(given) if given else response).strip() or NO_REASON
        if self.body.get("continue") is False:
            return Verdict.HALT, reason
        word = self.body.get("decision")
        verdict = _DECISIONS.get(str(word)) if word else Verdict.PASS
        if verdict is None:
            known = ", ".join(_DECISIONS)
            raise HandlerAnswerError(f"`decision` is one of {known}, not {visible(repr(word))}")
        if verdict is not Verdict.PASS:
            return verdict, reason
        instead = self._replacement(response)
        return (Verdict.DENY, instead) if instead else (Verdict.PASS, "")

    def _replacement(self, response: str) -> str:
        """What takes the place of an output that the hook does not want to be seen."""
        if self.native == "AfterModel":
            return response
        tail = self.own.get("tailToolCallRequest")
        if self.native == "AfterTool" and isinstance(tail, dict):
            call = f"{tail.get('name')} with {tail.get('args')}"
            return f"A hook wants the result of another tool in place of this one. Call {call}"
        config = self.own.get("toolConfig")
        if self.native == "BeforeToolSelection" and isinstance(config, dict):
            return "a hook lets no tool be called here" if config.get("mode") == "NONE" else ""
        return ""

    def _rewrite(self) -> Rewrite:
        fields: dict[str, Any] = {}
        given, request = self.own.get("tool_input"), self.own.get("llm_request")
        if "input" in self.event.rewrites and isinstance(given, dict):
            fields["input"] = given
        messages = request.get("messages") if isinstance(request, dict) else None
        if "messages" in self.event.rewrites and isinstance(messages, list):
            fields["messages"] = messages
        return Rewrite(**fields) if fields else NO_REWRITE

    def _check(self) -> None:
        """Whatever the client would pass over although the hook meant it."""
        own, wanted = self.own, self.body.get("hookSpecificOutput")
        flaw = ""
        if not isinstance(wanted, dict | None):
            flaw = "`hookSpecificOutput` must be an object"
        elif not isinstance(self.body.get("continue"), bool | None):
            flaw = "`continue` must be true or false"
        elif own.get("permissionDecision") not in (None, "allow"):
            flaw = "`permissionDecision` is not read: say `decision` at the top"
        elif "updatedInput" in own and "tool_input" not in own:
            flaw = "`updatedInput` is not read: say `tool_input`"
        elif not isinstance(own.get("tool_input"), dict | None):
            flaw = "`tool_input` must be an object"
        elif not isinstance(own.get("additionalContext"), str | None):
            flaw = "`additionalContext` must be a text"
        if flaw:
            raise HandlerAnswerError(f"Gemini CLI passes over this answer: {flaw}")


def _spoken(response: Any) -> str:
    """The text of a model's answer, where the client would find one."""
    try:
        parts = response["candidates"][0]["content"]["parts"]
    except (KeyError, IndexError, TypeError):
        return ""
    each = parts if isinstance(parts, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in each]
    return "".join(text for text in texts if isinstance(text, str))
