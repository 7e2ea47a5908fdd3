"""Processes beside the daemon, each a real one: whose client is whose, and what becomes of it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from hookline.daemon.crew import Crew
from hookline.daemon.status import Status
from hookline.daemon.watching import Reader
from support.serving import Daemons, Talk, eventually, request

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nobody is beside it elsewhere")

SESSIONS = [f"session-{number}" for number in range(12)]
ENDED = 20


def pass_time(seconds: float) -> None:
    """Not to wait for anything: nothing is to happen meanwhile."""
    end = monotonic() + seconds
    eventually(lambda: monotonic() > end)


def gone(pid: int) -> bool:
    """Whether a process has ended, whoever has to hear of it."""
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:4]
    except OSError:
        return True


class Shared:
    """A daemon with others beside it."""

    def __init__(self, place: Daemons) -> None:
        self.place = place
        self.daemon: subprocess.Popen[bytes]

    def start(self, beside: int = 1, **options: Any) -> None:
        eagerly = options.pop("eagerly", {})
        self.daemon = self.place.running(limits={"beside": beside}, beside=eagerly, **options)

    @property
    def status(self) -> Status:
        found = self.place.status(pid=self.daemon.pid)
        assert found is not None
        return found

    def who(self, session: str) -> int:
        """Which process answers; as a client does, it asks again when one goes without a word."""
        said = eventually(lambda: (found := self.place.ask({"session_id": session})).kind and found)
        assert session.encode() in said.text
        return int(said.text.split()[0])

    def all(self) -> dict[str, int]:
        return {session: self.who(session) for session in SESSIONS}

    def crowd(self) -> None:
        """All of them at once."""
        talks = [self.place.connect() for _ in SESSIONS]
        for session, talk in zip(SESSIONS, talks, strict=True):
            talk.send(request({"session_id": session}))
        for talk in talks:
            talk.answer()
            talk.close()

    def sharing(self, processes: int = 2) -> dict[str, int]:
        """Who answers whom, once so many do."""

        def shared() -> dict[str, int]:
            self.crowd()
            # Some may have been asked before the last one came.
            return self.all() if len(set(self.all().values())) == processes else {}

        found = eventually(shared)
        assert isinstance(found, dict)
        return found

    def elsewhere(self) -> str:
        """A session that another process answers."""
        return next(name for name, pid in self.sharing().items() if pid != self.daemon.pid)

    def waiting(self, go: Path) -> tuple[Talk, str]:
        """A client of another process whose event runs until the file is there."""
        session = self.elsewhere()
        asked = {"session_id": session, "do": "wait", "for": str(go)}
        talk = self.place.connect().send(request(asked))
        eventually(lambda: self.status.running == 1)
        return talk, session


class Clock:
    """How long there was nothing to do, as the test says; the rest nobody asks for here."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def idle(self) -> float:
        return self.seconds

    def add(self, number: int, reader: Reader) -> None:
        """Nobody is heard."""

    def remove(self, number: int) -> None:
        """Nobody is heard."""

    def close(self) -> None:
        """Nobody is heard."""


@pytest.mark.parametrize(
    ("idle", "sessions", "at_once", "comes"),
    [
        (0.2, 2, 2, True),
        (0.3, 2, 2, False),  # of a second: there is not much to do
        (0.2, 1, 2, False),
        (0.2, 2, 1, False),
    ],
)
def test_another_comes_when_several_sessions_ask_at_once_and_there_is_no_time_left(
    monkeypatch: pytest.MonkeyPatch, idle: float, sessions: int, at_once: int, comes: bool
) -> None:
    now, clock, started = [1000.0], Clock(), list[socket.socket]()
    monkeypatch.setattr("hookline.daemon.crew.monotonic", lambda: now[0])

    def start(theirs: socket.socket) -> subprocess.Popen[bytes]:
        started.append(theirs)
        raise OSError("there is none")

    with closing(asyncio.new_event_loop()) as loop:
        crew = Crew(loop, clock, start=start, most=1, note=lambda text: None)
        now[0], clock.seconds = 1001.0, idle
        crew.consider(sessions=sessions, at_once=at_once)
    assert bool(started) is comes


@pytest.fixture
def shared(place: Daemons) -> Iterator[Shared]:
    made = Shared(place)
    yield made
    for pid in getattr(made.place.status(), "beside", ()):
        os.kill(pid, signal.SIGCONT)


def test_sessions_are_shared_out_and_each_stays_with_one_process(shared: Shared) -> None:
    shared.start()
    first = shared.sharing()
    assert set(first.values()) == {shared.daemon.pid, *shared.status.beside}
    assert [shared.all() for _ in range(5)] == [first] * 5


def test_there_are_as_many_as_there_may_be(shared: Shared) -> None:
    shared.start(beside=2)
    found = shared.sharing(3)
    assert len(shared.status.beside) == 2
    assert shared.all() == found
    assert len(shared.status.beside) == 2


