"""Claude Code's rules, one by one: what it sends is read, what we say it obeys, what hooks say."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import registry
from hookline.dialects.claude_code import DIALECT
from hookline.dialects.claude_code.files import FILES
from hookline.model import events
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
from hookline.model.errors import HandlerAnswerError, HandlerCrashed
from hookline.model.events import EVENTS, Agent, Event, Other, PostToolBatch, ToolEvent
from hookline.model.outcome import Outcome, Reply
from hookline.model.rewriting import rewritten
from hookline.model.tools import Mcp, ToolKind, tool
from support.clients import claude_code as client
from support.clients.effects import Does, Effect
from support.hosts import host

CAPTURES = Path(hookline.__file__).parent / "dialects/claude_code/captures"
NATIVE = tuple(DIALECT.support.events)
EXIT_2 = ("TaskCreated", "WorktreeCreate", "Elicitation")


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CAPTURES / f"{name}.json").read_text())["payload"]
    return found


def decode(payload: object) -> Any:
    return DIALECT.decode(json.dumps(payload).encode())


def sent(native: str, **more: Any) -> Event:
    """An event of the client: a recorded one, with fields of our own."""
    path = next(path for path in sorted(CAPTURES.glob("*.json")) if _is(native, path))
    event: Event = decode({**recorded(path.stem), **more})
    return event


def _is(native: str, path: Path) -> bool:
    return path.stem.partition("-")[0] == native


def outcome(event: Event, answer: Answer) -> Outcome:
    final = rewritten(event, answer.rewrite, DIALECT.tools)
    return Outcome(event=event, answer=answer, final=None if final is event else final)


def reply(event: Event, answer: Answer) -> Reply:
    return DIALECT.encode(outcome(event, answer))


def body(event: Event, answer: Answer) -> Any:
    said = reply(event, answer)
    assert said.exit_code == 0
    return json.loads(said.stdout)


def effect(event: Event, answer: Answer) -> Effect:
    payload = json.loads(bytes(event.raw))
    return client.obey(event.native_event, reply(event, answer), payload)


def own(native: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": native, **fields}}


def read(native: str, said: Any = "", *, stderr: bytes = b"", exit_code: int = 0) -> Answer:
    """What a hook of Claude Code's said."""
    text = said if isinstance(said, str) else json.dumps(said)
    return DIALECT.read_answer(
        sent(native), stdout=text.encode(), stderr=stderr, exit_code=exit_code
    )


# ── what it sends ───────────────────────────────────────────────────────────────────────────


def test_all_33_events_are_known() -> None:
    assert len(NATIVE) == 33


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("SessionStart-compact", {"source": "compact"}),
        ("SessionEnd-prompt_input_exit", {"reason": "prompt_input_exit"}),
        ("Setup-maintenance", {"trigger": "maintenance"}),
        ("InstructionsLoaded-include-Project", {"reason": "include"}),
        ("ConfigChange-user_settings", {"source": "user_settings"}),
        ("CwdChanged", {"old_cwd": "/home/dev/project"}),
        ("FileChanged-unlink", {"change": "unlink"}),
        ("PostModelSwitch-sdk", {"from_model": "claude-sonnet-4-5", "to_model": "claude-opus-4-5"}),
        ("UserPromptExpansion-slash_command", {"command": "foo", "args": "a b", "prompt": "/foo a b"}),
        ("PermissionDenied-Bash-auto-effort", {"decision": "deny", "by": "classifier"}),
        ("PostToolUseFailure-Bash", {"error": "Exit code 3"}),
        ("Stop-active", {"stop_hook_active": True, "last_message": "two"}),
        ("SubagentStop-fork", {"stop_hook_active": False}),
        ("StopFailure-rate_limit", {"error": "rate_limit"}),
        ("TaskCreated", {"task": events.Task(id="1", subject="Do thing")}),
        ("PreCompact-auto", {"trigger": "auto"}),
        ("Notification-elicitation_response", {"kind": "elicitation_response"}),
        ("Elicitation", {"server": "labmcp", "message": "What is your name?"}),
        ("ElicitationResult", {"action": "cancel"}),
        ("MessageDisplay", {"text": "I will run a command.", "final": True}),
    ],
)  # fmt: skip
def test_the_fields_of_each_event_are_read(name: str, fields: dict[str, Any]) -> None:
    event = decode(recorded(name))
    assert {field: getattr(event, field) for field in fields} == fields


