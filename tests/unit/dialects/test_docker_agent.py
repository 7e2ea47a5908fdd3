"""docker-agent: what its payloads mean, what it is told, and how its own hooks are read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.dialects.docker_agent import DIALECT
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, allow, ask, context, deny, halt
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerCrashed
from hookline.model.events import (
    EVENTS,
    AfterLlmCall,
    Agent,
    AgentSwitch,
    BeforeCompaction,
    BeforeLlmCall,
    Error,
    Event,
    MaxIterations,
    Notification,
    Other,
    PermissionDecided,
    PostCompact,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    SessionResume,
    SteeringSubmit,
    Stop,
    SubagentStop,
    ToolEvent,
    ToolResponseTransform,
    TurnStart,
    UserPromptSubmit,
    WorktreeCreate,
)
from hookline.model.outcome import Outcome, Reply
from hookline.model.rewriting import native_input, rewritten
from hookline.model.tools import Mcp, Tool, ToolKind, tool
from support.clients import docker_agent as client
from support.clients.effects import Does
from support.strategies import bare_event

NATIVE = sorted(DIALECT.support.events)
BLOCKED_BY_REFUSAL = client.DENIED | {client.PREEMPT} | client.ENDED - {"post_tool_use"}


def decode(native: str, **fields: Any) -> Event:
    return DIALECT.decode(json.dumps(client.payload(native) | fields).encode(), native)


def tool_of(name: str, **input: Any) -> Tool:
    event = decode("pre_tool_use", tool_name=name, tool_input=input)
    assert isinstance(event, PreToolUse)
    return event.tool


def reply_to(native: str, answer: Answer, **fields: Any) -> Reply:
    return DIALECT.encode(Outcome(event=decode(native, **fields), answer=answer))


def body_of(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply.stdout)
    return found


def changed(native: str, patch: dict[str, Any], verdict: Answer = PASS, **fields: Any) -> Reply:
    event = decode(native, **fields)
    change = Rewrite(input=native_input(event, patch, DIALECT.tools))
    answer = Answer(verdict=verdict.verdict, reason=verdict.reason, rewrite=change)
    final = rewritten(event, change, DIALECT.tools)
    return DIALECT.encode(Outcome(event=event, answer=answer, final=final))


def read(
    native: str, body: Any = None, *, stdout: bytes = b"", stderr: bytes = b"", code: int = 0
) -> Answer:
    out = json.dumps(body).encode() if body is not None else stdout
    event = decode(native)
    return DIALECT.read_answer(event, stdout=out, stderr=stderr, exit_code=code)


# Payloads


def test_there_are_twenty_six_events_and_each_is_understood() -> None:
    assert len(set(NATIVE) - {client.PREEMPT}) == 26
    for native in NATIVE:
        event = decode(native, field_of_a_later_version=[1])
        assert type(event) is EVENTS[DIALECT.support.events[native].event]
        assert b"field_of_a_later_version" in bytes(event.raw)
        assert event.cwd == "/srv/app"


def test_an_event_nobody_knows_is_other_under_its_own_name() -> None:
    event = decode("tool_guard")

    assert isinstance(event, Other)
    assert event.native_event == "tool_guard"


def test_the_documented_input_is_understood() -> None:
    call = tool_of("shell", cmd="rm -rf /tmp/cache", cwd=".")

    assert (call.kind, call.command, call.call_id) == (
        ToolKind.SHELL,
        "rm -rf /tmp/cache",
        "call_xyz",
    )


@pytest.mark.parametrize(
    "input", [{"command": "rm x"}, {"cmd": " ", "command": "rm x"}, {"CMD": "rm x"}]
)
def test_every_spelling_that_the_shell_takes_is_the_command(input: dict[str, str]) -> None:
    """Source of July 2026: `command` is an alias, and Go finds keys without regard to case."""
    assert tool_of("shell", **input).command == "rm x"


def test_a_shell_without_a_command_has_none() -> None:
    assert tool_of("shell", cmd=3).command is None


def test_a_path_in_capitals_is_still_the_path() -> None:
    call = tool_of("write_file", Path="/etc/passwd", content="x")

    assert call.paths == ("/etc/passwd",)
    assert call.input == {"Path": "/etc/passwd", "content": "x"}


@pytest.mark.parametrize("input", [{"path": "a", "Path": "b"}, {"PATH": "a", "Path": "b"}])
def test_a_path_that_is_given_twice_is_refused(input: dict[str, str]) -> None:
    with pytest.raises(DecodeError, match="says `path` more than once"):
        tool_of("write_file", **input)


def test_keys_of_tools_from_elsewhere_are_left_alone() -> None:
    assert tool_of("search", Path="a", path="b").paths == ("b",)


@pytest.mark.parametrize("native", ["pre_tool_use", "permission_request"])
def test_an_edit_whose_arguments_were_withheld_is_refused(native: str) -> None:
    """The client omits arguments that are no JSON, and `edit_file` repairs and runs them."""
    payload = client.payload(native) | {"tool_name": "edit_file"}
    del payload["tool_input"]

    with pytest.raises(DecodeError, match="edit_file"):
        DIALECT.decode(json.dumps(payload).encode(), native)


def test_edits_pages_and_lists_of_files_are_read() -> None:
    edit = tool_of("edit_file", path="a", edits=[{"oldText": "x", "newText": "y"}, "no edit"])
    assert (edit.path, edit.old, edit.new) == ("a", "x", "y")
    assert tool_of("edit_file", path="a", edits="[]").old is None
    assert tool_of("fetch", urls=["https://a", "https://b", 3]).url == "https://a\nhttps://b"
    assert tool_of("fetch", urls="https://a").url is None
    assert tool_of("read_multiple_files", paths=["a", "b"]).paths == ("a", "b")


def test_mcp_tools_are_known_by_prefix_or_category() -> None:
    assert tool_of("mcp:github:create_issue").mcp == Mcp("github", "create_issue")
    event = decode("tool_response_transform", tool_name="github_create_issue", tool_category="mcp")
    assert isinstance(event, ToolResponseTransform)
    assert (event.tool.kind, event.tool.mcp) == (ToolKind.MCP, Mcp("", "github_create_issue"))


def test_a_failed_call_says_so() -> None:
    failed, fine = decode("post_tool_use", tool_error=True), decode("post_tool_use")

    assert isinstance(failed, PostToolUse)
    assert isinstance(fine, PostToolUse)
    assert (failed.tool.ok, fine.tool.ok) == (False, True)
    assert failed.tool.output == "secret"


@pytest.mark.parametrize("native", ["post_tool_use", "tool_response_transform"])
def test_a_command_that_failed_is_known_by_its_output_alone(native: str) -> None:
    text = "Error executing command: exit status 3\nOutput: oops"
    failed, fine = decode(native, tool_response=text), decode(native, tool_response=f"> {text}")
    assert isinstance(failed, ToolEvent)
    assert isinstance(fine, ToolEvent)
    assert (failed.tool.ok, fine.tool.ok) == (False, True)
    page = decode(native, tool_name="fetch", tool_input={"urls": ["x"]}, tool_response=text)
    assert isinstance(page, ToolEvent)
    assert page.tool.ok


def test_a_tool_that_printed_nothing_has_an_empty_response() -> None:
    said_nothing = decode("post_tool_use", tool_response="")
    assert isinstance(said_nothing, PostToolUse)
    assert said_nothing.tool.output == ""
    from_elsewhere = PostToolUse(tool=replace(tool("shell", command="true"), output=""))
    assert json.loads(DIALECT.stdin(from_elsewhere))["tool_response"] == ""


_PRESSURE = {"input_tokens": 9, "output_tokens": 2, "context_limit": 8}


@pytest.mark.parametrize(
    ("native", "sent", "read"),
    [
        ("session_start", {"source": "resume"}, {"source": "resume"}),
        ("session_end", {"reason": "prompt_input_exit"}, {"reason": "prompt_input_exit"}),
        ("user_prompt_submit", {"prompt": "p"}, {"prompt": "p"}),
        ("user_followup_submit", {"prompt": "p"}, {"prompt": "p"}),
        ("turn_end", {"reason": "steered"}, {"reason": "steered"}),
        (
            "before_llm_call",
            {"iteration": 3, "model_id": "a/b"},
            {"iteration": 3, "model": "a/b"},
        ),
        (
            "after_llm_call",
            {"model_id": "a/b", "usage": {"input_tokens": 4}, "cost": 0.5},
            {"model": "a/b", "usage": {"input_tokens": 4}, "cost_usd": 0.5},
        ),
        ("pre_compact", {"source": "tool_overflow"}, {"trigger": "tool_overflow"}),
        (
            "before_compaction",
            {**_PRESSURE, "compaction_reason": "overflow"},
            {**_PRESSURE, "trigger": "overflow"},
        ),
        (
            "after_compaction",
            {**_PRESSURE, "compaction_reason": "manual", "summary": "s"},
            {**_PRESSURE, "trigger": "manual", "summary": "s"},
        ),
        (
            "stop",
            {"stop_response": "done", "last_user_message": "go"},
            {"last_message": "done", "last_user_message": "go"},
        ),
        (
            "notification",
            {"notification_level": "warning", "notification_message": "m"},
            {"kind": "warning", "message": "m"},
        ),
        ("on_error", {"notification_message": "m"}, {"message": "m"}),
        (
            "on_agent_switch",
            {"from_agent": "a", "to_agent": "b", "agent_switch_kind": "force_handoff"},
            {"from_agent": "a", "to_agent": "b", "kind": "force_handoff"},
        ),
        (
            "on_session_resume",
            {"previous_max_iterations": 5, "new_max_iterations": 9},
            {"previous_max_iterations": 5, "new_max_iterations": 9},
        ),
        (
            "on_tool_approval_decision",
            {"approval_decision": "canceled", "approval_source": "context_canceled"},
            {"decision": "canceled", "by": "context_canceled"},
        ),
        (
            "worktree_create",
            {"worktree_path": "/w", "worktree_branch": "b", "worktree_source_dir": "/s"},
            {"path": "/w", "branch": "b", "source_dir": "/s"},
        ),
    ],
)
def test_each_event_has_the_fields_that_its_page_names(
    native: str, sent: dict[str, Any], read: dict[str, Any]
) -> None:
    event = decode(native, **sent)
    assert {name: getattr(event, name) for name in read} == read
    told = json.loads(DIALECT.stdin(replace(event, dialect="canonical")))
    assert {name: told.get(name) for name in sent} == sent


def test_own_fields_are_filled() -> None:
    steering = decode("user_steering_messages_submit")
    assert isinstance(steering, SteeringSubmit)
    assert (steering.prompts, steering.prompt) == (("wait", "not there"), "wait\nnot there")
    call = decode("after_llm_call")
    assert isinstance(call, AfterLlmCall)
    assert call.messages[-1] == {"role": "assistant", "content": "Done."}
    assert (call.model, call.cost_usd) == ("openai/gpt-4o", 0)
    child = decode("subagent_stop")
    assert isinstance(child, SubagentStop)
    assert child.agent == Agent(name="researcher", depth=1, id="s1", parent="s0")
    assert child.last_message == "Found it."
    resumed = decode("on_session_resume")
    assert isinstance(resumed, SessionResume)
    assert resumed.source == "max_iterations"
    decided = decode("on_tool_approval_decision")
    assert isinstance(decided, PermissionDecided)
    assert (decided.decision, decided.by) == ("allow", "user_approved")
    worktree = decode("worktree_create")
    assert isinstance(worktree, WorktreeCreate)
    assert (worktree.path, worktree.source_dir, worktree.session_id) == (
        "/srv/worktrees/fix",
        "/srv/app",
        "",
    )
    compaction = decode("before_compaction")
    assert isinstance(compaction, BeforeCompaction)
    assert (compaction.trigger, compaction.context_limit) == ("threshold", 100_000)


def test_own_fields_of_the_wrong_type_lose_nothing_else() -> None:
    steering = decode("user_steering_messages_submit", steering_messages="wait")
    assert isinstance(steering, SteeringSubmit)
    assert steering.prompt == ""
    child = decode("subagent_stop", agent_name=None, parent_session_id=3)
    assert child.agent == Agent(name="", depth=1, id="s1")


# Answers


@pytest.mark.parametrize("native", NATIVE)
def test_silence_is_silence(native: str) -> None:
    assert reply_to(native, PASS) == Reply()


def test_a_denied_call_carries_the_reason_where_every_lane_reads_it() -> None:
    own = body_of(reply_to("pre_tool_use", deny("no")))["hook_specific_output"]

    assert own == {
        "hook_event_name": "pre_tool_use",
        "permission_decision": "deny",
        "permission_decision_reason": "no",
    }


def test_the_reason_of_a_question_is_shown_beside_it() -> None:
    """The prompt itself does not show a default-lane hook's reason."""
    body = body_of(reply_to("pre_tool_use", ask("are you sure?")))

    assert body["hook_specific_output"]["permission_decision"] == "ask"
    assert body["system_message"] == "are you sure?"


