"""BaseCoat's event and response envelopes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, Keys, said
from hookline.dialects._shown import changes, shown
from hookline.dialects._support import load_support
from hookline.dialects._wire import NO_REASON, crashed, line
from hookline.model.answers import PASS, Answer, Rewrite, Verdict
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import (
    Agent,
    Error,
    Event,
    PostToolUseFailure,
    PromptEvent,
    ToolEvent,
    Workspace,
)
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import CANONICAL_TOOLS, Tool

__all__ = ["BaseCoat"]

# The names that VS Code, Copilot CLI and the cloud agent have for the same events.
_ALSO = {
    "stop": "SessionEnd",
    "userpromptsubmit": "UserPromptSubmitted",
    "erroroccurred": "OnError",
}
_FACTS = ("repository", "branch", "issue")
_COMPACTION = {
    "trigger": "trigger",
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "context_limit": "contextLimit",
    "summary": "summary",
}


class BaseCoat(JsonDialect):
    """The dialect of runtimes that follow the BaseCoat hook specification."""

    id = "basecoat"
    tools = CANONICAL_TOOLS  # an envelope names those of the runtime that sent it
    support = load_support(__file__)
    tells_workspace = True
    keys = Keys(event="hook", session="sessionId")
    also: ClassVar[Mapping[str, str]] = {"stop": "SessionEnd"}
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "SessionStart": {"source": "source"},
        "SessionEnd": {"reason": "reason"},
        "UserPromptSubmitted": {"prompt": "prompt"},
    }

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def to_own_name(self, name: str) -> str:
        """BaseCoat's name of an event, from any platform's."""
        own = {each.casefold(): each for each in self.support.events}
        return own.get(name.casefold()) or _ALSO.get(name.casefold(), name)

    def common(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """Who, where and when, and how much of the budget is gone."""
        values = super().common(data, native)
        told = {key: word for key in _FACTS if isinstance(word := data.get(key), str) and word}
        if told:
            values["workspace"] = told
        values["agent"] = _agent(data)
        when = _time(data.get("timestamp"))
        used = _object(data, "budget")
        tokens = {
            "used_tokens": used.get("usedTokens"),
            "effective_limit": used.get("effectiveLimit"),
        }
        known = {key: value for key, value in tokens.items() if type(value) is int}
        return values | ({"time": when} if when else {}) | ({"budget": known} if known else {})

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """The tool in its own object, with input and output where the runtime adds them."""
        tool = _object(data, "tool")
        flat = {
            "tool_name": tool.get("name"),
            "tool_input": tool.get("input"),
            "tool_use_id": tool.get("callId"),
            "duration_ms": tool.get("durationMs"),
        }
        if "output" in tool or "error" in tool:
            flat["tool_response"] = tool.get("output", tool.get("error"))
        read = super().read_tool(flat, native)
        ok = tool.get("success")
        return replace(read, ok=ok) if isinstance(ok, bool) else read

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """What stands in objects of its own."""
        if native in {"PreCompact", "PostCompact"}:
            about = _object(data, "compaction")
            return {
                name: about[key] for name, key in _COMPACTION.items() if about.get(key) is not None
            }
        if native == "OnError":
            error, tool = _object(data, "error"), _object(data, "tool")
            where = tool.get("name") or error.get("class")
            found = {"message": error.get("message"), "where": where}
            return {key: value for key, value in found.items() if value is not None}
        if native == "SubagentStop":
            result = _object(data, "subagent").get("result")
            return {} if result is None else {"last_message": result}
        return {}

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """One envelope on stdout; nothing when there is nothing to say."""
        body = self._action(outcome, answer)
        if not body:
            return Reply()
        if answer.context:
            body["additionalContext"] = list(answer.context)
        if answer.notice:
            body["warnings"] = list(answer.notice)
        body["metadata"] = {**answer.metadata, "hookId": "hookline"}
        return Reply(stdout=line(body))

    def _action(self, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        if answer.verdict is Verdict.DENY:
            hides = self.native_of(outcome.event) == "PostToolUse"
            if hides and outcome.verdict is not Verdict.HALT:
                # A block stops what comes next; only this takes the output away.
                return {
                    "action": "modify",
                    "modifiedOutput": answer.reason,
                    "reason": answer.reason,
                }
            return {"action": "block", "reason": answer.reason}
        if answer.rewrite.input is not None:
            return {"action": "modify", "modifiedInput": self.final_input(outcome)}
        if answer.rewrite.output is not None:
            return {"action": "modify", "modifiedOutput": answer.rewrite.output}
        if answer.context:
            return {"action": "injectContext"}
        return {"action": "passThrough"} if answer.notice else {}

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def native_for(self, event: str) -> str:
        """One event tells of success and failure here."""
        return super().native_for("post_tool_use" if event == "post_tool_use_failure" else event)

    def payload(self, event: Event) -> dict[str, Any]:
        """The event envelope."""
        workspace = event.workspace or Workspace()
        data: dict[str, Any] = {
            "hook": self.native_of(event),
            "timestamp": event.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "sessionId": event.session_id,
            "agent": event.agent.name,
            "repository": workspace.repository,
            "branch": workspace.branch,
            "cwd": event.cwd,
        }
        if workspace.issue:
            data["issue"] = workspace.issue
        if event.budget is not None:
            data["budget"] = {
                "usedTokens": event.budget.used_tokens or 0,
                "effectiveLimit": event.budget.effective_limit or 0,
            }
        return data | self._about(event)

    def _about(self, event: Event) -> dict[str, Any]:
        native = self.native_of(event)
        if isinstance(event, ToolEvent):
            tool = _tool(event, self.native_tool(event.tool), self.native_input(event.tool))
            failed = {"class": tool["name"], "message": tool.get("error", tool.get("output", ""))}
            return {"tool": tool, "error": failed} if native == "OnError" else {"tool": tool}
        if isinstance(event, PromptEvent):
            return {"prompt": event.prompt}
        if isinstance(event, Error):
            return {"error": {"class": event.where, "message": event.message}}
        if native in {"PreCompact", "PostCompact"}:
            said = {key: getattr(event, name) for name, key in _COMPACTION.items()}
            return {"compaction": {key: value for key, value in said.items() if value}}
        if native in {"SubagentStart", "SubagentStop"}:
            who = event.agent
            return {"subagent": {"name": who.name, "parent": who.parent or "", "depth": who.depth}}
        # Another platform's stop, which ends the session here, has no reason.
        return {key: getattr(event, name, "") for name, key in self.fields.get(native, {}).items()}

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """A response envelope or nothing; everything else is a hook that broke."""
        native = self.native_of(event)
        answer = _read_answer(native, event, stdout=stdout, stderr=stderr, exit_code=exit_code)
        if answer.rewrite.input is None or not isinstance(event, ToolEvent):
            return answer
        # The payload goes on as the hook made it, so what it left out is gone.
        sent, names = shown(self.tools, self.native_tool(event.tool), event.tool)
        patch = changes(sent, names, answer.rewrite.input, whole=True)
        return replace(answer, rewrite=replace(answer.rewrite, input=patch))

    def native_input(self, tool: Tool) -> dict[str, Any]:
        """A tool's input under canonical names where it has any."""
        return shown(self.tools, self.native_tool(tool), tool)[0]