@pytest.mark.parametrize(
    ("name", "field", "key"),
    [
        ("InstructionsLoaded-include-Project", "path", "file_path"),
        ("ConfigChange-user_settings", "path", "file_path"),
        ("CwdChanged", "new_cwd", "new_cwd"),
        ("FileChanged-add", "path", "file_path"),
        ("DirectoryAdded-slash_command", "path", "directory"),
        ("WorktreeCreate", "name", "name"),
        ("WorktreeRemove", "path", "worktree_path"),
        ("UserPromptSubmit", "prompt", "prompt"),
        ("PostCompact-auto", "summary", "compact_summary"),
        ("Elicitation", "schema", "requested_schema"),
    ],
)
def test_a_field_is_what_stands_under_its_key(name: str, field: str, key: str) -> None:
    payload = recorded(name)
    assert payload[key]
    assert getattr(decode(payload), field) == payload[key]


def test_suggestions_come_with_a_question_and_no_call_id() -> None:
    event = decode(recorded("PermissionRequest-Bash-suggestions"))
    assert [each["type"] for each in event.suggestions] == ["addDirectories", "setMode"]
    assert event.tool.call_id is None


def test_a_tools_answer_its_call_and_its_time_are_read() -> None:
    payload = recorded("PostToolUse-Bash")
    found = decode(payload).tool
    assert found.output == payload["tool_response"]["stdout"]
    assert (found.ok, found.call_id) == (True, payload["tool_use_id"])
    assert found.duration_ms == payload["duration_ms"]


def test_a_batch_has_each_call_with_the_text_that_the_model_sees() -> None:
    event = decode(recorded("PostToolBatch-3calls"))
    assert [(call.kind, call.output) for call in event.calls] == [
        (ToolKind.READ, "1\t1"),
        (ToolKind.READ, "1\t2"),
        (ToolKind.READ, "1\t3"),
    ]


def test_agents_are_told_apart() -> None:
    inside = decode(recorded("PreToolUse-Bash-subagent-frontmatter")).agent
    assert inside == Agent(name="helper", depth=1, id="a8091c2b213f8b35e")
    assert decode(recorded("PreToolUse-Bash-mainagent")).agent == Agent(name="helper")
    assert decode(recorded("PreToolUse-Bash")).agent == Agent()
    fork = decode(recorded("SubagentStop-fork")).agent
    assert (fork.depth, fork.id) == (1, "a4a509c4acefc1f35")


@pytest.mark.parametrize(
    ("name", "given", "kind", "fields"),
    [
        ("Bash", {"command": "ls"}, ToolKind.SHELL, {"command": "ls"}),
        ("PowerShell", {"command": "ls"}, ToolKind.SHELL, {"command": "ls"}),
        ("Write", {"file_path": "/a", "content": "x"}, ToolKind.WRITE, {"path": "/a", "content": "x"}),
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, ToolKind.EDIT, {"path": "/a", "old": "x", "new": "y"}),
        ("Read", {"file_path": "/a"}, ToolKind.READ, {"path": "/a"}),
        ("NotebookEdit", {"notebook_path": "/a"}, ToolKind.EDIT, {"path": "/a"}),
        ("Glob", {"pattern": "*", "path": "/s"}, ToolKind.SEARCH, {"query": "*", "path": "/s"}),
        ("Grep", {"pattern": "x"}, ToolKind.SEARCH, {"query": "x"}),
        ("WebFetch", {"url": "https://a.io", "prompt": "p"}, ToolKind.FETCH, {"url": "https://a.io"}),
        ("WebSearch", {"query": "q"}, ToolKind.FETCH, {"query": "q"}),
        ("Agent", {"prompt": "go"}, ToolKind.AGENT, {"content": "go"}),
        ("AskUserQuestion", {"questions": []}, ToolKind.ASK, {}),
        ("ExitPlanMode", {"plan": "p"}, ToolKind.PLAN, {"content": "p"}),
        ("mcp__git__push", {"x": 1}, ToolKind.MCP, {"mcp": Mcp("git", "push")}),
        ("mcp__plugin_lab_git__push", {}, ToolKind.MCP, {"mcp": Mcp("plugin_lab_git", "push")}),
    ],
)  # fmt: skip
def test_every_tool_is_read_by_its_own_keys(
    name: str, given: dict[str, Any], kind: ToolKind, fields: dict[str, Any]
) -> None:
    event = sent("PreToolUse", tool_name=name, tool_input=given)
    assert isinstance(event, ToolEvent)
    assert event.tool.kind is kind
    assert {field: getattr(event.tool, field) for field in fields} == fields


def test_an_event_of_tomorrow_survives_with_all_its_fields() -> None:
    event = decode({"hook_event_name": "PreTeleport", "session_id": "s", "to": [1]})
    assert isinstance(event, Other)
    assert (event.native_event, json.loads(bytes(event.raw))["to"]) == ("PreTeleport", [1])


