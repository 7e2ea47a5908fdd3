"""Four tiny agents, one per wire: each asks a model, streaming or not, and keeps its history.

They are written from the vendors' wire formats alone, and put streamed pieces together themselves.
"""

import json
from collections.abc import Iterator
from typing import Any

import httpx
from msgspec import Struct

__all__ = ["CLIENTS", "Anthropic", "Chat", "Gemini", "Heard", "ModelClient", "Responses"]


class Heard(Struct):
    """An answer as the client understood it."""

    text: str = ""
    calls: list[tuple[str, str, Any]] = []
    """Id, name and arguments."""
    why: str = ""
    usage: tuple[int, int] = (0, 0)
    pieces: int = 0
    """In how many parts texts and arguments came."""


class ModelClient:
    """What the four have in common: a history, and the way an answer is asked for."""

    tools: tuple[str, ...] = ("tool",)

    def __init__(self, url: str, *, stream: bool = True) -> None:
        self.url = url
        self.stream = stream
        self.history: list[Any] = []

    def ask(self, prompt: str = "", **more: Any) -> Heard:
        """One answer; it and its question stay in the history."""
        if prompt:
            self.history.append(self.user(prompt))
        heard = self.heard(self.post(self.path(), self.body() | more))
        self.history.extend(self.kept(heard))
        return heard

    def ask_and_do(self, prompt: str, result: str = "ok") -> list[Heard]:
        """Ask and answer tool calls with the same result until there are none."""
        answers = [self.ask(prompt)]
        while answers[-1].calls:
            self.history.extend(self.results(answers[-1], result))
            answers.append(self.ask())
        return answers

    def post(self, path: str, body: Any) -> httpx.Response:
        """The raw response to a request."""
        # Without TLS there is nothing to verify, and loading certificates would take longest.
        response = httpx.post(self.url + path, json=body, timeout=30, trust_env=False, verify=False)
        response.raise_for_status()
        return response

    def heard(self, response: httpx.Response) -> Heard:
        """The answer in a response."""
        if not self.stream:
            return self.whole(response.json())
        assert response.headers["content-type"] == "text/event-stream"
        return self.joined(list(events(response.text)))

    def path(self) -> str:
        raise NotImplementedError

    def body(self) -> dict[str, Any]:
        raise NotImplementedError

    def user(self, text: str) -> Any:
        raise NotImplementedError

    def kept(self, heard: Heard) -> list[Any]:
        raise NotImplementedError

    def results(self, heard: Heard, result: str) -> list[Any]:
        raise NotImplementedError

    def whole(self, raw: Any) -> Heard:
        raise NotImplementedError

    def joined(self, raw: list[Any]) -> Heard:
        raise NotImplementedError


class Anthropic(ModelClient):
    """Messages."""

    def path(self) -> str:
        return "/v1/messages?beta=true"

    def body(self) -> dict[str, Any]:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in self.tools]
        return {
            "model": "claude-x",
            "max_tokens": 100,
            "stream": self.stream,
            "system": [{"type": "text", "text": "You are."}],
            "messages": self.history,
            "tools": tools,
        }

    def user(self, text: str) -> Any:
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    def kept(self, heard: Heard) -> list[Any]:
        text = [{"type": "text", "text": heard.text}] if heard.text else []
        calls = [
            {"type": "tool_use", "id": id, "name": name, "input": arguments}
            for id, name, arguments in heard.calls
        ]
        return [{"role": "assistant", "content": [*text, *calls]}]

    def results(self, heard: Heard, result: str) -> list[Any]:
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": id,
                "content": [{"type": "text", "text": result}],
            }
            for id, _, _ in heard.calls
        ]
        return [{"role": "user", "content": blocks}]

    def whole(self, raw: Any) -> Heard:
        assert (raw["type"], raw["role"]) == ("message", "assistant")
        text = "".join(block["text"] for block in raw["content"] if block["type"] == "text")
        calls = [
            (b["id"], b["name"], b["input"]) for b in raw["content"] if b["type"] == "tool_use"
        ]
        usage = (raw["usage"]["input_tokens"], raw["usage"]["output_tokens"])
        return Heard(text, calls, raw["stop_reason"], usage)

    def joined(self, raw: list[Any]) -> Heard:
        kinds = [each["type"] for each in raw]
        assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
        blocks: list[dict[str, Any]] = []
        heard = Heard()
        for each in raw:
            if each["type"] == "content_block_start":
                assert each["index"] == len(blocks)
                blocks.append({**each["content_block"], "json": ""})
            elif each["type"] == "content_block_delta":
                heard.pieces += 1
                delta, block = each["delta"], blocks[each["index"]]
                if delta["type"] == "text_delta":
                    block["text"] += delta["text"]
                else:
                    block["json"] += delta["partial_json"]
        for block in blocks:
            if block["type"] == "text":
                heard.text += block["text"]
            else:
                heard.calls.append((block["id"], block["name"], json.loads(block["json"])))
        heard.why = raw[-2]["delta"]["stop_reason"]
        sent = raw[0]["message"]["usage"]["input_tokens"]
        heard.usage = (sent, raw[-2]["usage"]["output_tokens"])
        return heard