def test_a_grant_is_said_and_a_pass_is_not() -> None:
    assert "allow" in reply_to("pre_tool_use", allow()).stdout.decode()
    assert "permission_decision" not in changed("pre_tool_use", {"command": "ls"}).stdout.decode()


def test_a_permission_request_that_should_ask_only_annotates_the_question() -> None:
    answer = Answer(verdict=Verdict.ASK, reason="why", metadata={"risk": "high", "n": 1})
    own = body_of(reply_to("permission_request", answer))["hook_specific_output"]

    assert "permission_decision" not in own
    assert own["metadata"] == {"risk": "high", "reason": "why"}


def test_a_halt_on_a_tool_call_denies_it_and_is_remembered() -> None:
    """`continue: false` would deny this call only."""
    outcome = Outcome(event=decode("pre_tool_use"), answer=halt("stop it"))

    assert DIALECT.translate(outcome).latch == "stop it"
    assert client.obey("pre_tool_use", DIALECT.encode(outcome), {}).does is Does.BLOCKS


def test_a_rewritten_input_is_whole_and_says_what_must_go() -> None:
    """Versions replace the input or lay this over it; a null means absent to both."""
    reply = changed(
        "pre_tool_use",
        {"command": "ls", "timeout": None},
        tool_input={"CMD": "rm x", "timeout": 3, "cwd": "."},
    )

    assert body_of(reply)["hook_specific_output"]["updated_input"] == {
        "cmd": "ls",
        "cwd": ".",
        "timeout": None,
        "CMD": None,
    }


