"""Tool calls and their results, read from what each wire's model was sent."""

from typing import Any

import pytest

from hookline.lab.exchanges import exchanges
from hookline.lab.ports import Asked

ANTHROPIC = {
    "messages": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "ok"},
                {"type": "tool_use", "id": "t1", "name": "shell", "input": {"command": "ls"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "a.txt"}],
                    "is_error": False,
                }
            ],
        },
    ]
}
RESPONSES = {
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {
            "type": "function_call",
            "call_id": "t1",
            "name": "shell",
            "arguments": '{"command":"ls"}',
        },
        {"type": "function_call_output", "call_id": "t1", "output": "a.txt"},
    ]
}
CHAT = {
    "messages": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "t1", "function": {"name": "shell", "arguments": '{"command": "ls"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "a.txt"},
    ]
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "go"}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "shell", "args": {"command": "ls"}}}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "shell", "response": {"output": "a.txt"}}}],
        },
    ]
}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("anthropic", ANTHROPIC),
        ("responses", RESPONSES),
        ("chat", CHAT),
        ("gemini", GEMINI),
    ],
)
def test_a_call_and_its_result_are_the_same_on_every_wire(wire: str, body: dict[str, Any]) -> None:
    (only,) = exchanges([Asked(wire, "/", body), Asked(wire, "/", body)])
    assert (only.name, only.arguments, only.told, only.error) == (
        "shell",
        {"command": "ls"},
        "a.txt",
        False,
    )


def test_a_result_that_is_an_error_is_one() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "denied", "is_error": True}
    body = {"messages": [*ANTHROPIC["messages"][:2], {"role": "user", "content": [result]}]}
    (only,) = exchanges([Asked("anthropic", "/", body)])
    assert (only.told, only.error) == ("denied", True)


def test_a_call_without_a_result_was_not_answered() -> None:
    body = {"messages": ANTHROPIC["messages"][:2]}
    (only,) = exchanges([Asked("anthropic", "/", body)])
    assert only.told is None


def test_a_patch_is_a_call_with_its_text() -> None:
    call = {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** x"}
    done = {"type": "custom_tool_call_output", "call_id": "c", "output": "Success"}
    (only,) = exchanges([Asked("responses", "/", {"input": [call, done]})])
    assert (only.name, only.arguments, only.told) == ("apply_patch", {"input": "*** x"}, "Success")


def test_calls_of_one_tool_without_ids_have_their_results_in_order() -> None:
    def part(kind: str, key: str, value: dict[str, str]) -> dict[str, Any]:
        return {kind: {"name": "shell", key: value}}

    parts = [
        part("functionCall", "args", {"command": "a"}),
        part("functionCall", "args", {"command": "b"}),
        part("functionResponse", "response", {"output": "A"}),
        part("functionResponse", "response", {"error": "B"}),
    ]
    first, second = exchanges([Asked("gemini", "/", {"contents": [{"parts": parts}]})])
    assert (first.arguments["command"], first.told, first.error) == ("a", "A", False)
    assert (second.arguments["command"], second.told, second.error) == ("b", "B", True)


def test_side_calls_count_for_nothing_and_lanes_stay_apart() -> None:
    found = exchanges(
        [
            Asked("anthropic", "/", ANTHROPIC, side=True),
            Asked("anthropic", "/", ANTHROPIC, lane="look around"),
            Asked("anthropic", "/", ANTHROPIC),
            Asked("", "/models", {}),
        ]
    )
    assert [each.lane for each in found] == ["look around", ""]