class Responses(ModelClient):
    """Responses, with one tool in a namespace and one that takes plain text."""

    def path(self) -> str:
        return "/v1/responses"

    def body(self) -> dict[str, Any]:
        tools: list[Any] = [
            {"type": "function", "name": name, "parameters": {"type": "object"}}
            for name in self.tools
        ]
        inner = {"type": "function", "name": "inner", "parameters": {"type": "object"}}
        tools.append({"type": "namespace", "name": "space", "tools": [inner]})
        tools.append({"type": "custom", "name": "apply_patch", "format": {"type": "text"}})
        tools.append({"type": "web_search"})
        return {
            "model": "gpt-x",
            "stream": self.stream,
            "instructions": "You are.",
            "input": self.history,
            "tools": tools,
            "tool_choice": "auto",
        }

    def user(self, text: str) -> Any:
        content = [{"type": "input_text", "text": text}]
        return {"type": "message", "role": "user", "content": content}

    def kept(self, heard: Heard) -> list[Any]:
        content = [{"type": "output_text", "text": heard.text}]
        text = [{"type": "message", "role": "assistant", "content": content}]
        calls = [
            {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(given)}
            for id, name, given in heard.calls
        ]
        return [*(text if heard.text else []), *calls]

    def results(self, heard: Heard, result: str) -> list[Any]:
        return [
            {"type": "function_call_output", "call_id": id, "output": result}
            for id, _, _ in heard.calls
        ]

    def whole(self, raw: Any) -> Heard:
        assert (raw["object"], raw["status"]) == ("response", "completed")
        heard = Heard(why=raw["status"])
        for item in raw["output"]:
            self.take(heard, item)
        heard.usage = (raw["usage"]["input_tokens"], raw["usage"]["output_tokens"])
        assert raw["usage"]["total_tokens"] == sum(heard.usage)
        return heard

    def take(self, heard: Heard, item: Any) -> None:
        if item["type"] == "message":
            heard.text += item["content"][0]["text"]
        elif item["type"] == "custom_tool_call":
            heard.calls.append((item["call_id"], item["name"], item["input"]))
        else:
            space = f"{item['namespace']}/" if "namespace" in item else ""
            given = json.loads(item["arguments"])
            heard.calls.append((item["call_id"], space + item["name"], given))

    def joined(self, raw: list[Any]) -> Heard:
        kinds = [each["type"] for each in raw]
        assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
        assert [each["sequence_number"] for each in raw] == list(range(1, len(raw) + 1))
        streamed: dict[int, str] = {}
        heard = Heard()
        for each in raw:
            if each["type"].endswith(".delta"):
                heard.pieces += 1
                index = each["output_index"]
                streamed[index] = streamed.get(index, "") + each["delta"]
            elif each["type"] == "response.output_item.done":
                self.take(heard, each["item"])
        final = self.whole(raw[-1]["response"])
        assert (final.text, final.calls) == (heard.text, heard.calls)
        spoken = [heard.text] if heard.text else []
        given = [g if isinstance(g, str) else json.dumps(g) for _, _, g in heard.calls]
        for said, wanted in zip(streamed.values(), [*spoken, *given], strict=True):
            assert said == wanted or json.loads(said) == json.loads(wanted)
        return Heard(heard.text, heard.calls, final.why, final.usage, heard.pieces)


