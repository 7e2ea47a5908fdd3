"""Gemini CLI's payloads and answers."""

import re
from collections.abc import Mapping
from datetime import UTC
from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, Words, joined
from hookline.dialects._shown import shown
from hookline.dialects._support import load_support
from hookline.dialects._wire import line
from hookline.dialects.gemini.answers import read_answer
from hookline.dialects.gemini.tools import TOOLS, native_name, read_mcp
from hookline.model.answers import Answer, Verdict
from hookline.model.events import Event, PostToolUseFailure, ToolEvent, TurnEvent
from hookline.model.outcome import Outcome, Reply, Substitution, Translated
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind

__all__ = ["Gemini"]

_ROLES = {"user": "user", "model": "model", "assistant": "model", "system": "system"}
_MODEL_EVENTS = {"BeforeModel", "BeforeToolSelection", "AfterModel"}
# In a sub-agent the client only skips this one act and goes on, and no payload tells which agent it
# is: so what follows is held as well.
_INSIDE = _MODEL_EVENTS | {"BeforeTool", "AfterTool"}
# When one of these is stopped, the person is shown the message, and the reason only without one.
_STOPPED = {"BeforeAgent", "AfterAgent"}
# Events of other platforms that are a case of one event here.
_PART_OF = {"post_tool_use_failure": "AfterTool", "session_resume": "SessionStart"}
# What the client adds at the end of a command's output; for one that went well there is no code.
_FAILED = re.compile(
    r"\nExit Code: [1-9]\d*\n(?:[A-Z][\w ]*: .*\n?)*(?:</untrusted_context>)?\s*\Z"
)
_TAIL = 1000


class _Unsayable(Struct, frozen=True):
    """A rewrite that the client would apply in part, or not at all."""

    part: str
    why: str
    instead: str
    """What to tell the model."""


