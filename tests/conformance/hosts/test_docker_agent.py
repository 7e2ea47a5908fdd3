"""The docker-agent examples as host configs: as they lie there, with real processes."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.dialects.docker_agent.files import FILES
from hookline.model.answers import PASS, Verdict
from hookline.model.events import (
    Agent,
    AgentSwitch,
    BeforeCompaction,
    BeforeLlmCall,
    Event,
    FollowUpSubmit,
    Notification,
    PermissionDecided,
    PermissionRequest,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SessionStart,
    SteeringSubmit,
    Stop,
    SubagentStop,
    ToolResponseTransform,
    TurnEnd,
    TurnStart,
    UserInput,
    WorktreeCreate,
)
from hookline.model.models import ModelEntry
from hookline.model.native import Voids
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from hookline.snapshots import Page
from support.endpoints import Endpoint
from support.hosts import host
from support.receiving import Receiver

EXAMPLES = Path(__file__).parents[3] / "examples/docker-agent"
pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="the examples call jq")


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    return tmp_path


def shell(command: str, **keys: Any) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=command), **keys)


def example(name: str, event: Event, project: Path, **keys: Any) -> Outcome:
    """The example's effect, with its logs in the project rather than in the machine's /tmp."""
    env = {"TMPDIR": str(project), **keys.pop("env", {})}
    return host(FILES, [project / f"{name}.yaml"], event, project=project, env=env, **keys)


def written(text: str, event: Event, project: Path, **keys: Any) -> Outcome:
    file = project / "agent.yaml"
    file.write_text(text, encoding="utf-8")
    return host(FILES, [file], event, project=project, **keys)


def pre(*commands: str, preempt: bool = False) -> str:
    hooks = "".join(f"\n        - {{type: command, command: {json.dumps(c)}}}" for c in commands)
    return (
        f"hooks:\n  pre_tool_use:\n    - preempt_yolo: {str(preempt).lower()}\n      hooks:{hooks}"
    )


# ── the page's examples ─────────────────────────────────────────────────────────────────────


def test_the_validation_script_blocks_what_it_forbids_and_says_why(project: Path) -> None:
    for command in ("rm -rf ~", "sudo reboot"):
        outcome = example("agent", shell(command), project)
        assert outcome.verdict is Verdict.DENY
        assert "neither sudo nor rm -rf" in outcome.reason
    assert example("agent", shell("ls"), project).verdict is Verdict.PASS


def test_a_matcher_that_does_not_name_the_tool_keeps_the_hook_out(project: Path) -> None:
    def commands(event: Event) -> list[str]:
        runs = example("agent", event, project).runs
        return [run.hook.handler.kind for run in runs if run.hook.handler.kind == "command"]

    assert commands(PreToolUse(tool=tool("read", path="sudo"))) == []
    assert len(commands(PreToolUse(tool=tool("edit", path="a", old="b", new="c")))) == 1


def test_tool_calls_are_logged_whether_they_worked_or_not(project: Path) -> None:
    done = tool("shell", command="ls")
    for event in (PostToolUse(tool=done, session_id="s1"), PostToolUseFailure(tool=done, error="")):
        assert example("agent", event, project).verdict is Verdict.PASS
    log = (project / "audit.log").read_text().splitlines()
    assert [line.split(" | ")[1:] for line in log] == [["s1", "shell"], ["", "shell"]]


def test_plain_stdout_is_context_when_a_session_starts(project: Path) -> None:
    outcome = example("agent", SessionStart(source="startup", session_id="s1"), project)
    assert outcome.answer.context == ("Notes of this session (startup) belong into .agent-notes.",)
    assert (project / ".agent-notes").is_dir()
    written(
        "hooks: {session_start: [{type: command, command: cat > seen.json}]}",
        SessionStart(source="startup", session_id="s1"),
        project,
    )
    assert json.loads((project / "seen.json").read_text()) == {
        "session_id": "s1",
        "cwd": str(project),
        "hook_event_name": "session_start",
        "agent_name": "root",
        "source": "startup",
    }


@pytest.mark.parametrize(
    ("event", "kept"),
    [
        (SessionEnd(reason="logout"), ("audit.log", "session over: logout")),
        (UserInput(), ("waiting.txt", "an agent is waiting for you")),
        (Stop(last_message="done"), ("responses.jsonl", '"stop_response":"done"')),
        (Notification(message="careful"), ("alerts.log", "[warning] careful")),
    ],
)
def test_events_that_only_observe_reach_their_script(
    event: Event, kept: tuple[str, str], project: Path
) -> None:
    assert example("agent", event, project).verdict is Verdict.PASS
    assert kept[1] in (project / kept[0]).read_text()


def test_a_session_is_told_about_at_its_start_and_end(project: Path) -> None:
    started = example("session", SessionStart(session_id="s1"), project)
    assert started.answer.context == ("This session is written down.",)
    example("session", SessionEnd(session_id="s1", reason="other"), project)
    log = (project / "agent-session.log").read_text().splitlines()
    assert log[0].endswith("session s1 begins")
    assert log[1].endswith("session s1 ends: other")


def test_responses_and_notifications_are_logged(project: Path) -> None:
    example("responses", Stop(session_id="s1", last_message="12345"), project)
    assert "session s1 answer of 5 characters" in (project / "agent-responses.log").read_text()
    example("notifications", Notification(message="all models failed"), project)
    assert "[warning] all models failed" in (project / "agent-notifications.log").read_text()


def test_steering_gets_context_and_follow_ups_are_logged(project: Path) -> None:
    steering = SteeringSubmit(prompt="stop", prompts=("stop", "look"))
    outcome = example("steering", steering, project)
    assert "Read those messages" in outcome.answer.context[0]
    assert (project / "agent-steering.log").read_text() == "stop\nlook\n"
    example("followups", FollowUpSubmit(prompt="next"), project)
    assert (project / "agent-followups.log").read_text() == "next\n"


def test_a_permission_request_is_answered_for_the_person(project: Path) -> None:
    asked = PermissionRequest(tool=tool("shell", command="ls src"))
    outcome = example("permission", asked, project)
    assert (outcome.verdict, outcome.reason) == (Verdict.ALLOW, "it only reads")
    for command in ("make", "ls ; rm a", "cat a > b", "ls $(make)", "cat a\nrm a"):
        other = PermissionRequest(tool=tool("shell", command=command))
        assert example("permission", other, project).verdict is Verdict.PASS
    risky = PermissionRequest(tool=tool("shell", command="rm a"))
    assert example("metadata", risky, project).answer.metadata["risk"] == "high"


def test_options_of_a_hook_set_its_directory_and_variables(project: Path) -> None:
    done = replace(tool("shell", command="ls"), output="a")
    outcome = example("options", PostToolUse(tool=done), project)
    assert outcome.answer.context == ("1 lines of output (profile dev, in hooks)",)
    assert outcome.runs[0].hook.name == "summarize shell output"
    assert outcome.runs[0].hook.timeout == 120


def test_a_new_worktree_is_prepared_where_it_is(project: Path) -> None:
    tree = project / "tree"
    tree.mkdir()
    (project / ".env").write_text("A=1")
    event = WorktreeCreate(cwd=str(tree), path=str(tree), branch="b", source_dir=str(project))
    outcome = example("worktree", event, project)
    assert outcome.answer.notice == ("The work tree is prepared.",)
    assert (tree / ".env").read_text() == "A=1"
    (tree / "package.json").write_text("{}")
    (project / "npm").write_text("#!/bin/sh\nexit 1\n")
    (project / "npm").chmod(0o755)
    path = f"{project}{os.pathsep}{os.environ['PATH']}"
    failed = example("worktree", event, project, env={"PATH": path})
    assert (failed.verdict, "npm install failed" in failed.reason) == (Verdict.DENY, True)


def test_builtins_run(project: Path) -> None:
    (project / "GUIDELINES.md").write_text("Be kind.")
    outcome = example("builtins", TurnStart(cwd=str(project)), project)
    assert outcome.answer.context[0].startswith("Today's date: ")
    assert outcome.answer.context[1] == "Be kind."
    assert "Working directory" in example("builtins", SessionStart(), project).answer.context[0]
    assert example("builtins", BeforeLlmCall(iteration=50), project).verdict is Verdict.PASS
    assert example("builtins", BeforeLlmCall(iteration=51), project).verdict is Verdict.DENY


def test_a_model_is_unloaded_where_its_file_says_that_it_runs(project: Path) -> None:
    switch = AgentSwitch(from_agent="coder", to_agent="reviewer", agent=Agent(name="coder"))
    outcome = example("unload", switch, project)
    assert (len(outcome.runs), outcome.answer) == (1, PASS)  # no address is in the example
    with Receiver() as runner:
        text = (
            (EXAMPLES / "unload.yaml")
            .read_text()
            .replace(
                "model: ai/qwen3-large",
                f"model: ai/qwen3-large\n    base_url: {runner.url}/engines/v1",
            )
        )
        assert written(text, switch, project).answer == PASS
    assert runner.seen == [("/engines/_unload", {"model": "ai/qwen3-large"})]


def test_a_turn_is_kept_so_that_it_can_be_undone(project: Path, tmp_path: Path) -> None:
    work = project / "work"
    work.mkdir()
    git = ("git", "-C", str(work))
    subprocess.run([*git, "init", "-q"], check=True)
    (work / "a.txt").write_text("before")
    state = str(tmp_path / "state")
    for name in ("settings", "snapshot"):
        session: dict[str, Any] = {"session_id": name, "cwd": str(work)}
        for event in (SessionStart(**session), TurnStart(**session)):
            assert example(name, event, project, home=state).answer == PASS
        (work / "a.txt").write_text(name)
        assert example(name, TurnEnd(**session), project, home=state).answer == PASS
        assert example(name, SessionEnd(**session), project, home=state).answer == PASS
        (shadow,) = Path(state, "snapshot").iterdir()
        (point,) = Page(str(shadow), name).read().checkpoints
        assert [(path, each.how) for path, each in point.files.items()] == [("a.txt", "M")]
    status = subprocess.run([*git, "status", "--short"], check=True, capture_output=True).stdout
    assert status == b"?? a.txt\n"  # nothing of it is staged


def test_a_text_is_posted_and_never_to_this_machine(project: Path) -> None:
    with Receiver() as receiver:
        text = f"""hooks:
  session_end:
    - {{type: builtin, command: http_post, args: ["{receiver.url}/x", "{{}}"]}}
    - {{type: builtin, command: http_post, args: []}}
    - {{type: builtin, command: http_post, args: ["file:///etc/passwd"]}}
