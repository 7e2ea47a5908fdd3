"""What a hook's program finds in its environment."""

import subprocess
from typing import Any

import pytest

from hookline.handlers._environment import hook_directory, hook_environment
from hookline.model.events import Event, FileChanged, PreToolUse, SessionStart
from hookline.model.ports import Match
from hookline.model.tools import CANONICAL_TOOLS, Tool

OWN = "HOOKLINE_"


def edit(*paths: str) -> Tool:
    return CANONICAL_TOOLS.read("Edit", {"paths": list(paths)})


@pytest.fixture
def environment(kit: Any) -> Any:
    def of(event: Event, *, guard: bool = False, **more: Any) -> dict[str, str]:
        hook = kit.hook(
            {"run": "x"},
            event.event_id(),
            guard=guard,
            project_dir=more.pop("project_dir", "/project"),
            env=more.pop("listed", ()),
        )
        return hook_environment(kit.call(event, hook, **more))

    return of


def test_the_event_is_told_in_variables(environment: Any) -> None:
    event = PreToolUse(
        id="e1",
        session_id="s1",
        cwd="/project/sub",
        dialect="codex",
        tool=CANONICAL_TOOLS.read("Bash", {"command": "git push -f"}),
    )
    found = environment(event, env={}, attempt=2, depth=1, project_dir="/project")
    assert {name: value for name, value in found.items() if name.startswith(OWN)} == {
        "HOOKLINE_EVENT": "pre_tool_use",
        "HOOKLINE_ID": "e1",
        "HOOKLINE_ATTEMPT": "2",
        "HOOKLINE_DEPTH": "2",
        "HOOKLINE_DIALECT": "codex",
        "HOOKLINE_SESSION_ID": "s1",
        "HOOKLINE_PROJECT_DIR": "/project",
        "HOOKLINE_CWD": "/project/sub",
        "HOOKLINE_TOOL": "Bash",
        "HOOKLINE_COMMAND": "git push -f",
    }


def test_paths_are_absolute_and_the_one_that_matched_comes_first(environment: Any) -> None:
    event = PreToolUse(cwd="/w", tool=edit("a.py", "/abs/b.py", "../c.py"))
    assert environment(event)["HOOKLINE_PATH"] == "/w/a.py"
    found = environment(event, match=Match(path="/w/../c.py"))
    assert found["HOOKLINE_PATH"] == "/w/../c.py"
    assert found["HOOKLINE_PATHS"] == "/w/a.py\n/abs/b.py\n/w/../c.py"


def test_a_relative_path_without_a_cwd_is_taken_from_where_the_hook_runs(environment: Any) -> None:
    assert environment(PreToolUse(tool=edit("a.py")))["HOOKLINE_PATH"] == "/project/a.py"


def test_a_single_path_of_a_tool_or_event_is_told_too(environment: Any) -> None:
    one = PreToolUse(cwd="/w", tool=Tool(path="a"))
    assert environment(one)["HOOKLINE_PATHS"] == "/w/a"
    assert environment(FileChanged(cwd="/w", path="b"))["HOOKLINE_PATH"] == "/w/b"


def test_what_an_event_does_not_have_is_not_set(environment: Any) -> None:
    found = environment(SessionStart())
    for name in ("TOOL", "COMMAND", "PATH", "PATHS", "OMITTED"):
        assert OWN + name not in found


def test_the_sessions_project_wins_over_the_hooks_own(kit: Any) -> None:
    hook = kit.hook({"run": "x"}, project_dir="/config")
    call = kit.call(PreToolUse(), hook, project_dir="/session")
    assert hook_environment(call)["HOOKLINE_PROJECT_DIR"] == "/session"


def test_the_callers_own_hookline_variables_are_not_believed(environment: Any) -> None:
    caller = {"HOOKLINE_COMMAND": "ls", "HOOKLINE_OMITTED": "x", "HOOKLINE_TRUST": "all", "A": "1"}
    found = environment(SessionStart(), env=caller)
    assert found["A"] == "1"
    assert not {"HOOKLINE_COMMAND", "HOOKLINE_OMITTED", "HOOKLINE_TRUST"} & found.keys()


def test_the_mark_of_an_outer_run_is_passed_on(environment: Any) -> None:
    found = environment(SessionStart(), env={"HOOKLINE_RUN": "abc"})
    assert found["HOOKLINE_RUN"] == "abc"