class Chat(ModelClient):
    """Chat Completions."""

    def path(self) -> str:
        return "/v1/chat/completions"

    def body(self) -> dict[str, Any]:
        tools: list[Any] = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
            for name in self.tools
        ]
        tools.append({"type": "custom", "custom": {"name": "apply_patch"}})
        return {
            "model": "gpt-x",
            "stream": self.stream,
            "messages": [{"role": "system", "content": "You are."}, *self.history],
            "tools": tools,
        }

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def kept(self, heard: Heard) -> list[Any]:
        calls = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(a)}}
            for id, name, a in heard.calls
        ]
        message: dict[str, Any] = {"role": "assistant", "content": heard.text}
        return [message | ({"tool_calls": calls} if calls else {})]

    def results(self, heard: Heard, result: str) -> list[Any]:
        return [{"role": "tool", "tool_call_id": id, "content": result} for id, _, _ in heard.calls]

    def whole(self, raw: Any) -> Heard:
        assert raw["object"] == "chat.completion"
        [choice] = raw["choices"]
        message = choice["message"]
        calls = [self.call(each) for each in message.get("tool_calls", [])]
        usage = (raw["usage"]["prompt_tokens"], raw["usage"]["completion_tokens"])
        return Heard(message["content"] or "", calls, choice["finish_reason"], usage)

    def call(self, raw: Any) -> tuple[str, str, Any]:
        if raw["type"] == "custom":
            return raw["id"], raw["custom"]["name"], raw["custom"]["input"]
        return raw["id"], raw["function"]["name"], json.loads(raw["function"]["arguments"])

    def joined(self, raw: list[Any]) -> Heard:
        assert raw[-1] == "[DONE]"
        calls: list[dict[str, Any]] = []
        heard = Heard()
        for each in raw[:-1]:
            assert each["object"] == "chat.completion.chunk"
            if usage := each.get("usage"):
                heard.usage = (usage["prompt_tokens"], usage["completion_tokens"])
            for choice in each["choices"]:
                heard.why = choice["finish_reason"] or heard.why
                heard.text += choice["delta"].get("content") or ""
                heard.pieces += bool(choice["delta"].get("content"))
                for part in choice["delta"].get("tool_calls", []):
                    if part["index"] == len(calls):
                        calls.append(part)
                        continue
                    heard.pieces += 1
                    kind = calls[part["index"]]["type"]
                    key = "input" if kind == "custom" else "arguments"
                    calls[part["index"]][kind][key] += part[kind][key]
        heard.calls = [self.call(each) for each in calls]
        return heard


class Gemini(ModelClient):
    """generateContent and streamGenerateContent."""

    def path(self) -> str:
        action = "streamGenerateContent?alt=sse" if self.stream else "generateContent"
        return f"/v1beta/models/gemini-x:{action}"

    def body(self) -> dict[str, Any]:
        declared = [{"name": n, "parametersJsonSchema": {"type": "object"}} for n in self.tools]
        return {
            "contents": self.history,
            "systemInstruction": {"parts": [{"text": "You are."}], "role": "user"},
            "tools": [{"functionDeclarations": declared}],
            "generationConfig": {"temperature": 1},
        }

    def user(self, text: str) -> Any:
        return {"role": "user", "parts": [{"text": text}]}

    def kept(self, heard: Heard) -> list[Any]:
        text = [{"text": heard.text}] if heard.text else []
        calls = [{"functionCall": {"id": i, "name": n, "args": a}} for i, n, a in heard.calls]
        return [{"role": "model", "parts": [*text, *calls]}]

    def results(self, heard: Heard, result: str) -> list[Any]:
        parts = [
            {"functionResponse": {"id": id, "name": name, "response": {"output": result}}}
            for id, name, _ in heard.calls
        ]
        return [{"role": "user", "parts": parts}]

    def whole(self, raw: Any) -> Heard:
        return self.joined([raw])

    def joined(self, raw: list[Any]) -> Heard:
        heard = Heard()
        for each in raw:
            [candidate] = each["candidates"]
            assert candidate["content"]["role"] == "model"
            heard.why = candidate.get("finishReason", "")
            usage = each["usageMetadata"]
            heard.usage = (usage["promptTokenCount"], usage["candidatesTokenCount"])
            for part in candidate["content"]["parts"]:
                heard.text += part.get("text", "")
                heard.pieces += bool(part.get("text"))
                if call := part.get("functionCall"):
                    heard.calls.append((call["id"], call["name"], call["args"]))
        return heard


CLIENTS: tuple[type[ModelClient], ...] = (Anthropic, Responses, Chat, Gemini)


def events(text: str) -> Iterator[Any]:
    """The data of server-sent events; each one named as its type where it has a name."""
    for block in text.removesuffix("\n\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        data = fields["data"]
        found = data if data == "[DONE]" else json.loads(data)
        assert "event" not in fields or fields["event"] == found["type"]
        yield found
