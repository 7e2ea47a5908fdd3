"""How daemons come, stay and go, each in a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic

import pytest

from hookline.daemon.lifecycle import find_home
from support.serving import Daemons, Talk, children, eventually, request

ENDED = 20


def waiting(place: Daemons, go: Path) -> Talk:
    """A client whose event runs until the file is there."""
    before = place.status()
    talk = place.connect().send(request({"do": "wait", "for": str(go)}))
    eventually(
        lambda: (found := place.status()) and found.running == (before and before.running) + 1
    )
    return talk


def test_it_answers_and_leaves_nothing_when_it_goes(place: Daemons) -> None:
    process = place.running(idle=0.4)
    assert place.ask(b"{}").text == b"%d {}" % process.pid
    assert place.ask({"do": "say", "bytes": 5}) == ("R", b"xxxxx", b"e", 2)
    assert process.wait(ENDED) == 0
    assert not place.dir.exists()
    assert "started, version" in place.log
    assert "nothing was asked for 0.4 s" in place.log


def test_events_keep_it_from_going(place: Daemons, tmp_path: Path) -> None:
    process = place.running(idle=0.4)
    talk = waiting(place, tmp_path / "go")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    (tmp_path / "go").touch()
    assert talk.answer().kind == "R"
    assert process.wait(ENDED) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_told_to_end_it_finishes_what_runs(
    place: Daemons, tmp_path: Path, number: signal.Signals
) -> None:
    process = place.running()
    talk, idle = waiting(place, tmp_path / "go"), place.connect()
    process.send_signal(number)
    eventually(lambda: not place.dir.exists())
    with pytest.raises(FileNotFoundError):
        place.connect()
    assert idle.send(request(b"{}")).answer().kind == "B"
    assert process.poll() is None
    (tmp_path / "go").touch()
    assert talk.answer().text.startswith(b"%d " % process.pid)
    assert process.wait(ENDED) == 0


def test_told_twice_it_ends_what_runs(place: Daemons) -> None:
    process = place.running()
    talk = place.connect().send(request({"do": "run", "argv": ["sleep", "600"]}))
    eventually(lambda: children(process.pid))
    process.terminate()
    eventually(lambda: not place.dir.exists())
    process.terminate()
    # A refusal would say that nothing has run, and the client would not count another attempt.
    assert talk.answer().kind == ""
    assert process.wait(ENDED) == 0


def test_what_takes_longer_than_it_may_is_ended(place: Daemons) -> None:
    process = place.running(grace=0.2)
    talk = place.connect().send(request({"do": "run", "argv": ["sleep", "600"]}))
    child = eventually(lambda: children(process.pid))[0]
    process.terminate()
    assert talk.answer().kind == ""
    assert process.wait(ENDED) == 0
    assert not os.path.exists(f"/proc/{child}")


def test_one_that_is_stuck_ends_and_says_where_it_was(place: Daemons) -> None:
    process = place.running(stuck=1.0)
    talk = place.connect().send(request({"do": "block", "secret": "hidden"}))
    assert process.wait(ENDED) == 1
    assert talk.answer().kind == ""
    assert "Timeout (0:00:01)!" in place.log
    assert "in respond" in place.log
    assert "hidden" not in place.log
    # Its place is free.
    assert place.helper(b"{}").answer().kind == "R"
    assert eventually(place.status).pid == place.processes[1].pid


def test_one_that_only_waits_is_not_stuck(place: Daemons, tmp_path: Path) -> None:
    process = place.running(stuck=0.5)
    talk = waiting(place, tmp_path / "go")
    process.terminate()  # nor is it while it finishes
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    (tmp_path / "go").touch()
    assert talk.answer().kind == "R"
    assert process.wait(ENDED) == 0
    assert "Timeout" not in place.log


def test_a_new_daemon_may_come_while_the_old_one_finishes(place: Daemons, tmp_path: Path) -> None:
    old = place.running()
    talk = waiting(place, tmp_path / "go")
    old.terminate()
    eventually(lambda: not place.dir.exists())
    new = place.running()
    assert place.ask(b"{}").text == b"%d {}" % new.pid
    (tmp_path / "go").touch()
    assert talk.answer().text.startswith(b"%d " % old.pid)
    assert old.wait(ENDED) == 0
    assert place.ask(b"{}").text == b"%d {}" % new.pid


def test_only_one_stays(place: Daemons) -> None:
    first = place.running()
    second = place.start()
    assert second.wait(ENDED) == 1
    assert place.ask(b"{}").text == b"%d {}" % first.pid


def test_a_helper_answers_its_client_and_stays(place: Daemons) -> None:
    talk = place.helper(b"{}")
    assert talk.answer().text == b"%d {}" % place.processes[0].pid
    talk.close()
    found = eventually(place.status)
    assert found.pid == place.processes[0].pid
    assert place.ask(b"{}").text == b"%d {}" % found.pid


def test_a_helper_takes_the_place_while_its_own_event_runs(place: Daemons, tmp_path: Path) -> None:
    talk = place.helper({"do": "wait", "for": str(tmp_path / "go")})
    found = eventually(place.status)
    assert place.ask(b"{}").text == b"%d {}" % found.pid
    (tmp_path / "go").touch()
    assert talk.answer().kind == "R"


def test_a_helper_with_a_daemon_beside_it_answers_and_goes(place: Daemons, tmp_path: Path) -> None:
    daemon = place.running()
    # However long its event takes: its client has nobody else.
    talk = place.helper({"do": "wait", "for": str(tmp_path / "go")}, grace=0.1)
    eventually(lambda: talk.next().kind == "K")
    (tmp_path / "go").touch()
    while (said := talk.next()).kind == "K":
        pass
    assert said.text.startswith(b"%d " % place.processes[1].pid)
    assert place.processes[1].wait(ENDED) == 1
    assert place.ask(b"{}").text == b"%d {}" % daemon.pid


def test_a_helper_that_is_not_to_stay_answers_and_goes(place: Daemons) -> None:
    assert place.helper(b"{}", stays=False).answer().kind == "R"
    assert place.processes[0].wait(ENDED) == 1
    assert not place.dir.exists()
    assert not place.log


@pytest.mark.skipif(sys.platform != "linux", reason="the system has to say when it was started")
def test_the_time_of_a_helpers_client_counts_from_before_the_helper_was_there(
    place: Daemons,
) -> None:
    ours, theirs = socket.socketpair()
    place.start(home=None, fd=0, stdin=theirs)
    began = monotonic()
    theirs.close()
    with closing(Talk(ours)) as talk:
        eventually(lambda: monotonic() > began + 0.3)
        words = ("hook", "canonical", "--home", place.home)
        talk.send(request({"do": "age"}, *words, spent=5000))
        assert float(talk.answer().text) > 5.25
        # What it asks later has waited for nobody.
        talk.send(request({"do": "age"}, *words))
        assert float(talk.answer().text) < 5.0


@pytest.mark.parametrize(
    "words", [("hook", "x"), ("hook", "x", "--home"), ("hook", "x", "--home", "state")]
)
def test_a_helper_without_a_home_answers_and_goes(place: Daemons, words: tuple[str, ...]) -> None:
    assert place.helper(b"{}", words=words).answer().kind == "R"
    assert place.processes[0].wait(ENDED) == 1
    assert not place.dir.exists()


def test_a_helper_answers_a_client_of_another_version_and_goes(place: Daemons) -> None:
    """Nobody else can: the client chose this interpreter, and its version has no daemon here."""
    assert place.helper(b"{}", fields={"version": "0.0.1"}).answer().kind == "R"
    assert place.processes[0].wait(ENDED) == 1


def test_a_helper_ends_with_a_client_that_asks_nothing(place: Daemons) -> None:
    talk = place.helper()
    talk.close()
    assert place.processes[0].wait(ENDED) is not None


def test_a_helper_in_a_home_that_cannot_be_used_answers_and_goes(
    place: Daemons, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    words = ("hook", "x", "--home", str(tmp_path / "file/home"))
    if os.path.isdir(f"/run/user/{os.getuid()}"):
        pytest.skip("the directory of the socket is not in the home here")
    assert place.helper(b"{}", words=words).answer().kind == "R"
    assert place.processes[0].wait(ENDED) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("helper", [False, True])
def test_it_starts_clean(
    place: Daemons, helper: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LD_PRELOAD_OF_A_REPOSITORY", "1")
    monkeypatch.chdir(tmp_path)
    ours, theirs = os.pipe()
    if helper:
        said = place.helper({"do": "self"}, inherits=(theirs,)).answer()
    else:
        place.running(inherits=(theirs,))
        said = place.ask({"do": "self"})
    os.close(theirs)
    assert os.read(ours, 1) == b""  # an agent that waits for the end of a pipe gets it
    os.close(ours)
    found = json.loads(said.text)
    assert set(found["env"]) <= {"PATH", "LANG", "HOME"}
    assert (found["cwd"], found["umask"], found["leads"]) == ("/", 0o077, True)
    assert found["standard"][0] == "/dev/null"
    soft, hard = found["limit"]
    assert soft == min(hard, 65_536)
    assert found["standard"][1:] == ["/dev/null"] * 2


def test_what_libraries_print_is_nowhere(place: Daemons) -> None:
    place.running()
    place.ask({"do": "print", "text": "of any event, and holding anything"})
    assert "started, version" in place.log
    assert "holding anything" not in place.log


def test_a_change_of_the_package_ends_it_after_the_next_answer(
    place: Daemons, tmp_path: Path
) -> None:
    package = tmp_path / "_version.py"
    package.write_text("1")
    process = place.running(package=str(package))
    assert place.ask(b"{}").kind == "R"
    package.write_text("another")

    def gone() -> bool:
        # It looks once a second at most, and only when somebody asks; whoever does is answered.
        if place.dir.exists():
            with suppress(FileNotFoundError):
                assert place.ask(b"{}").kind == "R"
        return process.poll() is not None

    eventually(gone)
    assert process.returncode == 0
    assert "hookline has changed on the disk" in place.log


def test_status_says_what_there_is_to_know(place: Daemons, tmp_path: Path) -> None:
    process = place.running(limits={"at_once": 2})
    place.ask({"session_id": "one"})
    talks = [waiting(place, tmp_path / "go")]
    talks.append(place.connect().send(request({"do": "wait", "for": str(tmp_path / "go")})))
    # Ours and the one that asks; it takes a moment to hear that earlier ones have gone.
    found = eventually(
        lambda: (now := place.status()) and now.waiting == 1 and now.connections == 3 and now
    )
    assert (found.pid, found.running, found.answered) == (process.pid, 1, 1)
    assert found.sessions == 2
    assert found.home == place.home
    assert found.socket == f"{place.dir}/daemon.sock"
    assert not found.stopping
    assert 0 < found.memory < 1 << 30
    (tmp_path / "go").touch()
    assert [talk.answer().kind for talk in talks] == ["R", "R"]


def test_questions_about_the_daemon_do_not_keep_it(place: Daemons) -> None:
    process = place.running(idle=0.5)
    eventually(lambda: process.poll() is not None or (place.status(), None)[1])
    assert process.returncode == 0


def test_an_event_that_fails_is_written_down(place: Daemons) -> None:
    place.running()
    assert place.ask({"do": "fail"}).kind == ""
    assert "RuntimeError: this is how it fails" in place.log
    assert place.ask(b"{}").kind == "R"


@pytest.mark.parametrize(
    ("argv", "home"),
    [
        (("hook", "x", "--home", "/h"), "/h"),
        (("hook", "x", "--config", "--home", "--home", "/h"), "/h"),
        (("hook", "--home", "/a", "x", "--home", "/h"), "/h"),
        (("hook", "--home", "/a", "x", "--home", "h"), None),
        (("hook", "--home", "/a", "x", "--home"), None),
        (("hook", "x", "--home", "h"), None),
        (("hook", "x"), None),
        ((), None),
    ],
)
def test_the_home_is_what_the_command_line_says(argv: tuple[str, ...], home: str | None) -> None:
    assert find_home(argv) == home
