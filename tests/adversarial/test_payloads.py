"""Payloads and answers that are broken, huge, deep or dishonest: refused in words, never a crash."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookline.dialects.canonical import DIALECT
from hookline.model.answers import Answer, Verdict
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerError
from hookline.model.events import Event, PreToolUse
from hookline.model.hook import OnError
from support.engines import bound, fire
from support.lifecycle import ALL
from support.strategies import bare_event, json_values

MEGABYTE = 2**20
DEEP = 200_000

DENY = b'{"verdict": "deny", "reason": "no"}'
PRETTY_DENY = json.dumps({"verdict": "deny", "reason": "no"}, indent=2).encode()
REWRITE = b'{"rewrite": {"input": {"command": "true"}}}'


def tool_use(input: bytes) -> bytes:
    return b'{"event": "pre_tool_use", "tool": {"name": "Bash", "input": ' + input + b"}}"


def read(stdout: bytes) -> Answer:
    event = bare_event("pre_tool_use")
    return DIALECT.read_answer(event, stdout=stdout, stderr=b"", exit_code=0)


# Payloads


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b" ",
        b"\x00",
        b"null",
        b"true",
        b"[]",
        b'"pre_tool_use"',
        b"{",
        b'{"event"',
        b'{"event": "pre_tool_use"',
        b'{"event": "pre_tool_use"}}',
        b'{"event": "pre_tool_use"} {"event": "stop"}',
        b"{'event': 'pre_tool_use'}",
        b'{"event": "pre_tool_use",}',
        b'\xef\xbb\xbf{"event": "pre_tool_use"}',
        '{"event": "pre_tool_use"}'.encode("utf-16"),
        tool_use(b'{"command": "a\nb"}'),
        tool_use(b'{"command": "a\x00b"}'),
        tool_use(b'{"command": "\xff\xfe"}'),
        tool_use(b'{"\xc3\x28": 1}'),
        tool_use(b'{"command": "\xed\xa0\x80"}'),
        tool_use(rb'{"command": "\ud800"}'),
        tool_use(rb'{"command": "\udc00\ud800"}'),
        tool_use(b'{"timeout": NaN}'),
        tool_use(b'{"timeout": 1e999}'),
        tool_use(b'{"timeout": 1' + b"0" * 5000 + b"}"),
    ],
)
def test_what_is_not_json_is_refused(payload: bytes) -> None:
    for event in (None, "pre_tool_use"):
        with pytest.raises(DecodeError):
            DIALECT.decode(payload, event)


@pytest.mark.parametrize(
    "fields",
    [
        {"event": 7},
        {"event": ["stop"]},
        {"hookline": 2},
        {"hookline": "1"},
        {"id": 7},
        {"cwd": None},
        {"time": "yesterday"},
        {"agent": "root"},
        {"agent": {"depth": "deep"}},
        {"budget": 7},
        {"tool": "Bash"},
        {"tool": None},
        {"tool": []},
        {"tool": {"kind": "shell guard"}},
        {"tool": {"name": None}},
        {"tool": {"input": "ls"}},
        {"tool": {"input": ["ls"]}},
        {"tool": {"command": ["ls"]}},
        {"tool": {"paths": "/a"}},
        {"tool": {"mcp": "github"}},
        {"tool": {"mcp": {"server": "github"}}},
        {"tool": {"ok": "yes"}},
    ],
    ids=json.dumps,
)
def test_a_field_of_the_wrong_type_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(DecodeError):
        DIALECT.decode(json.dumps({"event": "pre_tool_use"} | fields).encode())


@pytest.mark.parametrize(
    "name",
    ["PreToolUse", "pre_tool_use ", "pre-tool-use", "event", "\x1b[2J", "\u202e", "stop\x00"],
)
def test_an_unknown_event_is_refused_in_words_that_are_safe_to_print(name: str) -> None:
    for payload, event in ((json.dumps({"event": name}), None), ("{}", name)):
        with pytest.raises(DecodeError, match="no event is called") as caught:
            DIALECT.decode(payload.encode(), event)
        assert not set("\x1b\u202e\x00") & set(str(caught.value))


def test_an_event_that_is_named_twice_is_never_taken_for_the_other() -> None:
    payload = b'{"event": "stop", "tool": {"name": "Bash"}, "event": "pre_tool_use"}'

    for event in (None, "stop", "pre_tool_use"):
        with pytest.raises(DecodeError):
            DIALECT.decode(payload, event)


@pytest.mark.parametrize(
    "payload",
    [
        tool_use(b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b"}"),
        tool_use(b'{"a": ' * DEEP + b"1" + b"}" * DEEP),
        b'{"event": "pre_tool_use", "raw": ' + b"[" * DEEP + b"]" * DEEP + b"}",
        b'{"raw": ' + b"[" * DEEP + b"]" * DEEP + b"}",
        tool_use(b'{"a": ' + b"[" * DEEP),
    ],
    ids=["list", "object", "raw", "raw, no event", "never closed"],
)
def test_nesting_without_end_is_refused(payload: bytes) -> None:
    with pytest.raises(DecodeError, match="nested too deep"):
        DIALECT.decode(payload, "pre_tool_use")


def test_a_payload_of_50_megabytes_is_read_whole() -> None:
    command = b"x" * (50 * MEGABYTE)

    event = DIALECT.decode(tool_use(b'{"command": "' + command + b'"}'))

    assert isinstance(event, PreToolUse)
    assert event.tool.command == command.decode()
    assert len(DIALECT.stdin(event)) > 2 * len(command)


def test_a_hundred_thousand_keys_are_read_whole() -> None:
    input = {f"key{number}": number for number in range(100_000)}

    event = DIALECT.decode(tool_use(json.dumps(input).encode()))

    assert isinstance(event, PreToolUse)
    assert event.tool.input == input


def test_a_nul_that_json_can_write_is_text_like_any_other() -> None:
    event = DIALECT.decode(tool_use(rb'{"command": "ls\u0000 -l"}'))

    assert isinstance(event, PreToolUse)
    assert event.tool.command == "ls\x00 -l"


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
@example(tool_use(b"{}"))
def test_whatever_arrives_is_an_event_or_a_decode_error(payload: bytes) -> None:
    try:
        event = DIALECT.decode(payload, "pre_tool_use")
    except DecodeError:
        return
    assert isinstance(event, PreToolUse)


@given(st.dictionaries(st.sampled_from(["tool", "cwd", "agent", "raw", "x"]), json_values))
def test_whatever_stands_in_the_fields_is_an_event_or_a_decode_error(
    fields: dict[str, object],
) -> None:
    try:
        event = DIALECT.decode(json.dumps({**fields, "event": "pre_tool_use"}).encode())
    except DecodeError:
        return
    assert DIALECT.decode(DIALECT.stdin(event)) == event


# Answers


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param(b"{", id="half an object"),
        pytest.param(b'{"verdict": "deny", "rea', id="half a deny"),
        pytest.param(DENY[:-1], id="all but the last brace"),
        pytest.param(b'{"verdict": "deny"}', id="a verdict without its reason"),
        pytest.param(b'{"verdict": "halt", "reason": " "}', id="a blank reason"),
        pytest.param(b'{"verdict": "ask", "reason": null}', id="no reason at all"),
        pytest.param(b'{"verdict": "block", "reason": "x"}', id="another platform's verdict"),
        pytest.param(b'{"verdict": "DENY", "reason": "x"}', id="a verdict in capitals"),
        pytest.param(b'{"verdict": null}', id="a verdict that is null"),
        pytest.param(b'{"verdict": ["deny"]}', id="a list of verdicts"),
        pytest.param(b'{"decision": "block"}', id="another platform's key"),
        pytest.param(b'{"verdict": "allow", "resaon": "x"}', id="a misspelt key"),
        pytest.param(b'{"rewrite": {"inptu": {}}}', id="a misspelt part of a rewrite"),
        pytest.param(b'{"rewrite": {"input": "ls"}}', id="an input that is text"),
        pytest.param(b'{"rewrite": {"env": {"A": 1}}}', id="a variable that is a number"),
        pytest.param(b'{"context": "text"}', id="context that is no list"),
        pytest.param(b'{"context": [1]}', id="context that is no text"),
        pytest.param(b'{"metadata": []}', id="metadata that is a list"),
        pytest.param(b"[" + DENY + b"]", id="an answer in a list"),
        pytest.param(b"[]", id="an empty list"),
        pytest.param(DENY + DENY, id="two answers"),
        pytest.param(DENY + b"\ndone", id="a line after the answer"),
        pytest.param(b"checking\n" + DENY, id="a line before the answer"),
        pytest.param(b"checking\n  " + DENY, id="a line before the indented answer"),
        pytest.param(b"checking... " + DENY, id="words before the answer"),
        pytest.param(b"checking\n" + PRETTY_DENY, id="a line before the pretty answer"),
        pytest.param(PRETTY_DENY + b"\ndone", id="a line after the pretty answer"),
        pytest.param(b"checking\n" + REWRITE, id="a line before a rewrite"),
        pytest.param(b"checking\n" + DENY[:-3], id="a line before half an answer"),
        pytest.param(rb'{"verdict": "deny", "reason": "\ud800"}', id="half a character"),
        pytest.param(b'{"verdict": "deny", "reason": "\xff"}', id="no utf-8"),
        pytest.param(b'{"verdict": "deny", "reason": "\x00"}', id="a bare nul"),
        pytest.param(b'{"metadata": {"a": ' + b"[" * DEEP, id="endless nesting"),
        pytest.param(DENY.decode().encode("utf-16"), id="utf-16"),
    ],
)
def test_what_is_no_proper_answer_is_a_failure_and_a_guard_then_blocks(stdout: bytes) -> None:
    def answer(event: Event) -> Answer:
        return read(stdout)

    with pytest.raises(HandlerAnswerError):
        read(stdout)

    guard = bound("guard", answer, guard=True, on_error=OnError.BLOCK)
    assert fire([guard], bare_event("pre_tool_use")).verdict is Verdict.DENY


def test_an_answer_of_50_megabytes_is_read_whole() -> None:
    text = "x" * (50 * MEGABYTE)

    assert read(json.dumps({"context": [text]}).encode()).context == (text,)


@pytest.mark.parametrize("noise", [b"[" * DEEP, b"[" * DEEP + b"]" * DEEP], ids=["open", "closed"])
def test_endless_brackets_are_text_and_no_crash(noise: bytes) -> None:
    assert read(noise).context == (noise.decode(),)


@given(
    st.sampled_from(ALL),
    st.binary(max_size=100) | json_values.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=20),
    st.integers(-15, 255),
)
def test_whatever_a_program_says_is_an_answer_or_a_failure_of_that_hook(
    event: str, stdout: bytes, stderr: bytes, exit_code: int
) -> None:
    try:
        answer = DIALECT.read_answer(
            bare_event(event), stdout=stdout, stderr=stderr, exit_code=exit_code
        )
    except HandlerError:
        assert exit_code != 2
    else:
        assert exit_code in {0, 2}
        assert (answer.verdict is Verdict.DENY) == (exit_code == 2)
