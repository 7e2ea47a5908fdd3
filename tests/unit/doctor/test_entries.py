"""Hooks that are in force and yet do not do their work: matchers, time, guards, loops, casing."""

from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.kodelet.install import INSTALLER
from hookline.model.findings import Severity
from hookline.model.installing import Call, Scope
from support.doctors import Ward

HOOK: dict[str, Any] = {"type": "command", "command": "true"}
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": "~/.codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "copilot": "~/.copilot/hooks/a.json",
    "vscode": ".github/hooks/a.json",
    "docker-agent": "~/.config/cagent/config.yaml",
    "basecoat": "hooks.json",
}
GROUPED = {"claude-code", "codex", "gemini", "docker-agent"}


def put(
    ward: Ward, dialect: str, event: str, *hooks: dict[str, Any], matcher: str | None = None
) -> str:
    """One event with these hooks in the platform's own file; its path."""
    narrowed = {} if matcher is None else {"matcher": matcher}
    tree: dict[str, Any]
    if dialect in GROUPED:
        tree = {"hooks": {event: [{**narrowed, "hooks": list(hooks)}]}}
    else:
        tree = {"hooks": {event: [{**narrowed, **each} for each in hooks]}}
    if dialect == "docker-agent":
        tree = {"settings": tree}
    return str(ward.write(FILES[dialect], tree))


@pytest.mark.parametrize(
    ("command", "fix"),
    [("true", "take it out"), ("/p/hookline hook docker-agent on_user_input", "hookline install")],
)
def test_a_hook_that_makes_headless_runs_hang_is_told_with_what_takes_it_out(
    ward: Ward, command: str, fix: str
) -> None:
    tree = {event: [{**HOOK, "command": command}] for event in ("on_user_input", "stop")}
    path = str(ward.write(FILES["docker-agent"], {"settings": {"hooks": tree}}))
    found = ward.one("hook-hangs-runs", "docker-agent")
    assert (found.severity, found.file) == (Severity.WARNING, path)
    assert "on on_user_input: while a hook runs here" in found.what
    assert fix in found.fix


# ── matchers ──


@pytest.mark.parametrize(
    ("dialect", "event", "matcher", "right"),
    [
        ("claude-code", "PreToolUse", "bash", "`Bash`"),
        ("claude-code", "PreToolUse", "run_shell_command", "`Bash`"),
        ("claude-code", "PreToolUse", "Bash(rm *)", "`Bash`: a matcher is held against"),
        ("claude-code", "PreToolUse", "mcp__github", "`mcp__SERVER__TOOL`"),
        ("claude-code", "SessionStart", "begin", "startup, resume"),
        ("codex", "PreToolUse", "exec_command", "`Bash`"),
        ("codex", "PreToolUse", "Bash,Write", "`Bash|Write`"),
        ("codex", "SessionStart", "new", "startup"),
        ("gemini", "BeforeTool", "Bash", "`run_shell_command`"),
        ("gemini", "BeforeTool", "Write|Edit", "`write_file|replace`"),
        ("gemini", "SessionStart", "start", "startup"),
        ("cursor", "preToolUse", "Bash", "`Shell`"),
        ("copilot", "preToolUse", "Bash", "`bash`"),
        ("copilot", "preToolUse", "ba", "the client's own list"),
        ("docker-agent", "pre_tool_use", "Bash", "`shell`"),
    ],
)
def test_a_matcher_that_matches_nothing_is_told_with_what_was_meant(
    ward: Ward, dialect: str, event: str, matcher: str, right: str
) -> None:
    path = put(ward, dialect, event, HOOK, matcher=matcher)
    found = ward.one("matcher-never-matches", dialect)
    assert (found.dialect, found.file) == (dialect, path)
    assert found.line > 1
    assert f"`{matcher}`" in found.what
    assert right in found.fix
    sure = matcher != "ba"
    assert found.severity is (Severity.ERROR if sure else Severity.WARNING)


