"""Cursor: one moment often has several events, each with words of its own."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.cursor import DIALECT
from hookline.engine.merge import fit
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
    notice,
    rewrite,
)
from hookline.model.errors import (
    DecodeError,
    HandlerAnswerError,
    HandlerCrashed,
    HandlerError,
    UnsupportedError,
)
from hookline.model.events import (
    AfterLlmCall,
    Agent,
    Event,
    Notification,
    Other,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SteeringSubmit,
    Stop,
    SubagentStart,
    SubagentStop,
    ToolEvent,
)
from hookline.model.outcome import Outcome, Translated
from hookline.model.rewriting import native_input, rewritten
from hookline.model.tools import CANONICAL_TOOLS, Mcp, Tool, ToolKind
from support.clients import cursor as client
from support.clients.effects import Does
from support.strategies import bare_event, json_values

NATIVE = tuple(DIALECT.support.events)
GATES = ("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile")
MCP_CALL = {
    "tool_name": "MCP:drop",
    "tool_input": {"table": "users"},
    "tool_output": '{"content":[{"type":"text","text":"secret"}],"structuredContent":"secret"}',
}


def decode(payload: object, event: str | None = None) -> Event:
    return DIALECT.decode(json.dumps(payload).encode(), event)


def event_of(native: str, **fields: Any) -> Event:
    return decode({**client.payload(native), **fields})


def tool_of(native: str, **fields: Any) -> Tool:
    event = event_of(native, **fields)
    assert isinstance(event, ToolEvent)
    return event.tool


def concluded(event: Event, answer: Answer) -> Outcome:
    """What the engine makes of one hook's answer."""
    fitted, _ = fit(answer, event)
    change = fitted.rewrite
    if change.input is not None:
        change = Rewrite(input=native_input(event, change.input, DIALECT.tools))
        fitted = Answer(verdict=fitted.verdict, reason=fitted.reason, rewrite=change)
    final = rewritten(event, change, DIALECT.tools)
    return Outcome(event=event, answer=fitted, final=None if final is event else final)


def body(event: Event, answer: Answer) -> dict[str, Any]:
    reply = DIALECT.encode(concluded(event, answer))
    assert reply.exit_code == 0
    found: dict[str, Any] = json.loads(reply.stdout)
    return found


def translated(event: Event, answer: Answer) -> Translated:
    return DIALECT.translate(concluded(event, answer))


def swaps(event: Event, answer: Answer) -> list[tuple[str, str]]:
    return [(change.was, change.now) for change in translated(event, answer).substitutions]


def read(event: Event, stdout: object = b"", *, stderr: bytes = b"", exit_code: int = 0) -> Answer:
    text = stdout if isinstance(stdout, bytes) else json.dumps(stdout).encode()
    return DIALECT.read_answer(event, stdout=text, stderr=stderr, exit_code=exit_code)


# Decoding


@pytest.mark.parametrize("native", NATIVE)
def test_every_event_is_decoded_and_its_payload_kept(native: str) -> None:
    event = event_of(native, brand_new={"a": 1})
    assert event.event_id() == DIALECT.support.events[native].event
    assert event.session_id == ("" if native == "workspaceOpen" else "s1")
    assert event.cwd == "/srv/app"
    assert json.loads(bytes(event.raw))["brand_new"] == {"a": 1}


def test_an_unknown_event_is_other_and_keeps_its_name() -> None:
    event = decode({"hook_event_name": "beforeWriteFile", "conversation_id": "s1"})
    assert type(event) is Other
    assert event.native_event == "beforeWriteFile"


def test_a_byte_order_mark_before_the_payload_is_no_error() -> None:
    payload = json.dumps(client.payload("stop")).encode()
    event = DIALECT.decode(b"\xef\xbb\xbf" + payload, None)
    assert isinstance(event, Stop)
    assert bytes(event.raw) == payload


def test_the_workspace_stands_in_for_a_directory_that_is_not_named() -> None:
    assert event_of("preToolUse", cwd="").cwd == "/srv/app"
    assert event_of("preToolUse", cwd="/elsewhere").cwd == "/elsewhere"
    assert event_of("stop", workspace_roots=[7, "", "/b"]).cwd == "/b"
    assert event_of("stop", workspace_roots="odd").cwd == ""


