"""Kodelet's payloads and answers, as its hook executables exchange them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects._native import JsonDialect, Keys, said
from hookline.dialects._shown import changes, shown
from hookline.dialects._support import load_support
from hookline.dialects._wire import NO_REASON, FoldingTools, crashed, folded, line
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, deny, follow_up
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import Agent, Event, PostToolUseFailure, Stop, SubagentStop, ToolEvent
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import Mcp, Tool, ToolKind, ToolRow, patched_paths

__all__ = ["Kodelet"]

# How the program marks calls and their results among the words of the assistant.
_CALL, _RESULT = "🔧", "🔄"
_K = ToolKind
_FILE = {"path": "file_path"}
_PATTERN = {"query": "pattern", "path": "path"}


def _patch(input: Mapping[str, Any]) -> Mapping[str, Any]:
    text = input.get("input")
    return {"paths": patched_paths(text), "content": text} if isinstance(text, str) else {}


_TOOLS = FoldingTools(
    {
        "bash": ToolRow(_K.SHELL, {"command": "command"}),
        "file_read": ToolRow(_K.READ, _FILE),
        "file_write": ToolRow(_K.WRITE, {**_FILE, "content": "text"}),
        "file_edit": ToolRow(_K.EDIT, {**_FILE, "old": "old_text", "new": "new_text"}),
        "file_multi_edit": ToolRow(_K.EDIT, _FILE),
        "apply_patch": ToolRow(_K.EDIT, {}, _patch),
        "view_image": ToolRow(_K.READ, {"path": "path"}),
        # Runs a program that the agent wrote: as dangerous as a shell, and judged as one.
        "code_execution": ToolRow(_K.SHELL, {"command": "code_path"}),
        "grep_tool": ToolRow(_K.SEARCH, _PATTERN),
        "glob_tool": ToolRow(_K.SEARCH, _PATTERN),
        "web_fetch": ToolRow(_K.FETCH, {"url": "url", "query": "prompt"}),
        "subagent": ToolRow(_K.AGENT, {"content": "question"}),
        "skill": ToolRow(_K.AGENT),
        "todo_read": ToolRow(_K.TASK),
        "todo_write": ToolRow(_K.TASK),
        "get_goal": ToolRow(_K.TASK),
        "update_goal": ToolRow(_K.TASK),
    },
    also=("input",),
)


# Of the hooks after a tool the last that ends with 0 counts: silence would take back what another
# one has redacted. A hook that failed is passed over.
_SILENT_AFTER = Reply(exit_code=1)


class _Result(Struct, frozen=True, kw_only=True):
    blocked: bool | None = None
    reason: str | None = None
    input: Any = None
    output: dict[str, Any] | None = None
    follow_up_messages: list[str] | None = None


class Kodelet(JsonDialect):
    """The dialect of Kodelet: one executable a hook, one JSON object each way."""

    id = "kodelet"
    tools = _TOOLS
    support = load_support(__file__)
    keys = Keys(event="event", session="conv_id", call="tool_user_id", response="tool_output")
    fields: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "user_message_send": {"prompt": "message"},
        "turn_end": {"iteration": "turn_number"},
    }

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def decode(self, payload: bytes, event: str | None = None) -> Event:
        """As everywhere, but that the stop of a sub-agent is told as that of the main agent."""
        found = super().decode(payload, event)
        if not isinstance(found, Stop) or not found.agent.depth:
            return found
        names = {*found.__struct_fields__} & {*SubagentStop.__struct_fields__}
        return SubagentStop(**{name: getattr(found, name) for name in names})

    def is_automatic(self, data: Mapping[str, Any], prompt: str) -> bool:
        """The question of a sub-agent comes as a prompt, and no person wrote it."""
        return data.get("invoked_by") == "subagent" or super().is_automatic(data, prompt)

    def common(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """A sub-agent is told from the main one, but not from another."""
        values = super().common(data, native)
        if data.get("invoked_by") == "subagent":
            values["agent"] = Agent(name="subagent", depth=1)
        return values

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """The last words of the assistant."""
        if native == "agent_stop":
            messages = data.get("messages")
            each = (
                [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
            )
            asked = [m["content"] for m in each if m.get("role") == "user" and m.get("content")]
            return {
                "messages": each,
                "last_user_message": asked[-1] if asked else "",
                "last_message": _last_words(each),
            }
        # The response of a turn_end may be an earlier turn's, as it is on the Responses wire.
        return {}

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """The tool, with the parts of an MCP tool's name told apart as well as they can be."""
        tool = super().read_tool(data, native)
        if native == "before_tool_call":
            self.tools.check(tool.name, tool.input)
        result = data.get("tool_output")
        result = result if isinstance(result, dict) else {}
        metadata = result.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if result:
            tool = replace(tool, ok=result.get("success") is not False)
        if tool.name.startswith("mcp__"):
            server, _, name = tool.name.removeprefix("mcp__").partition("_")
            known = metadata.get("serverName")
            if isinstance(known, str) and tool.name.startswith(f"mcp__{known}_"):
                server, name = known, tool.name.removeprefix(f"mcp__{known}_")
            tool = replace(tool, kind=ToolKind.MCP, mcp=Mcp(server, name.removeprefix("_")))
        return tool

    def output_text(self, response: Any) -> str:
        """What the tool printed, out of its structured result."""
        return (
            result_text(response) if isinstance(response, dict) else super().output_text(response)
        )

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """Nothing at all when there is nothing to say.

        `{"blocked": false}` would throw away the input that an earlier hook rewrote.
        """
        native = self.native_of(outcome.event)
        body = self._body(native, outcome, answer)
        if not body and native == "after_tool_call":
            return _SILENT_AFTER
        return Reply(stdout=line(body) if body else b"")

    def refuse(self, event: str | None, reason: str) -> Reply:
        """As everywhere; after a tool as a hook that failed, which takes nothing back."""
        reply = super().refuse(event, reason)
        return replace(reply, exit_code=1) if event == "after_tool_call" else reply

    def _body(self, native: str, outcome: Outcome, answer: Answer) -> dict[str, Any]:
        if answer.verdict is Verdict.DENY:
            return {"blocked": True, "reason": answer.reason}
        if native == "before_tool_call" and answer.rewrite.input is not None:
            return {"blocked": False, "input": self._input(outcome)}
        if native == "after_tool_call":
            return self._output(outcome)
        if native == "agent_stop" and answer.follow_up:
            return {"follow_up_messages": list(answer.follow_up)}
        return {}

    def _input(self, outcome: Outcome) -> dict[str, Any]:
        event = outcome.event
        assert isinstance(event, ToolEvent)
        final = self.final_input(outcome)
        strays = self.tools.strays(event.tool.name, final)
        return {key: value for key, value in final.items() if strays.get(key) not in final}

    def _output(self, outcome: Outcome) -> dict[str, Any]:
        """At least what is shown and stored is replaced; the table says that the model's is not."""
        said = outcome.answer
        text = said.reason if said.verdict >= Verdict.DENY else said.rewrite.output
        if text is None:
            return {}
        try:
            result = msgspec.json.decode(bytes(outcome.event.raw))["tool_output"]
        except (msgspec.MsgspecError, KeyError, TypeError):
            result = None
        return {"output": with_text(result if isinstance(result, dict) else {}, text)}

    # ── as a host ───────────────────────────────────────────────────────────────────────────

    def native_for(self, event: str) -> str:
        """One event tells of success and failure here."""
        return super().native_for("post_tool_use" if event == "post_tool_use_failure" else event)

    def payload(self, event: Event) -> dict[str, Any]:
        """A native payload for an event that came from elsewhere."""
        data = super().payload(event)
        data.pop("agent_id", None)
        data.pop("agent_type", None)
        data["invoked_by"] = "subagent" if event.agent.depth else "main"
        native = data["event"]
        if isinstance(event, ToolEvent):
            data["tool_user_id"] = event.tool.call_id or ""
            if native == "after_tool_call":
                data["tool_output"] = _structured(event, data["tool_name"])
        elif isinstance(event, Stop | SubagentStop):
            data["messages"] = _conversation(event)
        elif native == "turn_end":
            spoken = [m.get("content") for m in getattr(event, "messages", ())]
            data |= {
                "response": spoken[-1] if spoken else "",
                "turn_number": data["turn_number"] or 1,
            }
        return data

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """Exit codes say only whether the hook worked: 2 blocks nothing here."""
        if exit_code != 0:
            raise crashed(exit_code, stderr)
        text = said(stdout)
        if not text:
            return PASS
        try:
            body = msgspec.json.decode(text, type=dict[str, Any] | None)
            result = msgspec.convert(folded(body or {}), _Result)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
            raise HandlerAnswerError(f"not a result of a Kodelet hook: {exc}") from exc
        answer = _answer(self.native_of(event), result)
        if answer.rewrite.input is None or not isinstance(event, ToolEvent):
            return answer
        # The input is replaced whole, so keys that are not in it are deleted.
        sent, names = shown(self.tools, self.native_tool(event.tool), event.tool)
        patch = changes(sent, names, answer.rewrite.input, whole=True)
        return replace(answer, rewrite=replace(answer.rewrite, input=patch))

    def native_input(self, tool: Tool) -> dict[str, Any]:
        """A tool's input under this platform's keys."""
        return shown(self.tools, self.native_tool(tool), tool)[0]