"""
        outcome = written(text, SessionEnd(), project)
    assert receiver.seen == []
    assert outcome.answer.metadata == {
        "http_post": f"{receiver.url}: its address is private: this machine's, or its network's"
    }
    assert [bool(run.failed) for run in outcome.runs] == [False, False, True]
    assert "only http and https" in outcome.answer.notice[0]


def test_a_builtin_sees_the_directory_and_variables_of_its_entry(project: Path) -> None:
    (project / "inner").mkdir()
    (project / "inner" / "RULES.md").write_text("inner rules")
    (project / "person").mkdir()
    (project / "person" / "RULES.md").write_text("own rules")
    entry = "type: builtin, command: add_prompt_files, args: [RULES.md], working_dir: inner"
    text = f"hooks: {{turn_start: [{{{entry}, env: {{HOME: {project}/person}}}}]}}"
    outcome = written(text, TurnStart(), project)
    assert outcome.answer.context == ("inner rules\n\nown rules",)


def test_a_large_response_is_cut_and_a_secret_in_it_is_redacted_unasked(project: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    lines = "".join(f"line {n}\n" for n in range(3_000))
    done = replace(tool("shell", command="ls"), output=f"{lines}{token}\n")
    event = ToolResponseTransform(tool=done, session_id="s1")
    text = "agents: {root: {model: m}}"
    said = written(text, event, project, env={"TMPDIR": str(project)}).answer.rewrite.output
    assert said is not None
    assert "3001 lines" in said
    assert token not in said
    off = written("agents: {root: {redact_secrets: false}}", event, project)
    assert token in (off.answer.rewrite.output or "")


def test_secrets_are_taken_out_before_a_tool_and_after_it(project: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    before = example("redaction", shell(f"login {token}"), project)
    assert isinstance(before.final, PreToolUse)
    assert token not in str(before.final.tool.input)
    done = ToolResponseTransform(tool=replace(tool("shell", command="env"), output=f"A={token}"))
    said = example("redaction", done, project).answer.rewrite.output
    assert said is not None
    assert token not in said


def test_a_summary_is_guided_or_replaced_by_a_file_of_ones_own(project: Path) -> None:
    guided = example("compaction", PreCompact(), project)
    assert guided.answer.context == (
        "Keep the issue's number, the branch and every open question.",
    )
    assert example("compaction", BeforeCompaction(), project).answer.rewrite.summary is None
    (project / ".agent-notes").mkdir()
    (project / ".agent-notes/summary.md").write_text("Refactored pkg/foo.")
    own = example("compaction", BeforeCompaction(), project)
    assert own.answer.rewrite.summary == "Refactored pkg/foo."


def test_decisions_on_tool_calls_are_written_down(project: Path) -> None:
    decided = PermissionDecided(tool=tool("shell", command="ls"), decision="allow", by="yolo")
    example("approvals", decided, project)
    assert (project / "approvals.log").read_text() == "allow by yolo: shell\n"


def test_a_model_judges_a_call_and_its_no_is_a_deny(project: Path) -> None:
    def judged(verdict: str, reason: str) -> Outcome:
        says = json.dumps({"decision": verdict, "reason": reason})
        with Endpoint(says) as endpoint:
            models = {
                "openai/gpt-4o-mini": ModelEntry(model="openai/scripted", endpoint=endpoint.url)
            }
            outcome = example("judge", shell("cp a ~/.ssh/b"), project, models=models)
        assert "cp a ~/.ssh/b" in endpoint.asked[0].said("user")
        return outcome

    refused = judged("deny", "it writes to ~/.ssh")
    assert (refused.verdict, "~/.ssh" in refused.reason) == (Verdict.DENY, True)
    assert judged("allow", "it reads").verdict is Verdict.ALLOW


def test_rules_that_stay_docker_agents_own_are_told_with_their_line(project: Path) -> None:
    path = project / "judge.yaml"
    (flaw,) = FILES.read(str(path), path.read_bytes()).flaws
    line = path.read_text().splitlines()[flaw.line - 1]
    assert (line.strip(), flaw.voids) == ("deny:", Voids.NOTHING)
    assert "hookline.yaml" in flaw.hint


def test_its_shell_guard_asks_before_what_its_table_calls_destructive(project: Path) -> None:
    assert example("preempt", shell("ls -la"), project).verdict is Verdict.PASS
    outcome = example("preempt", shell("rm -rf build"), project)
    assert outcome.verdict is Verdict.ASK
    assert outcome.answer.metadata["blast_radius"] == "high"
    assert outcome.answer.metadata["category"] == "fs-delete"


def test_what_cannot_run_yet_fails_closed_before_a_tool(project: Path) -> None:
    assert example("judge", shell("ls"), project).verdict is Verdict.DENY
    read = PreToolUse(tool=tool("read", path="a"))
    assert example("judge", read, project).verdict is Verdict.PASS


# ── its rules ───────────────────────────────────────────────────────────────────────────────

REWRITE = """INPUT=$(cat); echo "$INPUT" | jq -c '{hook_specific_output: {updated_input: \
{cmd: (.tool_input.cmd + " #1")}}}'"""


def test_hooks_that_rewrite_see_what_those_before_them_made_of_it(project: Path) -> None:
    outcome = written(pre(REWRITE, f"true; {REWRITE}"), shell("ls"), project)
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.command == "ls #1 #1"


def test_asks_denies_and_stop_words_have_their_meaning(project: Path) -> None:
    def says(body: dict[str, Any]) -> Outcome:
        return written(pre(f"echo '{json.dumps(body)}'"), shell("ls"), project)

    ask = {"permission_decision": "ask", "permission_decision_reason": "sure?"}
    assert says({"hook_specific_output": ask}).verdict is Verdict.ASK
    assert says({"continue": False, "stop_reason": "no"}).verdict is Verdict.DENY
    assert says({"decision": "block", "reason": "no"}).reason.startswith("no")
    assert says({}).verdict is Verdict.PASS
    assert written(pre("echo text"), shell("ls"), project).answer.context == ()


def test_a_hook_before_a_tool_that_fails_denies_whatever_it_says_itself(project: Path) -> None:
    for command in ("exit 1", "kill -9 $$", "./missing.sh"):
        text = pre(command).replace("type: command", "type: command, on_error: ignore")
        assert written(text, shell("ls"), project).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("on_error", "notices", "verdict"),
    [("warn", 1, Verdict.PASS), ("ignore", 0, Verdict.PASS), ("block", 0, Verdict.DENY)],
)
def test_elsewhere_a_failure_is_what_on_error_says(
    on_error: str, notices: int, verdict: Verdict, project: Path
) -> None:
    text = f"""hooks:
  pre_compact:
    - {{type: command, command: exit 3, on_error: {on_error}}}
