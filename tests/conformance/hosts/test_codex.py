"""Codex's hook files as host configs: unchanged, with real processes, to the effect Codex gives."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.dialects.codex.files import FILES
from hookline.model.answers import Verdict
from hookline.model.events import (
    Event,
    PostToolUse,
    PreToolUse,
    SessionResume,
    SessionStart,
    SteeringSubmit,
    Stop,
)
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

EXAMPLES = Path(__file__).parent / "codex"


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "hooks", tmp_path / "hooks")
    (tmp_path / ".codex").mkdir()
    return tmp_path


def example(event: Event, project: Path, name: str = "hooks.json") -> Outcome:
    file = Path(shutil.copy(EXAMPLES / name, project / ".codex"))
    return host(FILES, [file], event, project=project)


def written(event: Event, project: Path, *commands: str, env: Any = None, **keys: Any) -> Outcome:
    """One group of hooks for the event's own native name, run on it."""
    native = FILES.codec.native_of(event)
    hooks = [{"type": "command", "command": command, **keys} for command in commands]
    file = project / ".codex/hooks.json"
    file.write_text(json.dumps({"hooks": {native: [{"hooks": hooks}]}}))
    return host(FILES, [file], event, project=project, env=env)


def claude(native: str, **fields: Any) -> Event:
    """An event as Claude Code sends it."""
    data = {"session_id": "s1", "hook_event_name": native, **fields}
    return registry.dialect("claude-code").decode(json.dumps(data).encode(), None)


def bash(command: str, native: str = "PreToolUse", **fields: Any) -> Event:
    given = {"command": command, "description": "what it does"}
    return claude(native, tool_name="Bash", tool_input=given, tool_use_id="t1", **fields)


def failures(outcome: Outcome) -> list[str]:
    return [run.failed for run in outcome.runs if run.failed]


# ── the example ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["hooks.json", "config.toml"])
def test_a_command_is_denied_with_the_hooks_reason(project: Path, name: str) -> None:
    outcome = example(bash("rm -rf ~"), project, name)
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("Destructive command blocked by hook.")


def test_exit_2_denies_with_what_stands_on_stderr(project: Path) -> None:
    outcome = example(bash("git push"), project)
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("pushing is for people")


def test_a_rewrite_replaces_all_that_the_hook_was_shown(project: Path) -> None:
    outcome = example(bash("npm install"), project)
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"command": "npm ci", "description": "what it does"}


def test_context_reaches_the_model_and_plain_text_before_a_tool_does_not(project: Path) -> None:
    assert example(bash("git status"), project).answer.context == ("The work tree is shared.",)
    outcome = example(bash("ls"), project)
    assert outcome.verdict is Verdict.PASS
    assert not outcome.answer.context
    assert len(outcome.runs) == 1


def test_plain_text_at_the_start_of_a_session_is_context(project: Path) -> None:
    outcome = example(SessionStart(source="startup"), project)
    assert outcome.answer.context == ("Run the tests with make test.",)
    assert example(SessionResume(), project).answer.context
    assert not example(SessionStart(source="clear"), project).runs


def test_a_prompt_with_a_key_is_held_back(project: Path) -> None:
    outcome = example(claude("UserPromptSubmit", prompt="use sk-live-1"), project)
    assert outcome.verdict is Verdict.DENY
    assert example(claude("UserPromptSubmit", prompt="hello"), project).verdict is Verdict.PASS
    steered = example(SteeringSubmit(prompts=("use", "sk-live-1")), project)
    assert steered.verdict is Verdict.DENY


def test_an_edit_of_another_platform_is_shown_as_a_patch(project: Path) -> None:
    given = {"file_path": "package-lock.json", "content": "{}"}
    write = claude("PreToolUse", tool_name="Write", tool_input=given)
    assert example(write, project).verdict is Verdict.DENY
    other = {**given, "file_path": "a.py"}
    assert example(claude("PreToolUse", tool_name="Write", tool_input=other), project).runs
    read = claude("PreToolUse", tool_name="Read", tool_input={"file_path": "package-lock.json"})
    assert not example(read, project).runs


