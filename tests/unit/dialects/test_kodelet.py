"""Kodelet: what its payloads mean, what it is told, and how its own hooks are read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.dialects.kodelet import DIALECT
from hookline.model.answers import (
    PASS,
    Answer,
    Rewrite,
    Verdict,
    allow,
    ask,
    context,
    deny,
    follow_up,
    halt,
)
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerCrashed
from hookline.model.events import (
    EVENTS,
    Agent,
    Event,
    Other,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    Stop,
    SubagentStop,
    TurnEnd,
    UserPromptSubmit,
)
from hookline.model.memory import is_persons_prompt
from hookline.model.outcome import Outcome, Reply
from hookline.model.rewriting import native_input, rewritten
from hookline.model.tools import Mcp, Tool, ToolKind, tool
from support.clients import kodelet as client
from support.clients.effects import Does
from support.strategies import bare_event

NATIVE = sorted(DIALECT.support.events)
GATES = ["before_tool_call", "user_message_send"]


def decode(native: str, **fields: Any) -> Event:
    payload = client.payload(native) if native in NATIVE else {"event": native, "conv_id": "c1"}
    return DIALECT.decode(json.dumps(payload | fields).encode(), native)


def tool_of(name: str, **input: Any) -> Tool:
    event = decode("before_tool_call", tool_name=name, tool_input=input)
    assert isinstance(event, PreToolUse)
    return event.tool


def done(**result: Any) -> Tool:
    event = decode("after_tool_call", tool_output={**client.RESULT, **result})
    assert isinstance(event, PostToolUse)
    return event.tool


def reply_to(native: str, answer: Answer, **fields: Any) -> Reply:
    return DIALECT.encode(Outcome(event=decode(native, **fields), answer=answer))


def body_of(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply.stdout)
    return found


def read(native: str, stdout: bytes = b"", *, stderr: bytes = b"", code: int = 0) -> Answer:
    event = decode(native)
    return DIALECT.read_answer(event, stdout=stdout, stderr=stderr, exit_code=code)


# Payloads


@pytest.mark.parametrize("native", NATIVE)
def test_each_event_is_understood_and_keeps_what_is_new_in_it(native: str) -> None:
    event = decode(native, recipe_name="review", later=[1])

    assert type(event) is EVENTS[DIALECT.support.events[native].event]
    assert (event.session_id, event.cwd, event.agent) == ("c1", "/srv/app", Agent())
    assert b"later" in bytes(event.raw)


def test_an_event_nobody_knows_is_other_under_its_own_name() -> None:
    assert isinstance(decode("session.start"), Other)


def test_the_event_on_the_command_line_serves_a_payload_that_names_none() -> None:
    event = DIALECT.decode(b'{"conv_id": "c"}', "agent_stop")

    assert isinstance(event, Stop)
    assert event.last_message == ""


def test_a_sub_agent_is_told_from_the_main_one() -> None:
    event = decode("before_tool_call", invoked_by="subagent")

    assert event.agent == Agent(name="subagent", depth=1)


def test_the_last_words_are_the_assistants() -> None:
    event = decode("agent_stop")
    assert isinstance(event, Stop)
    assert event.last_message == "Done."
    assert not event.stop_hook_active
    odd = decode("agent_stop", messages=["x", {"role": "user", "content": "y"}])
    assert isinstance(odd, Stop)
    assert odd.last_message == ""
    turn = decode("turn_end")
    assert isinstance(turn, TurnEnd)
    # What it says is no word of this turn for sure: it may be an earlier turn's.
    assert (turn.iteration, turn.messages) == (1, ())


_ASKED = {"role": "user", "content": "Do it"}
_CALLED = {"role": "assistant", "content": '🔧 Using tool: bash with input: {"command":"ls"}'}
_GOT = {"role": "assistant", "content": "🔄 Tool result:\nCommand: ls\nOutput:\nA"}
_CHAT_CALL = {"role": "assistant", "content": '[{"id":"call_1","type":"function"}]'}


@pytest.mark.parametrize(
    ("messages", "last"),
    [
        ([_ASKED, _CALLED, _GOT], ""),
        ([_ASKED, _CALLED, _CALLED, _GOT, _GOT], ""),
        ([_ASKED, _CALLED, _GOT, {"role": "assistant", "content": "Done."}], "Done."),
        ([_ASKED, _CHAT_CALL, {"role": "tool", "content": "A"}], ""),
        # An agent that begins like a result has spoken all the same.
        ([_ASKED, _GOT], _GOT["content"]),
        ([_ASKED, _CALLED, _GOT, _GOT], _GOT["content"]),
        ([_ASKED, _CALLED], _CALLED["content"]),
    ],
)
def test_results_of_tools_are_no_words_of_the_assistant(
    messages: list[dict[str, str]], last: str
) -> None:
    event = decode("agent_stop", messages=messages)
    assert isinstance(event, Stop)
    assert event.last_message == last


def test_a_sub_agents_end_and_question_are_told_from_the_main_ones() -> None:
    ended = decode("agent_stop", invoked_by="subagent")
    assert isinstance(ended, SubagentStop)
    assert (ended.last_message, ended.agent.depth) == ("Done.", 1)
    more = DIALECT.encode(Outcome(event=ended, answer=follow_up("go on")))
    assert body_of(more) == {"follow_up_messages": ["go on"]}
    asked = decode("user_message_send", invoked_by="subagent")
    assert isinstance(asked, UserPromptSubmit)
    assert asked.automatic
    assert not is_persons_prompt(asked)
    theirs = decode("user_message_send")
    assert isinstance(theirs, UserPromptSubmit)
    assert is_persons_prompt(theirs)


def test_tools_are_read_by_their_own_keys() -> None:
    assert tool_of("bash", command="ls").command == "ls"
    written = tool_of("file_write", file_path="/a", text="x")
    assert (written.kind, written.path, written.content) == (ToolKind.WRITE, "/a", "x")
    edit = tool_of("file_edit", file_path="/a", old_text="x", new_text="y")
    assert (edit.old, edit.new) == ("x", "y")
    patch = tool_of("apply_patch", input="*** Begin Patch\n*** Delete File: a.go\n*** End Patch")
    assert (patch.kind, patch.paths) == (ToolKind.EDIT, ("a.go",))
    assert tool_of("apply_patch", input=3).paths == ()


def test_keys_are_found_without_regard_to_case_as_the_tools_find_them() -> None:
    assert tool_of("file_read", File_Path="/etc/passwd").paths == ("/etc/passwd",)
    with pytest.raises(DecodeError, match="more than once"):
        tool_of("bash", command="ls", Command="rm x")


@pytest.mark.parametrize(
    ("name", "mcp"),
    [
        ("mcp__github_create_issue", Mcp("github", "create_issue")),
        ("mcp__github__create_issue", Mcp("github", "create_issue")),
    ],
)
def test_an_mcp_tool_is_named_after_its_server(name: str, mcp: Mcp) -> None:
    call = tool_of(name)

    assert (call.kind, call.mcp) == (ToolKind.MCP, mcp)


def test_the_server_is_known_for_sure_once_the_tool_ran() -> None:
    result = {"metadataType": "mcp_tool", "metadata": {"serverName": "my_hub", "contentText": "t"}}
    event = decode("after_tool_call", tool_name="mcp__my_hub_list", tool_output=result)

    assert isinstance(event, PostToolUse)
    assert (event.tool.mcp, event.tool.output) == (Mcp("my_hub", "list"), "t")


def test_a_result_is_read_as_text() -> None:
    assert (done().output, done().ok) == ("secret", True)
    failed = done(success=False, error="exit 1")
    assert (failed.output, failed.ok) == ("secret\nexit 1", False)
    assert done(metadataType="file_read", metadata={"lines": ["a", "b"]}).output == "a\nb"
    assert done(metadataType="grep_tool", metadata={"results": []}).output == '{"results":[]}'
    assert done(metadata=None).output == ""
    event = decode("after_tool_call", tool_output="bare")
    assert isinstance(event, PostToolUse)
    assert event.tool.output == "bare"


# Answers


# Of the hooks after a tool the last that ends with 0 counts, silence included.
SILENCE = {"after_tool_call": Reply(exit_code=1)}


@pytest.mark.parametrize("native", NATIVE)
def test_silence_is_silence(native: str) -> None:
    """`{"blocked": false}` would discard what an earlier hook rewrote."""
    for answer in (PASS, allow("fine"), context("note")):
        assert reply_to(native, answer) == SILENCE.get(native, Reply())


@pytest.mark.parametrize("native", GATES)
@pytest.mark.parametrize("answer", [deny("no"), halt("no")])
def test_a_deny_is_a_block_with_its_reason(native: str, answer: Answer) -> None:
    outcome = Outcome(event=decode(native), answer=answer)

    assert body_of(DIALECT.encode(outcome)) == {"blocked": True, "reason": "no"}
    assert DIALECT.translate(outcome).latch == ("no" if answer.verdict is Verdict.HALT else "")


def test_a_question_nobody_can_be_asked_is_a_deny() -> None:
    outcome = Outcome(event=decode("before_tool_call"), answer=ask("sure?"))

    assert body_of(DIALECT.encode(outcome)) == {"blocked": True, "reason": "sure?"}
    assert [(c.was, c.now) for c in DIALECT.translate(outcome).substitutions] == [("ask", "deny")]


def test_a_rewritten_input_is_whole() -> None:
    event = decode(
        "before_tool_call", tool_input={"Command": "rm x", "timeout": 3, "description": "d"}
    )
    patch = native_input(event, {"command": "ls", "timeout": None}, DIALECT.tools)
    change = Rewrite(input=patch)
    final = rewritten(event, change, DIALECT.tools)
    reply = DIALECT.encode(Outcome(event=event, answer=Answer(rewrite=change), final=final))

    assert body_of(reply) == {"blocked": False, "input": {"command": "ls", "description": "d"}}


def test_a_prompt_that_cannot_be_rewritten_is_blocked() -> None:
    body = body_of(reply_to("user_message_send", Answer(rewrite=Rewrite(prompt="hi"))))

    assert body["blocked"] is True
    assert "hi" in body["reason"]


@pytest.mark.parametrize("answer", [Answer(rewrite=Rewrite(output="clean")), deny("clean")])
def test_an_output_is_replaced_on_the_screen_and_said_not_to_be_for_the_model(
    answer: Answer,
) -> None:
    """The last version with hooks sends the model the tool's own result."""
    outcome = Outcome(event=decode("after_tool_call"), answer=answer)
    output = body_of(DIALECT.encode(outcome))["output"]

    assert output["metadata"] == {**client.RESULT["metadata"], "output": "clean"}
    assert output["toolName"] == "bash"
    assert DIALECT.translate(outcome).substitutions


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"metadataType": "grep_tool", "metadata": {"results": ["secret"]}}, "custom_tool"),
        ({"metadataType": "mcp_tool", "metadata": {"content": ["secret"]}}, "mcp_tool"),
        ({"success": False, "error": "secret"}, "custom_tool"),
        ("secret", "custom_tool"),
    ],
)
def test_nothing_of_the_old_result_stays_in_the_new(result: Any, kind: str) -> None:
    answer = Answer(rewrite=Rewrite(output="clean"))
    reply = reply_to("after_tool_call", answer, tool_output=result, tool_input={})

    assert b"secret" not in reply.stdout
    assert body_of(reply)["output"]["metadataType"] == kind


