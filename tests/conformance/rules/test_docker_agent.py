"""Rules of docker-agent's that no other test shows: what a dispatch makes of several hooks."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from hookline.dialects._install import closes
from hookline.dialects.docker_agent import DIALECT
from hookline.dialects.docker_agent.files import FILES
from hookline.dialects.docker_agent.install import INSTALLER
from hookline.model.answers import Answer, Verdict
from hookline.model.events import (
    Agent,
    BeforeCompaction,
    Event,
    PermissionRequest,
    PostToolUse,
    PreCompact,
    PreToolUse,
    SubagentStop,
    ToolResponseTransform,
    TurnEnd,
    TurnStart,
    UserPromptSubmit,
    WorktreeCreate,
)
from hookline.model.hook import Layer
from hookline.model.installing import Call, Scope, Target
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import tool
from support.clients import docker_agent as client
from support.clients.effects import Does
from support.hosts import host

SHELL = tool("shell", command="ls")


def fired(project: Path, event: str, on: Event, *lines: str, **keys: Any) -> Outcome:
    hooks = [{"type": "command", "command": line, **keys} for line in lines]
    matched = event in {"pre_tool_use", "permission_request", "tool_response_transform"}
    matched = matched or event == "post_tool_use"
    listed: list[Any] = [{"hooks": hooks}] if matched else hooks
    file = project / "agent.yaml"
    file.write_text(json.dumps({"agents": {"root": {"hooks": {event: listed}}}}))
    return host(FILES, [file], on, project=project)


def own(**fields: Any) -> str:
    return f"echo '{json.dumps({'hook_specific_output': fields})}'"


def says(word: str, reason: str) -> str:
    return own(permission_decision=word, permission_decision_reason=reason)


# Each waits for the other's mark, so neither ends unless both run at once.
MEET = "touch {0}; for i in $(seq 200); do [ -e {1} ] && exit 0; sleep 0.05; done; exit 2"


def test_hooks_of_one_dispatch_run_at_the_same_time(tmp_path: Path) -> None:
    outcome = fired(
        tmp_path,
        "user_prompt_submit",
        UserPromptSubmit(prompt="x"),
        MEET.format("a", "b"),
        MEET.format("b", "a"),
    )
    assert outcome.verdict is Verdict.PASS


def test_a_deny_waits_for_the_others(tmp_path: Path) -> None:
    outcome = fired(
        tmp_path,
        "user_prompt_submit",
        UserPromptSubmit(prompt="x"),
        "echo no >&2; exit 2",
        "sleep 0.2; touch late",
    )
    assert outcome.verdict is Verdict.DENY
    assert (tmp_path / "late").exists()


@pytest.mark.parametrize(
    ("words", "verdict", "reason"),
    [
        (("allow", "ask", "deny"), Verdict.DENY, "deny 2"),
        (("ask", "allow", "ask"), Verdict.ASK, "ask 0"),
        (("allow", "allow"), Verdict.ALLOW, "allow 0"),
    ],
)
def test_the_strongest_permission_counts_and_the_first_of_equals_gives_the_reason(
    tmp_path: Path, words: tuple[str, ...], verdict: Verdict, reason: str
) -> None:
    lines = [says(word, f"{word} {place}") for place, word in enumerate(words)]
    outcome = fired(tmp_path, "pre_tool_use", PreToolUse(tool=SHELL), *lines)
    assert outcome.verdict is verdict
    assert outcome.reason.startswith(reason)


def test_a_deny_anywhere_beats_an_allow_of_a_request(tmp_path: Path) -> None:
    asked = PermissionRequest(tool=SHELL)
    lines = (says("deny", "no"), says("allow", "yes"))
    assert fired(tmp_path, "permission_request", asked, *lines).verdict is Verdict.DENY
    silent = fired(tmp_path, "permission_request", asked, "true")
    assert silent.verdict is Verdict.PASS


def test_reasons_of_several_blocks_are_joined_in_order(tmp_path: Path) -> None:
    lines = ("sleep 0.1; echo one >&2; exit 2", "echo two >&2; exit 2")
    prompt = UserPromptSubmit(prompt="x")
    reason = fired(tmp_path, "user_prompt_submit", prompt, *lines).reason
    assert reason.index("one") < reason.index("two")


def test_of_metadata_the_last_in_order_counts_for_each_key(tmp_path: Path) -> None:
    lines = (own(metadata={"a": "1", "b": "1"}), own(metadata={"b": "2"}))
    outcome = fired(tmp_path, "permission_request", PermissionRequest(tool=SHELL), *lines)
    assert outcome.answer.metadata == {"a": "1", "b": "2"}


def test_new_values_are_laid_over_the_input_key_by_key(tmp_path: Path) -> None:
    call = tool("write", path="a", content="x")
    lines = (own(updated_input={"path": "b"}), own(updated_input={"content": "y"}))
    final = fired(tmp_path, "pre_tool_use", PreToolUse(tool=call), *lines).final
    assert isinstance(final, PreToolUse)
    assert (final.tool.path, final.tool.content) == ("b", "y")


def test_messages_to_the_person_are_all_shown(tmp_path: Path) -> None:
    lines = [f"echo '{json.dumps({'system_message': word})}'" for word in ("one", "two")]
    assert fired(tmp_path, "turn_start", TurnStart(), *lines).answer.notice == ("one", "two")


def test_a_response_can_be_rewritten_to_nothing_and_not_blocked(tmp_path: Path) -> None:
    done = ToolResponseTransform(tool=replace(SHELL, output="secret"))
    empty = fired(tmp_path, "tool_response_transform", done, own(updated_tool_response=""))
    assert empty.answer.rewrite.output == ""
    line = 'echo \'{"decision": "block", "reason": "no"}\''
    blocked = fired(tmp_path, "tool_response_transform", done, line)
    assert blocked.verdict is Verdict.PASS


def test_of_summaries_the_first_in_order_counts(tmp_path: Path) -> None:
    lines = ("true", own(summary="first"), own(summary="second", additional_context="more"))
    outcome = fired(tmp_path, "before_compaction", BeforeCompaction(), *lines)
    assert outcome.answer.rewrite.summary == "first"
    assert outcome.answer.context == ("more",)


def test_a_finished_child_is_not_told_to_its_own_hooks(tmp_path: Path) -> None:
    agents = {
        name: {"hooks": {"subagent_stop": [{"type": "command", "command": f"touch {name}"}]}}
        for name in ("root", "helper")
    }
    file = tmp_path / "agent.yaml"
    file.write_text(json.dumps({"agents": agents}))
    host(FILES, [file], SubagentStop(agent=Agent(name="helper", depth=1)), project=tmp_path)
    assert ((tmp_path / "root").exists(), (tmp_path / "helper").exists()) == (True, False)


@pytest.mark.parametrize(
    ("event", "line", "verdict"),
    [
        ("tool_guard", says("deny", "no"), Verdict.DENY),
        ("tool_guard", says("ask", "sure?"), Verdict.ASK),
        ("tool_guard", says("allow", "fine"), Verdict.PASS),  # advice, as before all approval
        ("tool_guard", "exit 1", Verdict.DENY),
        ("tool_input_transform", own(updated_input={"cmd": "ls -l"}), Verdict.PASS),
    ],
)
def test_events_of_later_versions_guard_and_rewrite_calls(
    event: str, line: str, verdict: Verdict, tmp_path: Path
) -> None:
    file = tmp_path / "hooks.yaml"
    entry = {"matcher": "shell", "hooks": [{"type": "command", "command": line}]}
    file.write_text(json.dumps({event: [entry]}))
    assert FILES.owns(str(file), file.read_bytes())
    assert FILES.read(str(file), file.read_bytes()).flaws == ()
    outcome = host(FILES, [file], PreToolUse(tool=SHELL), project=tmp_path)
    assert outcome.verdict is verdict
    final = outcome.final
    command = final.tool.command if isinstance(final, PreToolUse) else SHELL.command
    assert command == ("ls -l" if event == "tool_input_transform" else "ls")


def test_a_block_after_a_tool_ends_the_run(tmp_path: Path) -> None:
    outcome = fired(tmp_path, "post_tool_use", PostToolUse(tool=SHELL), "echo enough >&2; exit 2")
    assert (outcome.verdict, outcome.reason.split("\n")[0][:6]) == (Verdict.HALT, "enough")


def test_a_hook_has_its_variables_over_the_callers(tmp_path: Path) -> None:
    outcome = fired(tmp_path, "turn_start", TurnStart(), 'echo "$A $PWD"', env={"A": "own"})
    assert outcome.answer.context == (f"own {tmp_path}",)


def test_a_directory_is_absolute_or_below_where_the_agent_works(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for given in ("below", str(tmp_path / "below")):
        outcome = fired(tmp_path, "turn_start", TurnStart(), "pwd", working_dir=given)
        assert outcome.answer.context == (str(tmp_path / "below"),)


@pytest.mark.parametrize(
    ("native", "event"),
    [
        ("permission_request", PermissionRequest(tool=SHELL)),
        ("user_prompt_submit", UserPromptSubmit(prompt="x")),
        ("pre_compact", PreCompact(trigger="auto")),
        ("before_compaction", BeforeCompaction()),
        ("worktree_create", WorktreeCreate(path="/w")),
    ],
)
def test_a_plain_block_denies_where_the_table_says_so(
    tmp_path: Path, native: str, event: Event
) -> None:
    line = 'echo \'{"decision": "block", "reason": "no"}\''
    assert fired(tmp_path, native, event, line).verdict is Verdict.DENY


def test_keys_that_nobody_knows_or_that_do_nothing_cost_nothing(tmp_path: Path) -> None:
    line = 'echo \'{"suppress_output": true, "unheard": 1, "system_message": "hi"}\''
    outcome = fired(tmp_path, "turn_start", TurnStart(), line)
    assert outcome.answer.notice == ("hi",)


def test_what_only_observes_stops_nothing(tmp_path: Path) -> None:
    outcome = fired(tmp_path, "turn_end", TurnEnd(), "echo no >&2; exit 2")
    assert outcome.verdict is Verdict.PASS


def test_the_lane_before_all_approval_is_one_of_tool_calls_only() -> None:
    hook = {"type": "command", "command": "true"}
    entry = {"preempt_yolo": True, "hooks": [hook]}
    text = json.dumps({"hooks": {"pre_tool_use": [entry], "post_tool_use": [entry]}})
    file = FILES.read("/p/agent.yaml", text.encode())
    found = FILES.hooks([file], layer=Layer.USER, project_dir="/p")
    assert [each.native for each in found] == ["pre_tool_use+preempt", "post_tool_use"]


@pytest.mark.parametrize(
    "native",
    [
        *("notification", "on_error", "on_max_iterations", "on_agent_switch", "on_session_resume"),
        *("on_tool_approval_decision", "before_llm_call", "after_llm_call", "subagent_stop"),
        *("on_user_input", "session_end"),
    ],
)
def test_a_message_that_nobody_is_shown_is_not_sent_and_its_loss_is_recorded(native: str) -> None:
    event = DIALECT.decode(json.dumps(client.payload(native)).encode(), native)
    outcome = Outcome(event=event, answer=Answer(notice=("look",)))
    assert DIALECT.encode(outcome) == Reply()
    assert [(each.was, each.now) for each in DIALECT.translate(outcome).substitutions] == [
        ("notice", "nothing")
    ]


def test_with_hookline_gone_gates_are_refused_in_words_and_nothing_else_is() -> None:
    drop_in = Target(file="/c/hooks.d/hookline.yaml", scope=Scope.USER)
    gone = Call(program=("/nowhere/hookline",))
    for native, items in yaml.safe_load(INSTALLER.add(drop_in, None, gone)).items():
        for item in items:
            lane = "pre_tool_use+preempt" if item.get("preempt_yolo") else native
            command = item.get("hooks", [item])[0]["command"]
            done = subprocess.run(
                ["sh", "-c", command], input=b"{}", capture_output=True, timeout=30, check=False
            )
            reply = Reply(stdout=done.stdout, stderr=done.stderr, exit_code=done.returncode)
            does = client.obey(lane, reply, {}).does
            assert (does >= Does.BLOCKS) is closes(DIALECT.support, lane), lane
