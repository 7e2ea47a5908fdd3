"""Copilot CLI: both casings are understood, answers are at the top level, its hooks are read."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.claude_code import DIALECT as CLAUDE_CODE
from hookline.dialects.copilot import DIALECT
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, allow, ask, deny, halt, notice
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerCrashed, HandlerError
from hookline.model.events import (
    EVENTS,
    Agent,
    BeforeLlmCall,
    Error,
    Event,
    Notification,
    Other,
    PermissionRequest,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    PromptTransformed,
    SessionEnd,
    SessionStart,
    Stop,
    SubagentStart,
    SubagentStop,
    ToolEvent,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome, Reply
from hookline.model.rewriting import native_input, overlay, rewritten
from hookline.model.tools import Mcp, Tool, ToolKind, tool
from support.clients import copilot as client
from support.clients.effects import Does, Effect
from support.strategies import answers, json_values

BOTH = ["preToolUse", "PreToolUse"]
GATES = [*BOTH, "permissionRequest", "PermissionRequest", "userPromptSubmitted", "UserPromptSubmit"]


def decode(native: str, *, given: str | None = None, **extra: Any) -> Event:
    return DIALECT.decode(json.dumps(client.payload(native) | extra).encode(), given or native)


def tool_of(name: str, args: Any, **extra: Any) -> Tool:
    event = decode("preToolUse", toolName=name, toolArgs=args, **extra)
    assert isinstance(event, PreToolUse)
    return event.tool


def outcome_of(event: Event, answer: Answer) -> Outcome:
    change = answer.rewrite
    if change.input is not None:
        change = Rewrite(input=native_input(event, change.input, DIALECT.tools))
        answer = Answer(verdict=answer.verdict, reason=answer.reason, rewrite=change)
    final = rewritten(event, change, DIALECT.tools)
    return Outcome(event=event, answer=answer, final=None if final is event else final)


def told(event: Event, answer: Answer) -> dict[str, Any]:
    """What the client reads on stdout."""
    reply = DIALECT.encode(outcome_of(event, answer))
    assert reply.exit_code == 0
    body: dict[str, Any] = json.loads(reply.stdout or b"{}")
    return body


def effect(native: str, answer: Answer) -> Effect:
    reply = DIALECT.encode(outcome_of(decode(native), answer))
    return client.obey(native, reply, client.payload(native))


# ── guest: what it sends ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("native", DIALECT.support.events)
def test_every_event_decodes_to_its_canonical_one_in_its_own_casing(native: str) -> None:
    event = decode(native)
    row = DIALECT.support.events[native]
    assert type(event) is EVENTS[row.event]
    assert event.native_event == native
    assert (event.session_id, event.cwd) == ("s1", "/srv/app")
    assert row.source


@pytest.mark.parametrize("native", ["sessionStart", "SessionStart"])
def test_a_session_says_where_it_comes_from(native: str) -> None:
    event = decode(native, source="resume")
    assert isinstance(event, SessionStart)
    assert event.source == "resume"


def test_own_fields_are_read_in_both_casings() -> None:
    camel = [
        decode(name)
        for name in (
            "sessionEnd", "userPromptSubmitted", "postToolUse", "postToolUseFailure", "agentStop",
            "subagentStop", "preCompact", "errorOccurred",
        )
    ]  # fmt: skip
    pascal = [
        decode(name)
        for name in (
            "SessionEnd", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop",
            "SubagentStop", "PreCompact", "ErrorOccurred",
        )
    ]  # fmt: skip
    for events in (camel, pascal):
        end, prompt, post, failure, stop, sub, compact, error = events
        assert isinstance(end, SessionEnd)
        assert isinstance(prompt, UserPromptSubmit)
        assert isinstance(post, PostToolUse)
        assert isinstance(failure, PostToolUseFailure)
        assert isinstance(stop, Stop)
        assert isinstance(sub, SubagentStop)
        assert isinstance(compact, PreCompact)
        assert isinstance(error, Error)
        assert (end.reason, prompt.prompt, compact.trigger) == ("complete", "go", "auto")
        assert (post.tool.output, post.tool.ok) == ("secret", True)
        assert (failure.error, failure.tool.ok) == ("no such file", False)
        assert (stop.stop_hook_active, sub.last_message) == (False, "done")
        assert (error.message, error.where) == ("bad request", "model_call")
        assert (sub.agent.name, sub.agent.id, sub.agent.parent) == ("explore", "a1", "s1")


def test_the_transformed_prompt_and_the_notification_are_read() -> None:
    transformed = decode("userPromptTransformed")
    assert isinstance(transformed, PromptTransformed)
    assert (transformed.prompt, transformed.transformed) == ("go", "<now/>\n\ngo")
    said = decode("notification")
    assert isinstance(said, Notification)
    assert (said.kind, said.message) == ("permission_prompt", "Run command: rm x")


@pytest.mark.parametrize("native", [n for n in DIALECT.support.events if n[0].islower()])
def test_a_payload_without_a_name_is_known_by_its_shape(native: str) -> None:
    if DIALECT.support.events[native].event == "other":
        return
    event = DIALECT.decode(json.dumps(client.payload(native)).encode(), None)
    assert type(event) is EVENTS[DIALECT.support.events[native].event]


def test_a_payload_that_looks_like_nothing_is_not_decoded() -> None:
    with pytest.raises(DecodeError, match="names no event"):
        DIALECT.decode(b'{"sessionId": "s1"}', None)


@pytest.mark.parametrize(
    ("sent", "given", "native"),
    [
        ("preToolUse", "PreToolUse", "preToolUse"),
        ("PreToolUse", "preToolUse", "PreToolUse"),
        ("Stop", "agentStop", "Stop"),
        ("agentStop", "Stop", "agentStop"),
        ("PostToolUse", "preToolUse", "PreToolUse"),
        ("notification", "Notification", "Notification"),
        ("permissionRequest", "PermissionRequest", "PermissionRequest"),
        ("subagentStart", "SubagentStart", "subagentStart"),
    ],
)
def test_the_payloads_casing_decides_where_the_command_line_says_otherwise(
    sent: str, given: str, native: str
) -> None:
    assert decode(sent, given=given).native_event == native


def test_a_mixed_payload_keeps_the_key_it_was_asked_under() -> None:
    payload = {"sessionId": "s1", "cwd": "/srv/app", "agentName": "explore", "agent_id": "a1"}
    event = DIALECT.decode(json.dumps(payload).encode(), "SubagentStart")
    assert isinstance(event, SubagentStart)
    assert (event.native_event, event.agent.id) == ("SubagentStart", "a1")


def test_unknown_events_and_fields_survive() -> None:
    payload = b'{"sessionId": "s1", "cwd": "/srv/app", "brandNew": [1]}'
    event = DIALECT.decode(payload, "someDay")
    assert type(event) is Other
    assert event.native_event == "someDay"
    assert bytes(event.raw) == payload
    assert DIALECT.encode(Outcome(event=event)) == Reply()


@pytest.mark.parametrize("native", BOTH)
def test_a_sub_agents_own_session_counts_as_its_parents(native: str) -> None:
    inside = {"agentId": "a1", "agentType": "explore", "parentAgentId": "s1", "sessionId": "a1"}
    if native == "PreToolUse":
        inside = {"agent_id": "a1", "agent_type": "explore", "parent_agent_id": "s1"}
        inside["session_id"] = "a1"
    event = decode(native, **inside)
    assert event.session_id == "s1"
    assert (event.agent.name, event.agent.depth, event.agent.id) == ("explore", 1, "a1")
    assert event.agent.parent == "s1"


def test_a_sub_agents_prompt_belongs_to_the_parents_session_one_level_down() -> None:
    inside = {"agentId": "a1", "agentType": "explore", "parentAgentId": "s1", "sessionId": "a1"}
    event = decode("userPromptSubmitted", **inside)
    assert isinstance(event, UserPromptSubmit)
    assert (event.session_id, event.agent.depth) == ("s1", 1)


def test_a_sub_agent_that_has_only_a_name_is_still_one() -> None:
    event = decode("subagentStart", agentId=None, agentType=None, parentAgentId=None)
    assert (event.agent.name, event.agent.depth, event.agent.id) == ("explore", 1, None)


# ── guest: tools ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "args", "kind", "fields"),
    [
        ("bash", {"command": "ls"}, "shell", {"command": "ls"}),
        ("Bash", {"command": "ls"}, "shell", {"command": "ls"}),
        ("powershell", {"command": "ls"}, "shell", {"command": "ls"}),
        ("write_bash", {"shellId": "0", "input": "rm x\n"}, "shell", {"command": "rm x\n"}),
        ("view", {"path": "/a"}, "read", {"path": "/a"}),
        ("Read", {"path": "/a"}, "read", {"path": "/a"}),
        ("create", {"path": "/a", "file_text": "t"}, "write", {"path": "/a", "content": "t"}),
        ("Write", {"path": "/a", "file_text": "t"}, "write", {"path": "/a", "content": "t"}),
        ("edit", {"path": "/a", "old_str": "x", "new_str": "y"}, "edit", {"old": "x", "new": "y"}),
        ("Edit", {"path": "/a", "old_str": "x", "new_str": "y"}, "edit", {"path": "/a"}),
        ("str_replace_editor", {"command": "view", "path": "/a"}, "read", {"path": "/a"}),
        ("str_replace_editor", {"command": "create", "path": "/a"}, "write", {"path": "/a"}),
        ("str_replace_editor", {"command": "str_replace", "path": "/a"}, "edit", {"path": "/a"}),
        ("Edit", {"command": "view", "path": "/a"}, "read", {"path": "/a"}),
        ("grep", {"pattern": "x", "path": "/a"}, "search", {"query": "x", "path": "/a"}),
        ("rg", {"pattern": "x"}, "search", {"query": "x"}),
        ("Glob", {"pattern": "*.md"}, "search", {"query": "*.md"}),
        ("lsp", {"operation": "rename", "file": "/a"}, "search", {"path": "/a"}),
        ("web_fetch", {"url": "http://x"}, "fetch", {"url": "http://x"}),
        ("web_search", {"query": "x"}, "fetch", {"query": "x"}),
        ("task", {"prompt": "do"}, "agent", {"content": "do"}),
        ("Agent", {"prompt": "do"}, "agent", {"content": "do"}),
        ("TodoWrite", {"todos": "- x"}, "task", {}),
        ("ask_user", {"question": "?"}, "ask", {}),
        ("exit_plan_mode", {"summary": "s"}, "plan", {"content": "s"}),
        ("report_intent", {"intent": "x"}, "other", {}),
        ("gh-advisory-database", {"dependencies": []}, "other", {"mcp": None}),
        ("lab-echo_text", {"text": "x"}, "mcp", {"mcp": Mcp("lab", "echo_text")}),
        ("lab/echo_text", {"text": "x"}, "mcp", {"mcp": Mcp("lab", "echo_text")}),
        (
            "github-mcp-server-get_file_contents",
            {},
            "mcp",
            {"mcp": Mcp("github-mcp-server", "get_file_contents")},
        ),
    ],
)
def test_a_tool_is_read_under_each_of_its_names_with_copilots_keys(
    name: str, args: dict[str, Any], kind: str, fields: dict[str, Any]
) -> None:
    found = tool_of(name, args)
    assert found.kind == kind
    assert {key: getattr(found, key) for key in fields} == fields
    assert found.input == args


PATCH = "*** Begin Patch\n*** Update File: a.py\n*** Delete File: b.py\n*** End Patch"


@pytest.mark.parametrize("args", [PATCH, {"input": PATCH}, {"patch": PATCH}])
@pytest.mark.parametrize("name", ["apply_patch", "Edit"])
def test_every_file_of_a_patch_is_seen(name: str, args: Any) -> None:
    found = tool_of(name, args)
    assert found.kind is ToolKind.EDIT
    assert found.paths == ("a.py", "b.py")
    assert found.content == PATCH


def test_arguments_that_come_as_json_text_are_arguments() -> None:
    assert tool_of("bash", '{"command": "ls"}').command == "ls"


@pytest.mark.parametrize(("name", "kind"), [("bash", "shell"), ("run", "shell"), ("view", "read")])
def test_one_bare_text_is_judged_as_a_command_where_it_may_be_one(name: str, kind: str) -> None:
    found = tool_of(name, "rm -rf x")
    assert found.kind == kind
    assert (found.command == "rm -rf x") == (kind == "shell")


@pytest.mark.parametrize("args", [None, 7, ["a"], {}])
def test_arguments_of_any_shape_are_taken(args: Any) -> None:
    assert tool_of("thing", args).kind is ToolKind.OTHER


def test_a_permission_asked_for_a_file_names_it() -> None:
    asked = {"file_path": "/srv/app/new.txt", "diff": "+new content"}
    event = decode("permissionRequest", toolName="edit", toolInput=asked)
    assert isinstance(event, PermissionRequest)
    assert event.tool.paths == ("/srv/app/new.txt",)
    assert event.tool.content == "+new content"


def test_a_result_in_no_known_shape_is_shown_as_it_is() -> None:
    event = decode("postToolUse", toolResult={"odd": 1})
    assert isinstance(event, PostToolUse)
    assert event.tool.output == '{"odd":1}'


# ── guest: what it is told ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("native", BOTH)
@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (PASS, {}),
        (allow(), {"permissionDecision": "allow"}),
        (ask("sure?"), {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}),
        (deny("no"), {"permissionDecision": "deny", "permissionDecisionReason": "no"}),
        (halt("no"), {"permissionDecision": "deny", "permissionDecisionReason": "no"}),
    ],
)
def test_a_tool_is_decided_at_the_top_level(
    native: str, answer: Answer, body: dict[str, Any]
) -> None:
    assert told(decode(native), answer) == body


@pytest.mark.parametrize("native", BOTH)
def test_new_arguments_are_whole_and_leave_the_question_to_the_client(native: str) -> None:
    body = told(decode(native), Answer(rewrite=Rewrite(input={"command": "ls"})))
    assert body == {"modifiedArgs": {"command": "ls", "description": "Remove"}}


def test_a_canonical_name_is_written_to_copilots_key() -> None:
    event = decode("preToolUse", toolName="create", toolArgs={"path": "/a", "file_text": "x"})
    body = told(event, Answer(rewrite=Rewrite(input={"content": "y"})))
    assert body == {"modifiedArgs": {"path": "/a", "file_text": "y"}}


@pytest.mark.parametrize(
    ("name", "args", "change"),
    [
        ("apply_patch", PATCH, {"content": "other"}),
        ("apply_patch", {"patch": PATCH}, {"content": "other"}),
        ("run", "rm -rf x", {"command": "ls"}),
    ],
)
def test_arguments_in_one_text_cannot_be_rewritten_so_the_call_is_denied(
    name: str, args: Any, change: dict[str, Any]
) -> None:
    event = decode("preToolUse", toolName=name, toolArgs=args)
    outcome = outcome_of(event, Answer(rewrite=Rewrite(input=change)))
    assert [s.now for s in DIALECT.translate(outcome).substitutions] == ["deny"]
    body = json.loads(DIALECT.encode(outcome).stdout)
    assert body["permissionDecision"] == "deny"
    assert next(iter(change.values())) in body["permissionDecisionReason"]
    assert "modifiedArgs" not in body


def test_a_patch_is_rewritten_under_its_own_key() -> None:
    event = decode("preToolUse", toolName="apply_patch", toolArgs={"patch": PATCH})
    body = told(event, Answer(rewrite=Rewrite(input={"patch": "other"})))
    assert body == {"modifiedArgs": {"patch": "other"}}


def test_an_event_without_its_payload_can_still_be_rewritten() -> None:
    event = PreToolUse(
        dialect="copilot", native_event="preToolUse", tool=tool_of("bash", {"command": "rm"})
    )
    body = told(event, Answer(rewrite=Rewrite(input={"command": "ls"})))
    assert body == {"modifiedArgs": {"command": "ls"}}


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (PASS, {}),
        (allow(), {"behavior": "allow"}),
        (deny("no"), {"behavior": "deny", "message": "no"}),
        (ask("sure?"), {"behavior": "deny", "message": "sure?"}),
        (halt("no"), {"behavior": "deny", "message": "no", "interrupt": True}),
    ],
)
@pytest.mark.parametrize("native", ["permissionRequest", "PermissionRequest"])
def test_permission_is_given_or_refused_never_left_to_allow_all_tools(
    native: str, answer: Answer, body: dict[str, Any]
) -> None:
    assert told(decode(native), answer) == body


@pytest.mark.parametrize("native", ["postToolUse", "PostToolUse"])
def test_a_result_is_replaced_or_hidden(native: str) -> None:
    body = told(decode(native), Answer(rewrite=Rewrite(output="clean")))
    assert body == {"modifiedResult": {"resultType": "success", "textResultForLlm": "clean"}}
    for answer in (deny("secret inside"), halt("secret inside")):
        found = effect(native, answer)
        assert found.output == "Tool result blocked: secret inside"
    shown = told(decode(native), deny("why"))["modifiedResult"]["textResultForLlm"]
    assert "why" in shown


@pytest.mark.parametrize(
    ("native", "change", "key"),
    [
        ("postToolUse", Rewrite(output=""), "modifiedResult"),
        ("userPromptSubmitted", Rewrite(prompt=""), "modifiedPrompt"),
        ("userPromptTransformed", Rewrite(prompt=""), "modifiedTransformedPrompt"),
    ],
)
def test_an_empty_replacement_is_not_taken_for_none(native: str, change: Rewrite, key: str) -> None:
    value = told(decode(native), Answer(rewrite=change))[key]
    assert "a hook left nothing" in (
        value["textResultForLlm"] if key == "modifiedResult" else value
    )


def test_a_prompt_is_blocked_or_replaced() -> None:
    for native in ("userPromptSubmitted", "UserPromptSubmit"):
        assert told(decode(native), deny("no")) == {"decision": "block", "reason": "no"}
        assert told(decode(native), halt("no")) == {"decision": "block", "reason": "no"}
        body = told(decode(native), Answer(rewrite=Rewrite(prompt="p")))
        assert body == {"modifiedPrompt": "p"}
    body = told(decode("userPromptTransformed"), Answer(rewrite=Rewrite(prompt="p")))
    assert body == {"modifiedTransformedPrompt": "p"}


@pytest.mark.parametrize("native", ["agentStop", "Stop", "subagentStop", "SubagentStop"])
def test_a_follow_up_continues_unless_the_run_was_halted(native: str) -> None:
    body = told(decode(native), Answer(follow_up=("run the tests", "then lint")))
    assert body == {"decision": "block", "reason": "run the tests\n\nthen lint"}
    halted = Answer(verdict=Verdict.HALT, reason="enough", follow_up=("go on",))
    assert told(decode(native), halted) == {}


@pytest.mark.parametrize(
    "native",
    ["sessionStart", "SessionStart", "userPromptSubmitted", "preToolUse", "PostToolUse",
     "postToolUseFailure", "subagentStart", "notification"],
)  # fmt: skip
def test_context_is_at_the_top_level(native: str) -> None:
    body = told(decode(native), Answer(context=("note", "more")))
    assert list(body) == ["additionalContext"]
    assert body["additionalContext"].count("\n\n") == 1


def test_an_error_cannot_be_hidden_so_the_reason_stands_beside_it() -> None:
    assert "no secrets" in effect("postToolUseFailure", deny("no secrets")).context


def test_text_for_the_person_has_no_place_and_that_is_recorded() -> None:
    outcome = outcome_of(decode("preToolUse"), notice("look"))
    assert DIALECT.encode(outcome) == Reply()
    changes = DIALECT.translate(outcome).substitutions
    assert [(s.was, s.now) for s in changes] == [("notice", "nothing")]


@pytest.mark.parametrize("native", ["preCompact", "subagentStart"])
def test_what_cannot_be_blocked_is_recorded_as_such(native: str) -> None:
    outcome = outcome_of(decode(native), deny("no"))
    assert "deny" in [s.was for s in DIALECT.translate(outcome).substitutions]
    assert json.loads(DIALECT.encode(outcome).stdout or b"{}") == {}


def test_unpaired_surrogates_do_not_lose_the_answer() -> None:
    reply = DIALECT.encode(outcome_of(decode("preToolUse"), Answer(context=("\ud800",))))
    assert json.loads(reply.stdout)["additionalContext"].endswith("\ud800")


@pytest.mark.parametrize("native", GATES)
@pytest.mark.parametrize("reason", ["it broke", "", " \n"])
def test_a_refusal_closes_the_gate_and_says_why(native: str, reason: str) -> None:
    reply = DIALECT.refuse(native, reason)
    found = client.obey(native, reply, {})
    assert found.does >= Does.BLOCKS
    assert (reason.strip() or "could not judge") in found.reason
    assert reply.stderr


@pytest.mark.parametrize("event", [None, "pretooluse", "someDay"])
@pytest.mark.parametrize("native", [*BOTH, "permissionRequest"])
def test_a_refusal_of_nobody_knows_what_closes_every_gate_for_tools(
    event: str | None, native: str
) -> None:
    found = client.obey(native, DIALECT.refuse(event, "it\nbroke"), {})
    assert found.does >= Does.BLOCKS
    assert "it\nbroke" in found.reason


@pytest.mark.parametrize("native", ["agentStop", "Stop", "subagentStop", "sessionStart"])
def test_a_refusal_elsewhere_changes_nothing(native: str) -> None:
    reply = DIALECT.refuse(native, "it broke")
    assert (reply.stdout, reply.exit_code) == (b"", 0)
    assert b"it broke" in reply.stderr


# ── host: what hooks written for Copilot are asked ──────────────────────────────────────────


def foreign(cls: type[Any], **fields: Any) -> Any:
    return cls(dialect="claude-code", session_id="s1", cwd="/srv/app", **fields)


def asked(event: Event, key: str | None = None) -> dict[str, Any]:
    codec = DIALECT if key is None else DIALECT.for_key(key)
    payload: dict[str, Any] = json.loads(codec.stdin(event))
    return payload


CLAUDE_WRITE = CLAUDE_CODE.tools.read("Write", {"file_path": "/a", "content": "t"})


def test_native_bytes_go_on_as_they_came() -> None:
    for native in DIALECT.support.events:
        event = decode(native)
        assert DIALECT.stdin(event) == bytes(event.raw)
        assert DIALECT.for_key(native).stdin(event) == bytes(event.raw)


def test_the_key_in_the_hook_file_decides_the_casing() -> None:
    event = foreign(PreToolUse, tool=CLAUDE_WRITE)
    camel, pascal = asked(event, "preToolUse"), asked(event, "PreToolUse")
    assert camel == asked(event)
    assert isinstance(camel.pop("timestamp"), int)
    assert camel == {
        "sessionId": "s1",
        "cwd": "/srv/app",
        "toolName": "create",
        "toolArgs": {"path": "/a", "file_text": "t"},
    }
    assert pascal.pop("timestamp").endswith("Z")
    assert pascal == {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": "/srv/app",
        "tool_name": "Write",
        "tool_input": {"path": "/a", "file_text": "t"},
    }


@pytest.mark.parametrize(
    ("native", "cls"),
    [
        (native, EVENTS[row.event])
        for native, row in DIALECT.support.events.items()
        if row.event != "other"
    ],
)
def test_a_foreign_event_is_told_with_the_keys_of_a_native_one(
    native: str, cls: type[Event]
) -> None:
    fields: dict[str, Any] = {}
    if issubclass(cls, ToolEvent):
        fields = {"tool": tool("shell", command="rm x")}
    real = client.payload(native)
    if "agentId" in real or "agent_id" in real:
        fields["agent"] = Agent(name="explore", depth=1, id="a1", parent="s1")
    payload = asked(foreign(cls, **fields), native)
    assert set(payload) == set(real) - {"initialPrompt", "initial_prompt", "title"}
    again = DIALECT.decode(json.dumps(payload).encode(), native)
    assert type(again) is cls
    if isinstance(again, ToolEvent):
        assert again.tool.command == "rm x"


def test_a_foreign_result_has_copilots_shape() -> None:
    done = tool("shell", command="ls")
    event = foreign(PostToolUse, tool=Tool(kind=done.kind, name="Bash", output="out"))
    assert asked(event)["toolResult"] == {"resultType": "success", "textResultForLlm": "out"}
    pascal = asked(event, "PostToolUse")["tool_result"]
    assert pascal == {"result_type": "success", "text_result_for_llm": "out"}


def test_a_foreign_error_is_an_object() -> None:
    event = foreign(Error, message="bad", where="model_call")
    assert asked(event)["error"] == {"message": "bad", "name": "Error"}


@pytest.mark.parametrize(
    ("call", "name", "args"),
    [
        (CLAUDE_WRITE, "create", {"path": "/a", "file_text": "t"}),
        (tool("shell", command="ls"), "bash", {"command": "ls"}),
        (CLAUDE_CODE.tools.read("Grep", {"pattern": "x"}), "grep", {"pattern": "x"}),
        (CLAUDE_CODE.tools.read("WebSearch", {"query": "x"}), "web_search", {"query": "x"}),
        (CLAUDE_CODE.tools.read("TodoWrite", {"todos": []}), "update_todo", {"todos": []}),
        (tool("task", subject="x"), "update_todo", {"subject": "x"}),
        (tool("custom", a=1), "custom", {"a": 1}),
        (tool("delete", path="/a"), "delete", {"path": "/a"}),
        (tool("mcp__lab__echo", text="x"), "lab-echo", {"text": "x"}),
    ],
)
def test_a_foreign_tool_has_copilots_name_and_keys(
    call: Tool, name: str, args: dict[str, Any]
) -> None:
    payload = asked(foreign(PreToolUse, tool=call))
    assert (payload["toolName"], payload["toolArgs"]) == (name, args)


def test_permission_is_asked_in_its_own_form_under_both_keys() -> None:
    edit = CLAUDE_CODE.tools.read("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"})
    for key in ("permissionRequest", "PermissionRequest"):
        payload = asked(foreign(PermissionRequest, tool=edit), key)
        assert payload["hookName"] == "permissionRequest"
        assert payload["toolName"] == "edit"
        assert payload["toolInput"]["file_path"] == "/a"
        assert payload["toolInput"]["diff"].endswith("-x\n+y")
    mcp = asked(foreign(PermissionRequest, tool=tool("mcp__lab__echo", text="x")))
    assert (mcp["toolName"], mcp["toolInput"]) == ("lab/echo", {"text": "x"})
    shell = asked(foreign(PermissionRequest, tool=tool("shell", command="ls")))
    assert (shell["toolName"], shell["toolInput"]) == ("bash", {"command": "ls"})


def test_an_own_event_is_told_in_the_other_casing_with_its_own_arguments() -> None:
    event = decode("preToolUse", toolName="view", toolArgs={"path": "/a", "view_range": [1, 2]})
    payload = asked(event, "PreToolUse")
    assert payload["hook_event_name"] == "PreToolUse"
    assert (payload["tool_name"], payload["tool_input"]) == (
        "Read",
        {"path": "/a", "view_range": [1, 2]},
    )
    back = asked(decode("PreToolUse"), "preToolUse")
    assert (back["toolName"], back["sessionId"]) == ("bash", "s1")


# ── host: what hooks written for Copilot answer ─────────────────────────────────────────────


def said(
    event: Event, body: Any = None, *, err: str = "", code: int = 0, key: str | None = None
) -> Answer:
    out = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
    codec = DIALECT if key is None else DIALECT.for_key(key)
    return codec.read_answer(event, stdout=out, stderr=err.encode(), exit_code=code)


NESTED = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}


@pytest.mark.parametrize("native", BOTH)
def test_a_decision_at_the_top_level_counts_in_both_casings(native: str) -> None:
    event = decode(native)
    body = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
    assert said(event, body) == deny("no")
    assert said(event, {"permissionDecision": "ask", "permissionDecisionReason": "?"}) == ask("?")
    assert said(event, {"permissionDecision": "allow"}) == allow()
    assert said(event, {"permissionDecision": "deny"}).reason
    assert said(event, {"additionalContext": "note"}).context == ("note",)
    assert said(event, {"additionalContext": None}) == PASS


def test_a_nested_decision_counts_under_a_pascal_case_key_only() -> None:
    assert said(decode("PreToolUse"), NESTED) == deny("no")
    lost = said(decode("preToolUse"), NESTED)
    assert lost.verdict is Verdict.PASS
    assert "hookSpecificOutput" in lost.notice[0]
    event = foreign(PreToolUse, tool=CLAUDE_WRITE)
    assert said(event, NESTED, key="PreToolUse") == deny("no")
    assert said(event, NESTED, key="preToolUse").verdict is Verdict.PASS


def test_the_stricter_of_two_decisions_counts() -> None:
    body = {"permissionDecision": "allow", **NESTED}
    assert said(decode("PreToolUse"), body).verdict is Verdict.DENY


@pytest.mark.parametrize("native", BOTH)
@pytest.mark.parametrize("body", [{"decision": "block"}, {"decision": "deny"}, {"continue": False}])
def test_words_that_copilot_does_not_read_let_the_tool_run_and_are_reported(
    native: str, body: dict[str, Any]
) -> None:
    answer = said(decode(native), body)
    assert answer.verdict is Verdict.PASS
    assert len(answer.notice) == 1


def test_new_arguments_replace_the_old_ones_whole() -> None:
    event = decode("preToolUse")
    for key in ("modifiedArgs", "updatedInput"):
        change = said(event, {key: {"command": "ls"}}).rewrite.input
        assert change == {"command": "ls", "description": None}
    nested = {"hookSpecificOutput": {"updatedInput": {"command": "ls"}}}
    assert said(decode("PreToolUse"), nested).rewrite.input is not None
    assert not said(event, nested).rewrite
    assert said(event, {"modifiedArgs": {}}).rewrite.input == {"command": None, "description": None}
    same = {"command": "rm x", "description": "Remove"}
    assert said(event, {"modifiedArgs": same}) == PASS


def test_new_arguments_reach_the_keys_of_the_platform_that_fired() -> None:
    event = foreign(PreToolUse, tool=CLAUDE_WRITE)
    change = said(event, {"modifiedArgs": {"path": "/b", "file_text": "t"}}).rewrite.input
    assert change == {"path": "/b"}
    native = native_input(event, change, CLAUDE_CODE.tools)
    assert overlay(CLAUDE_WRITE.input, native) == {"file_path": "/b", "content": "t"}


@pytest.mark.parametrize("native", ["permissionRequest", "PermissionRequest"])
def test_permission_answers_are_read_at_the_top_level(native: str) -> None:
    event = decode(native)
    assert said(event, {"behavior": "allow"}) == allow()
    assert said(event, {"behavior": "deny", "message": "no"}) == deny("no")
    assert said(event, {"behavior": "deny", "message": "no", "interrupt": True}) == halt("no")
    assert said(event, {"behavior": "deny"}).reason
    assert said(event, {"interrupt": True}) == PASS
    assert said(event, {"hookSpecificOutput": {"decision": {"behavior": "deny"}}}) == PASS


def test_answers_after_a_tool_are_read() -> None:
    event = decode("postToolUse")
    result = {"modifiedResult": {"resultType": "success", "textResultForLlm": "clean"}}
    assert said(event, result).rewrite.output == "clean"
    assert said(event, {"modifiedResult": {"text_result_for_llm": ""}}).rewrite.output == ""
    assert said(event, {"decision": "block", "reason": "no"}) == deny("no")
    assert said(event, {"additionalContext": "note"}).context == ("note",)
    nested = {"hookSpecificOutput": {"additionalContext": "note"}}
    assert said(decode("PostToolUse"), nested) == PASS
    assert said(decode("postToolUseFailure"), {"additionalContext": "x"}).context == ("x",)
    with pytest.raises(HandlerAnswerError):
        said(event, {"modifiedResult": {"resultType": "success"}})


def test_answers_to_a_prompt_are_read() -> None:
    event = decode("userPromptSubmitted")
    assert said(event, {"modifiedPrompt": "p"}).rewrite.prompt == "p"
    assert said(event, {"decision": "block", "reason": "no"}) == deny("no")
    assert said(event, {"decision": "block"}).reason
    assert said(event, {"handled": True, "responseContent": "done"}) == deny("done")
    assert said(event, {"additionalContext": "note"}).context == ("note",)
    transformed = decode("userPromptTransformed")
    assert said(transformed, {"modifiedTransformedPrompt": "p"}).rewrite.prompt == "p"
    assert said(transformed, {"modifiedTransformedPrompt": ""}) == PASS


@pytest.mark.parametrize("native", ["agentStop", "Stop", "subagentStop", "SubagentStop"])
def test_a_block_on_stop_is_a_follow_up(native: str) -> None:
    event = decode(native)
    assert said(event, {"decision": "block", "reason": "go on"}).follow_up == ("go on",)
    assert said(event, {"decision": "allow"}) == PASS
    assert said(event, err="go on", code=2).follow_up == ()
    assert said(event, {"modifiedResponse": "x"}).notice


@pytest.mark.parametrize("native", ["sessionEnd", "errorOccurred", "preCompact"])
def test_where_copilot_reads_nothing_nothing_is_read(native: str) -> None:
    assert said(decode(native), b'{"decision": "blo') == PASS


def test_exit_2_denies_only_where_permission_is_at_stake() -> None:
    body = {"permissionDecision": "allow"}
    assert said(decode("preToolUse"), body, err="no", code=2) == deny("no")
    assert said(decode("PreToolUse"), code=2).verdict is Verdict.DENY
    asked_for = decode("permissionRequest")
    assert said(asked_for, {"behavior": "allow", "message": "m"}, err="e", code=2) == deny("m")
    assert said(asked_for, {"message": "m", "interrupt": True}, code=2) == halt("m")
    assert said(asked_for, b'{"mess', code=2).verdict is Verdict.DENY
    assert said(decode("postToolUseFailure"), b"try again", code=2).context == ("try again",)
    assert said(decode("postToolUseFailure"), code=2) == PASS
    assert said(decode("userPromptSubmitted"), err="careful", code=2) == notice("careful")
    assert said(decode("sessionStart"), code=2) == PASS


@pytest.mark.parametrize("native", ["preToolUse", "permissionRequest", "agentStop", "preCompact"])
@pytest.mark.parametrize("code", [1, 127, -9])
def test_any_other_exit_is_a_failure_whatever_was_printed(native: str, code: int) -> None:
    with pytest.raises(HandlerCrashed, match=f"exit code {code}: boom"):
        said(decode(native), {"permissionDecision": "allow"}, err="boom", code=code)
    with pytest.raises(HandlerCrashed):
        said(decode(native), code=code)


@pytest.mark.parametrize("text", [b"", b"  \n", b"all is well", b"[1]", b"true"])
def test_text_that_is_no_object_says_nothing(text: bytes) -> None:
    assert said(decode("preToolUse"), text) == PASS


def test_progress_lines_are_no_part_of_the_answer() -> None:
    out = (
        b'{"type": "progress", "message": "looking"}\n'
        b'{"permissionDecision": "deny",\n "permissionDecisionReason": "no"}\n'
        b'  {"type": "progress", "message": "done", "temporary": true}\n'
    )
    assert said(decode("preToolUse"), out) == deny("no")


@pytest.mark.parametrize(
    "out",
    [
        b'{"permissionDecision": "deny"',
        b'{"permissionDecision": "deny"}\n{"permissionDecision": "deny"}',
        b'{"permissionDecision": "never"}',
        b'{"permissionDecision": 1}',
        b'{"modifiedArgs": "ls"}',
        b'{"additionalContext": ["a"]}',
        b'{"hookSpecificOutput": []}',
    ],
)
def test_what_is_no_answer_is_a_failure(out: bytes) -> None:
    with pytest.raises(HandlerAnswerError):
        said(decode("preToolUse"), out)


def test_an_event_that_copilot_has_not_can_be_answered_all_the_same() -> None:
    event = foreign(BeforeLlmCall)
    assert set(asked(event)) == {"sessionId", "cwd", "timestamp"}
    assert said(event, {"decision": "block", "reason": "no"}) == deny("no")
    assert said(event, err="no", code=2) == deny("no")


# ── fuzz ────────────────────────────────────────────────────────────────────────────────────

KEYS = [
    "sessionId", "session_id", "cwd", "hook_event_name", "hookName", "toolName", "tool_name",
    "toolArgs", "toolInput", "tool_input", "toolResult", "tool_result", "error", "prompt",
    "transformedPrompt", "agentId", "agent_id", "agentType", "agentName", "parentAgentId",
    "stopReason", "stop_hook_active", "source", "trigger", "permissionSuggestions",
]  # fmt: skip
payloads = st.dictionaries(st.sampled_from(KEYS), json_values | st.sampled_from(["bash", "edit"]))


@given(st.binary(), st.none() | st.sampled_from([*DIALECT.support.events]) | st.text())
def test_any_bytes_are_an_event_or_not_decoded(payload: bytes, name: str | None) -> None:
    with contextlib.suppress(DecodeError):
        DIALECT.decode(payload, name)


@given(payloads, st.none() | st.sampled_from([*DIALECT.support.events]), answers())
def test_any_object_is_an_event_that_can_be_answered_or_not_decoded(
    payload: dict[str, Any], name: str | None, answer: Answer
) -> None:
    try:
        event = DIALECT.decode(json.dumps(payload).encode(), name)
    except DecodeError:
        return
    DIALECT.stdin(event)
    for key in ("preToolUse", "PreToolUse"):
        json.loads(DIALECT.for_key(key).stdin(event))
    reply = DIALECT.encode(Outcome(event=event, answer=answer))
    assert reply.exit_code == 0
    json.loads(reply.stdout or b"{}")


@given(
    st.sampled_from([*DIALECT.support.events]),
    st.binary() | json_values.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=8),
    st.sampled_from([0, 0, 1, 2]),
)
def test_any_answer_is_read_or_a_failure_of_the_hook(
    native: str, stdout: bytes, stderr: bytes, code: int
) -> None:
    with contextlib.suppress(HandlerError):
        DIALECT.read_answer(decode(native), stdout=stdout, stderr=stderr, exit_code=code)


@given(st.sampled_from(GATES), st.text(max_size=20))
def test_any_refusal_closes_the_gate(native: str, reason: str) -> None:
    assert client.obey(native, DIALECT.refuse(native, reason), {}).does >= Does.BLOCKS
