"""docker-agent's payloads and answers, on both lanes of its tool approval."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, Keys, Words, joined, read_count
from hookline.dialects._shown import changes, shown
from hookline.dialects._support import load_support
from hookline.dialects._translate import translate
from hookline.dialects._wire import line
from hookline.dialects.docker_agent.answers import PREEMPT_LANE, advisory, read_answer
from hookline.dialects.docker_agent.tools import TOOLS
from hookline.model.answers import Answer, Verdict
from hookline.model.errors import DecodeError, HandlerAnswerError
from hookline.model.events import Agent, Event, PostToolUseFailure, SteeringSubmit, ToolEvent
from hookline.model.outcome import Outcome, Reply, Substitution, Translated
from hookline.model.tools import Mcp, Tool, ToolKind

__all__ = ["DockerAgent"]

_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "context_limit": "context_limit",
    "trigger": "compaction_reason",
}
_PRESSED = Words("trigger", frozenset({"threshold", "overflow", "manual"}), "threshold")
# The program itself also says the last one, which its page leaves out.
_ENDS = frozenset({"clear", "logout", "prompt_input_exit", "other", "stream_ended"})
_CAPS = ("previous_max_iterations", "new_max_iterations")
_ASKED_BEFORE = {"pre_tool_use", PREEMPT_LANE, "permission_request"}
_DONE = {"post_tool_use", "tool_response_transform"}
_CATEGORIES = {
    ToolKind.SHELL: "shell",
    ToolKind.MCP: "mcp",
    **dict.fromkeys(
        (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT, ToolKind.DELETE, ToolKind.SEARCH),
        "filesystem",
    ),
}
_ALWAYS = {"session_id", "cwd", "hook_event_name", "cost", "tool_response"}
# A command that fails has no `tool_error`; its whole output begins like this.
_FAILED = "Error executing command: "
# Above this its own shortening of the response, which stands before every other hook, wins.
_MAX_BYTES, _MAX_LINES = 51_200, 2_000


class DockerAgent(JsonDialect):
    """The dialect of docker-agent: snake case in and out."""

    id = "docker-agent"
    tools = TOOLS
    support = load_support(__file__)
    keys = Keys(agent_type="agent_name")
    words: ClassVar[Mapping[str, Words]] = {
        "session_start": Words(
            "source", frozenset({"startup", "resume", "clear", "compact"}), "startup"
        ),
        "session_end": Words("reason", _ENDS, "other"),
        "pre_compact": Words(
            "trigger", frozenset({"manual", "auto", "overflow", "tool_overflow"}), "auto"
        ),
        "before_compaction": _PRESSED,
        "after_compaction": _PRESSED,
        "notification": Words("kind", frozenset({"error", "warning"}), "warning"),
    }
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "session_start": {"source": "source"},
        "session_end": {"reason": "reason"},
        "worktree_create": {
            "path": "worktree_path",
            "branch": "worktree_branch",
            "source_dir": "worktree_source_dir",
        },
        "user_prompt_submit": {"prompt": "prompt"},
        "user_followup_submit": {"prompt": "prompt"},
        "turn_end": {"reason": "reason"},
        "before_llm_call": {
            "model": "model_id",
            "iteration": "iteration",
            "messages": "messages",
        },
        "after_llm_call": {"model": "model_id", "usage": "usage", "cost_usd": "cost"},
        "on_tool_approval_decision": {"decision": "approval_decision", "by": "approval_source"},
        "pre_compact": {"trigger": "source"},
        "before_compaction": _TOKENS,
        "after_compaction": {**_TOKENS, "summary": "summary"},
        "subagent_stop": {"last_message": "stop_response"},
        "stop": {"last_message": "stop_response", "last_user_message": "last_user_message"},
        "on_agent_switch": {
            "from_agent": "from_agent",
            "to_agent": "to_agent",
            "kind": "agent_switch_kind",
        },
        "notification": {"kind": "notification_level", "message": "notification_message"},
        "on_error": {"message": "notification_message"},
    }

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """Steering as one text, a model call as messages, a finished sub-agent as the agent."""
        if native == "user_steering_messages_submit":
            drained = data.get("steering_messages")
            texts = [t for t in drained if isinstance(t, str)] if isinstance(drained, list) else []
            return {"prompts": texts, "prompt": "\n".join(texts)}
        if native == "after_llm_call":
            roles = {"user": "last_user_message", "assistant": "stop_response"}
            return {
                "messages": [
                    {"role": role, "content": data[key]}
                    for role, key in roles.items()
                    if data.get(key)
                ]
            }
        if native == "subagent_stop":
            ids = {"id": data.get("session_id"), "parent": data.get("parent_session_id")}
            known = {key: value for key, value in ids.items() if isinstance(value, str)}
            name = data.get("agent_name")
            return {"agent": Agent(name=name if isinstance(name, str) else "", depth=1, **known)}
        if native == "on_session_resume":
            caps = {name: read_count(data, name) for name in _CAPS}
            return {"source": "max_iterations"} | {k: v for k, v in caps.items() if v is not None}
        return {}

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """The tool, unless what it will do cannot be told from the payload."""
        tool = super().read_tool(data, native)
        if native in _ASKED_BEFORE:
            self.tools.check(tool.name, tool.input)
            if tool.name == "edit_file" and not tool.input:
                # The client leaves broken arguments out, and then repairs and runs them.
                raise DecodeError("the arguments of `edit_file` are no JSON object")
        if native in _DONE:
            text = tool.output or ""
            failed = tool.kind is ToolKind.SHELL and text.startswith(_FAILED)
            tool = replace(tool, ok=data.get("tool_error") is not True and not failed)
        if tool.name.startswith("mcp:"):
            server, _, name = tool.name.removeprefix("mcp:").partition(":")
            return replace(tool, kind=ToolKind.MCP, mcp=Mcp(server, name))
        if data.get("tool_category") == "mcp" and tool.mcp is None:
            # The server's name is glued to the tool's by `_`, which both may contain.
            return replace(tool, kind=ToolKind.MCP, mcp=Mcp("", tool.name))
        return tool

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def translate(self, outcome: Outcome) -> Translated:
        """As everywhere, but that an empty rewrite is none and a large response is not ours."""
        changes: list[Substitution] = []
        outcome = _without_empty(outcome, changes)
        lane = outcome.event.native_event == PREEMPT_LANE
        native = PREEMPT_LANE if lane else self.native_of(outcome.event)
        translated = translate(outcome, self.support, native)
        changes += translated.substitutions
        if _outvoted(outcome, translated.answer):
            why = (
                "docker-agent shortens a response of this size itself, and its text is the one used"
            )
            changes.append(Substitution("rewrite.output", "possibly nothing", why))
        return replace(translated, substitutions=tuple(changes))

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """JSON on stdout and exit 0: with exit 2 only stderr would be read."""
        native = self.native_of(outcome.event)
        body: dict[str, Any] = {}
        own: dict[str, Any] = {}
        if native in _ASKED_BEFORE:
            own |= self._permission(native, outcome, answer)
        elif native == "tool_response_transform":
            text = answer.reason if answer.verdict is Verdict.DENY else answer.rewrite.output
            own |= {} if text is None else {"updated_tool_response": text}
        elif answer.verdict is Verdict.HALT:
            body |= {"continue": False, "stop_reason": answer.reason}
        elif answer.verdict is Verdict.DENY:
            body |= {"decision": "block", "reason": answer.reason}
        else:
            parts = {"summary": "summary", "updated_messages": "messages"}
            said = {key: getattr(answer.rewrite, part) for key, part in parts.items()}
            own |= {key: value for key, value in said.items() if value is not None}
        if answer.context:
            own["additional_context"] = joined(answer.context)
        if own:
            body["hook_specific_output"] = {"hook_event_name": native, **own}
        # The client's question does not show the reason why it is asked.
        asked = (answer.reason,) if answer.verdict is Verdict.ASK else ()
        if notice := (*answer.notice, *asked):
            body["system_message"] = joined(notice)
        return Reply(stdout=line(body) if body else b"")

    def _permission(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        own: dict[str, Any] = {}
        silent = native == "permission_request" and answer.verdict is Verdict.ASK
        if answer.verdict is not Verdict.PASS and not silent:
            own["permission_decision"] = answer.verdict.value
            if answer.reason:
                own["permission_decision_reason"] = answer.reason
        # These two show what they are told with the question, if there is one.
        shows = native == "permission_request" or outcome.event.native_event == PREEMPT_LANE
        if shows and answer.verdict in {Verdict.PASS, Verdict.ASK}:
            notes = {k: v for k, v in answer.metadata.items() if isinstance(v, str)}
            if answer.verdict is Verdict.ASK:
                notes["reason"] = answer.reason
            own |= {"metadata": notes} if notes else {}
        if answer.rewrite.input is not None and answer.verdict is not Verdict.DENY:
            own["updated_input"] = self._updated(outcome)
        return own

    def _updated(self, outcome: Outcome) -> dict[str, Any]:
        """The whole input, with a null for each key that must go.

        Versions differ on whether this replaces the input or is laid over it; null means absent
        to both, and to a tool that takes `Path` for `path`.
        """
        event = outcome.event
        assert isinstance(event, ToolEvent)
        final = self.final_input(outcome)
        name = event.tool.name
        gone = [key for key in event.tool.input if key not in final]
        gone += [key for key, meant in self.tools.strays(name, final).items() if meant in final]
        return {**final, **dict.fromkeys(gone)}

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """As the client reads it; a broken answer is a failure wherever it could have blocked."""
        native = self.native_of(event)
        answer = read_answer(native, stdout=stdout, stderr=stderr, exit_code=exit_code)
        if event.native_event == PREEMPT_LANE:
            return advisory(answer)
        if native == "pre_tool_use" and answer.metadata:
            # The client shows such notes with a question of the other lane, or of its own.
            answer = replace(answer, metadata={})
        if answer.rewrite.input is None or not isinstance(event, ToolEvent):
            return answer
        changed = self._changed(event.tool, answer.rewrite.input)
        return replace(answer, rewrite=replace(answer.rewrite, input=changed))

    def _changed(self, tool: Tool, new: Mapping[str, Any]) -> dict[str, Any]:
        """New values of an input, laid over the one that the hook was shown."""
        sent, names = shown(self.tools, self.native_tool(tool), tool)
        changed: dict[str, Any] = {}
        for key, value in changes(sent, names, new, whole=False).items():
            changed |= {key: value} if key in tool.input else _singly(key, value)
        return changed

    def native_of(self, event: Event) -> str:
        """Both lanes are asked about one event."""
        name = super().native_of(event)
        return "pre_tool_use" if name == PREEMPT_LANE else name

    def native_for(self, event: str) -> str:
        """One event tells of success and failure here."""
        return super().native_for("post_tool_use" if event == "post_tool_use_failure" else event)

    def payload(self, event: Event) -> dict[str, Any]:
        """A native payload, in which what is empty is left out."""
        data = super().payload(event)
        native = data["hook_event_name"]
        data.pop("agent_id", None)
        data["agent_name"] = event.agent.name
        if isinstance(event, PostToolUseFailure):
            data |= {"tool_response": event.error or event.tool.output, "tool_error": True}
        elif isinstance(event, ToolEvent) and native in _DONE:
            data["tool_error"] = event.tool.ok is False
            if native == "tool_response_transform":
                data["tool_category"] = _category(data["tool_name"], event.tool)
        elif isinstance(event, SteeringSubmit):
            data["steering_messages"] = event.prompts or (event.prompt,)
        data |= _host_words(native, event)
        kept = {key: value for key, value in data.items() if value is not None}
        return {key: value for key, value in kept.items() if value or key in _ALWAYS}

    def native_input(self, tool: Tool) -> dict[str, Any]:
        """Pages and edits come in lists here."""
        sent, _ = shown(self.tools, self.native_tool(tool), tool)
        match self.native_tool(tool):
            case "fetch" if tool.url and "urls" not in tool.input:
                return {"urls": [tool.url]}
            case "edit_file" if tool.path and tool.new is not None and "edits" not in tool.input:
                edits = [{"oldText": tool.old or "", "newText": tool.new}]
                return {"path": tool.path, "edits": edits}
            case _:
                return sent


def _category(name: str, tool: Tool) -> str:
    """The kind of toolset that a tool is from."""
    if tool.kind is ToolKind.AGENT:
        return "handoff" if name == "handoff" else "transfer"
    return _CATEGORIES.get(tool.kind, "")


def _singly(key: str, value: Any) -> dict[str, Any]:
    """What comes in lists here, for a platform whose tools take one at a time."""
    match key, value:
        case "urls", [str(url)]:
            return {"url": url}
        case "edits", [{"oldText": str(old), "newText": str(new)}]:
            return {"old": old, "new": new}
        case "urls" | "edits", _:
            raise HandlerAnswerError(f"`{key}` was changed to what this call cannot take")
        case _:
            return {key: value}


def _host_words(native: str, event: Event) -> dict[str, Any]:
    """What events of this platform say that stands elsewhere in those of others."""
    match native:
        case "on_error":
            return {"notification_level": "error"}
        case "on_max_iterations":
            return {"notification_level": "warning", "notification_message": "max iterations"}
        case "on_session_resume":
            return {name: getattr(event, name, None) for name in _CAPS}
        case "subagent_stop":
            return {"parent_session_id": event.agent.parent}
        case "after_llm_call":
            said = {m.get("role"): m.get("content") for m in getattr(event, "messages", ())}
            return {"last_user_message": said.get("user"), "stop_response": said.get("assistant")}
        case _:
            return {}


def _without_empty(outcome: Outcome, changes: list[Substitution]) -> Outcome:
    """No messages, or no summary, means "leave it" to the client, which would go on unchanged."""
    answer = outcome.answer
    for part in ("messages", "summary"):
        value = getattr(answer.rewrite, part)
        if value is None or value:
            continue
        why = f"docker-agent takes an empty `{part}` for no change"
        changes.append(Substitution(f"rewrite.{part}", "deny", why))
        if answer.verdict < Verdict.DENY:
            reason = f"A hook left nothing of the {part}, which cannot be said here."
            answer = replace(answer, verdict=Verdict.DENY, reason=reason)
        answer = replace(answer, rewrite=replace(answer.rewrite, **{part: None}))
    return outcome if answer is outcome.answer else replace(outcome, answer=answer)


def _outvoted(outcome: Outcome, answer: Answer) -> bool:
    event = outcome.event
    if event.native_event != "tool_response_transform" or not isinstance(event, ToolEvent):
        return False
    if answer.rewrite.output is None and answer.verdict is not Verdict.DENY:
        return False
    text = event.tool.output or ""
    return len(text.encode("utf-8", "replace")) > _MAX_BYTES or text.count("\n") > _MAX_LINES
