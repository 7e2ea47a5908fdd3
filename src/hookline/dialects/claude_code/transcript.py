"""How Claude Code writes down its sessions: one file of lines for each, and one for each sub-agent.

A message has a line for every block of its content, each with the usage of the whole message.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from msgspec.structs import replace

from hookline.dialects._transcript import (
    LONGEST_TEXT,
    decode_lines,
    find_object,
    read_last_lines,
    read_new_lines,
    read_time,
)
from hookline.model.events import Event, SessionEnd, Stop, SubagentStop
from hookline.model.usage import (
    Mark,
    ModelCall,
    Said,
    Todo,
    TranscriptEnd,
    TranscriptUsage,
    read_tokens,
)

__all__ = ["TRANSCRIPT"]

_COMPACTED = b'"compact_boundary"'
# What the client says in the place of a model.
_NO_MODEL = "<synthetic>"
_MOST_AGENTS = 200
_MOST_MESSAGES = 40


class ClaudeTranscript:
    """The files below ``~/.claude/projects``."""

    def list_files(self, event: Event) -> Sequence[str]:
        """The session's file; of sub-agents the one at work, and at the end of a turn all."""
        path = event.transcript_path
        found = [path, event.agent_transcript_path] if isinstance(event, SubagentStop) else [path]
        folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
        if event.agent.id and os.sep not in event.agent.id:
            found.append(os.path.join(folder, f"agent-{event.agent.id}.jsonl"))
        if path and isinstance(event, Stop | SessionEnd):
            with suppress(OSError, ValueError), os.scandir(folder) as entries:
                names = (each.path for each in entries if each.name.endswith(".jsonl"))
                found += islice(names, _MOST_AGENTS)
        return list(dict.fromkeys(filter(None, found)))

    def read_usage(self, path: str, mark: Mark | None) -> TranscriptUsage:
        """What calls used behind the mark. Raises OSError or ValueError."""
        new = read_new_lines(path, mark)
        calls: dict[str, ModelCall] = {}
        context: int | None = None
        for line in decode_lines(new.lines, b'"usage"', _COMPACTED):
            if line.get("subtype") == "compact_boundary":
                if not line.get("isSidechain"):
                    context = 0
            elif (call := _read_call(line)) is not None:
                before = calls.get(call.id)
                if before is not None and before.tokens.output > call.tokens.output:
                    call = before  # a line of a message that was not at its end yet
                calls[call.id] = call
                if not call.is_sub:
                    context = call.tokens.total
        return TranscriptUsage(
            mark=new.mark,
            calls=tuple(calls.values()),
            context=context,
            complete=new.complete,
        )

    def read_end(self, path: str) -> TranscriptEnd:
        """The latest texts, and the todo list. Raises OSError or ValueError."""
        said: list[Said] = []
        todos: tuple[Todo, ...] = ()
        tasks: dict[str, Todo] = {}
        summary, summary_time = "", None
        for line in decode_lines(read_last_lines(path), b'"message"'):
            role = line.get("type")
            if role not in ("user", "assistant") or line.get("isMeta") or line.get("isSidechain"):
                continue
            content = find_object(line, "message").get("content")
            texts = [text[:LONGEST_TEXT] for text in _texts(content) if text.strip()]
            if line.get("isCompactSummary"):
                summary, summary_time = "\n".join(_texts(content)), read_time(line.get("timestamp"))
                continue
            said += [Said(role, text) for text in texts]
            made = find_object(line, "toolUseResult", "task")
            if isinstance(made.get("id"), str):
                tasks[made["id"]] = Todo(str(made.get("subject", "")), "pending")
            for name, given in _tool_calls(content):
                if name == "TodoWrite":
                    todos = tuple(_list_todos(given))
                elif name == "TaskUpdate" and (task := tasks.get(str(given.get("taskId")))):
                    status = given.get("status")
                    if isinstance(status, str):
                        tasks[str(given["taskId"])] = replace(task, status=status)
        left = tuple(each for each in tasks.values() if each.status != "deleted")
        kept = tuple(said[-_MOST_MESSAGES:])
        return TranscriptEnd(kept, left or todos, summary, summary_time)


def _read_call(line: Mapping[str, Any]) -> ModelCall | None:
    message = find_object(line, "message")
    tokens = read_tokens(find_object(message, "usage"))
    model = message.get("model")
    if line.get("type") != "assistant" or tokens is None or model == _NO_MODEL:
        return None
    ids = message.get("id") or line.get("uuid"), line.get("requestId") or line.get("requestRef")
    return ModelCall(
        id=":".join(each for each in ids if isinstance(each, str)),
        model=model if isinstance(model, str) else "",
        tokens=tokens,
        time=read_time(line.get("timestamp")),
        is_sub=line.get("isSidechain") is True,
    )


def _blocks(content: object) -> Iterator[Mapping[str, Any]]:
    return (
        (each for each in content if isinstance(each, dict))
        if isinstance(content, list)
        else iter(())
    )


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    found = (each.get("text") for each in _blocks(content) if each.get("type") == "text")
    return [text for text in found if isinstance(text, str)]


def _tool_calls(content: object) -> Iterator[tuple[object, Mapping[str, Any]]]:
    for each in _blocks(content):
        if each.get("type") == "tool_use":
            yield each.get("name"), find_object(each, "input")


def _list_todos(given: Mapping[str, Any]) -> Iterator[Todo]:
    for each in _blocks(given.get("todos")):
        yield Todo(str(each.get("content", "")), str(each.get("status", "")))


TRANSCRIPT = ClaudeTranscript()
