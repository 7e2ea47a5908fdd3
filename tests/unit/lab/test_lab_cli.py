"""``hookline lab run``: a person's hooks tried on an agent, without a model and without a trace."""

import json
import os
import re
import shutil
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import pytest

from hookline.lab.clients.claude_code import CLIENT
from support.cli import Machine
from support.tiny_agent import put_agent

PINNED = CLIENT.package.version

CONFIG = """\
version: 1
hooks:
  - name: no secrets
    on: pre_tool_use
    match: {tool: shell, command: "touch secret*"}
    deny: Secrets stay secret.
  - name: judged by a script
    on: pre_tool_use
    match: {tool: shell, command: "touch judged*"}
    run: ./hooks/judge.sh
"""
JUDGE = """\
#!/bin/sh
. ./hooks/words.sh
echo "$WORDS" >&2
exit 2
"""
SCRIPT = """\
prompt: Tidy up.
files: {README.md: hello}
turns:
  - say: I begin.
    do: [{shell: touch secret.txt}]
  - do: [{shell: "touch open.txt; echo MK_open"}]
  - say: Done.
"""


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    there = Machine(tmp_path, capfdbinary)
    there.write("session.yaml", SCRIPT)
    put_agent(tmp_path / "bin")
    there.env["PATH"] = f"{tmp_path / 'bin'}:{there.env['PATH']}"
    return there


def test_a_person_sees_what_was_denied_what_ran_and_what_changed(machine: Machine) -> None:
    machine.write("hookline.yaml", CONFIG)
    machine.write("hooks/judge.sh", JUDGE, 0o755)
    done = machine.call("lab", "run", "claude-code", "--script", "session.yaml")
    assert done.code == 0, done.err
    denied, ran = (line for line in done.out.splitlines() if " Bash " in line)
    assert denied.startswith("denied ")
    assert "touch secret.txt" in denied
    assert ran.startswith("ran ")
    assert "told: Secrets stay secret." in done.out
    assert "told: MK_open" in done.out
    assert "added         open.txt" in done.out
    assert f"claude-code {PINNED}" in done.out
    assert "ended with exit code 0" in done.out
    assert "\x1b[" not in done.out


def test_a_program_gets_the_same_as_data(machine: Machine) -> None:
    machine.write("hookline.yaml", CONFIG)
    machine.write("hooks/judge.sh", JUDGE, 0o755)
    done = machine.call("lab", "run", "claude-code", "--script", "session.yaml", "--json")
    report = json.loads(done.out)["report"]
    assert [call["state"] for call in report["calls"]] == ["denied", "ran"]
    assert report["changed"] == {"open.txt": "added"}
    assert report["age"] == "same"
    assert report["asked"] == 3
    assert {"event": "pre_tool_use", "verdict": "deny"}.items() <= report["events"][0].items()


def test_nothing_is_written_into_the_project_or_the_home_and_no_room_is_left(
    machine: Machine,
) -> None:
    machine.write("hookline.yaml", CONFIG)
    machine.write("hooks/judge.sh", JUDGE, 0o755)
    before = sorted(machine.base.rglob("*"))
    with TemporaryDirectory(prefix="t-") as temporary:  # pytest's own is too long for a room
        done = machine.run(
            "lab", "run", "claude-code", "--script", "session.yaml", TMPDIR=temporary
        )
        assert os.listdir(temporary) == []
    assert done.code == 0, done.err
    assert sorted(machine.base.rglob("*")) == before


def test_scripts_that_the_config_names_come_along_and_others_when_they_are_brought(
    machine: Machine,
) -> None:
    machine.write("hookline.yaml", CONFIG)
    machine.write("hooks/judge.sh", JUDGE, 0o755)
    machine.write("hooks/words.sh", "WORDS='judged MK_judge'\n")
    machine.write("session.yaml", "prompt: Go.\nturns: [{do: [{shell: touch judged.txt}]}]\n")
    words = ("lab", "run", "claude-code", "--script", "session.yaml", "--json")
    without = machine.call(*words).json["report"]
    assert without["calls"][0]["state"] == "denied"
    assert "MK_judge" not in without["calls"][0]["told"]
    brought = machine.call(*words, "--bring", "hooks/words.sh").json["report"]
    assert "MK_judge" in brought["calls"][0]["told"]
    assert brought["changed"] == {}