def test_without_much_to_do_nobody_comes(shared: Shared) -> None:
    shared.start(eagerly={"busy": 2.0})
    shared.crowd()
    assert set(shared.all().values()) == {shared.daemon.pid}
    assert shared.status.beside == ()


def test_one_session_alone_brings_nobody(shared: Shared) -> None:
    shared.start()
    talks = [shared.place.connect() for _ in range(20)]
    for talk in talks:
        talk.send(request({"session_id": "only-one"}))
    assert {int(talk.answer().text.split()[0]) for talk in talks} == {shared.daemon.pid}
    assert shared.status.beside == ()


def test_events_that_wait_for_one_another_bring_nobody(shared: Shared) -> None:
    shared.start()
    assert {*shared.all().values(), *shared.all().values()} == {shared.daemon.pid}
    assert shared.status.beside == ()


def test_where_nobody_may_come_the_daemon_answers_all(shared: Shared) -> None:
    shared.start(beside=0)
    shared.crowd()
    assert set(shared.all().values()) == {shared.daemon.pid}


def test_a_large_request_is_answered_where_its_session_is(shared: Shared) -> None:
    shared.start()
    session = shared.elsewhere()
    payload = json.dumps({"session_id": session}).encode() + b"\n" + b"x" * 3_000_000
    assert int(shared.place.ask(payload).text.split()[0]) in shared.status.beside


def test_a_request_that_comes_in_pieces_is_heard_whole(shared: Shared) -> None:
    shared.start()
    raw = request({"session_id": shared.elsewhere(), "rest": "y" * 500})
    talk = shared.place.connect()
    for at in range(0, len(raw), 97):
        talk.send(raw[at : at + 97])
    assert b"yyyy" in talk.answer().text


def test_a_client_that_asks_again_is_answered_again(shared: Shared) -> None:
    shared.start()
    pids, talk = shared.sharing(), shared.place.connect()
    for session in SESSIONS:
        talk.send(request({"session_id": session}))
        assert int(talk.answer().text.split()[0]) in set(pids.values())


def test_a_client_that_was_there_before_goes_over_between_two_requests(shared: Shared) -> None:
    shared.start()
    talks = {session: shared.place.connect() for session in SESSIONS}

    def answered_by() -> set[int]:
        for session, talk in talks.items():
            talk.send(request({"session_id": session}))
        return {int(talk.answer().text.split()[0]) for talk in talks.values()}

    assert answered_by() == {shared.daemon.pid}
    eventually(lambda: len(answered_by()) == 2)


def test_what_others_have_done_is_in_the_sums(shared: Shared) -> None:
    shared.start()
    session = shared.elsewhere()
    before = eventually(lambda: shared.status if shared.status.answered else None).answered
    for _ in range(5):
        shared.who(session)
    eventually(lambda: shared.status.answered >= before + 5)
    assert shared.status.memory > 2 * (10 << 20)


def test_when_one_is_killed_its_clients_ask_elsewhere_and_the_daemon_answers(
    shared: Shared, tmp_path: Path
) -> None:
    shared.start()
    talk, session = shared.waiting(tmp_path / "go")
    (pid,) = shared.status.beside
    os.kill(pid, signal.SIGKILL)
    # Without a word: only then the client counts another attempt on its event.
    assert talk.answer().kind == ""
    assert eventually(lambda: shared.who(session)) == shared.daemon.pid
    assert shared.status.beside == ()
    assert f"process {pid} beside this one has ended unasked" in shared.place.log
    assert gone(pid)


def test_one_that_was_killed_is_replaced_after_a_while(shared: Shared) -> None:
    shared.start(eagerly={"after_failure": 0.1})
    shared.sharing()
    (pid,) = shared.status.beside
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: (shared.crowd(), shared.status.beside)[1] not in {(), (pid,)})
    shared.sharing()


def test_one_that_is_frozen_is_killed_and_its_sessions_are_answered(shared: Shared) -> None:
    shared.start(eagerly={"silence": 3.0})
    session = shared.elsewhere()
    (pid,) = shared.status.beside
    os.kill(pid, signal.SIGSTOP)
    talk = shared.place.connect().send(request({"session_id": session}))
    assert talk.answer().kind == ""
    assert shared.who(session) == shared.daemon.pid
    assert "says nothing and is killed" in shared.place.log
    assert gone(pid)


def test_one_that_is_stuck_ends_and_the_daemon_answers(shared: Shared) -> None:
    shared.start(stuck=3.0)
    session = shared.elsewhere()
    talk = shared.place.connect().send(request({"session_id": session, "do": "block"}))
    assert talk.answer().kind == ""
    assert shared.who(session) == shared.daemon.pid
    assert "Timeout (0:00:03)!" in shared.place.log


