"""Claude Code's files: where they are, what is read in them, and when an entry matches."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.claude_code.files import FILES
from hookline.model import events
from hookline.model.errors import HandlerError
from hookline.model.events import Event, PostToolUse, PreToolUse
from hookline.model.hook import Hook, Layer, OnError
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, Voids, Where
from hookline.model.ports import NOBODY
from hookline.model.tools import Tool, tool
from hookline.registry import tools

SETTINGS = "/srv/app/.claude/settings.json"
LOCAL = "/srv/app/.claude/settings.local.json"
USER = "/home/dev/.claude/settings.json"
MANAGED = "/etc/claude-code/managed-settings.json"
PLUGIN = "/opt/plugins/guard/hooks/hooks.json"


def settings(hooks: Any, path: str = SETTINGS, **more: Any) -> NativeFile:
    return FILES.read(path, json.dumps({"hooks": hooks, **more}).encode())


def command(line: Any = "./check.sh", **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **more}


def one(handler: Any, event: str = "PreToolUse", path: str = SETTINGS, **group: Any) -> NativeFile:
    return settings({event: [{**group, "hooks": [handler]}]}, path)


def entry(handler: Any, event: str = "PreToolUse", **group: Any) -> NativeEntry:
    file = one(handler, event, **group)
    assert not file.flaws
    return file.entries[0]


def only_flaw(file: NativeFile) -> NativeFlaw:
    assert len(file.flaws) == 1, file.flaws
    return file.flaws[0]


def hooks(*files: NativeFile) -> tuple[Hook, ...]:
    return FILES.hooks(files, layer=Layer.PROJECT, project_dir="/srv/app")


def matches(entry: NativeEntry, event: Event) -> bool:
    return FILES.matches(entry, event)


def bash(line: str, **more: Any) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=line), cwd="/srv/app", **more)


def called(name: str, dialect: str = "claude-code", **input: Any) -> Tool:
    return tools(dialect).read(name, input)


# ── places ──────────────────────────────────────────────────────────────────────────────────


def test_places_are_named_in_the_order_in_which_they_count(tmp_path: Path) -> None:
    where = Where(project="/srv/app", home="/home/dev", root=str(tmp_path))
    found = [(place.scope, place.path, place.layer) for place in FILES.places(where)]
    assert found[:5] == [
        ("managed", f"{tmp_path}/etc/claude-code/managed-settings.json", Layer.MANAGED),
        ("managed", f"{tmp_path}/etc/claude-code/managed-settings.d", Layer.MANAGED),
        ("local", LOCAL, Layer.PROJECT),
        ("project", SETTINGS, Layer.PROJECT),
        ("user", USER, Layer.USER),
    ]
    assert ("agent", "/srv/app/.claude/agents", Layer.PROJECT) in found
    assert ("skill", "/home/dev/.claude/commands", Layer.USER) in found


def test_the_users_settings_move_with_the_config_directory() -> None:
    where = Where(project="/srv/app", home="/home/dev", env={"CLAUDE_CONFIG_DIR": "/cfg"})
    assert "/cfg/settings.json" in {place.path for place in FILES.places(where)}


def test_on_a_mac_managed_settings_lie_in_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    first = FILES.places(Where(project="/p", home="/h"))[0]
    assert first.path == "/Library/Application Support/ClaudeCode/managed-settings.json"


@pytest.mark.parametrize(
    ("directory", "names", "found"),
    [
        ("/w/.claude", ["agents", "settings.json", "settings.local.json"], ["settings.local.json", "settings.json"]),
        ("/w/.claude/", ["settings.json"], ["settings.json"]),
        ("/etc/claude-code/managed-settings.d", ["b.json", "a.json", "x.txt"], ["a.json", "b.json"]),
        ("/w/.claude/agents", ["b.md", "a.md", "x.txt"], ["a.md", "b.md"]),
        ("/w/.claude/commands", ["a.md"], ["a.md"]),
        ("/w/.claude/skills/lint", ["SKILL.md", "run.sh"], ["SKILL.md"]),
        ("/p/guard/.claude-plugin", ["plugin.json"], ["plugin.json"]),
        ("/p/guard/hooks", ["hooks.json", "run.sh"], ["hooks.json"]),
        ("/w/.github/hooks", ["hooks.json"], None),
        ("/w/.cursor/hooks", ["hooks.json"], None),
        ("/w/src", ["settings.json"], None),
    ],
)  # fmt: skip
def test_which_files_of_a_directory_count(
    directory: str, names: list[str], found: list[str] | None
) -> None:
    assert FILES.members(directory, names) == found


GROUPS = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
FRONT = b"---\nname: x\nhooks:\n  Stop: []\n---\nText\n"


@pytest.mark.parametrize(
    ("path", "content", "owned"),
    [
        ("/w/.claude/settings.json", b"{}", True),
        ("/w/.claude/settings.local.json", b"", True),
        ("/w/.vscode/settings.json", b"{}", False),
        (MANAGED, b"{}", True),
        ("/etc/claude-code/managed-settings.d/10.json", b"{}", True),
        ("/etc/claude-code/managed-settings.d/README", b"", False),
        ("/p/guard/.claude-plugin/plugin.json", b"{}", True),
        (PLUGIN, GROUPS, True),
        (PLUGIN, b'{"hooks": {"Stop": [{"command": "x"}]}}', False),
        (PLUGIN, b'{"version": 1}', False),
        (PLUGIN, b"{", False),
        ("/w/.github/hooks/hooks.json", GROUPS, False),
        ("/w/.claude/agents/a.md", FRONT, True),
        ("/w/.claude/agents/a.md", b"# no front matter", False),
        ("/w/.claude/agents/a.md", b"---\nhooks: [\n---\n", True),
        ("/w/.claude/skills/x/SKILL.md", FRONT, True),
        ("/w/.github/agents/a.agent.md", FRONT, False),
        ("/w/docs/a.md", FRONT, False),
        ("/w/other.json", GROUPS, False),
    ],
)
def test_a_file_is_owned_by_its_place_or_what_is_in_it(
    path: str, content: bytes, owned: bool
) -> None:
    assert FILES.owns(path, content) is owned


# ── reading ─────────────────────────────────────────────────────────────────────────────────


def test_every_key_of_a_command_is_read() -> None:
    found = entry(
        command(
            "a", timeout=5, shell="bash", statusMessage="…", onFailure="block", **{"if": "Bash"}
        ),
        matcher="Bash",
    )
    assert (found.type, found.command, found.matcher, found.condition) == (
        "command",
        "a",
        "Bash",
        "Bash",
    )
    assert (found.timeout, found.fails_closed, found.background) == (5.0, True, False)
    assert found.options == {"shell": "bash", "statusMessage": "…"}


def test_args_make_a_program_with_its_words() -> None:
    assert entry(command("node", args=["a b", "$HOME"])).command == ("node", "a b", "$HOME")
    assert entry(command("node", args=[])).command == ("node",)


def test_nobody_waits_for_an_async_hook_unless_it_may_wake_the_agent() -> None:
    assert entry(command(**{"async": True})).background
    assert not entry(command(asyncRewake=True)).background
    assert not entry(command(asyncRewake=True, **{"async": True})).background


def test_lines_are_those_of_the_file() -> None:
    text = """{ // ours
      "hooks": {
        "Stop": [
          {
            "hooks": [
              {"type": "command", "command": "a"},
              {"type": "command"}
            ]
          }
        ]
      }
    }"""
    file = FILES.read(SETTINGS, text.encode())
    assert [each.line for each in file.entries] == [6, 7]
    assert only_flaw(file).line == 7


@pytest.mark.parametrize("kind", ["mcp_tool"])
def test_types_that_cannot_run_here_yet_are_kept_and_fail_aloud(kind: str) -> None:
    handler = {"type": kind, "prompt": "ok?", "server": "s", "tool": "t"}
    file = one(handler)
    assert not file.flaws
    assert file.entries[0].type == kind
    hook = hooks(file)[0]
    assert hook.handler.kind == "native"
    assert kind in hook.handler.values["why"]


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (command(type="comand"), "`comand` is no type of hook"),
        ({"command": "x"}, "`type` is missing"),
        ({"type": "command"}, "`command` is missing"),
        ({"type": "http"}, "`url` is missing"),
        ({"type": "prompt"}, "`prompt` is missing"),
        ({"type": "mcp_tool", "server": "s"}, "`tool` is missing"),
        (command(timeout="5"), "`timeout` must be a number of seconds above 0"),
        (command(timeout=0), "`timeout` must be"),
        (command(timeout=True), "`timeout` must be"),
        (command(args="x"), "`args` must be a list of texts"),
        (command(shell="zsh"), "`shell` must be"),
        (command(onFailure="deny"), "`onFailure` must be"),
        (command(once="yes"), "`once` must be true or false"),
        ({"type": "http", "url": "http://x", "headers": {"a": 1}}, "`headers` must be an object of texts"),
        (command(["x"]), "`command` must be a text"),
        ("x", "a hook must be an object"),
    ],
)  # fmt: skip
def test_a_bad_hook_before_a_tool_takes_the_whole_file_out_and_elsewhere_only_itself(
    handler: Any, says: str
) -> None:
    good = {"hooks": [command("fine")]}
    fatal = settings({"PreToolUse": [{"hooks": [handler]}], "Stop": [good]})
    assert says in only_flaw(fatal).message
    assert only_flaw(fatal).voids is Voids.FILE
    assert all(each.flaw for each in fatal.entries)
    assert "runs nothing of this file: line 1" in fatal.entries[1].flaw
    alone = settings({"Stop": [{"hooks": [handler]}, good]})
    assert only_flaw(alone).voids is Voids.ENTRY
    assert [bool(each.flaw) for each in alone.entries] == [True, False]


@pytest.mark.parametrize("groups", ["x", ["x"], [{"hooks": "x"}], [{"matcher": "Bash"}]])
def test_a_misshapen_group_is_kept_as_an_entry_that_fails_aloud(groups: Any) -> None:
    file = settings({"Stop": groups})
    assert only_flaw(file).voids is Voids.ENTRY
    assert hooks(file)[0].handler.kind == "native"


def test_a_matcher_that_is_no_text_is_refused_like_a_bad_hook() -> None:
    flaw = only_flaw(one(command(), matcher=["Bash"]))
    assert (flaw.message, flaw.voids) == ("`matcher` must be a text", Voids.FILE)


def test_an_unknown_event_costs_nothing_but_itself() -> None:
    file = settings({"preToolUse": [{"hooks": [command()]}], "Stop": [{"hooks": [command()]}]})
    flaw = only_flaw(file)
    assert (flaw.voids, flaw.hint) == (Voids.ENTRY, "did you mean `PreToolUse`?")
    assert [bool(each.flaw) for each in file.entries] == [True, False]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"", 1, "this is no JSON"),
        (b'{\n"hooks": {,}}', 2, "this is no JSON"),
        (b"[]", 1, "the file must hold an object"),
        (b'{\n"hooks": []}', 2, "`hooks` must be an object of events"),
        (b"{" + b" " * 1_000_001 + b"}", 1, "more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(
    content: bytes, line: int, says: str
) -> None:
    file = FILES.read(SETTINGS, content)
    flaw = only_flaw(file)
    assert file.is_unreadable
    assert (flaw.line, flaw.voids) == (line, Voids.FILE)
    assert says in flaw.message


def test_a_settings_file_without_hooks_is_in_order() -> None:
    file = FILES.read(SETTINGS, b'{"permissions": {}}')
    assert (file.entries, file.flaws) == ((), ())


@pytest.mark.parametrize(
    ("kind", "event"),
    [("http", "SessionStart"), ("http", "Setup"), ("prompt", "PreCompact"), ("agent", "PermissionRequest"), ("mcp_tool", "Setup")],
)  # fmt: skip
def test_a_type_that_the_event_does_not_take_is_said(kind: str, event: str) -> None:
    handler = {"type": kind, "url": "http://x", "prompt": "p", "server": "s", "tool": "t"}
    file = one(handler, event)
    assert f"runs no hook of type `{kind}` on {event}" in only_flaw(file).message
    assert only_flaw(file).voids is Voids.ENTRY


def test_if_on_an_event_without_a_tool_means_never() -> None:
    file = one(command(**{"if": "Bash"}), "Stop")
    assert "never runs on Stop" in only_flaw(file).message
    assert not matches(file.entries[0], events.Stop())


def test_if_that_is_no_rule_means_never() -> None:
    file = one(command(**{"if": "&&"}))
    assert "no permission rule" in only_flaw(file).message
    assert not matches(file.entries[0], bash("ls"))


def test_a_matcher_that_is_no_regex_is_said_and_matches_nothing() -> None:
    file = one(command(), matcher="Bash(")
    assert "never matches" in only_flaw(file).message
    assert not matches(file.entries[0], bash("ls"))
    assert "half a character" in one(command(), matcher="\ud800(").flaws[0].message


def test_once_is_said_to_run_each_time() -> None:
    flaw = only_flaw(one(command(once=True)))
    assert (flaw.voids, "counts only in a skill" in flaw.message) == (Voids.NOTHING, True)


def test_what_only_the_client_knows_cannot_run_here() -> None:
    assert "CLAUDE_PLUGIN_DATA" in one(command("${CLAUDE_PLUGIN_DATA}/x")).entries[0].flaw
    assert "user_config.k" in one(command("x", args=["${user_config.k}"])).entries[0].flaw


# ── plugins, agents, skills ─────────────────────────────────────────────────────────────────


def test_a_plugins_hooks_know_their_root() -> None:
    file = one(
        command("x", args=["${CLAUDE_PLUGIN_ROOT}/a", "${CLAUDE_PROJECT_DIR}", "${OTHER}"]),
        path=PLUGIN,
    )
    hook = hooks(file)[0]
    assert hook.start is not None
    assert hook.start.variables == {"CLAUDE_PLUGIN_ROOT": "/opt/plugins/guard"}
    assert hook.handler.values["run"] == ["x", "/opt/plugins/guard/a", "/srv/app", "${OTHER}"]


def test_a_plugins_manifest_has_hooks_in_it_or_names_files() -> None:
    path = "/opt/plugins/guard/.claude-plugin/plugin.json"
    inline = settings({"Stop": [{"hooks": [command()]}]}, path)
    assert inline.entries[0].env == {"CLAUDE_PLUGIN_ROOT": "/opt/plugins/guard"}
    named = FILES.read(path, b'{"hooks": "./hooks/extra.json"}')
    assert only_flaw(named).voids is Voids.NOTHING
    assert "include those files" in only_flaw(named).hint


AGENT = """---
name: reviewer
hooks:
  PreToolUse:
    - matcher: "Bash"
      hooks:
        - type: command
          command: ./check.sh
          timeout: 7
  Stop:
    - hooks:
        - {type: command, command: ./done.sh, once: true}
