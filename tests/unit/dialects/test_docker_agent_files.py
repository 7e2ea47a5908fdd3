"""docker-agent's hook files: every form is read, every mistake is named with its line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.docker_agent.files import FILES
from hookline.model.events import PreToolUse
from hookline.model.hook import Layer, OnError
from hookline.model.native import NativeEntry, NativeFile, Voids, Where
from hookline.model.tools import Mcp, Tool, ToolKind, tool


def read(text: str) -> NativeFile:
    return FILES.read("/p/agent.yaml", text.encode())


def written(text: str) -> list[NativeEntry]:
    """What stands in the file, without what docker-agent adds by itself."""
    return [entry for entry in read(text).entries if not entry.implied]


def only(text: str) -> NativeEntry:
    (entry,) = written(text)
    return entry


def flaws(text: str) -> list[tuple[int, str]]:
    return [(flaw.line, flaw.message) for flaw in read(text).flaws]


FULL = """agents:
  root:
    model: m
    hooks:
      pre_tool_use:
        - matcher: shell
          preempt_yolo: true
          hooks:
            - name: guard
              type: command
              command: ./guard.sh
              timeout: 5
              working_dir: ./hooks
              env: {A: b, N: 1}
              on_error: block
"""


def test_an_entry_is_read_with_all_its_fields() -> None:
    entry = only(FULL)
    assert entry.event == "pre_tool_use"
    assert (entry.type, entry.command, entry.name) == ("command", "./guard.sh", "guard")
    assert (entry.matcher, entry.timeout, entry.directory) == ("shell", 5.0, "./hooks")
    assert entry.env == {"A": "b", "N": "1"}
    assert entry.options["preempt_yolo"] is True
    assert entry.options["on_error"] == "block"
    assert entry.line == 9
    assert read(FULL).flaws == ()


@pytest.mark.parametrize("timeout", ["0", "-3", "~"])
def test_a_timeout_that_is_none_leaves_the_default(timeout: str) -> None:
    text = f"hooks: {{stop: [{{type: command, command: x, timeout: {timeout}}}]}}"
    assert only(text).timeout is None
    (hook,) = FILES.hooks([read(text)], layer=Layer.USER, project_dir="/p")
    assert hook.timeout == 60


def test_anchors_aliases_and_merge_keys_are_followed() -> None:
    text = """base: &base {type: command, timeout: 7}
agents:
  root:
    hooks: &hooks
      stop:
        - <<: *base
          command: echo
          timeout: 8
  other:
    hooks: *hooks
  third:
    hooks:
      turn_end:
        - <<: [*base, {command: late, type: builtin}]
"""
    first, second, third = written(text)
    assert (first.type, first.command, first.timeout) == ("command", "echo", 8.0)
    assert (second.command, second.agent) == ("echo", "other")
    assert (third.type, third.command, third.timeout) == ("command", "late", 7.0)


def test_one_mapping_stands_for_a_list_of_one() -> None:
    assert only("hooks: {stop: {type: command, command: x}}").command == "x"
    assert only("hooks: {pre_tool_use: {hooks: {type: command, command: x}}}").command == "x"


@pytest.mark.parametrize(
    "text",
    [
        "hooks: {stop: [{type: command, command: x}]}",
        "settings: {hooks: {stop: [{type: command, command: x}]}}",
        "stop: [{type: command, command: x}]",
    ],
)
def test_hooks_of_no_agent_are_for_all_of_them(text: str) -> None:
    assert only(text).agent == ""
    assert FILES.owns("/c/hooks.d/a.yaml", text.encode())


def test_flags_of_an_agent_stand_for_builtins() -> None:
    text = """agents:
  root:
    add_date: true
    add_environment_info: true
    add_prompt_files: [A.md, B.md]
    redact_secrets: true
    toolsets:
      - {type: shell, safer: true}
      - {type: think}
  quiet:
    add_date: false
    redact_secrets: false
"""
    found = [(e.event, e.command, e.matcher, e.options["with"]["args"]) for e in written(text)]
    assert found == [
        ("turn_start", "add_date", None, ()),
        ("turn_start", "add_prompt_files", None, ("A.md", "B.md")),
        ("session_start", "add_environment_info", None, ()),
        ("pre_tool_use", "redact_secrets", "*", ()),
        ("before_llm_call", "redact_secrets", None, ()),
        ("tool_response_transform", "redact_secrets", "*", ()),
        ("pre_tool_use", "safer_shell", "shell", ()),
    ]
    assert written(text)[-1].options["preempt_yolo"] is True


def test_every_agent_has_its_responses_limited_before_all_else_and_secrets_redacted_after() -> None:
    text = """agents:
  root:
    hooks:
      tool_response_transform: [{hooks: [{type: command, command: own}]}]