@pytest.mark.parametrize("trouble", ["missing", "broken"])
def test_where_none_can_be_started_the_daemon_answers_all(shared: Shared, trouble: str) -> None:
    shared.start(eagerly={trouble: True})
    said = "could be started" if trouble == "missing" else "has ended unasked"
    eventually(lambda: (shared.crowd(), said in shared.place.log)[1])
    assert set(shared.all().values()) == {shared.daemon.pid}
    # And it is not tried with every event.
    assert shared.place.log.count(said) == 1


def test_it_goes_when_there_is_little_to_do_and_finishes_what_it_has(
    shared: Shared, tmp_path: Path
) -> None:
    shared.start(eagerly={"calm_for": 1.5, "silence": 3.0})
    talk, session = shared.waiting(tmp_path / "go")
    (pid,) = shared.status.beside
    eventually(lambda: shared.who(session) == shared.daemon.pid)
    # It is asked how it is meanwhile, and says so.
    pass_time(4.5)
    assert not gone(pid)
    before = shared.status.answered
    (tmp_path / "go").touch()
    assert int(talk.answer().text.split()[0]) == pid
    eventually(lambda: gone(pid))
    assert "unasked" not in shared.place.log
    # What it has done is not forgotten with it.
    eventually(lambda: shared.status.beside == ())
    assert shared.status.answered > before


def test_told_to_end_the_daemon_waits_for_what_others_run(shared: Shared, tmp_path: Path) -> None:
    shared.start()
    talk, _ = shared.waiting(tmp_path / "go")
    (pid,) = shared.status.beside
    shared.daemon.terminate()
    eventually(lambda: not shared.place.dir.exists())
    assert shared.daemon.poll() is None
    (tmp_path / "go").touch()
    assert int(talk.answer().text.split()[0]) == pid
    assert shared.daemon.wait(ENDED) == 0
    assert gone(pid)


def test_one_that_goes_by_itself_leaves_the_others_all_the_time_they_need(
    shared: Shared, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.touch()
    shared.start(grace=0.1, package=str(package))
    talk, _ = shared.waiting(tmp_path / "go")
    (pid,) = shared.status.beside
    package.write_text("another one")
    # Noticed although nothing is asked of the daemon itself.
    eventually(lambda: not shared.place.dir.exists())
    pass_time(1.0)
    assert shared.daemon.poll() is None
    (tmp_path / "go").touch()
    assert int(talk.answer().text.split()[0]) == pid
    assert shared.daemon.wait(ENDED) == 0
    assert gone(pid)


def test_what_others_are_asked_keeps_the_daemon_from_going(shared: Shared, tmp_path: Path) -> None:
    shared.start(idle=3.0)
    session = shared.elsewhere()
    (pid,) = shared.status.beside
    end = monotonic() + 5.0
    eventually(lambda: shared.who(session) == pid and monotonic() > end)
    talk = shared.place.connect().send(
        request({"session_id": session, "do": "wait", "for": str(tmp_path / "go")})
    )
    pass_time(5.0)
    assert shared.daemon.poll() is None
    (tmp_path / "go").touch()
    assert talk.answer().kind == "R"
    assert shared.daemon.wait(ENDED) == 0


def test_told_twice_the_daemon_ends_what_others_run(shared: Shared) -> None:
    shared.start()
    asked = {"session_id": shared.elsewhere(), "do": "run", "argv": ["sleep", "600"]}
    talk = shared.place.connect().send(request(asked))
    eventually(lambda: shared.status.running == 1)
    (pid,) = shared.status.beside
    shared.daemon.terminate()
    eventually(lambda: not shared.place.dir.exists())
    shared.daemon.terminate()
    assert talk.answer().kind == ""
    assert shared.daemon.wait(ENDED) == 0
    assert gone(pid)


def test_what_takes_longer_than_it_may_elsewhere_is_ended_too(shared: Shared) -> None:
    shared.start(grace=0.2)
    asked = {"session_id": shared.elsewhere(), "do": "run", "argv": ["sleep", "600"]}
    talk = shared.place.connect().send(request(asked))
    eventually(lambda: shared.status.running == 1)
    (pid,) = shared.status.beside
    shared.daemon.terminate()
    assert talk.answer().kind == ""
    assert shared.daemon.wait(ENDED) == 0
    assert gone(pid)


def test_when_the_daemon_is_killed_the_others_finish_and_go(shared: Shared, tmp_path: Path) -> None:
    shared.start()
    talk, session = shared.waiting(tmp_path / "go")
    idle = shared.place.connect().send(request({"session_id": session}))
    assert idle.answer().kind == "R"
    (pid,) = shared.status.beside
    shared.daemon.kill()
    shared.daemon.wait(ENDED)
    # Nobody new is kept there, or it would never end.
    eventually(lambda: idle.send(request({"session_id": session})).answer().kind in {"B", ""})
    assert not gone(pid)
    (tmp_path / "go").touch()
    assert int(talk.answer().text.split()[0]) == pid
    eventually(lambda: gone(pid))