def test_a_rewrite_can_be_asked_about_but_not_denied_and_applied() -> None:
    asked = body_of(changed("pre_tool_use", {"command": "ls"}, ask("ok?")))
    assert asked["hook_specific_output"]["updated_input"]["cmd"] == "ls"
    denied = body_of(changed("pre_tool_use", {"command": "ls"}, deny("no")))
    assert "updated_input" not in denied["hook_specific_output"]


def test_a_rewrite_on_a_permission_request_is_a_deny_that_names_the_command() -> None:
    own = body_of(changed("permission_request", {"command": "ls"}))["hook_specific_output"]

    assert own["permission_decision"] == "deny"
    assert "ls" in own["permission_decision_reason"]


@pytest.mark.parametrize("text", ["clean", ""])
def test_a_response_is_replaced_even_by_nothing(text: str) -> None:
    reply = reply_to("tool_response_transform", Answer(rewrite=Rewrite(output=text)))

    assert body_of(reply)["hook_specific_output"]["updated_tool_response"] == text


def test_a_denied_response_is_replaced_by_the_reason() -> None:
    own = body_of(reply_to("tool_response_transform", deny("hidden")))["hook_specific_output"]

    assert own["updated_tool_response"] == "hidden"


@pytest.mark.parametrize(
    ("size", "warned"), [("x" * 51_201, True), ("\n" * 2_001, True), ("x", False)]
)
def test_a_response_that_the_client_shortens_itself_is_reported(size: str, warned: bool) -> None:
    event = decode("tool_response_transform", tool_response=size)
    for answer in (Answer(rewrite=Rewrite(output="clean")), deny("hidden")):
        changes = DIALECT.translate(Outcome(event=event, answer=answer)).substitutions
        assert any(change.was == "rewrite.output" for change in changes) is warned
    assert DIALECT.translate(Outcome(event=event)).substitutions == ()