"""
    limit, redact = "limit_large_tool_results", "redact_secrets"
    found = [(entry.event, entry.command, entry.matcher) for entry in read(text).entries]
    assert found == [
        ("tool_response_transform", limit, "*"),
        ("tool_response_transform", "own", None),
        ("pre_tool_use", redact, "*"),
        ("before_llm_call", redact, None),
        ("tool_response_transform", redact, "*"),
        ("session_end", limit, None),
    ]
    assert [entry.command for entry in written(text)] == ["own"]


def test_redaction_is_switched_off_by_nothing_but_false() -> None:
    for value, events in (("false", 0), ("~", 3), ("true", 3), ("'false'", 3)):
        file = read(f"agents: {{root: {{redact_secrets: {value}}}}}")
        assert [entry.command for entry in file.entries].count("redact_secrets") == events


def test_a_file_of_hooks_without_agents_gets_nothing_added() -> None:
    assert len(read("hooks: {stop: [{type: command, command: x}]}").entries) == 1


def test_a_refused_file_in_which_nothing_stands_is_unreadable_all_the_same() -> None:
    file = read("agents: {root: {hooks: 3}}")
    assert file.is_unreadable


def test_unload_knows_the_models_of_each_agent_in_its_file() -> None:
    text = """agents:
  coder: {model: "big,dmr/ai/small", hooks: {on_agent_switch: [{type: builtin, command: unload}]}}
  other: {instruction: none}