def test_an_output_of_an_event_without_a_payload_can_be_replaced_too() -> None:
    event = PostToolUse(dialect="kodelet", native_event="after_tool_call")
    reply = DIALECT.encode(Outcome(event=event, answer=Answer(rewrite=Rewrite(output="clean"))))

    assert body_of(reply)["output"]["metadata"]["output"] == "clean"


def test_the_agent_is_kept_going_and_no_flag_or_cap_is_claimed() -> None:
    reply = reply_to("agent_stop", follow_up("run the tests", "then commit"))

    assert body_of(reply) == {"follow_up_messages": ["run the tests", "then commit"]}
    assert not DIALECT.support.has_stop_flag
    assert DIALECT.support.stop_cap is None


@pytest.mark.parametrize("native", [*NATIVE, None, "never heard of"])
def test_a_refusal_blocks_where_anything_can_be_blocked(native: str | None) -> None:
    """A failing hook is passed over here, so even a crash must be said with exit 0."""
    reply = DIALECT.refuse(native, "hookline broke: run `hookline doctor`")

    assert reply.exit_code == SILENCE.get(native or "", Reply()).exit_code
    assert b"doctor" in reply.stderr
    blocks = native in GATES or native not in NATIVE
    effect = client.obey(native if native in GATES else "before_tool_call", reply, {})
    assert (effect.does is Does.BLOCKS) is blocks


