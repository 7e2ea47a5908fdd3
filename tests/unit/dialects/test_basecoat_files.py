"""BaseCoat's hook files: every form is read, every mistake is named with its line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.basecoat.files import FILES
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import PreToolUse
from hookline.model.hook import Hook, Layer, OnError
from hookline.model.native import NativeEntry, NativeFile, Voids, Where
from hookline.model.tools import tool


def read(hooks: Any, **top: Any) -> NativeFile:
    return FILES.read("/p/hooks.json", json.dumps({**top, "hooks": hooks}).encode())


def only(entry: Any) -> NativeEntry:
    (found,) = read({"PreToolUse": [entry]}).entries
    return found


def made(hooks: Any, **top: Any) -> tuple[Hook, ...]:
    return FILES.hooks([read(hooks, **top)], layer=Layer.PROJECT, project_dir="/p")


RUN = {"type": "command", "command": "x"}


def test_a_handler_is_read_with_all_its_fields() -> None:
    entry = only(
        {
            "type": "command",
            "bash": "./a.sh",
            "powershell": "./a.ps1",
            "command": "./b",
            "cwd": "sub",
            "env": {"A": "b"},
            "timeoutSec": 10,
            "priority": 20,
        }
    )
    assert (entry.command, entry.options["shell"]) == ("./a.sh", "/bin/bash")
    assert (entry.directory, entry.env, entry.timeout) == ("sub", {"A": "b"}, 10)
    assert (entry.priority, entry.flaw) == (20, "")
    (hook,) = made({"PreToolUse": [RUN]})
    assert (hook.timeout, hook.on_error, hook.priority) == (3, OnError.WARN, 50)
    assert hook.start is not None
    assert hook.start.interpreter == ("/bin/sh", "-c")
    assert not hook.start.in_cwd


@pytest.mark.parametrize(
    ("name", "native", "canonical"),
    [
        ("preToolUse", "PreToolUse", ("pre_tool_use",)),
        ("Stop", "SessionEnd", ("session_end", "stop")),
        ("sessionend", "SessionEnd", ("session_end", "stop")),
        ("postToolUse", "PostToolUse", ("post_tool_use", "post_tool_use_failure")),
        ("errorOccurred", "OnError", ("error", "post_tool_use_failure", "post_tool_use")),
        (
            "UserPromptSubmit",
            "UserPromptSubmitted",
            ("user_prompt_submit", "steering_submit", "follow_up_submit"),
        ),
        ("OnBudgetExceeded", "OnBudgetExceeded", ("budget_exceeded",)),
    ],
)
def test_events_are_known_under_each_platforms_name(
    name: str, native: str, canonical: tuple[str, ...]
) -> None:
    (hook,) = made({name: [RUN]})
    assert (hook.native, hook.events) == (native, canonical)


def test_hooks_stand_by_priority_and_in_their_order_where_it_is_the_same() -> None:
    first = read({"PreToolUse": [{**RUN, "priority": 90}, {"tool": "a.b", "priority": 10}]})
    second = read({"PreToolUse": [{"tool": "c.d"}, {"tool": "e.f", "priority": 10}]})
    found = FILES.hooks([first, second], layer=Layer.PROJECT, project_dir="/p")
    assert [(hook.name, hook.priority) for hook in found] == [
        ("a.b", 10),
        ("e.f", 10),
        ("c.d", 50),
        ("", 90),
    ]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"type": "prompt", "command": "x"}, "of type `prompt`"),
        ({"command": "x"}, "no `type`"),
        ({"type": "command"}, "no command"),
        ({"type": "command", "powershell": "x"}, "only `powershell`"),
        (3, "no `type`"),
    ],
)
def test_a_handler_that_nobody_runs_is_kept_and_fails_aloud(entry: Any, message: str) -> None:
    file = read({"PreToolUse": [entry]})
    assert message in file.flaws[0].message
    assert file.flaws[0].voids is Voids.ENTRY
    (hook,) = made({"PreToolUse": [entry]})
    assert hook.handler.kind == "native"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"priority": "high"}, "`priority`"),
        ({"timeoutSec": 0}, "`timeoutSec`"),
        ({"timeoutSec": "5"}, "`timeoutSec`"),
        ({"env": {"A": 1}}, "`env`"),
        ({"matcher": "shell"}, "`matcher` is not read"),
    ],
)
def test_a_value_that_is_not_taken_is_said_and_leaves_the_handler(extra: Any, message: str) -> None:
    file = read({"PreToolUse": [{**RUN, **extra}]})
    assert message in file.flaws[0].message
    assert file.flaws[0].voids is Voids.NOTHING
    assert file.entries[0].flaw == ""


def test_mistakes_have_their_line() -> None:
    text = b'{\n "hooks": {\n  "PreToolUze": [\n   {"type": "command",\n    "command": "x"}]}}'
    file = FILES.read("/p/hooks.json", text)
    assert (file.flaws[0].line, file.entries[0].line) == (3, 4)
    assert file.flaws[0].hint == "did you mean `PreToolUse`?"
    assert file.entries[0].flaw == file.flaws[0].message
    (hook,) = FILES.hooks([file], layer=Layer.PROJECT, project_dir="/p")
    assert hook.events == ("other",)


def test_another_version_voids_the_file_and_is_kept_failing_aloud() -> None:
    file = read({"PreToolUse": [RUN]}, version=2)
    assert file.flaws[0].voids is Voids.FILE
    assert "version" in file.entries[0].flaw
    assert read({}, version=1).flaws == ()


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b'{"hooks": []}', b'{"hooks": 3}', b"\xff"])
def test_a_file_without_events_cannot_be_read(text: bytes) -> None:
    assert FILES.read("/p/hooks.json", text).is_unreadable


def test_an_event_that_is_no_list_is_a_mistake() -> None:
    assert "is no list" in read({"PreToolUse": RUN}).flaws[0].message


@pytest.mark.parametrize(
    ("path", "body", "owns"),
    [
        ("/p/mcp.json", {"hooks": {"SessionStart": [{"tool": "a.b"}]}}, True),
        ("/p/mcp.json", {"SessionEnd": [{"tool": "a.b"}]}, True),
        ("/p/mcp.json", {"mcpServers": {}}, False),
        ("/p/x.json", {"hooks": {"OnError": [RUN]}}, True),
        ("/p/.github/hooks/x.json", {"version": 1, "hooks": {"preToolUse": [RUN]}}, False),
        ("/p/.cursor/hooks.json", {"version": 1, "hooks": {"preToolUse": [RUN]}}, False),
        ("/p/basecoat/x.json", {"version": 1, "hooks": {"preToolUse": [RUN]}}, True),
        ("/p/x.yaml", {"hooks": {"OnError": [RUN]}}, False),
        ("/p/x.json", {"hooks": {"nothing": [RUN]}}, False),
    ],
)
def test_only_what_cannot_be_another_platforms_is_its_own(path: str, body: Any, owns: bool) -> None:
    assert FILES.owns(path, json.dumps(body).encode()) is owns


def test_a_text_that_is_no_json_is_nobodys() -> None:
    assert not FILES.owns("/p/mcp.json", b'{"hooks"')
    assert not FILES.owns("/p/mcp.json", b"")


def test_files_are_taken_in_the_order_of_their_names() -> None:
    names = ["20-b.json", "10-a.json", "readme.md"]
    assert FILES.members("/p/basecoat/", names) == ["10-a.json", "20-b.json"]
    assert FILES.members("/p/.github/hooks", names) is None
    places = FILES.places(Where(project="/p", home="/h"))
    assert [place.path for place in places] == ["/p/hooks.json", "/p/mcp.json"]


def test_a_verdict_in_another_platforms_words_does_not_pass_for_none() -> None:
    event = PreToolUse(tool=tool("shell", command="ls"), dialect="basecoat")
    with pytest.raises(HandlerAnswerError, match="it has `permissionDecision`"):
        FILES.codec.read_answer(
            event, stdout=b'{"permissionDecision": "deny"}', stderr=b"", exit_code=0
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "hooks",
                    "version",
                    "PreToolUse",
                    "Stop",
                    "type",
                    "command",
                    "bash",
                    "tool",
                    "priority",
                    "timeoutSec",
                    "env",
                    "cwd",
                ]
            )
            | st.text(max_size=5),
            each,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_reading_never_raises_on_any_json(data: Any) -> None:
    content = json.dumps(data).encode()
    FILES.owns("/p/a.json", content)
    file = FILES.read("/p/a.json", content)
    for hook in FILES.hooks([file], layer=Layer.USER, project_dir="/p"):
        assert hook.handler.kind


@given(st.binary(max_size=300))
def test_reading_never_raises_on_any_bytes(content: bytes) -> None:
    assert FILES.read("/p/a.json", content).dialect == "basecoat"
    FILES.owns("/p/a.json", content)
