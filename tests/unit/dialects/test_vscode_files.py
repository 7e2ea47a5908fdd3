"""VS Code's hook files: where they are, what is read in them, and what becomes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.vscode.files import FILES
from hookline.model.hook import Hook, Layer, OnError
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, Voids, Where

FILE = "/srv/app/.github/hooks/guard.json"
CLAUDES = "/srv/app/.claude/settings.json"
AGENT = "/srv/app/.github/agents/review.agent.md"


def settings(hooks: Any, path: str = FILE, **more: Any) -> NativeFile:
    return FILES.read(path, json.dumps({"hooks": hooks, **more}).encode())


def one(handler: Any, event: str = "PreToolUse") -> NativeFile:
    return settings({event: [handler]})


def entry(handler: Any, event: str = "PreToolUse") -> NativeEntry:
    file = one(handler, event)
    assert not file.flaws
    return file.entries[0]


def only_flaw(file: NativeFile) -> NativeFlaw:
    assert len(file.flaws) == 1, file.flaws
    return file.flaws[0]


def hooks(*files: NativeFile) -> tuple[Hook, ...]:
    return FILES.hooks(files, layer=Layer.PROJECT, project_dir="/srv/app")


# ── places ──────────────────────────────────────────────────────────────────────────────────


def test_places_are_named_in_the_order_in_which_they_run(tmp_path: Path) -> None:
    where = Where(project="/srv/app", home="/home/dev", root=str(tmp_path))
    found = [(place.path, place.layer, place.scope, place.dialect) for place in FILES.places(where)]
    assert found == [
        ("/srv/app/.github/hooks", Layer.PROJECT, "workspace", ""),
        ("/srv/app/.claude/settings.local.json", Layer.PROJECT, "workspace", "claude-code"),
        ("/srv/app/.claude/settings.json", Layer.PROJECT, "workspace", "claude-code"),
        ("/home/dev/.copilot/hooks", Layer.USER, "user", ""),
        ("/home/dev/.claude/settings.json", Layer.USER, "user", "claude-code"),
        ("/srv/app/.github/agents", Layer.PROJECT, "agent", ""),
    ]


@pytest.mark.parametrize(
    ("directory", "names", "found"),
    [
        ("/w/.github/hooks", ["b.json", "a.json", "scripts"], ["a.json", "b.json"]),
        ("/home/dev/.copilot/hooks/", ["a.json"], ["a.json"]),
        ("/w/.github/agents", ["a.agent.md", "README.md"], ["a.agent.md"]),
        ("/w/.kodelet/hooks", ["a.json"], None),
        ("/w/.claude", ["settings.json"], None),
    ],
)
def test_which_files_of_a_directory_count(
    directory: str, names: list[str], found: list[str] | None
) -> None:
    assert FILES.members(directory, names) == found


@pytest.mark.parametrize(
    ("path", "content", "owned"),
    [
        (FILE, b'{"hooks": {}}', True),
        (FILE, b'{"version": 1, "hooks": {}}', False),
        (FILE, b"{", True),
        ("/srv/app/.github/hooks/README.md", b"", False),
        ("/home/dev/.copilot/hooks/a.json", b"{}", True),
        (AGENT, b"---\nhooks:\n---\n", True),
        (AGENT, b"---\nname: x\n---\n", False),
        (CLAUDES, b"{}", False),
    ],
)
def test_a_file_is_owned_by_its_folder(path: str, content: bytes, owned: bool) -> None:
    assert FILES.owns(path, content) is owned


# ── reading ─────────────────────────────────────────────────────────────────────────────────


def test_every_key_of_a_command_is_read() -> None:
    found = entry(
        {
            "type": "command",
            "command": "a",
            "windows": "w",
            "cwd": "sub",
            "env": {"A": "b"},
            "timeout": 7,
        }
    )
    assert (found.type, found.command, found.directory) == ("command", "a", "sub")
    assert (found.env, found.timeout, found.options) == ({"A": "b"}, 7.0, {"windows": "w"})
    assert (found.event, found.line) == ("PreToolUse", 1)


ALL = {"command": "c", "windows": "w", "linux": "l", "osx": "o", "bash": "b", "powershell": "p"}


@pytest.mark.parametrize(
    ("system", "without", "command"),
    [
        ("linux", "", "l"),
        ("linux", "linux", "b"),
        ("linux", "linux bash", "c"),
        ("darwin", "", "o"),
        ("darwin", "osx", "b"),
        ("win32", "", "w"),
        ("win32", "windows", "p"),
        ("win32", "windows powershell", "c"),
        ("freebsd14", "", "l"),
    ],
)
def test_the_command_is_the_one_for_this_system(
    monkeypatch: pytest.MonkeyPatch, system: str, without: str, command: str
) -> None:
    monkeypatch.setattr("sys.platform", system)
    handler = {key: value for key, value in ALL.items() if key not in without.split()}
    assert entry(handler).command == command


def test_a_hook_without_a_command_for_this_system_does_nothing_and_says_so() -> None:
    flaw = only_flaw(one({"windows": "x"}))
    assert flaw.voids is Voids.ENTRY
    assert "only `windows`" in flaw.message
    assert "no `command`" in only_flaw(one({"type": "command"})).message
    assert hooks(one({"windows": "x"}))[0].handler.kind == "native"


@pytest.mark.parametrize("kind", ["http", "prompt", 5])
def test_other_types_are_kept_and_fail_aloud(kind: Any) -> None:
    file = one({"type": kind, "url": "http://x"})
    assert "drops hooks of type" in only_flaw(file).message
    assert hooks(file)[0].handler.kind == "native"


def test_nested_hooks_are_flattened_and_their_matcher_is_said_to_be_ignored() -> None:
    group = {"matcher": "Edit", "hooks": [{"command": "a"}, {"command": "b"}]}
    file = one(group)
    assert [each.command for each in file.entries] == ["a", "b"]
    assert file.entries[0].matcher == "Edit"
    assert {flaw.voids for flaw in file.flaws} == {Voids.NOTHING}
    assert "ignores matchers" in file.flaws[0].message
    assert not one({"matcher": "*", "hooks": [{"command": "a"}]}).flaws


@pytest.mark.parametrize("key", ["if", "args", "async", "onFailure"])
def test_claude_codes_keys_are_said_to_be_ignored(key: str) -> None:
    flaw = only_flaw(one({"command": "a", key: True}))
    assert (flaw.message, flaw.voids) == (f"VS Code ignores `{key}`", Voids.NOTHING)


@pytest.mark.parametrize(
    ("handler", "seconds"),
    [
        ({}, 30.0),
        ({"timeout": 5}, 5.0),
        ({"timeoutSec": 6}, 6.0),
        ({"timeout": 5, "timeoutSec": 6}, 5.0),
        ({"timeout": "5", "timeoutSec": 6}, 6.0),
        ({"timeout": -1}, 30.0),
    ],
)
def test_time_is_in_seconds(handler: dict[str, Any], seconds: float) -> None:
    assert hooks(one({"command": "a", **handler}))[0].timeout == seconds


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        ({"timeout": "5"}, "`timeout` is no number"),
        ({"cwd": 5}, "`cwd` is no text"),
        ({"env": ["A=b"]}, "in `env` only texts are set"),
        ({"env": {"A": 1}}, "in `env` only texts are set"),
    ],
)
def test_values_that_do_not_fit_cost_only_themselves(handler: dict[str, Any], says: str) -> None:
    file = one({"command": "a", **handler})
    assert says in only_flaw(file).message
    assert only_flaw(file).voids is Voids.NOTHING
    assert not file.entries[0].flaw


@pytest.mark.parametrize(
    ("spelled", "native", "canonical"),
    [
        ("preToolUse", "PreToolUse", "pre_tool_use"),
        ("agentStop", "Stop", "stop"),
        ("userPromptSubmitted", "UserPromptSubmit", "user_prompt_submit"),
        ("SubagentStart", "SubagentStart", "subagent_start"),
    ],
)
def test_copilots_names_mean_the_same_events(spelled: str, native: str, canonical: str) -> None:
    hook = hooks(one({"command": "a"}, spelled))[0]
    assert (hook.native, hook.events[0]) == (native, canonical)


@pytest.mark.parametrize(
    ("event", "says", "hint"),
    [
        ("sessionEnd", "never fires SessionEnd", ""),
        ("Notification", "has no event `Notification`", ""),
        ("pretooluse", "has no event `pretooluse`", "did you mean `preToolUse`?"),
    ],
)
def test_events_that_never_fire_are_said_and_kept(event: str, says: str, hint: str) -> None:
    file = one({"command": "a"}, event)
    assert says in only_flaw(file).message
    assert hint in only_flaw(file).hint
    assert says in file.entries[0].flaw


@pytest.mark.parametrize(
    "hooks_",
    [{"Stop": "x"}, {"Stop": ["x"]}, {"Stop": [{"hooks": "x"}]}, {"Stop": [{"hooks": [1]}]}],
)
def test_a_misshapen_entry_is_kept_as_one_that_fails_aloud(hooks_: Any) -> None:
    file = settings(hooks_)
    assert only_flaw(file).voids is Voids.ENTRY
    assert hooks(file)[0].handler.kind == "native"


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"", 1, "this is no JSON"),
        (b"{\n\n'a'}", 3, "this is no JSON"),
        (b"[]", 1, "must hold an object"),
        (b'{\n"hooks": []}', 2, "`hooks` must be an object"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(
    content: bytes, line: int, says: str
) -> None:
    file = FILES.read(FILE, content)
    assert file.is_unreadable
    assert only_flaw(file).line == line
    assert says in only_flaw(file).message


def test_comments_are_no_mistake_and_lines_are_those_of_the_file() -> None:
    text = b'{ // ours\n "hooks": {\n  "Stop": [\n   {"command": "a"},\n   {"command": "b"},\n  ]}}'
    assert [each.line for each in FILES.read(FILE, text).entries] == [4, 5]


def test_an_agents_hooks_are_for_that_agent_and_its_stop_counts_twice() -> None:
    text = b"---\nname: Code Review Agent\nhooks:\n  Stop:\n    - type: command\n      command: a\n---\nText"
    file = FILES.read(AGENT, text)
    assert [(each.event, each.agent, each.line) for each in file.entries] == [
        ("Stop", "Code Review Agent", 5),
        ("SubagentStop", "Code Review Agent", 5),
    ]
    nameless = FILES.read(AGENT, text.replace(b"name: Code Review Agent\n", b""))
    assert nameless.entries[0].agent == "review"
    assert FILES.read(AGENT, b"# no front matter").entries == ()
    assert FILES.read(AGENT, b"---\nhooks: [\n---\n").is_unreadable


def test_only_claude_codes_file_can_switch_itself_off() -> None:
    stop = {"Stop": [{"command": "a"}]}
    off = settings(stop, CLAUDES, disableAllHooks=True)
    assert off.off
    assert hooks(off) == ()
    assert not settings(stop, disableAllHooks=True).off


# ── rules ───────────────────────────────────────────────────────────────────────────────────


def test_all_hooks_are_one_lane_in_the_order_of_their_files_with_agents_last() -> None:
    agent = FILES.read(AGENT, b"---\nhooks:\n  PreToolUse:\n    - command: z\n---\n")
    made = hooks(
        agent,
        settings({"PreToolUse": [{"command": "a"}, {"command": "a"}]}),
        settings({"PreToolUse": [{"command": "b"}]}, CLAUDES),
    )
    assert [hook.handler.values["run"] for hook in made] == ["a", "a", "b", "z"]
    assert {hook.lane.name for hook in made if hook.lane} == {"vscode"}
    assert not any(hook.is_piped for hook in made)


def test_a_failure_never_blocks() -> None:
    assert hooks(one({"command": "a"}))[0].on_error is OnError.WARN


def test_entries_that_call_hookline_never_run() -> None:
    assert hooks(one({"command": "hookline hook vscode PreToolUse"})) == ()


# ── nothing breaks the reader ───────────────────────────────────────────────────────────────

_WORDS = st.sampled_from(["hooks", "PreToolUse", "Stop", "type", "command", "env", "cwd", "timeout", "matcher"])  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_WORDS | st.text(), inner, max_size=4)
    ),
    max_leaves=25,
)
_HOOKS = st.dictionaries(
    st.sampled_from(["PreToolUse", "agentStop", "Stop", "Nothing"]),
    st.lists(_JSON, max_size=3) | _JSON,
)
_PATHS = st.sampled_from([FILE, CLAUDES, AGENT])


@given(
    _PATHS,
    st.binary(max_size=300) | st.binary(max_size=100).map(lambda b: b"---\n" + b + b"\n---\n"),
)
def test_no_bytes_break_the_reader(path: str, content: bytes) -> None:
    hooks(FILES.read(path, content))
    FILES.owns(path, content)


@given(_PATHS, _JSON | st.fixed_dictionaries({"hooks": _HOOKS}))
def test_no_json_breaks_the_reader(path: str, data: Any) -> None:
    content = json.dumps(data).encode()
    for text in (content, b"---\n" + content + b"\n---\n"):
        hooks(FILES.read(path, text))