@pytest.mark.parametrize(
    "answer", [deny("loop"), halt("loop"), Answer(rewrite=Rewrite(output="x"))]
)
def test_what_was_recorded_already_can_only_end_the_run(answer: Answer) -> None:
    reply = reply_to("post_tool_use", answer)

    assert client.obey("post_tool_use", reply, {}).does is Does.ENDS_THE_RUN
    assert body_of(reply)["stop_reason"].strip()


@pytest.mark.parametrize("native", ["user_steering_messages_submit", "before_llm_call"])
def test_a_deny_that_can_only_end_the_run_is_recorded_as_that(native: str) -> None:
    translated = DIALECT.translate(Outcome(event=decode(native), answer=deny("no")))

    assert [(change.was, change.now) for change in translated.substitutions] == [("deny", "halt")]


@pytest.mark.parametrize("native", ["user_prompt_submit", "pre_compact", "before_compaction"])
def test_a_block_carries_its_reason(native: str) -> None:
    assert body_of(reply_to(native, deny("no"))) == {"decision": "block", "reason": "no"}


def test_messages_and_summaries_are_replaced() -> None:
    messages = [{"role": "user", "content": "hi"}]
    model_call = body_of(reply_to("before_llm_call", Answer(rewrite=Rewrite(messages=messages))))
    assert model_call["hook_specific_output"]["updated_messages"] == messages
    summary = body_of(reply_to("before_compaction", Answer(rewrite=Rewrite(summary="short"))))
    assert summary["hook_specific_output"]["summary"] == "short"