@pytest.mark.parametrize(
    ("dialect", "event", "matcher"),
    [
        ("claude-code", "PreToolUse", "Bash"),
        ("claude-code", "PreToolUse", "Edit|Write, Read"),
        ("claude-code", "PreToolUse", "Ba.*"),
        ("claude-code", "PreToolUse", "^(?!Read)"),
        ("claude-code", "PreToolUse", "Task"),
        ("claude-code", "PreToolUse", "KillShell"),
        ("claude-code", "PreToolUse", "mcp__github__.*"),
        ("claude-code", "PreToolUse", "mcp__github__push"),
        ("claude-code", "PreToolUse", "*"),
        ("claude-code", "SessionStart", "startup|resume"),
        ("claude-code", "Notification", "whatever"),
        ("codex", "PreToolUse", "Edit|Write"),
        ("codex", "PreToolUse", "^Bash$"),
        ("codex", "UserPromptSubmit", "ignored"),
        ("gemini", "BeforeTool", "write_.*|replace"),
        ("gemini", "BeforeTool", "mcp_github_.*"),
        ("gemini", "BeforeAgent", "ignored"),
        ("cursor", "preToolUse", "Shell|MCP:echo"),
        ("cursor", "beforeShellExecution", "curl|wget"),
        ("copilot", "preToolUse", "bash|create"),
        ("copilot", "preToolUse", "github-.*"),
        ("copilot", "PreToolUse", "Bash"),
        ("docker-agent", "pre_tool_use", "shell|write_file"),
        ("docker-agent", "pre_tool_use", "*"),
    ],
)
def test_a_matcher_that_can_match_is_nothing_to_tell(
    ward: Ward, dialect: str, event: str, matcher: str
) -> None:
    put(ward, dialect, event, HOOK, matcher=matcher)
    assert not ward.found("matcher-never-matches", dialect)


def test_a_tool_that_nobody_knows_may_be_new_and_is_only_a_warning(ward: Ward) -> None:
    put(ward, "claude-code", "PreToolUse", HOOK, matcher="Teleport")
    found = ward.one("matcher-never-matches")
    assert (found.severity, "that hookline knows" in found.what) == (Severity.WARNING, True)


def test_a_matcher_that_runs_wild_is_not_taken_for_one_that_never_matches(ward: Ward) -> None:
    put(ward, "codex", "PreToolUse", HOOK, matcher=r"^((\w|\w)+)+(?!\w)\W")
    assert not ward.found("matcher-never-matches", "codex")


def test_a_list_where_gemini_compares_the_whole_word_is_told_once(ward: Ward) -> None:
    path = put(ward, "gemini", "SessionStart", HOOK, matcher="startup|resume")
    found = ward.one("matcher-never-matches", "gemini")
    assert (found.severity, found.where) == (Severity.ERROR, f"{path}:5")
    assert "one definition for each word" in found.fix


def test_a_matcher_that_vs_code_ignores_is_worth_a_note(ward: Ward) -> None:
    ward.write(
        ".github/hooks/a.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]}}
    )
    found = ward.one("matcher-ignored", "vscode")
    assert found.severity is Severity.NOTE
    assert "runs on every tool" in found.what


# ── time ──


def test_seconds_where_gemini_counts_milliseconds_open_a_guard(ward: Ward) -> None:
    path = put(ward, "gemini", "BeforeTool", {**HOOK, "timeout": 30})
    found = ward.one("timeout-unit")
    assert (found.dialect, found.severity, found.file) == ("gemini", Severity.ERROR, path)
    assert found.line == 9
    assert "in milliseconds: 30 of them, then the tool runs" in found.what
    assert found.fix == "write 30000 for 30 seconds"
    put(ward, "gemini", "AfterTool", {**HOOK, "timeout": 30})
    assert ward.one("timeout-unit").severity is Severity.WARNING
    put(ward, "gemini", "BeforeTool", {**HOOK, "timeout": 30_000})
    assert not ward.found("timeout-unit")


@pytest.mark.parametrize(
    ("dialect", "event", "key"),
    [
        ("claude-code", "PreToolUse", "timeout"),
        ("codex", "PreToolUse", "timeout"),
        ("cursor", "preToolUse", "timeout"),
        ("copilot", "preToolUse", "timeoutSec"),
        ("vscode", "PreToolUse", "timeout"),
        ("docker-agent", "pre_tool_use", "timeout"),
        ("basecoat", "PreToolUse", "timeoutSec"),
    ],
)
def test_milliseconds_where_seconds_are_meant_are_told(
    ward: Ward, dialect: str, event: str, key: str
) -> None:
    path = put(ward, dialect, event, {**HOOK, key: 30_000})
    found = ward.one("timeout-unit", dialect)
    assert (found.severity, found.file) == (Severity.WARNING, path)
    assert "500 minutes" in found.what
    assert found.fix == "write 30"
    put(ward, dialect, event, {**HOOK, key: 30})
    assert not ward.found("timeout-unit", dialect)


