"""Rules of VS Code's that no other test shows: payloads, stops, and how answers of several add up."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.vscode import DIALECT
from hookline.dialects.vscode.files import FILES
from hookline.model import events
from hookline.model.answers import Answer, Verdict
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import Event, PostToolUse, PreToolUse
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.clients import vscode as client
from support.hosts import host

SHELL = PreToolUse(tool=tool("shell", command="ls"))


def decoded(native: str, **fields: Any) -> Event:
    return DIALECT.decode(json.dumps({**client.payload(native), **fields}).encode(), None)


def read(native: str, body: dict[str, Any]) -> Answer:
    out = json.dumps(body).encode()
    return DIALECT.read_answer(decoded(native), stdout=out, stderr=b"", exit_code=0)


def hosted(project: Path, native: str, event: Event, *lines: str) -> Outcome:
    entries = [{"type": "command", "command": line} for line in lines]
    content = json.dumps({"hooks": {native: entries}}).encode()
    file = FILES.read(str(project / ".github/hooks/made.json"), content)
    return host(FILES, [file], event, project=project)


def says(body: dict[str, Any]) -> str:
    return f"echo '{json.dumps(body)}'"


# ── payloads ────────────────────────────────────────────────────────────────────────────────


def test_what_an_event_is_about_is_read_from_its_own_keys() -> None:
    done = decoded("PostToolUse")
    assert isinstance(done, PostToolUse)
    assert (done.tool.output, done.tool.call_id, done.tool.command) == ("secret", "t1", "rm x")
    prompt = decoded("UserPromptSubmit")
    assert isinstance(prompt, events.UserPromptSubmit)
    assert prompt.prompt == "do it"
    compact = decoded("PreCompact")
    assert isinstance(compact, events.PreCompact)
    assert compact.trigger == "auto"
    started = decoded("SubagentStart")
    assert (started.agent.id, started.agent.name, started.agent.depth) == ("a1", "Plan", 1)
    session = decoded("SessionStart")
    assert isinstance(session, events.SessionStart)
    assert (session.source, session.cwd) == ("new", "/srv/app")


# ── answers ─────────────────────────────────────────────────────────────────────────────────

OTHERS = {"hookEventName": "PostToolUse", "permissionDecision": "allow"}


def test_an_object_for_another_event_is_dropped_and_what_stands_beside_it_counts() -> None:
    answer = read("PreToolUse", {"stopReason": "enough", "hookSpecificOutput": OTHERS})
    assert (answer.verdict, answer.reason) == (Verdict.HALT, "enough")
    assert "PostToolUse" in answer.notice[0]
    warned = read("PreToolUse", {"systemMessage": "careful", "hookSpecificOutput": OTHERS})
    assert (warned.verdict, warned.notice[0]) == (Verdict.PASS, "careful")
    with pytest.raises(HandlerAnswerError):
        read("PreToolUse", {"hookSpecificOutput": OTHERS})


@pytest.mark.parametrize(
    "rest",
    [
        {"decision": "block", "reason": "r"},
        {"hookSpecificOutput": {"permissionDecision": "maybe"}},
        {"hookSpecificOutput": {"updatedInput": "ls"}},
    ],
)
def test_a_stop_counts_whatever_is_wrong_with_the_rest(rest: dict[str, Any]) -> None:
    answer = read("PreToolUse", {"continue": False, **rest})
    assert answer.verdict is Verdict.HALT
    assert answer.reason


def test_the_rest_of_a_wrong_name_at_the_top_is_passed_over() -> None:
    with pytest.raises(HandlerAnswerError):
        read("PreToolUse", {"hookEventName": "Stop", "stopReason": "enough"})


# ── rows ────────────────────────────────────────────────────────────────────────────────────


def test_a_stop_ends_the_row(tmp_path: Path) -> None:
    outcome = hosted(tmp_path, "PreToolUse", SHELL, says({"continue": False}), "touch late")
    assert outcome.verdict is Verdict.HALT
    assert not (tmp_path / "late").exists()


def test_contexts_of_all_are_collected_and_the_first_of_the_strictest_gives_the_reason(
    tmp_path: Path,
) -> None:
    def denies(word: str) -> str:
        own = {"permissionDecision": "deny", "permissionDecisionReason": word}
        return says({"hookSpecificOutput": {**own, "additionalContext": f"about {word}"}})

    outcome = hosted(tmp_path, "PreToolUse", SHELL, denies("one"), denies("two"))
    assert outcome.reason.startswith("one")
    assert outcome.answer.context == ("about one", "about two")


def test_the_first_block_of_a_result_comes_first(tmp_path: Path) -> None:
    lines = [says({"decision": "block", "reason": word}) for word in ("one", "two")]
    outcome = hosted(tmp_path, "PostToolUse", PostToolUse(tool=SHELL.tool), *lines)
    assert outcome.reason.startswith("one")


def test_exit_2_blocks_a_result_too(tmp_path: Path) -> None:
    done = PostToolUse(tool=SHELL.tool)
    outcome = hosted(tmp_path, "PostToolUse", done, "echo secrets >&2; exit 2")
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("secrets")


def test_a_line_is_one_for_the_systems_shell(tmp_path: Path) -> None:
    hosted(tmp_path, "PreToolUse", SHELL, 'echo "$0" | cat > shell')
    assert (tmp_path / "shell").read_text() == "/bin/sh\n"


def test_what_a_hook_prints_before_compaction_is_not_read(tmp_path: Path) -> None:
    line = says({"decision": "block", "continue": False, "systemMessage": "x"})
    outcome = hosted(tmp_path, "PreCompact", events.PreCompact(trigger="auto"), line)
    assert (outcome.verdict, outcome.answer.notice) == (Verdict.PASS, ())