"""
    outcome = written(text, PreCompact(), project)
    assert (len(outcome.answer.notice), outcome.verdict) == (notices, verdict)


def test_a_hook_that_takes_too_long_has_failed(project: Path) -> None:
    text = pre("sleep 30").replace("type: command", "type: command, timeout: 1")
    outcome = written(text, shell("ls"), project)
    assert outcome.verdict is Verdict.DENY
    assert "no answer within 1 s" in outcome.reason


def test_the_same_hook_twice_runs_once_and_others_side_by_side(project: Path) -> None:
    text = """hooks:
  turn_start:
    - {type: command, command: echo one}
    - {type: command, command: echo one}
    - {type: command, command: echo two}
    - {type: command, command: echo one, name: another}
"""
    assert written(text, TurnStart(), project).answer.context == ("one", "two", "one")


def test_a_deny_before_all_approval_leaves_the_other_lane_unasked(project: Path) -> None:
    text = pre("echo no >&2; exit 2", preempt=True) + pre("touch ran").removeprefix(
        "hooks:\n  pre_tool_use:"
    )
    outcome = written(text, shell("ls"), project)
    assert outcome.verdict is Verdict.DENY
    assert not (project / "ran").exists()


def test_before_all_approval_an_allow_is_advice_and_nothing_is_rewritten(project: Path) -> None:
    own = {"permission_decision": "allow", "updated_input": {"cmd": "evil"}, "metadata": {"a": "b"}}
    says = f"echo '{json.dumps({'hook_specific_output': own})}'"
    outcome = written(pre(says, preempt=True), shell("ls"), project)
    assert (outcome.verdict, outcome.final) == (Verdict.PASS, None)
    assert outcome.answer.metadata == {"a": "b"}
    assert written(pre(says), shell("ls"), project).final is not None
    asks = says.replace("allow", "ask")
    assert written(pre(asks, preempt=True), shell("ls"), project).verdict is Verdict.ASK


def test_the_reason_of_an_allow_is_told_to_the_model(project: Path) -> None:
    own = {"permission_decision": "allow", "permission_decision_reason": "it only reads"}
    says = f"echo '{json.dumps({'hook_specific_output': own})}'"
    outcome = written(pre(says), shell("ls"), project)
    assert (outcome.verdict, outcome.answer.context) == (Verdict.ALLOW, ("it only reads",))
    other = says.replace("allow", "ask")
    assert written(pre(other), shell("ls"), project).answer.context == ()


def test_notes_of_a_hook_after_all_approval_are_dropped(project: Path) -> None:
    own = {"permission_decision": "ask", "metadata": {"risk": "high"}}
    says = f"echo '{json.dumps({'hook_specific_output': own})}'"
    assert written(pre(says), shell("ls"), project).answer.metadata == {}
    asked = PermissionRequest(tool=tool("shell", command="ls"))
    text = (
        pre(says)
        .replace("pre_tool_use", "permission_request")
        .replace("preempt_yolo: false", "matcher: shell")
    )
    assert written(text, asked, project).answer.metadata == {"risk": "high"}


def test_before_all_approval_the_payload_names_the_one_event_there_is(project: Path) -> None:
    event = shell("ls", session_id="s1")
    written(pre("cat > seen.json", preempt=True), event, project)
    assert json.loads((project / "seen.json").read_text()) == {
        "session_id": "s1",
        "cwd": str(project),
        "hook_event_name": "pre_tool_use",
        "agent_name": "root",
        "tool_name": "shell",
        "tool_input": {"cmd": "ls"},
    }


def test_the_shell_is_the_one_of_whoever_runs_the_agent(project: Path) -> None:
    text = "hooks:\n  turn_start:\n    - {type: command, command: 'echo ${BASH_VERSION:+bash}'}"
    bash = str(shutil.which("bash"))
    assert written(text, TurnStart(), project, env={"SHELL": bash}).answer.context == ("bash",)
    (project / "sh").write_text("#!/bin/sh\necho caught")
    assert written(text, TurnStart(), project, env={"SHELL": "sh"}).answer.context == ()


def test_a_rewritten_response_reaches_the_next_in_the_row(project: Path) -> None:
    change = """jq -c '{hook_specific_output: {updated_tool_response: (.tool_response + "!")}}'"""
    text = f"""hooks:
  tool_response_transform:
    - hooks:
        - {{type: command, command: {json.dumps(change)}}}
        - {{type: command, command: {json.dumps(change + " ")}}}
