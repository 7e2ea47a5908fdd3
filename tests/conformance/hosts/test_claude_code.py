"""Hosts obey: Claude Code's examples run unchanged, with the effect its pages describe."""

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.claude_code.files import FILES
from hookline.model import events
from hookline.model.answers import Verdict
from hookline.model.events import Event, PostToolUse, PreToolUse
from hookline.model.native import NativeFile
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from hookline.registry import tools
from support.hosts import host

EXAMPLES = Path(__file__).parent / "claude_code"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    shutil.copytree(EXAMPLES / "project", root)
    return root


def fired(project: Path, event: Event, **options: Any) -> Outcome:
    """The example project's settings, as they are."""
    files = [project / ".claude" / "settings.json"]
    return host(FILES, files, event, project=project, **options)


def inline(project: Path, event: Event, hooks: Any, **options: Any) -> Outcome:
    """Settings made up for one rule."""
    return host(FILES, [settings(project, hooks)], event, project=project, **options)


def settings(project: Path, hooks: Any, name: str = "settings.json") -> NativeFile:
    path = project / ".claude" / name
    return FILES.read(str(path), json.dumps({"hooks": hooks}).encode())


def on(event: str, *lines: str, **more: Any) -> dict[str, Any]:
    return {event: [{"hooks": [{"type": "command", "command": line, **more} for line in lines]}]}


def bash(line: str, **more: Any) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=line), **more)


def says(body: dict[str, Any]) -> str:
    return f"echo '{json.dumps(body)}'"


def waited_for(path: Path) -> None:
    """Until a process that runs by itself has made a file; bounded, so that nothing hangs."""
    end = time.monotonic() + 30
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert path.exists()


# ── the examples ────────────────────────────────────────────────────────────────────────────


def test_exit_2_denies_with_what_is_on_stderr(project: Path) -> None:
    outcome = fired(project, bash("rm -rf ~"))
    assert outcome.verdict is Verdict.DENY
    assert outcome.answer.reason.startswith("Destructive command blocked by hook")
    assert fired(project, bash("ls")).verdict is Verdict.PASS


def test_ask_comes_with_its_reason_and_a_note_for_the_model(project: Path) -> None:
    outcome = fired(project, bash("cd x && git push origin"))
    assert outcome.verdict is Verdict.ASK
    assert "A push needs a person" in outcome.answer.reason
    assert outcome.answer.context == ("The branch is protected",)


def test_a_condition_that_does_not_hold_leaves_the_hook_out(project: Path) -> None:
    assert len(fired(project, bash("git log")).runs) == 1
    assert len(fired(project, bash("git push x")).runs) == 2


def test_a_new_input_takes_the_place_of_the_old_one_and_args_stay_as_they_are(
    project: Path,
) -> None:
    write = tools("claude-code").read("Write", {"file_path": "/a", "content": "x"})
    outcome = fired(project, PreToolUse(tool=write))
    final = outcome.final
    assert isinstance(final, PreToolUse)
    assert final.tool.input == {"file_path": "/a", "content": "x\n"}
    assert outcome.answer.context == ("$HOME",)


def test_a_hook_for_claude_codes_tools_rewrites_another_platforms(project: Path) -> None:
    call = tools("kodelet").read("file_write", {"file_path": "/a", "text": "x"})
    event = PreToolUse(tool=call, dialect="kodelet", native_event="before_tool_call")
    final = fired(project, event).final
    assert isinstance(final, PreToolUse)
    assert final.tool.input == {"file_path": "/a", "text": "x\n"}


def test_a_block_after_the_tool_tells_the_model_why(project: Path) -> None:
    wrote = PostToolUse(tool=tool("write", path="/a", content="x"))
    outcome = fired(project, wrote)
    assert outcome.verdict is Verdict.DENY
    assert "lint: unused import" in outcome.answer.reason
    assert outcome.answer.notice == ("lint ran",)


def test_plain_text_is_context_on_a_prompt_and_at_the_start(project: Path) -> None:
    prompt = fired(project, events.UserPromptSubmit(prompt="hi"))
    assert prompt.answer.context == ("Today is a Monday.",)
    start = fired(project, events.SessionStart(source="new"))
    assert start.answer.context == ("The project builds with make.",)
    assert fired(project, events.SessionStart(source="compact")).runs == ()


def test_a_queued_prompt_is_a_prompt_too(project: Path) -> None:
    line = "grep -q steer && exit 2"
    event = events.SteeringSubmit(prompts=("steer", "more"))
    assert inline(project, event, on("UserPromptSubmit", line)).verdict is Verdict.DENY


