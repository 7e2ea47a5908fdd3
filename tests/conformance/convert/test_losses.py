"""Loss reports are exact: a property is lost where the new platform lacks it, and nowhere else.

What a platform can say is read from its ``support.toml`` again, and what a file format has room
for is written down here once more, so that the converter does not judge itself.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hookline
from hookline.converting.convert import Converted, convert
from hookline.converting.platforms import platform, platform_names
from hookline.converting.report import EntryReport, Finding
from hookline.model.native import NativeEntry, Where

NAMES = platform_names()
PAIRS = [pytest.param(a, b, id=f"{a}-{b}") for a in NAMES for b in NAMES if a != b]
DIALECTS = Path(hookline.__file__).parent / "dialects"
CELLS = (
    *("allow", "ask", "deny", "halt", "context", "notice", "follow_up"),
    *("input", "output", "prompt", "messages", "summary", "env", "display"),
)
# The formats, as their documentation has them.
HAS: Mapping[str, set[str]] = {
    "env": {"gemini", "copilot", "copilot-cloud", "vscode", "docker-agent", "basecoat"},
    "background": {"claude-code", "codex"},
    "name": {"gemini", "docker-agent", "hookline"},
    "condition": {"claude-code"},
    "agent": set(),
    "directory": set(),
    "priority": {"basecoat", "hookline"},
}


def support(name: str) -> Mapping[str, Mapping[str, str]]:
    """Each native event's cells, read as plain data."""
    file = DIALECTS / name.replace("-", "_") / "support.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return {native: {**data["defaults"], **row} for native, row in data["events"].items()}


def events_of(name: str) -> list[str]:
    """The events that may stand in a file; docker-agent's table has a lane besides."""
    return [native for native in support(name) if "+" not in native]


def path_of(name: str) -> str:
    path = platform(name).writer.path
    return f"/srv/app/{path}/hook" if name == "kodelet" else f"/srv/app/{path}"


def made(a: str, b: str, entries: Sequence[NativeEntry]) -> Converted:
    """A file of ``a`` with these entries, converted."""
    ((_, content),) = platform(a).writer.write(entries).items()
    return convert(a, b, path_of(a), content, Where(project="/srv/app", home="/home/dev"))


def text(a: str, b: str, content: object, path: str | None = None) -> Converted:
    """A file with this content, converted."""
    raw = content.encode() if isinstance(content, str) else msgspec.json.encode(content)
    return convert(a, b, path or path_of(a), raw, Where(project="/srv/app", home="/home/dev"))


def statuses(entry: EntryReport, prefix: str) -> dict[str, str]:
    return {
        each.property: each.status.value
        for each in entry.findings
        if each.property.startswith(prefix) and each.on in ("", *entry.becomes[:1])
    }


def the(entry: EntryReport, property: str) -> Finding:
    """What became of a property: the same on every event that the hook now stands under."""
    found = [each for each in entry.findings if each.property == property]
    assert len({each.status for each in found}) == 1
    return found[0]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_what_a_program_may_answer_is_lost_exactly_where_the_table_says_so(a: str, b: str) -> None:
    here, there = support(a), support(b)
    if a == "kodelet":
        done = text(a, b, "#!/bin/sh\n")
    else:
        done = made(a, b, [NativeEntry(event=each, command="true") for each in events_of(a)])
    seen = set()
    for entry in done.report.entries:
        seen.add(entry.event)
        said = statuses(entry, "verdict.") | statuses(entry, "effect.")
        if not entry.becomes:
            assert [each.property for each in entry.findings if each.status == "lost"]
            assert said == {}
            continue
        now = there[entry.becomes[0]]
        expected = {
            cell: "kept" if now.get(cell) == "yes" else _instead(now.get(cell, "none"))
            for cell in CELLS
            if here[entry.event].get(cell) == "yes"
        }
        assert {name.partition(".")[2]: status for name, status in said.items()} == expected
    assert seen == set(events_of(a))


def _instead(word: str) -> str:
    return "lost" if word == "none" else "replaced"


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_an_event_is_lost_exactly_where_the_new_platform_has_none_as_early_and_strict(
    a: str, b: str
) -> None:
    if a == "kodelet":
        done = text(a, b, "#!/bin/sh\n")
    else:
        done = made(a, b, [NativeEntry(event=each, command="true") for each in events_of(a)])
    there = {row["event"] for row in support(b).values()} - {"other"}
    for entry in done.report.entries:
        meant = support(a)[entry.event]["event"]
        if entry.event in {"beforeTabFileRead", "afterTabFileEdit"}:
            continue  # nobody else has an editor's completions; see below
        (finding, *_) = [each for each in entry.findings if each.property == "event"]
        if meant in there:
            assert finding.status == "kept"
        elif entry.becomes:
            assert finding.status == "replaced"
            assert finding.why
        else:
            assert finding.status == "lost"


