"""The hook files of GitHub's agents: where they are, how they read, which hooks are for an event."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.copilot.files import FILES
from hookline.dialects.copilot_cloud.files import FILES as CLOUD
from hookline.model.events import (
    Agent,
    Event,
    Notification,
    PermissionRequest,
    PostToolUse,
    PreCompact,
    PreToolUse,
    SessionResume,
    SteeringSubmit,
    Stop,
    SubagentStart,
)
from hookline.model.hook import Hook, Lane, Layer, OnError
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, Voids, Where
from hookline.model.ports import NOBODY, Caller
from hookline.model.tools import Mcp, Tool, ToolKind, tool

PATH = "/home/dev/app/.github/hooks/guard.json"
SETTINGS = "/home/dev/app/.github/copilot/settings.json"
OK = {"type": "command", "bash": "./check.sh"}
SHELL_CALL = tool("shell", command="ls")
SHELL = PreToolUse(tool=SHELL_CALL)
WRITE_CALL = tool("write", path="a", content="x")
MCP_CALL = Tool(kind=ToolKind.MCP, name="mcp__lab__echo", mcp=Mcp("lab", "echo"))


def in_json(hooks: Any, path: str = PATH, **more: Any) -> NativeFile:
    return FILES.read(path, json.dumps({"version": 1, "hooks": hooks, **more}, indent=1).encode())


def one(item: Any, event: str = "preToolUse", path: str = PATH) -> NativeFile:
    return in_json({event: [item]}, path)


def entry_of(file: NativeFile) -> NativeEntry:
    (entry,) = file.entries
    return entry


def flaw_of(file: NativeFile) -> NativeFlaw:
    (flaw,) = file.flaws
    return flaw


def hooks_of(*files: NativeFile) -> tuple[Hook, ...]:
    return FILES.hooks(files, layer=Layer.PROJECT, project_dir="/home/dev/app")


def finds(file: NativeFile, event: Event) -> bool:
    (hook,) = hooks_of(file)
    assert hook.match is not None
    return event.event_id() in hook.events and hook.match.find(event, NOBODY) is not None


# ── where ───────────────────────────────────────────────────────────────────────────────────────


def test_places_stand_in_the_order_in_which_hooks_run(tmp_path: Path) -> None:
    home = tmp_path / "home"
    plugin = home / ".copilot/installed-plugins/market/demo/hooks.json"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("{}")
    where = Where(project="/app", home=str(home), root="/machine")
    places = [(each.path, each.layer, each.scope, each.dialect) for each in FILES.places(where)]
    assert places == [
        ("/machine/etc/github-copilot/policy.d", Layer.MANAGED, "policy", ""),
        (f"{home}/.copilot/hooks", Layer.USER, "user", ""),
        (f"{home}/.copilot/settings.json", Layer.USER, "user", ""),
        ("/app/.github/hooks", Layer.PROJECT, "project", ""),
        ("/app/.claude/settings.json", Layer.PROJECT, "project", "claude-code"),
        ("/app/.claude/settings.local.json", Layer.PROJECT, "local", "claude-code"),
        ("/app/.github/copilot/settings.json", Layer.PROJECT, "project", ""),
        ("/app/.github/copilot/settings.local.json", Layer.PROJECT, "local", ""),
        (str(plugin), Layer.USER, "plugin", ""),
    ]


def test_copilot_home_moves_the_persons_files() -> None:
    where = Where(project="/app", home="/home/dev", env={"COPILOT_HOME": "/opt/copilot"})
    assert "/opt/copilot/hooks" in [place.path for place in FILES.places(where)]


def test_the_cloud_agent_knows_the_repository_only() -> None:
    where = Where(project="/app", home="/home/dev")
    assert [place.path for place in CLOUD.places(where)] == ["/app/.github/hooks"]
    assert CLOUD.owns(PATH, b"{}")
    assert not CLOUD.owns(SETTINGS, b"{}")
    assert CLOUD.members("/app/.github/hooks", ["a.json", "b.sh"]) == ["a.json"]


@pytest.mark.parametrize(
    ("path", "content", "owned"),
    [
        (PATH, b"{}", True),
        (SETTINGS, b"{}", True),
        ("/home/dev/.copilot/hooks/a.json", b"{}", True),
        ("/home/dev/.copilot/settings.json", b"{}", True),
        ("/etc/github-copilot/policy.d/a.json", b"{}", True),
        ("/home/dev/.copilot/installed-plugins/m/p/hooks.json", b"{}", True),
        ("/app/hooks.json", b'{"hooks": {"agentStop": []}}', True),
        ("/app/hooks.json", b'{"hooks": {"preToolUse": []}}', False),
        ("/app/hooks.json", b"nonsense", False),
        ("/home/dev/.copilot/config.json", b"{}", False),
        ("/app/.github/hooks/guard.sh", b"", False),
        ("/app/not.github/hooks/guard.json", b"{}", False),
    ],
)
def test_files_are_known_by_place_or_by_events_of_no_other(
    path: str, content: bytes, owned: bool
) -> None:
    assert FILES.owns(path, content) is owned


def test_the_files_of_a_repository_run_last_name_first() -> None:
    names = ["aa.json", "check.sh", "mm.json", "zz.json"]
    assert FILES.members("/app/.github/hooks", names) == ["zz.json", "mm.json", "aa.json"]
    assert FILES.members("/home/dev/.copilot/hooks", names) == ["aa.json", "mm.json", "zz.json"]
    settings = ["settings.json", "settings.local.json"]
    assert FILES.members("/app/.github/copilot", ["x", *settings]) == settings
    assert FILES.members("/app/.github", names) is None


# ── reading ─────────────────────────────────────────────────────────────────────────────────────


def test_an_entry_keeps_everything_its_file_says_and_its_line() -> None:
    said = {**OK, "cwd": "scripts", "env": {"A": "${HOME}"}, "timeoutSec": 5, "timeout": 9}
    file = one({**said, "matcher": "bash", "powershell": "x.ps1"})
    entry = entry_of(file)
    assert not file.flaws
    assert (entry.command, entry.directory, entry.timeout) == ("./check.sh", "scripts", 5.0)
    assert entry.env == {"COPILOT_HOOK_DIR": "/home/dev/app/.github/hooks", "A": "${HOME}"}
    assert (entry.matcher, entry.line) == ("bash", 5)
    assert entry.options["powershell"] == "x.ps1"


@pytest.mark.parametrize(
    ("item", "command"),
    [
        ({"command": "any"}, "any"),
        ({"command": "any", "bash": "own"}, "own"),
        ({"exec": "prog", "args": ["a", 1]}, ("prog", "a", "1")),
        ({"exec": "prog"}, ("prog",)),
    ],
)
def test_a_command_has_several_spellings(item: Any, command: Any) -> None:
    assert entry_of(one(item)).command == command


def test_the_time_is_30_seconds_unless_said() -> None:
    assert hooks_of(one(OK))[0].timeout == 30
    assert hooks_of(one({**OK, "timeout": 2}))[0].timeout == 2


def test_groups_hand_their_matcher_down() -> None:
    file = one({"matcher": "Bash", "hooks": [OK, {**OK, "bash": "./b.sh"}]}, "PreToolUse")
    assert [(e.matcher, e.group) for e in file.entries] == [("Bash", "PreToolUse:0")] * 2


@pytest.mark.parametrize(
    "item",
    [
        "./x",
        {},
        {"bash": " "},
        {"type": "exec", "bash": "x"},
        {**OK, "env": {"A": 1}},
        {**OK, "timeoutSec": 0},
        {**OK, "timeoutSec": -5},
        {**OK, "timeout": "soon"},
        {**OK, "cwd": 3},
        {**OK, "matcher": 3},
        {"type": "http"},
        {"type": "http", "url": "https://h.example", "allowedEnvVars": "A"},
        {"type": "http", "url": "https://h.example", "headers": {"a": 1}},
        {"type": "prompt", "prompt": "hi"},
        {"matcher": "bash", "hooks": {}},
    ],
)
def test_one_bad_entry_falls_alone_in_a_folder_and_with_all_others_in_settings(item: Any) -> None:
    hooks = {"preToolUse": [item], "agentStop": [OK]}
    alone = in_json(hooks)
    assert flaw_of(alone).voids is Voids.ENTRY
    assert not alone.entries[-1].flaw
    together = in_json(hooks, SETTINGS)
    assert flaw_of(together).voids is Voids.FILE
    assert together.entries[-1].flaw
    assert len(hooks_of(alone)) == len(hooks_of(together)) == len(alone.entries)


def test_what_copilot_skips_denies_nothing_and_says_so() -> None:
    (hook,) = hooks_of(one({"powershell": "x.ps1"}))
    assert hook.on_error is OnError.WARN
    assert "powershell" in hook.handler.values["why"]


@pytest.mark.parametrize("url", ["http://localhost:1/x", "ftp://h.example", "http://[", "h"])
def test_urls_that_are_not_https_are_skipped(url: str) -> None:
    file = one({"type": "http", "url": url})
    assert flaw_of(file).voids is Voids.ENTRY
    assert hooks_of(file)[0].handler.kind == "native"


def test_a_url_is_asked_with_headers_from_allowed_variables() -> None:
    file = one(
        {
            "type": "http",
            "url": "https://h.example/x",
            "headers": {"Authorization": "Bearer $TOKEN"},
            "allowedEnvVars": ["TOKEN"],
        }
    )
    (hook,) = hooks_of(file)
    assert hook.env == ("TOKEN",)
    assert hook.handler.values["http"] == {
        "url": "https://h.example/x",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
    }


def test_a_prompt_at_the_start_is_kept_although_nothing_here_runs_it() -> None:
    assert not one({"type": "prompt", "prompt": "/plan"}, "sessionStart").flaws
    assert one({"type": "prompt"}, "sessionStart").flaws
    (hook,) = hooks_of(one({"type": "prompt", "prompt": "/plan"}, "sessionStart"))
    assert "prompt" in hook.handler.values["why"]


@pytest.mark.parametrize(
    ("content", "unreadable"),
    [
        (b"{", True),
        (b"[]", True),
        (b'{"hooks": []}', True),
        (b'{"hooks": {"preToolUse": {}}}', True),
        (b'{"version": 2, "hooks": {"agentStop": [{"bash": "x"}]}}', False),
    ],
)
def test_some_mistakes_void_the_whole_file(content: bytes, unreadable: bool) -> None:
    file = FILES.read(PATH, content)
    assert flaw_of(file).voids is Voids.FILE
    assert file.is_unreadable is unreadable
    assert all(entry.flaw for entry in file.entries)


def test_an_unknown_event_is_named_with_the_nearest_known_one() -> None:
    file = one(OK, "PretoolUse")
    assert flaw_of(file).voids is Voids.ENTRY
    assert "did you mean" in flaw_of(file).hint
    assert entry_of(file).flaw


def test_events_that_the_cloud_agent_never_fires_are_told() -> None:
    content = json.dumps({"hooks": {"permissionRequest": [OK]}}).encode()
    assert "cloud agent" in flaw_of(CLOUD.read(PATH, content)).message
    assert not FILES.read(PATH, content).flaws


def test_plugins_are_given_their_folder() -> None:
    for path in (
        "/x/installed-plugins/m/p/hooks.json",
        "/x/installed-plugins/m/p/hooks/hooks.json",
    ):
        env = entry_of(one({"bash": "cd {{project_dir}}"}, path=path)).env
        assert env["PLUGIN_ROOT"] == env["CLAUDE_PLUGIN_ROOT"] == "/x/installed-plugins/m/p"
    (hook,) = hooks_of(one({"bash": "cd {{project_dir}}"}))
    assert hook.handler.values["run"] == "cd /home/dev/app"


# ── switches ────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_disables_hooks_disables_its_own() -> None:
    off = in_json({"agentStop": [OK]}, disableAllHooks=True)
    assert "disableAllHooks" in off.off
    assert len(hooks_of(off, one(OK, path="/app/.github/hooks/b.json"))) == 1


def test_a_repositorys_settings_disable_all_but_the_policy() -> None:
    off = in_json({}, SETTINGS, disableAllHooks=True)
    policy = one(OK, path="/etc/github-copilot/policy.d/a.json")
    (hook,) = hooks_of(off, one(OK), policy)
    assert hook.source.file == policy.path


# ── matchers ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("matcher", "event", "native", "matches"),
    [
        (None, SHELL, "preToolUse", True),
        ("bash", SHELL, "preToolUse", True),
        ("ba", SHELL, "preToolUse", False),
        ("ba.*", SHELL, "preToolUse", True),
        ("bash|create", SHELL, "preToolUse", True),
        ("Bash", SHELL, "preToolUse", False),
        ("create", PostToolUse(tool=WRITE_CALL), "postToolUse", True),
        ("Write", PostToolUse(tool=WRITE_CALL), "PostToolUse", True),
        ("create", PostToolUse(tool=WRITE_CALL), "PostToolUse", True),
        ("lab-echo", PreToolUse(tool=MCP_CALL), "preToolUse", True),
        ("lab/echo", PermissionRequest(tool=MCP_CALL), "permissionRequest", True),
        ("edit", PermissionRequest(tool=WRITE_CALL), "permissionRequest", True),
        ("bash", PermissionRequest(tool=SHELL_CALL), "permissionRequest", True),
        ("", SHELL, "PreToolUse", True),
        ("*", SHELL, "PreToolUse", True),
        ("Bash", SHELL, "PreToolUse", True),
        ("bash", SHELL, "PreToolUse", True),
        ("Bash|Write", SHELL, "PreToolUse", True),
        ("Wr.*", SHELL, "PreToolUse", False),
        ("B.*", SHELL, "PreToolUse", True),
        ("Task", PreToolUse(tool=tool("agent", content="go")), "PreToolUse", True),
        ("permission_prompt", Notification(kind="permission_prompt"), "notification", True),
        ("permission", Notification(kind="permission_prompt"), "notification", False),
        ("auto", PreCompact(trigger="manual"), "preCompact", False),
        ("Plan", SubagentStart(agent=Agent(name="Plan", depth=1)), "subagentStart", True),
        ("nobody", Stop(), "agentStop", True),
        (None, SessionResume(), "sessionStart", True),
        (None, SteeringSubmit(prompts=("x",)), "UserPromptSubmit", True),
    ],
)
def test_matchers_of_single_entries(
    matcher: str | None, event: Event, native: str, matches: bool
) -> None:
    item = OK if matcher is None else {**OK, "matcher": matcher}
    assert finds(one(item, native), event) is matches


@pytest.mark.parametrize("native", ["preToolUse", "PreToolUse"])
@pytest.mark.parametrize(
    ("matcher", "matches"), [("*", True), ("bash", True), ("Bash|Write", True), ("Read", False)]
)
def test_matchers_of_groups_know_claude_codes_names(
    native: str, matcher: str, matches: bool
) -> None:
    assert finds(one({"matcher": matcher, "hooks": [OK]}, native), SHELL) is matches


@pytest.mark.parametrize(
    "item",
    [
        {**OK, "matcher": "*"},
        {**OK, "matcher": ""},
        {**OK, "matcher": "["},
        {"matcher": "", "hooks": [OK]},
        {"matcher": "(", "hooks": [OK]},
    ],
)
def test_matchers_for_which_copilot_skips_the_hook_are_told(item: Any) -> None:
    file = one(item)
    assert flaw_of(file).voids is Voids.ENTRY
    assert finds(file, SHELL)  # so that its failure is seen
    assert not one({**OK, "matcher": None}).flaws


# ── rules ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("path", "dialect", "runs"),
    [
        (PATH, "claude-code", True),
        (PATH, "copilot", False),
        (PATH, "copilot-cloud", False),
        (PATH, "vscode", False),
        ("/home/dev/.copilot/hooks/a.json", "vscode", False),
        ("/home/dev/.copilot/hooks/a.json", "copilot-cloud", True),
        (SETTINGS, "vscode", True),
        (SETTINGS, "copilot", False),
    ],
)
def test_a_file_is_not_run_for_clients_that_run_it_themselves(
    path: str, dialect: str, runs: bool
) -> None:
    assert finds(one(OK, path=path), PreToolUse(tool=SHELL_CALL, dialect=dialect)) is runs


def test_hooks_run_one_after_another_and_a_deny_before_a_tool_ends_it() -> None:
    file = in_json({"preToolUse": [OK], "PreToolUse": [OK], "agentStop": [OK]})
    before = Lane(name="copilot preToolUse", piped=True, deny_ends=True)
    lanes = [hook.lane for hook in hooks_of(file)]
    assert lanes == [before, before, Lane(name="copilot agentStop")]


def test_only_a_crash_before_a_tool_denies() -> None:
    file = in_json({"preToolUse": [OK], "PreToolUse": [OK], "permissionRequest": [OK]})
    rules = [hook.on_error for hook in hooks_of(file)]
    assert rules == [OnError.BLOCK, OnError.BLOCK, OnError.WARN]


def test_hooks_are_told_the_project_under_both_names() -> None:
    assert FILES.codec.variables(SHELL, Caller(project_dir="/app")) == {
        "COPILOT_CLI": "1",
        "COPILOT_PROJECT_DIR": "/app",
        "CLAUDE_PROJECT_DIR": "/app",
    }


# ── no input breaks the reader ──────────────────────────────────────────────────────────────────

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["hooks", "type", "bash", "url", "matcher", "timeout", "env", "exec"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=80))
def test_no_bytes_raise(content: bytes) -> None:
    hooks_of(FILES.read(PATH, content))
    FILES.owns("/x.json", content)


@given(VALUES, st.sampled_from([PATH, SETTINGS]), st.sampled_from(["preToolUse", "Stop"]))
def test_no_json_raises(value: Any, path: str, event: str) -> None:
    hooks_of(FILES.read(path, json.dumps(value).encode()))
    hooks_of(in_json({event: value}, path))
    hooks_of(in_json({event: [value]}, path))
    hooks_of(in_json({event: [{"type": "http", "url": value, "allowedEnvVars": value}]}, path))