models:
  big: {provider: dmr, model: ai/big, base_url: http://m/v1, provider_opts: {unload_api: /x}}
"""
    assert only(text).options["with"]["models"] == {
        "coder": [
            {"provider": "dmr", "model": "ai/big", "base_url": "http://m/v1", "unload_api": "/x"},
            {"provider": "dmr", "model": "ai/small"},
        ]
    }


def test_a_setting_stands_for_snapshots() -> None:
    found = [entry.event for entry in read("settings: {snapshot: true}").entries]
    assert found == ["session_start", "turn_start", "turn_end", "session_end"]
    assert read("settings: {snapshot: false}").entries == ()


HOOK = "{type: command, command: x}"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("hooks:\n  stop:\n    - {type: telepathy, command: x}", 3, "unsupported hook type"),
        ("hooks:\n  stop:\n    - {command: x}", 3, "has no `type`"),
        ("hooks:\n  stop:\n    - {type: command}", 3, "needs `command`"),
        ("hooks:\n  stop:\n    - {type: model, model: m}", 3, "needs `prompt`"),
        ("hooks:\n  stop:\n    - text", 3, "no mapping"),
        ("hooks:\n  stop:\n    - {type: command, command: x, on_error: die}", 3, "`on_error`"),
        (f"hooks:\n  stopp: [{HOOK}]", 2, "no event `stopp`"),
        (f"hooks:\n  pre_tool_use:\n    - {HOOK}", 3, "takes entries with a matcher"),
        (f"hooks:\n  stop:\n    - hooks: [{HOOK}]", 3, "takes hooks, not entries"),
    ],
)
def test_what_its_loader_refuses_is_kept_as_an_entry_that_fails_aloud(
    text: str, line: int, message: str
) -> None:
    file = read(text)
    assert (file.flaws[0].line, file.flaws[0].voids) == (line, Voids.FILE)
    assert message in file.flaws[0].message
    (entry,) = file.entries
    assert entry.flaw
    assert not file.is_unreadable
    (hook,) = FILES.hooks([file], layer=Layer.USER, project_dir="/p")
    assert hook.handler.kind == "native"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("hooks:\n  pre_tool_use:\n    - {matcher: a, hooks: []}", 3, "has no hooks"),
        ("hooks:\n  stop:\n    - {type: command, command: x,\n       tiemout: 3}", 4, "`tiemout`"),
        (f"hooks:\n  pre_tool_use:\n    - {{match: a, hooks: [{HOOK}]}}", 3, "`match`"),
        ("hooks:\n  stop: 3", 2, "`stop` is no list"),
        ("hooks: 3", 1, "`hooks` is no mapping"),
        ("agents: 3", 1, "names no agent"),
        ("- a", 1, "the file is no mapping"),
        ("hooks:\n  stop: [{type: command, command: x, timeout: soon}]", 2, "`timeout`"),
        ("hooks:\n  stop: [{type: command, command: [x]}]", 2, "`command` is not a text"),
        ("hooks:\n  stop: [{type: command, command: x, env: 3}]", 2, "`env` is no mapping"),
        ("hooks:\n  stop: [{type: builtin, command: x, args: 3}]", 2, "`args` is no list"),
    ],
)
def test_other_mistakes_are_named_with_their_line(text: str, line: int, message: str) -> None:
    assert any(at == line and message in said for at, said in flaws(text))
    assert read(text).flaws[0].voids is Voids.FILE


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("{type: command, command: x, args: [a]}", "`args` has no effect"),
        ("{type: model, model: m, prompt: p, env: {A: b}}", "`env` has no effect"),
    ],
)
def test_what_does_nothing_is_said_and_takes_nothing_out_of_force(hook: str, message: str) -> None:
    file = read(f"hooks: {{turn_start: [{hook}]}}")
    assert message in file.flaws[0].message
    assert file.flaws[0].voids is Voids.NOTHING
    assert file.entries[0].flaw == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"a: b: c", 1),
        (b"a: 1\na: 2", 2),
        (b"a: *nobody", 1),
        (b"a: &a [*a]", 1),
        (b"--- 1\n--- 2", 2),
        (b"\n\xff", 2),
        (b"[" * 5000, 1),
        (b"? [a]\n: b", 1),
        (b"%TAG ! x\n--- a", 1),
        (b"\0", 1),
        (b"x" * 1_000_001, 1),
    ],
)
def test_a_text_that_is_no_yaml_leaves_nothing_and_says_where(text: bytes, line: int) -> None:
    file = FILES.read("/p/a.yaml", text)
    assert file.is_unreadable
    assert (file.flaws[0].line, file.entries) == (line, ())


def test_a_few_lines_of_aliases_cannot_name_a_million_hooks() -> None:
    many = ", ".join(["*h"] * 100)
    text = f"h: &h {HOOK}\nl: &l [{many}]\nagents:\n"
    text += "\n".join(f"  a{n}: {{hooks: {{stop: *l}}}}" for n in range(100))
    file = read(text)
    assert len(written(text)) <= 5001
    assert [entry.flaw for entry in file.entries].count("too many hooks") == 1
    assert any("more than 5,000 hooks" in flaw.message for flaw in file.flaws)


def test_a_matcher_that_is_no_regex_takes_its_hooks_out_of_force() -> None:
    file = read(f"hooks:\n  pre_tool_use:\n    - {{matcher: '(', hooks: [{HOOK}]}}")
    assert (file.flaws[0].line, file.flaws[0].voids) == (3, Voids.ENTRY)
    assert not FILES.matches(file.entries[0], PreToolUse(tool=tool("shell", command="x")))


@pytest.mark.parametrize(
    ("matcher", "name", "matches"),
    [
        (None, "shell", True),
        ("", "shell", True),
        ("*", "shell", True),
        ("shell", "shell", True),
        ("shell|edit_file", "shell", True),
        ("she", "shell", False),
        ("Shell", "shell", False),
        ("sh.*", "shell", True),
    ],
)
def test_matchers_are_regexes_on_the_whole_name(
    matcher: str | None, name: str, matches: bool
) -> None:
    entry = NativeEntry(event="pre_tool_use", matcher=matcher)
    assert (
        FILES.matches(entry, PreToolUse(tool=Tool(kind=ToolKind.SHELL, name=name, input={})))
        is matches
    )


@pytest.mark.parametrize("matcher", ["mcp:.*", "mcp__gh__.*", "gh_issue", "mcp:gh:issue"])
def test_mcp_tools_of_other_platforms_match_under_each_of_their_names(matcher: str) -> None:
    entry = NativeEntry(event="pre_tool_use", matcher=matcher)
    issue = Tool(kind=ToolKind.MCP, name="mcp__gh__issue", input={}, mcp=Mcp("gh", "issue"))
    assert FILES.matches(entry, PreToolUse(tool=issue))


@pytest.mark.parametrize(
    ("event", "said", "means"),
    [
        ("pre_tool_use", "ignore", OnError.BLOCK),
        ("post_tool_use", "block", OnError.BLOCK),
        ("turn_end", "block", OnError.WARN),
        ("turn_end", "ignore", OnError.IGNORE),
        ("turn_end", "warn", OnError.WARN),
    ],
)
def test_a_failure_means_what_docker_agent_makes_of_it(
    event: str, said: str, means: OnError
) -> None:
    assert FILES.on_error(NativeEntry(event=event, options={"on_error": said})) is means


def test_flags_become_hooks_for_all_tools_and_blank_ones_are_skipped() -> None:
    file = FILES.flags(
        [
            "run",
            "a.yaml",
            "--yolo",
            "--hook-pre-tool-use",
            "./a",
            "--hook-pre-tool-use=./b",
            "--hook-post-tool-use=",
            "--hook-session-end",
            "./c",
            "--hook-on-user-input=./d",
        ]
    )
    found = [(entry.event, entry.command, entry.matcher) for entry in file.entries]
    assert found == [
        ("pre_tool_use", "./a", "*"),
        ("pre_tool_use", "./b", "*"),
        ("session_end", "./c", None),
        ("on_user_input", "./d", None),
    ]
    assert file.flaws == ()


def test_an_unknown_or_empty_flag_is_a_mistake() -> None:
    file = FILES.flags(["--hook-pre-tool", "x", "--hook-stop"])
    assert [flaw.message for flaw in file.flaws] == [
        "no flag is called `--hook-pre-tool`",
        "`--hook-stop` is empty",
    ]


def test_it_looks_in_its_config_directory_wherever_that_is() -> None:
    def paths(env: dict[str, str]) -> list[str]:
        where = Where(project="/p", home="/h", env=env)
        return [place.path for place in FILES.places(where)]

    assert paths({}) == ["/h/.config/cagent/config.yaml", "/h/.config/cagent/hooks.d"]
    assert paths({"CAGENT_CONFIG_DIR": "/c"})[0] == "/c/config.yaml"
    assert paths({"CAGENT_CONFIG_DIR": "/c", "DOCKER_AGENT_CONFIG_DIR": "/d"})[1] == "/d/hooks.d"


def test_files_of_a_directory_are_taken_in_the_order_of_their_names(tmp_path: Path) -> None:
    names = ["b.yml", "a.yaml", "c.txt"]
    assert FILES.members("/c/hooks.d", names) == ["a.yaml", "b.yml"]
    assert FILES.members("/h/.config/cagent/", ["x", "config.yaml"]) == ["config.yaml"]
    assert FILES.members("/elsewhere", names) is None


@pytest.mark.parametrize(
    ("path", "text", "owns"),
    [
        ("/p/agent.yaml", "agents: {root: {}}", True),
        ("/p/agent.yml", "hooks: {stop: []}", True),
        ("/p/hookline.yaml", "version: 1\nhooks: [{use: shell-guard}]", False),
        ("/p/agent.json", "agents: {root: {}}", False),
        ("/p/agent.yaml", "a: b: c", False),
        ("/c/hooks.d/x.yaml", "a: b: c", True),
        ("/p/empty.yaml", "", False),
        ("/p/agent.yaml", "agents: 3", False),
    ],
)
def test_its_files_are_told_by_what_is_in_them(path: str, text: str, owns: bool) -> None:
    assert FILES.owns(path, text.encode()) is owns


def test_hooks_run_in_the_persons_shell_where_the_agent_works() -> None:
    _, hook, *_ = FILES.hooks([read(FULL)], layer=Layer.USER, project_dir="/p")
    assert hook.start is not None
    assert (hook.start.directory, hook.start.in_cwd) == ("./hooks", False)
    (plain,) = FILES.hooks(
        [read("hooks: {stop: [{type: command, command: x}]}")], layer=Layer.USER, project_dir="/p"
    )
    assert plain.start is not None
    assert plain.start.in_cwd
    assert str(plain.source) == "/p/agent.yaml:1"


def test_an_entry_that_calls_hookline_makes_no_hook() -> None:
    text = "hooks: {stop: [{type: command, command: hookline hook docker-agent stop}]}"
    assert FILES.hooks([read(text)], layer=Layer.USER, project_dir="/p") == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "agents",
                    "hooks",
                    "settings",
                    "pre_tool_use",
                    "stop",
                    "type",
                    "command",
                    "args",
                    "matcher",
                    "timeout",
                    "env",
                    "root",
                    "toolsets",
                    "safer",
                    "name",
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
    FILES.owns("/p/a.yaml", content)
    file = FILES.read("/p/a.yaml", content)
    for hook in FILES.hooks([file], layer=Layer.USER, project_dir="/p"):
        assert hook.match is not None
        assert hook.handler.kind


@given(st.binary(max_size=300) | st.text(alphabet="a&*<:-[]{}!%#\n\"' ?,|>", max_size=60))
def test_reading_never_raises_on_any_bytes(data: bytes | str) -> None:
    content = data if isinstance(data, bytes) else data.encode()
    assert FILES.read("/p/a.yaml", content).dialect == "docker-agent"
    FILES.owns("/p/a.yaml", content)
