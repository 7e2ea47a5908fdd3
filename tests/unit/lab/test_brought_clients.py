"""Programs that only their makers offer: the lab and `verify` take the one that a person has."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli import Machine
from support.tiny_docker_agent import put_docker_agent
from support.tiny_kodelet import put_kodelet

SESSION = """\
prompt: Tidy up.
files: {old.txt: "a secret\\n"}
turns:
  - do: [{shell: touch secret.txt}]
  - do: [{write: {path: new.txt, content: hello}}, {edit: {path: new.txt, old: hello, new: bye}}]
  - do: [{shell: cat old.txt new.txt}]
  - say: Done.
"""
CONFIG = """\
version: 1
hooks:
  - {on: pre_tool_use, match: {command: "*secret*"}, deny: Secrets stay secret.}
"""
BOTH = pytest.mark.parametrize(
    ("name", "put", "version"),
    [("docker-agent", put_docker_agent, "1.123.0"), ("kodelet", put_kodelet, "0.4.22-beta")],
)


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path, capfdbinary)
    machine.write("session.yaml", SESSION)
    machine.write("hookline.yaml", CONFIG)
    return machine


@BOTH
def test_a_session_is_played_with_the_program_that_a_person_names(
    machine: Machine, name: str, put: Callable[[Path], Path], version: str
) -> None:
    program = put(machine.base / "elsewhere")
    words = ("lab", "run", name, "--script", "session.yaml", "--client", str(program), "--json")
    done = machine.call(*words)
    assert done.code == 0, done.err
    report = done.json["report"]
    assert report["version"] == version
    assert [call["state"] for call in report["calls"]] == ["denied", "ran", "ran", "ran"]
    assert "Secrets stay secret." in report["calls"][0]["told"]
    assert "bye" in report["calls"][3]["told"]
    assert report["changed"] == {"new.txt": "added"}


@BOTH
def test_a_program_that_no_registry_has_is_not_brought_but_asked_for(
    machine: Machine, name: str, put: Callable[[Path], Path], version: str
) -> None:
    words = ("lab", "run", name, "--script", "session.yaml")
    done = machine.call(*words, "--pinned")
    assert (done.code, "in no registry" in done.err, "--client" in done.err) == (1, True, True)
    done = machine.call(*words)
    assert f"no `{name}` is on the PATH" in done.err
    assert "npm" not in done.err
    assert version.partition("-")[0] in done.err


def test_a_sub_agent_that_is_told_its_work_in_its_instructions_takes_its_own_turns(
    machine: Machine,
) -> None:
    inner = "turns: [{do: [{shell: echo %s > %s.txt}]}, {say: 'It is done.'}]"
    agents = ", ".join(
        f"{{agent: {{prompt: Make {word}., {inner % (word, word)}}}}}" for word in ("one", "two")
    )
    machine.write("session.yaml", f"prompt: Go.\nturns: [{{do: [{agents}]}}, {{say: Done.}}]\n")
    program = put_docker_agent(machine.base / "bin")
    words = ("lab", "run", "docker-agent", "--script", "session.yaml", "--client", str(program))
    report = machine.call(*words, "--json").json["report"]
    assert report["changed"] == {"one.txt": "added", "two.txt": "added"}
    assert {call["agent"] for call in report["calls"]} == {"", "Make one.", "Make two."}


@BOTH
def test_verify_shows_that_the_program_obeys(
    machine: Machine, name: str, put: Callable[[Path], Path], version: str
) -> None:
    program = put(machine.base / "bin")
    only = ("deny", "crash", "deny-write", "edit", "prompt", "ask-alone", "stop")
    words = (word for id in only for word in ("--only", id))
    done = machine.call("verify", name, "--client", str(program), "--json", *words)
    states = {line["id"]: line["state"] for line in done.json["lines"]}
    guards = ("deny", "crash", "deny-write", "edit", "prompt")
    assert {id: states[id] for id in guards} == dict.fromkeys(guards, "ok"), done.out
    assert states["ask-alone"] in {"ok", "cannot"}
    assert done.json["version"] == version


def test_verify_does_not_wait_for_a_person_whom_a_program_never_asks(machine: Machine) -> None:
    program = put_kodelet(machine.base / "bin")
    done = machine.call("verify", "kodelet", "--client", str(program), "--json", "--only", "ask")
    (line,) = (line for line in done.json["lines"] if line["id"] == "ask")
    assert line["state"] == "skipped"
    assert "Kodelet never asks a person" in line["detail"]


def test_a_guard_that_the_program_does_not_obey_fails(machine: Machine) -> None:
    program = put_docker_agent(machine.base / "bin")
    source = Path(__file__).parents[2] / "support/tiny_docker_agent.py"
    deaf = source.read_text().replace('if decision == "deny":', 'if decision == "never":')
    changed = machine.base / "deaf.py"
    changed.write_text(deaf)
    program.write_text(program.read_text().replace(str(source.resolve()), str(changed)))
    words = ("verify", "docker-agent", "--client", str(program), "--json", "--only", "deny")
    done = machine.call(*words)
    (line,) = (line for line in done.json["lines"] if line["id"] == "deny")
    assert (done.code, line["state"]) == (1, "failed")


@BOTH
def test_what_the_program_sends_its_hooks_is_recorded(
    machine: Machine, name: str, put: Callable[[Path], Path], version: str
) -> None:
    program = put(machine.base / "bin")
    words = ("lab", "capture", name, "--client", str(program), "--scenario", "failing")
    done = machine.call(*words, "--out", str(machine.base / "out"), "--json")
    assert done.out, done.err
    assert done.json["version"] == version
    found = [json.loads(path.read_bytes()) for path in (machine.base / "out").glob("*.json")]
    before = {"docker-agent": "pre_tool_use+preempt", "kodelet": "before_tool_call"}[name]
    assert before in {each["event"] for each in found}