def test_a_gate_moves_to_an_earlier_gate_and_never_to_a_weaker_one() -> None:
    asked = [NativeEntry(event="PermissionRequest", command="true")]
    (entry,) = made("claude-code", "gemini", asked).report.entries
    assert entry.becomes == ("BeforeTool",)
    compaction = [NativeEntry(event="before_compaction", command="true")]
    (entry,) = made("docker-agent", "gemini", compaction).report.entries
    assert entry.becomes == ()  # PreCompress cannot be vetoed
    (entry,) = made("docker-agent", "claude-code", compaction).report.entries
    assert entry.becomes == ("PreCompact",)


def test_completions_of_an_editor_are_lost_everywhere_else() -> None:
    done = made("cursor", "claude-code", [NativeEntry(event="beforeTabFileRead", command="x")])
    assert [(each.property, each.was) for _, each in done.report.losses] == [
        ("event", "beforeTabFileRead")
    ]


def test_one_event_becomes_several_where_the_new_platform_tells_more_apart() -> None:
    done = made("claude-code", "docker-agent", [NativeEntry(event="UserPromptSubmit", command="x")])
    (entry,) = done.report.entries
    assert entry.becomes == (
        "user_prompt_submit",
        "user_steering_messages_submit",
        "user_followup_submit",
    )


def test_docker_agent_is_asked_on_both_lanes_and_the_report_says_what_each_can_take() -> None:
    done = made("claude-code", "docker-agent", [NativeEntry(event="PreToolUse", command="x")])
    (entry,) = done.report.entries
    assert entry.becomes == ("pre_tool_use+preempt", "pre_tool_use")
    said = {
        each.on: each.status.value for each in entry.findings if each.property.endswith("input")
    }
    assert said == {"pre_tool_use+preempt": "replaced", "pre_tool_use": "kept"}
    (calls,) = [each for each in entry.findings if each.property == "calls"]
    assert (calls.now, calls.status.value) == ("twice", "replaced")
    (content,) = done.files.values()
    read = platform("docker-agent").rules.read("/srv/hooks.d/x.yaml", content)
    assert [bool(each.options.get("preempt_yolo")) for each in read.entries] == [True, False]


# ── properties of an entry ──────────────────────────────────────────────────────────────────


def _docker(**hook: Any) -> str:
    lines = "\n".join(f"          {key}: {value}" for key, value in hook.items())
    return f"agents:\n  root:\n    hooks:\n      turn_end:\n        - type: command\n{lines}\n"


# For each property: a platform whose files have it, and a file that says it.
SAYS: Mapping[str, tuple[str, object, str | None]] = {
    "env": (
        "gemini",
        {
            "hooks": {
                "BeforeTool": [
                    {"hooks": [{"type": "command", "command": "x", "env": {"LEVEL": "1"}}]}
                ]
            }
        },
        None,
    ),
    "background": (
        "claude-code",
        {
            "hooks": {
                "PreToolUse": [{"hooks": [{"type": "command", "command": "x", "async": True}]}]
            }
        },
        None,
    ),
    "name": (
        "gemini",
        {
            "hooks": {
                "BeforeTool": [{"hooks": [{"type": "command", "command": "x", "name": "guard"}]}]
            }
        },
        None,
    ),
    "condition": (
        "claude-code",
        {
            "hooks": {
                "PreToolUse": [
                    {"hooks": [{"type": "command", "command": "x", "if": "Bash(git push *)"}]}
                ]
            }
        },
        None,
    ),
    "agent": (
        "claude-code",
        "---\nname: tester\nhooks:\n  PreToolUse:\n    - hooks:\n"
        "        - type: command\n          command: x\n---\n",
        "/srv/app/.claude/agents/tester.md",
    ),
    "directory": (
        "vscode",
        {"hooks": {"PreToolUse": [{"type": "command", "command": "x", "cwd": "sub"}]}},
        None,
    ),
    "priority": (
        "basecoat",
        {
            "version": 1,
            "hooks": {"PreToolUse": [{"type": "command", "command": "x", "priority": 7}]},
        },
        None,
    ),
}
APPLIED = set(SAYS) - {"priority"}