def test_permission_is_given_and_refused(project: Path) -> None:
    refused = example(bash("curl x", "PermissionRequest"), project)
    assert (refused.verdict, refused.reason.split("\n")[0]) == (Verdict.DENY, "No downloads.")
    assert example(bash("ls", "PermissionRequest"), project).verdict is Verdict.ALLOW
    assert example(bash("make", "PermissionRequest"), project).verdict is Verdict.PASS


def test_output_is_replaced_by_the_reason_and_context_comes_along(project: Path) -> None:
    outcome = example(bash("env", "PostToolUse", tool_response={"stdout": "password=1"}), project)
    assert outcome.verdict is Verdict.DENY
    assert "password and was removed" in outcome.reason
    assert outcome.answer.context == ("Never print passwords.",)


def test_a_failed_command_reaches_the_same_hooks(project: Path) -> None:
    failed = bash("env", "PostToolUseFailure", error="password wrong")
    assert example(failed, project).verdict is Verdict.DENY


def test_an_unfinished_agent_is_kept_going_once(project: Path) -> None:
    outcome = example(claude("Stop", stop_hook_active=False), project)
    assert outcome.answer.follow_up == ("Run one more pass over the failing tests.",)
    again = example(claude("Stop", stop_hook_active=True), project)
    assert not again.answer.follow_up
    assert len(again.runs) == 1


# ── what Codex voids lets the tool run, and says so ─────────────────────────────────────────


def told(own: dict[str, Any], **more: Any) -> str:
    body = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **own}, **more}
    return f"echo '{json.dumps(body)}'"


@pytest.mark.parametrize(
    "command",
    [
        told({"permissionDecision": "allow"}),
        told({"permissionDecision": "ask", "permissionDecisionReason": "sure?"}),
        told({"permissionDecision": "deny"}),
        told({"permissionDecision": "deny", "permissionDecisionReason": "no", "color": 1}),
        told(
            {"permissionDecision": "deny", "permissionDecisionReason": "no"}, **{"continue": False}
        ),
        'echo \'{"decision": "deny", "reason": "no"}\'',
        "echo '{broken'",
        "exit 2",
        "echo no >&2; exit 1",
        "kill -9 $$",
        "./hooks/missing.sh",
    ],
)
def test_an_answer_that_codex_voids_is_a_failure_and_the_tool_runs(
    project: Path, command: str
) -> None:
    outcome = written(bash("ls"), project, command)
    assert outcome.verdict is Verdict.PASS
    assert len(failures(outcome)) == 1
    assert any("failed" in text for text in outcome.answer.notice)


def test_a_hook_that_takes_too_long_fails_and_the_tool_runs(project: Path) -> None:
    outcome = written(bash("ls"), project, "exec sleep 60", timeout=1)
    assert outcome.verdict is Verdict.PASS
    assert len(failures(outcome)) == 1


def test_plain_text_at_the_end_of_a_turn_is_a_failure(project: Path) -> None:
    outcome = written(Stop(), project, "echo keep going")
    assert not outcome.answer.follow_up
    assert len(failures(outcome)) == 1


def test_one_unknown_type_stops_every_hook_of_the_file_aloud(project: Path) -> None:
    ok = {"type": "command", "command": "echo no >&2; exit 2"}
    hooks = {"PreToolUse": [{"hooks": [ok, {"type": "http", "url": "https://h.example"}]}]}
    file = project / ".codex/hooks.json"
    file.write_text(json.dumps({"hooks": hooks}))
    outcome = host(FILES, [file], bash("ls"), project=project)
    assert outcome.verdict is Verdict.PASS
    assert len(failures(outcome)) == 2
    assert all("http" in text for text in outcome.answer.notice)


# ── several hooks ───────────────────────────────────────────────────────────────────────────


