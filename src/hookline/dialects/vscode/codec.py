"""VS Code's payloads and answers: Claude Code's words, and other rules on where they count."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, joined
from hookline.dialects._support import load_support
from hookline.dialects._wire import line, permission
from hookline.dialects.vscode.answers import read
from hookline.model.answers import NO_REWRITE, Answer, Verdict
from hookline.model.errors import UnsupportedError
from hookline.model.events import Event, SteeringSubmit, ToolEvent
from hookline.model.outcome import Outcome, Reply
from hookline.model.text import visible
from hookline.model.tools import Mcp, Tool, ToolKind, ToolRow, ToolTable, patched_paths

__all__ = ["VSCode"]

_K = ToolKind
_FILE = {"path": "filePath"}
_TASK = "create_and_run_task"


class _Tools(ToolTable):
    """Adds what keys alone cannot say: ``mcp_server_tool`` names, and a task's nested command."""

    def read(self, name: str, input: dict[str, Any], *, kind: ToolKind | None = None) -> Tool:
        tool = super().read(name, input, kind=kind)
        if name in self.rows or tool.mcp is not None or not name.startswith("mcp_"):
            return tool
        # A server's name may hold underscores too, and then nothing says where it ends.
        server, _, rest = name.removeprefix("mcp_").partition("_")
        return replace(tool, mcp=Mcp(server, rest), kind=kind or _K.MCP)

    def write(
        self, name: str, input: Mapping[str, Any], patch: Mapping[str, Any]
    ) -> dict[str, Any]:
        task = input.get("task")
        if name != _TASK or not isinstance(task, dict) or "command" not in patch:
            return super().write(name, input, patch)
        rest = {key: value for key, value in patch.items() if key != "command"}
        changed = {**task, "command": patch["command"], "args": []}
        return super().write(name, input, {"task": changed, **rest})


def _task(input: Mapping[str, Any]) -> Mapping[str, Any]:
    task = input.get("task")
    if not isinstance(task, dict):
        return {}
    args = task.get("args")
    words = [task.get("command"), *(args if isinstance(args, list) else [])]
    # Joined as they are, not quoted: the task's shell splits and expands them.
    command = " ".join(word for word in words if isinstance(word, str))
    return {"command": command} if command else {}


def _replacements(input: Mapping[str, Any]) -> Mapping[str, Any]:
    each = input.get("replacements")
    parts = [part for part in each if isinstance(part, dict)] if isinstance(each, list) else []

    def all_of(key: str) -> list[str]:
        return [part[key] for part in parts if isinstance(part.get(key), str)]

    return {
        "paths": tuple(dict.fromkeys(all_of("filePath"))),
        "old": "\n".join(all_of("oldString")),
        "new": "\n".join(all_of("newString")),
    }


def _patch(input: Mapping[str, Any]) -> Mapping[str, Any]:
    text = input.get("input")
    return {"paths": patched_paths(text)} if isinstance(text, str) else {}


def _urls(input: Mapping[str, Any]) -> Mapping[str, Any]:
    urls = input.get("urls")
    words = [url for url in urls if isinstance(url, str)] if isinstance(urls, list) else []
    return {"url": "\n".join(words)} if words else {}


