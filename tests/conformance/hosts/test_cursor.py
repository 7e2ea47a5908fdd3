"""Cursor's hook files as host configs: unchanged, with real processes, to the effect Cursor gives."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.dialects.cursor.files import FILES
from hookline.model.answers import Verdict
from hookline.model.events import Event, PreToolUse, SessionStart, SteeringSubmit
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

EXAMPLES = Path(__file__).parent / "cursor"


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "hooks", tmp_path / ".cursor/hooks")
    return tmp_path


def example(event: Event, project: Path) -> Outcome:
    file = Path(shutil.copy(EXAMPLES / "hooks.json", project / ".cursor"))
    return host(FILES, [file], event, project=project)


def written(
    native: str, event: Event, project: Path, *entries: dict[str, Any], env: Any = None
) -> Outcome:
    file = project / ".cursor/hooks.json"
    file.write_text(json.dumps({"version": 1, "hooks": {native: entries}}))
    return host(FILES, [file], event, project=project, env=env)


def claude(native: str, **fields: Any) -> Event:
    """An event as Claude Code sends it."""
    data = {"session_id": "s1", "hook_event_name": native, **fields}
    return registry.dialect("claude-code").decode(json.dumps(data).encode(), None)


def bash(command: str, native: str = "PreToolUse", **fields: Any) -> Event:
    given = {"command": command, "description": "what it does"}
    return claude(native, tool_name="Bash", tool_input=given, tool_use_id="t1", **fields)


def mcp(name: str, native: str = "PreToolUse", **fields: Any) -> Event:
    return claude(native, tool_name=f"mcp__lab__{name}", tool_input={"text": "hi"}, **fields)


def failures(outcome: Outcome) -> list[str]:
    return [run.failed for run in outcome.runs if run.failed]


# ── the example ─────────────────────────────────────────────────────────────────────────────


def test_a_command_is_denied_with_words_for_agent_and_person(project: Path) -> None:
    outcome = example(bash("git push"), project)
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("Use the gh tool instead of raw git.")
    assert outcome.answer.notice == ("Git command blocked.",)


def test_a_command_for_the_network_is_asked_about(project: Path) -> None:
    outcome = example(bash("curl https://site.example"), project)
    assert outcome.verdict is Verdict.ASK
    assert outcome.reason.startswith("Network commands need a person.")


def test_a_rewrite_reaches_the_other_platforms_tool(project: Path) -> None:
    outcome = example(bash("npm install"), project)
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"command": "npm ci", "description": "what it does"}


def test_a_matcher_that_misses_runs_nothing(project: Path) -> None:
    assert len(example(bash("ls"), project).runs) == 2  # not the one for the network
    grep = claude("PreToolUse", tool_name="Grep", tool_input={"pattern": "curl"})
    assert not example(grep, project).runs


def test_mcp_calls_have_hooks_of_their_own(project: Path) -> None:
    assert example(mcp("delete_everything"), project).verdict is Verdict.DENY
    assert example(mcp("echo"), project).verdict is Verdict.PASS


def test_a_file_with_a_key_in_it_is_not_read(project: Path) -> None:
    (project / "key.pem").write_text("-----BEGIN PRIVATE KEY-----")
    (project / "a.txt").write_text("hello")
    held = claude("PreToolUse", tool_name="Read", tool_input={"file_path": "key.pem"})
    assert example(held, project).verdict is Verdict.DENY
    free = claude("PreToolUse", tool_name="Read", tool_input={"file_path": "a.txt"})
    assert example(free, project).verdict is Verdict.ALLOW


def test_prompts_are_held_back(project: Path) -> None:
    outcome = example(claude("UserPromptSubmit", prompt="use sk-live-1"), project)
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("That looks like an API key.")
    assert example(claude("UserPromptSubmit", prompt="hello"), project).verdict is Verdict.PASS
    assert example(SteeringSubmit(prompts=("sk-live-1",)), project).verdict is Verdict.DENY


def test_a_session_starts_with_context(project: Path) -> None:
    outcome = example(SessionStart(source="startup"), project)
    assert outcome.answer.context == ("Conventions are in docs/style.md.",)


def test_an_edited_file_is_shown_with_its_edits(project: Path) -> None:
    given = {"file_path": "a.py", "old_string": "x", "new_string": "y"}
    done = claude("PostToolUse", tool_name="Edit", tool_input=given, tool_response="ok")
    assert not failures(example(done, project))
    seen = json.loads((project / "formatted.json").read_text())
    assert seen["hook_event_name"] == "afterFileEdit"
    assert seen["edits"] == [{"old_string": "x", "new_string": "y"}]


def test_after_a_tool_there_is_context_and_only_an_mcp_tools_output_is_replaced(
    project: Path,
) -> None:
    ran = example(bash("ls", "PostToolUse", tool_response={"stdout": "x"}), project)
    assert ran.answer.context == ("Remember the change log.",)
    assert ran.answer.rewrite.output is None
    asked = example(mcp("echo", "PostToolUse", tool_response="secret"), project)
    assert asked.answer.rewrite.output == "redacted"


def test_an_unfinished_agent_is_kept_going_once(project: Path) -> None:
    outcome = example(claude("Stop", stop_hook_active=False), project)
    assert outcome.answer.follow_up == ("Run the tests once more.",)
    assert not example(claude("Stop", stop_hook_active=True), project).answer.follow_up


# ── failures ────────────────────────────────────────────────────────────────────────────────

FAILING = ["exit 1", "echo not json", "kill -9 $$", "./missing.sh", "echo '[]'"]


@pytest.mark.parametrize("command", FAILING)
def test_a_hook_that_fails_lets_the_tool_run_and_says_so(project: Path, command: str) -> None:
    outcome = written("preToolUse", bash("ls"), project, {"command": command})
    assert outcome.verdict is Verdict.PASS
    assert len(failures(outcome)) == 1
    assert outcome.answer.notice


@pytest.mark.parametrize("command", FAILING)
def test_a_hook_that_fails_closed_blocks(project: Path, command: str) -> None:
    entry = {"command": command, "failClosed": True}
    assert written("preToolUse", bash("ls"), project, entry).verdict is Verdict.DENY


@pytest.mark.parametrize(("closed", "verdict"), [(True, Verdict.DENY), (False, Verdict.PASS)])
def test_a_hook_that_takes_too_long_has_failed(
    project: Path, closed: bool, verdict: Verdict
) -> None:
    entry = {"command": "exec sleep 60", "timeout": 0.3, "failClosed": closed}
    outcome = written("beforeShellExecution", bash("ls"), project, entry)
    assert outcome.verdict is verdict
    assert failures(outcome) == ["no answer within 0.3 s"]


def test_exit_2_denies_without_a_word(project: Path) -> None:
    assert written("preToolUse", bash("ls"), project, {"command": "exit 2"}).verdict is Verdict.DENY


def test_a_prompt_that_nothing_here_can_ask_fails_by_its_own_rule(project: Path) -> None:
    entry: dict[str, Any] = {"type": "prompt", "prompt": "Is this safe?"}
    assert written("preToolUse", bash("ls"), project, entry).verdict is Verdict.PASS
    closed = written("preToolUse", bash("ls"), project, {**entry, "failClosed": True})
    assert closed.verdict is Verdict.DENY
    assert "prompt" in closed.reason


# ── several hooks ───────────────────────────────────────────────────────────────────────────


def test_hooks_of_every_file_run_and_the_strictest_counts(project: Path, tmp_path: Path) -> None:
    own = project / ".cursor/hooks.json"
    own.write_text(json.dumps({"hooks": {"preToolUse": [{"command": "exit 2"}]}}))
    mine = tmp_path / "home/.cursor/hooks.json"
    mine.parent.mkdir(parents=True)
    allow = 'echo \'{"permission": "allow"}\''
    mine.write_text(json.dumps({"hooks": {"beforeShellExecution": [{"command": allow}]}}))
    outcome = host(FILES, [own, mine], bash("ls"), project=project)
    assert len(outcome.runs) == 2
    assert outcome.verdict is Verdict.DENY


# ── what a hook sees ────────────────────────────────────────────────────────────────────────


def test_a_hook_for_commands_reads_the_keys_that_cursor_sends(project: Path) -> None:
    event = bash("ls -l", cwd=str(project))
    written("beforeShellExecution", event, project, {"command": "cat > seen.json; echo {}"})
    assert json.loads((project / "seen.json").read_text()) == {
        "hook_event_name": "beforeShellExecution",
        "conversation_id": "s1",
        "generation_id": "",
        "model": "",
        "transcript_path": None,
        "cursor_version": "",
        "workspace_roots": [str(project)],
        "user_email": None,
        "command": "ls -l",
        "cwd": str(project),
        "sandbox": False,
    }


def test_a_projects_hook_runs_in_the_project_and_a_persons_in_their_own_folder(
    project: Path, tmp_path: Path
) -> None:
    below = project / "below"
    below.mkdir()
    where = {"command": 'printf "%s\\n" "$PWD" "$CURSOR_PROJECT_DIR" "$CLAUDE_PROJECT_DIR" > seen'}
    written("preToolUse", bash("ls", cwd=str(below)), project, where)
    assert (project / "seen").read_text().split() == [str(project)] * 3
    mine = tmp_path / "elsewhere/.cursor/hooks.json"
    mine.parent.mkdir(parents=True)
    mine.write_text(json.dumps({"hooks": {"preToolUse": [where]}}))
    host(FILES, [mine], bash("ls"), project=project / "below")
    assert (mine.parent / "seen").read_text().split()[0] == str(mine.parent)


def test_a_rewrite_names_what_the_call_of_another_client_calls_it(project: Path) -> None:
    data = {"toolName": "create", "toolArgs": {"path": "a", "file_text": "x"}, "sessionId": "s"}
    event = registry.dialect("copilot").decode(json.dumps(data).encode(), "preToolUse")
    answer = json.dumps({"permission": "allow", "updated_input": {"file_path": "b"}})
    outcome = written("preToolUse", event, project, {"command": f"echo '{answer}'"})
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"path": "b"}


def test_cursor_runs_its_own_files_itself(project: Path) -> None:
    event = PreToolUse(tool=tool("shell", command="git push"), dialect="cursor")
    assert not example(event, project).runs
