"""Copilot's hook files as host configs: unchanged, with real processes, to Copilot's effect."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.dialects._copilot.files import CopilotFiles
from hookline.dialects.copilot.files import FILES
from hookline.dialects.copilot_cloud.files import FILES as CLOUD
from hookline.model.answers import Verdict
from hookline.model.events import Event, PreToolUse, SessionResume, SteeringSubmit
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

EXAMPLES = Path(__file__).parent / "copilot"


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "scripts", tmp_path / "scripts")
    (tmp_path / ".github/hooks").mkdir(parents=True)
    return tmp_path


def example(
    event: Event,
    project: Path,
    name: str = "native.json",
    platform: CopilotFiles = FILES,
    env: Any = None,
) -> Outcome:
    file = Path(shutil.copy(EXAMPLES / name, project / ".github/hooks"))
    return host(platform, [file], event, project=project, env=env)


def written(event: Event, project: Path, native: str, *items: Any, env: Any = None) -> Outcome:
    file = project / ".github/hooks/guard.json"
    file.write_text(json.dumps({"version": 1, "hooks": {native: items}}))
    return host(FILES, [file], event, project=project, env=env)


def bash_item(text: str, **keys: Any) -> dict[str, Any]:
    return {"type": "command", "bash": text, **keys}


def says(**body: Any) -> dict[str, Any]:
    return bash_item(f"echo '{json.dumps(body)}'")


def claude(native: str, **fields: Any) -> Event:
    """An event as Claude Code sends it."""
    data = {"session_id": "s1", "hook_event_name": native, **fields}
    return registry.dialect("claude-code").decode(json.dumps(data).encode(), None)


def bash(command: str, native: str = "PreToolUse", **fields: Any) -> Event:
    given = {"command": command, "description": "what it does"}
    return claude(native, tool_name="Bash", tool_input=given, tool_use_id="t1", **fields)


def failures(outcome: Outcome) -> list[str]:
    return [run.failed for run in outcome.runs if run.failed]


# ── the examples of BaseCoat's page, which all of GitHub's agents run ───────────────────────


@pytest.mark.parametrize("platform", [FILES, CLOUD], ids=["cli", "cloud"])
def test_a_command_is_denied_with_the_hooks_reason(project: Path, platform: CopilotFiles) -> None:
    outcome = example(bash("rm -rf ~"), project, platform=platform)
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("Destructive commands are off limits.")


def test_a_rewrite_comes_with_context(project: Path) -> None:
    outcome = example(bash("npm install"), project)
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"command": "npm ci", "description": "what it does"}
    assert outcome.answer.context == ("The lock file is the truth.",)


def test_a_question_is_asked_unless_nobody_is_there(project: Path) -> None:
    assert example(bash("git push"), project).verdict is Verdict.ASK
    assert example(bash("git push"), project, platform=CLOUD).verdict is Verdict.DENY


def test_a_nested_answer_is_not_heard_under_camel_case_and_somebody_is_told(
    project: Path,
) -> None:
    outcome = example(bash("nested"), project)
    assert outcome.verdict is Verdict.PASS
    assert "hookSpecificOutput" in outcome.answer.notice[0]


def test_an_unfinished_agent_is_kept_going_once(project: Path) -> None:
    outcome = example(claude("Stop", stop_hook_active=False), project)
    assert outcome.answer.follow_up == ("Write the handoff note first.",)
    assert not example(claude("Stop", stop_hook_active=True), project).answer.follow_up


def test_telemetry_is_written_only_where_it_was_asked_for(project: Path) -> None:
    done = bash("ls", "PostToolUse", tool_response={"stdout": "x"})
    assert example(done, project, "telemetry.json").verdict is Verdict.PASS
    assert not (project / "telemetry.jsonl").exists()
    env = {"APPINSIGHTS_CONNECTION_STRING": "x"}
    example(done, project, "telemetry.json", env=env)
    example(claude("Stop"), project, "telemetry.json", env=env)
    tool_line, stop_line = map(json.loads, (project / "telemetry.jsonl").read_text().splitlines())
    # The casing of the event in the file is the casing of the payload.
    assert tool_line["toolName"] == "bash"
    assert tool_line["toolResult"] == {"resultType": "success", "textResultForLlm": "x"}
    assert (stop_line["hook_event_name"], stop_line["stop_reason"]) == ("Stop", "end_turn")


# ── what a hook sees ────────────────────────────────────────────────────────────────────────


def test_under_camel_case_a_hook_reads_copilots_names_and_keys(project: Path) -> None:
    given = {"file_path": "a.py", "content": "x"}
    event = claude("PreToolUse", tool_name="Write", tool_input=given, cwd=str(project))
    written(event, project, "preToolUse", bash_item("cat > seen.json"))
    seen = json.loads((project / "seen.json").read_text())
    assert isinstance(seen.pop("timestamp"), int)
    assert seen == {
        "sessionId": "s1",
        "cwd": str(project),
        "toolName": "create",
        "toolArgs": {"path": "a.py", "file_text": "x"},
    }


def test_under_pascal_case_a_hook_reads_claude_names_with_copilots_keys(project: Path) -> None:
    given = {"file_path": "a.py", "content": "x"}
    event = claude("PreToolUse", tool_name="Write", tool_input=given, cwd=str(project))
    written(event, project, "PreToolUse", bash_item("cat > seen.json"))
    seen = json.loads((project / "seen.json").read_text())
    assert seen.pop("timestamp").endswith("Z")
    assert seen == {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": str(project),
        "tool_name": "Write",
        "tool_input": {"path": "a.py", "file_text": "x"},
    }


def test_a_rewrite_in_copilots_keys_reaches_the_other_platforms_tool(project: Path) -> None:
    given = {"file_path": "a.py", "content": "x"}
    event = claude("PreToolUse", tool_name="Write", tool_input=given)
    new = {"path": "b.py", "file_text": "x"}
    outcome = written(event, project, "preToolUse", says(modifiedArgs=new))
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"file_path": "b.py", "content": "x"}


def test_a_hook_runs_in_bash_in_the_directory_it_names_with_its_variables(project: Path) -> None:
    text = (
        '[[ -n $BASH_VERSION ]] && printf \'%s\\n\' "$PWD" "$COPILOT_PROJECT_DIR" '
        '"$CLAUDE_PROJECT_DIR" "$COPILOT_HOOK_DIR" "$COPILOT_CLI" "$MINE" > seen'
    )
    item = bash_item(text, cwd="scripts", env={"MINE": "${HOME}"})
    written(bash("ls", cwd=str(project / ".github")), project, "preToolUse", item)
    assert (project / "scripts/seen").read_text().splitlines() == [
        str(project / "scripts"),
        str(project),
        str(project),
        str(project / ".github/hooks"),
        "1",
        "${HOME}",
    ]


@pytest.mark.parametrize(
    ("event", "native", "key", "value"),
    [
        (SessionResume(), "sessionStart", "source", "resume"),
        (SteeringSubmit(prompts=("a", "b")), "UserPromptSubmit", "prompt", "a\nb"),
    ],
)
def test_moments_that_are_events_elsewhere_are_shown_as_copilots(
    project: Path, event: Event, native: str, key: str, value: str
) -> None:
    written(event, project, native, bash_item("cat > seen.json"))
    assert json.loads((project / "seen.json").read_text())[key] == value


def test_prompts_are_held_back_and_sessions_get_context(project: Path) -> None:
    block = says(decision="block", reason="no")
    prompt = claude("UserPromptSubmit", prompt="x")
    assert written(prompt, project, "userPromptSubmitted", block).verdict is Verdict.DENY
    told = says(additionalContext="The parser is new.")
    outcome = written(claude("SessionStart", source="startup"), project, "SessionStart", told)
    assert outcome.answer.context == ("The parser is new.",)


def test_a_program_and_its_arguments_need_no_shell(project: Path) -> None:
    item = {"exec": "touch", "args": ["a b", "$HOME"]}
    assert not failures(written(bash("ls"), project, "preToolUse", item))
    assert (project / "a b").exists()
    assert (project / "$HOME").exists()


# ── exit codes and failures ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "exit 2",
        "exit 1",
        'echo \'{"permissionDecision": "allow"}\'; exit 1',
        "kill -9 $$",
        "./scripts/missing.sh",
    ],
)
@pytest.mark.parametrize("native", ["preToolUse", "PreToolUse"])
def test_a_hook_that_crashes_before_a_tool_denies_it(project: Path, native: str, text: str) -> None:
    assert written(bash("ls"), project, native, bash_item(text)).verdict is Verdict.DENY


@pytest.mark.parametrize("text", ["echo looks fine", "true", 'echo \'{"decision": "deny"}\''])
def test_text_silence_and_unread_words_let_the_tool_run(project: Path, text: str) -> None:
    assert written(bash("ls"), project, "preToolUse", bash_item(text)).verdict is Verdict.PASS


def test_a_crash_on_any_other_event_is_only_told(project: Path) -> None:
    done = bash("ls", "PostToolUse", tool_response="x")
    outcome = written(done, project, "postToolUse", bash_item("exit 1"))
    assert outcome.verdict is Verdict.PASS
    assert len(failures(outcome)) == 1


def test_a_hook_that_copilot_skips_is_told_and_denies_nothing(project: Path) -> None:
    outcome = written(bash("ls"), project, "preToolUse", bash_item("exit 2", matcher="*"))
    assert outcome.verdict is Verdict.PASS
    assert "matcher" in outcome.answer.notice[0]


def test_a_hook_that_takes_too_long_is_told(project: Path) -> None:
    done = bash("ls", "PostToolUse", tool_response="x")
    outcome = written(done, project, "postToolUse", bash_item("exec sleep 60", timeoutSec=0.3))
    assert failures(outcome) == ["no answer within 0.3 s"]
    assert outcome.verdict is Verdict.PASS


def test_a_hook_that_takes_too_long_before_a_tool_is_never_weaker_than_copilot(
    project: Path,
) -> None:
    # Copilot lets the tool run then; one rule for every failure of a hook holds it back here.
    outcome = written(bash("ls"), project, "preToolUse", bash_item("exec sleep 60", timeoutSec=0.3))
    assert failures(outcome) == ["no answer within 0.3 s"]
    assert outcome.verdict is Verdict.DENY


def test_exit_2_refuses_permission(project: Path) -> None:
    outcome = written(
        bash("ls", "PermissionRequest"), project, "permissionRequest", bash_item("exit 2")
    )
    assert outcome.verdict is Verdict.DENY


# ── several hooks, matchers, groups ─────────────────────────────────────────────────────────


def test_hooks_run_in_order_later_ones_see_the_new_arguments_and_a_deny_ends_it(
    project: Path,
) -> None:
    outcome = written(
        bash("ls"),
        project,
        "preToolUse",
        bash_item('sleep 0.2; echo one >> order; echo \'{"modifiedArgs": {"command": "pwd"}}\''),
        bash_item("echo two >> order; cat > seen.json; exit 2"),
        bash_item("echo three >> order"),
    )
    assert outcome.verdict is Verdict.DENY
    assert (project / "order").read_text().split() == ["one", "two"]
    assert json.loads((project / "seen.json").read_text())["toolArgs"] == {"command": "pwd"}


def test_an_allow_does_not_stop_a_later_deny(project: Path) -> None:
    allow, deny = says(permissionDecision="allow"), bash_item("exit 2")
    assert written(bash("ls"), project, "preToolUse", allow, deny).verdict is Verdict.DENY


def test_both_casings_of_one_event_run(project: Path) -> None:
    file = project / ".github/hooks/guard.json"
    hooks = {name: [bash_item(f"echo {name} >> order")] for name in ("preToolUse", "PreToolUse")}
    file.write_text(json.dumps({"hooks": hooks}))
    host(FILES, [file], bash("ls"), project=project)
    assert (project / "order").read_text().split() == ["preToolUse", "PreToolUse"]


def test_groups_as_claude_code_writes_them_are_run(project: Path) -> None:
    group = {"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "exit 2"}]}
    assert written(bash("ls"), project, "PreToolUse", group).verdict is Verdict.DENY
    read = claude("PreToolUse", tool_name="Read", tool_input={"file_path": "a"})
    assert not written(read, project, "PreToolUse", group).runs


def test_under_pascal_case_nested_answers_are_heard(project: Path) -> None:
    own = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
    outcome = written(bash("ls"), project, "PreToolUse", says(hookSpecificOutput=own))
    assert outcome.verdict is Verdict.DENY


@pytest.mark.parametrize("dialect", ["copilot", "copilot-cloud", "vscode"])
def test_clients_that_run_the_file_themselves_are_left_to_it(project: Path, dialect: str) -> None:
    event = PreToolUse(tool=tool("shell", command="rm -rf ~"), dialect=dialect)
    assert not example(event, project).runs
