"""VS Code's local agent: Claude Code's words, and other rules on where they count."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.dialects.vscode import DIALECT
from hookline.engine.merge import fit
from hookline.model.answers import (
    PASS,
    Answer,
    Rewrite,
    Verdict,
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
    Agent,
    BeforeCompaction,
    Event,
    Other,
    PostToolUse,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    SubagentStop,
    ToolEvent,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome, Reply, Translated
from hookline.model.rewriting import native_input, rewritten
from hookline.model.tools import CANONICAL_TOOLS, Mcp, Tool, ToolKind
from support.clients import vscode as client
from support.clients.effects import Does
from support.strategies import bare_event, json_values

NATIVE = tuple(DIALECT.support.events)


def decode(payload: object, event: str | None = None) -> Event:
    return DIALECT.decode(json.dumps(payload).encode(), event)


def event_of(native: str, **fields: Any) -> Event:
    return decode({**client.payload(native), **fields})


def call(name: str, **input: Any) -> Tool:
    event = event_of("PreToolUse", tool_name=name, tool_input=input)
    assert isinstance(event, PreToolUse)
    return event.tool


def concluded(event: Event, answer: Answer) -> Outcome:
    """What the engine makes of one hook's answer."""
    fitted, _ = fit(answer, event)
    if fitted.rewrite.input is not None:
        patch = native_input(event, fitted.rewrite.input, DIALECT.tools)
        parts = fitted.rewrite.parts() | {"input": patch}
        fitted = Answer(verdict=fitted.verdict, reason=fitted.reason, rewrite=Rewrite(**parts))
    final = rewritten(event, fitted.rewrite, DIALECT.tools)
    return Outcome(event=event, answer=fitted, final=None if final is event else final)


def body(event: Event, answer: Answer) -> dict[str, Any]:
    reply = DIALECT.encode(concluded(event, answer))
    assert reply.exit_code == 0
    found: dict[str, Any] = json.loads(reply.stdout or b"{}")
    return found


def translated(event: Event, answer: Answer) -> Translated:
    return DIALECT.translate(concluded(event, answer))


def read(event: Event, stdout: object = b"", *, stderr: bytes = b"", exit_code: int = 0) -> Answer:
    text = stdout if isinstance(stdout, bytes) else json.dumps(stdout).encode()
    return DIALECT.read_answer(event, stdout=text, stderr=stderr, exit_code=exit_code)


