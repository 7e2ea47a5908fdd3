"""Codex's rules that its other tests do not show: how answers and files of several add up."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.codex import DIALECT
from hookline.dialects.codex.files import FILES
from hookline.model.answers import Answer, Verdict, context, deny, follow_up, halt
from hookline.model.events import (
    Event,
    PermissionRequest,
    PreCompact,
    PreToolUse,
    SessionStart,
    Stop,
    SubagentStart,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import tool
from support.clients import codex as client
from support.hosts import host

BASH = PreToolUse(tool=tool("shell", command="ls"))
ASKED = PermissionRequest(tool=tool("shell", command="ls"))


def fired(project: Path, event: Event, *commands: str, **keys: Any) -> Outcome:
    """The commands as hooks of the event's own native name, run on it."""
    native = DIALECT.native_of(event)
    hooks = [{"type": "command", "command": command, **keys} for command in commands]
    text = json.dumps({"hooks": {native: [{"hooks": hooks}]}})
    file = FILES.read(f"{project}/.codex/hooks.json", text.encode())
    return host(FILES, [file], event, project=project)


def says(body: Any) -> str:
    return f"echo '{json.dumps(body)}'"


def own(native: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": native, **fields}}


def read(native: str, said: object) -> Answer:
    event = DIALECT.decode(json.dumps(client.payload(native)).encode())
    return DIALECT.read_answer(event, stdout=json.dumps(said).encode(), stderr=b"", exit_code=0)


def test_a_payload_has_no_line_end(tmp_path: Path) -> None:
    fired(tmp_path, BASH, "cat > seen")
    assert (tmp_path / "seen").read_bytes().endswith(b"}")


def test_a_deny_beats_an_allow_of_a_permission(tmp_path: Path) -> None:
    given = says(own("PermissionRequest", decision={"behavior": "allow"}))
    refused = says(own("PermissionRequest", decision={"behavior": "deny", "message": "MK_NO"}))
    outcome = fired(tmp_path, ASKED, given, refused)
    assert (outcome.verdict, "MK_NO" in outcome.reason) == (Verdict.DENY, True)
    assert fired(tmp_path, ASKED, given, "true").verdict is Verdict.ALLOW


def test_a_permission_answer_with_more_than_a_decision_leaves_the_question(tmp_path: Path) -> None:
    more: dict[str, Any]
    for more in ({"updatedInput": {}}, {"updatedPermissions": []}, {"interrupt": True}):
        decision = {"behavior": "deny", **more}
        outcome = fired(tmp_path, ASKED, says(own("PermissionRequest", decision=decision)))
        assert outcome.verdict is Verdict.PASS
        assert outcome.answer.notice


def test_all_reasons_to_go_on_are_told_in_configured_order(tmp_path: Path) -> None:
    first = f"sleep 0.2; {says({'decision': 'block', 'reason': 'one'})}"
    outcome = fired(tmp_path, Stop(), first, "echo two >&2; exit 2")
    assert outcome.answer.follow_up == ("one", "two")


def test_one_that_stops_beats_all_that_go_on(tmp_path: Path) -> None:
    more = says({"decision": "block", "reason": "one"})
    outcome = fired(tmp_path, Stop(), more, says({"continue": False, "stopReason": "enough"}))
    assert (outcome.verdict, outcome.reason.startswith("enough")) == (Verdict.HALT, True)


def test_a_blocked_prompt_keeps_its_context() -> None:
    said = {"decision": "block", "reason": "no", **own("UserPromptSubmit", additionalContext="C")}
    assert read("UserPromptSubmit", said) == deny("no", context="C")


def test_one_blocked_prompt_is_enough(tmp_path: Path) -> None:
    outcome = fired(tmp_path, UserPromptSubmit(prompt="x"), "echo hello", "echo no >&2; exit 2")
    assert outcome.verdict is Verdict.DENY
    assert outcome.answer.context == ("hello",)


def test_contexts_stand_in_configured_order(tmp_path: Path) -> None:
    outcome = fired(tmp_path, SessionStart(), "sleep 0.2; echo one", "echo two")
    assert outcome.answer.context == ("one", "two")


def test_continue_false_ends_a_session_at_its_start(tmp_path: Path) -> None:
    stop = says({"continue": False, "stopReason": "enough"})
    assert fired(tmp_path, SessionStart(), stop).verdict is Verdict.HALT
    assert fired(tmp_path, SessionStart(), "echo no >&2; exit 2").verdict is Verdict.PASS


def test_a_compaction_is_stopped_by_continue_false_and_by_nothing_else(tmp_path: Path) -> None:
    assert fired(tmp_path, PreCompact(), says({"continue": False})).verdict is Verdict.HALT
    block = says({"decision": "block", "reason": "no"})
    for line in (block, "echo no >&2; exit 2"):
        outcome = fired(tmp_path, PreCompact(), line)
        assert outcome.verdict is Verdict.PASS
        assert len([run for run in outcome.runs if run.failed]) == 1


def test_a_sub_agent_cannot_be_kept_from_starting(tmp_path: Path) -> None:
    assert read("SubagentStart", {"continue": False}).verdict is Verdict.PASS
    assert fired(tmp_path, SubagentStart(), "echo no >&2; exit 2").verdict is Verdict.PASS


def test_a_deny_beats_a_new_input(tmp_path: Path) -> None:
    changed = says(own("PreToolUse", permissionDecision="allow", updatedInput={"command": "id"}))
    outcome = fired(tmp_path, BASH, changed, "echo no >&2; exit 2")
    assert outcome.verdict is Verdict.DENY


def test_an_allow_with_a_new_input_grants_nothing(tmp_path: Path) -> None:
    changed = says(own("PreToolUse", permissionDecision="allow", updatedInput={"command": "id"}))
    outcome = fired(tmp_path, BASH, changed)
    assert outcome.verdict is Verdict.PASS
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.command == "id"


def test_keys_of_a_hook_that_codex_does_not_know_change_nothing(tmp_path: Path) -> None:
    keys = {"if": "Bash(never)", "once": True, "shell": "fish"}
    assert fired(tmp_path, BASH, "echo no >&2; exit 2", **keys).verdict is Verdict.DENY


def test_hooks_of_both_files_of_a_folder_run(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "echo json >> ran"}
    text = json.dumps({"description": "d", "hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    toml = '[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "echo toml >> ran" }]\n'
    files = [
        FILES.read(f"{tmp_path}/.codex/hooks.json", text.encode()),
        FILES.read(f"{tmp_path}/.codex/config.toml", toml.encode()),
    ]
    host(FILES, files, BASH, project=tmp_path)
    assert sorted((tmp_path / "ran").read_text().split()) == ["json", "toml"]


def test_an_unknown_event_in_a_file_costs_nothing_but_itself(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "echo no >&2; exit 2"}
    hooks = {"PreTeleport": [{"hooks": [hook]}], "PreToolUse": [{"hooks": [hook]}]}
    file = FILES.read(f"{tmp_path}/.codex/hooks.json", json.dumps({"hooks": hooks}).encode())
    assert host(FILES, [file], BASH, project=tmp_path).verdict is Verdict.DENY


def test_nobody_waits_for_a_hook_in_the_background(tmp_path: Path) -> None:
    line = "until [ -e go ]; do sleep 0.01; done; touch done; echo no >&2; exit 2"
    assert fired(tmp_path, BASH, line, **{"async": True}).verdict is Verdict.PASS
    assert not (tmp_path / "done").exists()
    (tmp_path / "go").touch()
    end = time.monotonic() + 30
    while not (tmp_path / "done").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert (tmp_path / "done").exists(), "and it runs to its end"


def test_a_hook_need_not_read_what_it_is_sent(tmp_path: Path) -> None:
    large = PreToolUse(tool=tool("shell", command="x" * 300_000))
    assert fired(tmp_path, large, "echo no >&2; exit 2").verdict is Verdict.DENY


def test_a_tool_of_its_own_name_is_shown_under_it(tmp_path: Path) -> None:
    call = DIALECT.tools.read("get_goal", {"x": 1})
    fired(tmp_path, PreToolUse(tool=call), "cat > seen")
    seen = json.loads((tmp_path / "seen").read_text())
    assert (seen["tool_name"], seen["tool_input"]) == ("get_goal", {"x": 1})


@pytest.mark.parametrize(
    ("native", "answer"),
    [("PreToolUse", deny("no")), ("Stop", follow_up("go")), ("SessionStart", halt("no"))],
)
def test_no_reply_has_a_key_that_would_void_it(native: str, answer: Answer) -> None:
    payload = client.payload(native)
    event = DIALECT.decode(json.dumps(payload).encode())
    reply = DIALECT.encode(Outcome(event=event, answer=answer))
    assert client.obey(native, reply, payload).failed == ""
    spoiled = Reply(stdout=json.dumps({**json.loads(reply.stdout), "hookline": 1}).encode())
    assert client.obey(native, spoiled, payload).failed, "or this would show nothing"


def test_context_beside_a_permission_is_no_key_of_the_clients() -> None:
    event = DIALECT.decode(json.dumps(client.payload("PermissionRequest")).encode())
    assert (
        b"additionalContext" not in DIALECT.encode(Outcome(event=event, answer=context("C"))).stdout
    )
