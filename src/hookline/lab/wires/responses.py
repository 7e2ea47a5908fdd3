"""The Responses wire of OpenAI, as Codex speaks it."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.lab.wires._exchange import Answer, Call, Message, Question, chunks, pieces, sse

__all__ = ["CALL", "NAME", "aside", "failure", "route", "stream", "understand", "whole"]

NAME = "responses"
CALL = "call_"

_ROLES = {"developer": "system"}
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def route(method: str, path: str) -> str:
    """Which of this wire's requests it is; empty if it is none."""
    return "ask" if method == "POST" and path == "/responses" else ""


def understand(path: str, body: Mapping[str, Any]) -> Question:
    """The request in neutral words."""
    items = body.get("input") or ()
    if isinstance(items, str):
        items = ({"role": "user", "content": items},)
    choice = body.get("tool_choice")
    return Question(
        messages=tuple(_message(each) for each in items if isinstance(each, dict)),
        system=chunks(body.get("instructions")),
        tools={name: tool.get("parameters") or {} for name, tool in _offered(body).items()},
        stream=bool(body.get("stream")),
        schema=_schema(body),
        forced=choice.get("name", "") if isinstance(choice, dict) else "",
        model=str(body.get("model", "scripted")),
    )


def whole(answer: Answer) -> Mapping[str, Any]:
    """The answer as one JSON document."""
    return _head(answer, "completed") | {"output": _items(answer), "usage": _usage(answer)}


def stream(answer: Answer) -> Iterator[bytes]:
    """The answer as server-sent events."""
    number = 0

    def event(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return sse({"type": kind, "sequence_number": number} | fields, kind)

    yield event("response.created", response=_head(answer, "in_progress"))
    for index, item in enumerate(_items(answer)):
        yield event("response.output_item.added", output_index=index, item=_empty(item))
        at = {"item_id": item["id"], "output_index": index}
        kind, text = _words(item)
        for piece in pieces(text):
            yield event(f"response.{kind}.delta", **at, delta=piece)
        yield event(f"response.{kind}.done", **at, **_whole_words(item, text))
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole(answer))


def aside(what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Nothing is asked on this wire but the model."""
    return {}


def failure(status: int, message: str) -> Mapping[str, Any]:
    """An error as this wire tells it."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": str(status)}}


def _message(item: Mapping[str, Any]) -> Message:
    kind = item.get("type", "message")
    if kind in _RESULTS:
        text = chunks(item.get("output"))
        return Message("tool", text, (), {str(item.get("call_id")): text})
    if kind == "agent_message":
        # How agents speak to one another: the task that a sub-agent is given comes so.
        parts = item.get("content")
        return Message("user", f"{chunks(parts)}\n{chunks(parts, 'encrypted_content')}")
    if kind == "message":
        role = str(item.get("role", "user"))
        return Message(_ROLES.get(role, role), chunks(item.get("content")))
    if "call_id" in item:
        return Message("assistant", "", (str(item["call_id"]),))
    if "role" in item:
        return Message(_ROLES.get(item["role"], item["role"]))
    return Message("assistant", chunks(item.get("summary")))


def _offered(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Every tool by its name; one of a namespace also by that with the namespace before it."""
    found: dict[str, Mapping[str, Any]] = {}
    for tool in _listed(body):
        name = str(tool.get("name") or tool.get("type"))
        if tool.get("type") != "namespace":
            found[name] = tool
            continue
        for inner in tool.get("tools") or ():
            known = {**inner, "namespace": name}
            found |= {f"{name}{between}{inner['name']}": known for between in ("", ".", "__")}
            found.setdefault(inner["name"], known)
    return found


def _listed(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tools of a request; to the latest models they are told in the course of the history."""
    yield from body.get("tools") or ()
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            yield from item.get("tools") or ()


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = (body.get("text") or {}).get("format") or {}
    schema = wanted.get("schema") if wanted.get("type") == "json_schema" else None
    return schema if isinstance(schema, dict) else None


def _head(answer: Answer, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "model": answer.question.model,
        "output": [],
        "parallel_tool_calls": True,
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "usage": None,
    }


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.sent,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": answer.said,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.sent + answer.said,
    }


def _items(answer: Answer) -> list[dict[str, Any]]:
    text = [_text_item(answer)] if answer.text or not answer.calls else []
    offered = _offered(answer.body)
    return [*text, *(_call_item(call, offered.get(call.name) or {}) for call in answer.calls)]


def _text_item(answer: Answer) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"msg_{answer.id}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
    }


def _call_item(call: Call, tool: Mapping[str, Any]) -> dict[str, Any]:
    head = {"call_id": call.id, "status": "completed"}
    if tool.get("type") == "custom":
        spaced = {"namespace": tool["namespace"]} if "namespace" in tool else {}
        return head | {
            "type": "custom_tool_call",
            "id": f"ctc_{call.id}",
            "name": tool["name"],
            "input": str(call.arguments.get("input", "")),
            **spaced,
        }
    item = head | {"type": "function_call", "id": f"fc_{call.id}", "arguments": call.json}
    space, _, name = call.name.rpartition(".")
    # Tools that the client lets its model search for are called without having been offered.
    if space := tool.get("namespace") or space:
        return item | {"name": tool.get("name") or name, "namespace": space}
    return item | {"name": call.name}


def _words(item: Mapping[str, Any]) -> tuple[str, str]:
    """Under which name an item's text is streamed, and the text."""
    if item["type"] == "message":
        return "output_text", item["content"][0]["text"]
    if item["type"] == "custom_tool_call":
        return "custom_tool_call_input", item["input"]
    return "function_call_arguments", item["arguments"]


def _whole_words(item: Mapping[str, Any], text: str) -> dict[str, Any]:
    key = {"message": "text", "custom_tool_call": "input"}.get(item["type"], "arguments")
    return {key: text}


def _empty(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item before anything has been said in it."""
    blanks = {"message": ("content", []), "custom_tool_call": ("input", "")}
    key, blank = blanks.get(item["type"], ("arguments", ""))
    return {**item, "status": "in_progress", key: blank}
