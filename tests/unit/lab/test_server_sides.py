"""Requests beside the conversation are answered, marked, and use up no turn."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from hookline.lab.ports import ToolCall
from hookline.lab.script import Act, Script, Shell, Turn
from hookline.lab.server import ModelServer
from hookline.lab.sides import SUMMARY, sample
from support.model_clients import CLIENTS, Anthropic, Chat, Gemini, ModelClient, Responses

PROMPT = "Clean up MK_PROMPT."

VERDICT = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["ok", "reason"],
}


def say(act: Act) -> ToolCall:
    """Acts in the words of no client in particular."""
    assert isinstance(act, Shell)
    return ToolCall("tool", {"command": act.command})


@contextmanager
def serving(*turns: Turn) -> Iterator[ModelServer]:
    """A server for these turns."""
    with ModelServer(Script(prompt=PROMPT, turns=turns), say) as server:
        yield server


@pytest.fixture(params=CLIENTS, ids=lambda kind: kind.__name__.lower())
def kind(request: pytest.FixtureRequest) -> type[ModelClient]:
    """A client of each wire."""
    found: type[ModelClient] = request.param
    return found


def get(url: str) -> httpx.Response:
    """A plain GET."""
    return httpx.get(url, trust_env=False, verify=False)


def demanding(kind: type[ModelClient], schema: dict[str, Any]) -> dict[str, Any]:
    """How each wire demands an answer of a shape."""
    if kind is Anthropic:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    if kind is Responses:
        return {"text": {"format": {"type": "json_schema", "name": "x", "schema": schema}}}
    if kind is Chat:
        return {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}
    wanted = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    return {"generationConfig": wanted}


@pytest.mark.parametrize("stream", [True, False])
def test_a_question_without_tools_is_beside_the_conversation(
    kind: type[ModelClient], stream: bool
) -> None:
    with serving(Turn("a"), Turn("b")) as server:
        title = kind(server.url, stream=stream).ask(f"A title for: {PROMPT}", tools=[])
        assert kind(server.url).ask(PROMPT).text == "a"
        assert [each.side for each in server.asked] == [True, False]
    assert title.text
    assert title.text != "a"


def test_a_demanded_shape_is_kept(kind: type[ModelClient]) -> None:
    with serving(Turn("a")) as server:
        heard = kind(server.url).ask("Judge.", tools=[], **demanding(kind, VERDICT))
        assert server.asked[0].side
    assert json.loads(heard.text) == {"ok": True, "reason": "scripted"}


def test_a_conversation_may_demand_a_shape_too(kind: type[ModelClient]) -> None:
    with serving(Turn('{"mine": 1}')) as server:
        heard = kind(server.url).ask(PROMPT, **demanding(kind, VERDICT))
        assert not server.asked[0].side
    assert heard.text == '{"mine": 1}'


@pytest.mark.parametrize(
    "request_text",
    [
        "Your task is to create a detailed summary of the conversation so far, paying attention.",
        "Please create a detailed summary of this conversation.",
        "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.",
    ],
)
def test_a_request_for_a_summary_uses_up_no_turn(
    kind: type[ModelClient], request_text: str
) -> None:
    with serving(Turn("a"), Turn("b")) as server:
        client = kind(server.url)
        client.ask(PROMPT)
        kept = [*client.history]
        assert SUMMARY in client.ask(request_text).text
        client.history = [*kept, client.user("go on")]
        assert client.ask().text == "b"
        assert [each.side for each in server.asked] == [False, True, False]


def test_an_agent_of_the_clients_own_uses_up_no_turn(kind: type[ModelClient]) -> None:
    with serving(Turn("a"), Turn("b")) as server:
        client = kind(server.url)
        client.ask(PROMPT)
        stranger = kind(server.url)
        stranger.tools = ("look", "judge")
        assert stranger.ask("Judge what was done.").text == "Scripted session"
        assert client.ask("go on").text == "b"
        assert [each.side for each in server.asked] == [False, True, False]


def test_a_hook_that_is_an_agent_gets_its_verdict_even_if_it_quotes_the_prompt() -> None:
    tools = [
        {"name": "Read", "input_schema": {"type": "object"}},
        {"name": "StructuredOutput", "input_schema": VERDICT},
    ]
    with serving(Turn("a")) as server:
        heard = Anthropic(server.url).ask(f'Check {{"prompt": "{PROMPT}"}}', tools=tools)
        assert Anthropic(server.url).ask(PROMPT).text == "a"
    assert [each.side for each in server.asked] == [True, False]
    [call] = heard.calls
    assert call[1:] == ("StructuredOutput", {"ok": True, "reason": "Scripted session"})


@pytest.mark.parametrize(
    ("kind", "choice"),
    [
        (Anthropic, {"type": "tool", "name": "tool"}),
        (Responses, {"type": "function", "name": "tool"}),
        (Chat, {"type": "function", "function": {"name": "tool"}}),
    ],
)
def test_a_tool_that_has_to_be_called_is_called(
    kind: type[ModelClient], choice: dict[str, Any]
) -> None:
    with serving(Turn("a")) as server:
        [call] = kind(server.url).ask("Classify this.", tool_choice=choice).calls
        assert server.asked[0].side
    assert call[1:] == ("tool", {})


@pytest.mark.parametrize("kind", [Anthropic, Responses, Chat])
def test_a_model_that_may_choose_is_in_the_conversation(kind: type[ModelClient]) -> None:
    choice: Any = {"type": "auto"} if kind is Anthropic else "auto"
    with serving(Turn("a")) as server:
        assert kind(server.url).ask(PROMPT, tool_choice=choice).text == "a"


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("Answer <block>yes</block> or <block>no</block>.", "<block>no</block>"),
        ("Answer with <severity>0 to 9</severity>.", "<severity>0</severity>"),
        ("Summarize what was said.", SUMMARY),
        ("Write a <state_snapshot>.", f"<state_snapshot>{SUMMARY}</state_snapshot>"),
    ],
)
def test_a_form_of_answer_is_kept(form: str, answer: str) -> None:
    with serving() as server:
        heard = Anthropic(server.url).ask("An action.", tools=[], system=form)
    assert heard.text == answer


def test_tokens_are_counted() -> None:
    with serving() as server:
        messages = [{"role": "user", "content": "some words to count"}]
        counted = Anthropic(server.url).post("/v1/messages/count_tokens", {"messages": messages})
        contents = [{"role": "user", "parts": [{"text": "some words to count"}]}]
        path = "/v1beta/models/gemini-x:countTokens"
        gemini = Gemini(server.url).post(path, {"contents": contents})
        assert [each.side for each in server.asked] == [True, True]
    assert counted.json() == {"input_tokens": 5}
    assert gemini.json() == {"totalTokens": 5}


def test_texts_are_embedded() -> None:
    with serving() as server:
        client = Gemini(server.url)
        one = client.post("/v1beta/models/e:embedContent", {"content": {}}).json()
        two = client.post("/v1beta/models/e:batchEmbedContents", {"requests": [{}, {}]}).json()
    assert one["embedding"]["values"]
    assert len(two["embeddings"]) == 2


@pytest.mark.parametrize(
    ("path", "key"), [("/v1/models", "data"), ("/models", "data"), ("/v1beta/models", "models")]
)
def test_models_are_listed(path: str, key: str) -> None:
    with serving() as server:
        listed = get(server.url + path).json()
        assert server.asked[0].side
    assert len(listed[key]) == 1


def test_a_sign_of_life_is_given() -> None:
    with serving() as server:
        response = httpx.head(server.url, trust_env=False, verify=False)
    assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "scripted"),
        ({"type": "STRING", "enum": ["user", "model"]}, "user"),
        ({"const": 7}, 7),
        ({"type": ["number", "null"]}, 1),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [True, True]),
        ({"type": "array", "items": {"type": "boolean"}}, []),
        ({"type": "null"}, None),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, True),
        (
            {"type": "object", "properties": {"a": {}}, "required": ["a", "b"]},
            {"a": "scripted", "b": "scripted"},
        ),
        ({}, {}),
    ],
)
def test_a_sample_fits_its_schema(schema: dict[str, Any], value: Any) -> None:
    assert sample(schema) == value