@pytest.mark.parametrize(
    ("native", "change"),
    [("before_llm_call", Rewrite(messages=[])), ("before_compaction", Rewrite(summary=""))],
)
@pytest.mark.parametrize("verdict", [PASS, deny("no")])
def test_a_rewrite_that_leaves_nothing_blocks(
    native: str, change: Rewrite, verdict: Answer
) -> None:
    """The client takes an empty value for no change, and would go on with the old one."""
    answer = Answer(verdict=verdict.verdict, reason=verdict.reason, rewrite=change)

    assert client.obey(native, reply_to(native, answer), {}).does >= Does.BLOCKS


def test_stop_cannot_be_continued_and_says_so() -> None:
    outcome = Outcome(event=decode("stop"), answer=Answer(follow_up=("run the tests",)))

    assert DIALECT.translate(outcome).substitutions[0].was == "follow_up"
    assert body_of(DIALECT.encode(outcome)) == {"system_message": "run the tests"}
    assert not DIALECT.support.has_stop_flag
    assert DIALECT.support.stop_cap is None


@pytest.mark.parametrize("native", ["post_tool_use", "stop"])
def test_context_that_the_client_would_drop_is_kept_for_later(native: str) -> None:
    outcome = Outcome(event=decode(native), answer=context("run the tests"))
    translated = DIALECT.translate(outcome)
    assert translated.later == ("run the tests",)
    assert translated.substitutions[0].was == "context"
    assert DIALECT.encode(outcome) == Reply()


def test_a_reason_names_a_new_input_as_json() -> None:
    path = {"path": "a", "edits": [{"oldText": "it's", "newText": "b"}]}
    event = decode("pre_tool_use+preempt", tool_name="edit_file", tool_input=path)
    rewrite = Rewrite(input={"edits": [{"oldText": "it's", "newText": None}], "path": "b"})
    reply = DIALECT.encode(Outcome(event=event, answer=Answer(rewrite=rewrite)))
    reason = body_of(reply)["hook_specific_output"]["permission_decision_reason"]
    assert '{"edits":[{"oldText":"it\'s","newText":null}],"path":"b"}' in reason


def test_context_is_added_where_the_model_gets_it() -> None:
    own = body_of(reply_to("turn_start", context("today is Monday")))["hook_specific_output"]
    assert "today is Monday" in own["additional_context"]
    assert "note" in body_of(reply_to("pre_tool_use", context("note")))["system_message"]


@pytest.mark.parametrize("native", ["notification", "tool_guard"])
def test_a_notice_that_nobody_would_show_is_recorded_as_lost(native: str) -> None:
    outcome = Outcome(event=decode(native), answer=Answer(notice=("look",)))

    assert DIALECT.encode(outcome) == Reply()
    assert DIALECT.translate(outcome).substitutions[0].was == "notice"


