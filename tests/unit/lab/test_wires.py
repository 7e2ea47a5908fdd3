"""Every wire says the same in its own words, streaming and not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hookline.lab.ports import ToolCall
from hookline.lab.script import Act, Agent, Native, Script, Shell, Turn
from hookline.lab.server import ModelServer
from support.model_clients import CLIENTS, Anthropic, Chat, Gemini, ModelClient, Responses

PROMPT = "Clean up MK_PROMPT."


def say(act: Act) -> ToolCall:
    """Acts in the words of no client in particular."""
    if isinstance(act, Native):
        return ToolCall(act.name, act.arguments)
    assert isinstance(act, Shell | Agent)
    key = "command" if isinstance(act, Shell) else "prompt"
    return ToolCall("tool", {key: getattr(act, key)})


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


@pytest.fixture(params=[True, False], ids=["streaming", "whole"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether the client wants its answer in pieces."""
    return bool(request.param)


def test_a_text_arrives(kind: type[ModelClient], stream: bool) -> None:
    text = 'Hello "MK_TEXT" — ünïcode\nand a second line'
    with serving(Turn(text)) as server:
        heard = kind(server.url, stream=stream).ask(PROMPT)
    assert (heard.text, heard.calls) == (text, [])
    assert heard.why in {"end_turn", "completed", "stop", "STOP"}
    assert min(heard.usage) > 0


def test_calls_arrive_beside_words(kind: type[ModelClient], stream: bool) -> None:
    arguments = {"command": 'echo "ä\n"', "deep": {"list": [1, None, True, 1.5]}}
    acts = (Native("tool", arguments), Shell("ls"), Native("tool"))
    with serving(Turn("I look.", acts)) as server:
        heard = kind(server.url, stream=stream).ask(PROMPT)
    assert heard.text == "I look."
    assert [(name, given) for _, name, given in heard.calls] == [
        ("tool", arguments),
        ("tool", {"command": "ls"}),
        ("tool", {}),
    ]
    assert heard.why in {"tool_use", "completed", "tool_calls", "STOP"}


def test_ids_are_never_given_twice(kind: type[ModelClient], stream: bool) -> None:
    turns = [Turn("", (Shell("a"), Shell("b")))] * 3
    with serving(*turns) as server:
        client = kind(server.url, stream=stream)
        ids = [id for heard in client.ask_and_do(PROMPT) for id, _, _ in heard.calls]
        ids += [id for id, _, _ in kind(server.url, stream=stream).ask(PROMPT).calls]
    assert len(ids) == 8
    assert len({*ids}) == 8
    start = {Anthropic: "toolu_", Gemini: "fc_"}.get(kind, "call_")
    assert all(id.startswith(start) for id in ids)


@pytest.mark.parametrize("kind", [Anthropic, Responses, Chat])
def test_streamed_arguments_come_in_pieces(kind: type[ModelClient]) -> None:
    with serving(Turn("", (Shell("ls -la"),))) as server:
        heard = kind(server.url).ask(PROMPT)
    assert heard.calls[0][2] == {"command": "ls -la"}
    assert heard.pieces >= 2


def test_a_streamed_text_comes_in_pieces(kind: type[ModelClient]) -> None:
    with serving(Turn("two pieces")) as server:
        assert kind(server.url).ask(PROMPT).pieces == 2


def test_an_answer_of_nothing_is_still_an_answer(kind: type[ModelClient], stream: bool) -> None:
    with serving(Turn("")) as server:
        heard = kind(server.url, stream=stream).ask(PROMPT)
    assert (heard.text, heard.calls) == ("", [])
    assert heard.why


def test_a_message_of_nothing_has_a_block() -> None:
    with serving(Turn("")) as server:
        client = Anthropic(server.url, stream=False)
        client.history.append(client.user(PROMPT))
        whole = client.post(client.path(), client.body()).json()
    assert whole["content"] == [{"type": "text", "text": ""}]


def test_a_whole_session_goes_through_its_turns(kind: type[ModelClient], stream: bool) -> None:
    with serving(Turn("a", (Shell("1"),)), Turn("", (Shell("2"),)), Turn("b")) as server:
        client = kind(server.url, stream=stream)
        said = [heard.text for heard in client.ask_and_do(PROMPT, "MK_RESULT")]
        asked = server.asked
    assert said == ["a", "", "b"]
    assert [each.side for each in asked] == [False] * 3
    assert "MK_RESULT" in str(asked[2].body)
    assert {each.wire for each in asked} == {kind.__name__.lower()}


@pytest.mark.parametrize("prefix", ["", "/v1", "/v1/v1"])
@pytest.mark.parametrize("kind", [Anthropic, Responses, Chat])
def test_a_version_before_the_path_does_not_matter(kind: type[ModelClient], prefix: str) -> None:
    with serving(Turn("here")) as server:
        client = kind(server.url)
        client.history.append(client.user(PROMPT))
        path = prefix + client.path().removeprefix("/v1")
        assert client.heard(client.post(path, client.body())).text == "here"


@pytest.mark.parametrize("kind", [Responses, Chat])
def test_a_freeform_tool_is_called_with_plain_text(kind: type[ModelClient], stream: bool) -> None:
    patch = "*** Begin Patch\n*** End Patch\n"
    with serving(Turn("", (Native("apply_patch", {"input": patch}),))) as server:
        [call] = kind(server.url, stream=stream).ask(PROMPT).calls
    assert call[1:] == ("apply_patch", patch)


@pytest.mark.parametrize("name", ["inner", "space.inner", "spaceinner", "space__inner"])
def test_a_tool_of_a_namespace_is_called_with_it(name: str, stream: bool) -> None:
    with serving(Turn("", (Native(name, {"a": 1}),))) as server:
        [call] = Responses(server.url, stream=stream).ask(PROMPT).calls
        assert server.notes == ()
    assert call[1:] == ("space/inner", {"a": 1})


def test_a_call_of_a_tool_that_is_not_offered_is_noted(kind: type[ModelClient]) -> None:
    with serving(Turn("", (Native("Unheard"),))) as server:
        heard = kind(server.url).ask(PROMPT)
        assert heard.calls[0][1] == "Unheard"
        assert server.notes == ("the model calls `Unheard`, which the client did not offer it",)


def test_a_scripted_failure_is_sent_once_and_in_the_wires_words(kind: type[ModelClient]) -> None:
    with serving(Turn(fail=529), Turn("better now")) as server:
        client = kind(server.url)
        client.history.append(client.user(PROMPT))
        with pytest.raises(Exception, match="529") as caught:
            client.ask()
        message: Any = caught.value.response.json()["error"]["message"]  # type: ignore[attr-defined]
        assert message == "the script has the model fail here"
        assert client.ask().text == "better now"
        assert [each.side for each in server.asked] == [False, False]
        assert server.notes == ()