def test_a_sub_agent_belongs_to_its_parents_session() -> None:
    event = event_of("subagentStart", conversation_id="own", parent_conversation_id="s0")
    assert event.session_id == "s0"
    assert event.agent == Agent(name="explore", depth=1, id="a1", parent="s0")
    stopped = event_of("subagentStop", summary="found it", loop_count=1)
    assert isinstance(stopped, SubagentStop)
    assert (stopped.agent.depth, stopped.last_message) == (1, "found it")
    assert stopped.stop_hook_active


def test_a_session_id_stands_in_for_a_missing_conversation_id() -> None:
    assert decode({"hook_event_name": "sessionStart", "session_id": "s9"}).session_id == "s9"


@pytest.mark.parametrize(("count", "active"), [(0, False), (3, True), ("3", False), (None, False)])
def test_the_loop_count_says_whether_the_agent_was_kept_going(count: object, active: bool) -> None:
    event = event_of("stop", loop_count=count)
    assert isinstance(event, Stop)
    assert event.stop_hook_active is active


@pytest.mark.parametrize(
    ("tool", "kind", "fields"),
    [
        (tool_of("preToolUse"), "shell", {"name": "Shell", "command": "rm x", "call_id": "t1"}),
        (tool_of("beforeShellExecution"), "shell", {"name": "Shell", "command": "rm x"}),
        (
            tool_of("afterShellExecution"),
            "shell",
            {"command": "rm x", "output": "secret", "ok": None, "duration_ms": 5.0},
        ),
        (tool_of("postToolUse"), "shell", {"output": "secret", "ok": True}),
        (tool_of("postToolUseFailure"), "shell", {"output": None, "ok": False}),
        (
            tool_of("beforeReadFile"),
            "read",
            {"name": "Read", "path": "/srv/app/.env", "content": "K=v"},
        ),
        (tool_of("beforeTabFileRead"), "read", {"name": "TabRead", "path": "/srv/app/.env"}),
        (
            tool_of("afterFileEdit"),
            "edit",
            {"name": "Write", "path": "/srv/app/a.py", "old": "a", "new": "b", "ok": True},
        ),
        (tool_of("afterTabFileEdit"), "edit", {"name": "TabWrite", "path": "/srv/app/a.py"}),
        (tool_of("afterFileEdit", edits="odd"), "edit", {"old": "", "new": ""}),
        (
            tool_of("beforeMCPExecution"),
            "mcp",
            {
                "name": "MCP:drop",
                "mcp": Mcp("https://mcp.example.com", "drop"),
                "input": {"command": "rm x"},
            },
        ),
        (
            tool_of("beforeMCPExecution", url=None, command="npx db"),
            "mcp",
            {"mcp": Mcp("npx db", "drop")},
        ),
        (
            tool_of("beforeMCPExecution", mcp_server_name="db"),
            "mcp",
            {"mcp": Mcp("db", "drop")},
        ),
        (tool_of("beforeMCPExecution", tool_input="not {json"), "mcp", {"command": "not {json"}),
        (tool_of("beforeMCPExecution", tool_input="[1]"), "mcp", {"command": "[1]"}),
        (tool_of("beforeMCPExecution", tool_input={"a": 1}), "mcp", {"input": {"a": 1}}),
        (tool_of("afterMCPExecution", result_json='{"content":[{"text":"x"}]}'), "mcp", {"output": "x"}),
        (tool_of("postToolUse", **MCP_CALL), "mcp", {"mcp": Mcp("", "drop"), "output": "secret"}),
    ],
)  # fmt: skip
def test_every_native_event_names_the_tool_it_is_about(
    tool: Tool, kind: str, fields: dict[str, Any]
) -> None:
    assert tool.kind == kind
    assert {name: getattr(tool, name) for name in fields} == fields


@pytest.mark.parametrize("key", ["file_path", "path", "target_file"])
@pytest.mark.parametrize("name", ["Read", "ReadFile", "Write", "StrReplace", "Delete"])
def test_a_file_is_found_under_any_of_its_keys(name: str, key: str) -> None:
    event = event_of("preToolUse", tool_name=name, tool_input={key: "/srv/app/.env"})
    assert isinstance(event, ToolEvent)
    assert event.tool.paths == ("/srv/app/.env",)
    # and a rewrite goes to the key that is there
    assert native_input(event, {"path": "/tmp/x"}, DIALECT.tools) == {key: "/tmp/x"}