_TOOLS = _Tools(
    {
        "run_in_terminal": ToolRow(_K.SHELL, {"command": "command"}),
        _TASK: ToolRow(_K.SHELL, {}, _task),
        "create_file": ToolRow(_K.WRITE, {**_FILE, "content": "content"}),
        "create_directory": ToolRow(_K.WRITE, {"path": "dirPath"}),
        "replace_string_in_file": ToolRow(
            _K.EDIT, {**_FILE, "old": "oldString", "new": "newString"}
        ),
        "multi_replace_string_in_file": ToolRow(_K.EDIT, {}, _replacements),
        "insert_edit_into_file": ToolRow(_K.EDIT, {**_FILE, "content": "code"}),
        "edit_notebook_file": ToolRow(_K.EDIT, {**_FILE, "content": "newCode"}),
        "apply_patch": ToolRow(_K.EDIT, {"content": "input"}, _patch),
        "editFiles": ToolRow(_K.EDIT),
        "edit_files": ToolRow(_K.EDIT),
        "read_file": ToolRow(_K.READ, _FILE),
        "view_image": ToolRow(_K.READ, _FILE),
        "read_notebook_cell_output": ToolRow(_K.READ, _FILE),
        "copilot_getNotebookSummary": ToolRow(_K.READ, _FILE),
        "list_dir": ToolRow(_K.SEARCH, {"path": "path"}),
        "file_search": ToolRow(_K.SEARCH, {"query": "query"}),
        "grep_search": ToolRow(_K.SEARCH, {"query": "query"}),
        "semantic_search": ToolRow(_K.SEARCH, {"query": "query"}),
        "search_workspace_symbols": ToolRow(_K.SEARCH, {"query": "symbolName"}),
        "list_code_usages": ToolRow(_K.SEARCH, {"query": "symbolName", "paths": "filePaths"}),
        "test_search": ToolRow(_K.SEARCH, {"paths": "filePaths"}),
        "fetch_webpage": ToolRow(_K.FETCH, {"query": "query"}, _urls),
        "open_simple_browser": ToolRow(_K.FETCH, {"url": "url"}),
        "github_repo": ToolRow(_K.FETCH, {"query": "query"}),
        "runSubagent": ToolRow(_K.AGENT, {"content": "prompt"}),
        "search_subagent": ToolRow(_K.AGENT, {"query": "query"}),
        "manage_todo_list": ToolRow(_K.TASK),
        "ask_questions": ToolRow(_K.ASK),
        "vscode_askQuestions": ToolRow(_K.ASK),
        # Its `command` is a word such as "view", not something a shell runs.
        "memory": ToolRow(_K.OTHER, {"path": "path", "content": "file_text"}),
        "run_notebook_cell": ToolRow(_K.OTHER, _FILE),
        "run_task": ToolRow(_K.OTHER),
        "run_vscode_command": ToolRow(_K.OTHER),
    }
)


# Here a stop reason has no effect, and may cost the rest of the answer.
_NEVER_STOPPED = {"SessionStart", "SubagentStart", "PreCompact"}
_CONTINUED = {"Stop", "SubagentStop"}


