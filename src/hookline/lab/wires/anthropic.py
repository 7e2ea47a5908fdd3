"""The Messages wire of Anthropic, as Claude Code speaks it."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.lab.wires._exchange import (
    Answer,
    Call,
    Message,
    Question,
    chunks,
    pieces,
    sse,
    tokens,
)

__all__ = ["CALL", "NAME", "aside", "failure", "route", "stream", "understand", "whole"]

NAME = "anthropic"
CALL = "toolu_"

_ERRORS = {
    400: "invalid_request_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


def route(method: str, path: str) -> str:
    """Which of this wire's requests it is; empty if it is none."""
    if method != "POST":
        return ""
    return {"/messages": "ask", "/messages/count_tokens": "count"}.get(path, "")


def understand(path: str, body: Mapping[str, Any]) -> Question:
    """The request in neutral words."""
    choice = body.get("tool_choice") or {}
    return Question(
        messages=tuple(_message(each) for each in body.get("messages") or ()),
        system=chunks(body.get("system")),
        tools={tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or ()},
        stream=bool(body.get("stream")),
        schema=_schema(body),
        forced=choice.get("name", "") if choice.get("type") == "tool" else "",
        model=str(body.get("model", "scripted")),
    )


def whole(answer: Answer) -> Mapping[str, Any]:
    """The answer as one JSON document."""
    text = [{"type": "text", "text": answer.text}] if _has_text(answer) else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in answer.calls
    ]
    return _head(answer) | {
        "content": [*text, *calls],
        "stop_reason": _why(answer),
        "usage": _usage(answer, answer.said),
    }


def stream(answer: Answer) -> Iterator[bytes]:
    """The answer as server-sent events."""
    yield _event("message_start", message=_head(answer))
    yield _event("ping")
    index = 0
    if _has_text(answer):
        yield from _text_block(answer.text)
        index = 1
    for number, call in enumerate(answer.calls, index):
        yield from _call_block(number, call)
    delta = {"stop_reason": _why(answer), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": answer.said})
    yield _event("message_stop")


def aside(what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """How many tokens a request would have: all that this wire asks beside the model."""
    return {"input_tokens": tokens(chunks(body.get("messages")))}


def failure(status: int, message: str) -> Mapping[str, Any]:
    """An error as this wire tells it."""
    return {
        "type": "error",
        "error": {"type": _ERRORS.get(status, "api_error"), "message": message},
    }


def _message(raw: Mapping[str, Any]) -> Message:
    content = raw.get("content")
    parts = (
        [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    results = {str(p["tool_use_id"]): chunks(p.get("content")) for p in parts if "tool_use_id" in p}
    calls = tuple(str(part["id"]) for part in parts if part.get("type") == "tool_use")
    return Message(str(raw.get("role", "user")), chunks(content), calls, results)


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The demanded shape of the answer, at whichever of its two places it is written."""
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    schema = wanted.get("schema")
    return schema if isinstance(schema, dict) else None


def _has_text(answer: Answer) -> bool:
    """A message without any block is not valid, so an answer of nothing is an empty text."""
    return bool(answer.text) or not answer.calls


def _why(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _head(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.question.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(answer, 1),
    }


def _usage(answer: Answer, said: int) -> dict[str, int]:
    return {
        "input_tokens": answer.sent,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": said,
    }


def _text_block(text: str) -> Iterator[bytes]:
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in pieces(text):
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    yield _event("content_block_stop", index=0)


def _call_block(index: int, call: Call) -> Iterator[bytes]:
    block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
    yield _event("content_block_start", index=index, content_block=block)
    for piece in pieces(call.json):
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind} | fields, kind)