@pytest.mark.parametrize(
    "mode", ["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"]
)
def test_what_has_no_canonical_field_is_kept_as_it_came(mode: str) -> None:
    event = sent("PreToolUse", permission_mode=mode, effort={"level": "high"}, prompt_id="p")
    kept = json.loads(bytes(event.raw))
    assert (kept["permission_mode"], kept["effort"], kept["prompt_id"]) == (
        mode,
        {"level": "high"},
        "p",
    )


@pytest.mark.parametrize("native", NATIVE)
def test_every_payload_tells_session_directory_and_event(native: str) -> None:
    payload = json.loads(bytes(sent(native).raw))
    event = decode(payload)
    assert (event.session_id, event.cwd, event.native_event) == (
        payload["session_id"],
        payload["cwd"],
        native,
    )
    assert type(event) is EVENTS[DIALECT.support.events[native].event]


# ── what we say ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("answer", "word", "does"),
    [
        (allow(), "allow", Does.SKIPS_ITS_QUESTION),
        (ask("sure?"), "ask", Does.ASKS),
        (deny("no"), "deny", Does.BLOCKS),
    ],
)
def test_a_decision_before_a_tool_names_its_event(answer: Answer, word: str, does: Does) -> None:
    event = sent("PreToolUse")
    said = body(event, answer)["hookSpecificOutput"]
    assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", word)
    assert said.get("permissionDecisionReason", "") == answer.reason
    assert effect(event, answer).does is does


def test_a_halt_before_a_tool_denies_as_well_because_continue_false_alone_runs_it() -> None:
    event = sent("PreToolUse")
    said = body(event, halt("enough"))
    assert (said["continue"], said["stopReason"]) == (False, "enough")
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    alone = Reply(stdout=b'{"continue": false}')
    assert client.obey("PreToolUse", alone, {}).does is Does.GOES_ON
    assert effect(event, halt("enough")).does is Does.ENDS_THE_RUN


def test_a_rewrite_is_the_whole_input() -> None:
    event = sent("PreToolUse", tool_name="Bash", tool_input={"command": "a", "timeout": 5})
    said = body(event, rewrite(command="b"))["hookSpecificOutput"]
    assert said["updatedInput"] == {"command": "b", "timeout": 5}
    assert "permissionDecision" not in said
    assert "updatedInput" not in json.dumps(
        body(event, Answer(verdict=Verdict.DENY, reason="no", rewrite=Rewrite(input={"a": 1})))
    )


@pytest.mark.parametrize("native", sorted(client.CONTEXT))
def test_context_stands_inside_and_never_at_the_top(native: str) -> None:
    event = sent(native)
    said = body(event, context("MK_CONTEXT"))
    assert "additionalContext" not in said
    assert "MK_CONTEXT" in said["hookSpecificOutput"]["additionalContext"]
    assert "MK_CONTEXT" in effect(event, context("MK_CONTEXT")).context


def test_context_is_kept_below_what_the_client_puts_into_a_file() -> None:
    done = DIALECT.translate(outcome(sent("SessionStart"), context("x" * 20_000)))
    assert sum(map(len, done.answer.context)) < 10_000
    assert [change.was for change in done.substitutions] == ["context"]


def test_a_notice_is_a_system_message() -> None:
    assert body(sent("PreToolUse"), notice("hello")) == {"systemMessage": "hello"}


@pytest.mark.parametrize(
    "native",
    ["SessionEnd", "InstructionsLoaded", "ConfigChange", "Notification", "MessageDisplay", "StopFailure", "WorktreeRemove", "PermissionDenied", "PreCompact", "Elicitation"],
)  # fmt: skip
def test_where_messages_are_discarded_the_loss_is_recorded(native: str) -> None:
    done = DIALECT.translate(outcome(sent(native), notice("hello")))
    assert done.answer.notice == ()
    assert [change.was for change in done.substitutions] == ["notice"]


def test_a_permission_is_given_refused_or_left_to_the_person() -> None:
    event = sent("PermissionRequest")
    given = {"decision": {"behavior": "allow"}}
    assert body(event, allow()) == own("PermissionRequest", **given)
    refused = {"decision": {"behavior": "deny", "message": "no"}}
    assert body(event, deny("no")) == own("PermissionRequest", **refused)
    ended = body(event, halt("no"))["hookSpecificOutput"]["decision"]
    assert ended == {"behavior": "deny", "message": "no", "interrupt": True}
    assert effect(event, halt("no")).does is Does.ENDS_THE_RUN
    assert reply(event, PASS) == Reply()
    assert b"behavior" not in reply(event, ask("?")).stdout


def test_variables_for_a_command_are_a_deny() -> None:
    assert effect(sent("PreToolUse"), rewrite(env={"A": "1"})).does is Does.BLOCKS


def test_a_rewrite_of_what_is_asked_about_is_a_deny() -> None:
    assert effect(sent("PermissionRequest"), rewrite(command="ls")).does is Does.BLOCKS