class VSCode(JsonDialect):
    """The dialect of VS Code's local agent."""

    id = "vscode"
    tools = _TOOLS
    support = load_support(__file__)
    also: ClassVar[Mapping[str, str]] = {
        "session_resume": "SessionStart",
        "steering_submit": "UserPromptSubmit",
        "follow_up_submit": "UserPromptSubmit",
        "before_compaction": "PreCompact",
    }
    facts: ClassVar[Mapping[str, str]] = {"transcript_path": "transcript_path", "model": "model"}
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "SessionStart": {"source": "source"},
        "UserPromptSubmit": {"prompt": "prompt"},
        "PreCompact": {"trigger": "trigger", "custom_instructions": "custom_instructions"},
        "SubagentStop": {"stop_hook_active": "stop_hook_active"},
        "Stop": {"stop_hook_active": "stop_hook_active"},
    }

    def read_event_name(self, data: Mapping[str, Any]) -> str:
        """The event; the first versions wrote ``hookEventName``."""
        old = data.get("hookEventName")
        return super().read_event_name(data) or (old if isinstance(old, str) else "")

    def common(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """What every event has; the first versions wrote ``sessionId``."""
        found = super().common(data, native)
        old = data.get("sessionId")
        if not found["session_id"] and isinstance(old, str):
            found["session_id"] = old
        return found

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def own_cells(self, outcome: Outcome, native: str) -> Mapping[str, str]:
        """A new input that the client would throw away is denied."""
        event = outcome.event
        if outcome.answer.rewrite.input is None or not isinstance(event, ToolEvent):
            return {}
        keeps = self._keeps_the_schema(event, self.final_input(outcome))
        return {} if keeps else {"input": "deny"}

    def _keeps_the_schema(self, event: ToolEvent, after: Mapping[str, Any]) -> bool:
        """Whether the tool surely takes this: its own keys, each with the type it had.

        An input outside the tool's schema is dropped without a word, and the old one runs.
        """
        before, row = event.tool.input, self.tools.rows.get(event.tool.name)
        known = set(row.keys.values()) if row is not None else set()
        return set(before) <= set(after) and all(
            type(value) is type(before[key])
            if key in before
            else key in known and isinstance(value, str)
            for key, value in after.items()
        )

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """JSON on stdout with exit 0, or nothing at all."""
        native = self.native_of(outcome.event)
        body = self._body(native, outcome, answer)
        return Reply(stdout=line(body) if body else b"")

    def _body(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        body: dict[str, Any] = {}
        own: dict[str, Any] = {}
        # Also where a halt became a latch: what can be ended here is ended besides.
        halted = outcome.verdict is Verdict.HALT and native not in _NEVER_STOPPED
        if answer.notice:
            body["systemMessage"] = joined(answer.notice)
        if answer.context:
            own["additionalContext"] = joined(answer.context)
        if halted:
            body |= _stop(visible(outcome.reason))
        if native == "PreToolUse":
            own |= permission(outcome, answer, self.final_input)
        elif native == "PostToolUse" and answer.verdict in {Verdict.DENY, Verdict.HALT}:
            body |= {"decision": "block", "reason": answer.reason}
        elif native == "UserPromptSubmit" and answer.verdict in {Verdict.DENY, Verdict.HALT}:
            # The documentation knows only the second, which for a prompt is the same.
            body |= {"decision": "block", "reason": answer.reason, **_stop(answer.reason)}
        elif native in _CONTINUED and answer.follow_up and not halted:
            # Without a reason the client passes over the block.
            reason = joined(answer.follow_up).strip() or "A hook wants the work to go on."
            again = {"decision": "block", "reason": reason}
            own |= again
            if native == "SubagentStop":
                body |= again
        if own:
            body["hookSpecificOutput"] = {"hookEventName": native, **own}
        return body

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def payload(self, event: Event) -> dict[str, Any]:
        """The keys that VS Code sends, for an event that came from elsewhere."""
        native = self.native_of(event)
        if not native:
            raise UnsupportedError(f"VS Code has no event for `{event.event_id()}`")
        data = {"timestamp": event.time.isoformat(), **super().payload(event)}
        # The first versions had these names, and hooks that were written then still read them.
        data |= {"sessionId": event.session_id, "hookEventName": native}
        if native in {"SubagentStart", "SubagentStop"}:
            data |= {"agent_id": event.agent.id or "", "agent_type": event.agent.name}
        else:
            data.pop("agent_id", None)
            data.pop("agent_type", None)
        if native == "SessionStart":
            data["source"] = "new"  # the only word it knows
        elif isinstance(event, SteeringSubmit):
            data["prompt"] = event.prompt or "\n\n".join(event.prompts)
        elif native == "PreCompact":
            data["trigger"] = data["trigger"] or "auto"
        elif isinstance(event, ToolEvent):
            data.setdefault("tool_use_id", "")
        return data

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """As the client reads it; what it passes over without a word is a failure here."""
        answer = read(self.native_of(event), stdout=stdout, stderr=stderr, exit_code=exit_code)
        if answer.rewrite.input is None or not isinstance(event, ToolEvent):
            return answer
        mistake = self._mistake(event.tool, answer.rewrite.input)
        if mistake:
            tool = self.native_tool(event.tool)
            told = f"`updatedInput` does not fit `{tool}` ({mistake}): VS Code ignores it"
            return replace(answer, rewrite=NO_REWRITE, notice=(*answer.notice, told))
        changed = self.meant(event.tool, answer.rewrite.input) or None
        return replace(answer, rewrite=replace(answer.rewrite, input=changed))

    def _mistake(self, tool: Tool, new: Mapping[str, Any]) -> str:
        """Why the client would throw this input away; empty when it may take it."""
        sent, row = self.native_input(tool), self.tools.rows.get(self.native_tool(tool))
        for key in row.keys.values() if row is not None else ():
            if key in sent and key not in new:
                return f"`{key}` is missing"
        odd = (
            key for key, value in new.items() if key in sent and _kind(value) != _kind(sent[key])
        )
        return next((f"`{visible(key)}` is of another type" for key in odd), "")


def _kind(value: Any) -> object:
    """A type as a schema has it, which knows one kind of numbers."""
    return float if type(value) is int else type(value)


def _stop(reason: str) -> dict[str, Any]:
    return {"continue": False, "stopReason": reason}