"""
    done = ToolResponseTransform(tool=replace(tool("shell", command="ls"), output="a"))
    outcome = written(text, done, project)
    assert outcome.answer.rewrite.output == "a!!"


@pytest.mark.parametrize("name", ["write_file", "write"])
def test_another_platforms_tool_is_shown_under_docker_agents_keys(name: str, project: Path) -> None:
    """Gemini has a tool of the same name, with another key for the path."""
    gemini = registry.tools("gemini").read("write_file", {"file_path": "a", "content": "b"})
    own = {"hook_specific_output": {"updated_input": {"path": "c"}}}
    check = f"""grep -q '"path":"a"' && echo '{json.dumps(own)}'"""
    text = pre(check).replace("preempt_yolo", "matcher: write_file\n      preempt_yolo")
    outcome = written(text, PreToolUse(tool=replace(gemini, name=name), dialect="gemini"), project)
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.path == "c"
    assert outcome.final.tool.input["content"] == "b"


def test_what_comes_in_lists_here_goes_back_one_by_one(project: Path) -> None:
    def updated(input: dict[str, Any], event: PreToolUse) -> Outcome:
        body = json.dumps({"hook_specific_output": {"updated_input": input}})
        return written(pre(f"echo '{body}'"), event, project)

    fetch = PreToolUse(tool=tool("fetch", url="http://a"))
    outcome = updated({"urls": ["http://b"]}, fetch)
    assert outcome.answer.rewrite.input == {"url": "http://b"}
    assert updated({"urls": ["http://b", "http://c"]}, fetch).verdict is Verdict.DENY
    edit = PreToolUse(tool=tool("edit", path="a", old="b", new="c"))
    outcome = updated({"edits": [{"oldText": "b", "newText": "d"}]}, edit)
    assert outcome.answer.rewrite.input == {"old": "b", "new": "d"}


TEAM = """agents:
  coder:
    hooks: &hooks
      turn_start: [{type: command, command: echo coder}]
      subagent_stop: [{type: command, command: touch child-done}]
  reviewer:
    hooks:
      turn_start: [{type: command, command: echo reviewer}]
