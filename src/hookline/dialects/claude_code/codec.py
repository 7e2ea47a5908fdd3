"""Claude Code's payloads and answers."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, Words, joined
from hookline.dialects._support import load_support
from hookline.dialects._translate import PASSED
from hookline.dialects._wire import decision, line, permission
from hookline.dialects.claude_code.outputs import in_shape, read_text
from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.events import (
    ConfigChange,
    Event,
    PostToolUseFailure,
    SteeringSubmit,
    ToolEvent,
)
from hookline.model.outcome import Outcome, Reply, Substitution, Translated
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind, ToolRow, ToolTable

__all__ = ["ClaudeCode"]

_K = ToolKind
_SHELL = ToolRow(_K.SHELL, {"command": "command"})
_FILE = {"path": "file_path"}
_PATH = {"path": "path", "query": "pattern"}

_TOOLS = ToolTable(
    {
        "Bash": _SHELL,
        "PowerShell": _SHELL,
        "Monitor": _SHELL,
        "Write": ToolRow(_K.WRITE, {**_FILE, "content": "content"}),
        "Edit": ToolRow(_K.EDIT, {**_FILE, "old": "old_string", "new": "new_string"}),
        "MultiEdit": ToolRow(_K.EDIT, _FILE),
        "NotebookEdit": ToolRow(_K.EDIT, {"path": "notebook_path", "content": "new_source"}),
        "Read": ToolRow(_K.READ, _FILE),
        "Glob": ToolRow(_K.SEARCH, _PATH),
        "Grep": ToolRow(_K.SEARCH, _PATH),
        "LS": ToolRow(_K.SEARCH, {"path": "path"}),
        "LSP": ToolRow(_K.SEARCH, {"path": "filePath"}),
        "WebFetch": ToolRow(_K.FETCH, {"url": "url", "query": "prompt"}),
        "WebSearch": ToolRow(_K.FETCH, {"query": "query"}),
        "Agent": ToolRow(_K.AGENT, {"content": "prompt"}),
        "Task": ToolRow(_K.AGENT, {"content": "prompt"}),
        "Skill": ToolRow(_K.AGENT, {}),
        "TodoWrite": ToolRow(_K.TASK, {}),
        "TaskCreate": ToolRow(_K.TASK, {}),
        "TaskUpdate": ToolRow(_K.TASK, {}),
        "TaskList": ToolRow(_K.TASK, {}),
        "TaskGet": ToolRow(_K.TASK, {}),
        "AskUserQuestion": ToolRow(_K.ASK, {}),
        "ExitPlanMode": ToolRow(_K.PLAN, {"content": "plan"}),
        "EnterPlanMode": ToolRow(_K.PLAN, {}),
    }
)


_COMPACTED = Words("trigger", frozenset({"manual", "auto"}), "auto")
# Gemini CLI's one word for what is asked of a person.
_KINDS = {"ToolPermission": "permission_prompt"}
# The events whose payloads have the permission mode.
_TELL_MODE = frozenset(
    {
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Stop",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "Elicitation",
        "ElicitationResult",
    }
)

# Exit code 2 is the only word that blocks on these.
_EXIT_2 = {"TaskCreated", "TaskCompleted", "TeammateIdle", "WorktreeCreate", "Elicitation"}
# Context is plain text there, and an object of the event's own beside a block voids the block.
_PLAIN = {"PreCompact", "PostCompact"}

_SILENT = Reply()

# Who sends the prompts that a person, or their program, has sent.
_PEOPLE = ("user", "sdk")


class ClaudeCode(JsonDialect):
    """The dialect of Claude Code, and of the many that copied it."""

    id = "claude-code"
    tools = _TOOLS
    support = load_support(__file__)
    facts: ClassVar[Mapping[str, str]] = {
        "transcript_path": "transcript_path",
        "permission_mode": "permission_mode",
        "model": "model",
        "turn_id": "prompt_id",
    }
    facts_on: ClassVar[Mapping[str, frozenset[str]]] = {
        "permission_mode": _TELL_MODE,
        "model": frozenset({"SessionStart"}),
    }
    words: ClassVar[Mapping[str, Words]] = {
        "SessionStart": Words(
            "source", frozenset({"startup", "resume", "clear", "compact", "fork"}), "startup"
        ),
        "SessionEnd": Words(
            "reason",
            frozenset({"clear", "resume", "logout", "prompt_input_exit", "other"}),
            "other",
        ),
        "Setup": Words("trigger", frozenset({"init", "maintenance"}), "init"),
        "PreCompact": _COMPACTED,
        "PostCompact": _COMPACTED,
        "Notification": Words("kind", frozenset(), ""),
    }
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "SessionStart": {"source": "source"},
        "SessionEnd": {"reason": "reason"},
        "Setup": {"trigger": "trigger"},
        "InstructionsLoaded": {"path": "file_path", "reason": "load_reason"},
        "ConfigChange": {"path": "file_path", "source": "source"},
        "CwdChanged": {"old_cwd": "old_cwd", "new_cwd": "new_cwd"},
        "FileChanged": {"path": "file_path", "change": "event"},
        "DirectoryAdded": {"path": "directory"},
        "WorktreeCreate": {"name": "name"},
        "WorktreeRemove": {"path": "worktree_path"},
        "PreModelSwitch": {"from_model": "from_model", "to_model": "to_model"},
        "PostModelSwitch": {"from_model": "from_model", "to_model": "to_model"},
        "UserPromptSubmit": {"prompt": "prompt"},
        "UserPromptExpansion": {
            "command": "command_name",
            "args": "command_args",
            "prompt": "prompt",
        },
        "PermissionRequest": {"suggestions": "permission_suggestions"},
        "PostToolUseFailure": {"error": "error"},
        "SubagentStop": {
            "last_message": "last_assistant_message",
            "stop_hook_active": "stop_hook_active",
            "agent_transcript_path": "agent_transcript_path",
        },
        "Stop": {"last_message": "last_assistant_message", "stop_hook_active": "stop_hook_active"},
        "StopFailure": {"error": "error", "last_message": "last_assistant_message"},
        "TaskCreated": {"task.id": "task_id", "task.subject": "task_subject"},
        "TaskCompleted": {"task.id": "task_id", "task.subject": "task_subject"},
        "PreCompact": {"trigger": "trigger", "custom_instructions": "custom_instructions"},
        "PostCompact": {"trigger": "trigger", "summary": "compact_summary"},
        "Notification": {"kind": "notification_type", "message": "message", "title": "title"},
        "Elicitation": {
            "server": "mcp_server_name",
            "message": "message",
            "schema": "requested_schema",
        },
        "ElicitationResult": {"action": "action", "content": "content"},
        "MessageDisplay": {"text": "delta", "final": "final"},
    }

    def is_automatic(self, data: Mapping[str, Any], prompt: str) -> bool:
        """Some versions say who has sent a prompt."""
        return data.get("source", "user") not in _PEOPLE or super().is_automatic(data, prompt)

    def output_text(self, response: Any) -> str:
        """A tool's answer as the model reads it, where that is one text."""
        text = read_text(response)
        return super().output_text(response) if text is None else text

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """Permission decisions, batches, and what a person stopped."""
        if native == "PostToolUseFailure":
            return {"interrupted": True} if data.get("is_interrupt") is True else {}
        if native == "PermissionDenied":
            return {"decision": "deny", "by": "classifier"}
        if native == "PostToolBatch":
            calls = data.get("tool_calls")
            each = calls if isinstance(calls, list) else []
            return {"calls": tuple(self.read_tool(c, native) for c in each if isinstance(c, dict))}
        return {}

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def translate(self, outcome: Outcome) -> Translated:
        """As everywhere, but for settings of the organisation, which apply whatever a hook says."""
        if outcome.answer is PASS:
            return PASSED
        done = super().translate(outcome)
        event, verdict = outcome.event, outcome.verdict
        is_policy = isinstance(event, ConfigChange) and event.source == "policy_settings"
        if not is_policy or verdict < Verdict.DENY:
            return done
        why = "Claude Code applies policy settings whatever a hook says"
        latch = outcome.reason if verdict is Verdict.HALT else done.latch
        now = "latch" if verdict is Verdict.HALT else "nothing"
        change = Substitution(verdict.value, now, why)
        return replace(done, latch=latch, substitutions=(*done.substitutions, change))

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """JSON on stdout with exit 0; exit 2 only where the client reads nothing else."""
        if answer is PASS:
            return _SILENT
        native = self.native_of(outcome.event)
        if answer.verdict is Verdict.DENY and native in _EXIT_2:
            return Reply(stderr=answer.reason.encode("utf-8", "replace"), exit_code=2)
        if answer.follow_up and native in _EXIT_2 and answer.verdict is not Verdict.HALT:
            return Reply(stderr=joined(answer.follow_up).encode("utf-8", "replace"), exit_code=2)
        if native in _PLAIN and answer.verdict is Verdict.PASS:
            return Reply(stdout=joined(answer.context).encode("utf-8", "replace"))
        body = self._body(native, outcome, answer)
        return Reply(stdout=line(body) if body else b"")

    def _body(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        body: dict[str, Any] = {}
        own: dict[str, Any] = {}
        if answer.notice:
            body["systemMessage"] = joined(answer.notice)
        if answer.context and native not in _PLAIN:
            own["additionalContext"] = joined(answer.context)
        if answer.verdict is Verdict.HALT:
            body |= {"continue": False, "stopReason": answer.reason}
        if native in {"PreToolUse", "PreModelSwitch"}:
            own |= permission(outcome, answer, self.final_input)
        elif native == "PermissionRequest":
            own |= decision(answer)
        elif answer.verdict is Verdict.DENY or (
            answer.verdict is Verdict.HALT and native in {"UserPromptSubmit", "PostToolUse"}
        ):
            body |= {"decision": "block", "reason": answer.reason}
        elif answer.follow_up and answer.verdict is not Verdict.HALT:
            body |= {"decision": "block", "reason": joined(answer.follow_up)}
        output = answer.rewrite.output
        if native == "PostToolUse" and answer.verdict is Verdict.DENY:
            output = answer.reason  # a block alone keeps the output and only adds the reason
        if output is not None:
            own |= self._output(outcome, output)
        if answer.rewrite.display is not None:
            own["displayContent"] = answer.rewrite.display
        if own:
            body["hookSpecificOutput"] = {"hookEventName": native, **own}
        return body

    def _output(self, outcome: Outcome, text: str) -> dict[str, Any]:
        """The client ignores an output that has not the shape of the tool's own."""
        event = outcome.event
        assert isinstance(event, ToolEvent)
        if event.tool.mcp is not None:
            return {"updatedMCPToolOutput": text}
        try:
            response = msgspec.json.decode(bytes(event.raw))["tool_response"]
        except (msgspec.MsgspecError, KeyError, TypeError):
            response = text
        return {"updatedToolOutput": in_shape(response, text)}

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def variables(self, event: Event, caller: Caller) -> Mapping[str, str]:
        """The project, the session, and the mark by which scripts know the client."""
        own = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": event.session_id}
        return {**super().variables(event, caller), **own}

    def stdin(self, event: Event) -> bytes:
        """One line with its end, without which a shell's ``read`` reports a failure."""
        told = super().stdin(event)
        return told if told == bytes(event.raw) else told + b"\n"

    def payload(self, event: Event) -> dict[str, Any]:
        """A payload in this client's own words, for an event that came from elsewhere."""
        data = super().payload(event)
        native = self.native_of(event)
        if isinstance(event, SteeringSubmit) and not event.prompt:
            data["prompt"] = "\n\n".join(event.prompts)
        if native in {"SubagentStart", "SubagentStop"}:
            data |= {"agent_id": event.agent.id or "", "agent_type": event.agent.name}
        elif event.agent.name != "root":  # also of the main agent, where a person chose one
            data["agent_type"] = event.agent.name
        if isinstance(event, ToolEvent) and event.tool.duration_ms is not None:
            data["duration_ms"] = event.tool.duration_ms
        if isinstance(event, PostToolUseFailure):
            data["is_interrupt"] = event.interrupted
        return data

    @classmethod
    def native_word(cls, native: str, event: Event) -> str | None:
        """Also what is told of a person's question, in other clients' words."""
        if native == "Notification":
            kind = getattr(event, "kind", "")
            return _KINDS.get(kind, kind)
        return super().native_word(native, event)

    def native_tool(self, tool: Tool) -> str:
        """This client's name of a tool, also where it has several of one kind."""
        if tool.mcp is not None and not tool.name.startswith("mcp__"):
            return f"mcp__{tool.mcp.server}__{tool.mcp.tool}"
        if tool.name in self.tools.rows:
            return tool.name
        if tool.kind is ToolKind.SEARCH and "grep" in tool.name.lower():
            return "Grep"
        if tool.kind is ToolKind.FETCH and tool.url is None and tool.query is not None:
            return "WebSearch"
        return super().native_tool(tool)

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """As the client reads it, failures closed by the hook's own ``on_error``."""
        from hookline.dialects.claude_code.answers import read  # many configs start no program

        native = self.native_of(event)
        answer = read(native, stdout=stdout, stderr=stderr, exit_code=exit_code)
        if answer.rewrite.input is None or not isinstance(event, ToolEvent):
            return answer
        changed = self.meant(event.tool, answer.rewrite.input) or None
        return replace(answer, rewrite=replace(answer.rewrite, input=changed))