def test_plain_text_is_nothing_elsewhere(project: Path) -> None:
    outcome = inline(project, bash("ls"), on("PreToolUse", "echo hello"))
    assert outcome.answer.context == ()


def test_stop_goes_on_once_with_the_reason(project: Path) -> None:
    outcome = fired(project, events.Stop())
    assert outcome.answer.follow_up == ("Run the tests before you finish",)
    assert fired(project, events.Stop(stop_hook_active=True)).answer.follow_up == ()


def test_a_plugin_finds_its_own_scripts(project: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "guard"
    shutil.copytree(EXAMPLES / "plugin", plugin)
    event = PreToolUse(tool=tool("read", path="/w/.env"))
    outcome = host(FILES, [plugin / "hooks" / "hooks.json"], event, project=project)
    assert outcome.verdict is Verdict.DENY
    assert "secrets stay where they are (guard)" in outcome.answer.reason


def test_an_agents_hooks_run_for_that_agent_alone(project: Path) -> None:
    file = project / ".claude" / "agents" / "reviewer.md"
    own = events.Agent(name="reviewer", depth=1, id="a1")
    assert host(FILES, [file], bash("ls"), project=project).runs == ()
    denied = host(FILES, [file], bash("ls", agent=own), project=project)
    assert denied.verdict is Verdict.DENY
    ended = host(FILES, [file], events.SubagentStop(agent=own), project=project)
    assert ended.answer.follow_up == ("name each file you read",)


# ── how a hook is started ───────────────────────────────────────────────────────────────────


def test_a_hook_reads_what_claude_code_would_send(project: Path) -> None:
    inline(project, bash("ls -l", session_id="s1"), on("PreToolUse", "cat > seen.json"))
    assert json.loads((project / "seen.json").read_bytes()) == {
        "session_id": "s1",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls -l"},
    }


@pytest.mark.parametrize(
    ("event", "native", "key", "word"),
    [
        (events.SessionStart(source="new"), "SessionStart", "source", "startup"),
        (events.PreCompact(), "PreCompact", "trigger", "auto"),
        (events.SessionEnd(reason="bye"), "SessionEnd", "reason", "other"),
        (events.SubagentStart(agent=events.Agent(name="Plan")), "SubagentStart", "agent_type", "Plan"),
    ],
)  # fmt: skip
def test_words_of_other_platforms_are_sent_as_claude_codes(
    project: Path, event: Event, native: str, key: str, word: str
) -> None:
    inline(project, event, on(native, "cat > seen.json"))
    assert json.loads((project / "seen.json").read_bytes())[key] == word


def test_a_hook_finds_the_clients_variables_and_runs_where_the_session_is(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    line = (
        'printf "%s\\n" "$CLAUDE_PROJECT_DIR" "$CLAUDECODE" "$CLAUDE_CODE_SESSION_ID" "$PWD" > seen'
    )
    inline(project, bash("ls", cwd=str(inner), session_id="s1"), on("PreToolUse", line))
    assert (inner / "seen").read_text().splitlines() == [str(project), "1", "s1", str(inner)]


def test_a_line_is_for_sh_and_with_shell_for_bash(project: Path) -> None:
    line = '[ -z "$BASH_VERSION" ] || exit 2'
    bare = inline(project, bash("ls"), on("PreToolUse", 'test -n "$0"; exit 2'))
    assert bare.verdict is Verdict.DENY
    named = inline(project, bash("ls"), on("PreToolUse", line, shell="bash"))
    assert named.verdict is Verdict.DENY


def test_all_hooks_run_at_the_same_time_and_deny_beats_ask(project: Path) -> None:
    # Each waits for the other, so one after another neither would ever end.
    ask = says({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "?"}})  # fmt: skip
    first = "touch a; until [ -e b ]; do sleep 0.01; done; " + ask
    second = "touch b; until [ -e a ]; do sleep 0.01; done; echo no >&2; exit 2"
    outcome = inline(project, bash("ls"), on("PreToolUse", first, second, timeout=20))
    assert outcome.verdict is Verdict.DENY
    assert [run.failed for run in outcome.runs] == [None, None]


def test_the_same_command_in_two_files_runs_once(project: Path) -> None:
    line = "echo x >> ran"
    files = [
        settings(project, on("PreToolUse", line), "settings.local.json"),
        settings(project, on("PreToolUse", line, timeout=9)),
    ]
    host(FILES, files, bash("ls"), project=project)
    assert (project / "ran").read_text() == "x\n"


def test_nobody_waits_for_an_async_hook_and_it_decides_nothing(project: Path) -> None:
    line = "until [ -e go ]; do sleep 0.01; done; touch done; exit 2"
    outcome = inline(project, bash("ls"), on("PreToolUse", line, **{"async": True}))
    assert outcome.verdict is Verdict.PASS
    assert not (project / "done").exists()
    (project / "go").touch()
    waited_for(project / "done")


def test_a_time_beyond_all_measure_is_no_harm(project: Path) -> None:
    hooks = on("PreToolUse", "exit 2", timeout=1e300)
    assert inline(project, bash("ls"), hooks).verdict is Verdict.DENY


# ── failures ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "line", ["exit 1", "no-such-program-anywhere", says({"decision": "maybe"}), "kill -9 $$"]
)
def test_a_failing_hook_is_told_of_and_blocks_only_when_it_says_so(
    project: Path, line: str
) -> None:
    outcome = inline(project, bash("ls"), on("PreToolUse", line))
    assert (outcome.verdict, len(outcome.answer.notice)) == (Verdict.PASS, 1)
    closed = inline(project, bash("ls"), on("PreToolUse", line, onFailure="block"))
    assert closed.verdict is Verdict.DENY