def test_another_config_can_be_tried_and_the_persons_own_holds_too(machine: Machine) -> None:
    machine.write("hookline.yaml", "version: 1\nhooks: []\n")
    machine.write("strict.yaml", CONFIG.partition("  - name: judged")[0])
    machine.user_file.parent.mkdir(parents=True)
    own = CONFIG.partition("  - name: judged")[0].replace("secret*", "open*")
    machine.user_file.write_text(own, encoding="utf-8")
    words = ("lab", "run", "claude-code", "--script", "session.yaml", "--json")
    report = machine.call(*words, "--config", "strict.yaml").json["report"]
    assert [call["state"] for call in report["calls"]] == ["denied", "denied"]
    report = machine.call(*words).json["report"]
    assert [call["state"] for call in report["calls"]] == ["ran", "denied"]


def test_a_room_that_is_kept_is_named(machine: Machine) -> None:
    done = machine.call("lab", "run", "claude-code", "--script", "session.yaml", "--keep", "--json")
    kept = Path(done.json["kept"])
    try:
        assert (kept / "project/open.txt").exists()
        assert (kept / "project/README.md").read_text(encoding="utf-8") == "hello"
    finally:
        shutil.rmtree(kept)


def test_a_client_that_never_asks_the_model_is_no_session(machine: Machine) -> None:
    broken = machine.write(
        "claude", "#!/bin/sh\n[ $1 = --version ] && echo 9.9.9 || echo bad luck >&2\n", 0o755
    )
    done = machine.call(
        "lab", "run", "claude-code", "--script", "session.yaml", "--client", str(broken)
    )
    assert done.code == 1
    assert "claude-code 9.9.9 (newer than the version known best)" in done.out
    assert "the model was asked 0 times" in done.out
    assert "bad luck" in done.out


def test_a_variable_is_passed_on_only_by_name(machine: Machine) -> None:
    text = "prompt: Go.\nturns: [{do: [{shell: 'echo \"<$TOKEN_A$TOKEN_B>\"'}]}]\n"
    machine.write("session.yaml", text)
    words = ("lab", "run", "claude-code", "--script", "session.yaml", "--json", "--env", "TOKEN_A")
    report = machine.call(*words, TOKEN_A="mine", TOKEN_B="secret").json["report"]
    assert report["calls"][0]["told"].strip() == "<mine>"
    done = machine.call(*words, "--env", "TOKEN_C", TOKEN_A="mine")
    assert done.code == 1
    assert "--env TOKEN_C: there is no such variable" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_breaking_off_in_the_middle_leaves_no_process_and_no_room(
    machine: Machine, number: signal.Signals
) -> None:
    seen = machine.base / "seen"
    command = f"echo $$ $PWD > {seen}.new; mv {seen}.new {seen}; sleep 600"
    machine.write("session.yaml", f"prompt: Go.\nturns: [{{do: [{{shell: '{command}'}}]}}]\n")
    with machine.start("lab", "run", "claude-code", "--script", "session.yaml") as program:
        deadline = monotonic() + 60
        while not seen.exists():
            assert program.poll() is None
            assert monotonic() < deadline
            sleep(0.02)
        program.send_signal(number)
        assert program.wait(60) != 0
    pid, project = seen.read_text(encoding="utf-8").split()
    assert not os.path.exists(f"/proc/{pid}")
    assert not os.path.exists(os.path.dirname(project))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("claude-cod",), "no client is called `claude-cod`"),
        (("claude-code", "--client", "/no/such"), "there is no client at /no/such"),
        (("claude-code", "--client", "x", "--pinned"), "--client and --pinned"),
    ],
)
def test_mistakes_are_named(machine: Machine, words: tuple[str, ...], said: str) -> None:
    done = machine.call("lab", "run", *words, "--script", "session.yaml")
    assert done.code in {1, 2}
    assert said in done.err


def test_without_a_client_the_ways_to_one_are_named(machine: Machine) -> None:
    (machine.base / "bin/claude").unlink()
    done = machine.call("lab", "run", "claude-code", "--script", "session.yaml")
    assert done.code == 1
    assert "no `claude` is on the PATH" in done.err
    assert "--client" in done.err
    assert "--pinned" in done.err


def test_the_script_in_the_documentation_plays_as_it_says(machine: Machine) -> None:
    page = (Path(__file__).parents[3] / "docs/lab.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```yml\n(.*?)^```", page, re.S | re.M)
    machine.write("session.yaml", script)
    rule = "on: pre_tool_use, match: {tool: shell, command: 'rm *'}, deny: Nothing is removed here."
    machine.write("hookline.yaml", f"version: 1\nhooks: [{{name: keep, {rule}}}]\n")
    done = machine.call("lab", "run", "claude-code", "--script", "session.yaml")
    for line in (
        "ran           Bash ls\n              told: README.md\n                    hookline.yaml\n",
        "denied        Bash rm -rf build\n              told: ",
        "no file of the project changed\n",
        "the model was asked 3 times\n",
    ):
        assert line in page
        assert line in done.out
    assert "Nothing is removed here." in done.out