def test_a_reason_that_is_no_unicode_still_denies() -> None:
    reply = reply_to("tool_response_transform", Answer(rewrite=Rewrite(output="\ud800")))

    assert b"\\ud800" in reply.stdout


@pytest.mark.parametrize("native", [*NATIVE, None, "never heard of"])
def test_a_refusal_blocks_where_anything_can_be_blocked(native: str | None) -> None:
    reply = DIALECT.refuse(native, "hookline broke: run `hookline doctor`")

    assert reply.exit_code == 0
    assert b"doctor" in reply.stderr + reply.stdout
    known = native in NATIVE
    does = client.obey(native if known and native else "pre_tool_use", reply, {}).does
    blocks = not known or native in BLOCKED_BY_REFUSAL
    assert (does >= Does.BLOCKS) is blocks


# Hooks written for docker-agent


def test_its_own_bytes_are_passed_on_untouched() -> None:
    event = decode("pre_tool_use", odd=[1, {"a": None}])

    assert DIALECT.stdin(event) == bytes(event.raw)


def payload_of(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DIALECT.stdin(event))
    return found


def test_a_command_from_elsewhere_comes_as_the_shell_tool() -> None:
    call = tool("Bash", command="ls")
    assert payload_of(PreToolUse(session_id="s", cwd="/w", tool=call)) == {
        "session_id": "s",
        "cwd": "/w",
        "hook_event_name": "pre_tool_use",
        "agent_name": "root",
        "tool_name": "shell",
        "tool_input": {"cmd": "ls"},
    }


def test_pages_and_edits_from_elsewhere_come_in_lists() -> None:
    page = payload_of(PreToolUse(tool=tool("WebFetch", url="https://a")))
    assert (page["tool_name"], page["tool_input"]) == ("fetch", {"urls": ["https://a"]})
    edit = payload_of(PreToolUse(tool=tool("Edit", file_path="a", old_string="x", new_string="y")))
    assert edit["tool_input"] == {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}
    native = payload_of(PreToolUse(tool=DIALECT.tools.read("fetch", {"urls": ["https://a"]})))
    assert native["tool_input"] == {"urls": ["https://a"]}


def test_a_failure_from_elsewhere_is_a_finished_call_with_an_error() -> None:
    data = payload_of(PostToolUseFailure(tool=tool("Bash", command="ls"), error="boom"))
    assert (data["hook_event_name"], data["tool_response"]) == ("post_tool_use", "boom")
    assert data["tool_error"] is True
    assert "tool_error" not in payload_of(PostToolUse(tool=tool("Bash", command="ls")))


def test_words_of_other_platforms_become_words_of_this_one() -> None:
    assert payload_of(Notification(kind="idle", message="m"))["notification_level"] == "warning"
    assert payload_of(Notification(kind="error", message="m"))["notification_level"] == "error"
    assert payload_of(Error(message="m"))["notification_level"] == "error"
    assert payload_of(MaxIterations())["notification_level"] == "warning"
    assert payload_of(BeforeCompaction(trigger="auto"))["compaction_reason"] == "threshold"
    assert payload_of(PostCompact(trigger="manual", summary="s"))["compaction_reason"] == "manual"
    assert payload_of(SteeringSubmit(prompt="wait"))["steering_messages"] == ["wait"]
    assert payload_of(SteeringSubmit(prompts=("a", "b")))["steering_messages"] == ["a", "b"]
    child = payload_of(SubagentStop(agent=Agent(name="r", depth=1, id="c", parent="p")))
    assert (child["agent_name"], child["parent_session_id"]) == ("r", "p")
    assert "agent_id" not in child
    call = AfterLlmCall(messages=({"role": "assistant", "content": "hi"},), cost_usd=0)
    assert (payload_of(call)["stop_response"], payload_of(call)["cost"]) == ("hi", 0)
    assert "cost" not in payload_of(AfterLlmCall())
    switch = payload_of(AgentSwitch(from_agent="a", to_agent="b", kind="handoff"))
    assert switch["agent_switch_kind"] == "handoff"
    assert payload_of(BeforeLlmCall(iteration=2))["iteration"] == 2
    assert set(payload_of(TurnStart())) == {"session_id", "cwd", "hook_event_name", "agent_name"}


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_canonical_event_can_be_given_to_such_a_hook(name: str) -> None:
    assert isinstance(payload_of(bare_event(name)), dict)


