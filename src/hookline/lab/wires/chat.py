"""The Chat Completions wire of OpenAI, as Copilot, OpenCode and Pi speak it."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.lab.wires._exchange import Answer, Call, Message, Question, chunks, pieces, sse

__all__ = ["CALL", "NAME", "aside", "failure", "route", "stream", "understand", "whole"]

NAME = "chat"
CALL = "call_"

_ROLES = {"developer": "system", "function": "tool"}
_CREATED = 1_700_000_000


def route(method: str, path: str) -> str:
    """Which of this wire's requests it is; empty if it is none."""
    return "ask" if method == "POST" and path == "/chat/completions" else ""


def understand(path: str, body: Mapping[str, Any]) -> Question:
    """The request in neutral words."""
    choice = body.get("tool_choice")
    return Question(
        messages=tuple(_message(each) for each in body.get("messages") or ()),
        tools={name: tool.get("parameters") or {} for name, tool in _offered(body).items()},
        stream=bool(body.get("stream")),
        schema=_schema(body),
        forced=(choice.get("function") or {}).get("name", "") if isinstance(choice, dict) else "",
        model=str(body.get("model", "scripted")),
    )


def whole(answer: Answer) -> Mapping[str, Any]:
    """The answer as one JSON document."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [_call(call, answer) for call in answer.calls]
    choice = {"index": 0, "message": message, "finish_reason": _why(answer)}
    return _head(answer, "chat.completion") | {"choices": [choice], "usage": _usage(answer)}


def stream(answer: Answer) -> Iterator[bytes]:
    """The answer as server-sent events."""
    yield _chunk(answer, {"role": "assistant", "content": ""})
    for piece in pieces(answer.text):
        yield _chunk(answer, {"content": piece})
    for index, call in enumerate(answer.calls):
        yield from _call_chunks(index, call, answer)
    yield _chunk(answer, {}, _why(answer))
    # The last chunk has no choice but the usage; clients that did not ask for it do not mind.
    yield sse(_head(answer, "chat.completion.chunk") | {"choices": [], "usage": _usage(answer)})
    yield sse("[DONE]")


def aside(what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Nothing is asked on this wire but the model."""
    return {}


def failure(status: int, message: str) -> Mapping[str, Any]:
    """An error as this wire tells it."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": str(status)}}


def _message(raw: Mapping[str, Any]) -> Message:
    role = str(raw.get("role", "user"))
    calls = tuple(str(call.get("id")) for call in raw.get("tool_calls") or ())
    text = chunks(raw.get("content"))
    results = {str(raw["tool_call_id"]): text} if raw.get("tool_call_id") else {}
    return Message(_ROLES.get(role, role), text, calls, results)


def _offered(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Every tool by its name; a freeform one is `custom` and has no schema."""
    inner = (tool.get(tool.get("type", "function")) or {} for tool in body.get("tools") or ())
    return {str(tool.get("name")): tool for tool in inner}


def _customs(body: Mapping[str, Any]) -> set[str]:
    tools = body.get("tools") or ()
    return {str(tool["custom"].get("name")) for tool in tools if tool.get("type") == "custom"}


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_object":
        return {}
    schema = (wanted.get("json_schema") or {}).get("schema")
    return schema if isinstance(schema, dict) else None


def _why(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.id}",
        "object": kind,
        "created": _CREATED,
        "model": answer.question.model,
    }


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.sent,
        "completion_tokens": answer.said,
        "total_tokens": answer.sent + answer.said,
    }


def _is_custom(call: Call, answer: Answer) -> bool:
    return call.name in _customs(answer.body)


def _call(call: Call, answer: Answer) -> dict[str, Any]:
    if _is_custom(call, answer):
        inner = {"name": call.name, "input": str(call.arguments.get("input", ""))}
        return {"id": call.id, "type": "custom", "custom": inner}
    inner = {"name": call.name, "arguments": call.json}
    return {"id": call.id, "type": "function", "function": inner}


def _chunk(answer: Answer, delta: Mapping[str, Any], why: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": why}
    return sse(_head(answer, "chat.completion.chunk") | {"choices": [choice]})


def _call_chunks(index: int, call: Call, answer: Answer) -> Iterator[bytes]:
    kind, key = ("custom", "input") if _is_custom(call, answer) else ("function", "arguments")
    text = str(call.arguments.get("input", "")) if kind == "custom" else call.json
    first = {"index": index, "id": call.id, "type": kind, kind: {"name": call.name, key: ""}}
    yield _chunk(answer, {"tool_calls": [first]})
    for piece in pieces(text):
        yield _chunk(answer, {"tool_calls": [{"index": index, kind: {key: piece}}]})
