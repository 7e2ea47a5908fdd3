"""Cursor's payloads and answers: one moment often has several events, each with its own words."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, Keys, joined
from hookline.dialects._support import load_support
from hookline.dialects._wire import line
from hookline.dialects.cursor.answers import read
from hookline.dialects.cursor.payloads import payload
from hookline.dialects.cursor.tools import OWN_KEYS, TOOLS, implied_call, mcp_text, native_call
from hookline.model.answers import Answer, Verdict
from hookline.model.errors import UnsupportedError
from hookline.model.events import Agent, Event, ToolEvent
from hookline.model.outcome import Outcome, Reply
from hookline.model.ports import Caller
from hookline.model.tools import Mcp, Tool, ToolKind

__all__ = ["Cursor"]

_AGENT_MESSAGE = {"preToolUse", "beforeShellExecution", "beforeMCPExecution"}
_PERMISSION = _AGENT_MESSAGE | {"beforeReadFile", "beforeTabFileRead", "subagentStart"}
_USER_MESSAGE = (_PERMISSION - {"beforeTabFileRead"}) | {"beforeSubmitPrompt"}
_CONTINUED = {"stop", "subagentStop"}
_EDITED = {"afterFileEdit", "afterTabFileEdit"}
# The names under which it runs the hooks in Claude Code's files.
_CLAUDE_CODE = {
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "Stop": "stop",
    "SubagentStop": "subagentStop",
    "SessionStart": "sessionStart",
    "SessionEnd": "sessionEnd",
    "PreCompact": "preCompact",
}


class Cursor(JsonDialect):
    """The dialect of the Cursor editor, its command line and its cloud agents."""

    id = "cursor"
    tools = TOOLS
    support = load_support(__file__)
    keys = Keys(
        session="conversation_id",
        response="tool_output",
        duration="duration",
        agent_id="subagent_id",
        agent_type="subagent_type",
    )
    also: ClassVar[Mapping[str, str]] = {
        "session_resume": "sessionStart",
        "steering_submit": "beforeSubmitPrompt",
        "follow_up_submit": "beforeSubmitPrompt",
        "before_compaction": "preCompact",
    }
    facts: ClassVar[Mapping[str, str]] = {
        "transcript_path": "transcript_path",
        "model": "model",
        "turn_id": "generation_id",
    }
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "sessionEnd": {"reason": "reason"},
        "beforeSubmitPrompt": {"prompt": "prompt"},
        "postToolUseFailure": {"error": "error_message"},
        "subagentStop": {
            "last_message": "summary",
            "agent_transcript_path": "agent_transcript_path",
        },
        "preCompact": {"trigger": "trigger"},
    }

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def to_own_name(self, name: str) -> str:
        """Cursor's own name of the event, whichever file asked for it."""
        return _CLAUDE_CODE.get(name, name)

    def common(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """A sub-agent belongs to its parent's session; most payloads know only the workspace."""
        found = super().common(data, native)
        parent = _text(data.get("parent_conversation_id"))
        session = parent or found["session_id"] or _text(data.get("session_id"))
        found |= {"session_id": session, "cwd": found["cwd"] or _workspace(data)}
        if native.startswith("subagent"):
            agent: Agent = found["agent"]
            found["agent"] = Agent(name=agent.name, depth=1, id=agent.id, parent=parent or None)
        return found

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """The tool call in a payload, or the one that it is about."""
        call = implied_call(data, native)
        tool = super().read_tool(call, native)
        if tool.mcp is not None:
            words = (data.get(key) for key in ("mcp_server_name", "url", "command"))
            server = next((word for word in words if isinstance(word, str) and word), "")
            tool = replace(tool, mcp=Mcp(server, tool.mcp.tool))
        if native in _EDITED:
            return replace(tool, **_edits(data), kind=ToolKind.EDIT, ok=True)
        if native in {"beforeReadFile", "beforeTabFileRead"}:
            return replace(tool, content=_text(data.get("content")) or None)
        if native == "afterShellExecution":
            return replace(tool, ok=None)  # it fires for commands that failed as well
        return replace(tool, ok=False) if native == "postToolUseFailure" else tool

    def output_text(self, response: Any) -> str:
        """A tool's answer, which travels as JSON in a text."""
        if not isinstance(response, str):
            return super().output_text(response)
        try:
            found = msgspec.json.decode(response)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return response
        if not isinstance(found, dict):
            return found if isinstance(found, str) else response
        if isinstance(found.get("stdout"), str):
            return super().output_text(found)
        return mcp_text(found) or response

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """Counts, and the model's words as messages."""
        if native in _CONTINUED:
            count = data.get("loop_count")
            return {"stop_hook_active": isinstance(count, int) and count > 0}
        if native == "preCompact":
            names = {"input_tokens": "context_tokens", "context_limit": "context_window_size"}
            return {name: data[key] for name, key in names.items() if _is_count(data.get(key))}
        if native == "postToolUseFailure":
            return {"interrupted": True} if data.get("is_interrupt") is True else {}
        text = _text(data.get("text"))
        if native == "afterAgentResponse":
            return {"messages": ({"role": "assistant", "content": text},)}
        if native == "afterAgentThought":
            thought = [{"type": "thinking", "thinking": text}]
            return {"messages": ({"role": "assistant", "content": thought},)}
        return {}

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def own_cells(self, outcome: Outcome, native: str) -> Mapping[str, str]:
        """What Cursor can take for this tool and this way of ending."""
        event = outcome.event
        if native == "postToolUse" and _is_mcp(event):
            return {"output": "yes", "deny": "yes"}
        if native in _USER_MESSAGE and outcome.verdict >= Verdict.ASK:
            # What is held back comes with messages; what is let through does not.
            return {"notice": "yes"} | ({"context": "yes"} if native in _AGENT_MESSAGE else {})
        ended = native in _CONTINUED and not _goes_on(event, native)
        return {"follow_up": "none"} if ended else {}

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """One JSON object with exit 0, also when there is nothing to say.

        Silence is no neutral answer: where a hook fails closed, the editor takes it for invalid
        JSON and blocks.
        """
        native = self.native_of(outcome.event)
        body = self._body(native, outcome, answer)
        mute = native == "beforeTabFileRead" and answer.verdict is Verdict.DENY
        stderr = f"{answer.reason}\n" if mute else ""
        return Reply(stdout=line(body), stderr=stderr.encode("utf-8", "backslashreplace"))

    def _body(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        denied = answer.verdict is Verdict.DENY
        if native in _PERMISSION:
            return self._permission(native, outcome, answer)
        if native == "beforeSubmitPrompt" and denied:
            return {"continue": False, "user_message": joined((answer.reason, *answer.notice))}
        if native in _CONTINUED and answer.follow_up:
            return {"followup_message": joined(answer.follow_up)}
        if native == "preCompact" and answer.notice:
            return {"user_message": joined(answer.notice)}
        if native == "sessionStart" and answer.context:
            return {"additional_context": joined(answer.context)}
        return _after_tool(outcome.event, answer) if native == "postToolUse" else {}

    def _permission(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        """Without the word ``permission`` the decision stays with Cursor."""
        body: dict[str, Any] = {}
        if answer.verdict is not Verdict.PASS:
            body["permission"] = answer.verdict.value
        if answer.verdict >= Verdict.ASK and native in _USER_MESSAGE:
            body["user_message"] = joined((answer.reason, *answer.notice))
            if native in _AGENT_MESSAGE:
                body["agent_message"] = joined((answer.reason, *answer.context))
        if answer.rewrite.input is not None and answer.verdict < Verdict.DENY:
            body["updated_input"] = self.final_input(outcome)
        return body

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def payload(self, event: Event) -> dict[str, Any]:
        """The keys that Cursor sends, for an event that came from elsewhere."""
        native = self.native_of(event)
        if not native:
            raise UnsupportedError(f"Cursor has no event for `{event.event_id()}`")
        return payload(event, native)

    def variables(self, event: Event, caller: Caller) -> Mapping[str, str]:
        """The project, also under the name that scripts for Claude Code look for."""
        project = caller.project_dir or event.cwd
        return {"CURSOR_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project}

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """As the client reads it."""
        native = self.native_of(event)
        answer = read(native, stdout=stdout, stderr=stderr, exit_code=exit_code)
        if answer.rewrite.output is not None and not _is_mcp(event):
            answer = replace(answer, rewrite=replace(answer.rewrite, output=None))
        if answer.rewrite.input is None or not isinstance(event, ToolEvent):
            return answer
        changed = self._changes(event, answer.rewrite.input)
        return replace(answer, rewrite=replace(answer.rewrite, input=changed))

    def _changes(self, event: ToolEvent, new: Mapping[str, Any]) -> dict[str, Any]:
        """A whole new input as what it changes in the one the hook was shown."""
        own = event.dialect == self.id and bytes(event.raw) != b"null"
        shown = event.tool.input if own else native_call(event.tool)[1]
        # Another platform's event wants canonical names, which it writes under its own keys.
        names = (
            {}
            if own or shown is event.tool.input
            else {key: name for name, key in OWN_KEYS.items()}
        )
        gone = {names.get(key, key): None for key in shown if key not in new}
        kept = {names.get(key, key): value for key, value in new.items() if shown.get(key) != value}
        return {**gone, **kept}


def _after_tool(event: Event, answer: Answer) -> dict[str, Any]:
    """Only an MCP tool's output can be replaced; beside any other stands what is to be known."""
    denied = answer.verdict is Verdict.DENY
    output = answer.reason if denied else answer.rewrite.output
    texts = answer.context
    body: dict[str, Any] = {}
    if output is not None and _is_mcp(event):
        # Nothing of the old answer is kept: its other parts may say the same thing again.
        body["updated_mcp_tool_output"] = {"content": [{"type": "text", "text": output}]}
    elif denied:
        texts = (answer.reason, *texts)
    if texts:
        body["additional_context"] = joined(texts)
    return body


def _goes_on(event: Event, native: str) -> bool:
    """Whether the agent may be kept going after it ended this way."""
    data = msgspec.json.decode(event.raw)
    status = data.get("status") if isinstance(data, dict) else None
    # A sub-agent's follow-up counts only then; and what a person stopped stays stopped.
    return status in (None, "completed") if native == "subagentStop" else status != "aborted"


def _is_mcp(event: Event) -> bool:
    return isinstance(event, ToolEvent) and event.tool.mcp is not None


def _edits(data: Mapping[str, Any]) -> dict[str, str]:
    edits = data.get("edits")
    parts = [part for part in edits if isinstance(part, dict)] if isinstance(edits, list) else []
    names = {"old": "old_string", "new": "new_string"}
    return {
        name: "\n".join(part[key] for part in parts if isinstance(part.get(key), str))
        for name, key in names.items()
    }


def _workspace(data: Mapping[str, Any]) -> str:
    roots = data.get("workspace_roots")
    return next((root for root in roots if _text(root)), "") if isinstance(roots, list) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