@pytest.mark.parametrize(
    "stdout", [b"", b"  \n", b"{}", b'{"continue": true}', b'{"decision": ""}']
)
def test_nothing_said_is_a_pass(stdout: bytes) -> None:
    assert read("pre_tool_use", stdout=stdout) == PASS


def test_exit_two_blocks_with_what_stands_on_stderr() -> None:
    assert read("pre_tool_use", stderr=b" no \n", code=2) == deny("no")
    assert read("user_prompt_submit", code=2).verdict is Verdict.DENY
    assert read("post_tool_use", stderr=b"loop", code=2) == halt("loop")


def test_the_documented_validation_script_denies_with_its_reason() -> None:
    """It prints JSON and exits 2."""
    body = {"decision": "block", "reason": "Dangerous command blocked by policy"}

    assert read("pre_tool_use", body, code=2) == deny("Dangerous command blocked by policy")
    assert read("pre_tool_use", stdout=b"no, {really", code=2) == deny("no, {really")


def test_exit_two_where_nothing_can_be_blocked_never_keeps_the_agent_going() -> None:
    assert read("stop", stderr=b"again", code=2) == Answer(notice=("again",))
    assert read("subagent_stop", {"decision": "block", "reason": "r"}) == Answer(notice=("r",))


@pytest.mark.parametrize("code", [1, 3, 127, -9])
def test_any_other_exit_code_is_a_failure(code: int) -> None:
    with pytest.raises(HandlerCrashed, match="boom"):
        read("pre_tool_use", stdout=b'{"decision": "block"}', stderr=b"boom", code=code)


@pytest.mark.parametrize("native", sorted(client.CONTEXT))
def test_plain_text_is_context_where_the_page_says_so(native: str) -> None:
    assert read(native, stdout=b"  remember  ") == context("remember")


def test_plain_text_elsewhere_is_dropped_or_shown() -> None:
    assert read("pre_tool_use", stdout=b"looks fine") == PASS
    assert read("worktree_create", stdout=b"Prepared") == Answer(notice=("Prepared",))


def test_half_a_block_is_a_failure_and_half_a_remark_is_text() -> None:
    half = b'{"decision": "block"'
    with pytest.raises(HandlerAnswerError):
        read("user_prompt_submit", stdout=half)
    assert read("turn_start", stdout=half) == context(half.decode())
    assert read("notification", stdout=half) == PASS


@pytest.mark.parametrize(
    "body",
    [
        {"continue": "no"},
        {"decision": "deny"},
        {"hook_specific_output": {"permission_decision": "block"}},
        {"hook_specific_output": {"updated_input": "ls"}},
        {"hook_specific_output": "deny"},
    ],
)
def test_an_answer_that_does_not_fit_is_a_failure(body: Any) -> None:
    with pytest.raises(HandlerAnswerError):
        read("pre_tool_use", body)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"decision": "block", "reason": "r"}, deny("r")),
        ({"DECISION": "block", "Reason": "r"}, deny("r")),
        ({"continue": False, "stop_reason": "s"}, deny("s")),
        ({"continue": False, "stop_reason": "s", "decision": "block", "reason": "r"}, deny("s\nr")),
        ({"continue": False}, deny("blocked by a hook that gave no reason")),
        ({"reason": "r"}, PASS),
    ],
)
def test_a_block_on_a_tool_call_is_a_deny_and_no_halt(body: Any, answer: Answer) -> None:
    assert read("pre_tool_use", body) == answer


@pytest.mark.parametrize("word", ["allow", "ask", "deny"])
def test_a_permission_decision_is_read(word: str) -> None:
    body = {
        "hook_specific_output": {"permission_decision": word, "permission_decision_reason": "r"}
    }
    for native in ("pre_tool_use", "permission_request"):
        answer = read(native, body)
        assert (answer.verdict.value, answer.reason) == (word, "r")


