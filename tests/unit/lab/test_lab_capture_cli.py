"""``hookline lab capture`` and ``hookline lab drift`` as a person runs them, with a very small agent."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.clients.claude_code import CLIENT
from support.cli import Machine
from support.tiny_agent import put_agent

PINNED = CLIENT.package.version


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    there = Machine(tmp_path, capfdbinary)
    put_agent(tmp_path / "bin")
    there.env["PATH"] = f"{tmp_path / 'bin'}:{there.env['PATH']}"
    return there


def recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Every recording in a directory by its name."""
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def write(folder: Path, event: str, **payload: Any) -> None:
    """A recording as `hookline lab capture` writes it."""
    folder.mkdir(exist_ok=True)
    made = {
        "client": "claude-code",
        "version": folder.name,
        "recorded": "2026-11-16",
        "event": event,
        "scenario": "basic",
        "scenarios": ["basic"],
        "payload": payload,
    }
    (folder / f"{event}.json").write_text(json.dumps(made), encoding="utf-8")


def test_payloads_are_recorded_with_where_they_are_from_and_nothing_of_the_machine(
    machine: Machine,
) -> None:
    done = machine.call("lab", "capture", "claude-code", "--out", "new", "--scenario", "resume")

    assert done.code == 0, done.err
    assert "4 payloads of 2 events" in done.out
    assert "2 shapes of 2 events are in new" in done.out
    assert "never seen: SessionStart," in done.out
    found = recorded(machine.project / "new")
    assert list(found) == ["PostToolUse-Bash-resume", "PreToolUse-Bash-resume"]
    bash = found["PreToolUse-Bash-resume"]
    assert (bash["client"], bash["version"]) == ("claude-code", PINNED)
    assert bash["recorded"]
    assert (bash["scenario"], bash["scenarios"]) == ("resume", ["resume"])
    assert bash["payload"]["tool_input"]["command"] == "echo before"
    assert bash["payload"]["cwd"] == "/home/dev/project"
    assert "ANTHROPIC_API_KEY" in bash["env_names"]
    assert "VERSION" in bash["env_added"], "the very small agent sets it, and nobody gave it that"
    assert "ANTHROPIC_API_KEY" not in bash["env_added"]
    everything = json.dumps(found)
    assert "sk-ant-" not in everything
    assert str(machine.base) not in everything
    assert "/hl-" not in everything


def test_a_session_that_ends_badly_is_said_and_what_was_recorded_is_kept(machine: Machine) -> None:
    # The very small agent has no tool to write with, and ends when it is asked to.
    done = machine.call("lab", "capture", "claude-code", "--out", "new", "--scenario", "basic")
    assert done.code == 1
    assert done.out.startswith("failed  basic")
    assert "exit code 1: " in done.out
    assert "PreToolUse-Bash" in recorded(machine.project / "new")


def test_a_program_gets_what_was_played_as_data(machine: Machine) -> None:
    words = ("--out", "new", "--scenario", "effort", "--scenario", "directory", "--json")
    done = machine.call("lab", "capture", "claude-code", *words)
    assert done.code == 0, done.err
    assert done.json["version"] == PINNED
    assert [each["scenario"] for each in done.json["played"]] == ["effort", "directory"]
    assert done.json["shapes"] == {"PreToolUse": 1, "PostToolUse": 1}
    kept = recorded(machine.project / "new")["PreToolUse-Bash-effort"]
    assert kept["scenarios"] == ["effort", "directory"]


def test_nothing_else_is_written_where_the_person_is(machine: Machine) -> None:
    machine.call("lab", "capture", "claude-code", "--out", "new", "--scenario", "basic")
    assert sorted(os.listdir(machine.project)) == [".git", "new"]
    assert not list(machine.person.iterdir())


def test_a_directory_with_something_in_it_is_not_written_to(machine: Machine) -> None:
    machine.write("new/notes.txt", "mine")
    done = machine.call("lab", "capture", "claude-code", "--out", "new", "--scenario", "basic")
    assert done.code != 0
    assert "`new` is not empty" in done.err
    assert os.listdir(machine.project / "new") == ["notes.txt"]


def test_a_scenario_that_does_not_exist_is_named_with_the_nearest(machine: Machine) -> None:
    done = machine.call("lab", "capture", "claude-code", "--scenario", "basics")
    assert done.code == 2
    assert "did you mean `basic`?" in done.err


def test_a_client_that_calls_no_hook_leaves_no_directory(machine: Machine) -> None:
    lines = ("#!/bin/sh", '[ "$1" = --version ] && echo 9.9.9 && exit 0', "echo no >&2", "exit 3")
    silent = machine.write("silent", "\n".join(lines), 0o755)
    words = ("--client", str(silent), "--out", "new", "--scenario", "basic")
    done = machine.call("lab", "capture", "claude-code", *words)
    assert done.code != 0
    assert "called no hook" in done.err
    assert "its last words: no" in done.err
    assert not (machine.project / "new").exists()


def test_no_difference_ends_with_0_and_a_difference_with_1(machine: Machine) -> None:
    old, same, new = (machine.project / name for name in ("1", "2", "3"))
    write(old, "Stop", a="x")
    write(same, "Stop", a="y")
    write(new, "Stop", a=1, b=True)

    done = machine.call("lab", "drift", "1", "2")
    assert (done.code, done.out) == (0, "claude-code 1 → 2\nNo difference.\n")

    done = machine.call("lab", "drift", "1", "3")
    assert done.code == 1
    assert done.out.splitlines() == [
        "claude-code 1 → 3",
        "new field          Stop b: flag",
        "changed type       Stop a: was text, is number",
        "2 differences.",
    ]


def test_a_program_gets_the_differences_as_data(machine: Machine) -> None:
    write(machine.project / "1", "Stop", a="x")
    write(machine.project / "2", "Stop", a="x", b=1)
    done = machine.call("lab", "drift", "1", "2", "--json")
    assert done.code == 1
    assert done.json["differences"] == [
        {"kind": "new field", "event": "Stop", "field": "b", "now": "number"}
    ]


def test_without_an_old_directory_what_hookline_was_built_on_is_the_old_one(
    machine: Machine,
) -> None:
    write(machine.project / "2", "Stop", a="x")
    done = machine.call("lab", "drift", "2", "--json")
    assert {"kind": "new field", "event": "Stop", "field": "a", "now": "text"} in done.json[
        "differences"
    ]
    # Some shapes take a person to provoke, and were recorded with an older version.
    assert PINNED in done.json["was"].split(", ")


def test_effects_that_changed_are_differences_too(machine: Machine) -> None:
    write(machine.project / "1", "Stop")
    write(machine.project / "2", "Stop")
    machine.write("old.json", '{"lines": [{"id": "deny", "state": "ok"}]}')
    machine.write("new.json", '{"lines": [{"id": "deny", "state": "broken"}]}')
    done = machine.call("lab", "drift", "1", "2", "--effects", "old.json", "new.json")
    assert done.code == 1
    assert "changed effect     deny: was ok, is broken" in done.out


def test_recordings_of_a_client_nobody_knows_need_an_old_directory(machine: Machine) -> None:
    machine.write(
        "x/Stop.json", '{"client": "other", "version": "1", "event": "Stop", "payload": {}}'
    )
    done = machine.call("lab", "drift", "x")
    assert done.code != 0
    assert "name OLD as well" in done.err