# Hooks written for Kodelet


def payload_of(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DIALECT.stdin(event))
    return found


def test_its_own_bytes_are_passed_on_untouched() -> None:
    event = decode("before_tool_call", odd=[1])

    assert DIALECT.stdin(event) == bytes(event.raw)


def test_a_call_from_elsewhere_has_the_documented_shape() -> None:
    agent = Agent(name="r", depth=1, id="a1")
    event = PreToolUse(session_id="s", cwd="/w", agent=agent, tool=tool("Bash", command="ls"))
    assert payload_of(event) == {
        "event": "before_tool_call",
        "conv_id": "s",
        "cwd": "/w",
        "invoked_by": "subagent",
        "tool_name": "bash",
        "tool_input": {"command": "ls"},
        "tool_user_id": "",
    }


def test_a_result_from_elsewhere_is_structured() -> None:
    ran = replace(tool("Bash", command="ls"), output="a", ok=True)
    result = payload_of(PostToolUse(tool=ran))["tool_output"]
    assert (result["success"], result["metadata"]["output"]) == (True, "a")
    assert (result["metadataType"], result["toolName"]) == ("bash", "bash")
    failed = payload_of(PostToolUseFailure(tool=tool("Read", file_path="a"), error="boom"))
    assert failed["event"] == "after_tool_call"
    assert (failed["tool_output"]["success"], failed["tool_output"]["error"]) == (False, "boom")
    silent = replace(tool("Bash", command="ls"), ok=False)
    assert payload_of(PostToolUse(tool=silent))["tool_output"]["error"] == "failed"