@pytest.mark.parametrize(
    "name", ["PostToolUse-Bash", "PostToolUse-Read", "PostToolUse-Write", "PostToolUse-Agent"]
)
def test_an_output_is_replaced_in_the_shape_of_the_tools_own(name: str) -> None:
    event = decode(recorded(name))
    shown = effect(event, rewrite(output="MK_NEW")).output
    assert shown is not None, "the client ignores another shape"
    assert "MK_NEW" in json.dumps(shown)


def test_an_mcp_tools_output_is_replaced_as_it_is() -> None:
    event = sent("PostToolUse", tool_name="mcp__a__b", tool_input={}, tool_response=[{"x": 1}])
    assert effect(event, rewrite(output="MK_NEW")).output == "MK_NEW"


def test_a_denied_output_is_replaced_too_because_a_block_keeps_it() -> None:
    event = decode(recorded("PostToolUse-Bash"))
    said = body(event, deny("MK_WHY"))
    assert (said["decision"], said["reason"]) == ("block", "MK_WHY")
    assert effect(event, deny("MK_WHY")).output["stdout"] == "MK_WHY"


def test_a_halt_after_a_tool_ends_the_run() -> None:
    for native in ("PostToolUse", "PostToolBatch"):
        assert effect(sent(native), halt("enough")).does is Does.ENDS_THE_RUN


def test_of_a_failed_tool_the_model_is_told_the_reason_beside_the_error() -> None:
    event = sent("PostToolUseFailure")
    assert "MK_WHY" in effect(event, deny("MK_WHY")).context


def test_a_prompt_is_erased_and_never_rewritten() -> None:
    event = sent("UserPromptSubmit")
    assert body(event, deny("no")) == {"decision": "block", "reason": "no"}
    assert effect(event, deny("no")).does is Does.BLOCKS
    assert effect(event, halt("no")).does is Does.ENDS_THE_RUN
    assert effect(event, rewrite(prompt="other")).does is Does.BLOCKS
    assert effect(sent("UserPromptExpansion"), deny("no")).does is Does.BLOCKS


def test_a_session_cannot_be_kept_from_starting_so_a_halt_is_latched() -> None:
    event = sent("SessionStart")
    assert DIALECT.translate(outcome(event, halt("enough"))).latch == "enough"


@pytest.mark.parametrize("native", ["Stop", "SubagentStop"])
def test_an_agent_goes_on_with_the_reason_of_a_block(native: str) -> None:
    event = sent(native)
    assert body(event, follow_up("more", "tests")) == {
        "decision": "block",
        "reason": "more\n\ntests",
    }
    assert effect(event, follow_up("more")).follow_up == "more"


def test_a_halt_at_the_end_beats_a_follow_up() -> None:
    both = Answer(verdict=Verdict.HALT, reason="enough", follow_up=("more",))
    done = effect(sent("Stop"), both)
    assert (done.does, done.follow_up) == (Does.ENDS_THE_RUN, "")


@pytest.mark.parametrize("native", EXIT_2)
def test_some_events_are_blocked_by_exit_2_alone(native: str) -> None:
    event = sent(native)
    assert reply(event, deny("no")) == Reply(stderr=b"no", exit_code=2)
    assert effect(event, deny("no")).does is Does.BLOCKS


@pytest.mark.parametrize("native", ["TaskCompleted", "TeammateIdle"])
def test_tasks_and_team_mates_go_on_by_exit_2_alone(native: str) -> None:
    event = sent(native)
    assert reply(event, follow_up("more")) == Reply(stderr=b"more", exit_code=2)
    assert effect(event, follow_up("more")).follow_up == "more"


def test_a_compaction_is_cancelled_and_its_model_is_told_in_plain_text() -> None:
    event = sent("PreCompact")
    assert effect(event, deny("not now")).does is Does.BLOCKS
    assert reply(event, context("MK_KEEP")).stdout.strip().endswith(b"MK_KEEP")
    assert b"{" not in reply(event, context("MK_KEEP")).stdout


def test_a_cancelled_compaction_has_nothing_beside_the_block_that_would_void_it() -> None:
    both = Answer(verdict=Verdict.DENY, reason="not now", context=("MK_KEEP",))
    assert effect(sent("PreCompact"), both).does is Does.BLOCKS
    assert set(body(sent("PreCompact"), both)) == {"decision", "reason"}


def test_a_change_of_model_is_refused_or_asked_about() -> None:
    event = sent("PreModelSwitch")
    assert effect(event, deny("no")).does is Does.BLOCKS
    assert effect(event, ask("sure?")).does is Does.ASKS


def test_new_settings_are_not_applied() -> None:
    assert effect(sent("ConfigChange"), deny("no")).does is Does.BLOCKS


