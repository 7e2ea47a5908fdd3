"""How a runtime that follows BaseCoat reads a response envelope; nothing of the events it sends."""

from typing import Any

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import replace

from hookline.dialects._native import said
from hookline.dialects._wire import NO_REASON, crashed
from hookline.model.answers import PASS, Answer, Rewrite
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import Event, PromptEvent, ToolEvent
from hookline.model.verdicts import Verdict

__all__ = ["read_answer"]

# To block an end would be to keep going, which nobody asked for.
_UNBLOCKED = {"SessionEnd", "SubagentStop", "PostCompact"}


class _Response(Struct, frozen=True, kw_only=True, rename="camel"):
    action: str | None = None
    reason: str | None = None
    additional_context: list[str] | str = field(default_factory=list)
    warnings: list[str] | str = field(default_factory=list)
    modified_input: Any = None
    modified_output: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)


_KEYS = {*_Response.__struct_encode_fields__, "priority"}


def read_answer(
    native: str, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int
) -> Answer:
    """One envelope, or nothing at all; exit codes have no meaning but failure."""
    if exit_code != 0:
        raise crashed(exit_code, stderr)
    text = said(stdout)
    if not text:
        return PASS
    try:
        response = msgspec.json.decode(text, type=_Response)
        keys = msgspec.json.decode(text, type=dict[str, Raw]).keys()
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
        raise HandlerAnswerError(f"not a response envelope of BaseCoat's: {exc}") from exc
    if keys and not keys & _KEYS:
        # Most likely a verdict in another platform's words, which must not pass for none.
        raise HandlerAnswerError(f"not a response envelope: it has `{min(keys)[:60]}`")
    answer = _answer(native, response, event)
    return PASS if answer == PASS else answer


def _answer(native: str, response: _Response, event: Event) -> Answer:
    answer = Answer(
        context=_texts(response.additional_context),
        notice=_texts(response.warnings),
        metadata=response.metadata,
    )
    match response.action:
        case "passThrough" | "injectContext":
            return answer
        case "block":
            return _block(native, (response.reason or "").strip() or NO_REASON, answer)
        case "modify":
            return replace(answer, rewrite=_change(response, event))
        case None if not (response.reason or _changes(response)):
            return answer
        case _:
            raise HandlerAnswerError(f"no action is called `{response.action or ''}`")


def _block(native: str, reason: str, answer: Answer) -> Answer:
    if native in _UNBLOCKED:
        return replace(answer, notice=(*answer.notice, reason))
    verdict = Verdict.HALT if native == "SessionStart" else Verdict.DENY
    return replace(answer, verdict=verdict, reason=reason)


def _changes(response: _Response) -> bool:
    return response.modified_input is not None or response.modified_output is not None


def _change(response: _Response, event: Event) -> Rewrite:
    new, output = response.modified_input, response.modified_output
    if output is not None:
        text = output if isinstance(output, str) else msgspec.json.encode(output).decode()
        return Rewrite(output=text)
    if isinstance(event, ToolEvent) and isinstance(new, dict):
        return Rewrite(input=new)
    if isinstance(event, PromptEvent) and isinstance(new, str):
        return Rewrite(prompt=new)
    raise HandlerAnswerError("`modify` needs a `modifiedInput` or `modifiedOutput` of this event")


def _texts(value: list[str] | str) -> tuple[str, ...]:
    return tuple(filter(None, [value] if isinstance(value, str) else value))