def test_the_files_of_a_patch_are_seen() -> None:
    patch = "*** Begin Patch\n*** Update File: /a\n*** Delete File: /b\n*** End Patch"
    tool = tool_of("preToolUse", tool_name="ApplyPatch", tool_input={"patch": patch, "n": 1})
    assert (tool.kind, tool.paths) == (ToolKind.EDIT, ("/a", "/b"))


@pytest.mark.parametrize(
    ("input", "kind"),
    [
        ({"command": "ls"}, "shell"),
        ({"file_path": "/a", "contents": "x"}, "write"),
        ({"path": "/a", "old_string": "x", "new_string": "y"}, "write"),
        ({"file_path": "/a"}, "other"),
        ("ls", "shell"),
    ],
)
def test_a_tool_without_a_name_is_known_by_its_input(input: object, kind: str) -> None:
    assert tool_of("preToolUse", tool_name=None, tool_input=input).kind == kind


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ('{"exitCode":1,"stdout":"out","stderr":"err"}', "out\nerr"),
        ('{"file_path":"/a","success":true}', '{"file_path":"/a","success":true}'),
        ('"just text"', "just text"),
        ("plain", "plain"),
        ("7", "7"),
        ('{"content":[{"type":"image"}]}', '{"content":[{"type":"image"}]}'),
        ('{"content":"x"}', '{"content":"x"}'),
        ({"stdout": "out"}, "out"),
    ],
)
def test_an_output_is_read_out_of_the_text_it_travels_in(output: object, text: str) -> None:
    assert tool_of("postToolUse", tool_output=output).output == text


def test_the_models_words_become_messages() -> None:
    said, thought = event_of("afterAgentResponse"), event_of("afterAgentThought")
    assert isinstance(said, AfterLlmCall)
    assert isinstance(thought, AfterLlmCall)
    assert said.messages == ({"role": "assistant", "content": "done"},)
    assert thought.messages[0]["content"] == [{"type": "thinking", "thinking": "hm"}]
    assert said.model == "m"


def test_counts_that_are_no_counts_do_not_cost_the_event() -> None:
    event = event_of("preCompact", context_tokens=9.5, context_window_size=10)
    assert isinstance(event, PreCompact)
    assert (event.input_tokens, event.context_limit) == (None, 10)


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_an_event_or_a_decode_error(payload: bytes) -> None:
    for name in (None, "beforeMCPExecution"):
        with suppress(DecodeError):
            assert isinstance(DIALECT.decode(payload, name), Event)


_KEYS = st.sampled_from(
    [
        *("conversation_id", "session_id", "parent_conversation_id", "workspace_roots", "cwd"),
        *("tool_name", "tool_input", "tool_output", "command", "url", "file_path", "edits"),
        *("content", "status", "loop_count", "prompt", "text", "model", "duration"),
        *("subagent_id", "subagent_type", "context_tokens", "reason", "result_json", "output"),
    ]
)


@given(st.sampled_from(NATIVE), st.dictionaries(_KEYS, json_values))
def test_odd_values_are_an_event_or_a_decode_error(native: str, odd: dict[str, Any]) -> None:
    try:
        event = event_of(native, **odd)
    except DecodeError:
        return
    assert DIALECT.encode(Outcome(event=event)).stdout == b"{}\n"


# Answering


@pytest.mark.parametrize("native", NATIVE)
def test_nothing_to_say_is_an_empty_object_and_never_silence(native: str) -> None:
    reply = DIALECT.encode(Outcome(event=event_of(native)))
    assert (reply.stdout, reply.stderr, reply.exit_code) == (b"{}\n", b"", 0)


@pytest.mark.parametrize("native", GATES)
def test_a_pass_never_grants_anything(native: str) -> None:
    assert "permission" not in body(event_of(native), context("c"))
    assert body(event_of(native), allow()) == {"permission": "allow"}