def _object(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _agent(data: Mapping[str, Any]) -> Agent:
    """A sub-agent's own name where the event is about one."""
    sub, agent = _object(data, "subagent"), data.get("agent")
    name = agent if isinstance(agent, str) and agent else "root"
    if not sub:
        return Agent(name=name)
    depth, parent = sub.get("depth"), sub.get("parent")
    own = sub.get("name")
    return Agent(
        name=own if isinstance(own, str) and own else name,
        depth=depth if type(depth) is int and depth > 0 else 1,
        parent=parent if isinstance(parent, str) and parent else name,
    )


def _time(value: Any) -> datetime | None:
    try:
        when = msgspec.convert(value, datetime)
    except msgspec.ValidationError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _tool(event: ToolEvent, name: str, given: dict[str, Any]) -> dict[str, Any]:
    tool = event.tool
    data: dict[str, Any] = {"name": name, "input": given}
    failed = isinstance(event, PostToolUseFailure)
    if tool.ok is not None or failed:
        data["success"] = bool(tool.ok) and not failed
    if tool.duration_ms is not None:
        data["durationMs"] = round(tool.duration_ms)
    if tool.output is not None:
        data["output"] = tool.output
    if isinstance(event, PostToolUseFailure):
        data["error"] = event.error
    return data


# To block an end would be to keep going, which nobody asked for.
_UNBLOCKED = {"SessionEnd", "SubagentStop", "PostCompact"}


class _Response(Struct, frozen=True, kw_only=True, rename="camel"):
    action: str | None = None
    reason: str | None = None
    additional_context: list[str] | str = field(default_factory=list)
    overwrite_context: bool = False
    warnings: list[str] | str = field(default_factory=list)
    modified_input: Any = None
    modified_output: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)


_KEYS = {*_Response.__struct_encode_fields__, "priority"}


def _read_answer(
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
        overwrite_context=response.overwrite_context,
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
