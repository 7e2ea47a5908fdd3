"""Codex's payloads and answers.

The client voids an answer over any key, word or blank it does not expect, and the tool runs. So
this says the least that means the thing, and nothing where nothing is meant.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, joined, said
from hookline.dialects._support import load_support
from hookline.dialects._wire import decision
from hookline.dialects.codex import wire
from hookline.dialects.codex.tools import TOOLS, as_native, patch_kind
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, context, deny, follow_up
from hookline.model.errors import HandlerAnswerError, HandlerCrashed, UnsupportedError
from hookline.model.events import (
    AfterLlmCall,
    CompactionEvent,
    Event,
    PromptEvent,
    SessionResume,
    SessionStart,
    Stop,
    SubagentStop,
    ToolEvent,
)
from hookline.model.outcome import Outcome, Reply, Substitution, Translated
from hookline.model.text import visible
from hookline.model.tools import Tool

__all__ = ["Codex"]

_BLOCKED_BY_EXIT_2 = {"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit"}
_CONTINUED = {"Stop", "SubagentStop"}
_NO_TURN = {"SessionStart", "SessionEnd"}
_NO_MODE = {"SessionEnd", "PreModelRequest", "PostModelRequest", "PreCompact", "PostCompact"}
# Of these tools' new input the client reads one key, and drops the others without a word.
_COMMAND_ALONE = {"Bash", "apply_patch"}
_MAIN_AGENT_ONLY = {"SessionStart", "SessionEnd", "Stop", "Interrupt"}
_SOURCES = {"startup", "resume", "clear", "compact", "fork"}
# Moments for which Codex has no event of their own, and what it fires there.
_ALSO = {
    "session_resume": "SessionStart",
    "steering_submit": "UserPromptSubmit",
    "follow_up_submit": "UserPromptSubmit",
}


class Codex(JsonDialect):
    """The dialect of the Codex command line and its app server."""

    id = "codex"
    tools = TOOLS
    support = load_support(__file__)
    facts: ClassVar[Mapping[str, str]] = {
        "transcript_path": "transcript_path",
        "permission_mode": "permission_mode",
        "model": "model",
        "turn_id": "turn_id",
    }
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "SessionStart": {"source": "source"},
        "SessionEnd": {"reason": "reason"},
        "UserPromptSubmit": {"prompt": "prompt"},
        "PreCompact": {"trigger": "trigger"},
        "PostCompact": {"trigger": "trigger"},
        "SubagentStop": {
            "last_message": "last_assistant_message",
            "stop_hook_active": "stop_hook_active",
            "agent_transcript_path": "agent_transcript_path",
        },
        "Stop": {"last_message": "last_assistant_message", "stop_hook_active": "stop_hook_active"},
    }

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """Tokens used, where the client counted them."""
        usage = data.get("token_usage")
        return {"usage": usage} if isinstance(usage, dict) else {}

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """The tool; a patch by what it does, a shell's success as unknown as it is."""
        # The client sends no duration; a number of any size under that key is somebody else's.
        known = {key: value for key, value in data.items() if key != self.keys.duration}
        tool = super().read_tool(known, native)
        if tool.name == "apply_patch" and tool.content is not None:
            return replace(tool, kind=patch_kind(tool.content))
        # A command that failed fires the same event, and its exit code is not in the payload.
        return replace(tool, ok=None) if tool.name == "Bash" else tool

    def output_text(self, response: Any) -> str:
        """A tool's answer as text; of an MCP tool's, the texts in it."""
        parts = response.get("content") if isinstance(response, dict) else None
        texts = [
            part["text"]
            for part in (parts if isinstance(parts, list) else ())
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        if texts and isinstance(parts, list) and len(texts) == len(parts):
            return "\n".join(texts)
        return super().output_text(response)

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def translate(self, outcome: Outcome) -> Translated:
        """As everywhere; an input that would not be taken whole is a deny.

        A halt that a sub-agent's event says ends that agent alone, so the gates close too.
        """
        where = f"{self.support.client} on {self.native_of(outcome.event)}"
        flaw = self._unsayable(outcome)
        if flaw:
            change = Substitution("rewrite.input", "deny", f"{where} {flaw}")
            done = super().translate(_denied(outcome))
            return replace(done, substitutions=(*done.substitutions, change))
        done = super().translate(outcome)
        halts = outcome.verdict is Verdict.HALT and done.answer.verdict is Verdict.HALT
        if not halts or not outcome.event.agent.depth:
            return done
        why = "ends the sub-agent only; every gate stays closed until the next prompt"
        change = Substitution("halt", "the sub-agent's end and a latch", f"{where} {why}")
        return Translated(done.answer, (*done.substitutions, change), outcome.reason)

    def _unsayable(self, outcome: Outcome) -> str:
        """Why the client would not run with all of the new input; empty when it would."""
        event = outcome.event
        changes = outcome.answer.rewrite.input and outcome.verdict < Verdict.DENY
        if not changes or not isinstance(event, ToolEvent):
            return ""
        if self.native_of(event) != "PreToolUse":
            return ""
        final = self.final_input(outcome)
        if event.tool.name in _COMMAND_ALONE and not final.keys() <= {"command"}:
            return f"reads nothing but the command of a new input for {event.tool.name}"
        return "" if final == _sound(final) else "takes no half of a surrogate pair"

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """The fewest keys on stdout with exit 0; nothing where the client reads nothing."""
        native = self.native_of(outcome.event)
        row = self.support.find(native)
        if row is None or not row.can("notice"):
            return Reply()
        if native == "SubagentStop" and outcome.verdict is Verdict.HALT:
            # Translated to a latch; this one agent can be ended besides, whoever continues it.
            answer = replace(answer, verdict=Verdict.HALT, reason=outcome.reason)
        body = _body(native, answer)
        if native == "PreToolUse" and answer.verdict < Verdict.DENY and answer.rewrite.input:
            # The client's own question still comes, about the new input: this grants nothing.
            own = body.setdefault("hookSpecificOutput", {"hookEventName": native})
            own |= {"permissionDecision": "allow", "updatedInput": self.final_input(outcome)}
        blocks = answer.verdict is Verdict.DENY and native in _BLOCKED_BY_EXIT_2
        # Should stdout be lost, exit 2 blocks only with something on stderr.
        stderr = _bytes(f"{answer.reason}\n") if blocks else b""
        return Reply(stdout=_line(body) if body else b"", stderr=stderr)

    def native_of(self, event: Event) -> str:
        """Codex's name of an event; empty for what only others have."""
        if event.dialect == self.id and event.native_event:
            return event.native_event
        name = event.event_id()
        # Interrupt is one particular "other", not the one that another platform means.
        return "" if name == "other" else _ALSO.get(name) or self.native_for(name)

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def payload(self, event: Event) -> dict[str, Any]:
        """Exactly the keys that Codex sends on this event."""
        native = self.native_of(event)
        if not native:
            raise UnsupportedError(f"Codex has no event for `{event.event_id()}`")
        data: dict[str, Any] = {"session_id": event.session_id}
        if native not in _NO_TURN:
            data["turn_id"] = event.turn_id
        by_agent = native in {"SubagentStart", "SubagentStop"} or bool(event.agent.id)
        if by_agent and native not in _MAIN_AGENT_ONLY:
            data |= {"agent_id": event.agent.id or "", "agent_type": event.agent.name}
        data["transcript_path"] = event.transcript_path or None
        data |= {"cwd": event.cwd, "hook_event_name": native}
        if native != "SessionEnd":
            data["model"] = event.model
        if native not in _NO_MODE:
            data["permission_mode"] = event.permission_mode or "default"
        return data | _own_payload(event, native)

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """As the client reads it; what it would void is a failure."""
        native = self.native_of(event)
        if not native:
            raise HandlerAnswerError(f"Codex has no event for `{event.event_id()}`")
        if exit_code != 0:
            return _read_exit(native, said(stderr), exit_code)
        text = said(stdout)
        if not text or native in wire.OBSERVES or self.support.find(native) is None:
            return PASS
        if text.startswith(("{", "[")):
            return _fitted(wire.read(native, text), event)
        if native in wire.TEXT_FAILS:
            raise HandlerAnswerError(f"Codex takes JSON or nothing on {native}, not plain text")
        return context(text) if native in wire.TEXT_IS_CONTEXT else PASS


def _denied(outcome: Outcome) -> Outcome:
    """A call that does not run, with the input that a hook wanted for it."""
    wanted = outcome.answer.rewrite.input
    asked = f"{outcome.reason}\n" if outcome.verdict is Verdict.ASK else ""
    reason = f"{asked}A hook wants another input here, which this agent cannot be given: {wanted}"
    rewrite = replace(outcome.answer.rewrite, input=None)
    answer = replace(outcome.answer, verdict=Verdict.DENY, reason=reason, rewrite=rewrite)
    return replace(outcome, answer=answer, final=None)


def _body(native: str, answer: Answer) -> dict[str, Any]:
    body: dict[str, Any] = {}
    own: dict[str, Any] = {}
    notice = answer.notice
    if answer.verdict is Verdict.ASK:
        notice = (*notice, answer.reason)  # the question is the client's; this says why it comes
    if notice:
        body["systemMessage"] = joined(notice)
    if answer.context:
        own["additionalContext"] = joined(answer.context)
    if answer.verdict is Verdict.HALT:
        body |= {"continue": False, "stopReason": answer.reason}
    elif native == "PermissionRequest":
        own |= decision(answer)
    elif native == "PreToolUse" and answer.verdict is Verdict.DENY:
        own |= {"permissionDecision": "deny", "permissionDecisionReason": answer.reason}
    else:
        body |= _block(native, answer)
    if own:
        body["hookSpecificOutput"] = {"hookEventName": native, **own}
    return body


def _block(native: str, answer: Answer) -> dict[str, Any]:
    """One word for three things: hold the prompt, replace the output, keep going."""
    if answer.verdict is Verdict.DENY:
        return {"decision": "block", "reason": answer.reason}
    if answer.rewrite.output is not None:
        return {"decision": "block", "reason": _not_blank(answer.rewrite.output, "(no output)")}
    if answer.follow_up and native in _CONTINUED:
        reason = _not_blank(joined(answer.follow_up), "A hook wants the work to go on.")
        return {"decision": "block", "reason": reason}
    return {}


def _not_blank(text: str, otherwise: str) -> str:
    """A blank reason voids the block."""
    return text if text.strip() else otherwise


def _own_payload(event: Event, native: str) -> dict[str, Any]:
    match event:
        case ToolEvent(tool=tool):
            name, given = as_native(tool)
            data: dict[str, Any] = {"tool_name": name, "tool_input": given}
            if native == "PostToolUse":
                data["tool_response"] = tool.output or getattr(event, "error", "")
            return (
                data
                if native == "PermissionRequest"
                else data | {"tool_use_id": tool.call_id or ""}
            )
        case SessionStart() | SessionResume():
            usual = "resume" if isinstance(event, SessionResume) else "startup"
            return {"source": event.source if event.source in _SOURCES else usual}
        case PromptEvent():
            return {"prompt": event.prompt or "\n".join(getattr(event, "prompts", ()))}
        case CompactionEvent():
            return {"trigger": "manual" if event.trigger == "manual" else "auto"}
        case Stop() | SubagentStop():
            path = getattr(event, "agent_transcript_path", "") or None
            transcript = {"agent_transcript_path": path} if native == "SubagentStop" else {}
            return {
                **transcript,
                "stop_hook_active": event.stop_hook_active,
                "last_assistant_message": event.last_message or None,
            }
        case AfterLlmCall():
            return {"status": "completed", "error": None, "token_usage": event.usage}
    return {"reason": "other"} if native == "SessionEnd" else {}


def _read_exit(native: str, stderr: str, exit_code: int) -> Answer:
    if exit_code == 2 and stderr and native in _BLOCKED_BY_EXIT_2:
        return deny(stderr)
    if exit_code == 2 and stderr and native in _CONTINUED:
        return follow_up(stderr)
    tail = visible(stderr)[-500:] or "nothing on stderr"
    raise HandlerCrashed(f"exit code {exit_code}, which Codex takes for a failure: {tail}")


def _fitted(answer: Answer, event: Event) -> Answer:
    """``updatedInput`` replaces all that the hook was shown, in the words it was shown in."""
    if answer.rewrite.input is None or not isinstance(event, ToolEvent):
        return answer
    new, tool = answer.rewrite.input, event.tool
    own = event.dialect == Codex.id and bytes(event.raw) != b"null"
    name, shown = (tool.name, tool.input) if own else as_native(tool)
    if name != "Bash" and shown is not tool.input:
        wanted = msgspec.json.encode(new).decode()
        reason = f"A hook wants another input here, in the words of Codex's {name}: {wanted}"
        return replace(answer, verdict=Verdict.DENY, reason=reason, rewrite=Rewrite())
    gone = {key: None for key in shown if key not in new}
    return replace(answer, rewrite=Rewrite(input={**new, **gone}))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _line(body: Mapping[str, Any]) -> bytes:
    """One line of JSON; half a surrogate pair in it would void the answer."""
    try:
        return msgspec.json.encode(body) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(_sound(body)) + b"\n"


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return _bytes(value).decode()
    if isinstance(value, Mapping):
        return {_sound(key): _sound(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(inner) for inner in value]
    return value