@pytest.mark.parametrize("field", sorted(APPLIED))
@pytest.mark.parametrize("b", [*NAMES, "hookline"])
def test_a_property_without_a_place_in_the_new_file_is_applied_by_the_adapter(
    field: str, b: str
) -> None:
    a, content, path = SAYS[field]
    if a == b:
        return  # nothing changes
    done = text(a, b, content, path)
    finding = the(done.report.entries[0], field)
    assert finding.status.value == ("kept" if b in HAS[field] else "replaced")
    written = b"".join(done.files.values()).decode()
    value = {"background": "--background", "env": "LEVEL"}.get(field, finding.was)
    assert value in written.replace("\\", "") or b in HAS[field]


@pytest.mark.parametrize("field", sorted(SAYS))
def test_a_property_is_never_lost_on_its_own_platform(field: str) -> None:
    a, content, path = SAYS[field]
    done = text(a, a, content, path)
    finding = the(done.report.entries[0], field)
    assert finding.status == "kept"
    assert not list(done.report.losses)


@pytest.mark.parametrize("b", [*NAMES, "hookline"])
def test_a_priority_is_lost_where_hooks_run_side_by_side(b: str) -> None:
    if b == "basecoat":
        return
    a, content, _ = SAYS["priority"]
    done = text(a, b, content)
    finding = the(done.report.entries[0], "priority")
    beside = {"claude-code", "codex", "cursor"}
    expected = "kept" if b in HAS["priority"] else "lost" if b in beside else "replaced"
    assert finding.status.value == expected


@pytest.mark.parametrize("b", [*NAMES, "hookline"])
def test_a_long_timeout_is_lost_where_the_platform_gives_a_fixed_one(b: str) -> None:
    if b == "claude-code":
        return
    content = {
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": 90}]}]}
    }
    (entry,) = text("claude-code", b, content).report.entries
    finding = the(entry, "timeout")
    assert finding.status.value == ("lost" if b == "kodelet" else "kept")


def test_a_short_timeout_is_kept_even_there() -> None:
    content = {
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": 9}]}]}
    }
    (entry,) = text("claude-code", "kodelet", content).report.entries
    finding = the(entry, "timeout")
    assert (finding.status.value, finding.was) == ("kept", "9 s")


def test_codex_gives_the_end_of_a_session_three_seconds_and_the_report_says_so() -> None:
    hook = {"type": "command", "command": "x", "timeout": 30}
    content = {"hooks": {"SessionEnd": [{"hooks": [hook]}]}}
    (entry,) = text("claude-code", "codex", content).report.entries
    lost = {each.property: each.now for each in entry.findings if each.status == "lost"}
    assert lost["timeout"] == "1.9 s"


