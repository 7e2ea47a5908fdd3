"""The generateContent wire of Gemini, as Gemini CLI speaks it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.lab.wires._exchange import Answer, Message, Question, chunks, pieces, sse, tokens

__all__ = ["CALL", "NAME", "aside", "failure", "route", "stream", "understand", "whole"]

NAME = "gemini"
CALL = "fc_"

_ROLES = {"model": "assistant", "function": "tool"}
_ACTIONS = {
    "generateContent": "ask",
    "streamGenerateContent": "ask",
    "countTokens": "count",
    "embedContent": "embed",
    "batchEmbedContents": "embeds",
}
_PATH = r"(?:/v1beta\d*|/v1alpha\d*)?/(?:.*/)?models/([^/:]+):(\w+)"


def route(method: str, path: str) -> str:
    """Which of this wire's requests it is; empty if it is none."""
    found = re.fullmatch(_PATH, path)
    return _ACTIONS.get(found[2], "") if found and method == "POST" else ""


def understand(path: str, body: Mapping[str, Any]) -> Question:
    """The request in neutral words."""
    found = re.fullmatch(_PATH, path)
    settings = body.get("generationConfig") or {}
    return Question(
        messages=tuple(_message(each) for each in body.get("contents") or ()),
        system=chunks((body.get("systemInstruction") or {}).get("parts")),
        tools=_offered(body),
        stream=found is not None and found[2] == "streamGenerateContent",
        schema=_schema(settings),
        model=found[1] if found else "scripted",
    )


def whole(answer: Answer) -> Mapping[str, Any]:
    """The answer as one JSON document."""
    text = [{"text": answer.text}] if answer.text or not answer.calls else []
    return _response(answer, [*text, *_calls(answer)], "STOP")


def stream(answer: Answer) -> Iterator[bytes]:
    """The answer as server-sent events; calls come whole, as this wire knows no other way."""
    for piece in pieces(answer.text):
        yield sse(_response(answer, [{"text": piece}]))
    yield sse(_response(answer, _calls(answer) or [{"text": ""}], "STOP"))


def aside(what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A token count, or an embedding that is the same for every text."""
    embedding = {"values": [0.0] * 8}
    match what:
        case "count":
            asked = body.get("contents") or (body.get("generateContentRequest") or {}).get(
                "contents"
            )
            texts = (chunks(each.get("parts")) for each in asked or ())
            return {"totalTokens": sum(map(tokens, texts))}
        case "embed":
            return {"embedding": embedding}
        case _:
            return {"embeddings": [embedding for _ in body.get("requests") or ()]}


def failure(status: int, message: str) -> Mapping[str, Any]:
    """An error as this wire tells it."""
    names = {404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
    name = names.get(status, "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": name}}


def _message(raw: Mapping[str, Any]) -> Message:
    role = str(raw.get("role", "user"))
    parts = [part for part in raw.get("parts") or () if isinstance(part, dict)]
    made = [part["functionCall"] for part in parts if "functionCall" in part]
    came = [part["functionResponse"] for part in parts if "functionResponse" in part]
    calls = tuple(str(each["id"]) for each in made if each.get("id"))
    results = {str(each["id"]): _result(each.get("response")) for each in came if each.get("id")}
    return Message("tool" if came else _ROLES.get(role, role), chunks(parts), calls, results)


def _result(response: Any) -> str:
    """The words of a tool's result, which is an object on this wire."""
    if not isinstance(response, dict):
        return ""
    return "\n".join(each for each in response.values() if isinstance(each, str))


def _offered(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for group in body.get("tools") or ():
        for tool in group.get("functionDeclarations") or ():
            schema = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
            found[str(tool["name"])] = schema
    return found


def _schema(settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    if schema is None and settings.get("responseMimeType") == "application/json":
        return {}
    return schema if isinstance(schema, dict) else None


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
        for call in answer.calls
    ]


def _response(
    answer: Answer, parts: list[dict[str, Any]], why: str | None = None
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if why:
        candidate["finishReason"] = why
    return {
        "responseId": answer.id,
        "modelVersion": answer.question.model,
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": answer.sent,
            "candidatesTokenCount": answer.said,
            "totalTokenCount": answer.sent + answer.said,
        },
    }