"""


def test_each_agent_has_its_own_hooks_and_an_unknown_one_the_first_agents(project: Path) -> None:
    def context(name: str, depth: int = 0) -> tuple[str, ...]:
        event = TurnStart(agent=Agent(name=name, depth=depth))
        return written(TEAM, event, project).answer.context

    assert context("coder") == ("coder",)
    assert context("reviewer") == ("reviewer",)
    assert context("root") == ("coder",)
    assert context("Explore", depth=1) == ("coder",)


def test_a_finished_child_is_told_of_whatever_its_name(project: Path) -> None:
    written(TEAM, SubagentStop(agent=Agent(name="reviewer", depth=1)), project)
    assert (project / "child-done").exists()


def test_flags_add_hooks_after_those_of_the_files(project: Path) -> None:
    file = project / "agent.yaml"
    file.write_text("hooks: {session_start: [{type: command, command: echo file}]}")
    flags = FILES.flags(["agent.yaml", "--hook-session-start", "echo flag", "--hook-stop=echo x"])
    outcome = host(FILES, [file, flags], SessionStart(), project=project)
    assert outcome.answer.context == ("file", "flag")
    assert host(FILES, [file, flags], Stop(), project=project).answer.context == ("x",)


def test_docker_agents_own_events_are_left_to_docker_agent(project: Path) -> None:
    payload = json.dumps({"hook_event_name": "session_start", "cwd": str(project)}).encode()
    event = FILES.codec.decode(payload, None)
    assert example("agent", event, project).runs == ()


def test_of_two_summaries_the_first_counts(project: Path) -> None:
    def says(**own: str) -> str:
        return json.dumps(f"echo '{json.dumps({'hook_specific_output': own})}'")

    text = f"""
agents:
  root:
    model: m
    hooks:
      before_compaction:
        - {{type: command, command: "true"}}
        - {{type: command, command: {says(summary="first")}}}
        - {{type: command, command: {says(summary="second")}}}
"""
    outcome = written(text, BeforeCompaction(), project)
    assert outcome.answer.rewrite.summary == "first"
    assert len(outcome.runs) == 3
    blocked = text + "        - {type: command, command: 'echo no >&2; exit 2'}\n"
    assert written(blocked, BeforeCompaction(), project).verdict is Verdict.DENY
