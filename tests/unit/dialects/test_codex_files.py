"""Codex's hook files: where they are, how they read, and which of their hooks are for an event."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.codex.files import FILES, CodexFile
from hookline.model.events import (
    Agent,
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SessionResume,
    SessionStart,
    Stop,
    SubagentStart,
    UserPromptSubmit,
)
from hookline.model.hook import Hook, Layer
from hookline.model.native import NativeEntry, NativeFlaw, Voids, Where
from hookline.model.ports import NOBODY
from hookline.model.tools import Mcp, Tool, ToolKind, tool

PATH = "/home/dev/app/.codex/hooks.json"
TOML = "/home/dev/.codex/config.toml"
OK = {"type": "command", "command": "./check.sh"}


def in_json(hooks: Any, **more: Any) -> CodexFile:
    return FILES.read(PATH, json.dumps({"hooks": hooks, **more}, indent=1).encode())


def one(handler: Any, event: str = "PreToolUse", **group: Any) -> CodexFile:
    return in_json({event: [{**group, "hooks": [handler]}]})


def entry_of(file: CodexFile) -> NativeEntry:
    (entry,) = file.entries
    return entry


def flaw_of(file: CodexFile) -> NativeFlaw:
    (flaw,) = file.flaws
    return flaw


def hooks_of(*files: CodexFile) -> tuple[Hook, ...]:
    return FILES.hooks(files, layer=Layer.PROJECT, project_dir="/home/dev/app")


def runs(matcher: str | None, event: Event, native: str = "PreToolUse") -> bool:
    group = {} if matcher is None else {"matcher": matcher}
    (hook,) = hooks_of(one(OK, native, **group))
    assert hook.match is not None
    return event.event_id() in hook.events and hook.match.find(event, NOBODY) is not None


BASH = PreToolUse(tool=tool("shell", command="ls"))
WRITE = PreToolUse(tool=tool("write", path="a.py", content="x"))


# ── where ───────────────────────────────────────────────────────────────────────────────────────


def test_the_managed_file_comes_first_and_plugins_last(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    plugin = home / ".codex/plugins/cache/market/demo/1.0/hooks/hooks.json"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("{}")
    where = Where(project=f"{tmp_path}/app", home=str(home), root=str(root))
    places = [(place.path, place.layer, place.scope) for place in FILES.places(where)]
    assert places == [
        (f"{root}/etc/codex/requirements.toml", Layer.MANAGED, "managed"),
        (f"{root}/etc/codex/hooks.json", Layer.MANAGED, "system"),
        (f"{root}/etc/codex/config.toml", Layer.MANAGED, "system"),
        (f"{home}/.codex/hooks.json", Layer.USER, "user"),
        (f"{home}/.codex/config.toml", Layer.USER, "user"),
        (f"{tmp_path}/app/.codex/hooks.json", Layer.PROJECT, "project"),
        (f"{tmp_path}/app/.codex/config.toml", Layer.PROJECT, "project"),
        (str(plugin), Layer.USER, "plugin"),
    ]


def test_codex_home_moves_the_persons_files() -> None:
    where = Where(project="/app", home="/home/dev", env={"CODEX_HOME": "/opt/codex"})
    assert "/opt/codex/hooks.json" in [place.path for place in FILES.places(where)]


@pytest.mark.parametrize(
    ("path", "owned"),
    [
        (PATH, True),
        (TOML, True),
        ("/etc/codex/requirements.toml", True),
        ("/home/dev/.codex/plugins/cache/m/p/1/hooks/hooks.json", True),
        ("/home/dev/codex/hooks.json", False),
        ("/home/dev/.codex/auth.json", False),
        ("/home/dev/.codex/requirements.toml", False),
    ],
)
def test_files_are_known_by_their_place(path: str, owned: bool) -> None:
    assert FILES.owns(path, b"{}") is owned


def test_of_a_codex_folder_two_files_count_the_json_first() -> None:
    names = ["auth.json", "config.toml", "hooks.json"]
    assert FILES.members("/app/.codex/", names) == ["hooks.json", "config.toml"]
    assert FILES.members("/app/.claude", names) is None


# ── reading ─────────────────────────────────────────────────────────────────────────────────────


def test_an_entry_keeps_everything_its_file_says_and_its_line() -> None:
    said = {**OK, "timeout": 5, "async": True, "statusMessage": "checking"}
    entry = entry_of(one(said, matcher="Bash"))
    assert (entry.event, entry.command, entry.matcher) == ("PreToolUse", "./check.sh", "Bash")
    assert (entry.timeout, entry.background, entry.line) == (5.0, True, 7)
    assert entry.options == {"key": f"{PATH}:pre_tool_use:0:0", "statusMessage": "checking"}


def test_toml_reads_like_json_with_the_lines_of_its_tables() -> None:
    text = """model = "x"

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "one"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "two"
timeout = 9