def _conversation(event: Stop | SubagentStop) -> list[dict[str, Any]]:
    """All that was said, or the end of it."""
    said = {
        "user": getattr(event, "last_user_message", ""),
        "assistant": event.last_message,
    }
    last = [{"role": role, "content": text} for role, text in said.items() if text]
    return list(getattr(event, "messages", ())) or last


def _answer(native: str, result: _Result) -> Answer:
    match native:
        case "before_tool_call" | "user_message_send" if result.blocked:
            return deny((result.reason or "").strip() or NO_REASON)
        case "before_tool_call" if result.input is not None:
            return _with_input(result.input)
        case "after_tool_call" if result.output is not None:
            return Answer(rewrite=Rewrite(output=result_text(result.output)))
        case "agent_stop" if result.follow_up_messages:
            return follow_up(*result.follow_up_messages)
        case _:
            return Answer()  # it spoke, and by Kodelet's rules that may take an earlier word back


def _with_input(new: Any) -> Answer:
    if not isinstance(new, dict):
        return deny("a hook replaced the input by something that is no object; no tool can take it")
    return Answer(rewrite=Rewrite(input=new))


def _structured(event: ToolEvent, name: str) -> dict[str, Any]:
    failed = isinstance(event, PostToolUseFailure) or event.tool.ok is False
    error = event.error if isinstance(event, PostToolUseFailure) else event.tool.output
    kind, metadata = _metadata(event, failed)
    result = {
        "toolName": name,
        "success": not failed,
        "timestamp": event.time.isoformat(),
        "metadataType": kind,
        "metadata": metadata,
    }
    return {**result, **({"error": error or "failed"} if failed else {})}