def test_other_events_from_elsewhere_are_complete() -> None:
    assert payload_of(UserPromptSubmit(prompt="hi"))["message"] == "hi"
    assert payload_of(Stop(last_message="Done."))["messages"] == [
        {"role": "assistant", "content": "Done."}
    ]
    assert payload_of(Stop())["messages"] == []
    turn = payload_of(TurnEnd(messages=({"role": "assistant", "content": "hi"},), iteration=3))
    assert (turn["response"], turn["turn_number"]) == ("hi", 3)
    assert (payload_of(TurnEnd())["response"], payload_of(TurnEnd())["turn_number"]) == ("", 1)


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_canonical_event_can_be_given_to_such_a_hook(name: str) -> None:
    assert isinstance(payload_of(bare_event(name)), dict)


@pytest.mark.parametrize("native", NATIVE)
@pytest.mark.parametrize("stdout", [b"", b"\n", b"{}", b"null", b'{"blocked": false}'])
def test_nothing_said_is_a_pass(native: str, stdout: bytes) -> None:
    assert read(native, stdout) == PASS


@pytest.mark.parametrize("code", [1, 2, 127])
def test_every_exit_code_but_zero_is_a_failure_and_two_blocks_nothing(code: int) -> None:
    with pytest.raises(HandlerCrashed, match=f"exit code {code}: boom"):
        read("before_tool_call", b'{"blocked": true}', stderr=b"boom", code=code)