---
You review.
"""


def test_an_agents_hooks_are_for_that_agent_and_its_stop_is_a_sub_agents() -> None:
    file = FILES.read("/srv/app/.claude/agents/r.md", AGENT.encode())
    pre, stop = file.entries
    assert (pre.event, pre.agent, pre.matcher, pre.timeout, pre.line) == (
        "PreToolUse",
        "reviewer",
        "Bash",
        7.0,
        7,
    )
    assert (stop.event, stop.agent) == ("SubagentStop", "reviewer")
    assert not file.off
    assert hooks(file)[1].events == ("subagent_stop",)


def test_an_agent_without_a_name_is_called_as_its_file() -> None:
    text = AGENT.replace("name: reviewer\n", "")
    assert FILES.read("/w/.claude/agents/r.md", text.encode()).entries[0].agent == "r"


def test_an_agent_that_a_plugin_brings_has_no_hooks() -> None:
    file = FILES.read("/opt/plugins/guard/agents/r.md", AGENT.encode())
    assert "plugin" in file.off
    assert hooks(file) == ()


def test_a_skills_hooks_run_from_the_start_and_that_is_said() -> None:
    file = FILES.read("/w/.claude/skills/lint/SKILL.md", AGENT.encode())
    assert [each.event for each in file.entries] == ["PreToolUse", "Stop"]
    notes = [flaw.message for flaw in file.flaws]
    assert any("in every session" in note for note in notes)
    assert any("`once` is not kept" in note for note in notes)
    assert {flaw.voids for flaw in file.flaws} == {Voids.NOTHING}


def test_front_matter_runs_for_events_of_clients_that_read_settings_only() -> None:
    event = bash("ls", dialect="vscode", agent=events.Agent(name="reviewer"))
    front = hooks(FILES.read("/w/.claude/agents/r.md", AGENT.encode()))[0]
    shared = hooks(one(command()))[0]
    assert front.match is not None
    assert shared.match is not None
    assert front.match.find(event, NOBODY) is not None
    assert shared.match.find(event, NOBODY) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nhooks: [\n---\n", 3),
        ("---\na: &x 1\nhooks: *x\n---\n", 3),
        ("---\nhooks: " + "[" * 200 + "\n---\n", 2),
        ("---\n" + "a: b\n" * 300_000 + "---\n", 1),
    ],
)
def test_front_matter_that_cannot_be_read_says_where(text: str, line: int) -> None:
    file = FILES.read("/w/.claude/agents/r.md", text.encode())
    assert file.is_unreadable
    assert only_flaw(file).line == line


@pytest.mark.parametrize(
    "text", ["", "# Text", "---\n---\n", "---\nname: x\n---\n", "---\n- a\n---\n"]
)
def test_a_text_without_hooks_has_none(text: str) -> None:
    assert FILES.read("/w/.claude/agents/r.md", text.encode()).entries == ()


def test_words_of_front_matter_are_those_of_yaml_1_2() -> None:
    text = '---\nhooks:\n  Stop:\n    - hooks: [{type: command, command: "1", async: true, timeout: 1.5, if: ~}]\n---\n'
    found = FILES.read("/w/.claude/skills/x/SKILL.md", text.encode()).entries[0]
    assert (found.command, found.timeout) == ("1", 1.5)


# ── what files decide for each other ────────────────────────────────────────────────────────


def off(*files: NativeFile) -> list[str]:
    return [hook.source.file for hook in hooks(*files)]


def test_the_first_that_speaks_of_disabling_decides_for_all_that_are_not_managed() -> None:
    stop = {"Stop": [{"hooks": [command()]}]}
    more = {"Stop": [{"hooks": [command("b")]}]}
    other = {"Stop": [{"hooks": [command("c")]}]}
    user_off = settings(other, USER, disableAllHooks=True)
    assert user_off.off
    assert off(settings(stop, LOCAL), settings(more), user_off) == []
    assert off(settings(stop, LOCAL, disableAllHooks=False), settings(more), user_off) == [
        LOCAL,
        SETTINGS,
        USER,
    ]
    assert off(settings(stop, MANAGED), settings(more), user_off) == [MANAGED]
    assert (
        off(settings(stop, MANAGED, disableAllHooks=True), settings(more, disableAllHooks=False))
        == []
    )


def test_managed_switches_leave_only_what_they_name() -> None:
    stop = {"Stop": [{"hooks": [command()]}]}
    more = {"Stop": [{"hooks": [command("b")]}]}
    plugin = settings({"Stop": [{"hooks": [command("p")]}]}, PLUGIN)
    only = settings(stop, MANAGED, allowManagedHooksOnly=True)
    assert off(only, settings(more), plugin) == [MANAGED]
    strict = settings(stop, MANAGED, strictPluginOnlyCustomization=["hooks"])
    assert off(strict, settings(more), plugin) == [MANAGED, PLUGIN]
    elsewhere = settings(stop, allowManagedHooksOnly=True)
    assert off(elsewhere, plugin) == [SETTINGS, PLUGIN]


def test_one_command_in_several_places_is_one_hook_that_keeps_the_strictest_word() -> None:
    twice = settings(
        {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [command(timeout=5)]},
                {"matcher": "Write", "hooks": [command(timeout=9, onFailure="block")]},
            ]
        }
    )
    hook, *more = hooks(twice, one(command(), path=USER))
    assert not more
    assert (hook.on_error, hook.timeout) == (OnError.BLOCK, 5.0)
    assert len(hooks(one(command()), one(command(**{"if": "Bash"}), path=USER))) == 2
    assert len(hooks(one(command()), one(command(), path=PLUGIN))) == 2
    assert len(hooks(one(command()), one(command(), "PostToolUse"))) == 2
    assert (
        len(
            hooks(
                one({"type": "http", "url": "http://x"}), one({"type": "http", "url": "http://x"})
            )
        )
        == 1
    )


@pytest.mark.parametrize(
    ("event", "handler", "seconds"),
    [
        ("PreToolUse", command(), 600.0),
        ("PreToolUse", {"type": "prompt", "prompt": "p"}, 30.0),
        ("PreToolUse", {"type": "agent", "prompt": "p"}, 60.0),
        ("UserPromptSubmit", command(), 30.0),
        ("PreModelSwitch", command(), 30.0),
        ("MessageDisplay", command(), 10.0),
        ("SessionEnd", command(), 1.5),
        ("SessionEnd", command(timeout=5), 5.0),
        ("SessionEnd", command(timeout=500), 60.0),
        ("Stop", command(timeout=0.5), 0.5),
    ],
)
def test_time_is_what_the_entry_or_the_event_gives(
    event: str, handler: Any, seconds: float
) -> None:
    assert hooks(one(handler, event))[0].timeout == seconds


def test_a_plugin_cannot_make_the_end_of_a_session_longer() -> None:
    assert hooks(one(command(timeout=5), "SessionEnd", PLUGIN))[0].timeout == 1.5


@pytest.mark.parametrize(
    ("event", "handler", "rule"),
    [
        ("PreToolUse", command(), OnError.WARN),
        ("PreToolUse", command(onFailure="block"), OnError.BLOCK),
        ("PreToolUse", command(onFailure="continue"), OnError.WARN),
        ("PreToolUse", {"type": "http", "url": "http://x", "onFailure": "block"}, OnError.BLOCK),
        ("PreToolUse", {"type": "prompt", "prompt": "p", "onFailure": "block"}, OnError.WARN),
        ("PreToolUse", command(onFailure="block", **{"async": True}), OnError.WARN),
        ("Stop", command(onFailure="block"), OnError.WARN),
        ("WorktreeCreate", command(), OnError.BLOCK),
        ("PreModelSwitch", command(), OnError.BLOCK),
    ],
)
def test_a_failure_means_what_the_client_makes_of_it(
    event: str, handler: Any, rule: OnError
) -> None:
    assert hooks(one(handler, event))[0].on_error is rule


def test_entries_that_call_hookline_never_run() -> None:
    assert hooks(one(command("hookline hook claude-code PreToolUse"))) == ()


def http(**more: Any) -> dict[str, Any]:
    return {"type": "http", "url": "http://guard.test/check", **more}


def headers(*files: NativeFile) -> Any:
    return hooks(*files)[0].handler.values["http"]["headers"]


def test_headers_take_the_variables_that_are_allowed_and_no_other() -> None:
    handler = http(headers={"A": "Bearer $TOKEN", "B": "${OTHER}-x"}, allowedEnvVars=["TOKEN"])
    hook = hooks(one(handler))[0]
    assert hook.handler.values["http"]["headers"] == {"A": "Bearer ${TOKEN}", "B": "-x"}
    assert hook.env == ("TOKEN",)
    limits = settings({}, USER, httpHookAllowedEnvVars=["ELSE"])
    assert headers(one(handler), limits) == {"A": "Bearer ", "B": "-x"}


@pytest.mark.parametrize(
    ("allowed", "runs"),
    [
        (["http://guard.test/*"], True),
        (["*"], True),
        (["http://guard.test/check"], True),
        (["http://*.test/*eck"], True),
        (["http://guard.test/check/*"], False),
        (["http://*x*/check"], False),
        (["https://*"], False),
        ([], False),
    ],
)
def test_only_addresses_that_are_allowed_are_called(allowed: list[str], runs: bool) -> None:
    limits = settings({}, USER, allowedHttpHookUrls=allowed)
    assert (hooks(one(http()), limits)[0].handler.kind == "http") is runs


def test_the_shell_is_the_one_that_the_entry_names() -> None:
    def shell(**more: Any) -> tuple[str, ...]:
        start = hooks(one(command("${CLAUDE_PROJECT_DIR}/x", **more)))[0].start
        assert start is not None
        return start.interpreter

    assert shell() == ("/bin/sh", "-c")
    assert shell(shell="bash") == ("bash", "-c")
    assert shell(shell="powershell")[0] == "pwsh"
    line = hooks(one(command("& ${CLAUDE_PROJECT_DIR}/x", shell="powershell")))[0]
    assert line.handler.values["run"] == "& ${env:CLAUDE_PROJECT_DIR}/x"


# ── matchers ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("matcher", "name", "held"),
    [
        (None, "Bash", True),
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("bash", "Bash", False),
        ("Write|Edit", "Edit", True),
        ("Write, Edit", "Edit", True),
        ("Edit", "NotebookEdit", False),
        ("Ba.*", "Bash", True),
        ("^Re", "Read", True),
        ("Edit.?", "NotebookEdit", True),
        ("mcp__memory", "mcp__memory__store", False),
        ("mcp__memory__.*", "mcp__memory__store", True),
        ("^(?!Bash)", "Read", True),
        ("^(?!Bash)", "Bash", False),
        ("Task", "Agent", True),
        ("Agent", "Task", True),
        ("Bash(echo *)", "Bash", False),
    ],
)
def test_a_matcher_is_a_list_of_names_or_a_regex(
    matcher: str | None, name: str, held: bool
) -> None:
    group = {} if matcher is None else {"matcher": matcher}
    event = PreToolUse(tool=called(name))
    assert matches(entry(command(), **group), event) is held


@pytest.mark.parametrize(
    ("dialect", "name", "input", "matcher"),
    [
        ("vscode", "run_in_terminal", {"command": "ls"}, "Bash"),
        ("vscode", "create_file", {"filePath": "a"}, "Write"),
        ("vscode", "replace_string_in_file", {"filePath": "a"}, "Edit"),
        ("vscode", "grep_search", {"query": "a"}, "Grep"),
        ("vscode", "file_search", {"query": "a"}, "Glob"),
        ("vscode", "mcp_github_search", {}, "mcp__github__.*"),
        ("gemini", "google_web_search", {"query": "a"}, "WebSearch"),
        ("canonical", "shell", {"command": "ls"}, "Bash"),
    ],
)
def test_tools_of_other_platforms_are_matched_by_claude_codes_names(
    dialect: str, name: str, input: Any, matcher: str
) -> None:
    event = PreToolUse(tool=called(name, dialect, **input), dialect=dialect)
    assert matches(entry(command(), matcher=matcher), event)
    assert not matches(entry(command(), matcher="Other"), event)


@pytest.mark.parametrize(
    ("native", "event", "yes", "no"),
    [
        ("SessionStart", events.SessionStart(source="resume"), "resume", "startup"),
        ("SessionStart", events.SessionStart(source="new"), "startup|clear", "resume"),
        ("Setup", events.Setup(trigger="maintenance"), "maintenance", "init"),
        ("SessionEnd", events.SessionEnd(reason="whatever"), "other", "clear"),
        ("Notification", events.Notification(kind="idle_prompt"), "idle_prompt", "x"),
        ("Notification", events.Notification(kind="ToolPermission"), "permission_prompt", "x"),
        ("SubagentStart", events.SubagentStart(agent=events.Agent(name="Plan")), "Plan", "Explore"),
        ("SubagentStop", events.SubagentStop(agent=events.Agent(name="Plan")), "Pl.n", "Explore"),
        ("PreCompact", events.PreCompact(), "auto", "manual"),
        ("ConfigChange", events.ConfigChange(source="skills"), "skills", "user_settings"),
        ("FileChanged", events.FileChanged(path="/a/.env"), "[.]env", "env"),
        ("StopFailure", events.StopFailure(error="rate_limit"), "rate_limit", "unknown"),
        ("InstructionsLoaded", events.InstructionsLoaded(reason="include"), "include", "compact"),
        ("UserPromptExpansion", events.PromptExpansion(command="deploy"), "deploy", "test"),
        ("Elicitation", events.Elicitation(server="gh"), "gh", "x"),
        ("PreModelSwitch", events.PreModelSwitch(to_model="opus"), "op.*", "haiku"),
    ],
)
def test_each_event_is_matched_by_its_own_field(
    native: str, event: Event, yes: str, no: str
) -> None:
    assert matches(entry(command(), native, matcher=yes), event)
    assert not matches(entry(command(), native, matcher=no), event)


@pytest.mark.parametrize("native", ["UserPromptSubmit", "Stop", "TaskCreated", "CwdChanged"])
def test_events_without_a_field_ignore_the_matcher(native: str) -> None:
    assert matches(entry(command(), native, matcher="nothing"), events.Stop())


def test_what_the_event_does_not_tell_speaks_against_nobody() -> None:
    found = entry(command(), "DirectoryAdded", matcher="slash_command")
    assert matches(found, events.DirectoryAdded(path="/x"))


def test_files_and_errors_have_the_narrower_list_of_names() -> None:
    found = entry(command(), "FileChanged", matcher="a b")
    assert matches(found, events.FileChanged(path="/x/a b c"))  # a regex, not a name


def test_a_denial_hook_hears_of_denials_only() -> None:
    found = entry(command(), "PermissionDenied")
    ran = tool("shell", command="ls")
    assert matches(found, events.PermissionDecided(tool=ran, decision="deny"))
    assert not matches(found, events.PermissionDecided(tool=ran, decision="allow"))


def test_a_regex_that_takes_too_long_is_a_failure() -> None:
    found = entry(command(), matcher="^(?=a)(a|aa)+$")
    with pytest.raises(HandlerError, match="ran for more than"):
        matches(found, PreToolUse(tool=called("a" * 60 + "b")))


# ── if ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rule", "line", "held"),
    [
        ("Bash", "ls", True),
        ("Read", "ls", False),
        ("Bash(*)", "ls", True),
        ("Bash(git *)", "git log", True),
        ("Bash(git *)", "git", True),
        ("Bash(git *)", "gitk", False),
        ("Bash(git:*)", "git log", True),
        ("Bash(git*)", "gitk", True),
        ("Bash(git log)", "git log", True),
        ("Bash(git log)", "git log -1", False),
        ("Bash(git *)", "echo hi && git log", True),
        ("Bash(git *)", "FOO=1 git diff", True),
        ("Bash(git *)", "timeout 5 git diff", True),
        ("Bash(git *)", "echo $(git log)", True),
        ("Bash(git *)", "echo git", False),
        ("Bash(* --force)", "git push --force", True),
        ("Bash(git push *)", "git push origin", True),
        ("Bash(git push *)", "git log", False),
        ("Bash(git push *)", "git $VERB", True),
        ("Bash(rm *)", "echo 'unclosed", True),
        ("mcp__x", "ls", False),
    ],
)
def test_if_reads_a_command_as_permission_rules_do(rule: str, line: str, held: bool) -> None:
    assert matches(entry(command(**{"if": rule})), bash(line)) is held


@pytest.mark.parametrize(
    ("rule", "path", "held"),
    [
        ("Write(*.ts)", "/srv/app/src/deep/a.ts", True),
        ("Write(*.ts)", "src/a.ts", True),
        ("Write(*.ts)", "/srv/app/a.py", False),
        ("Write(*.ts)", "/elsewhere/a.ts", False),
        ("Edit(*.ts)", "/srv/app/a.ts", False),
        ("Write(src/**)", "/srv/app/src/a/b", True),
        ("Write(src/**)", "/srv/app/x/src/a", False),
        ("Write(**/src/**)", "/srv/app/x/src/a", True),
        ("Write(src/)", "/srv/app/src/a", True),
        ("Write(./a?.t[sx])", "/srv/app/ab.tx", True),
        ("Write(/.env)", "/srv/app/.env", True),
        ("Write(//etc/**)", "/etc/passwd", True),
        ("Write(//etc/**)", "/srv/app/../../etc/passwd", True),
        ("Write(~/.ssh/**)", "~", False),
        ("Write([!a]x)", "/srv/app/bx", True),
        ("Write([z-a]x)", "/srv/app/bx", True),
        ("Write(**)", "/srv/app/bx", True),
    ],
)
def test_if_reads_a_path_as_gitignore_does(rule: str, path: str, held: bool) -> None:
    file = one(command(**{"if": rule}))
    ready = hooks(file)[0].match
    assert ready is not None
    event = PreToolUse(tool=called("Write", file_path=path), cwd="/srv/app")
    assert (ready.find(event, NOBODY) is not None) is held


@pytest.mark.parametrize(
    ("rule", "name", "input", "held"),
    [
        ("mcp__gh", "mcp__gh__search", {}, True),
        ("mcp__gh__*", "mcp__gh__search", {}, True),
        ("mcp__gh__search", "mcp__gh__search", {}, True),
        ("mcp__g", "mcp__gh__search", {}, False),
        ("WebFetch(domain:a.test)", "WebFetch", {"url": "https://a.test/x"}, True),
        ("WebFetch(domain:*.a.test)", "WebFetch", {"url": "https://b.a.test/x"}, True),
        ("WebFetch(domain:a.test)", "WebFetch", {"url": "https://b.test/x"}, False),
        ("WebFetch(domain:a.test)", "WebFetch", {"url": "http://[x"}, True),
        ("Agent(Plan)", "Agent", {"subagent_type": "Plan"}, True),
        ("Task(Plan)", "Agent", {"subagent_type": "Explore"}, False),
        ("Skill(x)", "Skill", {"skill": "y"}, True),
    ],
)
def test_if_knows_servers_domains_and_agents(rule: str, name: str, input: Any, held: bool) -> None:
    event = PostToolUse(tool=called(name, **input))
    assert matches(entry(command(**{"if": rule}), "PostToolUse"), event) is held


# ── nothing breaks the reader ───────────────────────────────────────────────────────────────

_WORDS = st.sampled_from(
    ["hooks", "PreToolUse", "Stop", "matcher", "type", "command", "http", "url", "if", "timeout", "args", "headers", "disableAllHooks", "allowedHttpHookUrls", "once", "async"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_WORDS | st.text(), inner, max_size=4)
    ),
    max_leaves=25,
)
_HOOKS = st.dictionaries(
    st.sampled_from(["PreToolUse", "Stop", "SessionStart", "Nothing"]),
    st.lists(st.fixed_dictionaries({"hooks": st.lists(_JSON)}) | _JSON, max_size=3) | _JSON,
)
_PATHS = st.sampled_from(
    [SETTINGS, MANAGED, PLUGIN, "/w/.claude/agents/a.md", "/w/skills/x/SKILL.md"]
)


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
        for hook in hooks(FILES.read(path, text)):
            assert hook.match is not None
            FILES.matches(hook.match.entries[0], bash("ls"))  # type: ignore[attr-defined]
