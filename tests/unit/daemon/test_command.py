"""``hookline daemon``: what a person sees of it, and who may end it."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline._version import __version__
from hookline.cli import _serve
from hookline.daemon import control
from hookline.daemon.instance import claim, find_holder, find_run_dir
from hookline.model.errors import HooklineError
from support.cli import Done, Machine
from support.person import command_line
from support.serving import Daemons, Talk, daemons, eventually, request

DENY = "version: 1\nhooks:\n  - {name: all, on: pre_tool_use, deny: Nothing goes.}\n"
EVENT = {"event": "pre_tool_use", "session_id": "s", "tool": {"name": "shell", "command": "ls"}}


class Person:
    """Somebody at a machine whose daemon is ended with the test."""

    def __init__(self, machine: Machine, place: Daemons) -> None:
        self.machine, self.place = machine, place

    def daemon(self, *words: str, **env: str) -> Done:
        return self.machine.run("daemon", *words, **env)

    def end(self) -> None:
        self.place.kill()
        held = find_holder(self.place.home, __version__)
        if held is not None:
            os.kill(held.pid, signal.SIGCONT)
            os.kill(held.pid, signal.SIGKILL)
            eventually(lambda: find_holder(self.place.home, __version__) is None)


@pytest.fixture
def person(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Iterator[Person]:
    machine = Machine(tmp_path, capfdbinary)
    with daemons(machine.state) as place:
        found = Person(machine, place)
        try:
            yield found
        finally:
            found.end()


def test_without_a_daemon_status_says_so(person: Person) -> None:
    done = person.daemon("status")
    assert (done.code, done.out) == (
        1,
        "no daemon is running; it starts by itself with the next event\n",
    )
    done = person.daemon("status", "--json")
    assert (done.code, done.json) == (1, {"daemon": "none", "pid": None, "version": __version__})
    done = person.daemon("stop")
    assert (done.code, done.out) == (0, "no daemon is running\n")
    assert person.daemon("logs").out == ""


def test_it_is_started_looked_at_and_stopped(person: Person) -> None:
    started = person.daemon("start", "--json", "--idle", "120")
    assert started.code == 0, started.err
    pid = started.json["pid"]
    assert (started.json["daemon"], started.json["idle"]) == ("running", 120)
    again = person.daemon("start", "--json")
    assert again.json["pid"] == pid
    shown = person.daemon("status")
    assert shown.code == 0
    assert f"running: process {pid}" in shown.out
    assert f"socket {find_run_dir(str(person.machine.state), __version__)}/daemon.sock" in shown.out
    stopped = person.daemon("stop", "--yes", "--json", HOOKLINE_TRUST="all")
    assert (stopped.code, stopped.json) == (0, {"stopped": True, "pid": pid, "killed": False})
    assert person.daemon("status").code == 1
    assert not person.place.dir.exists()


@pytest.mark.parametrize(
    ("words", "env", "why"),
    [
        ((), {}, "there is no terminal here"),
        (("--yes",), {}, "there is no terminal here"),
        ((), {"HOOKLINE_TRUST": "all"}, "there is no terminal here"),
        (("--yes",), {"CLAUDECODE": "1", "HOOKLINE_TRUST": "all"}, "an agent runs this"),
    ],
)
def test_only_a_person_stops_it(
    person: Person, words: tuple[str, ...], env: dict[str, str], why: str
) -> None:
    process = person.place.running()
    command = command_line("daemon", "stop", *words)
    done = subprocess.run(
        command,
        env={**person.machine.env, **env},
        input=b"y\n",
        capture_output=True,
        start_new_session=True,  # away from the terminal that the tests may run in
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert why in done.stderr.decode()
    assert process.poll() is None


def test_one_that_does_not_answer_is_named_and_can_be_stopped(person: Person) -> None:
    process = person.place.running()
    process.send_signal(signal.SIGSTOP)
    shown = person.daemon("status")
    assert shown.code == 1
    assert f"process {process.pid} is the daemon, and does not answer" in shown.out
    assert person.daemon("status", "--json").json["daemon"] == "silent"
    assert person.daemon("stop", "--yes", HOOKLINE_TRUST="all").code == 0
    assert process.wait(30) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who listens")
def test_a_process_that_only_has_the_daemons_number_is_not_ended(person: Person) -> None:
    """As in a container that shares the home: there the daemon has another number."""
    person.place.running()
    with subprocess.Popen(["sleep", "600"]) as stranger:
        lock = person.place.dir / "lock"
        lock.write_text(json.dumps({"pid": stranger.pid, "version": __version__, "started": 0}))
        done = person.daemon("stop", "--yes", HOOKLINE_TRUST="all")
        assert stranger.poll() is None
        stranger.kill()
    assert done.code == 1
    assert "is not that one here" in done.err


def test_a_process_that_only_the_lock_file_names_is_not_ended(person: Person) -> None:
    held = claim(person.place.home, __version__)
    assert held is not None
    with subprocess.Popen(["sleep", "600"]) as stranger:
        told = {"pid": stranger.pid, "version": __version__, "started": 0}
        (Path(held.path) / "lock").write_text(json.dumps(told))
        done = person.machine.call("daemon", "stop", "--yes", HOOKLINE_TRUST="all")
        assert stranger.poll() is None
        stranger.kill()
    held.release()
    assert done.code == 1
    assert f"the lock file names process {stranger.pid}, and nothing else says" in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a lock")
def test_one_whose_socket_is_gone_is_known_by_its_lock(person: Person) -> None:
    process = person.place.running()
    process.send_signal(signal.SIGSTOP)  # so that it does not mend it
    (person.place.dir / "daemon.sock").unlink()
    assert person.daemon("stop", "--yes", HOOKLINE_TRUST="all").code == 0
    assert process.wait(30) == 0


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_one_that_does_not_hear_is_killed_and_that_is_said(
    person: Person, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(control, "_PATIENCE", 0.5)
    process = person.place.running(stuck=600)
    person.place.connect().send(request({"do": "block"}))
    eventually(lambda: person.place.status() is None)
    done = person.machine.call("daemon", "stop", "--yes", *words, HOOKLINE_TRUST="all")
    assert done.code == 0
    if words:
        assert done.json == {"stopped": True, "pid": process.pid, "killed": True}
    else:
        assert done.out == f"killed process {process.pid}: it was told to end and did not\n"
    assert process.wait(30) == -signal.SIGKILL


def test_the_log_is_shown_and_followed(person: Person) -> None:
    process = person.place.running()
    lines = person.daemon("logs", "--json").lines
    assert lines[0]["pid"] == process.pid
    assert lines[0]["text"].startswith("started, version")
    assert person.daemon("logs", "-n", "0").out == ""
    following = person.machine.start("daemon", "logs", "--follow", "-n", "0")
    try:
        assert following.stdout is not None
        # What it misses because it had not begun to look, it gets the next time.
        os.set_blocking(following.stdout.fileno(), False)
        eventually(
            lambda: person.place.ask({"do": "fail"}) and (following.stdout.read() or b"")  # type: ignore[union-attr]
        )
        log = Path(person.place.home, "logs/daemon.log")
        log.rename(f"{log}.1")
        log.write_text("after the change\n")
        said = b""
        while b"after the change" not in said:
            said += eventually(following.stdout.read)
    finally:
        following.kill()
        following.communicate()


def real(person: Person, payload: object) -> tuple[subprocess.Popen[bytes], Talk]:
    """The real daemon's own process, started by a client for this event."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "hookline", "daemon", "serve", "--fd", "0", "--idle", "60"],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )
    theirs.close()
    person.place.processes.append(process)
    return process, Talk(ours).send(asked(person, payload))