@pytest.mark.parametrize(
    "stdout", [b"text", b"[]", b'{"blocked": "yes"}', b'{"blocked": tr', b'{"reason": 3}']
)
def test_what_does_not_parse_is_a_failure(stdout: bytes) -> None:
    with pytest.raises(HandlerAnswerError):
        read("before_tool_call", stdout)


@pytest.mark.parametrize("native", GATES)
def test_a_block_is_a_deny(native: str) -> None:
    assert read(native, b'{"blocked": true, "reason": "no", "extra": 1}') == deny("no")
    assert read(native, b'{"Blocked": true, "Reason": "no"}') == deny("no")
    assert read(native, b'{"blocked": true, "reason": " "}').reason.strip()


def test_a_block_means_nothing_elsewhere() -> None:
    assert read("after_tool_call", b'{"blocked": true, "reason": "no"}') == PASS
    assert read("turn_end", b'{"blocked": true}') == PASS


def test_an_input_replaces_the_whole_old_one() -> None:
    answer = read("before_tool_call", b'{"input": {"cmd": "ls"}}')

    assert answer.rewrite.input == {"cmd": "ls", "command": None}
    assert read("before_tool_call", b'{"input": null}') == PASS


def test_an_input_that_no_tool_can_take_is_a_deny() -> None:
    assert read("before_tool_call", b'{"input": "ls"}').verdict is Verdict.DENY


def test_an_output_and_follow_ups_are_read() -> None:
    out = json.dumps({"output": client.RESULT}).encode()
    assert read("after_tool_call", out) == Answer(rewrite=Rewrite(output="secret"))
    more = b'{"follow_up_messages": ["a", "b"]}'
    assert read("agent_stop", more) == follow_up("a", "b")
    assert read("agent_stop", b'{"follow_up_messages": []}') == PASS


# Anything at all


@given(st.binary(max_size=60), st.sampled_from([*NATIVE, None]))
def test_any_bytes_are_an_event_or_are_not_understood(payload: bytes, native: str | None) -> None:
    try:
        assert isinstance(DIALECT.decode(payload, native), Event)
    except DecodeError:
        return


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(("metadata", "metadataType", "role", "x")), inner)
    ),
    max_leaves=4,
)
KEYS = sorted({key for own in client.OWN.values() for key in own} | {"conv_id", "invoked_by"})


@given(st.sampled_from(NATIVE), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_any_values_under_known_keys_are_an_event_or_not_understood(
    native: str, fields: dict[str, Any]
) -> None:
    try:
        event = decode(native, **fields)
    except DecodeError:
        return
    assert DIALECT.encode(Outcome(event=event)) == SILENCE.get(native, Reply())
    hidden = DIALECT.encode(Outcome(event=event, answer=Answer(rewrite=Rewrite(output="clean"))))
    assert not client.obey(native, hidden, {}).failed


@given(st.sampled_from(NATIVE), st.binary(max_size=40), st.integers(0, 2))
def test_any_output_is_an_answer_or_a_failed_hook(native: str, stdout: bytes, code: int) -> None:
    try:
        assert isinstance(read(native, stdout, code=code), Answer)
    except (HandlerAnswerError, HandlerCrashed):
        return


@given(st.sampled_from(GATES), st.text(min_size=1).filter(str.strip))
def test_a_refusal_of_a_gate_blocks_whatever_its_words(native: str, reason: str) -> None:
    effect = client.obey(native, DIALECT.refuse(native, reason), {})

    assert effect.does is Does.BLOCKS
    assert effect.reason.strip()
