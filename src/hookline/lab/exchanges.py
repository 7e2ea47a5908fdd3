"""What came of each tool call, as the model was told: read from what it was sent.

Each wire has its own place for a call and for its result; here they are one shape.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.lab.ports import Asked

__all__ = ["Exchange", "exchanges"]


class Exchange(Struct, frozen=True, kw_only=True):
    """One tool call and what the model was told of it."""

    id: str
    """As the wire knows it; a client's hooks may be given the same."""
    name: str
    arguments: Mapping[str, Any]
    """As the client sent them back: a client may change them before it does."""
    told: str | None
    """None when no result was ever sent."""
    error: bool = False
    """Whether the client called the result an error; only some wires can say so."""
    lane: str = ""
    """The sub-agent's prompt whose call this is; empty for the main conversation."""


class _Call(Struct, frozen=True):
    id: str
    name: str
    arguments: Mapping[str, Any]


class _Result(Struct, frozen=True):
    id: str
    text: str
    error: bool = False


def exchanges(asked: Sequence[Asked]) -> tuple[Exchange, ...]:
    """Every tool call of a session once, in the order in which the model was sent them back."""
    calls: dict[tuple[str, str], _Call] = {}
    results: dict[tuple[str, str], _Result] = {}
    for each in asked:
        if each.side or each.wire not in _READERS:
            continue
        for found in _READERS[each.wire](each.body):
            where: Any = calls if isinstance(found, _Call) else results
            # The first word counts: later requests repeat it, or a summary of it.
            where.setdefault((each.lane, found.id), found)
    return tuple(
        Exchange(
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            told=results[key].text if key in results else None,
            error=key in results and results[key].error,
            lane=key[0],
        )
        for key, call in calls.items()
    )


def _anthropic(body: Mapping[str, Any]) -> Iterator[_Call | _Result]:
    for message in _objects(body.get("messages")):
        for part in _objects(message.get("content")):
            if part.get("type") == "tool_use":
                yield _Call(str(part.get("id")), str(part.get("name")), part.get("input") or {})
            elif part.get("type") == "tool_result":
                failed = part.get("is_error") is True
                yield _Result(str(part.get("tool_use_id")), _plain(part.get("content")), failed)


def _responses(body: Mapping[str, Any]) -> Iterator[_Call | _Result]:
    for item in _objects(body.get("input")):
        kind, number = item.get("type"), str(item.get("call_id"))
        if kind == "function_call":
            space = item.get("namespace")
            name = f"{space}.{item.get('name')}" if space else str(item.get("name"))
            yield _Call(number, name, _decoded(item.get("arguments")))
        elif kind == "custom_tool_call":
            yield _Call(number, str(item.get("name")), {"input": item.get("input")})
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            yield _Result(number, _plain(item.get("output")))


def _chat(body: Mapping[str, Any]) -> Iterator[_Call | _Result]:
    for message in _objects(body.get("messages")):
        for call in _objects(message.get("tool_calls")):
            made = call.get("function") or call.get("custom") or {}
            arguments = _decoded(made.get("arguments", made.get("input")))
            yield _Call(str(call.get("id")), str(made.get("name")), arguments)
        if message.get("role") == "tool":
            yield _Result(str(message.get("tool_call_id")), _plain(message.get("content")))


def _gemini(body: Mapping[str, Any]) -> Iterator[_Call | _Result]:
    # Without ids, the n-th answer for a tool is to the n-th call of it.
    called: dict[str, int] = {}
    answered: dict[str, int] = {}
    for content in _objects(body.get("contents")):
        for part in _objects(content.get("parts")):
            call, result = part.get("functionCall"), part.get("functionResponse")
            if isinstance(call, dict):
                yield _Call(_number(call, called), str(call.get("name")), call.get("args") or {})
            elif isinstance(result, dict):
                response = result.get("response") or {}
                failed = isinstance(response, dict) and "error" in response
                yield _Result(_number(result, answered), _plain(response), failed)


def _number(item: Mapping[str, Any], counts: dict[str, int]) -> str:
    if item.get("id"):
        return str(item["id"])
    name = str(item.get("name"))
    counts[name] = counts.get(name, 0) + 1
    return f"{name} {counts[name]}"


_READERS = {
    "anthropic": _anthropic,
    "responses": _responses,
    "chat": _chat,
    "gemini": _gemini,
}


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def _decoded(text: object) -> Mapping[str, Any]:
    if isinstance(text, str):
        try:
            value = json.loads(text)
        except ValueError:
            return {"input": text}
        return value if isinstance(value, dict) else {"input": text}
    return text if isinstance(text, dict) else {}


def _plain(value: object) -> str:
    """Every text in a result, one after another, without the names of its parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = [inner for key, inner in value.items() if key not in {"type", "mimeType"}]
    if isinstance(value, list):
        return "\n".join(filter(None, map(_plain, value)))
    return "" if value is None else json.dumps(value)