def _metadata(event: ToolEvent, failed: bool) -> tuple[str, dict[str, Any]]:
    """What a tool did, by the schema of its kind."""
    tool = event.tool
    text = tool.output or ""
    match tool.kind:
        case ToolKind.SHELL:
            shell = {"command": tool.command or "", "exitCode": int(failed), "output": text}
            return "bash", {**shell, "executionTime": 0, "workingDir": event.cwd}
        case ToolKind.READ if tool.path:
            lines = text.split("\n") if text else []
            return "file_read", {"filePath": tool.path, "lines": lines, "truncated": False}
        case ToolKind.WRITE if tool.path:
            content = tool.content or ""
            size = len(content.encode("utf-8", "replace"))
            return "file_write", {"filePath": tool.path, "content": content, "size": size}
        case ToolKind.EDIT if tool.path:
            edit = {"oldContent": tool.old or "", "newContent": tool.new or ""}
            return "file_edit", {"filePath": tool.path, "edits": [edit]}
        case ToolKind.AGENT:
            return "subagent", {"question": tool.content or "", "response": text}
        case _:
            return "custom_tool", {"executionTime": 0, "output": text}


def _last_words(messages: Sequence[Mapping[str, Any]]) -> Any:
    """What the assistant said at the very end; empty when that was nothing.

    Calls of tools and their results stand among its words: on the Anthropic wire as its own
    messages that begin with a mark, of which no more can be results than there were calls.
    """
    last = messages[-1] if messages else {}
    text = last.get("content")
    if last.get("role") != "assistant" or text is None:
        return ""
    marks = [str(each.get("content"))[:2] for each in messages if each.get("role") == "assistant"]
    is_result = str(text).startswith(f"{_RESULT} Tool result:")
    return "" if is_result and marks.count(f"{_RESULT} ") <= marks.count(f"{_CALL} ") else text


# ── results of tools ─────────────────────────────────────────────────────────────────────────


# What the metadata of each type calls its text.
_TEXT = {
    "bash": "output",
    "code_execution": "output",
    "custom_tool": "output",
    "mcp_tool": "contentText",
    "read_conversation": "content",
    "subagent": "response",
    "web_fetch": "content",
}


def result_text(result: Mapping[str, Any]) -> str:
    """A result as text: what the tool printed, and its error."""
    metadata, error = result.get("metadata"), result.get("error")
    texts = [_printed(result.get("metadataType"), metadata)]
    texts.append(error if isinstance(error, str) else "")
    return "\n".join(filter(None, texts))


def _printed(kind: Any, metadata: Any) -> str:
    if not isinstance(metadata, dict):
        return ""
    text = metadata.get(_TEXT.get(str(kind), ""))
    if isinstance(text, str):
        return text
    lines = metadata.get("lines")
    if kind == "file_read" and isinstance(lines, list):
        return "\n".join(map(str, lines))
    return msgspec.json.encode(metadata).decode()


def with_text(result: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A result with nothing of the old one's text in it.

    Metadata of a known type that does not decode makes the client drop the whole answer, so only
    what has one place for text keeps its type.
    """
    kept = {key: result[key] for key in ("toolName", "success", "timestamp") if key in result}
    kind, metadata = str(result.get("metadataType")), result.get("metadata")
    if kind not in _TEXT or not isinstance(metadata, dict):
        kind, metadata = "custom_tool", {"executionTime": 0}
    new = {**metadata, _TEXT[kind]: text}
    if kind == "mcp_tool":
        new["content"] = [{"type": "text", "text": text}]
    failed = {"error": text} if result.get("error") else {}
    return {**kept, **failed, "metadataType": kind, "metadata": new}