def test_a_hook_that_takes_too_long_is_ended_and_the_tool_runs(project: Path) -> None:
    outcome = inline(project, bash("ls"), on("PreToolUse", "sleep 60", timeout=0.2))
    assert outcome.verdict is Verdict.PASS
    assert "no answer within" in outcome.answer.notice[0]


def test_json_counts_whatever_the_exit_code_but_2(project: Path) -> None:
    deny = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
    line = says({"hookSpecificOutput": deny}) + "; exit 1"
    assert inline(project, bash("ls"), on("PreToolUse", line)).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ({"decision": "block", "reason": "no"}, Verdict.DENY),
        ({"decision": "approve"}, Verdict.ALLOW),
        ({"decision": "allow"}, Verdict.PASS),
        ({"continue": False, "stopReason": "enough"}, Verdict.HALT),
        ({"continue": "no"}, Verdict.PASS),
        ({"async": True}, Verdict.PASS),
        ({"hookSpecificOutput": {"permissionDecision": "deny"}}, Verdict.PASS),
        ({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": "x"}}, Verdict.PASS),
    ],
)  # fmt: skip
def test_answers_are_read_as_the_client_reads_them(
    project: Path, body: dict[str, Any], verdict: Verdict
) -> None:
    assert inline(project, bash("ls"), on("PreToolUse", says(body))).verdict is verdict


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("less", "less"),
        ({"stdout": "less", "stderr": ""}, "less"),
        ({"filePath": "/a"}, '{"filePath":"/a"}'),
    ],
)
def test_a_new_output_takes_the_place_of_the_old_one(project: Path, output: Any, text: str) -> None:
    own = {"hookEventName": "PostToolUse", "updatedToolOutput": output}
    ran = PostToolUse(tool=tool("shell", command="ls"))
    outcome = inline(project, ran, on("PostToolUse", says({"hookSpecificOutput": own})))
    assert outcome.answer.rewrite.output == text


@pytest.mark.parametrize(
    ("action", "verdict"),
    [("accept", Verdict.ALLOW), ("decline", Verdict.DENY), ("cancel", Verdict.DENY)],
)
def test_an_elicitation_is_answered_by_its_action(
    project: Path, action: str, verdict: Verdict
) -> None:
    own = {"hookEventName": "Elicitation", "action": action, "content": {"a": 1}}
    event = events.Elicitation(server="gh", message="token?")
    outcome = inline(project, event, on("Elicitation", says({"hookSpecificOutput": own})))
    assert outcome.verdict is verdict
    assert outcome.answer.metadata == {"content": {"a": 1}}


def test_what_only_the_client_can_do_is_kept_beside_the_answer(project: Path) -> None:
    own = {"hookEventName": "SessionStart", "sessionTitle": "x", "additionalContext": "y"}
    hooks = on("SessionStart", says({"hookSpecificOutput": own}))
    answer = inline(project, events.SessionStart(), hooks).answer
    assert (answer.metadata, answer.context) == ({"sessionTitle": "x"}, ("y",))