@pytest.mark.parametrize("native", ["preToolUse", "beforeShellExecution", "beforeMCPExecution"])
def test_a_deny_tells_the_person_and_the_agent(native: str) -> None:
    said = body(event_of(native), deny("why", context="use make", notice="look"))
    assert said["permission"] == "deny"
    assert said["user_message"] == "why\n\nlook"
    assert said["agent_message"].startswith("why\n\n")
    assert said["agent_message"].endswith("use make")


@pytest.mark.parametrize("native", ["beforeReadFile", "subagentStart"])
def test_a_deny_without_a_way_to_the_agent_tells_the_person(native: str) -> None:
    answer = deny("why", context="c")
    said = body(event_of(native), answer)
    assert set(said) == {"permission", "user_message"}
    assert said["user_message"].startswith("why\n\n")
    assert ("context", "notice") in swaps(event_of(native), answer)


def test_a_deny_for_tab_has_its_reason_on_stderr() -> None:
    reply = DIALECT.encode(concluded(event_of("beforeTabFileRead"), deny("why")))
    assert json.loads(reply.stdout) == {"permission": "deny"}
    assert reply.stderr == b"why\n"


@pytest.mark.parametrize("native", ["beforeShellExecution", "beforeMCPExecution"])
def test_the_person_is_asked_about_shell_and_mcp(native: str) -> None:
    said = body(event_of(native), ask("sure?"))
    assert said == {"permission": "ask", "user_message": "sure?", "agent_message": "sure?"}


@pytest.mark.parametrize(
    "native", ["preToolUse", "beforeReadFile", "beforeTabFileRead", "subagentStart"]
)
def test_where_nobody_can_be_asked_it_is_a_deny(native: str) -> None:
    assert body(event_of(native), ask("sure?"))["permission"] == "deny"


def test_a_rewrite_is_the_whole_new_input_and_no_permission() -> None:
    said = body(event_of("preToolUse"), rewrite(command="echo safe"))
    assert said == {"updated_input": {"command": "echo safe", "working_directory": ""}}


@pytest.mark.parametrize("native", ["beforeShellExecution", "beforeMCPExecution", "beforeReadFile"])
def test_a_rewrite_that_has_no_place_is_a_deny(native: str) -> None:
    said = body(event_of(native), rewrite(command="echo safe"))
    assert said["permission"] == "deny"
    assert "echo safe" in said["user_message"]


def test_a_prompt_is_held_with_continue_false() -> None:
    said = body(event_of("beforeSubmitPrompt"), deny("no secrets", notice="look"))
    assert said == {"continue": False, "user_message": "no secrets\n\nlook"}


@pytest.mark.parametrize("native", NATIVE)
def test_a_halt_is_latched_everywhere(native: str) -> None:
    event = event_of(native)
    assert translated(event, halt("enough")).latch == "enough"
    assert "followup_message" not in body(event, halt("enough"))


@pytest.mark.parametrize("native", ["stop", "subagentStop"])
def test_a_follow_up_keeps_the_agent_going(native: str) -> None:
    for answer in (follow_up("run the tests"), deny("run the tests")):
        assert body(event_of(native), answer) == {"followup_message": "run the tests"}


@pytest.mark.parametrize(
    ("native", "status", "goes_on"),
    [
        ("stop", "completed", True),
        ("stop", "error", True),
        ("stop", "aborted", False),
        ("subagentStop", "completed", True),
        ("subagentStop", "error", False),
        ("subagentStop", "aborted", False),
    ],
)
def test_what_a_person_stopped_stays_stopped_and_the_loss_is_recorded(
    native: str, status: str, goes_on: bool
) -> None:
    event = event_of(native, status=status)
    assert ("followup_message" in body(event, follow_up("more"))) is goes_on
    assert (("follow_up", "notice") in swaps(event, follow_up("more"))) is not goes_on


def test_five_follow_ups_are_all_the_client_takes() -> None:
    assert DIALECT.support.stop_cap == 5


def test_an_mcp_tools_output_is_replaced_with_nothing_left_of_it() -> None:
    event = event_of("postToolUse", **MCP_CALL)
    for answer, text in ((rewrite(output="clean"), "clean"), (deny("why"), "why")):
        assert body(event, answer) == {
            "updated_mcp_tool_output": {"content": [{"type": "text", "text": text}]}
        }
        assert swaps(event, answer) == []


