"""What Claude Code's tools answer, read as text and written back in the shape that the client takes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookline
from hookline import registry
from hookline.dialects.claude_code.outputs import in_shape, read_text
from hookline.testing import fire

CAPTURES = Path(hookline.__file__).parent / "dialects" / "claude_code" / "captures"
CONFIG = "version: 1\nhooks:\n  - use: redact-secrets\n"
TOKEN = "ghp" + "_" + "A1b2C3d4E5" * 3 + "F6g7H8"
SHOWN = "[redacted:github]"

FILE = {"filePath": "a.py", "content": "one\ntwo\n", "numLines": 3, "startLine": 1, "totalLines": 3}
READ = {"type": "text", "file": FILE}


def captured() -> Iterator[Any]:
    """What the real client sent, where the answer is more than one text."""
    for path in sorted(CAPTURES.rglob("PostToolUse-*.json")):
        payload = json.loads(path.read_bytes())["payload"]
        response = payload["tool_response"]
        if isinstance(response, dict) and "stdout" not in response and read_text(response) is None:
            yield pytest.param(payload, id=path.stem)


def leaves(value: Any) -> int:
    match value:
        case str():
            return 1
        case dict():
            return sum(map(leaves, value.values()))
        case list():
            return sum(map(leaves, value))
        case _:
            return 0


def each_with_a_secret(value: Any) -> Iterator[Any]:
    """The value as often as it has texts, each time with a secret in another one of them."""
    for chosen in range(leaves(value)):
        left = [chosen]

        def put(text: str, left: list[int] = left) -> str:
            left[0] -= 1
            return f"{text} {TOKEN}" if left[0] == -1 else text

        yield mapped(value, put)


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case dict():
            return {key: mapped(each, change) for key, each in value.items()}
        case list():
            return [mapped(each, change) for each in value]
        case _:
            return value


@pytest.mark.parametrize("payload", list(captured()))
def test_a_secret_goes_out_of_any_answer_and_all_else_in_it_stays(payload: dict[str, Any]) -> None:
    for response in each_with_a_secret(payload["tool_response"]):
        without = mapped(response, lambda text: text.replace(TOKEN, SHOWN))
        assert rewritten({**payload, "tool_response": response}) == without


def rewritten(payload: dict[str, Any]) -> Any:
    dialect = registry.dialect("claude-code")
    event = dialect.decode(json.dumps(payload).encode(), "PostToolUse")
    reply = dialect.encode(fire(CONFIG, event))
    assert TOKEN.encode() not in reply.stdout
    return json.loads(reply.stdout)["hookSpecificOutput"]["updatedToolOutput"]


def test_of_a_file_that_was_read_hooks_see_the_lines() -> None:
    assert read_text(READ) == "one\ntwo\n"
    assert in_shape(READ, "other") == {**READ, "file": {**FILE, "content": "other"}}


def test_of_an_mcp_tools_answer_hooks_see_the_texts_unless_there_is_more_than_texts() -> None:
    text, image = {"type": "text", "text": "a"}, {"type": "image", "data": "x"}
    assert read_text([text, text]) == "a\na"
    assert read_text([text, image]) is None
    assert read_text([]) is None


def test_of_a_command_the_text_stands_in_its_output_and_nothing_is_left_beside_it() -> None:
    response = {"stdout": "old", "stderr": "old too", "interrupted": False}
    assert in_shape(response, "new") == {"stdout": "new", "stderr": "", "interrupted": False}


def test_a_text_that_is_no_such_answer_takes_the_place_of_every_other() -> None:
    response = {"filePath": "a.py", "structuredPatch": [{"lines": ["+old"]}], "replaceAll": False}
    shaped = in_shape(response, "not shown")
    assert shaped["filePath"] == "not shown"
    assert "old" not in json.dumps(shaped)
    assert shaped.keys() == response.keys()


@pytest.mark.parametrize(
    "other",
    [
        {"a": "x"},
        {"a": "x", "b": True},
        {"a": "x", "b": 1.0},
        {"a": "x", "b": 1, "c": [1]},
        {"a": 1, "b": 1, "c": []},
        {"b": 1, "a": "x", "c": []},
    ],
)
def test_what_differs_in_more_than_texts_is_no_answer_of_the_tool(other: dict[str, Any]) -> None:
    response = {"a": "old", "b": 1, "c": []}
    assert in_shape(response, json.dumps({"a": "new", "b": 1, "c": []}))["a"] == "new"
    assert in_shape(response, json.dumps(other))["a"] == json.dumps(other)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
        max_leaves=8,
    ),
    st.text(max_size=20),
)
def test_any_text_fits_into_any_answer_of_the_same_keys(response: Any, text: str) -> None:
    shaped = in_shape(response, text)
    if isinstance(response, dict):
        assert list(shaped) == list(response)
    else:
        assert shaped == text