def test_half_an_hour_is_meant(ward: Ward) -> None:
    put(ward, "claude-code", "Stop", {**HOOK, "timeout": 1800}, {**HOOK, "timeout": 3600})
    assert not ward.findings()


# ── programs ──


def test_a_script_that_is_not_there_is_told(ward: Ward) -> None:
    hook = {**HOOK, "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh --all'}
    path = put(ward, "claude-code", "PostToolUse", hook)
    found = ward.one("script-missing")
    assert (found.severity, found.where) == (Severity.ERROR, f"{path}:6")
    assert f"on PostToolUse: there is no file `{ward.project}/.claude/hooks/guard.sh`" == found.what
    ward.script(".claude/hooks/guard.sh")
    assert not ward.findings()


def test_a_script_that_is_not_executable_is_told_with_the_command_to_mend_it(ward: Ward) -> None:
    put(ward, "claude-code", "PostToolUse", {**HOOK, "command": "./my guard.sh"})
    ward.write("my", "#!/bin/sh\n")
    found = ward.one("script-not-executable")
    assert (found.severity, found.fix) == (Severity.ERROR, f"chmod +x {ward.project}/my")


def test_a_kodelet_hook_without_the_permission_to_run_is_told_once(ward: Ward) -> None:
    file = ward.script(".kodelet/hooks/a", "#!/bin/sh\n", mode=0o644)
    found = ward.one("script-not-executable")
    assert (found.dialect, found.file, found.fix) == ("kodelet", str(file), f"chmod +x {file}")


@pytest.mark.parametrize(
    ("dialect", "command"),
    [("codex", "$CLAUDE_PROJECT_DIR/a.sh"), ("vscode", "${CLAUDE_PROJECT_DIR}/a.sh")],
)
def test_a_variable_that_the_client_does_not_set_is_told(
    ward: Ward, dialect: str, command: str
) -> None:
    ward.script("a.sh")
    put(ward, dialect, "PostToolUse", {**HOOK, "command": command})
    found = ward.one("variable-not-set", dialect)
    assert found.severity is Severity.ERROR
    assert "does not set `CLAUDE_PROJECT_DIR`" in found.what
    assert "path" in found.fix
    put(ward, dialect, "PostToolUse", {**HOOK, "command": "./a.sh"})
    assert not ward.found("variable-not-set", dialect)
    assert not ward.found("script-missing", dialect)


def test_another_platforms_variable_is_replaced_by_the_right_one(ward: Ward) -> None:
    put(ward, "claude-code", "Stop", {**HOOK, "command": "$GEMINI_PROJECT_DIR/a.sh"})
    assert "`$CLAUDE_PROJECT_DIR`" in ward.one("variable-not-set").fix


def test_a_cursor_hook_of_a_person_runs_beside_its_file(ward: Ward) -> None:
    ward.write("~/.cursor/hooks.json", {"hooks": {"stop": [{"command": "./hooks/a.sh"}]}})
    found = ward.one("script-missing", "cursor")
    assert f"{ward.home}/.cursor/hooks/a.sh" in found.what
    ward.script("~/.cursor/hooks/a.sh")
    assert not ward.findings("cursor")


@pytest.mark.parametrize("dialect", ["copilot", "vscode", "basecoat"])
def test_a_directory_that_the_entry_names_counts(ward: Ward, dialect: str) -> None:
    ward.script("tools/a.sh")
    put(ward, dialect, "PostToolUse", {**HOOK, "command": "./a.sh", "cwd": "tools"})
    assert not ward.found("script-missing", dialect)
    put(ward, dialect, "PostToolUse", {**HOOK, "command": "./a.sh"})
    assert ward.found("script-missing", dialect)


# ── guards ──


@pytest.mark.parametrize(
    ("dialect", "event", "fix", "closed"),
    [
        ("claude-code", "PreToolUse", '"onFailure": "block"', {"onFailure": "block"}),
        ("cursor", "preToolUse", '"failClosed": true', {"failClosed": True}),
        ("codex", "PreToolUse", "exit 2", {"command": "true || exit 2"}),
        ("gemini", "BeforeTool", "exit 2", {"command": "true || { echo no >&2; exit 2; }"}),
        ("vscode", "PreToolUse", "exit 2", {"command": "true || exit 2"}),
        ("basecoat", "PreToolUse", '"action": "block"', {"command": "true || exit 2"}),
        ("docker-agent", "permission_request", "on_error: block", {"on_error": "block"}),
    ],
)
def test_a_guard_on_a_platform_that_fails_open_is_told_with_the_way_to_close_it(
    ward: Ward, dialect: str, event: str, fix: str, closed: dict[str, object]
) -> None:
    path = put(ward, dialect, event, HOOK)
    found = ward.one("guard-fails-open", dialect)
    assert (found.severity, found.file, fix in found.fix) == (Severity.WARNING, path, True)
    put(ward, dialect, event, {**HOOK, **closed})
    assert not ward.found("guard-fails-open", dialect)


def test_platforms_that_close_by_themselves_are_left_alone(ward: Ward) -> None:
    put(ward, "copilot", "preToolUse", HOOK)
    put(ward, "docker-agent", "pre_tool_use", HOOK)
    assert not ward.found("guard-fails-open", "copilot", "docker-agent")


def test_a_kodelet_guard_can_block_by_its_answer_only(ward: Ward) -> None:
    text = "#!/bin/sh\n[ $1 = hook ] && echo before_tool_call\n"
    file = ward.script(".kodelet/hooks/guard", text)
    found = ward.one("guard-fails-open")
    assert (found.dialect, found.file) == ("kodelet", str(file))
    assert '"blocked": true' in found.fix
    ward.script(".kodelet/hooks/guard", text.replace("before_tool_call", "after_tool_call"))
    assert not ward.findings()


def test_a_guard_that_nobody_waits_for_is_told(ward: Ward) -> None:
    put(ward, "claude-code", "PreToolUse", {**HOOK, "async": True})
    found = ward.one("guard-in-background")
    assert "can block nothing" in found.what
    assert "async" in found.fix


# ── loops ──

BLOCKS = '#!/bin/sh\necho \'{"decision": "block", "reason": "go on"}\'\n'


@pytest.mark.parametrize(
    ("dialect", "event"), [("codex", "Stop"), ("gemini", "AfterAgent"), ("codex", "SubagentStop")]
)
def test_a_stop_hook_without_a_loop_guard_is_told_where_nothing_ends_the_loop(
    ward: Ward, dialect: str, event: str
) -> None:
    ward.script("on.sh", BLOCKS)
    path = put(ward, dialect, event, {**HOOK, "command": "./on.sh"})
    found = ward.one("stop-without-loop-guard", dialect)
    assert (found.severity, found.file, found.line) == (Severity.WARNING, path, 6)
    assert "`stop_hook_active`" in found.fix
    ward.script("on.sh", BLOCKS.replace("\necho", "\ngrep -q stop_hook_active && exit 0\necho"))
    assert not ward.found("stop-without-loop-guard", dialect)


def test_a_stop_hook_that_only_looks_on_is_no_loop(ward: Ward) -> None:
    ward.script("log.sh", "#!/bin/sh\ncat >> log\n")
    put(ward, "codex", "Stop", {**HOOK, "command": "./log.sh"})
    assert not ward.found("stop-without-loop-guard")


def test_platforms_that_end_the_loop_are_left_alone(ward: Ward) -> None:
    ward.script("on.sh", BLOCKS)
    put(ward, "claude-code", "Stop", {**HOOK, "command": "./on.sh"})
    assert not ward.findings()


def test_where_no_flag_tells_of_the_loop_the_hook_has_to_count(ward: Ward) -> None:
    ward.script(".kodelet/hooks/on", '#!/bin/sh\necho \'{"follow_up_messages": ["on"]}\'\n')
    found = ward.one("stop-without-loop-guard")
    assert (found.dialect, "count" in found.fix) == ("kodelet", True)


# ── answers and payloads in the wrong form ──


@pytest.mark.parametrize(
    ("event", "text", "right"),
    [
        ("preToolUse", "jq -r .tool_name", "`PreToolUse`"),
        ("PreToolUse", "jq -r .toolName", "`preToolUse`"),
        ("postToolUse", "jq .tool_input", "`PostToolUse`"),
        (
            "preToolUse",
            'echo \'{"hookSpecificOutput": {"permissionDecision": "deny"}}\'',
            "top level",
        ),
    ],
)
def test_a_script_in_the_other_casing_of_copilot_is_told(
    ward: Ward, event: str, text: str, right: str
) -> None:
    ward.script("a.sh", f"#!/bin/sh\n{text}\n")
    path = put(ward, "copilot", event, {"type": "command", "bash": "./a.sh"})
    found = ward.one("payload-casing", "copilot")
    assert (found.severity, found.file, found.line) == (Severity.ERROR, path, 4)
    assert right in found.fix


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ("preToolUse", "jq -r .toolName"),
        ("PreToolUse", "jq -r .tool_name"),
        ("preToolUse", "jq -r '.tool_name // .toolName'"),
        ("permissionRequest", "jq .tool_name"),
        ("userPromptTransformed", "jq .sessionId"),
        (
            "preToolUse",
            'echo \'{"permissionDecision": "deny", "hookSpecificOutput": '
            '{"permissionDecision": "deny"}}\'',
        ),
        ("PreToolUse", 'echo \'{"hookSpecificOutput": {"permissionDecision": "deny"}}\''),
    ],
)
def test_a_script_in_the_right_casing_of_copilot_is_nothing_to_tell(
    ward: Ward, event: str, text: str
) -> None:
    ward.script("a.sh", f"#!/bin/sh\n{text}\n")
    put(ward, "copilot", event, {"type": "command", "bash": "./a.sh"})
    assert not ward.found("payload-casing", "copilot")


