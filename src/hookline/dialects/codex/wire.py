"""What Codex takes for an answer, event by event: as strict as the client, and silent on nothing.

The client voids an answer that does not fit and goes on; here that is a HandlerAnswerError.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from hookline.model.answers import PASS, Answer, Rewrite, Verdict
from hookline.model.errors import HandlerAnswerError

__all__ = ["OBSERVES", "TEXT_FAILS", "TEXT_IS_CONTEXT", "read"]

OBSERVES = frozenset({"SessionEnd", "PreModelRequest", "PostModelRequest"})
"""Events on which the client reads nothing."""
TEXT_IS_CONTEXT = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit"})
TEXT_FAILS = frozenset({"Stop", "SubagentStop", "Interrupt"})


class _Strict(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Any key the client does not know voids the whole answer."""


class _Said(_Strict, frozen=True):
    goes_on: bool = field(default=True, name="continue")
    stop_reason: str | None = None
    suppress_output: bool = False
    system_message: str | None = None


class _Own(_Strict, frozen=True):
    hook_event_name: str  # needed, but the client does not mind which
    additional_context: str | None = None


class _WithContext(_Said, frozen=True):
    hook_specific_output: _Own | None = None


class _Blocking(_Said, frozen=True):
    decision: Literal["block"] | None = None
    reason: str | None = None


class _Prompt(_Blocking, frozen=True):
    hook_specific_output: _Own | None = None


class _OwnPost(_Own, frozen=True):
    updated_mcp: Any = field(default=None, name="updatedMCPToolOutput")


class _Post(_Blocking, frozen=True):
    hook_specific_output: _OwnPost | None = None


class _OwnPre(_Own, frozen=True):
    permission_decision: Literal["allow", "deny", "ask"] | None = None
    permission_decision_reason: str | None = None
    updated_input: Any = None


class _Pre(_Said, frozen=True):
    decision: Literal["approve", "block"] | None = None
    reason: str | None = None
    hook_specific_output: _OwnPre | None = None


class _Decision(_Strict, frozen=True):
    behavior: Literal["allow", "deny"]
    message: str | None = None
    updated_input: Any = None
    updated_permissions: Any = None
    interrupt: bool = False


class _OwnPermission(_Strict, frozen=True):
    hook_event_name: str
    decision: _Decision | None = None


class _Permission(_Said, frozen=True):
    hook_specific_output: _OwnPermission | None = None


class _Notice(_Strict, frozen=True):
    system_message: str | None = None


def _pre_tool_use(said: _Pre) -> Answer:
    _no_control(said)
    own = said.hook_specific_output or _OwnPre("PreToolUse")
    given = own.permission_decision, own.permission_decision_reason, own.updated_input
    if given == (None, None, None):
        if said.decision == "approve":
            raise HandlerAnswerError("`approve` is not supported")
        return _with(_blocked(said.decision, said.reason), own, said)
    word, why, changed = given
    if changed is not None and word != "allow":
        raise HandlerAnswerError("`updatedInput` needs `permissionDecision: allow`")
    if word == "deny":
        return _with(_deny(why), own, said)
    if word != "allow" or changed is None:
        flaw = f"`permissionDecision: {word}` is not supported here" if word else "no decision"
        raise HandlerAnswerError(flaw)
    if not isinstance(changed, dict):
        raise HandlerAnswerError("`updatedInput` must be an object")
    # The client's own question still comes after this, so it grants nothing.
    return _with(Answer(rewrite=Rewrite(input=changed)), own, said)


def _permission_request(said: _Permission) -> Answer:
    _no_control(said)
    decision = said.hook_specific_output.decision if said.hook_specific_output else None
    if decision is None:
        return _noted(PASS, said)
    reserved = decision.updated_input, decision.updated_permissions
    if reserved != (None, None) or decision.interrupt:
        raise HandlerAnswerError("only `behavior` and `message` are supported in a decision")
    if decision.behavior == "allow":
        return _noted(Answer(verdict=Verdict.ALLOW), said)
    return _noted(_deny(_or(decision.message, "PermissionRequest hook denied approval")), said)