def test_settings_of_the_organisation_apply_all_the_same_and_that_is_recorded() -> None:
    event = sent("ConfigChange", source="policy_settings")
    denied = DIALECT.translate(outcome(event, deny("no")))
    assert [(change.was, change.now) for change in denied.substitutions] == [("deny", "nothing")]
    assert DIALECT.translate(outcome(event, halt("enough"))).latch == "enough"
    usual = DIALECT.translate(outcome(sent("ConfigChange"), deny("no")))
    assert (usual.substitutions, usual.latch) == ((), "")
    assert DIALECT.translate(outcome(event, PASS)).substitutions == ()


def test_a_shown_text_is_replaced() -> None:
    said = body(sent("MessageDisplay"), rewrite(display="MK_SHOWN"))
    assert said == own("MessageDisplay", displayContent="MK_SHOWN")


@pytest.mark.parametrize("native", NATIVE)
def test_a_refusal_closes_every_gate_and_keeps_nobody_going(native: str) -> None:
    done = client.obey(native, DIALECT.refuse(native, "broken"), {})
    cls = EVENTS[DIALECT.support.events[native].event]
    closed = cls.gate and not cls.continues and native != "SubagentStart"
    assert (done.does >= Does.BLOCKS) is closed
    assert not done.failed
    assert not done.follow_up


# ── what a hook of its says ─────────────────────────────────────────────────────────────────


def test_exit_2_blocks_whatever_stands_on_stdout() -> None:
    said = own("PreToolUse", permissionDecision="allow")
    assert read("PreToolUse", said, stderr=b"no\n", exit_code=2) == deny("no")


def test_exit_2_ends_the_run_after_a_batch_and_so_does_a_block() -> None:
    assert read("PostToolBatch", stderr=b"no", exit_code=2) == halt("no")
    assert read("PostToolBatch", {"decision": "block", "reason": "no"}) == halt("no")
    assert read("PostToolBatch", {"continue": False, "stopReason": "no"}) == halt("no")
    assert isinstance(sent("PostToolBatch"), PostToolBatch)


@pytest.mark.parametrize("native", ["SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch", "PreCompact", "PostCompact"])  # fmt: skip
def test_plain_text_is_context_on_these_events(native: str) -> None:
    assert read(native, "hello\n") == context("hello")


@pytest.mark.parametrize("native", ["PreToolUse", "PostToolUse", "Stop", "Setup", "SubagentStart"])
def test_plain_text_is_nothing_on_those(native: str) -> None:
    assert read(native, "hello\n") == PASS


@pytest.mark.parametrize("text", ['["deny"]', '"deny"', 'noise {"decision": "block"}', "5"])
def test_what_does_not_start_with_a_brace_is_plain_text(text: str) -> None:
    assert read("PreToolUse", text) == PASS


def test_plain_text_of_a_failed_hook_is_no_context() -> None:
    with pytest.raises(HandlerCrashed):
        read("UserPromptSubmit", "hello", exit_code=1)


def test_keys_that_nobody_knows_void_nothing() -> None:
    said = {"tomorrow": 1, **own("PreToolUse", permissionDecision="deny", tomorrow=1)}
    assert read("PreToolUse", said).verdict is Verdict.DENY


@pytest.mark.parametrize("name", [None, "PostToolUse"])
def test_a_missing_or_wrong_event_name_voids_the_answer(name: str | None) -> None:
    inner: dict[str, Any] = {"permissionDecision": "deny"}
    inner |= {} if name is None else {"hookEventName": name}
    with pytest.raises(HandlerAnswerError, match="hookEventName"):
        read("PreToolUse", {"hookSpecificOutput": inner})


@pytest.mark.parametrize("said", [{"additionalContext": "x"}, {"suppressOutput": True}])
def test_context_at_the_top_and_a_wish_for_silence_are_ignored(said: dict[str, Any]) -> None:
    assert read("PreToolUse", said) == PASS


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("allow", Verdict.ALLOW),
        ("ask", Verdict.ASK),
        ("deny", Verdict.DENY),
        ("defer", Verdict.ASK),
    ],
)
def test_each_word_before_a_tool_has_its_verdict(word: str, verdict: Verdict) -> None:
    said = own("PreToolUse", permissionDecision=word, permissionDecisionReason="why")
    assert read("PreToolUse", said).verdict is verdict


def test_new_input_counts_without_a_decision_and_replaces_all_of_the_old() -> None:
    event = sent("PreToolUse", tool_name="Bash", tool_input={"command": "a", "timeout": 5})
    said = json.dumps(own("PreToolUse", updatedInput={"command": "b"})).encode()
    answer = DIALECT.read_answer(event, stdout=said, stderr=b"", exit_code=0)
    assert answer == rewrite(command="b", timeout=None)