def test_any_other_output_stays_and_that_is_said_aloud() -> None:
    event = event_of("postToolUse")
    assert body(event, deny("why")) == {"additional_context": "why"}
    assert swaps(event, deny("why")) == [("deny", "feedback")]
    said = body(event, rewrite(output="clean"))
    assert set(said) == {"additional_context"}
    assert "clean" in said["additional_context"]
    assert swaps(event, rewrite(output="clean")) == [("rewrite.output", "context")]


def test_context_reaches_the_model_at_session_start_and_after_tools_only() -> None:
    for native in NATIVE:
        event = event_of(native)
        if not event.takes_context:
            continue
        has_way = native in {"sessionStart", "postToolUse"}
        assert ("additional_context" in body(event, context("c"))) is has_way
        assert bool(swaps(event, context("c"))) is not has_way


def test_a_notice_is_shown_at_compaction() -> None:
    assert body(event_of("preCompact"), notice("look")) == {"user_message": "look"}
    assert swaps(event_of("preCompact"), deny("no")) == [("deny", "notice")]
    assert swaps(event_of("stop"), notice("look")) == [("notice", "nothing")]


@pytest.mark.parametrize("native", [*NATIVE, "Unheard", None])
def test_a_refusal_blocks_wherever_the_client_can_be_blocked(native: str | None) -> None:
    reply = DIALECT.refuse(native, "config broken")
    row = DIALECT.support.find(native or "")
    blockable = row is None or row.can("deny")
    if not blockable:
        assert "config broken" in (reply.stderr + reply.stdout).decode()
        return
    effect = client.obey(native if row and native else "preToolUse", reply, {})
    assert effect.does >= Does.BLOCKS
    assert "config broken" in effect.reason + reply.stderr.decode()


# Hosting


def test_the_native_bytes_are_handed_on_as_they_are() -> None:
    payload = b'{ "hook_event_name":"stop",  "conversation_id": "s1"}'
    assert DIALECT.stdin(DIALECT.decode(payload, None)) == payload


def test_a_shell_command_of_another_platform_serves_scripts_for_both_events() -> None:
    tool = CANONICAL_TOOLS.read("Bash", {"command": "ls"})
    data = json.loads(DIALECT.stdin(PreToolUse(session_id="s", cwd="/w", tool=tool)))
    assert data["hook_event_name"] == "preToolUse"
    assert (data["conversation_id"], data["workspace_roots"]) == ("s", ["/w"])
    assert (data["tool_name"], data["tool_input"]) == ("Shell", {"command": "ls"})
    assert data["command"] == "ls"


@pytest.mark.parametrize(
    ("name", "input", "native", "given"),
    [
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, "Edit", None),
        (
            "replace_string_in_file",
            {"filePath": "/a", "oldString": "x", "newString": "y"},
            "Write",
            {"file_path": "/a", "old_string": "x", "new_string": "y"},
        ),
        ("view", {"path": "/a"}, "Read", {"file_path": "/a"}),
        ("mcp__git__push", {"a": 1}, "MCP:push", None),
        ("unheard_of", {"a": 1}, "unheard_of", None),
        ("list_directory", {}, "Grep", None),
    ],
)
def test_a_tool_of_another_platform_gets_its_name_here(
    name: str, input: dict[str, Any], native: str, given: dict[str, Any] | None
) -> None:
    event = PreToolUse(tool=CANONICAL_TOOLS.read(name, input))
    data = json.loads(DIALECT.stdin(event))
    assert data["tool_name"] == native
    assert data["tool_input"] == (input if given is None else given)
    assert data.get("file_path") == event.tool.path


def test_every_canonical_event_can_be_written_and_read_again() -> None:
    for row in DIALECT.support.events.values():
        event = bare_event(row.event)
        again = DIALECT.decode(DIALECT.stdin(event), None)
        assert type(again) is type(event)
        if isinstance(event, ToolEvent) and isinstance(again, ToolEvent):
            assert again.tool.command == event.tool.command


