"""``hookline trace``: the way of one event through its stages."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Machine

RULES = """\
version: 1
hooks:
  - {name: no, on: pre_tool_use, match: {command: "git push*"}, deny: Not this.}
  - {name: note, on: pre_tool_use, run: 'echo take care'}
"""
EVENT = ("pre_tool_use", "--tool", "shell", "--command", "git push")
PAYLOAD = json.dumps({"event": "pre_tool_use", "tool": {"name": "shell", "command": "git push"}})


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path, capfdbinary)
    machine.trust(RULES)
    return machine


def files(told: Any) -> list[str]:
    """The files of the steps, each where it comes first."""
    return list(dict.fromkeys(step["source"].rpartition(":")[0] for step in told["steps"]))


def find(told: Any, name: str) -> dict[str, Any]:
    step: dict[str, Any]
    step = next(each for each in told["steps"] if each["name"] == name)
    return step


def test_a_call_of_an_agent_is_followed_through_its_stages(machine: Machine) -> None:
    done = machine.call(
        "trace", "--json", "--", "hookline", "hook", "canonical", *machine.own, stdin=PAYLOAD
    )
    told = done.json
    assert done.code == 0
    stages = [file for file in files(told) if file != "app.py"]
    assert stages[0] == "cli/hook.py"
    assert set(stages) == {
        "cli/hook.py",
        "pipeline/answer.py",
        "pipeline/judge.py",
        "dialects/canonical/codec.py",
        "engine/engine.py",
        "handlers/rule.py",
        "handlers/command.py",
        "engine/merge.py",
    }
    assert json.loads(told["output"])["verdict"] == "deny"


def test_each_step_tells_what_went_in_and_what_came_out(machine: Machine) -> None:
    told = machine.call("trace", "--json", *EVENT).json
    decode, handle = find(told, "Canonical.decode"), find(told, "Engine.handle")
    assert decode["out"] == handle["in"] == "PreToolUse shell git push"
    assert handle["out"] == "Outcome deny + context of 2 runs"
    assert find(told, "Fixed.answer")["out"] == "Answer deny"
    assert find(told, "Command.run")["out"] == "Answer pass + context"
    assert find(told, "merge")["out"] == "Answer deny + context"
    assert all(step["ms"] >= 0 for step in told["steps"])


def test_what_runs_at_the_same_time_stands_below_who_started_it(machine: Machine) -> None:
    told = machine.call("trace", "--json", *EVENT).json
    names = [step["name"] for step in told["steps"]]
    tier = find(told, "Engine._run")
    assert find(told, "Command.run")["depth"] > tier["depth"]
    assert find(told, "Fixed.answer")["depth"] > tier["depth"]
    assert find(told, "Engine._conclude")["depth"] == tier["depth"]
    assert names.index("Engine._run") < names.index("Command.run") < names.index("merge")


def test_a_person_reads_a_tree_and_then_what_came_out(machine: Machine) -> None:
    out = machine.call("trace", *EVENT).out
    tree, _, said = out.partition("\nout\n")
    assert "Engine.handle  engine/engine.py:" in tree
    assert "→ PreToolUse shell git push" in tree
    assert "← Outcome deny + context of 2 runs" in tree
    assert said.startswith("deny   pre_tool_use        shell git push")


def test_all_of_our_functions_can_be_seen(machine: Machine) -> None:
    some = machine.call("trace", "--json", *EVENT).json
    everything = machine.call("trace", "--all", "--json", *EVENT).json
    assert len(everything["steps"]) > 3 * len(some["steps"])
    assert {"config/load.py", "processes/run.py"} <= set(files(everything))
    assert not any(file.startswith("explaining/") for file in files(everything))


def test_options_are_those_of_fire(machine: Machine) -> None:
    machine.write("other.yaml", "version: 1\n")
    told = machine.call("trace", "--json", *EVENT, "--config", "other.yaml").json
    assert find(told, "Engine.handle")["out"] == "Outcome pass of 0 runs"
    wrong = machine.call("trace", "pre_tool_use", "--no-such-option")
    assert wrong.code == 2
    assert "--no-such-option" in wrong.err


def test_python_may_be_named_instead(machine: Machine) -> None:
    call = ("python3", "-m", "hookline", "fire", *EVENT)
    told = machine.call("trace", "--json", "--", *call).json
    assert find(told, "Engine.handle")["out"].startswith("Outcome deny")


def test_only_what_has_an_event_can_be_followed(machine: Machine) -> None:
    done = machine.call("trace", "--", "hookline", "list")
    assert done.code == 2
    assert "only `hookline hook` and `hookline fire` have an event to follow" in done.err


def test_a_failure_is_told_after_the_steps(machine: Machine) -> None:
    machine.write("wrong.yaml", "version: 1\nhoks: []\n")
    done = machine.call("trace", *EVENT, "--config", "wrong.yaml")
    assert done.code == 1
    assert "cli/fire.py" in done.out
    assert "wrong.yaml:2" in done.err


def test_no_variable_of_the_environment_is_shown(machine: Machine) -> None:
    out = machine.call("trace", "--all", *EVENT, HARMLESS="canary-in-the-environment").out
    assert "canary" not in out
