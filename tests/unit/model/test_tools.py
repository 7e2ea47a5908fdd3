"""Canonical tools: native names and keys read into normal fields, and rewrites written back."""

from typing import Any

import pytest
from hypothesis import given

from hookline.model.answers import Rewrite
from hookline.model.events import (
    BeforeCompaction,
    BeforeLlmCall,
    PostToolUse,
    PreToolUse,
    Stop,
    UserPromptSubmit,
)
from hookline.model.rewriting import native_input, overlay, rewritten
from hookline.model.tools import (
    CANONICAL_TOOLS,
    KIND_FIELDS,
    Mcp,
    Tool,
    ToolKind,
    ToolRow,
    ToolTable,
    patched_paths,
    tool,
)
from support.strategies import inputs

PATCH = """*** Begin Patch
*** Add File: new.py
+print()
*** Update File: old name.py
*** Move to: moved.py
@@
*** Delete File: gone.py
*** Update File: new.py
*** End Patch"""


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "shell"),
        ("run_in_terminal", "shell"),
        ("run_shell_command", "shell"),
        ("exec_command", "shell"),
        ("Read", "read"),
        ("Write", "write"),
        ("create_file", "write"),
        ("apply_patch", "edit"),
        ("MultiEdit", "edit"),
        ("delete_file", "delete"),
        ("Grep", "search"),
        ("WebFetch", "fetch"),
        ("mcp__github__create_issue", "mcp"),
        ("Task", "agent"),
        ("TodoWrite", "task"),
        ("AskUserQuestion", "ask"),
        ("ExitPlanMode", "plan"),
        ("unheard_of", "other"),
        *[(kind.value, kind.value) for kind in ToolKind],
    ],
)
def test_a_tools_kind_is_known_by_its_name(name: str, kind: str) -> None:
    assert CANONICAL_TOOLS.read(name, {}).kind == kind


def test_a_kind_that_is_given_wins_over_the_name() -> None:
    assert CANONICAL_TOOLS.read("Bash", {}, kind=ToolKind.READ).kind is ToolKind.READ


def test_an_unknown_tool_with_a_command_is_guarded_as_a_shell() -> None:
    assert tool("unheard_of", cmd="rm -rf /").kind is ToolKind.SHELL


@pytest.mark.parametrize(
    ("input", "field", "value"),
    [
        ({"command": "ls"}, "command", "ls"),
        ({"cmd": "ls"}, "command", "ls"),
        ({"script": "ls"}, "command", "ls"),
        ({"command": ["git", "commit", "-m", "two words"]}, "command", "git commit -m 'two words'"),
        ({"file_path": "/a"}, "path", "/a"),
        ({"filePath": "/a"}, "path", "/a"),
        ({"notebook_path": "/a"}, "path", "/a"),
        ({"paths": ["/a", "/b"]}, "path", "/a"),
        ({"uri": "http://a"}, "url", "http://a"),
        ({"pattern": "x"}, "query", "x"),
        ({"file_text": "x"}, "content", "x"),
        ({"old_string": "x"}, "old", "x"),
        ({"newString": "x"}, "new", "x"),
    ],
)
def test_normal_fields_are_read_from_the_likely_keys(
    input: dict[str, Any], field: str, value: str
) -> None:
    read = CANONICAL_TOOLS.read("unheard_of", input)

    assert getattr(read, field) == value
    assert read.input == input


@pytest.mark.parametrize("value", [None, 7, True, {}, [], ["ls", 7]])
def test_a_value_of_another_type_is_no_text(value: object) -> None:
    assert tool("Bash", command=value).command is None


def test_paths_are_everything_that_is_named_and_the_first_of_them_is_the_path() -> None:
    read = tool("unheard_of", file_path="/a", path="/b", files=["/c", "/a", 7])

    assert read.path == "/b"
    assert read.paths == ("/b", "/c", "/a")


def test_many_paths_that_are_no_list_are_none() -> None:
    assert tool("unheard_of", paths="/a").paths == ()


@pytest.mark.parametrize("name", ["Read", "Write", "view", "edit_file"])
def test_a_target_cannot_hide_behind_a_second_key(name: str) -> None:
    """The table knows the tool's name but not its one true key, so each likely one may be it."""
    read = tool(name, path="harmless.txt", file_path="/etc/shadow")

    assert set(read.paths) == {"harmless.txt", "/etc/shadow"}


@pytest.mark.parametrize("name", ["exec_command", "Bash", "unheard_of"])
def test_a_command_cannot_hide_behind_a_second_key(name: str) -> None:
    read = tool(name, command="ls", cmd="rm -rf /")

    assert read.command is not None
    assert {"ls", "rm -rf /"} <= set(read.command.split("\n"))


def test_the_server_and_tool_of_an_mcp_call_are_read_from_its_name() -> None:
    assert tool("mcp__github__create_issue").mcp == Mcp("github", "create_issue")
    assert tool("mcp__odd").mcp == Mcp("odd", "")
    assert tool("mcp_not_quite").mcp is None


@pytest.mark.parametrize("key", ["input", "patch", "command"])
def test_the_paths_in_a_patch_are_paths_of_the_tool(key: str) -> None:
    read = tool("apply_patch", **{key: PATCH})

    assert read.paths == ("new.py", "old name.py", "moved.py", "gone.py")
    assert read.path == "new.py"
    assert read.content == PATCH


def test_a_patch_tool_without_a_patch_has_no_paths() -> None:
    assert tool("apply_patch", input="nonsense").paths == ()


def test_patched_paths_are_listed_once_in_order_of_appearance() -> None:
    assert patched_paths(PATCH) == ("new.py", "old name.py", "moved.py", "gone.py")
    assert patched_paths("+*** Add File: quoted.py") == ()


