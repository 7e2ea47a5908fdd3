"""``hookline doctor`` as people and CI use it."""

from pathlib import Path

import pytest

from support.cli import Machine

HOOK = '{"type": "command", "command": "true"}'
FINE = f'{{"hooks": {{"Stop": [{{"hooks": [{HOOK}]}}]}}}}'
OPEN = f'{{"hooks": {{"PreToolUse": [{{"hooks": [{HOOK}]}}]}}}}'
VOID = FINE.replace("Stop", "stop")


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


def test_nothing_found_is_said_and_exits_with_0(machine: Machine) -> None:
    done = machine.call("doctor")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "No mistake in 0 hook files of 0 agents.\n"
        "0 hooks are active here: nothing is protected\n"
        "  not active: hookline is installed in no agent here\n"
    )
    machine.write(".claude/settings.json", FINE)
    assert "1 hook file of 3 agents" not in machine.call("doctor", "claude-code").out
    assert "No mistake in 1 hook file of 1 agent." in machine.call("doctor", "claude-code").out


def test_an_error_is_shown_with_its_place_and_its_mending_and_exits_with_1(
    machine: Machine,
) -> None:
    file = machine.write(".claude/settings.json", VOID)
    done = machine.call("doctor", "claude-code")
    assert done.code == 1
    assert done.out.splitlines() == [
        "error    claude-code   event-casing",
        f"         {file}:1",
        "         Claude Code has no event `stop`, so nothing under it ever runs",
        "         fix: write `Stop`",
        "1 error; 1 hook file of 1 agent examined.",
        "Claude Code: 0 hooks are active here: nothing is protected",
        "  not active: hookline is not installed in Claude Code here",
        "    next: hookline install claude-code",
    ]


def test_warnings_and_notes_exit_with_0(machine: Machine) -> None:
    machine.write(".claude/settings.json", OPEN)
    done = machine.call("doctor", "claude-code")
    assert done.code == 0
    assert "warning  claude-code   guard-fails-open" in done.out
    assert "1 warning; 1 hook file" in done.out


def test_a_pipe_gets_no_colour(machine: Machine) -> None:
    machine.write(".claude/settings.json", VOID)
    assert "\x1b" not in machine.run("doctor").out


def test_json_has_every_finding_the_counts_and_the_files(machine: Machine) -> None:
    file = machine.write(".claude/settings.json", VOID)
    done = machine.call("doctor", "claude-code", "--json")
    assert done.code == 1
    assert done.json == {
        "findings": [
            {
                "id": "event-casing",
                "dialect": "claude-code",
                "severity": "error",
                "file": str(file),
                "line": 1,
                "what": "Claude Code has no event `stop`, so nothing under it ever runs",
                "fix": "write `Stop`",
            }
        ],
        "protection": [{"dialect": "claude-code", "hooks": 0, "active": False, "coverage": []}],
        "counts": {"error": 1, "warning": 0, "note": 0},
        "files": {"claude-code": [str(file)]},
    }


def test_another_project_can_be_named(machine: Machine) -> None:
    other = machine.base / "other"
    (other / ".claude").mkdir(parents=True)
    (other / ".claude/settings.json").write_text(VOID)
    assert machine.call("doctor").code == 0
    done = machine.call("doctor", "--project", "../other", "--json")
    assert done.code == 1
    assert done.json["findings"][0]["file"] == str(other / ".claude/settings.json")


def test_a_file_without_a_fixed_place_can_be_named(machine: Machine) -> None:
    text = "agents:\n  root:\n    hooks:\n      stop:\n        - {type: command, command: ./x.sh}\n"
    machine.write("agent.yaml", text)
    assert machine.call("doctor", "docker-agent").code == 0
    done = machine.call("doctor", "docker-agent", "--file", "agent.yaml")
    assert done.code == 1
    assert "script-missing" in done.out


def test_a_platform_that_does_not_exist_is_a_mistake_of_the_command_line(
    machine: Machine,
) -> None:
    done = machine.call("doctor", "gemni")
    assert done.code == 2
    assert "no platform is called `gemni`; did you mean `gemini`?" in done.err
    assert "known: basecoat" in machine.call("doctor", "xyzzy").err


def test_what_fails_in_here_is_shown_to_whoever_debugs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hookline.dialects.cursor import doctor
    from hookline.dialects.gemini.files import GeminiFiles

    def fall(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(doctor, "findings", fall)
    assert "not-examined" in machine.call("doctor", "cursor").out
    with pytest.raises(ZeroDivisionError):
        machine.call("--debug", "doctor", "cursor")
    monkeypatch.setattr(GeminiFiles, "places", fall)
    with pytest.raises(ZeroDivisionError):
        machine.call("--debug", "doctor", "gemini")


def test_nothing_is_written_and_no_program_is_started(machine: Machine) -> None:
    """Reading only: also no client that could be asked, and no state home."""
    mark = machine.base / "started"
    machine.write("bin/codex", f"#!/bin/sh\ntouch {mark}\n", 0o755)
    machine.write("guard.sh", f"#!/bin/sh\ntouch {mark}\n", 0o755)
    machine.write(".claude/settings.json", FINE.replace("true", "./guard.sh"))
    machine.write(".codex/hooks.json", FINE.replace("true", "./guard.sh"))
    before = sorted(machine.base.rglob("*"))
    machine.call("doctor", PATH=f"{machine.project}/bin:/usr/bin:/bin")
    assert sorted(machine.base.rglob("*")) == before


def test_control_characters_in_a_file_do_not_reach_the_terminal(machine: Machine) -> None:
    machine.write(".claude/settings.json", VOID.replace("stop", "\\u001b[31mx"))
    done = machine.call("doctor", "claude-code")
    assert done.code == 1
    assert "\x1b" not in done.out


def test_the_help_says_what_the_exit_code_means(machine: Machine) -> None:
    out = " ".join(machine.call("doctor", "--help").out.split())
    assert "Exits with 1 when there is an error" in out
    assert "No hook is run and nothing written" in out