def test_an_answer_in_claude_codes_words_is_told_on_gemini(ward: Ward) -> None:
    text = '#!/bin/sh\necho \'{"hookSpecificOutput": {"permissionDecision": "deny"}}\'\n'
    ward.script("a.sh", text)
    put(ward, "gemini", "BeforeTool", {**HOOK, "command": "./a.sh"})
    found = ward.one("answer-ignored", "gemini")
    assert (found.severity, '{"decision": "deny"' in found.fix) == (Severity.ERROR, True)
    ward.script("a.sh", text + 'echo \'{"decision": "deny"}\'\n')
    assert not ward.found("answer-ignored", "gemini")


def test_a_stop_decision_at_the_top_level_is_told_on_vs_code(ward: Ward) -> None:
    ward.script("a.sh", BLOCKS + "# stop_hook_active\n")
    put(ward, "vscode", "Stop", {**HOOK, "command": "./a.sh"})
    found = ward.one("answer-ignored", "vscode")
    assert (found.severity, "hookSpecificOutput" in found.fix) == (Severity.ERROR, True)
    ward.write(FILES["vscode"], {"version": 1, "hooks": {"Stop": [{"command": "./a.sh"}]}})
    assert ward.one("answer-ignored", "vscode").severity is Severity.NOTE
    ward.script("a.sh", "#!/bin/sh\n")
    assert not ward.found("answer-ignored", "vscode")