def test_every_kind_says_which_fields_it_can_carry() -> None:
    assert KIND_FIELDS.keys() == set(ToolKind)


# Rewrites, back into native shape

EXACT = ToolTable({"Edit": ToolRow(ToolKind.EDIT, {"path": "filePath", "new": "newString"})})


def test_a_table_with_exact_keys_reads_those_keys_only() -> None:
    read = EXACT.read("Edit", {"filePath": "/a", "file_path": "/b", "newString": "x"})

    assert (read.path, read.new, read.kind) == ("/a", "x", ToolKind.EDIT)


def test_calls_with_the_same_keys_are_each_read_by_what_they_hold() -> None:
    table = ToolTable({})
    held: list[Any] = ["ls", ["rm", "-rf", "/"], None, 3, "ls"]
    read = [table.read("run", {"command": each, "paths": ["/a"]}) for each in held]

    assert [each.command for each in read] == ["ls", "rm -rf /", None, None, "ls"]
    assert [each.kind for each in read[1:3]] == [ToolKind.SHELL, ToolKind.OTHER]
    assert [table.read("run", {"cmd": "x", "paths": each}).paths for each in (["/b"], "/b")] == [
        ("/b",),
        (),
    ]


def test_a_tool_is_read_alike_after_any_number_of_others() -> None:
    table = ToolTable({})
    for number in range(1_000):
        assert (
            table.read(f"t{number}", {"file": f"/{number}", f"k{number}": 1}).path == f"/{number}"
        )
    long = "k" * 5_000

    assert table.read("t1", {"file": "/x", long: "y", "command": "ls"}).command == "ls"
    assert table.read("t1", {"file": "/x", "k1": 2}).path == "/x"


def test_a_rewrite_in_canonical_names_is_written_to_the_native_keys() -> None:
    assert EXACT.write("Edit", {}, {"path": "/b", "new": "y", "mode": 1}) == {
        "filePath": "/b",
        "newString": "y",
        "mode": 1,
    }


def test_in_a_rewrite_that_names_a_key_twice_the_native_name_wins() -> None:
    assert EXACT.write("Edit", {}, {"path": "/b", "filePath": "/c"}) == {"filePath": "/c"}
    assert EXACT.write("Edit", {}, {"filePath": "/c", "path": "/b"}) == {"filePath": "/c"}


def test_without_an_exact_table_a_rewrite_goes_to_the_key_that_is_in_use() -> None:
    assert CANONICAL_TOOLS.write("Write", {"file_path": "/a"}, {"path": "/b"}) == {
        "file_path": "/b"
    }
    assert CANONICAL_TOOLS.write("Write", {}, {"path": "/b"}) == {"path": "/b"}


def test_only_tools_have_native_keys() -> None:
    assert native_input(Stop(), {"path": "/a"}, EXACT) == {"path": "/a"}


@given(inputs, inputs)
def test_laying_a_patch_over_an_input_replaces_adds_and_deletes_by_null(
    base: dict[str, Any], patch: dict[str, Any]
) -> None:
    merged = overlay(base, patch)

    for key in base.keys() | patch.keys():
        expected = patch[key] if key in patch else base[key]
        if key in patch and expected is None:
            assert key not in merged
        else:
            assert merged[key] == expected
    assert overlay(merged, patch) == merged


def test_a_rewritten_tool_keeps_what_the_rewrite_does_not_speak_of() -> None:
    before = Tool(
        kind=ToolKind.MCP,
        name="mcp__sh__run",
        input={"command": "ls"},
        call_id="t1",
        mcp=Mcp("sh", "run"),
        output="old",
        ok=True,
        duration_ms=1.5,
    )

    after = rewritten(PostToolUse(tool=before), Rewrite(input={"command": "pwd"}), EXACT).tool

    assert (after.command, after.input) == ("pwd", {"command": "pwd"})
    assert after.kind is ToolKind.MCP
    assert (after.call_id, after.mcp, after.output) == ("t1", Mcp("sh", "run"), "old")
    assert (after.ok, after.duration_ms) == (True, 1.5)


def test_an_output_can_be_rewritten() -> None:
    event = PostToolUse(tool=Tool(output="secret"))

    assert rewritten(event, Rewrite(output="***"), EXACT).tool.output == "***"
    assert rewritten(event, Rewrite(output="secret"), EXACT) is event


def test_prompts_messages_and_summaries_can_be_rewritten() -> None:
    prompt = UserPromptSubmit(prompt="hi")
    call = BeforeLlmCall(messages=({"role": "user"},))
    compaction = BeforeCompaction(summary="long")

    assert rewritten(prompt, Rewrite(prompt="ho"), EXACT).prompt == "ho"
    assert rewritten(prompt, Rewrite(prompt="hi"), EXACT) is prompt
    assert rewritten(call, Rewrite(messages=[]), EXACT).messages == ()
    assert rewritten(call, Rewrite(messages=[{"role": "user"}]), EXACT) is call
    assert rewritten(compaction, Rewrite(summary="short"), EXACT).summary == "short"


def test_a_part_that_the_event_does_not_have_changes_nothing() -> None:
    stop = Stop()

    assert rewritten(stop, Rewrite(prompt="ho", summary="s", messages=[]), EXACT) is stop


@given(inputs, inputs)
def test_a_rewrite_that_changes_nothing_leaves_the_very_same_event(
    base: dict[str, Any], patch: dict[str, Any]
) -> None:
    event = PreToolUse(tool=tool("unheard_of", **base))

    after = rewritten(event, Rewrite(input=patch), CANONICAL_TOOLS)

    assert (after is event) == (overlay(base, patch) == base)
    assert after.tool.input == overlay(base, patch)
