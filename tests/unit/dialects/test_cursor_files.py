"""Cursor's hook files: where they are, how they read, and which tool calls their hooks are for."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.cursor.files import FILES
from hookline.model.events import (
    AfterLlmCall,
    Agent,
    BeforeCompaction,
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    SessionResume,
    SessionStart,
    Stop,
    SubagentStart,
    UserPromptSubmit,
)
from hookline.model.hook import Hook, Layer, OnError
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, Voids, Where
from hookline.model.ports import NOBODY, Caller
from hookline.model.tools import Mcp, Tool, ToolKind, tool

PATH = "/home/dev/app/.cursor/hooks.json"
PROJECT = "/home/dev/app"
OK = {"command": "./check.sh"}
SHELL = PreToolUse(tool=tool("shell", command="git push"))
READ = PreToolUse(tool=tool("read", path="a.txt"))
MCP = PreToolUse(tool=Tool(kind=ToolKind.MCP, name="mcp__lab__echo", mcp=Mcp("lab", "echo")))
WROTE = PostToolUse(tool=tool("write", path="a.txt", content="x"))
RAN = PostToolUse(tool=tool("shell", command="git push"))
THOUGHT = AfterLlmCall(
    messages=({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},)
)
SAID = AfterLlmCall(messages=({"role": "assistant", "content": "done"},))


def in_json(hooks: Any, path: str = PATH, version: Any = 1) -> NativeFile:
    return FILES.read(path, json.dumps({"version": version, "hooks": hooks}, indent=1).encode())


def one(entry: Any, event: str = "preToolUse") -> NativeFile:
    return in_json({event: [entry]})


def entry_of(file: NativeFile) -> NativeEntry:
    (entry,) = file.entries
    return entry


def flaw_of(file: NativeFile) -> NativeFlaw:
    (flaw,) = file.flaws
    return flaw


def hooks_of(*files: NativeFile, project: str = PROJECT) -> tuple[Hook, ...]:
    return FILES.hooks(files, layer=Layer.PROJECT, project_dir=project)


def runs(native: str, event: Event, matcher: str | None = None) -> bool:
    (hook,) = hooks_of(one(OK if matcher is None else {**OK, "matcher": matcher}, native))
    assert hook.match is not None
    return event.event_id() in hook.events and hook.match.find(event, NOBODY) is not None


# ── where ───────────────────────────────────────────────────────────────────────────────────────


def test_the_machine_comes_first_and_claude_codes_files_last() -> None:
    where = Where(project="/app", home="/home/dev", root="/machine")
    places = [(each.path, each.layer, each.scope, each.dialect) for each in FILES.places(where)]
    assert places == [
        ("/machine/etc/cursor/hooks.json", Layer.MANAGED, "enterprise", ""),
        ("/app/.cursor/hooks.json", Layer.PROJECT, "project", ""),
        ("/home/dev/.cursor/hooks.json", Layer.USER, "user", ""),
        ("/app/.claude/settings.local.json", Layer.PROJECT, "local", "claude-code"),
        ("/app/.claude/settings.json", Layer.PROJECT, "project", "claude-code"),
        ("/home/dev/.claude/settings.json", Layer.USER, "user", "claude-code"),
    ]


@pytest.mark.parametrize(
    ("path", "content", "owned"),
    [
        (PATH, b"{}", True),
        ("/etc/cursor/hooks.json", b"{}", True),
        ("/app/hooks.json", b'{"hooks": {"beforeShellExecution": []}}', True),
        ("/app/hooks.json", b'{"hooks": {"preToolUse": []}}', False),
        ("/app/hooks.json", b"nonsense", False),
        ("/app/hookline.yaml", b"{}", False),
    ],
)
def test_files_are_known_by_place_or_by_events_of_no_other(
    path: str, content: bytes, owned: bool
) -> None:
    assert FILES.owns(path, content) is owned


def test_of_a_cursor_folder_one_file_counts() -> None:
    assert FILES.members("/app/.cursor", ["hooks.json", "mcp.json"]) == ["hooks.json"]
    assert FILES.members("/app/.claude", ["hooks.json"]) is None


@pytest.mark.parametrize(
    ("path", "directory"),
    [
        (PATH, "/home/dev/app"),
        ("/home/dev/app/part/.cursor/hooks.json", "/home/dev/app/part"),
        ("/home/dev/.cursor/hooks.json", "/home/dev/.cursor"),
        ("/etc/cursor/hooks.json", "/etc/cursor"),
        ("/home/dev/app/team/hooks.json", "/home/dev/app/team"),
    ],
)
def test_a_hook_runs_where_its_file_is_for(path: str, directory: str) -> None:
    (hook,) = hooks_of(in_json({"stop": [OK]}, path))
    assert hook.start is not None
    assert hook.start.directory == directory
    assert not hook.start.in_cwd


# ── reading ─────────────────────────────────────────────────────────────────────────────────────


def test_an_entry_keeps_everything_its_file_says_and_its_line() -> None:
    file = one({**OK, "matcher": "Shell", "timeout": 5, "failClosed": True, "loop_limit": 2})
    entry = entry_of(file)
    assert not file.flaws
    assert (entry.type, entry.command, entry.matcher) == ("command", "./check.sh", "Shell")
    assert (entry.timeout, entry.fails_closed, entry.line) == (5.0, True, 5)
    assert entry.options == {"loop_limit": 2}


def test_only_a_hook_that_says_so_fails_closed() -> None:
    closed, open_ = hooks_of(in_json({"preToolUse": [{**OK, "failClosed": True}, OK]}))
    assert (closed.on_error, open_.on_error) == (OnError.BLOCK, OnError.WARN)


def test_a_prompt_is_kept_although_nothing_here_runs_it() -> None:
    file = one({"type": "prompt", "prompt": "Is this safe? $ARGUMENTS", "failClosed": True})
    assert not file.flaws
    (hook,) = hooks_of(file)
    assert "prompt" in hook.handler.values["why"]
    assert hook.on_error is OnError.BLOCK


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"hooks": []}'])
def test_what_cannot_be_read_at_all_is_unreadable(content: bytes) -> None:
    assert FILES.read(PATH, content).is_unreadable


@pytest.mark.parametrize(
    "entry",
    [
        "./x",
        {},
        {"command": " "},
        {"command": 3},
        {"type": "http", "url": "https://hooks.example"},
        {"type": "prompt"},
        {**OK, "matcher": {"tool": "Shell"}},
        {**OK, "matcher": "["},
        {**OK, "failClosed": "yes"},
        {"matcher": "Shell", "hooks": [OK]},
    ],
)
def test_a_mistaken_entry_is_kept_as_a_hook_that_fails(entry: Any) -> None:
    file = one(entry)
    assert flaw_of(file).voids is Voids.ENTRY
    assert entry_of(file).flaw
    (hook,) = hooks_of(file)
    assert hook.handler.kind == "native"
    assert hook.match is not None
    assert hook.match.find(SHELL, NOBODY) is not None


def test_hooks_of_an_event_must_be_a_list() -> None:
    assert flaw_of(in_json({"stop": {}})).voids is Voids.ENTRY


def test_an_unknown_event_is_named_with_the_nearest_known_one() -> None:
    file = one({"type": "nonsense"}, "PreToolUse")
    assert flaw_of(file).hint == "did you mean `preToolUse`?"
    assert entry_of(file).flaw


def test_doubtful_values_are_told_and_change_nothing() -> None:
    assert flaw_of(in_json({}, version=[2])).voids is Voids.NOTHING
    slow = one({**OK, "timeout": 30000})
    assert (flaw_of(slow).hint, entry_of(slow).timeout) == ("write 30", 30000.0)
    assert hooks_of(one({**OK, "timeout": 0}))[0].timeout == 60
    assert flaw_of(one({**OK, "timeout": "soon"})).voids is Voids.NOTHING


# ── which of several events ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("native", "event", "matches"),
    [
        ("preToolUse", SHELL, True),
        ("preToolUse", MCP, True),
        ("beforeShellExecution", SHELL, True),
        ("beforeShellExecution", READ, False),
        ("beforeMCPExecution", MCP, True),
        ("beforeMCPExecution", SHELL, False),
        ("beforeReadFile", READ, True),
        ("beforeReadFile", SHELL, False),
        ("beforeTabFileRead", READ, False),
        ("afterShellExecution", RAN, True),
        ("afterShellExecution", WROTE, False),
        ("afterMCPExecution", RAN, False),
        ("afterFileEdit", WROTE, True),
        ("afterFileEdit", RAN, False),
        ("afterTabFileEdit", WROTE, False),
        ("postToolUse", WROTE, True),
        ("afterAgentResponse", SAID, True),
        ("afterAgentResponse", THOUGHT, False),
        ("afterAgentThought", THOUGHT, True),
        ("afterAgentThought", SAID, False),
        ("afterAgentResponse", AfterLlmCall(), True),
        ("sessionStart", SessionResume(), True),
        ("preCompact", BeforeCompaction(), True),
        (
            "afterShellExecution",
            PostToolUseFailure(tool=tool("shell", command="false"), error="1"),
            True,
        ),
        ("preToolUse", PreToolUse(tool=tool("shell", command="ls"), dialect="cursor"), False),
    ],
)
def test_each_of_cursors_events_is_for_its_own_kind_of_call(
    native: str, event: Event, matches: bool
) -> None:
    assert runs(native, event) is matches


@pytest.mark.parametrize(
    ("native", "event", "matcher", "matches"),
    [
        ("preToolUse", SHELL, "Shell", True),
        ("preToolUse", SHELL, "Shell|Write", True),
        ("preToolUse", SHELL, "She", True),
        ("preToolUse", SHELL, "^Write$", False),
        ("preToolUse", SHELL, "*", True),
        ("preToolUse", MCP, "MCP:echo", True),
        ("beforeShellExecution", SHELL, "git (push|reset)", True),
        ("beforeShellExecution", SHELL, "^npm", False),
        ("afterShellExecution", RAN, "push$", True),
        ("beforeMCPExecution", MCP, "nothing", True),
        ("beforeReadFile", READ, "^Read$", True),
        ("beforeReadFile", READ, "TabRead", False),
        ("afterFileEdit", WROTE, "Write", True),
        ("postToolUse", WROTE, "Write", True),
        ("beforeSubmitPrompt", UserPromptSubmit(prompt="x"), "UserPromptSubmit", True),
        ("beforeSubmitPrompt", UserPromptSubmit(prompt="x"), "x", False),
        ("stop", Stop(), "Stop", True),
        ("subagentStart", SubagentStart(agent=Agent(name="Plan", depth=1)), "Plan", True),
        ("subagentStart", SubagentStart(agent=Agent(name="Plan", depth=1)), "Other", False),
    ],
)
def test_matchers_are_held_against_what_cursor_says_they_are(
    native: str, event: Event, matcher: str, matches: bool
) -> None:
    assert runs(native, event, matcher) is matches


# ── what a hook is shown ────────────────────────────────────────────────────────────────────────


def shown(event: Event, native: str) -> dict[str, Any]:
    from msgspec.structs import replace

    return FILES.codec.payload(replace(event, dialect="cursor", native_event=native))


def test_events_for_one_kind_of_tool_have_keys_of_their_own(tmp_path: Path) -> None:
    assert shown(SHELL, "beforeShellExecution")["command"] == "git push"
    assert "tool_name" not in shown(SHELL, "beforeShellExecution")
    failed = PostToolUseFailure(tool=tool("shell", command="false"), error="exit 1")
    assert shown(failed, "afterShellExecution")["output"] == "exit 1"
    call = shown(MCP, "beforeMCPExecution")
    assert (call["tool_name"], call["tool_input"], call["command"]) == ("echo", "{}", "lab")
    answered = PostToolUse(
        tool=Tool(kind=ToolKind.MCP, name="x", input={"a": 1}, output="hi", duration_ms=3.0)
    )
    after = shown(answered, "afterMCPExecution")
    assert (after["tool_name"], after["tool_input"], after["duration"]) == ("x", '{"a":1}', 3.0)
    assert json.loads(after["result_json"])["content"][0]["text"] == "hi"
    edited = PostToolUse(tool=tool("edit", path="a", old="x", new="y"))
    edits = [{"old_string": "x", "new_string": "y"}]
    assert shown(edited, "afterFileEdit")["edits"] == edits


def test_a_hook_before_a_read_sees_what_would_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("secret")
    seen = PreToolUse(tool=tool("read", path="a.txt"), cwd=str(tmp_path))
    assert shown(seen, "beforeReadFile")["content"] == "secret"
    for path in ("missing", ".", "bad\0name"):
        other = PreToolUse(tool=tool("read", path=path), cwd=str(tmp_path))
        assert shown(other, "beforeReadFile")["content"] == ""


def test_a_file_that_may_not_be_read_is_shown_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Any:
        raise PermissionError

    (tmp_path / "a.txt").write_text("secret")
    monkeypatch.setattr("builtins.open", refused)
    seen = PreToolUse(tool=tool("read", path="a.txt"), cwd=str(tmp_path))
    assert shown(seen, "beforeReadFile")["content"] == ""


def test_hooks_are_told_the_project_under_both_names() -> None:
    assert FILES.codec.variables(SHELL, Caller(project_dir="/app")) == {
        "CURSOR_PROJECT_DIR": "/app",
        "CLAUDE_PROJECT_DIR": "/app",
    }


def test_variables_for_later_hooks_are_kept_with_the_answer() -> None:
    said = b'{"env": {"TOKEN": "x"}, "additional_context": "hi"}'
    started = SessionStart(dialect="cursor", native_event="sessionStart")
    answer = FILES.codec.read_answer(started, stdout=said, stderr=b"", exit_code=0)
    assert answer.metadata == {"cursor": {"env": {"TOKEN": "x"}}}
    assert answer.context == ("hi",)


# ── no input breaks the reader ──────────────────────────────────────────────────────────────────

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["hooks", "type", "command", "matcher", "timeout", "failClosed"]),
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


@given(VALUES)
def test_no_json_raises(value: Any) -> None:
    hooks_of(FILES.read(PATH, json.dumps(value).encode()))
    hooks_of(in_json({"preToolUse": value}, version=value))
    hooks_of(in_json({"preToolUse": [value]}))