@pytest.mark.parametrize(
    "command",
    ["x" * (32 * 1024 + 1), "a\0b", "\ud800", "é" * (16 * 1024 + 1)],
    ids=["too long", "with a NUL", "not Unicode", "too long in bytes"],
)
def test_a_value_that_cannot_be_passed_is_left_out_and_named(
    environment: Any, command: str
) -> None:
    event = PreToolUse(tool=CANONICAL_TOOLS.read("Bash", {"command": command}))
    found = environment(event)
    assert "HOOKLINE_COMMAND" not in found
    assert found["HOOKLINE_OMITTED"] == "HOOKLINE_COMMAND"


def test_the_longest_value_that_is_passed_has_32_kib(environment: Any) -> None:
    event = PreToolUse(tool=CANONICAL_TOOLS.read("Bash", {"command": "x" * 32 * 1024}))
    assert len(environment(event)["HOOKLINE_COMMAND"]) == 32 * 1024


def test_a_path_with_a_line_break_does_not_pass_for_two(environment: Any) -> None:
    found = environment(PreToolUse(cwd="/w", tool=edit("a\n/etc/passwd", "b")))
    assert found["HOOKLINE_PATH"] == "/w/a\n/etc/passwd"
    assert found["HOOKLINE_OMITTED"] == "HOOKLINE_PATHS"


def test_callers_variables_that_would_keep_the_program_from_starting_are_left_out(
    environment: Any,
) -> None:
    caller = {"BIG": "x" * 128 * 1024, "FITS": "y" * (128 * 1024 - 6), "NUL": "\0"}
    found = environment(SessionStart(), env={**caller, "a=b": "1", "": "1", "c\0d": "1"})
    assert found["HOOKLINE_OMITTED"] == "BIG,NUL"
    subprocess.run(["/bin/true"], env=found, check=True)


@pytest.mark.parametrize(
    ("path", "cleaned"),
    [
        ("/a:/b", "/a:/b"),
        (":/a::bin:./x:/b:.", "/a:/b"),
        ("", "/bin:/usr/bin"),
        (".:bin", "/bin:/usr/bin"),
    ],
)
def test_only_absolute_entries_of_the_path_are_searched(
    environment: Any, path: str, cleaned: str
) -> None:
    assert environment(SessionStart(), env={"PATH": path})["PATH"] == cleaned


LOADERS = [
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "IFS",
    "CDPATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYLIB",
    "RUBYOPT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_0",
    "GIT_EXEC_PATH",
    "GIT_SSH_COMMAND",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "BASH_FUNC_ls%%",
    "JAVA_TOOL_OPTIONS",
    "LUA_INIT",
    "npm_config_script_shell",
    "NPM_CONFIG_NODE_OPTIONS",
    "DOTNET_STARTUP_HOOKS",
    "MAKEFLAGS",
    "TAR_OPTIONS",
]
HARMLESS = [
    "HOME",
    "LANG",
    "TERM",
    "USER",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_EMAIL",
    "CI",
    "ENVIRONMENT",
    "MY_LD_X",
]


def test_a_guard_loses_variables_that_load_code_and_keeps_the_others(environment: Any) -> None:
    caller = dict.fromkeys(LOADERS + HARMLESS, "x")
    found = environment(SessionStart(), guard=True, env=caller)
    assert not found.keys() & set(LOADERS)
    assert found.keys() >= set(HARMLESS)


def test_a_guard_keeps_a_loader_variable_that_it_lists(environment: Any) -> None:
    caller = {"PYTHONPATH": "/lib", "LD_PRELOAD": "/evil.so"}
    found = environment(SessionStart(), guard=True, env=caller, listed=("PYTHONPATH",))
    assert found["PYTHONPATH"] == "/lib"
    assert "LD_PRELOAD" not in found


def test_a_hook_that_is_no_guard_keeps_the_callers_environment(environment: Any) -> None:
    caller = dict.fromkeys(LOADERS, "x")
    assert environment(SessionStart(), env=caller).keys() >= set(LOADERS)


def test_a_hook_runs_in_its_project_else_where_the_event_happened(kit: Any) -> None:
    event = PreToolUse(cwd="/w")
    assert hook_directory(kit.call(event, kit.hook({}, project_dir="/p"))) == "/p"
    assert hook_directory(kit.call(event, kit.hook({}))) == "/w"
    assert hook_directory(kit.call(PreToolUse(), kit.hook({}))) == "/"