class Gemini(JsonDialect):
    """The dialect of Gemini CLI: JSON on stdout, which beats every exit code."""

    id = "gemini"
    tools = TOOLS
    support = load_support(__file__)
    facts: ClassVar[Mapping[str, str]] = {"transcript_path": "transcript_path"}
    words: ClassVar[Mapping[str, Words]] = {
        "SessionStart": Words("source", frozenset({"startup", "resume", "clear"}), "startup"),
        "SessionEnd": Words(
            "reason",
            frozenset({"exit", "clear", "logout", "prompt_input_exit", "other"}),
            "other",
        ),
        "PreCompress": Words("trigger", frozenset({"manual", "auto"}), "auto"),
    }
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "SessionStart": {"source": "source"},
        "SessionEnd": {"reason": "reason"},
        "BeforeAgent": {"prompt": "prompt"},
        "AfterAgent": {
            "last_user_message": "prompt",
            "last_message": "prompt_response",
            "stop_hook_active": "stop_hook_active",
        },
        "PreCompress": {"trigger": "trigger"},
        "Notification": {"kind": "notification_type", "message": "message"},
    }

    # After a turn without a word, as one that is held back, it urges the model on.
    automatic = (*JsonDialect.automatic, ("[System: ", "]"))

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """What the request to the model and its answer tell."""
        if native not in _MODEL_EVENTS:
            return {}
        request, response = _object(data.get("llm_request")), _object(data.get("llm_response"))
        messages = request.get("messages")
        # It comes with every piece of an answer, and is that of the whole with the last.
        usage = response.get("usageMetadata") if _is_last(response) else None
        names = _object(request.get("toolConfig")).get("allowedFunctionNames")
        return {
            "model": request.get("model") or "",
            "messages": [_message(each) for each in messages] if isinstance(messages, list) else [],
            "usage": usage if isinstance(usage, dict) else None,
            "tools": [str(name) for name in names] if isinstance(names, list) else [],
        }

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """Servers are told beside the call; a failed tool has an error in its response."""
        tool = super().read_tool(data, native)
        mcp = read_mcp(tool.name, data.get("mcp_context"))
        if mcp is not None:
            tool = replace(tool, mcp=mcp, kind=ToolKind.MCP)
        failed = bool(_object(data.get("tool_response")).get("error"))
        if tool.kind is ToolKind.SHELL and tool.output:
            failed |= _FAILED.search(tool.output[-_TAIL:]) is not None
        return replace(tool, ok=False) if failed else tool

    def output_text(self, response: Any) -> str:
        """What the model is given: the content, and the error where there is one."""
        if not isinstance(response, dict) or not response.keys() & {"llmContent", "error"}:
            return super().output_text(response)
        text = _content(response.get("llmContent", ""))
        error = response.get("error")
        message = error.get("message", "") if isinstance(error, dict) else error
        if not message or str(message) in text:
            return text
        return "\n".join(filter(None, (text, str(message))))

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def translate(self, outcome: Outcome) -> Translated:
        """As everywhere, and a rewrite that would not be applied whole is a deny."""
        native = self.native_of(outcome.event)
        flaw = self._unsayable(outcome, native) if outcome.verdict < Verdict.DENY else None
        if flaw is None:
            done = super().translate(outcome)
        else:
            asked = outcome.reason if outcome.verdict is Verdict.ASK else ""
            reason = "\n".join(filter(None, (asked, flaw.instead)))
            rewrite = replace(outcome.answer.rewrite, **{flaw.part: None})
            denied = replace(outcome.answer, verdict=Verdict.DENY, reason=reason, rewrite=rewrite)
            done = super().translate(replace(outcome, answer=denied, final=None))
            done = self._noted(done, native, f"rewrite.{flaw.part}", "deny", flaw.why)
        if done.answer.verdict is Verdict.HALT and native in _INSIDE:
            done = replace(done, latch=done.answer.reason)
        return self._selection(done, native) if native == "BeforeToolSelection" else done

    def _unsayable(self, outcome: Outcome, native: str) -> _Unsayable | None:
        event, rewrite = outcome.event, outcome.answer.rewrite
        if isinstance(event, ToolEvent) and rewrite.input is not None:
            return _input_flaw(event.tool, self.final_input(outcome))
        if native == "BeforeModel" and rewrite.messages is not None:
            assert isinstance(event, TurnEvent)
            return _messages_flaw(rewrite.messages, len(event.messages))
        return None

    def _selection(self, done: Translated, native: str) -> Translated:
        """Only a tool configuration is read here; whatever else is said would reset it."""
        if done.answer.verdict is Verdict.DENY:
            why = "only asks the model to call no tool; each call is still judged by BeforeTool"
            done = self._noted(done, native, "deny", "a request for no tools", why)
        if done.answer.notice:
            done = self._noted(done, native, "notice", "nothing", "has no way to the person")
        return replace(done, answer=replace(done.answer, notice=()))

    def _noted(self, done: Translated, native: str, was: str, now: str, why: str) -> Translated:
        change = Substitution(was, now, f"{self.support.client} on {native} {why}")
        return replace(done, substitutions=(*done.substitutions, change))

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """JSON with exit 0: an exit code alone lets the tool run when no text comes with it."""
        native = self.native_of(outcome.event)
        if native == "BeforeToolSelection":
            if answer.verdict is not Verdict.DENY:
                return Reply()
            own: dict[str, Any] = {"hookEventName": native, "toolConfig": {"mode": "NONE"}}
            return Reply(stdout=line({"hookSpecificOutput": own}))
        # Even nothing is said aloud: on an empty stdout the client takes stderr for the answer.
        return Reply(stdout=line(self._body(native, outcome, answer)))

    def _body(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        body = _verdict(native, answer)
        told = (*_told_alone(native, answer), *answer.notice)
        if told:
            body["systemMessage"] = joined(told)
        if answer.verdict >= Verdict.DENY:
            return body
        if answer.context and native == "AfterTool" and _failed(outcome.event):
            return body | _beside_error(outcome.event, answer)
        own = self._own(native, outcome, answer)
        if own:
            body["hookSpecificOutput"] = {"hookEventName": native, **own}
        return body

    def _own(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if answer.context:
            own["additionalContext"] = joined(answer.context)
        if native == "BeforeTool" and answer.rewrite.input is not None:
            # Whole, so that it does not matter whether a version merges it or replaces by it.
            assert isinstance(outcome.event, ToolEvent)
            final = self.final_input(outcome)
            if final != outcome.event.tool.input:
                own["tool_input"] = final
        if native == "BeforeModel" and answer.rewrite.messages is not None:
            messages = [_message(each) for each in answer.rewrite.messages]
            own["llm_request"] = {"messages": messages}
        return own

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def native_for(self, event: str) -> str:
        """Failed tools and resumed sessions are no events of their own here."""
        return _PART_OF.get(event) or super().native_for(event)

    def native_tool(self, tool: Tool) -> str:
        """MCP tools have another name here, and some kinds more than one tool."""
        return native_name(tool) or super().native_tool(tool)

    def native_input(self, tool: Tool) -> dict[str, Any]:
        """One text holds both the address and what is wanted of it."""
        if tool.url and self.native_tool(tool) == "web_fetch" and tool.name not in self.tools.rows:
            return {"prompt": " ".join(filter(None, (tool.query, tool.url)))}
        return super().native_input(tool)

    def payload(self, event: Event) -> dict[str, Any]:
        """A payload in the client's own shape."""
        time = event.time.astimezone(UTC).isoformat(timespec="milliseconds")
        data = super().payload(event) | {
            "transcript_path": event.transcript_path,
            "timestamp": time.replace("+00:00", "Z"),
        }
        native = data[self.keys.event]
        if isinstance(event, ToolEvent):
            data.pop(self.keys.call, None)
            data |= _tool_keys(event, native)
        if isinstance(event, TurnEvent):
            messages = [_message(each) for each in event.messages]
            data["llm_request"] = {"model": event.model, "messages": messages, "config": {}}
        if native == "AfterModel":
            usage = getattr(event, "usage", None) or {}
            end = {"content": {"role": "model", "parts": []}, "finishReason": "STOP", "index": 0}
            data["llm_response"] = {"candidates": [end], "usageMetadata": usage}
        if native == "BeforeAgent":
            data["prompt"] = data["prompt"] or "\n".join(getattr(event, "prompts", ()))
        return data

    def variables(self, event: Event, caller: Caller) -> Mapping[str, str]:
        """The project under each of its names, and the session."""
        project = caller.project_dir or event.cwd
        return {
            "GEMINI_PROJECT_DIR": project,
            "CLAUDE_PROJECT_DIR": project,
            "GEMINI_CWD": event.cwd or project,
            "GEMINI_SESSION_ID": event.session_id,
        }

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """As the client reads it; see ``answers``."""
        native = self.native_of(event)
        answer = read_answer(event, native, stdout=stdout, stderr=stderr, exit_code=exit_code)
        given = answer.rewrite.input
        if given is None or not isinstance(event, ToolEvent):
            return answer
        return replace(
            answer, rewrite=replace(answer.rewrite, input=self._meant(event.tool, given))
        )

    def _meant(self, tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
        """A new input under canonical names, where the hook was shown another platform's call."""
        _, names = shown(self.tools, self.native_tool(tool), tool)
        return {names.get(key, key): value for key, value in given.items()}


def _verdict(native: str, answer: Answer) -> dict[str, Any]:
    match answer.verdict:
        case Verdict.HALT:
            return {"continue": False, "stopReason": answer.reason}
        case Verdict.DENY if native == "AfterTool":
            # The reason takes the result's place, and what else was to be said goes with it.
            return {"decision": "deny", "reason": joined((answer.reason, *answer.context))}
        case Verdict.DENY:
            return {"decision": "deny", "reason": answer.reason}
        case Verdict.ASK:
            return {"decision": "ask", "reason": answer.reason}
        case _ if answer.follow_up:
            text = joined(answer.follow_up)
            return {"decision": "deny", "reason": text if text.strip() else "Keep going."}
        case _:
            return {}


def _told_alone(native: str, answer: Answer) -> tuple[str, ...]:
    """The reason, where the client shows the person a message in its place."""
    stopped = native in _STOPPED and answer.verdict >= Verdict.DENY and answer.notice
    return (answer.reason,) if stopped or answer.verdict is Verdict.ASK else ()


def _is_last(response: Mapping[str, Any]) -> bool:
    """Whether no piece of the answer comes after this one."""
    pieces = response.get("candidates")
    if not isinstance(pieces, list) or not pieces:
        return True
    return any(_object(each).get("finishReason") for each in pieces)


def _failed(event: Event) -> bool:
    return isinstance(event, ToolEvent) and event.tool.ok is False


def _beside_error(event: Event, answer: Answer) -> dict[str, Any]:
    """Of a failed tool the model is given the error and nothing else, so context stands in it."""
    assert isinstance(event, ToolEvent)
    return {"decision": "deny", "reason": joined((event.tool.output or "", *answer.context))}


def _input_flaw(tool: Tool, final: Mapping[str, Any]) -> _Unsayable | None:
    """The new input is laid over the old one, so that nothing can be taken out of it."""
    gone = sorted(tool.input.keys() - final.keys())
    # An address of its own counts before those in the prompt, where a rewrite puts the new one.
    stuck = tool.name == "web_fetch" and "url" in final and final["url"] == tool.input.get("url")
    if not gone and not (stuck and final != tool.input):
        return None
    shown = line(final).decode().strip()
    instead = f"A hook wants another input here. Call the tool again with exactly this: {shown}"
    why = f"cannot remove {', '.join(gone)}" if gone else "cannot rewrite the address"
    return _Unsayable("input", why, instead)


def _messages_flaw(messages: list[dict[str, Any]], before: int) -> _Unsayable | None:
    """The texts are laid over the history one by one; those left over stay as they are."""
    if len(messages) < before:
        why = "cannot remove messages"
    elif all(
        each.get("role") in _ROLES and isinstance(each.get("content"), str) for each in messages
    ):
        return None
    else:
        why = "takes messages with a role and a text only"
    return _Unsayable("messages", why, f"A hook wants other messages here, but this agent {why}.")


def _tool_keys(event: ToolEvent, native: str) -> dict[str, Any]:
    tool = event.tool
    data: dict[str, Any] = {}
    if tool.mcp is not None:
        data["mcp_context"] = {"server_name": tool.mcp.server, "tool_name": tool.mcp.tool}
    if native == "AfterTool":
        error = event.error if isinstance(event, PostToolUseFailure) else ""
        text = tool.output if tool.output is not None else error
        data["tool_response"] = {"llmContent": text, "returnDisplay": text}
        if error or tool.ok is False:
            failure = {"message": error or text, "type": "execution_failed"}
            data["tool_response"]["error"] = failure
    return data


def _message(value: Any) -> dict[str, Any]:
    """A message in the client's shape, as far as it has one."""
    if not isinstance(value, dict):
        return {"role": "user", "content": _content(value)}
    role = value.get("role")
    return {**value, "role": _ROLES.get(role, role)} if isinstance(role, str) else value


def _content(value: Any) -> str:
    """Content is a text, a part with a text, or a list of these."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, list):
        return "\n".join(map(_content, value))
    return msgspec.json.encode(value).decode()


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