@pytest.mark.parametrize(
    ("decision", "verdict"),
    [
        ({"behavior": "allow"}, Verdict.ALLOW),
        ({"behavior": "deny", "message": "no"}, Verdict.DENY),
        ({"behavior": "deny", "message": "no", "interrupt": True}, Verdict.HALT),
    ],
)
def test_a_permission_hook_answers_by_behavior(decision: dict[str, Any], verdict: Verdict) -> None:
    assert read("PermissionRequest", own("PermissionRequest", decision=decision)).verdict is verdict


def test_a_permission_hook_refuses_by_exit_2_and_may_change_the_input() -> None:
    assert read("PermissionRequest", stderr=b"no", exit_code=2).verdict is Verdict.DENY
    decision = {"behavior": "allow", "updatedInput": {"command": "b"}, "updatedPermissions": [1]}
    answer = read("PermissionRequest", own("PermissionRequest", decision=decision))
    assert answer.rewrite.input is not None
    assert answer.rewrite.input["command"] == "b"
    assert answer.metadata == {"updatedPermissions": [1]}


@pytest.mark.parametrize("native", ["Stop", "SubagentStop"])
def test_an_agent_goes_on_by_block_exit_2_or_context(native: str) -> None:
    assert read(native, own(native, additionalContext="more")) == follow_up("more")
    assert read(native, {"decision": "block", "reason": "more"}) == deny("more")
    assert read(native, stderr=b"more", exit_code=2) == deny("more")
    assert "gave no reason" in read(native, {"decision": "block"}).reason


def test_continue_false_beats_a_block_at_the_end() -> None:
    both = {"continue": False, "stopReason": "enough", "decision": "block", "reason": "more"}
    assert read("Stop", both) == halt("enough")


