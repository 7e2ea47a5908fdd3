"""Gemini CLI: what it sends is understood, what it is told it obeys, what its hooks say is kept."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.claude_code import DIALECT as CLAUDE_CODE
from hookline.dialects.gemini import DIALECT
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, allow, ask, deny, halt, notice
from hookline.model.errors import (
    DecodeError,
    HandlerAnswerError,
    HandlerCrashed,
    HandlerError,
)
from hookline.model.events import (
    EVENTS,
    AfterLlmCall,
    BeforeLlmCall,
    Event,
    Notification,
    Other,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SessionResume,
    SessionStart,
    Stop,
    ToolSelection,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome, Reply, Translated
from hookline.model.rewriting import native_input, rewritten
from hookline.model.tools import Mcp, Tool, ToolKind, tool
from support.clients import gemini as client
from support.clients.effects import Does, Effect
from support.strategies import answers, json_values

GATES = ["BeforeAgent", "BeforeModel", "BeforeTool"]


def decode(native: str, **extra: Any) -> Event:
    return DIALECT.decode(json.dumps(client.payload(native) | extra).encode(), None)


def tool_of(name: str, input: Any, native: str = "BeforeTool", **extra: Any) -> Tool:
    event = decode(native, tool_name=name, tool_input=input, **extra)
    assert isinstance(event, PreToolUse | PostToolUse)
    return event.tool


def outcome(native: str, answer: Answer, **extra: Any) -> tuple[Outcome, dict[str, Any]]:
    event = decode(native, **extra)
    change = answer.rewrite
    if change.input is not None and isinstance(event, PreToolUse):
        change = Rewrite(input=native_input(event, change.input, DIALECT.tools))
    final = rewritten(event, change, DIALECT.tools)
    concluded = Outcome(event=event, answer=answer, final=None if final is event else final)
    return concluded, client.payload(native) | extra


def said(native: str, answer: Answer, **extra: Any) -> dict[str, Any]:
    reply = DIALECT.encode(outcome(native, answer, **extra)[0])
    assert reply.exit_code == 0
    body: dict[str, Any] = json.loads(reply.stdout)
    return body


def effect(native: str, answer: Answer, **extra: Any) -> Effect:
    concluded, payload = outcome(native, answer, **extra)
    return client.obey(native, DIALECT.encode(concluded), payload)


def translated(native: str, answer: Answer, **extra: Any) -> Translated:
    return DIALECT.translate(outcome(native, answer, **extra)[0])


def swaps(done: Translated) -> set[tuple[str, str]]:
    return {(change.was, change.now) for change in done.substitutions}


def read(
    answer: Any, native: str = "BeforeTool", *, stderr: bytes = b"", exit_code: int = 0
) -> Answer:
    stdout = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    event = decode(native)
    return DIALECT.read_answer(event, stdout=stdout, stderr=stderr, exit_code=exit_code)


# Decoding


@pytest.mark.parametrize(
    ("native", "expected", "fields"),
    [
        ("SessionStart", SessionStart, {"source": "startup"}),
        ("SessionEnd", SessionEnd, {"reason": "exit"}),
        ("BeforeAgent", UserPromptSubmit, {"prompt": "do it"}),
        ("AfterAgent", Stop, {"last_message": "Done.", "stop_hook_active": False}),
        ("BeforeModel", BeforeLlmCall, {"model": "gemini-2.5-pro"}),
        ("BeforeToolSelection", ToolSelection, {"model": "gemini-2.5-pro", "tools": ()}),
        ("AfterModel", AfterLlmCall, {"model": "gemini-2.5-pro", "usage": None}),
        ("BeforeTool", PreToolUse, {}),
        ("AfterTool", PostToolUse, {}),
        ("PreCompress", PreCompact, {"trigger": "auto"}),
        ("Notification", Notification, {"kind": "ToolPermission", "message": "May I?"}),
    ],
)
def test_every_native_event_is_its_canonical_one(
    native: str, expected: type[Event], fields: dict[str, Any]
) -> None:
    event = decode(native)
    assert type(event) is expected
    assert (event.session_id, event.cwd, event.dialect) == ("s1", "/srv/app", "gemini")
    assert {name: getattr(event, name) for name in fields} == fields


def test_the_support_table_has_all_eleven_events() -> None:
    assert set(DIALECT.support.events) == set(client.OWN)


def test_an_event_nobody_knows_is_other_and_keeps_its_payload() -> None:
    event = decode("BeforeTeleport", destination="Mars")
    assert type(event) is Other
    assert event.native_event == "BeforeTeleport"
    assert json.loads(bytes(event.raw))["destination"] == "Mars"


def test_fields_nobody_knows_survive_in_the_payload() -> None:
    event = decode("BeforeTool", original_request_name="read_file")
    assert json.loads(bytes(event.raw))["original_request_name"] == "read_file"


def test_the_request_to_the_model_is_read() -> None:
    request = {**client.REQUEST, "toolConfig": {"allowedFunctionNames": ["glob"]}}
    selection = decode("BeforeToolSelection", llm_request=request)
    assert isinstance(selection, ToolSelection)
    assert selection.tools == ("glob",)
    assert selection.messages == ({"role": "user", "content": "do it"},)
    response = {"usageMetadata": {"totalTokenCount": 120}}
    after = decode("AfterModel", llm_response=response)
    assert isinstance(after, AfterLlmCall)
    assert after.usage == {"totalTokenCount": 120}


def test_a_message_in_a_shape_of_its_own_is_kept_as_a_text() -> None:
    event = decode("BeforeModel", llm_request={"messages": ["hi", {"content": "x"}]})
    assert isinstance(event, BeforeLlmCall)
    assert event.messages == ({"role": "user", "content": "hi"}, {"content": "x"})


@pytest.mark.parametrize("request_", [None, 5, [], {"messages": 5, "toolConfig": []}])
def test_a_request_of_no_known_shape_does_not_lose_the_event(request_: Any) -> None:
    event = decode("BeforeModel", llm_request=request_)
    assert isinstance(event, BeforeLlmCall)
    assert event.messages == ()


@pytest.mark.parametrize(
    ("name", "input", "kind", "fields"),
    [
        ("run_shell_command", {"command": "ls"}, ToolKind.SHELL, {"command": "ls"}),
        ("read_file", {"file_path": "a"}, ToolKind.READ, {"path": "a"}),
        ("read_many_files", {"include": ["a", "b"]}, ToolKind.READ, {"paths": ("a", "b")}),
        (
            "write_file",
            {"file_path": "a", "content": "x"},
            ToolKind.WRITE,
            {"path": "a", "content": "x"},
        ),
        (
            "replace",
            {"file_path": "a", "old_string": "x", "new_string": "y"},
            ToolKind.EDIT,
            {"path": "a", "old": "x", "new": "y"},
        ),
        (
            "grep_search",
            {"pattern": "x", "dir_path": "src"},
            ToolKind.SEARCH,
            {"path": "src", "query": "x"},
        ),
        ("search_file_content", {"pattern": "x"}, ToolKind.SEARCH, {"query": "x"}),
        ("glob", {"pattern": "*"}, ToolKind.SEARCH, {"query": "*"}),
        ("list_directory", {"dir_path": "src"}, ToolKind.SEARCH, {"path": "src"}),
        ("google_web_search", {"query": "x"}, ToolKind.FETCH, {"query": "x"}),
        (
            "web_fetch",
            {"prompt": "sum up https://a.io/x"},
            ToolKind.FETCH,
            {"url": "https://a.io/x"},
        ),
        ("invoke_agent", {"prompt": "x"}, ToolKind.AGENT, {"content": "x"}),
        ("write_todos", {"todos": []}, ToolKind.TASK, {}),
        ("ask_user", {"questions": []}, ToolKind.ASK, {}),
        ("save_memory", {"fact": "x"}, ToolKind.OTHER, {"content": "x"}),
    ],
)
def test_the_clients_tools_are_read_by_their_own_keys(
    name: str, input: dict[str, Any], kind: ToolKind, fields: dict[str, Any]
) -> None:
    read_ = tool_of(name, input)
    assert read_.kind is kind
    assert {field: getattr(read_, field) for field in fields} == fields


def test_every_address_that_web_fetch_would_fetch_is_seen() -> None:
    assert tool_of("web_fetch", {"prompt": "no address"}).url is None
    both = tool_of("web_fetch", {"prompt": "HTTPS://a.io and (https://b.io", "url": "https://c.io"})
    assert both.url == "HTTPS://a.io https://b.io https://c.io"


def test_an_mcp_tool_is_known_by_what_the_client_tells_beside_it() -> None:
    told = {"server_name": "my_lab", "tool_name": "echo_text", "command": "python3"}
    read_ = tool_of("mcp_my_lab_echo_text", {"command": "x"}, mcp_context=told)
    assert (read_.kind, read_.mcp) == (ToolKind.MCP, Mcp("my_lab", "echo_text"))


@pytest.mark.parametrize("told", [None, {}, {"server_name": ""}, "lab"])
def test_an_mcp_tool_without_that_is_known_by_its_name(told: Any) -> None:
    read_ = tool_of("mcp_lab_echo_text", {}, mcp_context=told)
    assert (read_.kind, read_.mcp) == (ToolKind.MCP, Mcp("lab", "echo_text"))


def test_an_mcp_server_told_without_its_tool_still_counts() -> None:
    read_ = tool_of("mcp_lab_echo_text", {}, mcp_context={"server_name": "lab"})
    assert read_.mcp == Mcp("lab", "echo_text")


def test_a_failed_tool_is_a_post_tool_use_that_is_not_ok() -> None:
    response = {"llmContent": "No file.", "error": {"message": "not found: x", "type": "t"}}
    failed = tool_of("read_file", {"file_path": "x"}, "AfterTool", tool_response=response)
    assert failed.ok is False
    assert failed.output == "No file.\nnot found: x"
    assert tool_of("read_file", {}, "AfterTool").ok is True


@pytest.mark.parametrize(
    ("response", "output"),
    [
        ({"llmContent": "text"}, "text"),
        ({"llmContent": [{"text": "a"}, "b"]}, "a\nb"),
        ({"llmContent": {"text": "a"}}, "a"),
        ({"llmContent": [{"inlineData": 1}]}, '{"inlineData":1}'),
        ({"llmContent": "gone: x", "error": {"message": "gone"}}, "gone: x"),
        ({"error": "broken"}, "broken"),
        ({"unheard": 1}, '{"unheard":1}'),
        ("plain", "plain"),
    ],
)
def test_a_tools_output_is_what_the_model_is_given(response: Any, output: str) -> None:
    assert tool_of("glob", {}, "AfterTool", tool_response=response).output == output


def test_a_bare_text_as_input_is_judged_as_a_command() -> None:
    assert tool_of("unheard_of", "rm -rf /").command == "rm -rf /"


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_or_a_decode_error(payload: bytes) -> None:
    with contextlib.suppress(DecodeError):
        assert isinstance(DIALECT.decode(payload, "BeforeTool"), Event)


@given(
    native=st.sampled_from([*client.OWN, "Unheard"]),
    changes=st.dictionaries(
        st.sampled_from(
            sorted({key for own in client.OWN.values() for key in own} | {"mcp_context", "cwd"})
        ),
        json_values,
    ),
)
def test_any_values_in_a_payload_are_an_event_or_a_decode_error(
    native: str, changes: dict[str, Any]
) -> None:
    payload = json.dumps(client.payload(native) | changes).encode()
    try:
        event = DIALECT.decode(payload, None)
    except DecodeError:
        return
    assert bytes(event.raw) == payload
    assert DIALECT.encode(Outcome(event=event)).exit_code == 0


# Encoding


def test_nothing_is_said_aloud_so_that_stderr_cannot_pose_as_the_answer() -> None:
    for native in client.OWN:
        reply = DIALECT.encode(outcome(native, PASS)[0])
        silent = native == "BeforeToolSelection"  # where any output resets the tools
        assert reply == Reply(stdout=b"" if silent else b"{}\n")


@pytest.mark.parametrize("native", GATES)
def test_a_deny_blocks_and_says_why(native: str) -> None:
    done = effect(native, deny("not here"))
    assert (done.does, done.reason) == (Does.BLOCKS, "not here")


@pytest.mark.parametrize("native", sorted(client.STOPPED))
def test_a_halt_ends_the_run(native: str) -> None:
    done = effect(native, halt("enough"))
    assert (done.does, done.reason) == (Does.ENDS_THE_RUN, "enough")


def test_a_halted_prompt_is_denied_because_only_then_it_is_discarded() -> None:
    assert said("BeforeAgent", halt("enough")) == {"decision": "deny", "reason": "enough"}
    assert translated("BeforeAgent", halt("enough")).latch == "enough"


@pytest.mark.parametrize("native", ["BeforeModel", "AfterModel", "BeforeTool", "AfterTool"])
def test_a_halt_that_a_sub_agent_would_survive_is_latched_besides(native: str) -> None:
    assert translated(native, halt("enough")).latch == "enough"


def test_a_halt_where_the_run_ends_for_sure_is_not_latched() -> None:
    assert translated("AfterAgent", halt("enough")).latch == ""


@pytest.mark.parametrize("native", ["BeforeAgent", "AfterAgent"])
def test_a_notice_does_not_hide_the_reason_from_the_person(native: str) -> None:
    answer = Answer(verdict=Verdict.HALT, reason="enough", notice=("MK_NOTE",))
    assert said(native, answer)["systemMessage"] == "enough\n\nMK_NOTE"
    assert "systemMessage" not in said(native, halt("enough"))


@pytest.mark.parametrize("native", ["SessionStart", "PreCompress", "Notification", "SessionEnd"])
def test_a_halt_where_nothing_stops_is_latched_and_shown(native: str) -> None:
    assert translated(native, halt("enough")).latch == "enough"
    assert said(native, halt("enough")) == {"systemMessage": "enough"}


def test_allow_is_not_said_because_the_client_has_no_grant() -> None:
    assert said("BeforeTool", allow("fine")) == {}
    assert ("allow", "pass") in swaps(translated("BeforeTool", allow("fine")))


def test_a_question_shows_its_reason_in_the_dialog() -> None:
    answer = Answer(verdict=Verdict.ASK, reason="sure?", notice=("by the way",))
    body = said("BeforeTool", answer)
    assert body == {
        "decision": "ask",
        "reason": "sure?",
        "systemMessage": "sure?\n\nby the way",
    }
    assert effect("BeforeTool", answer).does is Does.ASKS


def test_no_answer_on_before_tool_uses_words_of_claude_code() -> None:
    change = Rewrite(input={"command": "ls"})
    for verdict in Verdict:
        answer = Answer(verdict=verdict, reason="why", rewrite=change, context=("c",))
        text = json.dumps(said("BeforeTool", answer))
        assert not any(
            w in text for w in ("permissionDecision", "updatedInput", "additionalContext")
        )


def test_context_on_before_tool_goes_to_the_person_and_that_is_recorded() -> None:
    answer = Answer(context=("careful",))
    assert "careful" in said("BeforeTool", answer)["systemMessage"]
    assert ("context", "notice") in swaps(translated("BeforeTool", answer))


def test_a_rewrite_is_sent_whole() -> None:
    answer = Answer(rewrite=Rewrite(input={"command": "ls"}))
    whole = {"command": "ls", "description": "Remove x"}
    assert said("BeforeTool", answer)["hookSpecificOutput"]["tool_input"] == whole
    assert effect("BeforeTool", answer).input == whole


def test_a_rewrite_that_changes_nothing_is_not_sent() -> None:
    assert said("BeforeTool", Answer(rewrite=Rewrite(input={"command": "rm x"}))) == {}


def test_a_question_about_a_rewritten_call_carries_the_rewrite() -> None:
    answer = Answer(verdict=Verdict.ASK, reason="?", rewrite=Rewrite(input={"command": "ls"}))
    done = effect("BeforeTool", answer)
    assert done.does is Does.ASKS
    assert done.input is not None
    assert done.input["command"] == "ls"


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.ALLOW, Verdict.ASK])
def test_a_rewrite_that_takes_a_key_away_is_a_deny_with_the_input_to_use(verdict: Verdict) -> None:
    change = Rewrite(input={"command": "ls", "description": None})
    answer = Answer(verdict=verdict, reason="MK_WHY", rewrite=change)
    done = effect("BeforeTool", answer)
    assert done.does is Does.BLOCKS
    assert '{"command":"ls"}' in done.reason
    assert ("MK_WHY" in done.reason) is (verdict is Verdict.ASK)
    recorded = translated("BeforeTool", answer)
    assert ("rewrite.input", "deny") in swaps(recorded)
    assert "cannot remove description" in recorded.substitutions[-1].why


def test_a_deny_beside_such_a_rewrite_keeps_its_own_reason() -> None:
    change = Rewrite(input={"description": None})
    answer = Answer(verdict=Verdict.DENY, reason="no", rewrite=change)
    assert said("BeforeTool", answer) == {"decision": "deny", "reason": "no"}


def test_a_new_address_for_web_fetch_is_its_new_prompt() -> None:
    answer = Answer(rewrite=Rewrite(input={"prompt": "https://safe.io"}))
    call = {"tool_name": "web_fetch", "tool_input": {"prompt": "get https://bad.io"}}
    assert effect("BeforeTool", answer, **call).input == {"prompt": "https://safe.io"}
    assert DIALECT.tools.write("web_fetch", {}, {"url": "https://safe.io"}) == {
        "prompt": "https://safe.io"
    }


def test_a_new_address_that_would_not_count_is_a_deny() -> None:
    answer = Answer(rewrite=Rewrite(input={"prompt": "https://safe.io"}))
    call = {"tool_name": "web_fetch", "tool_input": {"url": "https://bad.io"}}
    assert effect("BeforeTool", answer, **call).does is Does.BLOCKS


def test_variables_for_a_command_are_a_deny() -> None:
    assert effect("BeforeTool", Answer(rewrite=Rewrite(env={"A": "1"}))).does is Does.BLOCKS


def test_context_after_a_tool_reaches_the_model() -> None:
    assert "MK_NOTE" in effect("AfterTool", Answer(context=("MK_NOTE",))).context


def test_context_about_a_failed_tool_stands_in_the_error_which_is_all_the_model_is_given() -> None:
    response = {"llmContent": "MK_ERROR", "error": {"message": "MK_ERROR"}}
    body = said("AfterTool", Answer(context=("MK_NOTE",)), tool_response=response)
    assert body["decision"] == "deny"
    assert body["reason"].startswith("MK_ERROR\n\n")
    assert "MK_NOTE" in body["reason"]
    assert said("AfterTool", PASS, tool_response=response) == {}


def test_a_denied_output_is_replaced_by_the_reason_and_the_context() -> None:
    answer = Answer(verdict=Verdict.DENY, reason="secret", context=("MK_NOTE",))
    done = effect("AfterTool", answer)
    assert done.output["error"].startswith("secret")
    assert "MK_NOTE" in done.output["error"]


def test_a_new_output_takes_the_place_of_the_old_one_as_an_error() -> None:
    answer = Answer(rewrite=Rewrite(output="[redacted]"))
    assert "[redacted]" in effect("AfterTool", answer).output["error"]
    assert ("rewrite.output", "deny") in swaps(translated("AfterTool", answer))


def test_a_denied_answer_of_the_model_ends_the_run_before_its_function_call() -> None:
    done = effect("AfterModel", deny("no"))
    assert (done.does, done.reason) == (Does.ENDS_THE_RUN, "no")
    assert ("deny", "halt") in swaps(translated("AfterModel", deny("no")))


def test_a_prompt_cannot_be_rewritten_so_it_is_denied() -> None:
    assert effect("BeforeAgent", Answer(rewrite=Rewrite(prompt="x"))).does is Does.BLOCKS


def test_the_agent_keeps_going_with_the_text_of_a_follow_up() -> None:
    answer = Answer(follow_up=("run the tests", "then commit"))
    assert effect("AfterAgent", answer).follow_up == "run the tests\n\nthen commit"


def test_a_follow_up_without_a_text_still_says_something() -> None:
    assert effect("AfterAgent", Answer(follow_up=(" ",))).follow_up == "Keep going."


def test_a_halt_beats_a_follow_up() -> None:
    answer = Answer(verdict=Verdict.HALT, reason="enough", follow_up=("more",))
    assert effect("AfterAgent", answer).does is Does.ENDS_THE_RUN


def test_new_messages_are_sent_in_the_clients_roles() -> None:
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    body = said("BeforeModel", Answer(rewrite=Rewrite(messages=messages)))
    assert body["hookSpecificOutput"]["llm_request"]["messages"] == [
        {"role": "user", "content": "x"},
        {"role": "model", "content": "y"},
    ]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([], id="fewer, which leaves the old ones in place"),
        pytest.param([{"role": "tool", "content": "x"}], id="a role the client has not"),
        pytest.param([{"role": "user", "content": [{"text": "x"}]}], id="no text"),
    ],
)
def test_messages_that_would_not_be_applied_whole_are_a_deny(messages: list[Any]) -> None:
    answer = Answer(rewrite=Rewrite(messages=messages))
    assert effect("BeforeModel", answer).does is Does.BLOCKS
    assert ("rewrite.messages", "deny") in swaps(translated("BeforeModel", answer))


def test_a_denied_selection_asks_for_no_tools_and_says_that_this_is_all() -> None:
    own = said("BeforeToolSelection", deny("none"))["hookSpecificOutput"]
    assert own == {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "NONE"}}
    assert ("deny", "a request for no tools") in swaps(translated("BeforeToolSelection", deny("x")))


def test_a_notice_on_tool_selection_is_dropped_aloud_because_output_resets_the_tools() -> None:
    concluded, _ = outcome("BeforeToolSelection", notice("hello"))
    assert DIALECT.encode(concluded) == Reply()
    assert ("notice", "nothing") in swaps(DIALECT.translate(concluded))


def test_text_that_is_half_a_character_is_still_json() -> None:
    body = said("BeforeTool", Answer(rewrite=Rewrite(input={"command": "\ud800"})))
    assert body["hookSpecificOutput"]["tool_input"]["command"] == "\ud800"


@given(answers())
def test_a_deny_or_halt_on_a_gate_always_blocks_with_a_reason(answer: Answer) -> None:
    for native in GATES:
        if answer.verdict not in {Verdict.DENY, Verdict.HALT}:
            continue
        done = effect(native, Answer(verdict=answer.verdict, reason=answer.reason, notice=("n",)))
        assert done.does >= Does.BLOCKS
        assert done.reason.strip()
        assert done.reason != "No reason provided"


# Refusing


@pytest.mark.parametrize("native", [*GATES, None, "Unheard"])
@given(reason=st.text(min_size=1).filter(str.strip))
def test_a_refusal_closes_a_gate(native: str | None, reason: str) -> None:
    where = native if native in GATES else "BeforeTool"
    assert where is not None
    done = client.obey(where, DIALECT.refuse(native, reason), client.payload(where))
    assert done.does >= Does.BLOCKS
    assert done.reason.strip()


@pytest.mark.parametrize("native", ["SessionStart", "AfterAgent", "AfterTool", "AfterModel"])
def test_a_refusal_elsewhere_is_a_line_that_changes_nothing(native: str) -> None:
    reply = DIALECT.refuse(native, "broken")
    assert client.obey(native, reply, client.payload(native)) == Effect()
    assert b"broken" in reply.stderr


def test_a_refused_selection_asks_for_no_tools() -> None:
    assert b'"NONE"' in DIALECT.refuse("BeforeToolSelection", "broken").stdout


# As a host: what a hook of this platform is asked


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_a_hook_can_be_asked_about_any_event_of_another_platform(name: str) -> None:
    asked = json.loads(DIALECT.stdin(EVENTS[name](session_id="s1", cwd="/srv/app")))
    assert asked["session_id"] == "s1"
    assert asked["timestamp"].endswith("Z")
    assert {"transcript_path", "cwd", "hook_event_name"} <= set(asked)


def test_its_own_payload_is_passed_on_untouched() -> None:
    payload = b'{ "hook_event_name":"BeforeTool",  "tool_name": "glob" }'
    assert DIALECT.stdin(DIALECT.decode(payload, None)) == payload


def test_a_call_of_claude_code_reads_as_one_of_gemini_cli() -> None:
    native = {
        "session_id": "s1",
        "cwd": "/srv/app",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "tool_input": {"command": "ls", "timeout": 5},
    }
    asked = json.loads(DIALECT.stdin(CLAUDE_CODE.decode(json.dumps(native).encode())))
    assert asked["hook_event_name"] == "BeforeTool"
    assert asked["tool_name"] == "run_shell_command"
    assert asked["tool_input"] == {"command": "ls"}
    assert "tool_use_id" not in asked


@pytest.mark.parametrize(
    ("call", "name", "input"),
    [
        (tool("Edit", path="a", old="x", new="y"), "replace", {"file_path": "a", "old_string": "x", "new_string": "y"}),
        (tool("Glob", pattern="*"), "glob", {"pattern": "*"}),
        (tool("Grep", pattern="x"), "grep_search", {"pattern": "x"}),
        (tool("WebSearch", query="x"), "google_web_search", {"query": "x"}),
        (tool("WebFetch", url="https://a.io", query="sum up"), "web_fetch", {"prompt": "sum up https://a.io"}),
        (tool("mcp__git__push", force=True), "mcp_git_push", {"force": True}),
        (tool("run_shell_command", command="ls", x=1), "run_shell_command", {"command": "ls", "x": 1}),
    ],
)  # fmt: skip
def test_tools_of_others_get_the_names_and_keys_of_gemini_cli(
    call: Tool, name: str, input: dict[str, Any]
) -> None:
    asked = json.loads(DIALECT.stdin(PreToolUse(tool=call)))
    assert (asked["tool_name"], asked["tool_input"]) == (name, input)


def test_an_mcp_call_tells_its_server() -> None:
    asked = json.loads(DIALECT.stdin(PreToolUse(tool=tool("mcp__git__push"))))
    assert asked["mcp_context"] == {"server_name": "git", "tool_name": "push"}


def test_a_failed_tool_of_another_platform_is_an_after_tool_with_an_error() -> None:
    event = PostToolUseFailure(tool=tool("Bash", command="x"), error="exit 1")
    asked = json.loads(DIALECT.stdin(event))
    assert asked["hook_event_name"] == "AfterTool"
    assert asked["tool_response"]["error"]["message"] == "exit 1"


def test_a_tools_output_stands_where_the_client_puts_it() -> None:
    done = Tool(kind=ToolKind.SHELL, name="Bash", output="hi", ok=True)
    asked = json.loads(DIALECT.stdin(PostToolUse(tool=done)))
    assert asked["tool_response"] == {"llmContent": "hi", "returnDisplay": "hi"}


def test_a_resumed_session_is_a_session_start() -> None:
    asked = json.loads(DIALECT.stdin(SessionResume(source="resume")))
    assert (asked["hook_event_name"], asked["source"]) == ("SessionStart", "resume")


def test_a_model_call_is_told_as_a_request() -> None:
    messages = ({"role": "assistant", "content": "x"},)
    asked = json.loads(DIALECT.stdin(BeforeLlmCall(model="m", messages=messages)))
    assert asked["llm_request"]["messages"] == [{"role": "model", "content": "x"}]
    after = json.loads(DIALECT.stdin(AfterLlmCall(model="m", usage={"tokens": 1})))
    assert after["llm_response"]["usageMetadata"] == {"tokens": 1}


# As a host: what such a hook answers


@pytest.mark.parametrize("word", ["deny", "block"])
@pytest.mark.parametrize("exit_code", [0, 1, 2, 3])
def test_json_that_denies_does_so_with_any_exit_code(word: str, exit_code: int) -> None:
    assert read({"decision": word, "reason": "no"}, exit_code=exit_code) == deny("no")


def test_json_on_stderr_counts_when_stdout_is_empty() -> None:
    assert read(b" \n", stderr=b'{"decision": "deny", "reason": "no"}') == deny("no")


def test_json_on_stderr_does_not_count_beside_a_word_on_stdout() -> None:
    assert read(b"hello", stderr=b'{"decision": "deny", "reason": "no"}') == notice("hello")


def test_json_that_allows_beats_exit_2() -> None:
    assert read({"decision": "allow"}, exit_code=2) == PASS


@pytest.mark.parametrize("word", ["allow", "approve"])
def test_allow_is_no_objection_and_grants_nothing(word: str) -> None:
    assert read({"decision": word}).verdict is Verdict.PASS


def test_json_encoded_twice_is_understood() -> None:
    assert read(json.dumps(json.dumps({"decision": "deny", "reason": "no"})).encode()) == deny("no")


def test_a_byte_order_mark_does_not_hide_a_deny() -> None:
    assert read(b'\xef\xbb\xbf{"decision": "deny", "reason": "no"}\r\n') == deny("no")


def test_half_a_character_does_not_hide_a_deny() -> None:
    assert read(rb'{"decision": "deny", "reason": "\ud800"}').verdict is Verdict.DENY


def test_a_deny_without_a_reason_gets_one() -> None:
    assert read({"decision": "deny"}).reason == "blocked by a hook that gave no reason"


def test_ask_is_a_question() -> None:
    assert read({"decision": "ask", "reason": "sure?"}) == ask("sure?")


def test_continue_false_halts_and_beats_the_decision() -> None:
    body = {"continue": False, "stopReason": "enough", "decision": "allow", "reason": "r"}
    assert read(body) == halt("enough")


@pytest.mark.parametrize("exit_code", [2, 3, 127])
def test_text_with_another_exit_code_than_0_and_1_denies(exit_code: int) -> None:
    assert read(b"", stderr=b"not here\n", exit_code=exit_code) == deny("not here")
    assert read(b"from stdout", stderr=b"x", exit_code=exit_code) == deny("from stdout")


@pytest.mark.parametrize(("stderr", "exit_code"), [(b"", 2), (b"", 1), (b"oops", 1), (b"x", -9)])
def test_what_lets_the_tool_run_in_the_client_is_a_failed_hook(
    stderr: bytes, exit_code: int
) -> None:
    with pytest.raises(HandlerCrashed):
        read(b"", stderr=stderr, exit_code=exit_code)


def test_plain_text_is_for_the_person() -> None:
    assert read(b"hello\n") == notice("hello")
    assert read(b"5") == notice("5")
    assert read(b"") == PASS


@pytest.mark.parametrize("text", [b'{"decision": "deny"', b"[1]", b"{'decision': 'deny'}"])
def test_half_a_json_object_is_a_failed_hook(text: bytes) -> None:
    with pytest.raises(HandlerAnswerError):
        read(text)
    assert read(text, exit_code=2).verdict is Verdict.DENY


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "Deny"},
        {"decision": 5},
        {"continue": "false"},
        {"hookSpecificOutput": "x"},
        {"hookSpecificOutput": {"permissionDecision": "deny"}},
        {"hookSpecificOutput": {"permissionDecision": {}}},
        {"hookSpecificOutput": {"updatedInput": {"command": "ls"}}},
        {"hookSpecificOutput": {"tool_input": "ls"}},
        {"hookSpecificOutput": {"additionalContext": ["x"]}},
    ],
)
def test_what_the_client_would_pass_over_is_a_failed_hook(body: dict[str, Any]) -> None:
    with pytest.raises(HandlerAnswerError):
        read(body)


def test_a_deny_is_not_lost_to_a_mistake_beside_it() -> None:
    own = {"permissionDecision": "deny", "tool_input": 5, "additionalContext": 5}
    body = {"decision": "deny", "reason": "no", "continue": 1, "hookSpecificOutput": own}
    assert read(body) == deny("no")


def test_claude_codes_allow_beside_it_does_no_harm() -> None:
    assert read({"hookSpecificOutput": {"permissionDecision": "allow"}}) == PASS


def test_new_input_is_laid_over_the_old() -> None:
    body = {"hookSpecificOutput": {"tool_input": {"command": "ls"}, "updatedInput": {}}}
    assert read(body).rewrite == Rewrite(input={"command": "ls"})
    assert read(body | {"decision": "deny", "reason": "no"}) == deny("no")


def test_new_input_after_the_tool_ran_means_nothing() -> None:
    assert read({"hookSpecificOutput": {"tool_input": {"command": "ls"}}}, "AfterTool") == PASS


@pytest.mark.parametrize("native", ["SessionStart", "BeforeAgent", "AfterTool"])
def test_context_and_messages_are_kept_apart(native: str) -> None:
    body = {"systemMessage": "hi", "hookSpecificOutput": {"additionalContext": "x"}}
    assert read(body, native) == Answer(context=("x",), notice=("hi",))


def test_new_messages_are_a_rewrite_and_the_rest_of_the_request_travels_along() -> None:
    request: dict[str, Any] = {
        "messages": [{"role": "user", "content": "x"}],
        "model": "other",
    }
    answer = read({"hookSpecificOutput": {"llm_request": request}}, "BeforeModel")
    assert answer.rewrite == Rewrite(messages=request["messages"])
    assert answer.metadata == {"gemini": {"llm_request": request}}


@pytest.mark.parametrize("parts", [["fine"], [{"text": "fine"}]])
def test_an_answer_in_place_of_the_models_hides_the_models(parts: list[Any]) -> None:
    own = {"llm_response": {"candidates": [{"content": {"parts": parts}}]}}
    answer = read({"hookSpecificOutput": own}, "AfterModel")
    assert (answer.verdict, answer.reason) == (Verdict.DENY, "fine")


@pytest.mark.parametrize("response", [None, {}, {"candidates": []}, {"candidates": [{"content": {"parts": 5}}]}])  # fmt: skip
def test_an_answer_without_a_text_replaces_nothing(response: Any) -> None:
    answer = read({"hookSpecificOutput": {"llm_response": response}}, "AfterModel")
    assert answer.verdict is Verdict.PASS


def test_a_made_up_answer_counts_before_the_call_only_with_a_deny() -> None:
    own = {"llm_response": {"candidates": [{"content": {"parts": ["cached"]}}]}}
    assert read({"hookSpecificOutput": own}, "BeforeModel").verdict is Verdict.PASS
    denied = read({"decision": "deny", "hookSpecificOutput": own}, "BeforeModel")
    assert (denied.verdict, denied.reason) == (Verdict.DENY, "cached")


def test_another_tools_result_in_place_of_this_one_hides_this_one() -> None:
    own = {"tailToolCallRequest": {"name": "read_file", "args": {"file_path": "a"}}}
    answer = read({"hookSpecificOutput": own}, "AfterTool")
    assert answer.verdict is Verdict.DENY
    assert "read_file" in answer.reason


@pytest.mark.parametrize(("mode", "verdict"), [("NONE", Verdict.DENY), ("ANY", Verdict.PASS)])
def test_a_tool_configuration_is_kept_and_none_denies(mode: str, verdict: Verdict) -> None:
    own = {"toolConfig": {"mode": mode}}
    answer = read({"hookSpecificOutput": own}, "BeforeToolSelection")
    assert (answer.verdict, answer.metadata) == (verdict, {"gemini": own})


def test_a_deny_on_stop_keeps_its_reason_and_the_wish_to_forget() -> None:
    body = {"decision": "deny", "reason": "more", "hookSpecificOutput": {"clearContext": True}}
    answer = read(body, "AfterAgent")
    assert (answer.verdict, answer.reason) == (Verdict.DENY, "more")
    assert answer.metadata == {"gemini": {"clearContext": True}}


def test_only_exit_2_keeps_an_agent_going_so_a_missing_program_does_not() -> None:
    assert read(b"", "AfterAgent", stderr=b"more", exit_code=2) == deny("more")
    with pytest.raises(HandlerCrashed):
        read(b"", "AfterAgent", stderr=b"not found", exit_code=127)


@given(stdout=st.binary(max_size=60), stderr=st.binary(max_size=60), code=st.integers(-15, 130))
def test_any_output_is_an_answer_or_a_failed_hook(stdout: bytes, stderr: bytes, code: int) -> None:
    for native in ("BeforeTool", "AfterAgent", "AfterModel"):
        with contextlib.suppress(HandlerError):
            assert isinstance(read(stdout, native, stderr=stderr, exit_code=code), Answer)


KEYS = ["decision", "continue", "reason", "stopReason", "systemMessage", "hookSpecificOutput"]
OWN_KEYS = ["tool_input", "additionalContext", "llm_request", "llm_response", "toolConfig", "tailToolCallRequest", "permissionDecision"]  # fmt: skip


@given(
    body=st.dictionaries(st.sampled_from(KEYS), json_values),
    own=st.none() | st.dictionaries(st.sampled_from(OWN_KEYS), json_values),
    native=st.sampled_from(sorted(client.OWN)),
)
def test_any_object_is_an_answer_or_a_failed_hook(
    body: dict[str, Any], own: dict[str, Any] | None, native: str
) -> None:
    try:
        answer = read(body if own is None else body | {"hookSpecificOutput": own}, native)
    except HandlerError:
        return
    assert answer.verdict is not Verdict.ALLOW


@given(answer=answers(st.just(Rewrite())), native=st.sampled_from(GATES))
def test_what_we_say_a_gemini_host_reads_as_strictly(answer: Answer, native: str) -> None:
    concluded, _ = outcome(native, answer)
    reply = DIALECT.encode(concluded)
    heard = read(reply.stdout, native)
    assert heard.verdict >= DIALECT.translate(concluded).answer.verdict