def test_the_keys_of_single_events_are_there() -> None:
    def data(event: Event) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(DIALECT.stdin(event))
        return found

    shell = Tool(kind=ToolKind.SHELL, name="Bash", input={}, output="x")
    assert json.loads(data(PostToolUse(tool=shell))["tool_output"]) == {"stdout": "x"}
    assert data(PostToolUse(tool=shell))["output"] == "x"
    file = Tool(kind=ToolKind.READ, name="Read", input={}, output="x")
    assert data(PostToolUse(tool=file))["tool_output"] == '"x"'
    mcp = Tool(kind=ToolKind.MCP, name="m", input={}, output="x", mcp=Mcp("s", "t"))
    assert "content" in json.loads(data(PostToolUse(tool=mcp))["tool_output"])
    assert data(PostToolUseFailure(error="no", tool=shell))["error_message"] == "no"
    assert data(SteeringSubmit(prompts=("a", "b")))["prompt"] == "a\nb"
    sub = data(SubagentStart(session_id="s", agent=Agent(name="explore", id="a1", depth=1)))
    assert (sub["subagent_id"], sub["subagent_type"]) == ("a1", "explore")
    assert data(Stop(stop_hook_active=True))["loop_count"] == 1
    assert data(AfterLlmCall(messages=({"content": "hi"},)))["text"] == "hi"
    assert data(AfterLlmCall(messages=({"content": [1]},)))["text"] == "[1]"
    assert data(PreCompact(trigger="manual"))["trigger"] == "manual"


def test_an_event_that_the_platform_does_not_have_cannot_be_asked_about() -> None:
    with pytest.raises(UnsupportedError, match="notification"):
        DIALECT.stdin(Notification())


@pytest.mark.parametrize("stdout", [b"", b"  \n", b"{}"])
def test_nothing_is_read_in_nothing(stdout: bytes) -> None:
    assert read(event_of("preToolUse"), stdout) is PASS


@pytest.mark.parametrize("native", GATES)
@pytest.mark.parametrize("word", ["allow", "ask", "deny"])
def test_a_permission_is_read(native: str, word: str) -> None:
    said = {"permission": word, "user_message": "shown", "agent_message": "told"}
    answer = read(event_of(native), said)
    assert (answer.verdict, answer.reason) == (Verdict(word), "told")
    assert answer.notice == (() if word == "allow" else ("shown",))


def test_one_message_is_the_reason_and_none_gets_a_stock_one() -> None:
    event = event_of("beforeShellExecution")
    assert read(event, {"permission": "deny", "user_message": "shown"}) == deny("shown")
    assert read(event, {"permission": "deny"}).reason == "blocked by a hook that gave no reason"


def test_claude_codes_nested_words_are_read() -> None:
    nested = {
        "permissionDecision": "deny",
        "permissionDecisionReason": "policy",
        "updatedInput": {"command": "npm ci"},
    }
    answer = read(event_of("preToolUse"), {"hookSpecificOutput": nested})
    assert (answer.verdict, answer.reason) == (Verdict.DENY, "policy")
    assert answer.rewrite.input == {"command": "npm ci", "working_directory": None}
    said = {"decision": "block", "reason": "go on"}
    assert read(event_of("stop"), said) == follow_up("go on")
    assert read(event_of("stop"), {"hookSpecificOutput": said}) == follow_up("go on")


def test_an_ask_about_a_sub_agent_is_a_deny() -> None:
    answer = read(event_of("subagentStart"), {"permission": "ask", "user_message": "sure?"})
    assert answer == deny("sure?")


def test_a_prompt_is_held_by_continue_false_and_by_nothing_else() -> None:
    event = event_of("beforeSubmitPrompt")
    assert read(event, {"continue": False, "user_message": "no"}) == deny("no")
    assert read(event, {"continue": False}).verdict is Verdict.DENY
    assert read(event, {"continue": True, "user_message": "no"}) is PASS
    assert read(event, {"permission": "deny"}) is PASS