@pytest.mark.parametrize("native", ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"])
def test_continue_false_ends_the_run_on_these_events(native: str) -> None:
    assert read(native, {"continue": False, "stopReason": "enough"}) == halt("enough")


def test_continue_false_lets_a_sub_agent_end_and_nobody_else() -> None:
    both = {"continue": False, "decision": "block", "reason": "more", "systemMessage": "hi"}
    assert read("SubagentStop", both) == notice("hi")
    assert read("SubagentStop", {"continue": False}) == PASS


def test_a_system_message_is_for_the_person() -> None:
    assert read("PreToolUse", {"systemMessage": "hi"}) == notice("hi")


def test_a_shown_text_is_replaced_by_a_hook() -> None:
    answer = read("MessageDisplay", own("MessageDisplay", displayContent="x"))
    assert answer.rewrite == Rewrite(display="x")


def test_an_mcp_output_may_be_replaced_under_its_old_name() -> None:
    answer = read("PostToolUse", own("PostToolUse", updatedMCPToolOutput="x"))
    assert answer.rewrite == Rewrite(output="x")


# ── how a hook is run ───────────────────────────────────────────────────────────────────────


def fired(project: Path, event: Event, hooks: Any, **options: Any) -> Outcome:
    path = project / ".claude" / "settings.json"
    file = FILES.read(str(path), json.dumps({"hooks": hooks}).encode())
    return host(FILES, [file], event, project=project, **options)


def on(event: str, *lines: str, **more: Any) -> dict[str, Any]:
    return {event: [{"hooks": [{"type": "command", "command": line, **more} for line in lines]}]}


def bash(line: str = "ls", **more: Any) -> events.PreToolUse:
    return events.PreToolUse(tool=tool("shell", command=line), **more)


def test_a_payload_is_one_line_with_its_end(tmp_path: Path) -> None:
    fired(tmp_path, bash(), on("PreToolUse", "cat > seen"))
    seen = (tmp_path / "seen").read_bytes()
    assert (seen.count(b"\n"), seen[-1:]) == (1, b"\n")


def test_a_hook_has_the_callers_environment_and_no_terminal(tmp_path: Path) -> None:
    line = 'echo "$ANTHROPIC_API_KEY" > seen; (: < /dev/tty) 2> no-tty || echo none >> seen'
    fired(tmp_path, bash(), on("PreToolUse", line), env={"ANTHROPIC_API_KEY": "k"})
    assert (tmp_path / "seen").read_text() == "k\nnone\n"


def test_a_directory_that_is_gone_does_not_keep_a_hook_from_running(tmp_path: Path) -> None:
    gone = bash(cwd=str(tmp_path / "gone"))
    assert fired(tmp_path, gone, on("PreToolUse", "touch ran; exit 2")).verdict is Verdict.DENY
    assert (tmp_path / "ran").exists(), "it runs in the project instead"


def test_exec_form_finds_its_program_on_the_path_and_expands_nothing(tmp_path: Path) -> None:
    script = "import sys; open('seen', 'w').write(' '.join(sys.argv[1:]))"
    hooks = on("PreToolUse", "python3", args=["-c", script, "$HOME", "*", "a b"])
    fired(tmp_path, bash(), hooks)
    assert (tmp_path / "seen").read_text() == "$HOME * a b"


def test_a_helper_that_holds_stdout_delays_nobody(tmp_path: Path) -> None:
    outcome = fired(tmp_path, bash(), on("PreToolUse", "sleep 60 & exit 2", timeout=40))
    assert outcome.verdict is Verdict.DENY
    assert [run.failed for run in outcome.runs] == [None]


def test_a_hook_need_not_read_what_it_is_sent(tmp_path: Path) -> None:
    large = bash("x" * 300_000)
    assert fired(tmp_path, large, on("PreToolUse", "exit 2")).verdict is Verdict.DENY


def test_context_of_every_hook_is_kept(tmp_path: Path) -> None:
    lines = [f"echo '{json.dumps(own('PreToolUse', additionalContext=text))}'" for text in "ab"]
    assert fired(tmp_path, bash(), on("PreToolUse", *lines)).answer.context == ("a", "b")


def test_ask_beats_allow_and_one_allow_grants(tmp_path: Path) -> None:
    def says(word: str) -> str:
        said = own("PreToolUse", permissionDecision=word, permissionDecisionReason=word)
        return f"echo '{json.dumps(said)}'"

    both = on("PreToolUse", says("allow"), says("ask"))
    assert fired(tmp_path, bash(), both).verdict is Verdict.ASK
    one = on("PreToolUse", says("allow"), "true")
    assert fired(tmp_path, bash(), one).verdict is Verdict.ALLOW


def test_a_deny_does_not_cancel_its_slower_siblings(tmp_path: Path) -> None:
    slow = "sleep 0.3; touch late"
    fired(tmp_path, bash(), on("PreToolUse", "exit 2", slow))
    assert (tmp_path / "late").exists()


@pytest.mark.parametrize("line", ["exit 1", "no-such-program-anywhere", "sleep 60"])
def test_a_failed_hook_never_keeps_an_agent_going(tmp_path: Path, line: str) -> None:
    hooks = on("Stop", line, onFailure="block", timeout=0.3)
    outcome = fired(tmp_path, events.Stop(), hooks)
    assert outcome.answer.follow_up == ()
    assert outcome.verdict is Verdict.PASS


def test_a_hook_that_is_too_slow_blocks_when_it_says_so(tmp_path: Path) -> None:
    hooks = on("PreToolUse", "sleep 60", onFailure="block", timeout=0.3)
    assert fired(tmp_path, bash(), hooks).verdict is Verdict.DENY


def test_with_on_failure_block_an_allow_with_exit_1_blocks(tmp_path: Path) -> None:
    allowed = json.dumps(own("PreToolUse", permissionDecision="allow"))
    hooks = on("PreToolUse", f"echo '{allowed}'; exit 1", onFailure="block")
    assert fired(tmp_path, bash(), hooks).verdict is Verdict.DENY


def test_exit_2_after_a_tool_tells_the_model(tmp_path: Path) -> None:
    ran = events.PostToolUse(tool=tool("shell", command="ls"))
    outcome = fired(tmp_path, ran, on("PostToolUse", "echo MK_WHY >&2; exit 2"))
    assert (outcome.verdict, "MK_WHY" in outcome.reason) == (Verdict.DENY, True)
    failed = events.PostToolUseFailure(tool=tool("shell", command="ls"), error="x")
    told = fired(tmp_path, failed, on("PostToolUseFailure", "echo MK_WHY >&2; exit 2"))
    assert "MK_WHY" in told.reason + "".join(told.answer.context)


def test_a_session_goes_on_after_exit_2_at_its_start(tmp_path: Path) -> None:
    hooks = on("SessionStart", "echo MK_WHY >&2; exit 2")
    outcome = fired(tmp_path, events.SessionStart(), hooks)
    assert outcome.verdict is Verdict.PASS
    assert "MK_WHY" in "".join((*outcome.answer.context, *outcome.answer.notice))


@pytest.mark.parametrize(
    "event",
    [
        events.UserPromptSubmit(prompt="x"),
        events.PromptExpansion(command="x"),
        events.ConfigChange(source="user_settings"),
        events.PreCompact(),
        events.PreModelSwitch(to_model="x"),
        events.Elicitation(server="x"),
        events.TaskCreated(),
        events.WorktreeCreate(name="x"),
        events.PermissionRequest(tool=tool("shell", command="ls")),
    ],
)
def test_exit_2_blocks_on_these_events(tmp_path: Path, event: Event) -> None:
    outcome = fired(tmp_path, event, on(DIALECT.native_of(event), "echo MK_WHY >&2; exit 2"))
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("MK_WHY")


@pytest.mark.parametrize(
    "event", [events.Stop(), events.SubagentStop(), events.TaskCompleted(), events.TeammateIdle()]
)
def test_exit_2_keeps_these_going(tmp_path: Path, event: Event) -> None:
    outcome = fired(tmp_path, event, on(DIALECT.native_of(event), "echo MK_MORE >&2; exit 2"))
    assert outcome.answer.follow_up == ("MK_MORE",)


def test_an_unreachable_server_blocks_nothing_unless_it_says_so(tmp_path: Path) -> None:
    handler = {"type": "http", "url": "http://127.0.0.1:9/none"}
    hooks = {"PreToolUse": [{"hooks": [handler]}]}
    assert fired(tmp_path, bash(), hooks).verdict is Verdict.PASS
    closed = {"PreToolUse": [{"hooks": [{**handler, "onFailure": "block"}]}]}
    assert fired(tmp_path, bash(), closed).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("old", "new"),
    [("KillShell", "TaskStop"), ("Brief", "SendUserMessage"), ("ListPeers", "ListAgents"), ("ReadMcpResource", "ReadMcpResourceTool")],
)  # fmt: skip
def test_matchers_still_know_tools_by_their_old_names(old: str, new: str) -> None:
    hooks = {"PreToolUse": [{"matcher": old, "hooks": [{"type": "command", "command": "x"}]}]}
    file = FILES.read("/w/.claude/settings.json", json.dumps({"hooks": hooks}).encode())
    call = registry.tools("claude-code").read(new, {})
    assert FILES.matches(file.entries[0], events.PreToolUse(tool=call))