@pytest.mark.parametrize("b", [*NAMES, "hookline"])
def test_words_that_only_the_old_platform_has_are_lost(b: str) -> None:
    if b == "claude-code":
        return
    hook = {"type": "command", "command": "x", "statusMessage": "Looking", "shell": "bash"}
    (entry,) = text("claude-code", b, {"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).report.entries
    said = statuses(entry, "option.")
    assert said == {"option.statusMessage": "lost", "option.shell": "kept"}


@pytest.mark.parametrize("b", [*NAMES, "hookline"])
def test_hooks_that_nothing_here_can_run_are_lost_aloud(b: str) -> None:
    if b == "claude-code":
        return
    hook = {"type": "prompt", "prompt": "Is this safe?"}
    done = text("claude-code", b, {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    (entry,) = done.report.entries
    assert entry.becomes == ()
    assert [(each.property, each.status.value) for each in entry.findings] == [("handler", "lost")]


@pytest.mark.parametrize("b", [*NAMES, "hookline"])
def test_the_order_of_hooks_is_lost_where_they_run_side_by_side(b: str) -> None:
    """Copilot runs these in a row, and each sees what the one before it made of the input."""
    if b == "copilot":
        return
    hooks = [{"type": "command", "bash": name} for name in ("first", "second")]
    done = text("copilot", b, {"version": 1, "hooks": {"preToolUse": hooks}})
    beside = {"claude-code", "codex", "cursor"}
    unpiped = {"vscode", "kodelet"}
    for entry in done.report.entries:
        finding = the(entry, "order")
        lost = b in beside | unpiped
        assert (finding.status.value == "lost") is lost
        if b in {"copilot-cloud", "basecoat", "hookline"}:
            assert finding.status.value == "kept"


def test_hooks_that_ran_side_by_side_may_run_in_a_row() -> None:
    hooks = [{"type": "command", "command": name} for name in ("first", "second")]
    done = text("claude-code", "vscode", {"hooks": {"PreToolUse": [{"hooks": hooks}]}})
    for entry in done.report.entries:
        finding = the(entry, "order")
        assert finding.status == "replaced"


def test_gemini_is_asked_for_a_sequence_where_there_was_one() -> None:
    hooks = [{"type": "command", "bash": name} for name in ("first", "second")]
    done = text("copilot", "gemini", {"version": 1, "hooks": {"preToolUse": hooks}})
    (content,) = done.files.values()
    read = platform("gemini").rules.read("/srv/app/.gemini/settings.json", content)
    assert [entry.sequential for entry in read.entries] == [True, True]


def test_what_a_platform_runs_once_is_one_entry_with_both_matchers() -> None:
    hooks = [{"type": "command", "command": "guard"}]
    groups = [{"matcher": name, "hooks": hooks} for name in ("Bash", "Write")]
    done = text("claude-code", "gemini", {"hooks": {"PreToolUse": groups}})
    (entry,) = done.report.entries
    assert statuses(entry, "duplicates") == {"duplicates": "replaced"}
    (content,) = done.files.values()
    (read,) = platform("gemini").rules.read("/srv/app/.gemini/settings.json", content).entries
    assert read.matcher == "^(run_shell_command|write_file)$"
    assert "--matcher Bash --matcher Write" in str(read.command)


def test_of_hooks_that_run_as_one_the_strictest_word_on_failure_counts() -> None:
    open_, closed = ({"type": "command", "command": "guard"} for _ in range(2))
    closed["onFailure"] = "block"
    groups = [
        {"matcher": "Bash", "hooks": [open_]},
        {"matcher": "Write", "hooks": [closed]},
    ]
    done = text("claude-code", "gemini", {"hooks": {"PreToolUse": groups}})
    (content,) = done.files.values()
    assert b"--fails closed" in content


# ── failure ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("b", [*NAMES, "hookline"])
def test_a_hook_that_fails_closed_does_so_everywhere_a_gate_can_be_closed(b: str) -> None:
    if b == "cursor":
        return
    hook = {"command": "x", "failClosed": True}
    done = text("cursor", b, {"version": 1, "hooks": {"preToolUse": [hook]}})
    (entry,) = done.report.entries
    finding = the(entry, "failure")
    assert finding.status.value in {"kept", "replaced"}


def test_a_hook_that_fails_closed_loses_that_where_nothing_can_be_blocked() -> None:
    hook = {"type": "command", "command": "x", "onFailure": "block"}
    done = text("claude-code", "vscode", {"hooks": {"PreCompact": [{"hooks": [hook]}]}})
    (entry,) = done.report.entries
    assert statuses(entry, "failure") == {"failure": "lost"}
    done = text("claude-code", "docker-agent", {"hooks": {"PreCompact": [{"hooks": [hook]}]}})
    (entry,) = done.report.entries
    assert statuses(entry, "failure") == {"failure": "kept"}


# ── matchers ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("a", "b", "matcher", "now"),
    [
        ("claude-code", "gemini", "Bash", "^(run_shell_command)$"),
        ("claude-code", "codex", "Bash", "Bash"),
        ("gemini", "claude-code", "run_shell_command", "Bash"),
        ("docker-agent", "cursor", "shell", "^(Shell)$"),
    ],
)
def test_names_of_tools_are_translated(a: str, b: str, matcher: str, now: str) -> None:
    native = platform(a).native_for("pre_tool_use")
    done = made(a, b, [NativeEntry(event=native, command="x", matcher=matcher)])
    (content,) = done.files.values()
    read = platform(b).rules.read(path_of(b), content)
    assert now.strip("^()$") in str({entry.matcher for entry in read.entries})
    assert statuses(done.report.entries[0], "matcher") == {"matcher": "kept"}


@pytest.mark.parametrize("matcher", ["mcp__.*", "Ba.*", "MyOwnTool", "Bash|mcp__github__push"])
def test_what_no_list_of_names_can_say_is_left_to_the_adapter(matcher: str) -> None:
    entry = NativeEntry(event="PreToolUse", command="x", matcher=matcher)
    done = made("claude-code", "gemini", [entry])
    (content,) = done.files.values()
    (read,) = platform("gemini").rules.read("/srv/app/.gemini/settings.json", content).entries
    assert read.matcher is None
    assert statuses(done.report.entries[0], "matcher") == {"matcher": "replaced"}


def test_a_matcher_that_its_own_platform_ignores_leaves_nothing_out() -> None:
    group = {"matcher": "run_in_terminal", "hooks": [{"type": "command", "command": "x"}]}
    done = text("vscode", "claude-code", {"hooks": {"PreToolUse": [group]}})
    (content,) = done.files.values()
    (read,) = platform("claude-code").rules.read(path_of("claude-code"), content).entries
    assert read.matcher is None


def test_a_tool_that_the_new_platform_does_not_have_is_lost() -> None:
    entry = NativeEntry(event="PreToolUse", command="x", matcher="ExitPlanMode")
    done = made("claude-code", "kodelet", [entry])
    lost = [(each.property, each.was) for _, each in done.report.losses]
    assert ("matcher", "ExitPlanMode") in lost


# ── the report as data ──────────────────────────────────────────────────────────────────────


class _Finding(msgspec.Struct, forbid_unknown_fields=True, rename={"was": "from", "now": "to"}):
    property: str
    status: str
    was: str
    now: str
    why: str
    on: str


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    event: str
    line: int
    what: str
    becomes: list[str]
    findings: list[_Finding]


class _Report(msgspec.Struct, forbid_unknown_fields=True, rename={"origin": "from", "to_": "to"}):
    hookline: int
    origin: str
    to_: str
    file: str
    entries: list[_Entry]
    summary: dict[str, int]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_report_is_data_of_one_shape_with_the_line_of_every_hook(a: str, b: str) -> None:
    if a == "kodelet":
        done = text(a, b, "#!/bin/sh\n")
    else:
        native = platform(a).native_for("pre_tool_use")
        done = made(a, b, [NativeEntry(event=native, command="x")])
    encoded = msgspec.json.encode(done.report.as_json())
    report = msgspec.json.decode(encoded, type=_Report)
    assert (report.origin, report.to_) == (a, b)
    assert set(report.summary) == {"kept", "replaced", "lost"}
    counted = [each.status for entry in report.entries for each in entry.findings]
    assert {status: counted.count(status) for status in report.summary} == report.summary
    for entry in report.entries:
        assert entry.line > 0 or a == "kodelet"  # where the whole file is the hook
        for each in entry.findings:
            assert each.why or each.status == "kept"


# ── another command for Windows ─────────────────────────────────────────────────────────────

TWO_SYSTEMS = {
    "version": 1,
    "hooks": {
        "preToolUse": [
            {"bash": "./check.sh", "powershell": "./check.ps1", "cwd": "it's here"},
        ],
        "postToolUse": [{"powershell": "./log.ps1", "timeoutSec": 5}],
    },
}


def test_a_powershell_command_of_copilots_is_vs_codes_windows() -> None:
    done = text("copilot", "vscode", TWO_SYSTEMS)
    (content,) = done.files.values()
    hooks = msgspec.json.decode(content)["hooks"]
    both, alone = hooks["PreToolUse"][0], hooks["PostToolUse"][0]
    assert both["windows"] == "Set-Location -LiteralPath 'it''s here'; ./check.ps1"
    assert "./check.sh" in both["command"]
    assert alone == {"type": "command", "windows": "./log.ps1", "timeout": 5}
    assert [the(each, "windows").status.value for each in done.report.entries] == ["replaced"] * 2


@pytest.mark.parametrize(
    ("b", "key"), [("codex", "commandWindows"), ("copilot-cloud", "powershell")]
)
def test_every_file_with_a_place_for_windows_gets_it(b: str, key: str) -> None:
    (content,) = text("copilot", b, TWO_SYSTEMS).files.values()
    assert f'"{key}": "./log.ps1"' in content.decode()
    back = text("vscode", "copilot", {"hooks": {"Stop": [{"command": "a", "windows": "b"}]}})
    (content,) = back.files.values()
    assert msgspec.json.decode(content)["hooks"]["agentStop"][0]["powershell"] == "b"


def test_where_a_file_has_no_place_for_windows_that_is_a_loss() -> None:
    both, alone = text("copilot", "gemini", TWO_SYSTEMS).report.entries
    assert the(both, "windows").status.value == "lost"
    assert the(alone, "handler").status.value == "lost"


@pytest.mark.parametrize("b", [name for name in NAMES if name != "copilot"])
@pytest.mark.parametrize(
    "path",
    [
        "/srv/app/.github/hooks/a.json",
        "/home/dev/.copilot/hooks/a.json",
        "/home/dev/.copilot/installed-plugins/market/one/hooks/hooks.json",
    ],
)
def test_a_converted_copilot_file_names_no_place_of_this_machine(b: str, path: str) -> None:
    done = text("copilot", b, {"version": 1, "hooks": {"preToolUse": [{"bash": "./a.sh"}]}}, path)
    written = b"\n".join(done.files.values()).decode()
    assert "./a.sh" in written
    assert "/srv/app" not in written
    assert "/home/dev" not in written