def _post_tool_use(said: _Post) -> Answer:
    own = said.hook_specific_output or _OwnPost("PostToolUse")
    if said.suppress_output or own.updated_mcp is not None:
        raise HandlerAnswerError("`suppressOutput` and `updatedMCPToolOutput` are not supported")
    if not said.goes_on:
        # The client's loop goes on after this; only the output is withheld.
        text = _or(said.reason, _or(said.stop_reason, "PostToolUse hook stopped execution"))
        return _with(_deny(text), own, said)
    return _with(_blocked(said.decision, said.reason), own, said)


def _prompt(said: _Prompt) -> Answer:
    if not said.goes_on:
        return _with(_halt(said, "UserPromptSubmit"), said.hook_specific_output, said)
    reason = said.reason if said.decision else None
    return _with(_blocked(said.decision, reason), said.hook_specific_output, said)


def _session_start(said: _WithContext) -> Answer:
    answer = PASS if said.goes_on else _halt(said, "SessionStart")
    return _with(answer, said.hook_specific_output, said)


def _subagent_start(said: _WithContext) -> Answer:
    return _with(PASS, said.hook_specific_output, said)


def _stop(said: _Blocking) -> Answer:
    return _noted(_continued(said) if said.goes_on else _halt(said, "Stop"), said)


def _subagent_stop(said: _Blocking) -> Answer:
    # ``continue: false`` lets this one agent end; a halt would end everybody's run.
    return _noted(_continued(said) if said.goes_on else PASS, said)


def _compact(said: _Said) -> Answer:
    return _noted(PASS if said.goes_on else _halt(said, "Compaction"), said)


def _interrupt(said: _Notice) -> Answer:
    return _noted(PASS, said)


def _no_control(said: _Said) -> None:
    if not said.goes_on or said.stop_reason is not None or said.suppress_output:
        raise HandlerAnswerError("`continue`, `stopReason`, `suppressOutput` are not supported")


def _deny(reason: str | None) -> Answer:
    if reason is None or not reason.strip():
        raise HandlerAnswerError("a block needs a reason; without one the client goes on")
    return Answer(verdict=Verdict.DENY, reason=reason.strip())


def _blocked(decision: str | None, reason: str | None) -> Answer:
    if decision == "block":
        return _deny(reason)
    if reason is not None:
        raise HandlerAnswerError("`reason` without a decision")
    return PASS


def _continued(said: _Blocking) -> Answer:
    return Answer(follow_up=(_deny(said.reason).reason,)) if said.decision else PASS


def _halt(said: _Said, where: str) -> Answer:
    reason = _or(said.stop_reason, f"{where} hook stopped execution")
    return Answer(verdict=Verdict.HALT, reason=reason)


def _or(text: str | None, otherwise: str) -> str:
    return text if text is not None and text.strip() else otherwise


def _with(answer: Answer, own: _Own | None, said: _Said) -> Answer:
    if own is not None and own.additional_context:
        answer = replace(answer, context=(own.additional_context,))
    return _noted(answer, said)


def _noted(answer: Answer, said: _Said | _Notice) -> Answer:
    return replace(answer, notice=(said.system_message,)) if said.system_message else answer


_T = TypeVar("_T")


def _reader(shape: type[_T], meaning: Callable[[_T], Answer]) -> Callable[[str], Answer]:
    decoder = msgspec.json.Decoder(shape)
    return lambda text: meaning(decoder.decode(text))


_READERS: Mapping[str, Callable[[str], Answer]] = {
    "SessionStart": _reader(_WithContext, _session_start),
    "UserPromptSubmit": _reader(_Prompt, _prompt),
    "PreToolUse": _reader(_Pre, _pre_tool_use),
    "PermissionRequest": _reader(_Permission, _permission_request),
    "PostToolUse": _reader(_Post, _post_tool_use),
    "SubagentStart": _reader(_WithContext, _subagent_start),
    "SubagentStop": _reader(_Blocking, _subagent_stop),
    "Stop": _reader(_Blocking, _stop),
    "PreCompact": _reader(_Said, _compact),
    "PostCompact": _reader(_Said, _compact),
    "Interrupt": _reader(_Notice, _interrupt),
}


def read(native: str, text: str) -> Answer:
    """The answer in a JSON text. Raises HandlerAnswerError where the client would void it."""
    try:
        return _READERS[native](text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
        why = "nested too deep" if isinstance(exc, RecursionError) else str(exc)
        raise HandlerAnswerError(f"Codex does not take this answer on {native}: {why}") from exc
    except HandlerAnswerError as exc:
        raise HandlerAnswerError(f"Codex does not take this answer on {native}: {exc}") from exc
