"""The hook protocol of the Copilot runtime: payloads in two casings, answers at the top level.

Knows what both of GitHub's agents obey; must not know which of them is running.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import msgspec
from msgspec.structs import replace

from hookline.dialects._copilot import answers
from hookline.dialects._copilot.names import (
    FIELDS,
    WORDS,
    camel_name,
    guess_name,
    is_event_name,
    is_pascal,
    match_casing,
    pascal_name,
    read_name,
    snake_keys,
)
from hookline.dialects._copilot.payloads import FAMILY, changed_input, native_payload
from hookline.dialects._copilot.tools import TOOLS, arguments, is_patch, read_call
from hookline.dialects._native import JsonDialect, Keys, Words, joined
from hookline.dialects._translate import translate
from hookline.dialects._wire import behaviour, line
from hookline.model.answers import BLOCKING, PASS, Answer, Verdict
from hookline.model.errors import DecodeError
from hookline.model.events import Agent, Event, ToolEvent
from hookline.model.outcome import Outcome, Reply, Translated
from hookline.model.support import EventSupport, Support
from hookline.model.text import visible
from hookline.model.tools import Tool, ToolKind

__all__ = ["CopilotDialect"]

# The client takes an empty text for no answer, and would show what was to be hidden.
# How the client ends the output of a command that failed.
_FAILED = re.compile(r"<[^<>\n]* exit code [1-9]\d*>\s*\Z")
_TAIL = 1000
_EMPTY = "(a hook left nothing of this)"


class CopilotDialect(JsonDialect):
    """What both agents have in common; each adds its name and what it supports."""

    tools = TOOLS
    keys = Keys(response="tool_result")
    ignores_http_text = True
    facts: ClassVar[Mapping[str, str]] = {"transcript_path": "transcript_path"}
    facts_on: ClassVar[Mapping[str, frozenset[str]]] = {"transcript_path": frozenset()}
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = FIELDS
    words: ClassVar[Mapping[str, Words]] = WORDS

    def __init__(self, *, pascal: bool | None = None) -> None:
        self._pascal = pascal

    def for_key(self, key: str) -> Self:
        """This dialect as a hook under the event ``key`` of a hook file speaks it."""
        return type(self)(pascal=key[:1].isupper())

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def parse(self, payload: bytes) -> dict[str, Any]:
        """The payload, so that either casing reads alike."""
        return snake_keys(super().parse(payload))

    def native_name(self, data: Mapping[str, Any], given: str | None) -> str:
        """The event, in the casing of the payload's keys; a guess, where nobody names it."""
        is_known = given and (self.support.find(given) or is_event_name(given))
        known = given if is_known else ""
        name = known or self.read_event_name(data) or guess_name(data) or given
        return match_casing(super().native_name(data, name), data)

    def read_event_name(self, data: Mapping[str, Any]) -> str:
        """The payload's own word, which most payloads lack."""
        return read_name(data)

    def common(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """A sub-agent's own session counts as its parent's: what holds there holds below it."""
        session, agent, parent, kind, name = (
            value if isinstance(value := data.get(key), str) else ""
            for key in ("session_id", "agent_id", "parent_agent_id", "agent_type", "agent_name")
        )
        who = Agent()
        if agent or kind or name:
            called = kind or name or "agent"
            who = Agent(name=called, depth=1, id=agent or None, parent=parent or None)
        below = bool(parent) and agent == session
        return super().common(data, native) | {
            "agent": who,
            "session_id": parent if below else session,
        }

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """The tool under either of its names, its result as text."""
        name = data.get("tool_name")
        tool = read_call(name if isinstance(name, str) else "", data.get("tool_input"))
        if camel_name(native) == "postToolUseFailure":
            return replace(tool, ok=False)
        if "tool_result" in data:
            output = self.output_text(data["tool_result"])
            failed = tool.kind is ToolKind.SHELL and _FAILED.search(output[-_TAIL:]) is not None
            return replace(tool, output=output, ok=not failed)
        return tool

    def output_text(self, response: Any) -> str:
        """The text that the model will see."""
        for key in ("textResultForLlm", "text_result_for_llm"):
            if isinstance(response, dict) and isinstance(response.get(key), str):
                return str(response[key])
        return super().output_text(response)

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """An error's message stands inside it."""
        if camel_name(native) != "errorOccurred":
            return {}
        error = data.get("error", "")
        return {"message": error.get("message", "") if isinstance(error, dict) else error}

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def translate(self, outcome: Outcome) -> Translated:
        """As far as the table says, less the arguments that cannot be rewritten."""
        support = self.support if self._rewritable(outcome) else _read_only(self.support)
        return translate(outcome, support, self.native_of(outcome.event))

    def _rewritable(self, outcome: Outcome) -> bool:
        """Whether new arguments would replace the old ones: one bare text has no keys to set."""
        event, change = outcome.event, outcome.answer.rewrite.input
        if change is None or not isinstance(event, ToolEvent) or event.dialect not in FAMILY:
            return True
        if is_patch(event.tool.input) and not change.keys() <= event.tool.input.keys():
            return False
        try:
            given = self.parse(bytes(event.raw)).get("tool_input")
        except DecodeError:
            return True
        return given is None or arguments(given) is not None

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """JSON with exit 0: of an exit code the model would learn no reason."""
        body = self._body(camel_name(self.native_of(outcome.event)), outcome, answer)
        return Reply(stdout=line(body) if body else b"")

    def _body(self, kind: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        body: dict[str, Any] = {}
        texts = answer.context
        match kind:
            case "preToolUse":
                body = self._permission(outcome, answer)
            case "permissionRequest":
                body = behaviour(answer)
            case "postToolUse":
                body = _result(answer)
            case "postToolUseFailure" if answer.verdict is Verdict.DENY:
                texts = (answer.reason, *texts)
            case "userPromptSubmitted":
                body = _prompt(outcome)
            case "userPromptTransformed" if answer.rewrite.prompt is not None:
                body = {"modifiedTransformedPrompt": answer.rewrite.prompt or _EMPTY}
            case "agentStop" | "subagentStop" if answer.follow_up:
                body = {"decision": "block", "reason": joined(answer.follow_up)}
        return body | ({"additionalContext": joined(texts)} if texts else {})

    def _permission(self, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        """Without a decision the client goes on to its own rules and its own question."""
        own: dict[str, Any] = {}
        if answer.verdict is not Verdict.PASS:
            own["permissionDecision"] = answer.verdict.value
            if answer.reason:
                own["permissionDecisionReason"] = answer.reason
        if answer.rewrite.input is not None and answer.verdict is not Verdict.DENY:
            own["modifiedArgs"] = self.final_input(outcome)
        return own

    def refuse(self, event: str | None, reason: str) -> Reply:
        """Where not even the event is known, in the words of both events that ask for leave."""
        reason = reason.strip() or "hookline could not judge this"
        if self.support.find(event or "") is not None:
            return super().refuse(event, reason)
        blocked = Answer(verdict=Verdict.DENY, reason=visible(reason))
        body = {"permissionDecision": "deny", "permissionDecisionReason": blocked.reason}
        stderr = f"hookline: {blocked.reason}\n".encode()
        return Reply(stdout=line(body | behaviour(blocked)), stderr=stderr)

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def native_of(self, event: Event) -> str:
        """The event's name, in the casing that this codec was made for."""
        ours = event.dialect in FAMILY and self.support.find(event.native_event) is not None
        name = event.native_event if ours else super().native_of(event)
        if self._pascal is None:
            return name
        return pascal_name(name) if self._pascal else camel_name(name)

    def stdin(self, event: Event) -> bytes:
        """The native bytes, where they are there and in this casing."""
        same = event.dialect in FAMILY and self.native_of(event) == event.native_event
        if same and bytes(event.raw) != b"null":
            return bytes(event.raw)
        return msgspec.json.encode(self.payload(event))

    def payload(self, event: Event) -> dict[str, Any]:
        """A native payload, in the casing of its event's name."""
        return native_payload(event, self.native_of(event), super().payload(event))

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """As the client reads it, by the casing of the event's name."""
        native = self.native_of(event)
        answer = answers.read(
            camel_name(native),
            pascal=is_pascal(native),
            stdout=stdout,
            stderr=stderr,
            exit_code=exit_code,
        )
        row = self.support.find(native)
        if answer.verdict is Verdict.ASK and row is not None and not row.can("ask"):
            answer = replace(answer, verdict=Verdict.DENY)
        given = answer.rewrite.input
        if given is not None and isinstance(event, ToolEvent):
            change = replace(answer.rewrite, input=changed_input(event, given))
            answer = replace(answer, rewrite=change)
        return PASS if answer == PASS else answer


def _read_only(support: Support) -> Support:
    def without(row: EventSupport) -> EventSupport:
        return replace(row, cells={**row.cells, "input": "deny"}) if row.can("input") else row

    return replace(support, events={name: without(row) for name, row in support.events.items()})


def _result(answer: Answer) -> dict[str, Any]:
    """A block is said twice: only one of the two words is promised to every client."""
    if answer.verdict is Verdict.DENY:
        shown = _shown(f"Tool result blocked: {answer.reason}")
        return {"decision": "block", "reason": answer.reason, "modifiedResult": shown}
    output = answer.rewrite.output
    return {} if output is None else {"modifiedResult": _shown(output or _EMPTY)}


def _shown(text: str) -> dict[str, str]:
    return {"resultType": "success", "textResultForLlm": text}


def _prompt(outcome: Outcome) -> dict[str, Any]:
    """What was meant, also where the client may not hear it and the table says so."""
    if outcome.verdict in BLOCKING:
        return {"decision": "block", "reason": visible(outcome.reason)}
    prompt = outcome.answer.rewrite.prompt
    return {} if prompt is None else {"modifiedPrompt": prompt or _EMPTY}
