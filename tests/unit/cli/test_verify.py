"""``hookline verify``: a very small agent obeys or does not, and nothing is claimed unseen."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.processes.strays import Mark
from support.cli import Done, Machine
from support.tiny_agent import put_agent

PINNED = CLIENT.package.version

GUARDS = ("deny", "crash", "killed", "hung")
CONTROLS = ("control-shell", "control-asked")
ONLY = tuple(word for id in GUARDS for word in ("--only", id))


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


@pytest.fixture
def agent(machine: Machine) -> Path:
    path = put_agent(machine.base / "bin")
    machine.env["PATH"] = f"{machine.base / 'bin'}:{machine.env['PATH']}"
    return Path(path)


@pytest.fixture
def temporary() -> Iterator[Path]:
    with TemporaryDirectory(prefix="t-") as folder:  # pytest's own is too long for a room
        yield Path(folder)


def program(machine: Machine, text: str) -> str:
    """A client that does this when it is asked for more than its version."""
    path = machine.base / "client"
    version = 'case "$*" in *--version*) echo 9.9.9; exit;; esac'
    path.write_text(f"#!/bin/sh\n{version}\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def states(done: Done) -> dict[str, str]:
    return {line["id"]: line["state"] for line in done.json["lines"]}


def detail(done: Done, id: str) -> str:
    found: list[dict[str, Any]] = [line for line in done.json["lines"] if line["id"] == id]
    return str(found[0]["detail"])


def change(machine: Machine, agent: Path, old: str, new: str) -> None:
    """Have the agent do one thing otherwise."""
    source = Path(__file__).parents[2] / "support/tiny_agent.py"
    text = source.read_text(encoding="utf-8")
    assert text.count(old) == 1
    changed = Path(machine.base, "changed_agent.py")
    changed.write_text(text.replace(old, new), encoding="utf-8")
    agent.write_text(agent.read_text().replace(str(source.resolve()), str(changed)))


@pytest.mark.usefixtures("agent")
def test_an_agent_that_obeys_passes_line_by_line(machine: Machine) -> None:
    done = machine.call("verify", "claude-code", *ONLY, "--json")
    assert states(done) == dict.fromkeys((*CONTROLS, *GUARDS), "ok"), done.out
    assert done.code == 0
    assert done.json["client"] == "claude-code"
    assert done.json["version"] == PINNED
    assert done.json["known"] == "same"
    assert done.json["passed"] is True


@pytest.mark.usefixtures("agent")
def test_people_get_a_table_that_is_plain_in_a_pipe(machine: Machine) -> None:
    done = machine.call("verify", "claude-code", "--only", "deny")
    assert done.code == 0, done.err
    head, control, deny, why, asked, yes, sum_ = done.out.splitlines()
    assert head.startswith(f"Claude Code {PINNED}, the version proven here")
    assert control.split()[:2] == ["ok", "control-shell"]
    assert deny.split()[:2] == ["ok", "deny"]
    assert why.strip() == "its file was not written, and the model was told why"
    assert asked.split()[:2] == ["ok", "control-asked"]
    assert yes.strip() == "the person was asked, said yes, and it ran"
    assert sum_ == "3 ok"
    assert "\x1b[" not in done.out
    assert done.err == ""


@pytest.mark.usefixtures("agent")
def test_whoever_watches_in_a_terminal_sees_colours_and_what_is_going_on(machine: Machine) -> None:
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "hookline", "verify", "claude-code", "--only", "deny"],
        cwd=machine.project,
        env={**machine.env, "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    with suppress(OSError):  # how a terminal says that nobody writes to it any more
        while chunk := os.read(ours, 4096):
            said += chunk
    os.close(ours)
    assert running.wait(60) == 0, said
    assert f"Claude Code {PINNED}: tools, context and output".encode() in said
    assert b"\x1b[32m" in said


def test_a_newer_client_is_named_as_such(machine: Machine) -> None:
    put_agent(machine.base / "bin", version="9.0.0")
    done = machine.call(
        "verify", "claude-code", "--only", "deny", "--client", str(machine.base / "bin/claude")
    )
    assert done.code == 0, done.err
    assert f"9.0.0, newer than the {PINNED} proven here: the lines below are" in done.out


def test_an_agent_that_calls_no_hook_turns_the_lines_red_and_leaves_the_control(
    machine: Machine, agent: Path
) -> None:
    change(machine, agent, 'decision, reason = hooks("PreToolUse", call)', 'decision = "pass"')
    done = machine.call("verify", "claude-code", *ONLY, "--json")
    assert done.code == 1
    assert states(done) == dict.fromkeys(CONTROLS, "ok") | dict.fromkeys(GUARDS, "failed")
    assert "pre_tool_use never reached hookline for it" in detail(done, "deny")
    assert done.json["passed"] is False


DECIDED = 'decision, reason = hooks("PreToolUse", call)\n'


@pytest.mark.usefixtures("agent")
def test_what_has_to_be_asked_is_asked_and_runs_after_the_yes(machine: Machine) -> None:
    done = machine.call("verify", "claude-code", "--only", "ask", "--only", "pass", "--json")
    assert states(done) == dict.fromkeys(("control-asked", "ask", "pass"), "ok"), done.out


def test_a_deny_said_as_ask_turns_every_guard_red(machine: Machine, agent: Path) -> None:
    """Where nobody is there, an ask looks like a deny: only a person who says yes shows it."""
    change(
        machine,
        agent,
        DECIDED,
        DECIDED + '    decision = {"deny": "ask"}.get(decision, decision)\n',
    )
    done = machine.call("verify", "claude-code", *ONLY, "--json")
    assert done.code == 1
    assert states(done) == dict.fromkeys(CONTROLS, "ok") | dict.fromkeys(GUARDS, "failed")
    assert "the person was asked about it and said yes; it ran" in detail(done, "deny")


@pytest.mark.parametrize(
    ("if_what", "red"),
    [
        ("True", {"control-asked": "failed", "pass": "failed", "ask": "not observed"}),
        ('"additionalContext" in reason', {"pass": "failed"}),
    ],
    ids=["every pass", "context"],
)
def test_a_pass_said_as_allow_turns_a_line_red(
    machine: Machine, agent: Path, if_what: str, red: dict[str, str]
) -> None:
    allow = f'    decision = "allow" if decision == "pass" and {if_what} else decision\n'
    change(machine, agent, DECIDED, DECIDED + allow)
    if "reason" in if_what:
        text = Path(machine.base, "changed_agent.py")
        text.write_text(text.read_text().replace('return "pass", ""', 'return "pass", ran.stdout'))
    done = machine.call("verify", "claude-code", "--only", "ask", "--only", "pass", "--json")
    assert done.code == 1
    assert states(done) == dict.fromkeys(("control-asked", "ask", "pass"), "ok") | red
    assert "it ran, and the person was not asked" in detail(done, "pass")


def test_an_ask_said_as_deny_turns_its_line_red(machine: Machine, agent: Path) -> None:
    change(
        machine,
        agent,
        DECIDED,
        DECIDED + '    decision = {"ask": "deny"}.get(decision, decision)\n',
    )
    done = machine.call("verify", "claude-code", "--only", "ask", "--json")
    assert states(done) == {"control-asked": "ok", "ask": "failed"}
    assert "it did not run, and the person was not asked" in detail(done, "ask")


def test_a_person_whom_nobody_can_ask_leaves_the_guards_unobserved(
    machine: Machine, agent: Path
) -> None:
    change(
        machine,
        agent,
        "    decision, reason = hooks",
        "    if PERSON:\n        sys.exit(3)\n    decision, reason = hooks",
    )
    done = machine.call("verify", "claude-code", "--only", "deny", "--json")
    assert done.code == 1
    asked = {"control-asked": "not observed", "deny": "not observed"}
    assert states(done) == {"control-shell": "ok"} | asked
    assert detail(done, "deny").startswith("before a person who says yes: ")


def test_an_agent_that_ignores_what_hookline_says_is_told_apart(
    machine: Machine, agent: Path
) -> None:
    change(machine, agent, 'if decision == "deny":', 'if decision == "never":')
    done = machine.call("verify", "claude-code", "--only", "deny", "--json")
    assert states(done) == dict.fromkeys(CONTROLS, "ok") | {"deny": "failed"}
    assert "hookline said deny, and the client did otherwise" in detail(done, "deny")


@pytest.mark.usefixtures("agent")
def test_a_rule_of_ones_own_that_stops_everything_leaves_the_lines_unobserved(
    machine: Machine,
) -> None:
    machine.write(
        "hookline.yaml",
        "version: 1\n"
        "hooks: [{name: no shell, on: pre_tool_use, match: {tool: shell}, deny: Never.}]\n",
    )
    done = machine.call("verify", "claude-code", "--only", "deny", "--json")
    assert done.code == 1
    assert states(done)["control-shell"] == states(done)["deny"] == "not observed"
    assert "a hook of your own said deny: `no shell`" in detail(done, "control-shell")
    assert "proves nothing while its control is not ok (control-shell)" in detail(done, "deny")


@pytest.mark.usefixtures("agent")
def test_ones_own_rules_are_in_force_beside_the_canaries_and_stay_as_they_are(
    machine: Machine, temporary: Path
) -> None:
    text = "version: 1\ndisable: [gone]\nhooks: [{on: session_start, context: Mine.}]\n"
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(text, encoding="utf-8")
    machine.write("hookline.yaml", "version: 1\nhooks: [{on: stop, name: s, run: 'true'}]\n")
    done = machine.run(
        "verify", "claude-code", "--only", "deny", "--keep", "--json", TMPDIR=str(temporary)
    )
    assert done.code == 0, done.out
    room = Path(done.json["kept"])
    assert (room / "home/.config/hookline/hookline.yaml").read_text() == text
    assert (room / "project/hookline.yaml").exists()
    assert machine.user_file.read_text() == text


@pytest.mark.usefixtures("agent")
def test_nothing_is_written_outside_the_room_and_the_room_is_gone(
    machine: Machine, temporary: Path
) -> None:
    before = sorted(machine.base.rglob("*"))
    done = machine.run("verify", "claude-code", "--only", "deny", TMPDIR=str(temporary))
    assert done.code == 0, done.err
    assert os.listdir(temporary) == []
    assert sorted(machine.base.rglob("*")) == before


def test_without_a_client_it_says_how_to_get_one(machine: Machine) -> None:
    done = machine.call("verify", "claude-code", PATH="/usr/bin:/bin")
    assert done.code == 2
    assert "no `claude` is on the PATH" in done.err
    assert "--pinned" in done.err
    assert done.out == ""


def test_a_program_is_told_too_when_nothing_could_be_run(machine: Machine) -> None:
    done = machine.call("verify", "claude-code", "--json", PATH="/usr/bin:/bin")
    assert done.code == 2
    assert done.json["lines"] == []
    assert "no `claude` is on the PATH" in done.json["error"]


def test_a_client_that_is_no_program_is_refused(machine: Machine) -> None:
    plain = machine.write("claude", "text")
    done = machine.call("verify", "claude-code", "--client", str(plain))
    assert done.code == 2
    assert f"{plain} is not executable" in done.err
    done = machine.call("verify", "claude-code", "--client", str(plain) + "x")
    assert done.code == 2
    assert "there is no client at" in done.err


def test_a_client_that_cannot_even_say_its_version_could_not_be_run(machine: Machine) -> None:
    path = machine.base / "client"
    path.write_text("#!/bin/sh\necho 'Node 22 is needed' >&2\nexit 1\n", encoding="utf-8")
    path.chmod(0o755)
    done = machine.call("verify", "claude-code", "--client", str(path))
    assert done.code == 2
    assert "--version` failed with exit code 1: Node 22 is needed" in done.err


def test_a_client_that_crashes_at_its_start_could_not_be_run(machine: Machine) -> None:
    client = program(machine, "echo 'MK_crash: no such library' >&2; exit 7")
    done = machine.call("verify", "claude-code", "--client", client)
    assert done.code == 2
    assert "ended with exit code 7 before it asked its model anything: MK_crash" in done.err


def test_a_client_that_ends_without_a_word_proves_nothing(machine: Machine) -> None:
    client = program(machine, "exit 0")
    done = machine.call("verify", "claude-code", "--client", client, *ONLY, "--json")
    assert done.code == 1
    assert set(states(done).values()) == {"not observed"}


def test_a_client_that_hangs_is_cut_off_and_nothing_is_claimed(machine: Machine) -> None:
    client = program(machine, "exec sleep 600")
    words = ("--client", client, "--timeout", "2", *ONLY, "--json")
    done = machine.call("verify", "claude-code", *words)
    assert done.code == 1
    assert set(states(done).values()) == {"not observed"}
    assert "it took longer than 2 seconds" in detail(done, "control-shell")


def test_a_client_that_hangs_at_the_end_proves_nothing_by_what_it_did_before(
    machine: Machine, agent: Path
) -> None:
    # Only once it has done everything does it hang, and only there may the limit find it.
    agent.write_text(agent.read_text().replace("exec ", "") + "exec sleep 600\n")
    slow = agent.read_text().replace(
        "#!/bin/sh\n", '#!/bin/sh\ncase "$*" in *--version*) echo 1.0; exit;; esac\n'
    )
    agent.write_text(slow)
    done = machine.call("verify", "claude-code", "--timeout", "20", "--only", "deny", "--json")
    assert done.code == 1
    assert states(done)["control-shell"] == states(done)["deny"] == "not observed"
    # Its effects were all there.
    for id in ("control-shell", "deny"):
        assert detail(done, id).startswith("the client was ended: it took longer than 20 seconds")


@pytest.mark.usefixtures("agent")
def test_a_temporary_directory_that_cannot_be_written_to_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        # /proc takes no new directory, not even from root.
        patch.setattr(tempfile, "tempdir", "/proc")
        done = machine.call("verify", "claude-code", "--only", "deny")
    assert done.code == 2
    assert "cannot make a temporary directory" in done.err
    assert "set TMPDIR to a directory" in done.err


@pytest.mark.usefixtures("agent")
def test_a_config_that_hookline_does_not_take_is_no_verification(machine: Machine) -> None:
    machine.write("hookline.yaml", "version: 1\nhooks: [{on: nowhere, deny: x}]\n")
    done = machine.call("verify", "claude-code", "--only", "deny")
    assert done.code == 2
    assert "nowhere" in done.err


def test_a_platform_that_cannot_be_driven_is_named_with_those_that_can(machine: Machine) -> None:
    done = machine.call("verify", "cursor")
    assert done.code == 2
    assert "cursor cannot be run without a person at it" in done.err
    assert "claude-code" in done.err


def test_an_unknown_platform_or_line_is_named_with_the_nearest(machine: Machine) -> None:
    done = machine.call("verify", "claude-cod")
    assert done.code == 2
    assert "claude-code" in done.err
    done = machine.call("verify", "claude-code", "--only", "denny")
    assert done.code == 2
    assert "deny" in done.err


def test_two_ways_to_name_a_client_are_one_too_many(machine: Machine) -> None:
    done = machine.call("verify", "claude-code", "--client", "x", "--pinned")
    assert done.code == 2
    assert "one names your client, the other ours" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_neither_a_process_nor_a_file(
    machine: Machine, temporary: Path, number: signal.Signals
) -> None:
    begun = machine.base / "begun"
    client = program(
        machine, f"echo $HOOKLINE_LAB > {begun}.new; mv {begun}.new {begun}; exec sleep 600"
    )
    words = ("verify", "claude-code", "--client", client, "--only", "deny")
    running = subprocess.Popen(
        [sys.executable, "-m", "hookline", *words],
        cwd=machine.project,
        env={**machine.env, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = monotonic() + 60
        while not begun.exists():
            assert monotonic() < deadline, "the client was never started"
            assert running.poll() is None
            sleep(0.02)
        running.send_signal(number)
        assert running.wait(60) != 0
    finally:
        running.kill()
        running.wait()
    assert os.listdir(temporary) == []
    mark = begun.read_text(encoding="utf-8").strip()
    assert list(Mark(mark).bearers()) == []


@pytest.mark.usefixtures("agent")
def test_settings_of_ones_own_that_are_not_in_force_are_named(machine: Machine) -> None:
    words = ("verify", "claude-code", "--only", "in-force", "--json")
    done = machine.call(*words)
    assert states(done) == {"in-force": "skipped"}
    assert done.code == 0
    assert "`hookline install claude-code`" in detail(done, "in-force")
    assert machine.call("install", "claude-code").code == 0
    assert machine.call(*words).json["lines"][0] == {
        "id": "in-force",
        "title": "hookline is active in your own settings",
        "state": "ok",
        "detail": str(machine.person / ".claude/settings.json"),
        "seconds": 0.0,
    }
    settings = machine.person / ".claude/settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "disableAllHooks": True}))
    off = machine.call(*words)
    assert states(off) == {"in-force": "failed"}
    assert off.code == 1