def test_a_question_without_a_reason_gets_one() -> None:
    answer = read("pre_tool_use", {"Hook_Specific_Output": {"permission_decision": "ask"}})

    assert answer.verdict is Verdict.ASK
    assert answer.reason


def test_a_block_beats_a_grant_in_the_same_answer() -> None:
    own = {"permission_decision": "allow", "permission_decision_reason": "fine"}
    both = read("pre_tool_use", {"decision": "block", "reason": "r", "hook_specific_output": own})
    assert both == deny("r")
    own = {"permission_decision": "deny", "permission_decision_reason": "no"}
    assert read("pre_tool_use", {"continue": False, "hook_specific_output": own}) == deny("no")


@pytest.mark.parametrize("native", ["post_tool_use", "before_llm_call", "user_followup_submit"])
def test_a_block_that_ends_the_run_is_a_halt(native: str) -> None:
    assert read(native, {"decision": "block", "reason": "r"}) == halt("r")


def test_texts_rewrites_and_metadata_are_read() -> None:
    own = {"updated_input": {"cmd": "ls"}, "metadata": {"risk": "low"}}
    answer = read("pre_tool_use", {"system_message": "hi", "hook_specific_output": own})
    # Notes are read where the client shows them, which is not on this lane.
    assert answer == Answer(notice=("hi",), rewrite=Rewrite(input={"cmd": "ls"}))
    asked = read("permission_request", {"hook_specific_output": {"metadata": {"risk": "low"}}})
    assert asked == Answer(metadata={"risk": "low"})
    assert read(
        "tool_response_transform", {"hook_specific_output": {"updated_tool_response": ""}}
    ).rewrite == Rewrite(output="")
    own_summary = {"summary": "s", "updated_messages": []}
    assert read("before_compaction", {"hook_specific_output": own_summary}).rewrite.summary == "s"
    messages = [{"role": "user", "content": "hi"}]
    sent = read("before_llm_call", {"hook_specific_output": {"updated_messages": messages}})
    assert sent.rewrite.messages == messages
    added = {"hook_specific_output": {"additional_context": "c"}}
    assert read("session_start", added) == context("c")
    assert read("worktree_create", added) == Answer(notice=("c",))


def test_an_answer_to_an_event_from_elsewhere_is_read_as_if_it_were_its_own() -> None:
    for event, expected in ((UserPromptSubmit(), Verdict.DENY), (Stop(), Verdict.PASS)):
        answer = DIALECT.read_answer(event, stdout=b"", stderr=b"no", exit_code=2)
        assert answer.verdict is expected


# Anything at all


@given(st.binary(max_size=60), st.sampled_from(["pre_tool_use", "stop", None, ""]))
def test_any_bytes_are_an_event_or_are_not_understood(payload: bytes, native: str | None) -> None:
    try:
        assert isinstance(DIALECT.decode(payload, native), Event)
    except DecodeError:
        return


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYS = sorted({key for own in client.OWN.values() for key in own} | {"session_id", "cwd"})


@given(st.sampled_from(NATIVE), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_any_values_under_known_keys_are_an_event_or_not_understood(
    native: str, fields: dict[str, Any]
) -> None:
    try:
        event = decode(native, **fields)
    except DecodeError:
        return
    assert event.native_event == native
    assert DIALECT.encode(Outcome(event=event)) == Reply()


@given(st.sampled_from(NATIVE), st.binary(max_size=40), st.binary(max_size=10), st.integers(0, 3))
def test_any_output_is_an_answer_or_a_failed_hook(
    native: str, stdout: bytes, stderr: bytes, code: int
) -> None:
    try:
        assert isinstance(read(native, stdout=stdout, stderr=stderr, code=code), Answer)
    except (HandlerAnswerError, HandlerCrashed):
        return


@given(st.sampled_from(sorted(BLOCKED_BY_REFUSAL)), st.text(min_size=1).filter(str.strip))
def test_a_refusal_of_a_gate_blocks_whatever_its_words(native: str, reason: str) -> None:
    assert client.obey(native, DIALECT.refuse(native, reason), {}).does >= Does.BLOCKS