def test_effects_are_read_where_they_count() -> None:
    assert read(event_of("sessionStart"), {"additional_context": "c"}) == context("c")
    assert read(event_of("postToolUse"), {"additional_context": "c"}) == context("c")
    assert read(event_of("stop"), {"followup_message": "f"}) == follow_up("f")
    assert read(event_of("stop"), {"followup_message": " "}) is PASS
    assert read(event_of("preCompact"), {"user_message": "n"}) == notice("n")
    assert read(event_of("afterFileEdit"), {"permission": "deny"}) is PASS
    assert read(event_of("stop"), {"permission": "deny"}) is PASS
    change = {"updated_input": {"command": "x"}}
    assert read(event_of("beforeShellExecution"), change) is PASS


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({"content": [{"type": "text", "text": "x"}]}, "x"),
        ({"modified": "output"}, '{"modified":"output"}'),
        ("x", "x"),
    ],
)
def test_a_new_output_counts_for_mcp_tools_only(output: object, text: str) -> None:
    said = {"updated_mcp_tool_output": output}
    assert read(event_of("postToolUse", **MCP_CALL), said) == rewrite(output=text)
    assert read(event_of("postToolUse"), said) == Answer()


@pytest.mark.parametrize(
    ("native", "said"),
    [
        ("preToolUse", b"all fine"),
        ("stop", b"[1]"),
        ("preToolUse", b'{"half": '),
        ("preToolUse", {"permission": "maybe"}),
        ("preToolUse", {"permission": 7}),
        ("preToolUse", {"permission": "deny", "user_message": ["x"]}),
        ("preToolUse", {"updated_input": "x"}),
        ("preToolUse", {"hookSpecificOutput": "x"}),
        ("beforeSubmitPrompt", {"continue": "no"}),
        ("stop", {"followup_message": 7}),
    ],
)
def test_what_is_no_answer_is_a_failure(native: str, said: object) -> None:
    with pytest.raises(HandlerAnswerError):
        read(event_of(native), said)


def test_exit_codes_are_read_as_the_client_reads_them() -> None:
    event = event_of("preToolUse")
    said = {"permission": "deny", "user_message": "destructive"}
    assert read(event, said, exit_code=2, stderr=b"noise") == deny("destructive")
    assert read(event, {"reason": "flat"}, exit_code=2) == deny("flat")
    assert read(event, exit_code=2, stderr=b"no") == deny("no")
    assert read(event, b"plain", exit_code=2) == deny("plain")
    assert read(event, exit_code=2).verdict is Verdict.DENY
    with pytest.raises(HandlerCrashed, match="exit code 1: oops"):
        read(event, said, exit_code=1, stderr=b"oops")


def test_a_new_input_is_read_as_what_it_changes() -> None:
    event = event_of("preToolUse")
    said = {"updated_input": {"command": "npm ci", "working_directory": ""}}
    assert read(event, said) == rewrite(command="npm ci")


def test_a_new_input_for_another_platforms_tool_is_in_canonical_names() -> None:
    tool = CANONICAL_TOOLS.read("create_file", {"filePath": "/a", "content": "x"})
    event = PreToolUse(dialect="vscode", tool=tool)
    answer = read(event, {"updated_input": {"file_path": "/b", "content": "x"}})
    assert answer.rewrite.input == {"path": "/b"}


@given(
    st.sampled_from(NATIVE),
    st.binary() | json_values.map(lambda value: json.dumps(value).encode()),
    st.integers(0, 3),
)
def test_any_output_is_an_answer_or_a_failure(native: str, stdout: bytes, code: int) -> None:
    with suppress(HandlerError):
        assert isinstance(read(event_of(native), stdout, exit_code=code), Answer)


_WORDS = st.sampled_from(
    [
        *("permission", "user_message", "agent_message", "updated_input", "continue", "decision"),
        *("reason", "followup_message", "additional_context", "updated_mcp_tool_output"),
        *("permissionDecision", "permissionDecisionReason", "updatedInput", "hookEventName"),
    ]
)
_VALUES = json_values | st.sampled_from(("block", "deny", "allow", "ask"))


@given(
    st.sampled_from(NATIVE),
    st.dictionaries(_WORDS, _VALUES),
    st.dictionaries(_WORDS, _VALUES),
)
def test_any_words_are_an_answer_or_a_failure(
    native: str, outer: dict[str, Any], inner: dict[str, Any]
) -> None:
    with suppress(HandlerError):
        answer = read(event_of(native), {**outer, "hookSpecificOutput": inner})
        assert isinstance(answer, Answer)
