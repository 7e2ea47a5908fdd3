"""``hookline convert``: a new file, a report, an exit code that tells of losses, and clear errors."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.converting.platforms import platform
from support.cli import Done, Machine

GUARD: dict[str, Any] = {
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./x"}]}]}
}
STOP: dict[str, Any] = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./x"}]}]}}


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def settings(machine: Machine, content: object = GUARD) -> str:
    text = content if isinstance(content, str) else json.dumps(content, indent=2)
    return str(machine.write(".claude/settings.json", text))


def convert(machine: Machine, file: str, *words: str, a: str = "claude-code") -> Done:
    return machine.call("convert", "--from", a, *words, file)


# ── where things go ─────────────────────────────────────────────────────────────────────────


def test_the_new_file_is_printed_and_the_report_stands_beside_it(machine: Machine) -> None:
    done = convert(machine, settings(machine), "--to", "gemini")
    assert done.code == 0
    assert "BeforeTool" in done.json["hooks"]
    assert "settings.json:7  PreToolUse → BeforeTool" in done.err
    assert "replaced  verdict.allow: allow → pass" in done.err
    assert "kept, " in done.err


def test_the_new_file_is_written_where_it_is_wanted(machine: Machine) -> None:
    file = settings(machine)
    before = Path(file).read_bytes()
    done = convert(machine, file, "--to", "codex", "--output", ".codex/hooks.json")
    assert (done.code, done.out) == (0, "")
    content = (machine.project / ".codex/hooks.json").read_bytes()
    assert platform("codex").rules.read(".codex/hooks.json", content).entries
    assert Path(file).read_bytes() == before


def test_a_dash_is_stdout(machine: Machine) -> None:
    done = convert(machine, settings(machine), "--to", "gemini", "--output", "-")
    assert "BeforeTool" in done.json["hooks"]


def test_nothing_that_is_there_is_written_over(machine: Machine) -> None:
    there = machine.write("hooks.json", "mine")
    done = convert(machine, settings(machine), "--to", "codex", "--output", str(there))
    assert done.code == 1
    assert "is there already, and is left as it is" in done.err
    assert there.read_text() == "mine"


def test_a_report_replaces_nothing_but_a_report(machine: Machine) -> None:
    for text in ("mine", '{"mine": 1}'):
        there = machine.write("report.json", text)
        words = ("--to", "codex", "--output", "new.json", "--report", str(there))
        done = convert(machine, settings(machine), *words)
        assert done.code == 1
        assert "there already and no report" in done.err
        assert there.read_text() == text
        assert not (machine.project / "new.json").exists()


def test_a_place_that_cannot_be_written_is_named(machine: Machine) -> None:
    machine.write("file", "")
    done = convert(machine, settings(machine), "--to", "codex", "--output", "file/hooks.json")
    assert done.code == 1
    assert "file/hooks.json: cannot be written" in done.err


def test_kodelets_programs_go_to_a_directory_and_can_be_started(machine: Machine) -> None:
    twice = {"hooks": {**GUARD["hooks"], **STOP["hooks"]}}
    done = convert(machine, settings(machine, twice), "--to", "kodelet", "--output", "hooks")
    assert done.code == 3
    names = sorted(os.listdir(machine.project / "hooks"))
    assert names == ["1-before-tool-call", "2-agent-stop"]
    assert all(os.access(machine.project / "hooks" / name, os.X_OK) for name in names)


def test_several_files_on_stdout_say_their_names(machine: Machine) -> None:
    twice = {"hooks": {**GUARD["hooks"], **STOP["hooks"]}}
    done = convert(machine, settings(machine, twice), "--to", "kodelet")
    assert "# .kodelet/hooks/1-before-tool-call\n#!/bin/sh\n" in done.out


def test_the_report_can_be_had_as_data(machine: Machine) -> None:
    words = ("--to", "docker-agent", "--json", "--report", "report.json")
    done = convert(machine, settings(machine, STOP), *words)
    assert done.code == 3
    assert done.json["summary"]["lost"] == 1
    assert done.json == json.loads((machine.project / "report.json").read_bytes())
    (entry,) = done.json["entries"]
    (lost,) = [each for each in entry["findings"] if each["status"] == "lost"]
    assert (lost["property"], entry["line"]) == ("effect.follow_up", 6)
    again = convert(machine, str(machine.project / ".claude/settings.json"), *words)
    assert again.code == 3  # a report is ours, and may be written anew


def test_two_things_on_one_stdout_are_refused(machine: Machine) -> None:
    words = ("--to", "gemini", "--json", "--output", "-")
    done = convert(machine, settings(machine), *words)
    assert done.code == 2
    assert "name a file for one of them" in done.err


# ── exit codes ──────────────────────────────────────────────────────────────────────────────


def test_help_says_what_the_exit_codes_mean(machine: Machine) -> None:
    done = machine.call("convert", "--help")
    assert "0: nothing is lost; 3: something is" in " ".join(done.out.split())


def test_a_loss_is_told_by_the_exit_code(machine: Machine) -> None:
    assert convert(machine, settings(machine, STOP), "--to", "codex").code == 0
    lossy = convert(machine, settings(machine, STOP), "--to", "basecoat")
    assert lossy.code == 3
    assert "lost      event: Stop (BaseCoat has no event for stop" in lossy.err


# ── bad input ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "this is no JSON"),
        ("[]", "must hold an object"),
        ("{}", "no hooks of Claude Code are in it"),
        ('{"hooks": []}', "`hooks` must be an object of events"),
        ('{"disableAllHooks": true, "hooks": {}}', "`disableAllHooks` is true"),
    ],
)
def test_what_is_no_hook_file_is_an_error_that_names_it(
    content: str, why: str, machine: Machine
) -> None:
    done = convert(machine, settings(machine, content), "--to", "gemini", "--output", "new.json")
    assert done.code == 1
    assert ".claude/settings.json" in done.err
    assert why in done.err
    assert not (machine.project / "new.json").exists()


def test_a_missing_file_is_named(machine: Machine) -> None:
    done = convert(machine, "nowhere.json", "--to", "gemini")
    assert done.code == 1
    assert "nowhere.json: cannot be read: No such file" in done.err
    done = convert(machine, "nowhere.yaml", "--to", "gemini", a="hookline")
    assert done.code == 1
    assert "nowhere.yaml: cannot be read" in done.err


def test_an_unknown_platform_gets_the_nearest_name(machine: Machine) -> None:
    done = convert(machine, settings(machine), "--to", "gemni")
    assert done.code == 1
    assert "gemini" in done.err


def test_an_event_that_is_not_in_the_file_is_named(machine: Machine) -> None:
    done = convert(machine, settings(machine), "--to", "gemini", "--event", "Stop")
    assert done.code == 1
    assert "no hook in it is for `Stop`" in done.err


def test_names_are_completed() -> None:
    from hookline.cli.convert import _complete

    assert _complete(None, None, "c") == [  # type: ignore[arg-type]
        *("claude-code", "codex", "copilot", "copilot-cloud", "cursor")
    ]
    assert _complete(None, None, "hook") == ["hookline"]  # type: ignore[arg-type]


def test_a_part_of_a_file_is_not_taken_for_its_own_platform(machine: Machine) -> None:
    done = convert(machine, settings(machine), "--to", "claude-code", "--event", "PreToolUse")
    assert done.code == 1
    assert "leave --event out" in done.err


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"\0", b"{" * 5000, b'{"hooks": ' + b"[" * 5000])
def test_bytes_that_are_no_text_are_an_error(content: bytes, machine: Machine) -> None:
    file = machine.project / "settings.json"
    file.write_bytes(content)
    for a in ("claude-code", "codex", "gemini", "cursor", "copilot", "vscode", "basecoat"):
        done = convert(machine, str(file), "--to", "docker-agent", a=a)
        assert (done.code, done.out) == (1, ""), a
        assert "settings.json" in done.err


# ── single hooks ────────────────────────────────────────────────────────────────────────────


def test_one_event_of_a_file_can_be_converted_alone(machine: Machine) -> None:
    both = {"hooks": {**GUARD["hooks"], **STOP["hooks"]}}
    done = convert(machine, settings(machine, both), "--to", "gemini", "--event", "Stop")
    assert list(done.json["hooks"]) == ["AfterAgent"]


def test_a_kodelet_program_is_never_run_to_find_out_what_it_is_for(machine: Machine) -> None:
    script = machine.write(".kodelet/hooks/x", "#!/bin/sh\ntouch ran\n", 0o755)
    done = convert(machine, str(script), "--to", "claude-code", a="kodelet")
    assert done.code == 3
    assert set(done.json["hooks"]) == {"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"} | {
        "PostToolUseFailure"
    }
    assert not (machine.project / "ran").exists()
    words = ("--to", "claude-code", "--event", "before_tool_call")
    done = convert(machine, str(script), *words, a="kodelet")
    assert (done.code, list(done.json["hooks"])) == (0, ["PreToolUse"])


def test_calls_of_hookline_are_left_to_install(machine: Machine) -> None:
    hook = {"type": "command", "command": "hookline hook claude-code PreToolUse"}
    file = settings(machine, {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    done = convert(machine, file, "--to", "gemini")
    assert done.code == 3
    assert "`hookline install`" in done.err


def test_a_hook_that_its_own_platform_would_not_run_is_named(machine: Machine) -> None:
    hooks = [{"type": "command"}, {"type": "command", "command": "./x"}]
    file = settings(machine, {"hooks": {"Stop": [{"hooks": hooks}]}})
    done = convert(machine, file, "--to", "gemini")
    assert done.code == 3
    assert "Claude Code does not run it either: `command` is missing" in done.err
    assert len(done.json["hooks"]["AfterAgent"]) == 1


def test_a_builtin_that_hookline_has_is_run_by_it_and_another_is_lost(machine: Machine) -> None:
    def docker(name: str) -> Done:
        hook = f"- {{type: builtin, command: {name}}}"
        text = f"agents:\n  root:\n    hooks:\n      session_start:\n        {hook}\n"
        return convert(
            machine, str(machine.write("a.yaml", text)), "--to", "codex", a="docker-agent"
        )

    done = docker("add_environment_info")
    assert "--type builtin" in done.out
    done = docker("nobodys")
    assert done.code == 3
    assert "hookline has no builtin `nobodys`" in done.err


def test_a_request_is_sent_by_the_adapter(machine: Machine) -> None:
    hook = {"type": "http", "url": "https://example.com/hook", "headers": {"X-A": "b"}}
    file = settings(machine, {"hooks": {"Stop": [{"hooks": [hook]}]}})
    done = convert(machine, file, "--to", "gemini")
    line = done.json["hooks"]["AfterAgent"][0]["hooks"][0]["command"]
    assert "--type http --url https://example.com/hook" in line
    assert "X-A" in line


def test_the_place_of_a_persons_own_file_is_told_to_the_adapter(machine: Machine) -> None:
    file = machine.person / ".cursor/hooks.json"
    file.parent.mkdir()
    file.write_text('{"version": 1, "hooks": {"stop": [{"command": "./x"}]}}', encoding="utf-8")
    done = convert(machine, str(file), "--to", "codex", a="cursor")
    assert "--file '~/.cursor/hooks.json'" in done.out
    assert str(machine.person) not in done.out


# ── hookline.yaml ───────────────────────────────────────────────────────────────────────────


def test_a_portable_config_is_valid_and_keeps_scripts_in_sight_of_trust(machine: Machine) -> None:
    machine.write("guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    hooks = [
        {"type": "command", "command": "./guard.sh --strict"},
        {"type": "command", "command": 'cd /tmp && "$CLAUDE_PROJECT_DIR"/guard.sh'},
    ]
    file = settings(machine, {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}})
    done = convert(machine, file, "--to", "hookline", "--output", "hookline.yaml")
    assert done.code == 3
    assert "lost      trust: pinned scripts" in done.err
    checked = machine.call("check", str(machine.config))
    assert checked.code == 0, checked.out + checked.err
    text = machine.config.read_text()
    assert '"--exec", "--", "./guard.sh", "--strict"]' in text
    assert "match: {tool: [shell]}" in text


def test_a_sequence_becomes_priorities(machine: Machine) -> None:
    hooks = [{"type": "command", "bash": name} for name in ("./a", "./b")]
    text = json.dumps({"version": 1, "hooks": {"preToolUse": hooks}})
    file = machine.write(".github/hooks/x.json", text)
    done = convert(machine, str(file), "--to", "hookline", "--output", "x.yaml", a="copilot")
    assert done.code == 0, done.err
    text = (machine.project / "x.yaml").read_text()
    assert [line.strip() for line in text.splitlines() if "priority" in line] == [
        "priority: 50",
        "priority: 51",
    ]


def test_names_stay_unique_in_a_portable_config(machine: Machine) -> None:
    hooks = [{"type": "command", "command": name, "name": "same"} for name in ("a", "b")]
    file = machine.write(
        ".gemini/settings.json", json.dumps({"hooks": {"AfterAgent": [{"hooks": hooks}]}})
    )
    done = convert(machine, str(file), "--to", "hookline", a="gemini")
    assert 'name: "same"' in done.out
    assert 'name: "same (2)"' in done.out


def test_hooks_of_ours_are_calls_of_hookline_and_the_report_knows_what_they_say(
    machine: Machine,
) -> None:
    file = machine.write(
        "mine.yaml",
        "version: 1\nhooks:\n"
        "  - {name: no, on: pre_tool_use, match: {tool: shell}, deny: No.}\n"
        "  - {name: change, on: pre_tool_use, match: {tool: shell}, rewrite: {input: {command: x}}}\n"
        "  - {name: run, on: [stop, setup], run: ./x}\n",
    )
    done = convert(machine, str(file), "--to", "codex", "--json", a="hookline")
    assert done.code == 3
    no, change, run = done.json["entries"]
    assert no["line"] == 3
    assert {each["property"] for each in no["findings"]} == {"handler", "event", "verdict.deny"}
    told = {each["property"]: each["status"] for each in change["findings"]}
    assert told["effect.input"] == "kept"
    assert [each["from"] for each in run["findings"] if each["status"] == "lost"] == ["setup"]
    printed = convert(machine, str(file), "--to", "codex", a="hookline")
    line = printed.json["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert f"hookline hook codex PreToolUse --config {file}" in line


def test_hooks_that_a_config_includes_are_called_too(machine: Machine) -> None:
    machine.write("more.yaml", "version: 1\nhooks:\n  - {name: a, on: stop, run: ./x}\n")
    file = machine.write(
        "mine.yaml",
        "version: 1\ninclude: [more.yaml]\nhooks:\n  - {name: b, on: pre_tool_use, deny: No.}\n",
    )
    done = convert(machine, str(file), "--to", "codex", a="hookline")
    assert set(done.json["hooks"]) == {"PreToolUse", "Stop"}


@pytest.mark.parametrize(
    ("text", "words", "why"),
    [
        ("version: 1\nhooks: []\n", ("--to", "codex"), "there are no hooks in it"),
        ("version: 2\n", ("--to", "codex"), "version"),
        ("version: 1\n", ("--to", "hookline"), "there is nothing to do"),
        ("version: 1\n", ("--to", "codex", "--event", "stop"), "--event is for files of other"),
    ],
)
def test_a_config_of_ours_that_cannot_be_converted_says_why(
    text: str, words: tuple[str, ...], why: str, machine: Machine
) -> None:
    file = machine.write("mine.yaml", text)
    done = convert(machine, str(file), *words, a="hookline")
    assert done.code in {1, 2}
    assert why in done.err
