"""Gemini CLI's hook files as host configs: unchanged, with real processes, to Gemini's effect."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.dialects.gemini.files import FILES
from hookline.model.answers import Verdict
from hookline.model.events import Event, PreToolUse, SessionResume, SessionStart, SteeringSubmit
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

EXAMPLES = Path(__file__).parent / "gemini"


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "hooks", tmp_path / "hooks")
    (tmp_path / ".gemini").mkdir()
    return tmp_path


def example(event: Event, project: Path) -> Outcome:
    file = Path(shutil.copy(EXAMPLES / "settings.json", project / ".gemini"))
    return host(FILES, [file], event, project=project)


def settings(event: Event, project: Path, *groups: dict[str, Any], env: Any = None) -> Outcome:
    native = FILES.codec.native_of(event)
    file = project / ".gemini/settings.json"
    file.write_text(json.dumps({"hooks": {native: groups}}))
    return host(FILES, [file], event, project=project, env=env)


def command(text: str, **keys: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **keys}


def written(event: Event, project: Path, *commands: str, env: Any = None, **keys: Any) -> Outcome:
    return settings(event, project, {"hooks": [command(c, **keys) for c in commands]}, env=env)


def claude(native: str, **fields: Any) -> Event:
    """An event as Claude Code sends it."""
    data = {"session_id": "s1", "hook_event_name": native, **fields}
    return registry.dialect("claude-code").decode(json.dumps(data).encode(), None)


def bash(line: str, native: str = "PreToolUse", **fields: Any) -> Event:
    return claude(native, tool_name="Bash", tool_input={"command": line}, **fields)


def failures(outcome: Outcome) -> list[str]:
    return [run.failed for run in outcome.runs if run.failed]


def first_line(outcome: Outcome) -> str:
    return outcome.reason.split("\n")[0]


# ── the example ─────────────────────────────────────────────────────────────────────────────


def test_a_secret_in_a_file_is_denied_and_the_person_told(project: Path) -> None:
    given = {"file_path": "a.py", "content": "password = 1"}
    outcome = example(claude("PreToolUse", tool_name="Write", tool_input=given), project)
    assert outcome.verdict is Verdict.DENY
    assert first_line(outcome) == "Security Policy: Potential secret detected in content."
    assert outcome.answer.notice == ("Security scanner blocked operation",)
    assert len(outcome.runs) == 1


def test_exit_2_denies_with_what_stands_on_stderr(project: Path) -> None:
    outcome = example(bash("rm -rf ~"), project)
    assert (outcome.verdict, first_line(outcome)) == (Verdict.DENY, "no")


def test_a_rewrite_is_laid_over_the_other_platforms_input(project: Path) -> None:
    given = {"command": "npm install", "description": "deps"}
    outcome = example(claude("PreToolUse", tool_name="Bash", tool_input=given), project)
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"command": "npm ci", "description": "deps"}


def test_a_question_is_asked(project: Path) -> None:
    outcome = example(bash("git push"), project)
    assert (outcome.verdict, first_line(outcome)) == (Verdict.ASK, "Push to the shared branch?")


def test_continue_false_ends_the_run(project: Path) -> None:
    outcome = example(bash("shutdown now"), project)
    assert (outcome.verdict, first_line(outcome)) == (Verdict.HALT, "This machine stays up.")


def test_plain_text_is_for_the_person_only(project: Path) -> None:
    outcome = example(bash("ls"), project)
    assert (outcome.verdict, outcome.answer.notice) == (Verdict.PASS, ("looked at it",))
    assert not outcome.answer.context


def test_a_disabled_hook_does_not_run(project: Path) -> None:
    assert [run.hook.name for run in example(bash("ls"), project).runs] == ["shell"]


def test_a_session_starts_with_context(project: Path) -> None:
    outcome = example(SessionStart(source="startup"), project)
    assert outcome.answer.context == ("Recent work: the parser.",)
    assert not example(SessionStart(source="clear"), project).runs
    group = {"matcher": "resume", "hooks": [command("cat > seen.json")]}
    settings(SessionResume(), project, group)
    assert json.loads((project / "seen.json").read_text())["source"] == "resume"


def test_prompts_get_context_or_are_held_back(project: Path) -> None:
    outcome = example(claude("UserPromptSubmit", prompt="hello"), project)
    assert outcome.answer.context == ("It is Monday.",)
    held = example(claude("UserPromptSubmit", prompt="sk-live-1"), project)
    assert held.verdict is Verdict.DENY
    assert example(SteeringSubmit(prompts=("sk-live-1",)), project).verdict is Verdict.DENY


def test_a_result_is_hidden_and_a_failed_tool_gets_context(project: Path) -> None:
    hidden = example(bash("env", "PostToolUse", tool_response={"stdout": "password=1"}), project)
    assert hidden.verdict is Verdict.DENY
    failed = example(bash("false", "PostToolUseFailure", error="exit 1"), project)
    assert failed.answer.context == ("It failed before, too.",)


def test_an_unfinished_agent_is_kept_going_once(project: Path) -> None:
    outcome = example(claude("Stop", stop_hook_active=False), project)
    assert outcome.answer.follow_up == ("The tests have not run yet.",)
    assert not example(claude("Stop", stop_hook_active=True), project).answer.follow_up


@pytest.mark.parametrize(
    ("caller", "native", "matcher"),
    [("vscode", "SessionStart", "startup"), ("docker-agent", "pre_compact", "auto")],
)
def test_a_matcher_holds_for_the_word_that_stands_for_another_platforms(
    caller: str, native: str, matcher: str, project: Path
) -> None:
    data = {"session_id": "s1", "source": "new" if native == "SessionStart" else "overflow"}
    event = registry.dialect(caller).decode(json.dumps(data).encode(), native)
    assert settings(event, project, {"matcher": matcher, "hooks": [command("true")]}).runs
    assert not settings(event, project, {"matcher": "clear", "hooks": [command("true")]}).runs


def test_a_matcher_that_misses_runs_nothing(project: Path) -> None:
    read = claude("PreToolUse", tool_name="Read", tool_input={"file_path": "password"})
    assert not example(read, project).runs


# ── exit codes and text ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "echo no >&2; exit 2",
        "echo no; exit 3",
        "./hooks/missing.sh",
        'echo \'{"decision": "block", "reason": "no"}\'; exit 1',
        'echo \'{"decision": "deny", "reason": "no"}\' >&2',
        'echo \'"{\\"decision\\": \\"deny\\"}"\'',
    ],
)
def test_these_deny(project: Path, text: str) -> None:
    assert written(bash("ls"), project, text).verdict is Verdict.DENY


@pytest.mark.parametrize(
    "text",
    [
        "exit 2",
        "echo maybe >&2; exit 1",
        "kill -9 $$",
        "echo '{broken'",
        'echo \'{"hookSpecificOutput": {"permissionDecision": "deny"}}\'',
    ],
)
def test_these_fail_and_the_tool_runs(project: Path, text: str) -> None:
    outcome = written(bash("ls"), project, text)
    assert outcome.verdict is Verdict.PASS
    assert len(failures(outcome)) == 1
    assert outcome.answer.notice


def test_json_beats_the_exit_code(project: Path) -> None:
    outcome = written(bash("ls"), project, 'echo \'{"decision": "allow"}\'; exit 2')
    assert outcome.verdict is Verdict.PASS


def test_time_is_counted_in_milliseconds(project: Path) -> None:
    outcome = written(bash("ls"), project, "exec sleep 60", timeout=300)
    assert outcome.verdict is Verdict.PASS
    assert failures(outcome) == ["no answer within 0.3 s"]


# ── several hooks ───────────────────────────────────────────────────────────────────────────

MEET = (
    "mktemp here.XXXXXX >/dev/null; n=0; while [ $(ls here.* | wc -l) -lt 2 ]; "
    "do n=$((n+1)); [ $n -lt 200 ] || exit 1; sleep 0.05; done"
)


def over(field: str, value: str) -> str:
    return f"echo '{json.dumps({'hookSpecificOutput': {'tool_input': {field: value}}})}'"


def test_hooks_run_at_the_same_time_and_the_same_one_once(project: Path) -> None:
    # Each waits for the other, which a sequence would never let begin.
    outcome = written(bash("ls"), project, f"{MEET}; true one", f"{MEET}; true two")
    assert not failures(outcome)
    twice = written(bash("ls"), project, "echo x >> ran", "echo x >> ran")
    assert len(twice.runs) == 1
    assert (project / "ran").read_text() == "x\n"


def test_the_same_command_under_two_names_runs_twice(project: Path) -> None:
    hooks = [command("echo x >> ran", name=name) for name in ("one", "two")]
    assert len(settings(bash("ls"), project, {"hooks": hooks}).runs) == 2


def test_one_sequential_group_chains_all_and_a_deny_stops_nobody(project: Path) -> None:
    outcome = settings(
        bash("ls"),
        project,
        {"hooks": [command(f"{over('command', 'pwd')}; echo one >> order")]},
        {"hooks": [command("cat > seen.json; echo no >&2; echo two >> order; exit 2")]},
        {"sequential": True, "hooks": [command("echo three >> order")]},
    )
    assert outcome.verdict is Verdict.DENY
    assert (project / "order").read_text().split() == ["one", "two", "three"]
    assert json.loads((project / "seen.json").read_text())["tool_input"]["command"] == "pwd"


def test_side_by_side_each_sees_the_first_input_and_the_last_writer_wins(project: Path) -> None:
    outcome = written(
        bash("ls"),
        project,
        f"cat > one.json; {over('command', 'pwd')}",
        f"cat > two.json; {over('command', 'id')}",
    )
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.command == "id"
    for name in ("one.json", "two.json"):
        assert json.loads((project / name).read_text())["tool_input"]["command"] == "ls"


# ── what a hook sees ────────────────────────────────────────────────────────────────────────


def test_a_hook_reads_the_keys_that_gemini_sends(project: Path) -> None:
    written(bash("ls -l", cwd=str(project)), project, "cat > seen.json")
    seen = json.loads((project / "seen.json").read_text())
    assert seen.pop("timestamp").endswith("Z")
    assert seen == {
        "session_id": "s1",
        "transcript_path": "",
        "cwd": str(project),
        "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "ls -l"},
    }


def test_a_hook_runs_in_bash_in_the_project_with_its_variables(project: Path) -> None:
    below = project / "below"
    below.mkdir()
    text = (
        '[[ -n $BASH_VERSION ]] && printf \'%s\\n\' "$PWD" "$GEMINI_PROJECT_DIR" '
        '"$CLAUDE_PROJECT_DIR" "$GEMINI_CWD" "$GEMINI_SESSION_ID" "$MINE" > seen'
    )
    hook = command(text, env={"MINE": "set here"})
    settings(bash("ls", cwd=str(below)), project, {"hooks": [hook]}, env={"MINE": "theirs"})
    assert (project / "seen").read_text().splitlines() == [
        str(project),
        str(project),
        str(project),
        str(below),
        "s1",
        "set here",
    ]


def test_a_project_with_a_blank_in_its_name_needs_no_quotes(tmp_path: Path) -> None:
    project = tmp_path / "my app"
    shutil.copytree(EXAMPLES / "hooks", project / "hooks")
    (project / ".gemini").mkdir()
    assert example(bash("rm -rf ~"), project).reason == "no"


def test_a_call_of_a_client_with_other_keys_is_rewritten_in_them(project: Path) -> None:
    data = {"toolName": "create", "toolArgs": {"path": "a", "file_text": "x"}, "sessionId": "s"}
    event = registry.dialect("copilot").decode(json.dumps(data).encode(), "preToolUse")
    outcome = written(event, project, f"cat > seen.json; {over('file_path', 'b')}")
    seen = json.loads((project / "seen.json").read_text())
    assert seen["tool_input"] == {"file_path": "a", "content": "x"}
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"path": "b", "file_text": "x"}


def test_gemini_runs_its_own_files_itself(project: Path) -> None:
    event = PreToolUse(tool=tool("shell", command="rm -rf ~"), dialect="gemini")
    assert not example(event, project).runs