def own(native: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": native, **fields}}


# Decoding


@pytest.mark.parametrize("native", NATIVE)
def test_every_event_is_decoded_and_its_payload_kept(native: str) -> None:
    event = event_of(native, brand_new={"a": 1})
    row = DIALECT.support.events[native]
    assert event.event_id() == row.event
    assert event.session_id == "s1"
    assert json.loads(bytes(event.raw))["brand_new"] == {"a": 1}


def test_an_unknown_event_is_other_and_keeps_its_name() -> None:
    event = decode({"hook_event_name": "ErrorOccurred", "session_id": "s1", "error": "x"})
    assert type(event) is Other
    assert event.native_event == "ErrorOccurred"
    assert json.loads(bytes(event.raw))["error"] == "x"


def test_the_first_versions_payload_is_understood() -> None:
    event = decode({"hookEventName": "Stop", "sessionId": "old", "stop_hook_active": True})
    assert isinstance(event, Stop)
    assert event.session_id == "old"
    assert event.stop_hook_active


def test_the_payloads_own_event_counts_more_than_the_command_lines() -> None:
    # A Stop hook of a custom agent is called as SubagentStop when that agent is a sub-agent.
    event = decode({"hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "P"}, "Stop")
    assert isinstance(event, SubagentStop)
    assert (event.agent.name, event.agent.id, event.agent.depth) == ("P", "a1", 1)


def test_the_command_line_names_the_event_when_the_payload_does_not() -> None:
    assert isinstance(decode({"prompt": "x"}, "UserPromptSubmit"), UserPromptSubmit)
    with pytest.raises(DecodeError, match="names no event"):
        decode({"prompt": "x", "hookEventName": 3, "sessionId": 4})


@pytest.mark.parametrize(
    ("tool", "kind", "fields"),
    [
        (call("run_in_terminal", command="ls"), "shell", {"command": "ls"}),
        (call("create_file", filePath="/a", content="x"), "write", {"path": "/a", "content": "x"}),
        (call("create_directory", dirPath="/d"), "write", {"path": "/d"}),
        (
            call("replace_string_in_file", filePath="/a", oldString="x", newString="y"),
            "edit",
            {"path": "/a", "old": "x", "new": "y"},
        ),
        (call("insert_edit_into_file", filePath="/a", code="x"), "edit", {"content": "x"}),
        (call("read_file", filePath="/a"), "read", {"path": "/a"}),
        (call("grep_search", query="x"), "search", {"query": "x"}),
        (call("fetch_webpage", urls=["https://a", "https://b"]), "fetch", {"url": "https://a\nhttps://b"}),
        (call("fetch_webpage", urls=7), "fetch", {"url": None}),
        (call("runSubagent", prompt="look"), "agent", {"content": "look"}),
        (call("memory", command="view", path="/m"), "other", {"path": "/m"}),
        (call("mcp__git__push", a=1), "mcp", {"mcp": Mcp("git", "push")}),
        (call("mcp_github_create_issue", a=1), "mcp", {"mcp": Mcp("github", "create_issue")}),
        (call("someones_tool", command="rm x"), "shell", {"command": "rm x"}),
    ],
)  # fmt: skip
def test_a_tool_reads_the_same_as_elsewhere(tool: Tool, kind: str, fields: dict[str, Any]) -> None:
    assert tool.kind == kind
    assert {name: getattr(tool, name) for name in fields} == fields


def test_all_files_of_a_multi_replace_and_of_a_patch_are_seen() -> None:
    parts = [
        {"filePath": "/a", "oldString": "1", "newString": "2"},
        {"filePath": "/b", "oldString": "3", "newString": "4"},
        "odd",
    ]
    tool = call("multi_replace_string_in_file", replacements=parts)
    assert (tool.paths, tool.old, tool.new) == (("/a", "/b"), "1\n3", "2\n4")
    assert call("multi_replace_string_in_file", replacements="odd").paths == ()
    patch = "*** Begin Patch\n*** Update File: /a\n*** Delete File: /b\n*** End Patch"
    assert call("apply_patch", input=patch).paths == ("/a", "/b")
    assert call("apply_patch", input=7).paths == ()


def test_a_tasks_command_is_a_shell_command_and_can_be_rewritten() -> None:
    task = {"label": "x", "type": "shell", "command": "rm", "args": ["-rf", "/srv", 7]}
    assert call("create_and_run_task", task=task).command == "rm -rf /srv"
    assert call("create_and_run_task", task={"command": "make"}).command == "make"
    assert call("create_and_run_task", task="odd").command is None
    assert call("create_and_run_task", task={}).command is None

    event = event_of("PreToolUse", tool_name="create_and_run_task", tool_input={"task": task})
    updated = body(event, rewrite(command="echo safe"))["hookSpecificOutput"]["updatedInput"]
    assert updated == {"task": {**task, "command": "echo safe", "args": []}}


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_an_event_or_a_decode_error(payload: bytes) -> None:
    for name in (None, "PreToolUse"):
        with suppress(DecodeError):
            assert isinstance(DIALECT.decode(payload, name), Event)


_KEYS = st.sampled_from(
    [
        *("hook_event_name", "session_id", "sessionId", "tool_name", "tool_input"),
        *("tool_response", "prompt", "stop_hook_active", "trigger", "agent_id", "agent_type"),
        *("cwd", "source"),
    ]
)


@given(st.sampled_from(NATIVE), st.dictionaries(_KEYS, json_values))
def test_odd_values_are_an_event_or_a_decode_error(native: str, odd: dict[str, Any]) -> None:
    try:
        event = event_of(native, **odd)
    except DecodeError:
        return
    assert client.obey(native, DIALECT.encode(Outcome(event=event)), {}).does is Does.GOES_ON


# Answering


@pytest.mark.parametrize("native", NATIVE)
def test_nothing_to_say_is_nothing_said(native: str) -> None:
    assert DIALECT.encode(Outcome(event=event_of(native))) == Reply()


@pytest.mark.parametrize("verdict", [ask("why"), deny("why"), Answer(verdict=Verdict.ALLOW)])
def test_a_permission_stands_in_hook_specific_output(verdict: Answer) -> None:
    said = body(event_of("PreToolUse"), verdict)
    assert set(said) == {"hookSpecificOutput"}
    assert said["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
    assert said["hookSpecificOutput"]["permissionDecision"] == verdict.verdict.value


def test_a_halt_denies_the_tool_and_ends_the_run() -> None:
    said = body(event_of("PreToolUse"), halt("enough"))
    assert said["continue"] is False
    assert said["stopReason"] == "enough"
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("native", NATIVE)
@pytest.mark.parametrize("answer", [context("c"), notice("n"), deny("d"), follow_up("f")])
def test_no_stop_reason_is_written_unless_the_run_shall_end(native: str, answer: Answer) -> None:
    said = body(event_of(native), answer)
    ends = native == "UserPromptSubmit" and answer.verdict is Verdict.DENY
    assert ("stopReason" in said or "continue" in said) is ends


def test_a_prompt_is_blocked_in_both_known_ways() -> None:
    said = body(event_of("UserPromptSubmit"), deny("no secrets"))
    assert said == {
        "decision": "block",
        "reason": "no secrets",
        "continue": False,
        "stopReason": "no secrets",
    }


def test_a_stop_is_continued_inside_hook_specific_output_only() -> None:
    said = body(event_of("Stop"), follow_up("run the tests"))
    assert said == own("Stop", decision="block", reason="run the tests")


def test_a_sub_agents_stop_is_continued_in_both_known_ways() -> None:
    said = body(event_of("SubagentStop"), deny("check it"))
    again = {"decision": "block", "reason": "check it"}
    assert said == {**again, **own("SubagentStop", **again)}


def test_a_follow_up_without_words_still_has_a_reason() -> None:
    said = body(event_of("Stop"), follow_up(" "))
    assert said["hookSpecificOutput"]["reason"] == "A hook wants the work to go on."


@pytest.mark.parametrize("native", ["Stop", "SubagentStop"])
def test_a_halt_beats_a_follow_up(native: str) -> None:
    event = event_of(native)
    both = Answer(verdict=Verdict.HALT, reason="enough", follow_up=("more",))
    reply = DIALECT.encode(Outcome(event=event, answer=both))
    effect = client.obey(native, reply, {})
    assert effect.follow_up == ""
    assert effect.does is Does.ENDS_THE_RUN
    assert "block" not in reply.stdout.decode()


@pytest.mark.parametrize("native", ["SessionStart", "SubagentStart", "SubagentStop", "PreCompact"])
def test_a_halt_that_does_not_end_the_run_is_latched(native: str) -> None:
    done = translated(event_of(native), halt("enough"))
    assert done.latch == "enough"
    if native in {"SessionStart", "SubagentStart"}:
        assert "stopReason" not in body(event_of(native), halt("enough"))


def test_an_output_that_stays_is_said_aloud() -> None:
    event = event_of("PostToolUse")
    done = translated(event, deny("secrets in it"))
    assert [(change.was, change.now) for change in done.substitutions] == [("deny", "feedback")]
    assert body(event, deny("secrets in it")) == {"decision": "block", "reason": "secrets in it"}

    done = translated(event, rewrite(output="clean"))
    assert [(change.was, change.now) for change in done.substitutions] == [
        ("rewrite.output", "context")
    ]
    said = body(event, rewrite(output="clean"))
    assert "clean" in said["hookSpecificOutput"]["additionalContext"]


def test_a_rewrite_within_the_schema_is_the_whole_new_input() -> None:
    said = body(event_of("PreToolUse"), rewrite(command="echo safe"))
    assert said["hookSpecificOutput"]["updatedInput"] == {
        "command": "echo safe",
        "explanation": "tidy",
        "isBackground": False,
    }
    assert "permissionDecision" not in said["hookSpecificOutput"]


@pytest.mark.parametrize(
    "change", [{"command": 7}, {"explanation": None}, {"sandbox": "yes"}, {"isBackground": "no"}]
)
def test_a_rewrite_that_the_client_would_throw_away_is_a_deny(change: dict[str, Any]) -> None:
    event = event_of("PreToolUse")
    answer = Answer(rewrite=Rewrite(input=change))
    said = body(event, answer)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "A hook wants another" in said["permissionDecisionReason"]
    assert "updatedInput" not in said
    assert translated(event, answer).substitutions


def test_a_key_of_the_tool_that_was_not_given_may_be_added() -> None:
    event = event_of("PreToolUse", tool_name="create_file", tool_input={"filePath": "/a"})
    said = body(event, rewrite(content="x"))["hookSpecificOutput"]
    assert said["updatedInput"] == {"filePath": "/a", "content": "x"}


def test_a_path_that_a_patch_only_mentions_cannot_be_rewritten() -> None:
    event = event_of("PreToolUse", tool_name="apply_patch", tool_input={"input": "*** …"})
    said = body(event, rewrite(path="/tmp/x"))["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"


def test_what_the_client_would_ignore_is_not_said_and_its_loss_is_recorded() -> None:
    event = event_of("PreCompact")
    for answer in (notice("look"), context("c"), deny("d"), halt("h")):
        assert DIALECT.encode(concluded(event, answer)) == Reply()
        assert translated(event, answer).substitutions


def test_half_a_surrogate_pair_does_not_cost_the_answer() -> None:
    answer = Answer(rewrite=Rewrite(input={"command": "echo \ud800"}))
    said = body(event_of("PreToolUse"), answer)["hookSpecificOutput"]
    assert said["updatedInput"]["command"] == "echo \ud800"


@pytest.mark.parametrize("native", [*NATIVE, "Unheard", None])
def test_a_refusal_blocks_wherever_the_client_can_be_blocked(native: str | None) -> None:
    reply = DIALECT.refuse(native, "config broken")
    blockable = {"PreToolUse", "UserPromptSubmit", "Unheard", None}
    effect = client.obey(native if native in NATIVE else "PreToolUse", reply, {})
    assert (effect.does >= Does.BLOCKS) is (native in blockable)
    if native in blockable:
        assert "config broken" in effect.reason
    assert effect.follow_up == ""


# Hosting


def test_the_native_bytes_are_handed_on_as_they_are() -> None:
    payload = b'{ "hook_event_name":"Stop",  "session_id": "s1"}'
    assert DIALECT.stdin(DIALECT.decode(payload, None)) == payload


def test_an_event_of_another_platform_is_written_in_native_words() -> None:
    tool = CANONICAL_TOOLS.read("Write", {"file_path": "/a", "content": "x"})
    event = PreToolUse(session_id="s", cwd="/w", dialect="claude-code", tool=tool)
    data = json.loads(DIALECT.stdin(event))
    assert data.pop("timestamp")
    assert data == {
        "session_id": "s",
        "sessionId": "s",
        "cwd": "/w",
        "hook_event_name": "PreToolUse",
        "hookEventName": "PreToolUse",
        "tool_name": "create_file",
        "tool_input": {"filePath": "/a", "content": "x"},
        "tool_use_id": "",
    }


def test_every_native_event_can_be_written_and_read_again() -> None:
    for row in DIALECT.support.events.values():
        event = bare_event(row.event)
        again = DIALECT.decode(DIALECT.stdin(event), None)
        assert type(again) is type(event)
    assert json.loads(DIALECT.stdin(SessionStart(source="resume")))["source"] == "new"
    assert json.loads(DIALECT.stdin(BeforeCompaction()))["trigger"] == "auto"
    sub = SubagentStop(agent=Agent(name="Plan", id="a1", depth=1))
    assert json.loads(DIALECT.stdin(sub))["agent_type"] == "Plan"
    shell = CANONICAL_TOOLS.read("Bash", {"command": "ls"})
    post = PostToolUse(tool=Tool(kind=shell.kind, name="Bash", input=shell.input, output="x"))
    assert json.loads(DIALECT.stdin(post))["tool_response"] == "x"


@pytest.mark.parametrize("event", [Stop(), SessionStart(), BeforeCompaction()])
def test_only_events_of_sub_agents_tell_which_one_it_is(event: Event) -> None:
    agent = Agent(name="Plan", id="a1", depth=1)
    told = json.loads(DIALECT.stdin(replace(event, agent=agent)))
    assert not {"agent_id", "agent_type"} & set(told)
    told = json.loads(DIALECT.stdin(SubagentStop(agent=agent)))
    assert (told["agent_id"], told["agent_type"]) == ("a1", "Plan")


def test_an_event_that_the_platform_does_not_have_cannot_be_asked_about() -> None:
    with pytest.raises(UnsupportedError, match="session_end"):
        DIALECT.stdin(SessionEnd())


@pytest.mark.parametrize("stdout", [b"", b"{}", b"all fine", b"[1]", b'"x"'])
def test_text_that_is_no_object_says_nothing(stdout: bytes) -> None:
    assert read(event_of("PreToolUse"), stdout) is PASS


@pytest.mark.parametrize("word", ["allow", "ask", "deny"])
def test_a_permission_is_read(word: str) -> None:
    said = own("PreToolUse", permissionDecision=word, permissionDecisionReason="why")
    answer = read(event_of("PreToolUse"), said)
    assert (answer.verdict, answer.reason) == (Verdict(word), "why")
    # The event's name may be missing.
    del said["hookSpecificOutput"]["hookEventName"]
    assert read(event_of("PreToolUse"), said) == answer


def test_a_deny_without_a_reason_still_denies() -> None:
    answer = read(event_of("PreToolUse"), own("PreToolUse", permissionDecision="deny"))
    assert answer.verdict is Verdict.DENY
    assert answer.reason


@pytest.mark.parametrize(
    "said",
    [
        {"continue": False, "stopReason": "s"},
        {"stopReason": "s"},
        {"continue": True, "stopReason": "s"},
    ],
)
def test_any_stop_reason_is_a_halt(said: dict[str, Any]) -> None:
    answer = read(event_of("PreToolUse"), said)
    assert (answer.verdict, answer.reason) == (Verdict.HALT, "s")
    assert read(event_of("SessionStart"), {**said, "systemMessage": "n"}) == notice("n")


def test_a_bare_continue_false_is_a_halt_with_some_reason() -> None:
    assert read(event_of("Stop"), {"continue": False}).verdict is Verdict.HALT
    assert read(event_of("Stop"), {"stopReason": ""}).verdict is Verdict.HALT


def test_context_and_notices_are_read_where_they_count() -> None:
    said = {"systemMessage": "n", **own("PostToolUse", additionalContext="c")}
    assert read(event_of("PostToolUse"), said) == Answer(context=("c",), notice=("n",))
    assert read(event_of("UserPromptSubmit"), {"additionalContext": "c"}) == context("c")
    assert read(event_of("UserPromptSubmit"), own("UserPromptSubmit", additionalContext="c")) == (
        context("c")
    )
    assert read(event_of("Stop"), own("Stop", additionalContext="c")) is PASS
    assert read(event_of("PreCompact"), {"decision": "block", "continue": False}) is PASS


@pytest.mark.parametrize("native", ["UserPromptSubmit", "PostToolUse", "SubagentStop"])
def test_a_block_beside_the_wrapper_counts_here(native: str) -> None:
    answer = read(event_of(native), {"decision": "block", "reason": "r"})
    assert (answer.verdict, answer.reason) == (Verdict.DENY, "r")


@pytest.mark.parametrize("native", ["Stop", "SubagentStop"])
def test_a_block_inside_the_wrapper_keeps_the_agent_going(native: str) -> None:
    answer = read(event_of(native), own(native, decision="block", reason="r"))
    assert (answer.verdict, answer.reason) == (Verdict.DENY, "r")
    assert fit(answer, event_of(native))[0].follow_up == ("r",)


def test_output_written_for_stop_counts_on_a_sub_agents_stop() -> None:
    said = own("Stop", decision="block", reason="r")
    assert read(event_of("SubagentStop"), said).reason == "r"
    said = own("SessionStart", additionalContext="c")
    assert read(event_of("SubagentStart"), said) == context("c")


@pytest.mark.parametrize(
    ("native", "said"),
    [
        ("Stop", {"decision": "block", "reason": "top level"}),
        ("PreToolUse", {"decision": "block", "reason": "Claude Code's old words"}),
        ("PreToolUse", own("PreToolUse", permissionDecision="defer")),
        ("PreToolUse", own("PreToolUse", updatedInput="x")),
        ("PreToolUse", own("PostToolUse", permissionDecision="deny")),
        ("PreToolUse", {"hookEventName": "PostToolUse"}),
        ("Stop", own("SubagentStop", decision="block", reason="r")),
        ("Stop", own("Stop", decision="block")),
        ("PostToolUse", own("PostToolUse", decision="block", reason="inside")),
        ("PreToolUse", {"hookSpecificOutput": "x"}),
        ("PreToolUse", b'{"half": '),
    ],
)
def test_what_the_client_would_pass_over_is_a_failure(native: str, said: object) -> None:
    with pytest.raises(HandlerAnswerError):
        read(event_of(native), said)


def test_exit_codes_are_read_as_the_client_reads_them() -> None:
    assert read(event_of("PreToolUse"), exit_code=2, stderr=b"no") == deny("no")
    assert read(event_of("UserPromptSubmit"), exit_code=2).verdict is Verdict.DENY
    assert read(event_of("Stop"), exit_code=2, stderr=b"more") == deny("more")
    for native in ("Stop", "SessionStart", "PreCompact", "SubagentStart"):
        with pytest.raises(HandlerCrashed):
            read(event_of(native), exit_code=2)
    with pytest.raises(HandlerCrashed, match="exit code 1: oops"):
        read(event_of("PreToolUse"), own("PreToolUse"), exit_code=1, stderr=b"oops")


def test_an_updated_input_is_read_as_what_it_changes() -> None:
    event = event_of("PreToolUse")
    said = own("PreToolUse", updatedInput={"command": "echo safe", "isBackground": False})
    answer = read(event, said)
    assert answer.rewrite.input == {"command": "echo safe", "explanation": None}
    assert read(event, own("PreToolUse", updatedInput={})) is PASS


def test_an_updated_input_for_another_platforms_tool_is_in_canonical_names() -> None:
    tool = CANONICAL_TOOLS.read("Write", {"file_path": "/a", "content": "x"})
    event = PreToolUse(dialect="claude-code", tool=tool)
    said = own("PreToolUse", updatedInput={"filePath": "/b", "content": "x"})
    assert read(event, said).rewrite.input == {"path": "/b"}


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
        *("decision", "reason", "continue", "stopReason", "systemMessage", "hookEventName"),
        *("permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"),
    ]
)
_VALUES = json_values | st.sampled_from(("block", "deny", "allow", "Stop", "PreToolUse"))


@given(
    st.sampled_from(NATIVE),
    st.dictionaries(_WORDS, _VALUES),
    st.dictionaries(_WORDS, _VALUES),
)
def test_any_words_are_an_answer_or_a_failure(
    native: str, outer: dict[str, Any], inner: dict[str, Any]
) -> None:
    try:
        answer = read(event_of(native), {**outer, "hookSpecificOutput": inner})
    except HandlerError:
        return
    assert isinstance(answer, Answer)


def test_the_kind_given_to_a_tool_is_kept_when_it_is_read_again() -> None:
    event = event_of("PreToolUse", tool_name="mcp_git_push", tool_input={"a": "1"})
    assert isinstance(event, ToolEvent)
    again = rewritten(event, Rewrite(input={"a": "2"}), DIALECT.tools)
    assert again.tool.kind is ToolKind.MCP
    assert again.tool.mcp == Mcp("git", "push")
