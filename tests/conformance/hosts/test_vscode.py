"""Hosts obey: VS Code's examples run unchanged, with the effect its pages describe."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.vscode.files import FILES
from hookline.model import events
from hookline.model.answers import Verdict
from hookline.model.events import Event, PostToolUse, PreToolUse
from hookline.model.native import NativeFile
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from hookline.registry import tools
from support.hosts import host

EXAMPLES = Path(__file__).parent / "vscode"
REVIEWER = events.Agent(name="Code Review Agent", depth=1, id="a1")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    shutil.copytree(EXAMPLES, root)
    return root


def example(project: Path, name: str, event: Event, **options: Any) -> Outcome:
    return host(FILES, [project / name], event, project=project, **options)


def settings(project: Path, hooks: Any, name: str = "made.json") -> NativeFile:
    path = project / ".github" / "hooks" / name
    return FILES.read(str(path), json.dumps({"hooks": hooks}).encode())


def inline(project: Path, event: Event, hooks: Any, **options: Any) -> Outcome:
    return host(FILES, [settings(project, hooks)], event, project=project, **options)


def on(event: str, *lines: str, **more: Any) -> dict[str, Any]:
    return {event: [{"type": "command", "command": line, **more} for line in lines]}


def shell(line: str, **more: Any) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=line), **more)


def says(body: dict[str, Any]) -> str:
    return f"echo '{json.dumps(body)}'"


def permission(decision: str, **more: Any) -> str:
    own = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return says({"hookSpecificOutput": own})


# ── the examples ────────────────────────────────────────────────────────────────────────────

STOP = ".github/hooks/seed-stop.json"
ANSWERS = ".github/hooks/seed-answers.json"


def test_the_stop_example_goes_on_once_with_its_own_variable(project: Path) -> None:
    outcome = example(project, STOP, events.Stop())
    assert outcome.answer.follow_up == ("Run the test suite before finishing (value)",)
    assert example(project, STOP, events.Stop(stop_hook_active=True)).answer.follow_up == ()


def test_an_agents_stop_is_asked_and_answered_as_a_sub_agents(project: Path) -> None:
    file = ".github/agents/code-review.agent.md"
    outcome = example(project, file, events.SubagentStop(agent=REVIEWER))
    assert outcome.answer.follow_up == ("Verify subagent results before completing",)
    again = events.SubagentStop(agent=REVIEWER, stop_hook_active=True)
    assert example(project, file, again).answer.follow_up == ()
    assert example(project, file, events.SubagentStop()).runs == ()
    assert example(project, file, events.Stop()).runs == ()


def test_an_agents_stop_is_a_stop_where_that_agent_leads(project: Path) -> None:
    file = ".github/agents/code-review.agent.md"
    leads = events.Stop(agent=events.Agent(name="Code Review Agent"))
    assert [run.hook.native for run in example(project, file, leads).runs] == ["Stop"]


def test_the_session_example_adds_its_context(project: Path) -> None:
    outcome = example(project, ANSWERS, events.SessionStart(source="startup"))
    assert outcome.answer.context == ("Project: my-app v2.1.0 | Branch: main",)


def test_the_tool_example_denies_with_its_reason_and_context(project: Path) -> None:
    outcome = example(project, ANSWERS, shell("rm -rf /"))
    assert outcome.verdict is Verdict.DENY
    assert outcome.answer.reason.startswith("Destructive command blocked")
    assert outcome.answer.context == ("Extra context for the model",)
    assert outcome.final is None


def test_the_after_tool_example_tells_the_model(project: Path) -> None:
    ran = PostToolUse(tool=tool("write", path="/a", content="x"))
    outcome = example(project, ANSWERS, ran)
    assert "Post-processing validation failed" in outcome.answer.reason
    assert outcome.answer.context == ("Lint errors found in edited file",)


def test_a_stop_reason_stops_even_beside_continue(project: Path) -> None:
    outcome = example(project, ANSWERS, events.UserPromptSubmit(prompt="hi"))
    assert outcome.verdict is Verdict.HALT
    assert outcome.answer.reason.startswith("Security policy violation")
    assert outcome.answer.notice == ("Warning displayed to user",)


def test_claude_codes_file_runs_on_every_tool_because_matchers_are_ignored(project: Path) -> None:
    outcome = example(project, ".claude/settings.json", shell("ls"))
    assert outcome.verdict is Verdict.DENY
    assert outcome.answer.reason.startswith("guarded")


def test_copilots_names_and_keys_are_read_as_well(project: Path) -> None:
    hooks = {"preToolUse": [{"type": "command", "bash": "echo no >&2; exit 2", "powershell": "x"}]}
    assert inline(project, shell("ls"), hooks).verdict is Verdict.DENY


# ── how a hook is started ───────────────────────────────────────────────────────────────────


def test_a_hook_reads_what_vs_code_would_send(project: Path) -> None:
    call = tools("claude-code").read("Write", {"file_path": "/a", "content": "x"})
    event = PreToolUse(tool=call, dialect="claude-code", native_event="PreToolUse", session_id="s1")
    inline(project, event, on("PreToolUse", "cat > seen.json"))
    seen = json.loads((project / "seen.json").read_bytes())
    assert seen.pop("timestamp") == event.time.isoformat()
    assert seen == {
        "session_id": "s1",
        "sessionId": "s1",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "hookEventName": "PreToolUse",
        "tool_name": "create_file",
        "tool_input": {"filePath": "/a", "content": "x"},
        "tool_use_id": "",
    }


def test_a_queued_prompt_is_a_prompt_too(project: Path) -> None:
    event = events.SteeringSubmit(prompts=("steer", "more"))
    assert inline(project, event, on("UserPromptSubmit", "grep -q steer && exit 2")).verdict is (
        Verdict.DENY
    )


def test_hooks_run_in_the_workspace_with_the_variables_they_name(project: Path) -> None:
    (project / "inner").mkdir()
    line = 'printf "%s\\n" "$PWD" "$A" "${CLAUDE_PROJECT_DIR-none}" > "$OUT"'
    out = {"OUT": str(project / "seen"), "A": "own"}
    event = shell("ls", cwd=str(project / "inner"))
    inline(project, event, on("PreToolUse", line, env=out), env={"A": "the caller's"})
    assert (project / "seen").read_text().splitlines() == [str(project), "own", "none"]


def test_cwd_is_relative_to_the_workspace_or_absolute(project: Path, tmp_path: Path) -> None:
    (project / "inner").mkdir()
    inline(project, shell("ls"), on("PreToolUse", "touch here", cwd="inner"))
    assert (project / "inner" / "here").exists()
    inline(project, shell("ls"), on("PreToolUse", "touch there", cwd=str(tmp_path)))
    assert (tmp_path / "there").exists()


def test_cwd_knows_the_home(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    inline(project, shell("ls"), on("PreToolUse", "touch home", cwd="~"))
    assert (tmp_path / "home").exists()


def test_hooks_run_one_after_another_and_none_is_left_out(project: Path) -> None:
    first = "[ ! -e order ] || exit 2; sleep 0.1; echo 1 > order; exit 2"
    second = "echo 2 >> order"
    outcome = inline(project, shell("ls"), on("PreToolUse", first, second, second))
    assert outcome.verdict is Verdict.DENY
    assert (project / "order").read_text() == "1\n2\n2\n"


def test_the_strictest_decision_counts_and_the_last_rewrite(project: Path) -> None:
    asks = permission("ask", permissionDecisionReason="?", updatedInput={"command": "a"})
    allows = permission("allow", updatedInput={"command": "b"})
    outcome = inline(project, shell("ls"), on("PreToolUse", asks, allows))
    assert outcome.verdict is Verdict.ASK
    final = outcome.final
    assert isinstance(final, PreToolUse)
    assert final.tool.command == "b"


def test_a_rewrite_reaches_another_platforms_keys(project: Path) -> None:
    call = tools("claude-code").read("Write", {"file_path": "/a", "content": "x"})
    event = PreToolUse(tool=call, dialect="claude-code", native_event="PreToolUse")
    line = permission("allow", updatedInput={"filePath": "/b", "content": "x"})
    final = inline(project, event, on("PreToolUse", line)).final
    assert isinstance(final, PreToolUse)
    assert final.tool.input == {"file_path": "/b", "content": "x"}


# ── failures and other answers ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "line", ["exit 1", "no-such-program-anywhere", "echo '{\"a\":'", says({"decision": "block"})]
)
def test_a_failing_hook_is_told_of_and_the_tool_runs(project: Path, line: str) -> None:
    outcome = inline(project, shell("ls"), on("PreToolUse", line))
    assert (outcome.verdict, len(outcome.answer.notice)) == (Verdict.PASS, 1)


def test_a_hook_that_takes_too_long_is_ended_and_the_tool_runs(project: Path) -> None:
    outcome = inline(project, shell("ls"), on("PreToolUse", "sleep 60", timeout=0.2))
    assert outcome.verdict is Verdict.PASS
    assert "no answer within" in outcome.answer.notice[0]


def test_exit_2_denies_and_plain_text_is_nothing(project: Path) -> None:
    denied = inline(project, shell("ls"), on("PreToolUse", "echo no >&2; exit 2"))
    assert denied.answer.reason.startswith("no")
    assert inline(project, shell("ls"), on("PreToolUse", "echo hello")).answer.context == ()


def test_a_hook_of_another_type_fails_aloud(project: Path) -> None:
    hooks = {"PreToolUse": [{"type": "http", "url": "http://guard.test"}]}
    assert (
        "VS Code drops hooks of type `http`" in inline(project, shell("ls"), hooks).answer.notice[0]
    )


@pytest.mark.parametrize("dialect", ["vscode", "copilot", "copilot-cloud"])
def test_clients_that_run_the_file_themselves_are_not_run_for(project: Path, dialect: str) -> None:
    hooks = on("PreToolUse", "exit 2")
    assert inline(project, shell("ls", dialect=dialect), hooks).runs == ()


@pytest.mark.parametrize("dialect", ["vscode", "claude-code", "cursor", "copilot"])
def test_claude_codes_file_is_run_by_more_of_them(project: Path, dialect: str) -> None:
    assert example(project, ".claude/settings.json", shell("ls", dialect=dialect)).runs == ()


@pytest.mark.parametrize(
    ("updated", "why"),
    [
        ({"file_path": "/b", "content": "x"}, "`filePath` is missing"),
        ({"filePath": "/b"}, "`content` is missing"),
        ({"filePath": ["/b"], "content": "x"}, "`filePath` is of another type"),
    ],
)
def test_a_new_input_that_the_tool_would_not_take_is_ignored_and_told(
    project: Path, updated: dict[str, Any], why: str
) -> None:
    call = PreToolUse(tool=tool("write", path="/a", content="x"))
    outcome = inline(project, call, on("PreToolUse", permission("allow", updatedInput=updated)))
    assert (outcome.verdict, outcome.final) == (Verdict.ALLOW, None)
    (told,) = outcome.answer.notice
    assert why in told
    assert "create_file" in told


def test_a_new_input_of_the_tools_own_shape_is_taken(project: Path) -> None:
    call = PreToolUse(tool=tool("write", path="/a", content="x"))
    updated = {"filePath": "/b", "content": "y"}
    outcome = inline(project, call, on("PreToolUse", permission("allow", updatedInput=updated)))
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"path": "/b", "content": "y"}
    assert outcome.answer.notice == ()