@pytest.mark.parametrize("dialect", ["claude-code", "docker-agent"])
@pytest.mark.parametrize(("seconds", "found"), [(5, 1), (600, 0), (900, 0)])
def test_a_limit_below_the_one_our_line_counts_on_is_an_error(
    ward: Ward, dialect: str, seconds: int, found: int
) -> None:
    event = {"claude-code": "PreToolUse", "docker-agent": "pre_tool_use"}[dialect]
    line = f"/p/hookline hook {dialect} {event} --timeout 600 || /bin/sh -c 'exit 2'"
    put(ward, dialect, event, {"type": "command", "command": line, "timeout": seconds})
    errors = ward.found("timeout-differs", dialect)
    assert len(errors) == found
    assert all(each.fix == f"hookline install {dialect} --timeout 5" for each in errors)


@pytest.mark.parametrize(
    ("version", "told"),
    [((0, 1, 24), False), ((0, 4, 22), True), ((0, 5, 36), False), ((), False), (None, False)],
)
def test_sub_agents_of_kodelet_are_told_where_no_hook_sees_them(
    version: tuple[int, ...] | None, told: bool, ward: Ward
) -> None:
    (ward.bin / "kodelet").write_text("#!/bin/sh\n")
    (ward.bin / "kodelet").chmod(0o755)
    ward.version = version
    assert not ward.found("sub-agents-unguarded")  # hookline is not in it
    call = Call(program=("/opt/hookline",))
    for target in INSTALLER.targets(ward.machine, Scope.USER, shared=False):
        path = f"~/{Path(target.file).relative_to(ward.home)}"
        ward.write(path, INSTALLER.add(target, None, call), mode=0o755)
    found = ward.found("sub-agents-unguarded")
    assert bool(found) is told
    assert all("0.4.22" in each.what and each.severity is Severity.WARNING for each in found)
