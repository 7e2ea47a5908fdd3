"""Rules of Cursor's that no other test shows: exit 2, and Claude Code's names and words."""

import json
from typing import Any

import pytest

from hookline.dialects.cursor import DIALECT
from hookline.model.answers import Answer, Verdict, deny
from hookline.model.events import (
    EVENTS,
    Event,
    PostToolUseFailure,
    SessionEnd,
    SubagentStart,
    UserPromptSubmit,
)
from support.clients import cursor as client


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