def test_hooks_run_at_the_same_time_and_the_same_command_as_often_as_it_stands_there(
    project: Path,
) -> None:
    # Each waits for the other two, which a sequence would never let begin.
    meet = (
        'mktemp "$PWD/here.XXXXXX" >/dev/null; n=0; '
        "while [ $(ls here.* | wc -l) -lt 3 ]; do n=$((n+1)); [ $n -lt 200 ] || exit 1; "
        "sleep 0.05; done"
    )
    outcome = written(bash("ls"), project, meet, meet, meet)
    assert len(outcome.runs) == 3
    assert not failures(outcome)


def test_one_deny_is_enough_and_reasons_stand_in_configured_order(project: Path) -> None:
    late = "sleep 0.3; echo first >&2; exit 2"
    outcome = written(bash("ls"), project, late, "echo second >&2; exit 2", "true")
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.index("first") < outcome.reason.index("second")


def test_a_hook_in_the_background_is_not_waited_for_and_decides_nothing(project: Path) -> None:
    outcome = written(
        bash("ls"), project, "cat >behind.json; echo no >&2; exit 2", **{"async": True}
    )
    assert outcome.verdict is Verdict.PASS
    assert not failures(outcome)


# ── what a hook sees ────────────────────────────────────────────────────────────────────────


def test_a_hook_reads_exactly_the_keys_that_codex_sends(project: Path) -> None:
    written(bash("ls -l", cwd=str(project)), project, "cat > seen.json")
    assert json.loads((project / "seen.json").read_text()) == {
        "session_id": "s1",
        "turn_id": "",
        "transcript_path": None,
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "model": "",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": "ls -l"},
        "tool_use_id": "t1",
    }


def test_a_hook_runs_where_the_event_happened(project: Path) -> None:
    below = project / "below"
    below.mkdir()
    written(bash("ls", cwd=str(below)), project, "pwd > seen")
    assert (below / "seen").read_text().strip() == str(below)


@pytest.mark.parametrize(
    ("env", "is_bash"),
    [({"SHELL": shutil.which("bash")}, "yes"), ({"SHELL": "./bash"}, ""), ({}, "")],
)
def test_a_hook_runs_in_the_persons_shell(project: Path, env: Any, is_bash: str) -> None:
    written(bash("ls"), project, "echo ${BASH_VERSION:+yes} ${POSIXLY_CORRECT:+no} > seen", env=env)
    said = (project / "seen").read_text().strip()
    # Where /bin/sh is bash in disguise it has a version, too, and a mark.
    assert said in ({is_bash} if is_bash else {"", "yes", "yes no"})


def test_no_project_variable_is_set(project: Path) -> None:
    written(bash("ls"), project, "env > seen", env={"KEEP": "me"})
    names = {line.partition("=")[0] for line in (project / "seen").read_text().splitlines()}
    assert "KEEP" in names
    assert not names & {"CLAUDE_PROJECT_DIR", "PLUGIN_ROOT"}


def test_a_plugin_finds_its_own_folder(project: Path) -> None:
    file = project / "demo/hooks/hooks.json"
    file.parent.mkdir(parents=True)
    hook = {"type": "command", "command": "echo ${PLUGIN_ROOT} $CLAUDE_PLUGIN_ROOT > seen"}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    host(FILES, [file], bash("ls"), project=project)
    assert (project / "seen").read_text().split() == [f"{project}/demo"] * 2


def test_a_rewrite_of_an_edit_that_was_shown_as_a_patch_is_a_deny_that_says_it(
    project: Path,
) -> None:
    answer = told({"permissionDecision": "allow", "updatedInput": {"command": "*** Begin Patch"}})
    given = {"file_path": "a", "content": "x"}
    outcome = written(claude("PreToolUse", tool_name="Write", tool_input=given), project, answer)
    assert outcome.verdict is Verdict.DENY
    assert "*** Begin Patch" in outcome.reason


def test_codex_runs_its_own_files_itself(project: Path) -> None:
    event = PostToolUse(tool=tool("shell", command="ls"), dialect="codex")
    assert not example(event, project).runs