[[hooks.Stop]]
hooks = [{ type = "command", command = "three" }]
"""
    file = FILES.read(TOML, text.encode())
    assert not file.flaws
    assert [(e.event, e.command, e.line) for e in file.entries] == [
        ("PreToolUse", "one", 6),
        ("PreToolUse", "two", 10),
        ("Stop", "three", 16),
    ]
    assert file.entries[1].timeout == 9.0
    assert file.entries[2].options["key"] == f"{TOML}:stop:0:0"


def test_dates_in_toml_are_texts() -> None:
    file = FILES.read(TOML, b"when = 2026-01-01\n[hooks]\nPreToolUse = []\n")
    assert not file.flaws
    assert not file.entries


@pytest.mark.parametrize(
    "handler",
    [
        {"type": "http", "url": "https://hooks.example"},
        {"command": "x"},
        {"type": "command"},
        {"type": "command", "command": 1},
        {**OK, "timeout": "10"},
        {**OK, "timeout": -1},
        {**OK, "timeout": True},
        {**OK, "timeout": 1.5},
        {**OK, "async": "yes"},
        {**OK, "additionalContextLimit": "no"},
        {"type": "mcp_tool", "server": "s"},
        "./check.sh",
    ],
)
def test_one_value_of_a_wrong_kind_takes_the_whole_file_along(handler: Any) -> None:
    file = in_json({"PreToolUse": [{"hooks": [OK, handler]}], "Stop": [{"hooks": [OK]}]})
    assert flaw_of(file).voids is Voids.FILE
    assert len(file.entries) == 3
    assert all(entry.flaw for entry in file.entries)
    assert {hook.handler.kind for hook in hooks_of(file)} == {"native"}


@pytest.mark.parametrize(
    "hooks",
    [
        [],
        {"PreToolUse": {}},
        {"PreToolUse": ["x"]},
        {"PreToolUse": [{"hooks": {}}]},
        {"PreToolUse": [{"matcher": 3, "hooks": []}]},
    ],
)
def test_a_group_of_a_wrong_shape_takes_the_whole_file_along(hooks: Any) -> None:
    assert flaw_of(in_json(hooks)).voids is Voids.FILE


def test_an_unknown_key_at_the_top_voids_the_file() -> None:
    file = in_json({"Stop": [{"hooks": [OK]}]}, version=1)
    assert flaw_of(file).voids is Voids.FILE
    assert "version" in flaw_of(file).message
    assert "version" in entry_of(file).flaw


def test_events_without_hooks_around_them_are_told_apart() -> None:
    file = FILES.read(PATH, json.dumps({"Stop": [{"hooks": [OK]}]}).encode())
    assert [flaw.voids for flaw in file.flaws] == [Voids.FILE, Voids.FILE]
    assert file.is_unreadable


def test_comments_void_the_file_but_its_hooks_are_still_listed() -> None:
    text = b'{// ours\n"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
    file = FILES.read(PATH, text)
    assert flaw_of(file).voids is Voids.FILE
    assert "comments" in entry_of(file).flaw


@pytest.mark.parametrize(
    ("path", "content", "line"),
    [
        (PATH, b"{\n\n nope}", 3),
        (PATH, b"[]", 1),
        (PATH, b"\xff", 1),
        (TOML, b"a = 1\nb ==", 2),
        (TOML, b"\xff", 1),
        (TOML, b"a = " + b"[" * 3000, 1),
    ],
)
def test_what_cannot_be_read_at_all_says_where(path: str, content: bytes, line: int) -> None:
    file = FILES.read(path, content)
    assert file.is_unreadable
    assert flaw_of(file).line == line


@pytest.mark.parametrize(
    ("handler", "event"),
    [
        ({"type": "command", "command": "  "}, "Stop"),
        ({"type": "prompt", "prompt": "ok?"}, "Stop"),
        ({"type": "agent"}, "Stop"),
        ({"type": "mcp_tool", "server": "s", "tool": " "}, "Stop"),
        ({"type": "mcp_tool", "server": "s", "tool": "t"}, "SessionEnd"),
    ],
)
def test_what_codex_skips_alone_is_kept_as_a_hook_that_fails(handler: Any, event: str) -> None:
    file = one(handler, event)
    assert flaw_of(file).voids is Voids.ENTRY
    assert entry_of(file).flaw
    assert hooks_of(file)[0].handler.kind == "native"


def test_an_mcp_tool_is_kept_although_nothing_here_runs_it() -> None:
    file = one({"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${tool_name}"}})
    assert not file.flaws
    (hook,) = hooks_of(file)
    assert "mcp_tool" in hook.handler.values["why"]
    assert entry_of(file).options["input"] == {"a": "${tool_name}"}


def test_an_unknown_event_is_named_with_the_nearest_known_one() -> None:
    file = one(OK, "PreTooluse")
    assert flaw_of(file).hint == "did you mean `PreToolUse`?"
    assert entry_of(file).flaw


def test_a_matcher_that_is_no_regex_skips_its_group() -> None:
    file = one(OK, matcher="[")
    assert (flaw_of(file).voids, flaw_of(file).line) == (Voids.ENTRY, 5)
    assert entry_of(file).flaw
    assert runs("[", BASH)  # so that its failure is seen
    assert not one(OK, "Stop", matcher="[").flaws


def test_session_end_has_one_to_three_seconds_and_is_waited_for() -> None:
    assert entry_of(one(OK, "SessionEnd")).timeout == 1.0
    assert not one({**OK, "timeout": 2}, "SessionEnd").flaws
    file = one({**OK, "timeout": 60, "async": True}, "SessionEnd")
    assert entry_of(file).timeout == 3.0
    assert not entry_of(file).background
    assert [flaw.voids for flaw in file.flaws] == [Voids.NOTHING, Voids.NOTHING]


def test_an_interruption_has_one_to_three_seconds_too() -> None:
    assert entry_of(one(OK, "Interrupt")).timeout == 1.0
    assert not one({**OK, "timeout": 2, "async": True}, "Interrupt").flaws
    file = one({**OK, "timeout": 60}, "Interrupt")
    assert entry_of(file).timeout == 3.0
    assert [flaw.voids for flaw in file.flaws] == [Voids.NOTHING]


def test_a_timeout_is_in_seconds_600_by_default_and_1_at_least() -> None:
    assert hooks_of(one(OK))[0].timeout == 600
    assert hooks_of(one({**OK, "timeout": 0}))[0].timeout == 1
    assert hooks_of(one({**OK, "timeout": 30}))[0].timeout == 30


def test_a_plugin_gets_its_own_folder_in_its_command_and_environment() -> None:
    path = "/p/demo/hooks/hooks.json"
    said = {"type": "command", "command": "${PLUGIN_ROOT}/a ${CLAUDE_PLUGIN_ROOT}/b"}
    file = FILES.read(path, json.dumps({"hooks": {"Stop": [{"hooks": [said]}]}}).encode())
    assert entry_of(file).command == "/p/demo/a /p/demo/b"
    assert entry_of(file).env == {"PLUGIN_ROOT": "/p/demo", "CLAUDE_PLUGIN_ROOT": "/p/demo"}


# ── switches that reach across files ────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["hooks", "codex_hooks"])
def test_a_feature_switched_off_stops_the_hooks_of_every_file(name: str) -> None:
    config = FILES.read(TOML, f"[features]\n{name} = false\n".encode())
    assert config.off
    assert hooks_of(one(OK)) != ()
    assert hooks_of(config, one(OK)) == ()


def test_a_later_layer_can_switch_the_feature_on_again() -> None:
    off = FILES.read(TOML, b"[features]\nhooks = false\n")
    on = FILES.read("/home/dev/app/.codex/config.toml", b"[features]\nhooks = true\n")
    assert len(hooks_of(off, on, one(OK))) == 1


def test_a_hook_that_its_person_disabled_does_not_run() -> None:
    state = f'[hooks.state."{PATH}:pre_tool_use:0:0"]\nenabled = false\ntrusted_hash = "sha256:0"\n'
    config = FILES.read(TOML, state.encode())
    file = in_json({"PreToolUse": [{"hooks": [OK, {**OK, "command": "./other.sh"}]}]})
    (hook,) = hooks_of(config, file)
    assert hook.handler.values["run"] == "./other.sh"
    assert (flaw_of(config).line, flaw_of(config).voids) == (1, Voids.NOTHING)


def test_a_state_without_a_switch_disables_nothing() -> None:
    state = f'[hooks.state."{PATH}:pre_tool_use:0:0"]\ntrusted_hash = "sha256:0"\n'
    assert len(hooks_of(FILES.read(TOML, state.encode()), one(OK))) == 1


def test_managed_hooks_alone_run_when_the_requirements_say_so() -> None:
    text = (
        'allow_managed_hooks_only = true\n[hooks]\nmanaged_dir = "/opt"\n'
        'Stop = [{ hooks = [{ type = "command", command = "m" }] }]\n'
    )
    managed = FILES.read("/etc/codex/requirements.toml", text.encode())
    assert [hook.handler.values["run"] for hook in hooks_of(managed, one(OK))] == ["m"]
    assert flaw_of(managed).voids is Voids.NOTHING


# ── matchers and rules ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("matcher", "event", "native", "matches"),
    [
        (None, BASH, "PreToolUse", True),
        ("", BASH, "PreToolUse", True),
        ("*", BASH, "PreToolUse", True),
        ("Bash", BASH, "PreToolUse", True),
        ("bash", BASH, "PreToolUse", False),
        ("Bas", BASH, "PreToolUse", False),
        ("Edit|Bash", BASH, "PreToolUse", True),
        ("Edit| Bash", BASH, "PreToolUse", False),
        ("^Ba", BASH, "PreToolUse", True),
        ("shell", BASH, "PreToolUse", False),
        ("Write", WRITE, "PreToolUse", True),
        ("Edit", WRITE, "PreToolUse", True),
        ("apply_patch", WRITE, "PreToolUse", True),
        ("MultiEdit", WRITE, "PreToolUse", False),
        ("^Wri", WRITE, "PreToolUse", True),
        ("Agent", PreToolUse(tool=tool("agent", content="go")), "PreToolUse", True),
        ("startup", SessionStart(source="startup"), "SessionStart", True),
        ("resume", SessionResume(), "SessionStart", True),
        ("startup", SessionStart(source="new"), "SessionStart", True),
        ("clear", SessionStart(source="startup"), "SessionStart", False),
        ("other", SessionEnd(reason="exit"), "SessionEnd", True),
        ("auto", PreCompact(trigger="manual"), "PreCompact", False),
        ("nobody", UserPromptSubmit(prompt="x"), "UserPromptSubmit", True),
        ("nobody", Stop(), "Stop", True),
        ("Plan", SubagentStart(agent=Agent(name="Plan", depth=1)), "SubagentStart", True),
        ("Bash", PostToolUse(tool=tool("shell", command="ls")), "PostToolUse", True),
    ],
)
def test_matchers_hold_for_what_codex_would_show(
    matcher: str | None, event: Event, native: str, matches: bool
) -> None:
    assert runs(matcher, event, native) is matches


def test_mcp_tools_have_their_codex_names() -> None:
    call = Tool(kind=ToolKind.MCP, name="mcp_lab_echo", mcp=Mcp("lab", "echo"))
    assert runs("mcp__lab__.*", PreToolUse(tool=call))
    assert not runs("mcp__other__.*", PreToolUse(tool=call))


def test_of_failed_tools_only_commands_reach_codex_hooks() -> None:
    failed = PostToolUseFailure(tool=tool("shell", command="false"), error="exit 1")
    assert runs("Bash", failed, "PostToolUse")
    missing = PostToolUseFailure(tool=tool("read", path="a"), error="no such file")
    assert not runs(None, missing, "PostToolUse")


def test_codex_itself_runs_its_files() -> None:
    event = PreToolUse(tool=tool("shell", command="ls"), dialect="codex")
    assert not runs(None, event)


def test_the_same_command_twice_runs_twice() -> None:
    assert len(hooks_of(in_json({"Stop": [{"hooks": [OK, OK]}]}))) == 2


def test_hooks_that_call_hookline_are_left_out() -> None:
    assert hooks_of(one({"type": "command", "command": "hookline hook codex PreToolUse"})) == ()


# ── no input breaks the reader ──────────────────────────────────────────────────────────────────

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["hooks", "type", "command", "matcher", "timeout", "async", "PreToolUse", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=80), st.sampled_from([PATH, TOML]))
def test_no_bytes_raise(content: bytes, path: str) -> None:
    hooks_of(FILES.read(path, content))


@given(VALUES)
def test_no_json_raises(value: Any) -> None:
    file = FILES.read(PATH, json.dumps(value).encode())
    hooks_of(file)
    hooks_of(FILES.read(PATH, json.dumps({"hooks": {"PreToolUse": value}}).encode()))
    hooks_of(in_json({"Stop": [{"hooks": [value]}]}))
