"""Rules of Cursor's that no other test shows: exit 2, Claude Code's names, and our own entries."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.cursor import DIALECT
from hookline.dialects.cursor.install import INSTALLER
from hookline.model.answers import Answer, deny
from hookline.model.events import (
    EVENTS,
    Event,
    PostToolUseFailure,
    SessionEnd,
    SubagentStart,
    UserPromptSubmit,
)
from hookline.model.installing import Scope
from hookline.model.verdicts import Verdict
from support.clients import cursor as client
from support.installing import CALL, machine_at


def decoded(native: str, **fields: Any) -> Event:
    return DIALECT.decode(json.dumps({**client.payload(native), **fields}).encode(), None)


def read(native: str, body: Any = None, **given: Any) -> Answer:
    out = b"" if body is None else json.dumps(body).encode()
    asked = {"stdout": out, "stderr": b"", "exit_code": 0, **given}
    return DIALECT.read_answer(decoded(native), **asked)


# ── payloads ────────────────────────────────────────────────────────────────────────────────


def test_what_an_event_is_about_is_read_from_its_own_keys() -> None:
    prompt = decoded("beforeSubmitPrompt")
    assert isinstance(prompt, UserPromptSubmit)
    assert prompt.prompt == "do it"
    ended = decoded("sessionEnd")
    assert isinstance(ended, SessionEnd)
    assert ended.reason == "completed"
    failed = decoded("postToolUseFailure")
    assert isinstance(failed, PostToolUseFailure)
    assert (failed.error, failed.tool.ok) == ("no", False)
    assert isinstance(decoded("subagentStart"), SubagentStart)


@pytest.mark.parametrize(
    ("claude", "own"),
    [
        ("PreToolUse", "preToolUse"),
        ("PostToolUse", "postToolUse"),
        ("UserPromptSubmit", "beforeSubmitPrompt"),
        ("Stop", "stop"),
        ("SubagentStop", "subagentStop"),
        ("SessionStart", "sessionStart"),
        ("SessionEnd", "sessionEnd"),
        ("PreCompact", "preCompact"),
    ],
)
def test_claude_codes_names_mean_its_own_events(claude: str, own: str) -> None:
    event = decoded(own, hook_event_name=claude)
    assert event.native_event == own
    assert type(event) is EVENTS[DIALECT.support.events[own].event]


# ── answers ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("native", ["preToolUse", "beforeShellExecution", "beforeSubmitPrompt"])
def test_exit_2_denies_where_something_is_asked_for(native: str) -> None:
    assert read(native, stderr=b"no", exit_code=2) == deny("no")


@pytest.mark.parametrize("native", ["stop", "subagentStop"])
def test_exit_2_keeps_no_agent_going(native: str) -> None:
    answer = read(native, stderr=b"again", exit_code=2)
    assert (answer.verdict, answer.follow_up) == (Verdict.PASS, ())
    assert answer.notice == ("again",)


def test_of_two_permissions_in_one_answer_the_stricter_counts() -> None:
    own = {"permissionDecision": "deny", "permissionDecisionReason": "policy"}
    answer = read("preToolUse", {"permission": "allow", "hookSpecificOutput": own})
    assert answer == deny("policy")
    asked = read("preToolUse", {"permission": "ask", "hookSpecificOutput": own})
    assert asked.verdict is Verdict.DENY


def test_a_session_starts_whatever_a_hook_says_of_going_on() -> None:
    answer = read("sessionStart", {"continue": False, "user_message": "no"})
    assert answer.verdict is Verdict.PASS


# ── installing ──────────────────────────────────────────────────────────────────────────────


def entries(tmp_path: Path, scope: Scope) -> dict[str, Any]:
    (target,) = INSTALLER.targets(machine_at(tmp_path), scope, shared=False)
    written = json.loads(INSTALLER.add(target, None, CALL))
    assert written["version"] == 1
    return {event: entry for event, (entry,) in written["hooks"].items()}


def test_gates_fail_closed_and_nothing_else_does(tmp_path: Path) -> None:
    found = entries(tmp_path, Scope.USER)
    closed = {event for event, entry in found.items() if entry.get("failClosed")}
    assert closed == {
        *("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"),
        *("beforeTabFileRead", "subagentStart", "beforeSubmitPrompt"),
    }
    assert {entry["timeout"] for entry in found.values()} == {600}
    assert {event for event, entry in found.items() if entry.get("loop_limit") == 5} == {
        "stop",
        "subagentStop",
    }


def test_commands_and_mcp_calls_are_asked_about_where_a_person_can_be_asked(
    tmp_path: Path,
) -> None:
    assert entries(tmp_path, Scope.USER)["preToolUse"]["matcher"] == "^(?!Shell$|MCP:)"


def test_in_a_project_mcp_calls_are_judged_before_every_tool_for_cloud_agents(
    tmp_path: Path,
) -> None:
    assert entries(tmp_path, Scope.PROJECT)["preToolUse"]["matcher"] == "^(?!Shell$)"
