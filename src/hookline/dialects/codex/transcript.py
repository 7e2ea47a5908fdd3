"""How Codex writes down its sessions: a rollout of lines for each thread, sub-agents' too.

Newer versions write one `token_usage_record` for each call of a model; all write `token_count`,
which comes again with the same totals when something else has changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.dialects._transcript import (
    LONGEST_TEXT,
    decode_lines,
    find_object,
    read_last_lines,
    read_new_lines,
    read_time,
)
from hookline.model.events import Event, SubagentStop
from hookline.model.usage import (
    Mark,
    ModelCall,
    Said,
    Todo,
    TranscriptEnd,
    TranscriptUsage,
    read_count,
    read_tokens,
)

__all__ = ["TRANSCRIPT"]

_TELLING = (
    b'"session_meta"',
    b'"turn_context"',
    b'"task_started"',
    b'"token_usage_record"',
    b'"token_count"',
    b'"compacted"',
)
_MOST_MESSAGES = 40


class CodexTranscript:
    """The rollouts below ``~/.codex/sessions``."""

    def list_files(self, event: Event) -> Sequence[str]:
        """Events of a sub-agent name its own rollout; its end names both."""
        found = [event.transcript_path]
        if isinstance(event, SubagentStop):
            found.append(event.agent_transcript_path)
        return list(dict.fromkeys(filter(None, found)))

    def read_usage(self, path: str, mark: Mark | None) -> TranscriptUsage:
        """What calls used behind the mark. Raises OSError or ValueError."""
        new = read_new_lines(path, mark)
        reader = _Reader(dict(new.state))
        for line in decode_lines(new.lines, *_TELLING):
            reader.read(line)
        return TranscriptUsage(
            mark=replace(new.mark, state=reader.state),
            calls=tuple(reader.calls.values()),
            context=reader.context,
            window=reader.window,
            complete=new.complete,
        )

    def read_end(self, path: str) -> TranscriptEnd:
        """The latest texts, and the plan. Raises OSError or ValueError."""
        said: list[Said] = []
        todos: tuple[Todo, ...] = ()
        summary, summary_time = "", None
        for line in decode_lines(read_last_lines(path), b'"response_item"', b'"compacted"'):
            item = find_object(line, "payload")
            if line.get("type") == "compacted":
                text = item.get("message")
                summary = text if isinstance(text, str) else ""
                summary_time = read_time(line.get("timestamp"))
            elif item.get("type") == "message" and item.get("role") in ("user", "assistant"):
                texts = (text for text in _texts(item) if text.strip())
                # What the client itself puts in begins with a tag.
                said += [
                    Said(item["role"], text[:LONGEST_TEXT])
                    for text in texts
                    if item["role"] == "assistant" or not text.startswith("<")
                ]
            elif item.get("name") == "update_plan":
                todos = tuple(_list_plan(item.get("arguments")))
        return TranscriptEnd(tuple(said[-_MOST_MESSAGES:]), todos, summary, summary_time)


class _Reader:
    """What the lines of a rollout tell, one after the other."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.calls: dict[str, ModelCall] = {}
        self.context: int | None = None
        self.window: int | None = None

    def read(self, line: Mapping[str, Any]) -> None:
        """One line more."""
        payload, time = find_object(line, "payload"), read_time(line.get("timestamp"))
        match payload.get("type") if line.get("type") == "event_msg" else line.get("type"):
            case "session_meta":
                # After its own first line, a thread that was made from another one has those of
                # that: what they tell of was counted there.
                id = str(payload.get("id", "")).encode("utf-8", "replace")
                self.state["thread"] = blake2b(id, digest_size=8).hexdigest()
                source = payload.get("source")
                is_sub = isinstance(source, dict) or bool(payload.get("parent_thread_id"))
                self.state.setdefault("sub", is_sub)
            case "turn_context" if isinstance(payload.get("model"), str):
                self.state["model"] = payload["model"]
            case "task_started":
                self._see_window(payload)
            case "token_usage_record":
                self.state["records"] = True
                self._add(str(payload.get("response_id")), find_object(payload, "usage"), time)
            case "token_count":
                info = find_object(payload, "info")
                self._see_window(info)
                last = find_object(info, "last_token_usage")
                if not self.state.get("sub") and (total := read_count(last.get("total_tokens"))):
                    self.context = total
                if not self.state.get("records"):
                    totals = find_object(info, "total_token_usage")
                    numbers = [self.state.get("thread"), *totals.values()]
                    self._add("/".join(map(str, numbers)), last, time)
            case "compacted" if not self.state.get("sub"):
                self.context = 0

    def _add(self, id: str, usage: Mapping[str, Any], time: float | None) -> None:
        tokens = read_tokens(usage)
        if tokens is not None and tokens.total:
            self.calls[id] = ModelCall(
                id=id,
                model=self.state.get("model", ""),
                tokens=tokens,
                time=time,
                is_sub=bool(self.state.get("sub")),
            )

    def _see_window(self, told: Mapping[str, Any]) -> None:
        if not self.state.get("sub"):
            self.window = read_count(told.get("model_context_window")) or self.window


def _texts(item: Mapping[str, Any]) -> Iterator[str]:
    content = item.get("content")
    for each in content if isinstance(content, list) else ():
        if isinstance(each, dict) and isinstance(each.get("text"), str):
            yield each["text"]


def _list_plan(arguments: object) -> Iterator[Todo]:
    try:
        given = msgspec.json.decode(arguments) if isinstance(arguments, str) else None
    except (ValueError, RecursionError):
        return
    plan = given.get("plan") if isinstance(given, dict) else None
    for each in plan if isinstance(plan, list) else ():
        if isinstance(each, dict):
            yield Todo(str(each.get("step", "")), str(each.get("status", "")))


TRANSCRIPT = CodexTranscript()