@pytest.mark.parametrize("key", ["additionalContext", "updatedInput"])
def test_a_value_of_the_wrong_type_is_a_failure(project: Path, key: str) -> None:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "allow", key: 5}
    hooks = on("PreToolUse", says({"hookSpecificOutput": own}), onFailure="block")
    assert inline(project, bash("ls"), hooks).verdict is Verdict.DENY


def test_half_an_object_is_a_failure_that_is_told_of(project: Path) -> None:
    outcome = inline(project, bash("ls"), on("PreToolUse", "echo '{\"decision\":'"))
    assert "not an answer of Claude Code's" in outcome.answer.notice[0]


def test_a_denial_without_a_reason_is_still_one(project: Path) -> None:
    assert inline(project, bash("ls"), on("PreToolUse", "exit 2")).verdict is Verdict.DENY
    block = on("PreToolUse", says({"decision": "block"}))
    assert "gave no reason" in inline(project, bash("ls"), block).answer.reason


def test_a_work_tree_hook_names_what_it_made_or_has_failed(project: Path) -> None:
    event = events.WorktreeCreate(name="x")
    made = inline(project, event, on("WorktreeCreate", "echo noise; echo /tmp/x"))
    assert made.answer.metadata == {"worktree_path": "/tmp/x"}
    assert inline(project, event, on("WorktreeCreate", "true")).verdict is Verdict.DENY
    own = {"hookEventName": "WorktreeCreate", "worktreePath": "/y"}
    told = inline(project, event, on("WorktreeCreate", says({"hookSpecificOutput": own})))
    assert told.answer.metadata == {"worktree_path": "/y"}


def test_a_bad_entry_before_tools_leaves_nothing_of_the_file_and_says_so(project: Path) -> None:
    hooks = on("PreToolUse", "exit 2") | on("Stop", "exit 2")
    hooks["PreToolUse"][0]["hooks"].append({"type": "command", "command": "x", "timeout": "5"})
    outcome = inline(project, bash("ls"), hooks)
    assert outcome.verdict is Verdict.PASS
    assert len(outcome.answer.notice) == 2
    assert "runs nothing of this file" in outcome.answer.notice[0]


@pytest.mark.parametrize("kind", ["mcp_tool"])
def test_what_cannot_run_here_yet_fails_aloud(project: Path, kind: str) -> None:
    handler = {"type": kind, "prompt": "ok?", "server": "s", "tool": "t"}
    outcome = inline(project, bash("ls"), {"PreToolUse": [{"hooks": [handler]}]})
    assert f"hooks of type `{kind}` cannot be run here yet" in outcome.answer.notice[0]


# ── http ────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def server(status: int, body: bytes) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    seen: list[tuple[dict[str, str], bytes]] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            seen.append((dict(self.headers), self.rfile.read(length)))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}/check", seen
        finally:
            listening.shutdown()
            thread.join()


DENY = json.dumps({"decision": "block", "reason": "the server says no"}).encode()


def posted(url: str, **more: Any) -> dict[str, Any]:
    return {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "http", "url": url, **more}]}]}


def test_an_http_hook_is_posted_the_payload_with_the_variables_it_may_have(project: Path) -> None:
    headers = {"Authorization": "Bearer $TOKEN", "X-Other": "a${SECRET}b"}
    with server(200, DENY) as (url, seen):
        outcome = inline(
            project,
            bash("ls"),
            posted(url, headers=headers, allowedEnvVars=["TOKEN"]),
            env={"TOKEN": "t0ken-value", "SECRET": "hidden"},
        )
    assert outcome.verdict is Verdict.DENY
    assert "the server says no" in outcome.answer.reason
    (sent, body), *more = seen
    assert not more
    given = {name.lower(): value for name, value in sent.items()}
    assert (given["authorization"], given["x-other"]) == ("Bearer t0ken-value", "ab")
    assert json.loads(body)["tool_name"] == "Bash"


def test_a_status_never_blocks_unless_the_hook_says_so(project: Path) -> None:
    with server(403, DENY) as (url, _):
        assert inline(project, bash("ls"), posted(url)).verdict is Verdict.PASS
        closed = inline(project, bash("ls"), posted(url, onFailure="block"))
    assert closed.verdict is Verdict.DENY


# ── who runs these files ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dialect", ["claude-code", "vscode", "cursor", "copilot"])
def test_clients_that_run_the_file_themselves_are_not_run_for(project: Path, dialect: str) -> None:
    outcome = inline(project, bash("ls", dialect=dialect), on("PreToolUse", "exit 2"))
    assert outcome.runs == ()