def test_a_sub_agents_calls_reach_the_hooks_of_settings(tmp_path: Path) -> None:
    inside = bash(agent=Agent(name="Plan", depth=1, id="a1"))
    outcome = fired(tmp_path, inside, on("PreToolUse", "cat > seen; exit 2"))
    assert outcome.verdict is Verdict.DENY
    seen = json.loads((tmp_path / "seen").read_text())
    assert (seen["agent_id"], seen["agent_type"]) == ("a1", "Plan")


def test_a_broken_file_takes_no_other_along(tmp_path: Path) -> None:
    broken = FILES.read(f"{tmp_path}/.claude/settings.local.json", b"{")
    hooks = json.dumps({"hooks": on("PreToolUse", "exit 2")}).encode()
    good = FILES.read(f"{tmp_path}/.claude/settings.json", hooks)
    assert host(FILES, [broken, good], bash(), project=tmp_path).verdict is Verdict.DENY


def test_hooks_of_all_files_run(tmp_path: Path) -> None:
    files = [
        FILES.read(
            f"{folder}/.claude/{name}", json.dumps({"hooks": on("PreToolUse", line)}).encode()
        )
        for folder, name, line in (
            (tmp_path, "settings.local.json", "echo local >> ran"),
            (tmp_path, "settings.json", "echo project >> ran"),
            (tmp_path / "home", "settings.json", "echo user >> ran"),
        )
    ]
    host(FILES, files, bash(), project=tmp_path)
    assert sorted((tmp_path / "ran").read_text().split()) == ["local", "project", "user"]


def test_a_server_is_heard_when_it_answers_with_an_object(tmp_path: Path) -> None:
    prompt = events.UserPromptSubmit(prompt="x")
    with answering(b"") as url:
        hooks = {"UserPromptSubmit": [{"hooks": [{"type": "http", "url": url}]}]}
        assert fired(tmp_path, prompt, hooks).answer == PASS
    said = json.dumps(own("UserPromptSubmit", additionalContext="MK_CONTEXT")).encode()
    with answering(said) as url:
        hooks = {"UserPromptSubmit": [{"hooks": [{"type": "http", "url": url}]}]}
        assert fired(tmp_path, prompt, hooks).answer.context == ("MK_CONTEXT",)


@pytest.mark.parametrize(
    ("more", "verdict"), [({}, Verdict.PASS), ({"onFailure": "block"}, Verdict.DENY)]
)
def test_a_server_that_answers_in_plain_text_has_failed(
    tmp_path: Path, more: dict[str, str], verdict: Verdict
) -> None:
    with answering(b"<html>log in first</html>") as url:
        hooks = {"PreToolUse": [{"hooks": [{"type": "http", "url": url, **more}]}]}
        outcome = fired(tmp_path, bash(), hooks)
    assert outcome.verdict is verdict
    assert "no JSON object" in str(outcome.runs[0].failed)


@contextmanager
def answering(content: bytes) -> Iterator[str]:
    """The address of a server that gives one answer to everything."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}/"
        finally:
            listening.shutdown()
            thread.join()
