"""Gemini CLI's hook files: where they are, how they read, and how their hooks run together."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.gemini.files import FILES, GeminiFile
from hookline.model.events import (
    Event,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SessionResume,
    SessionStart,
    SteeringSubmit,
    Stop,
)
from hookline.model.hook import Hook, Lane, Layer
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, Voids, Where
from hookline.model.ports import NOBODY, Caller
from hookline.model.tools import Mcp, Tool, ToolKind, tool

PATH = "/home/dev/app/.gemini/settings.json"
PROJECT = "/home/dev/app"
OK = {"type": "command", "command": "./check.sh"}
BASH = PreToolUse(tool=tool("shell", command="ls"))


def settings(hooks: Any, path: str = PATH, **more: Any) -> GeminiFile:
    return FILES.read(path, json.dumps({"hooks": hooks, **more}, indent=1).encode())


def one(handler: Any, event: str = "BeforeTool", **definition: Any) -> GeminiFile:
    return settings({event: [{**definition, "hooks": [handler]}]})


def entry_of(file: NativeFile) -> NativeEntry:
    (entry,) = file.entries
    return entry


def flaw_of(file: NativeFile) -> NativeFlaw:
    (flaw,) = file.flaws
    return flaw


def hooks_of(*files: NativeFile, project: str = PROJECT) -> tuple[Hook, ...]:
    return FILES.hooks(files, layer=Layer.PROJECT, project_dir=project)


def command_of(hook: Hook) -> Any:
    return hook.handler.values["run"]


def runs(matcher: str | None, event: Event, native: str = "BeforeTool") -> bool:
    definition = {} if matcher is None else {"matcher": matcher}
    (hook,) = hooks_of(one(OK, native, **definition))
    assert hook.match is not None
    return event.event_id() in hook.events and hook.match.find(event, NOBODY) is not None


# ── where ───────────────────────────────────────────────────────────────────────────────────────


def test_the_project_comes_first_and_extensions_last(tmp_path: Path) -> None:
    home = tmp_path / "home"
    extension = home / ".gemini/extensions/safe/hooks/hooks.json"
    extension.parent.mkdir(parents=True)
    extension.write_text("{}")
    where = Where(project=f"{tmp_path}/app", home=str(home), root=f"{tmp_path}/system")
    places = [(place.path, place.layer, place.scope) for place in FILES.places(where)]
    assert places == [
        (f"{tmp_path}/app/.gemini/settings.json", Layer.PROJECT, "project"),
        (f"{home}/.gemini/settings.json", Layer.USER, "user"),
        (f"{tmp_path}/system/etc/gemini-cli/settings.json", Layer.MANAGED, "system"),
        (str(extension), Layer.USER, "extension"),
    ]


def test_the_machines_settings_can_be_elsewhere() -> None:
    env = {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/opt/gemini.json"}
    where = Where(project="/app", home="/home/dev", env=env)
    assert "/opt/gemini.json" in [place.path for place in FILES.places(where)]


@pytest.mark.parametrize(
    ("path", "content", "owned"),
    [
        (PATH, b"{}", True),
        ("/etc/gemini-cli/settings.json", b"{}", True),
        ("/home/dev/.gemini/extensions/x/hooks/hooks.json", b"{}", True),
        ("/app/hooks.json", b'{"hooks": {"BeforeTool": []}}', True),
        ("/app/hooks.json", b'{"hooks": {"SessionStart": []}}', False),
        ("/app/hooks.json", b"nonsense", False),
        ("/app/hookline.yaml", b"hooks: {BeforeTool: []}", False),
        ("/app/settings.json", b"{}", False),
    ],
)
def test_files_are_known_by_place_or_by_events_of_no_other(
    path: str, content: bytes, owned: bool
) -> None:
    assert FILES.owns(path, content) is owned


def test_of_a_gemini_folder_the_settings_count() -> None:
    assert FILES.members("/app/.gemini", ["GEMINI.md", "settings.json"]) == ["settings.json"]
    assert FILES.members("/app/.claude", ["settings.json"]) is None


# ── reading ─────────────────────────────────────────────────────────────────────────────────────


def test_an_entry_keeps_everything_its_file_says_and_its_line() -> None:
    said = {**OK, "name": "check", "timeout": 5000, "env": {"A": "b"}, "description": "d"}
    file = one(said, matcher="write_.*", sequential=True)
    entry = entry_of(file)
    assert not file.flaws
    assert (entry.name, entry.timeout, entry.env) == ("check", 5.0, {"A": "b"})
    assert (entry.matcher, entry.sequential, entry.line) == ("write_.*", True, 8)
    assert entry.options == {"description": "d"}


def test_settings_may_have_comments() -> None:
    text = (
        b'{ // mine\n"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
    )
    assert entry_of(FILES.read(PATH, text)).line == 2


def test_switches_among_the_events_are_no_events() -> None:
    file = settings({"enabled": True, "disabled": [], "notifications": True})
    assert not file.flaws
    assert not file.entries


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b""])
def test_what_cannot_be_read_at_all_is_unreadable(content: bytes) -> None:
    assert FILES.read(PATH, content).is_unreadable


def test_hooks_that_are_no_object_are_unreadable() -> None:
    assert settings([]).is_unreadable


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "x"},
        {"type": "http", "url": "https://hooks.example"},
        {"type": "command"},
        {"type": "command", "command": ""},
        "./x",
    ],
)
def test_what_gemini_discards_is_kept_as_a_hook_that_fails(handler: Any) -> None:
    file = one(handler)
    assert flaw_of(file).voids is Voids.ENTRY
    assert entry_of(file).flaw
    assert hooks_of(file)[0].handler.kind == "native"


def test_two_discarded_hooks_stay_two() -> None:
    bad = {"type": "http"}
    assert len(hooks_of(settings({"BeforeTool": [{"hooks": [bad, bad]}]}))) == 2


@pytest.mark.parametrize("hooks", [{"BeforeTool": {}}, {"BeforeTool": [{"matcher": "x"}]}])
def test_definitions_of_a_wrong_shape_are_named(hooks: Any) -> None:
    assert flaw_of(settings(hooks)).voids is Voids.ENTRY


def test_a_matcher_that_is_no_text_discards_its_definition() -> None:
    assert entry_of(one(OK, matcher=3)).flaw


def test_an_unknown_event_is_named_with_the_nearest_known_one() -> None:
    file = one({"type": "nonsense"}, "Beforetool")
    assert flaw_of(file).hint == "did you mean `BeforeTool`?"
    assert entry_of(file).flaw


def test_seconds_where_milliseconds_are_meant_are_told() -> None:
    file = one({**OK, "timeout": 30})
    assert entry_of(file).timeout == 0.03
    assert (flaw_of(file).voids, flaw_of(file).hint) == (
        Voids.NOTHING,
        "write 30000 for 30 seconds",
    )


def test_a_timeout_that_is_no_number_is_told_and_the_default_holds() -> None:
    file = one({**OK, "timeout": "soon"})
    assert flaw_of(file).voids is Voids.NOTHING
    assert hooks_of(file)[0].timeout == 60


def test_an_environment_of_a_wrong_kind_is_told() -> None:
    assert flaw_of(one({**OK, "env": {"A": 1}})).voids is Voids.NOTHING


def test_matchers_that_hold_for_nothing_here_are_told() -> None:
    assert "run_shell_command" in flaw_of(one(OK, matcher="Bash|Foo")).hint
    file = one(OK, "SessionStart", matcher="startup|resume")
    assert "never holds" in flaw_of(file).message


def test_an_extension_is_given_its_own_folder() -> None:
    path = "/home/dev/.gemini/extensions/safe/hooks/hooks.json"
    said = {"type": "command", "command": "node ${extensionPath}${/}hook.js"}
    file = settings({"BeforeTool": [{"hooks": [said]}]}, path)
    assert entry_of(file).command == "node /home/dev/.gemini/extensions/safe/hook.js"


# ── switches that reach across files ────────────────────────────────────────────────────────────

USER = "/home/dev/.gemini/settings.json"
SYSTEM = "/etc/gemini-cli/settings.json"
OFF: dict[str, Any] = {"hooksConfig": {"enabled": False}}
ON: dict[str, Any] = {"hooksConfig": {"enabled": True}}


def test_hooks_switched_off_do_not_run() -> None:
    file = settings({"BeforeTool": [{"hooks": [OK]}]}, **OFF)
    assert "hooksConfig" in file.off
    assert hooks_of(file) == ()


def test_the_projects_switch_counts_before_the_persons_and_the_machines_before_both() -> None:
    mine = settings({}, USER, **OFF)
    ours = settings({"BeforeTool": [{"hooks": [OK]}]}, **ON)
    assert len(hooks_of(ours, mine)) == 1
    assert hooks_of(ours, mine, settings({}, SYSTEM, **OFF)) == ()


def test_hooks_are_disabled_by_name_or_by_the_command_of_those_without() -> None:
    named = {**OK, "name": "check"}
    other = {**OK, "command": "./other.sh"}
    file = settings({"BeforeTool": [{"hooks": [OK, named, other]}]})
    by_name = settings({}, USER, hooksConfig={"disabled": ["check"]})
    assert flaw_of(by_name).message == "`check` is disabled here"
    assert [command_of(hook) for hook in hooks_of(file, by_name)] == ["./check.sh", "./other.sh"]
    by_command = settings({}, USER, hooksConfig={"disabled": ["./other.sh", 3]})
    assert [hook.name for hook in hooks_of(file, by_command)] == ["", "check"]


# ── rules ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("matcher", "event", "native", "matches"),
    [
        (None, BASH, "BeforeTool", True),
        (" ", BASH, "BeforeTool", True),
        ("*", BASH, "BeforeTool", True),
        ("run_shell", BASH, "BeforeTool", True),
        ("run_shell_command|glob", BASH, "BeforeTool", True),
        ("^shell", BASH, "BeforeTool", False),
        ("Bash", BASH, "BeforeTool", False),
        ("[", BASH, "BeforeTool", False),
        ("startup", SessionStart(source="startup"), "SessionStart", True),
        ("start", SessionStart(source="startup"), "SessionStart", False),
        ("resume", SessionResume(), "SessionStart", True),
        ("exit", SessionEnd(reason="exit"), "SessionEnd", True),
        ("auto", PreCompact(trigger="manual"), "PreCompress", False),
        ("nobody", Stop(), "AfterAgent", True),
        ("nobody", SteeringSubmit(prompts=("x",)), "BeforeAgent", True),
        (
            "read_file",
            PostToolUseFailure(tool=tool("read", path="a"), error="gone"),
            "AfterTool",
            True,
        ),
    ],
)
def test_matchers_hold_for_what_gemini_would_show(
    matcher: str | None, event: Event, native: str, matches: bool
) -> None:
    assert runs(matcher, event, native) is matches


def test_mcp_tools_have_their_gemini_names() -> None:
    call = Tool(kind=ToolKind.MCP, name="mcp__lab__echo", mcp=Mcp("lab", "echo"))
    assert runs("^mcp_lab_", PreToolUse(tool=call))


def test_gemini_itself_runs_its_files() -> None:
    assert not runs(None, PreToolUse(tool=tool("shell", command="ls"), dialect="gemini"))


def test_the_same_command_under_one_name_runs_once_for_either_matcher() -> None:
    file = settings(
        {
            "BeforeTool": [
                {"matcher": "write_file", "hooks": [OK]},
                {"matcher": "run_shell", "hooks": [OK, {**OK, "name": "again"}]},
            ]
        }
    )
    first, again = hooks_of(file)
    assert (first.name, again.name) == ("", "again")
    assert first.match is not None
    assert first.match.find(BASH, NOBODY) is not None


def test_one_sequential_definition_makes_a_sequence_of_the_whole_event() -> None:
    other = {**OK, "command": "./other.sh"}
    file = settings(
        {
            "BeforeTool": [{"hooks": [OK]}, {"sequential": True, "hooks": [other]}],
            "AfterTool": [{"sequential": True, "hooks": [OK]}],
            "AfterAgent": [{"hooks": [OK]}],
        }
    )
    lanes = [hook.lane for hook in hooks_of(file)]
    before, after = Lane(name="gemini BeforeTool", piped=True), Lane(name="gemini AfterTool")
    assert lanes == [before, before, after, None]


@pytest.mark.parametrize(
    ("project", "written", "run"),
    [
        (PROJECT, "$GEMINI_PROJECT_DIR/x.sh", f"{PROJECT}/x.sh"),
        (PROJECT, '"$CLAUDE_PROJECT_DIR/x.sh"', '"$CLAUDE_PROJECT_DIR/x.sh"'),
        (PROJECT, '"$GEMINI_PROJECT_DIR/x.sh"', f'"{PROJECT}/x.sh"'),
        (PROJECT, "cd $GEMINI_CWD", f"cd {PROJECT}"),
        ("/my app", "$GEMINI_PROJECT_DIR/x.sh", "'/my app'/x.sh"),
        ("/my app", '"$GEMINI_PROJECT_DIR"/x.sh', '"$GEMINI_PROJECT_DIR"/x.sh'),
        ("", "$GEMINI_PROJECT_DIR/x.sh", "$GEMINI_PROJECT_DIR/x.sh"),
    ],
)
def test_the_project_is_written_into_the_command(project: str, written: str, run: str) -> None:
    (hook,) = hooks_of(one({"type": "command", "command": written}), project=project)
    assert command_of(hook) == run


def test_hooks_are_told_project_and_session() -> None:
    event = PreToolUse(tool=tool("shell", command="ls"), session_id="s", cwd="/app/sub")
    assert FILES.codec.variables(event, Caller(project_dir="/app")) == {
        "GEMINI_PROJECT_DIR": "/app",
        "CLAUDE_PROJECT_DIR": "/app",
        "GEMINI_CWD": "/app/sub",
        "GEMINI_SESSION_ID": "s",
    }


def test_a_rewrite_of_another_platforms_call_is_read_back_in_its_words() -> None:
    call = Tool(
        kind=ToolKind.WRITE,
        name="create",
        path="a",
        content="x",
        input={"path": "a", "file_text": "x"},
    )
    said = {"hookSpecificOutput": {"tool_input": {"file_path": "b", "note": 1}}}
    answer = FILES.codec.read_answer(
        PreToolUse(tool=call, dialect="gemini", native_event="BeforeTool"),
        stdout=json.dumps(said).encode(),
        stderr=b"",
        exit_code=0,
    )
    assert answer.rewrite.input == {"path": "b", "note": 1}


# ── no input breaks the reader ──────────────────────────────────────────────────────────────────

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["hooks", "type", "command", "matcher", "timeout", "env", "name"]),
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
    hooks_of(settings({"BeforeTool": value}, hooksConfig=value))
    hooks_of(settings({"BeforeTool": [{"hooks": [value], "matcher": value}]}))
