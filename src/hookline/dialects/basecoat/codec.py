"""BaseCoat's event and response envelopes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, Keys
from hookline.dialects._shown import changes, shown
from hookline.dialects._support import load_support
from hookline.dialects._wire import line
from hookline.dialects.basecoat.answers import read_answer
from hookline.model.answers import Answer
from hookline.model.events import Agent, Error, Event, PostToolUseFailure, PromptEvent, ToolEvent
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import CANONICAL_TOOLS, Tool
from hookline.model.verdicts import Verdict

__all__ = ["BaseCoat"]

# The names that VS Code, Copilot CLI and the cloud agent have for the same events.
_ALSO = {
    "stop": "SessionEnd",
    "userpromptsubmit": "UserPromptSubmitted",
    "erroroccurred": "OnError",
}
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
    keys = Keys(event="hook", session="sessionId")
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
        """Who and when, and how much of the budget is gone."""
        values = super().common(data, native)
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
        """The event envelope. Repository and branch are empty: nobody told us."""
        data: dict[str, Any] = {
            "hook": self.native_of(event),
            "timestamp": event.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "sessionId": event.session_id,
            "agent": event.agent.name,
            "repository": "",
            "branch": "",
            "cwd": event.cwd,
        }
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
        return {key: getattr(event, name) for name, key in self.fields.get(native, {}).items()}

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """A response envelope or nothing; everything else is a hook that broke."""
        native = self.native_of(event)
        answer = read_answer(native, event, stdout=stdout, stderr=stderr, exit_code=exit_code)
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