def asked(person: Person, payload: object) -> bytes:
    words = ("hook", "canonical", *person.machine.own)
    return request(payload, *words, cwd=str(person.machine.project), env=person.machine.env)


def test_real_events_are_answered_as_without_it(person: Person) -> None:
    person.machine.user_file.parent.mkdir(parents=True)
    person.machine.user_file.write_text(DENY)
    plain = person.machine.run("hook", "canonical", *person.machine.own, stdin=json.dumps(EVENT))
    process, talk = real(person, EVENT)
    first = talk.answer()
    eventually(person.place.status)
    second = person.place.connect().send(asked(person, EVENT)).answer()
    for said in (first, second):
        assert (said.kind, said.code) == ("R", plain.code)
        assert verdict(said.text) == verdict(plain.out) == ("deny", "Nothing goes.")
    talk.close()
    found = person.daemon("status", "--json").json
    assert (found["pid"], found["answered"]) == (process.pid, 2)


def verdict(text: bytes | str) -> tuple[str, str]:
    said: dict[str, Any] = json.loads(text)
    return said["verdict"], str(said["reason"]).split("\n", 1)[0].split(" [")[0]


def test_a_broken_payload_closes_the_gate_through_the_daemon_too(person: Person) -> None:
    _, talk = real(person, b'{"event": "pre_tool_use", ')
    said = talk.answer()
    assert b"could not judge" in said.text + said.stderr
    talk.close()


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--fd",),
        ("--fd", "zero"),
        ("--home", "relative"),
        ("--home", "/h", "--fd", "0"),
        ("--home", "/h", "--idle", "0"),
        ("--once",),
        ("--home", "/h", "--once"),
        ("--home", "/h", "--processes", "2"),
        ("--port", "80"),
    ],
)
def test_a_daemon_is_served_in_no_other_words(words: tuple[str, ...]) -> None:
    with pytest.raises(HooklineError, match="usage: hookline daemon serve"):
        _serve.main(words)
