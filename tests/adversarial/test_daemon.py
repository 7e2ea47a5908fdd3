"""Everything that can happen to a daemon while agents wait for it; none may lose an answer."""

import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

import pytest

from hookline._version import __version__
from hookline.daemon.frames import LARGEST
from hookline.daemon.instance import claim, connect, find_holder
from support.faults import World, world
from support.serving import Daemons, children, daemons, eventually, request

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")

ENDED = 30
MB = 1 << 20


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Daemons]:
    with daemons(tmp_path / "home") as found:
        yield found


def ended(pid: int) -> bool:
    """Whether the process is gone, or only waits to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


# Coming all at once


@pytest.mark.slow
def test_of_many_helpers_at_once_all_answer_and_one_stays(place: Daemons) -> None:
    talks = [place.helper({"number": number}) for number in range(50)]
    for number, talk in enumerate(talks):
        said = talk.answer()
        assert said.kind == "R"
        assert b'{"number": %d}' % number in said.text
        talk.close()
    eventually(lambda: sum(each.poll() is None for each in place.processes) == 1, 60)
    stayed = next(each for each in place.processes if each.poll() is None)
    assert place.ask(b"{}").text == b"%d {}" % stayed.pid
    assert sum("started" in line for line in place.log.splitlines()) == 1


def test_of_many_daemons_at_once_one_stays(place: Daemons) -> None:
    for _ in range(15):
        place.start()
    eventually(lambda: sum(each.poll() is None for each in place.processes) == 1, 60)
    stayed = next(each for each in place.processes if each.poll() is None)
    assert eventually(place.status).pid == stayed.pid
    assert {each.poll() for each in place.processes} == {1, None}


def test_the_place_changes_hands_without_ever_having_two_holders(tmp_path: Path) -> None:
    """Processes that take it, remove everything and go, as fast as they can."""
    script = (
        "import sys, os\n"
        "from hookline.daemon.instance import claim, InstanceError\n"
        "taken = 0\n"
        "while taken < 60:\n"
        "    try: held = claim(sys.argv[1], '0.1.0')\n"
        "    except InstanceError as error:\n"
        "        if 'too often' in str(error): continue\n"
        "        raise\n"
        "    if held is None: continue\n"
        "    mark = os.open(sys.argv[1] + '/mark', os.O_CREAT | os.O_EXCL)\n"
        "    held.bind().close()\n"
        "    os.close(mark); os.unlink(sys.argv[1] + '/mark')\n"
        "    held.release(); taken += 1\n"
    )
    home = tmp_path / "home"
    home.mkdir()
    others = [
        subprocess.Popen(
            ["timeout", "100", sys.executable, "-c", script, str(home)], stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    try:
        for each in others:
            _, said = each.communicate(timeout=110)
            assert each.returncode == 0, said.decode()
    finally:
        for each in others:
            each.kill()
            each.communicate()
    held = claim(str(home), "0.1.0")
    assert held is not None
    held.release()


# Killed and frozen


def test_after_a_kill_the_next_helper_takes_the_place(place: Daemons) -> None:
    first = place.running()
    first.kill()
    first.wait(ENDED)
    assert place.dir.exists()
    with pytest.raises(ConnectionRefusedError):
        place.connect()
    talk = place.helper(b"{}")
    assert talk.answer().kind == "R"
    found = eventually(place.status)
    assert found.pid == place.processes[1].pid
    assert sorted(os.listdir(place.dir)) == ["daemon.sock", "lock"]


def test_a_frozen_daemon_keeps_its_place_and_a_helper_answers_meanwhile(place: Daemons) -> None:
    daemon = place.running()
    daemon.send_signal(signal.SIGSTOP)
    eventually(lambda: "T" in Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2][:3])
    silent = place.connect().send(request(b"{}"))
    silent.sock.settimeout(0.3)
    with pytest.raises(TimeoutError):
        silent.next()
    assert place.helper(b"{}").answer().text == b"%d {}" % place.processes[1].pid
    assert place.processes[1].wait(ENDED) == 1
    held = find_holder(place.home, __version__)
    assert held is not None
    assert held.pid == daemon.pid
    daemon.send_signal(signal.SIGCONT)
    silent.sock.settimeout(30)
    assert silent.answer().text == b"%d {}" % daemon.pid


def test_kills_at_any_instant_lose_no_answer(place: Daemons) -> None:
    """A client that gets no answer from the daemon gets one from a helper, and the next daemon."""
    rng = random.Random(4)
    place.running()
    for round_ in range(12):
        victim = place.processes[-1]
        talk = place.connect()
        sent = request(b'{"session_id": "s%d"}\n' % round_ + b"x" * rng.choice([10, 300_000]))
        killing = Timer(rng.random() / 200, victim.kill)
        killing.start()
        try:
            said = talk.send(sent).answer().kind
        except (AssertionError, OSError):
            said = ""
        killing.join()
        victim.wait(ENDED)
        assert said in {"", "R"}  # never a part of an answer, never another one
        helper = place.helper(b"{}")
        assert helper.answer().kind == "R"
        helper.close()
        assert eventually(place.status).pid == place.processes[-1].pid
    assert sorted(os.listdir(place.dir)) == ["daemon.sock", "lock"]


# Its files


def test_a_removed_directory_comes_back(place: Daemons) -> None:
    daemon = place.running()
    talk = place.connect()
    shutil.rmtree(place.dir)
    assert talk.send(request(b"{}")).answer().kind == "R"
    assert eventually(place.status).pid == daemon.pid
    assert place.ask(b"{}").text == b"%d {}" % daemon.pid


def test_a_removed_or_replaced_socket_comes_back(place: Daemons) -> None:
    daemon = place.running()
    (place.dir / "daemon.sock").unlink()
    assert eventually(place.status).pid == daemon.pid
    with socket.socket(socket.AF_UNIX) as other:
        (place.dir / "daemon.sock").unlink()
        before = os.getcwd()
        os.chdir(place.dir)
        other.bind("daemon.sock")
        os.chdir(before)
    assert eventually(place.status).pid == daemon.pid


def test_a_directory_opened_to_others_is_closed_again(place: Daemons) -> None:
    daemon = place.running()
    place.dir.chmod(0o777)
    assert eventually(place.status).pid == daemon.pid
    assert place.dir.stat().st_mode & 0o7777 == 0o700


def test_a_daemon_whose_place_was_taken_goes_and_leaves_the_other_alone(
    place: Daemons, tmp_path: Path
) -> None:
    old = place.running()
    talk = place.connect().send(request({"do": "wait", "for": str(tmp_path / "go")}))
    eventually(lambda: (found := place.status()) and found.running)
    old.send_signal(signal.SIGSTOP)  # so that the new one comes first
    shutil.rmtree(place.dir)
    new = place.running()
    old.send_signal(signal.SIGCONT)
    eventually(lambda: "another daemon has taken its place" in place.log)
    (tmp_path / "go").touch()
    while (said := talk.next()).kind in {"A", "K"}:
        pass
    assert said.text.startswith(b"%d " % old.pid)
    assert old.wait(ENDED) == 0
    assert place.ask(b"{}").text == b"%d {}" % new.pid


def test_a_directory_that_cannot_come_back_does_not_end_the_daemon(place: Daemons) -> None:
    daemon = place.running()
    talk = place.connect()
    shutil.rmtree(place.dir)
    place.dir.symlink_to("/")
    eventually(lambda: "clients cannot find this daemon" in place.log)
    assert talk.send(request(b"{}")).answer().kind == "R"
    place.dir.unlink()
    assert eventually(place.status).pid == daemon.pid


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_does_not_even_reach_the_socket(place: Daemons) -> None:
    place.running()
    # By its name alone: the whole path may be longer than an address can be.
    script = (
        "import os, socket, sys; os.chdir(sys.argv[1]); "
        "socket.socket(socket.AF_UNIX).connect('daemon.sock')"
    )
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script,
         str(place.dir)],
        capture_output=True,
        timeout=60,
        check=False,
    )  # fmt: skip
    assert b"PermissionError" in done.stderr


# Its clients


def test_the_hooks_of_a_client_that_is_gone_are_ended(place: Daemons) -> None:
    daemon = place.running()
    script = "trap '' TERM; sleep 600 & sleep 600"
    talks = [
        place.connect().send(request({"do": "run", "argv": ["sh", "-c", script]})) for _ in range(3)
    ]
    eventually(lambda: len(children(daemon.pid)) == 3)
    programs = children(daemon.pid)
    below = eventually(
        lambda: (
            (found := [each for pid in programs for each in children(pid)])
            and len(found) == 6
            and found
        )
    )
    for talk in talks:
        talk.close()
    eventually(lambda: all(map(ended, [*programs, *below])))
    assert eventually(lambda: (found := place.status()) and not found.running and found)
    assert place.status().abandoned == 3  # type: ignore[union-attr]


def test_half_requests_and_slow_senders_never_hold_up_the_others(place: Daemons) -> None:
    place.running()
    whole = request(b'{"do": "size"}\n' + b"x" * 50_000)
    slow = [place.connect().send(whole[:cut]) for cut in (0, 1, 5, 8, 9, 40, 1000, 49_000)]
    claims = [
        place.connect().send(b"HKL1" + LARGEST.to_bytes(4, "big") + b"x" * 1000) for _ in range(3)
    ]
    for _ in range(50):
        assert place.ask(b"{}").kind == "R"
    for cut, talk in zip((0, 1, 5, 8, 9, 40, 1000, 49_000), slow, strict=True):
        talk.send(whole[cut:])
        assert talk.answer().text == b"50015"
    assert all(talk.next().kind == "A" for talk in claims)


def test_garbage_ends_its_own_connection_only(place: Daemons) -> None:
    place.running()
    rng = random.Random(11)
    good = request({"session_id": "good"})
    for _ in range(200):
        start = rng.randrange(len(good))
        broken = good[:start] + rng.randbytes(rng.randrange(1, 30)) + good[start + 5 :]
        talk = place.connect()
        try:
            talk.send(broken)
            talk.sock.shutdown(socket.SHUT_WR)
            while talk.next().kind:
                pass
        except OSError:
            pass
        talk.close()
    assert place.ask(b"{}").kind == "R"
    found = eventually(lambda: (now := place.status()) and now.connections == 1 and now)
    assert found.running == found.waiting == 0
    assert found.held < 1000


def test_fifty_megabytes_in_and_out_while_others_are_answered(place: Daemons) -> None:
    place.running()
    large = b'{"do": "size"}\n' + b"x" * (50 * MB)
    assert place.ask(b"{}").kind == "R"
    before = eventually(place.status).memory

    def ask() -> bytes:
        return place.ask(large).text

    with ThreadPoolExecutor(3) as pool:
        sizes = [pool.submit(ask) for _ in range(3)]
        slow = place.connect().send(request({"do": "say", "bytes": 50 * MB}))
        for _ in range(20):
            assert place.ask(b"{}").kind == "R"
        assert [each.result() for each in sizes] == [b"%d" % len(large)] * 3
    assert slow.answer().text == b"x" * (50 * MB)
    assert eventually(lambda: (now := place.status()) and now.held < 1000)
    # Given back to the system, too, at the next look around.
    assert eventually(lambda: (now := place.status()) and now.memory < before + 12 * MB)


def test_more_than_fits_waits_its_turn(place: Daemons) -> None:
    place.running(limits={"held": 8 * MB})
    large = b'{"do": "size"}\n' + b"x" * (6 * MB)
    with ThreadPoolExecutor(6) as pool:
        sizes = [pool.submit(lambda: place.ask(large).text) for _ in range(6)]
        assert [each.result() for each in sizes] == [b"%d" % len(large)] * 6


def test_without_descriptors_it_waits_and_goes_on(place: Daemons) -> None:
    place.running(descriptors=48)
    crowd = []
    for _ in range(120):
        sock = connect(place.home, __version__, 10)
        sock.sendall(request(b"{}")[:10])
        crowd.append(sock)
    eventually(lambda: "no connection is accepted for a moment" in place.log)
    for sock in crowd:
        sock.close()
    assert eventually(place.status)
    assert place.ask(b"{}").kind == "R"
    assert place.log.count("no connection is accepted") == 1


def test_a_crowd_of_one_session_leaves_room_for_another(place: Daemons, tmp_path: Path) -> None:
    place.running(limits={"at_once": 4})
    go = str(tmp_path / "go")
    crowd = [
        place.connect().send(request({"do": "wait", "for": go, "session_id": "crowd"}))
        for _ in range(40)
    ]
    eventually(lambda: (now := place.status()) and now.waiting == 38)
    for _ in range(10):
        assert place.ask({"session_id": "lonely"}).kind == "R"
    Path(go).touch()
    assert {talk.answer().kind for talk in crowd} == {"R"}


def test_events_inside_events_do_not_wait_for_each_other(place: Daemons, tmp_path: Path) -> None:
    place.running(limits={"at_once": 2, "waiting": 4})
    go = str(tmp_path / "go")
    outer = [
        place.connect().send(request({"do": "wait", "for": go, "session_id": name}))
        for name in ("a", "b")
    ]
    eventually(lambda: (now := place.status()) and now.running == 2)
    inner = place.ask({"session_id": "a"}, env={"HOOKLINE_DEPTH": "1"})
    assert inner.kind == "R"
    Path(go).touch()
    assert {talk.answer().kind for talk in outer} == {"R"}


@pytest.mark.slow
def test_memory_stays_flat(place: Daemons) -> None:
    place.running()
    payloads = [
        request({"session_id": f"s{number}", "pad": "x" * 2000}, env={"N": str(number)})
        for number in range(50)
    ]

    def ask_many(count: int) -> int:
        for number in range(count):
            talk = connect(place.home, __version__, 10)
            talk.sendall(payloads[number % 50])
            while b"R" not in talk.recv(4096):
                pass
            talk.close()
        found = place.status()
        assert found
        return found.memory

    before = ask_many(4000)
    after = ask_many(16_000)
    assert after < before * 1.1
    found = eventually(lambda: (now := place.status()) and now.connections == 1 and now)
    assert found.answered == 20_000
    assert found.descriptors < 40


# Whoever started it


@pytest.fixture
def place_of_agents(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as found:
        yield found


def through(line: str) -> tuple[str, ...]:
    """A shell that becomes the client after this."""
    return ("/bin/sh", "-c", f'{line} "$@"', "sh")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ulimit -f 4000; exec", "the size of its files is limited"),
        ("ulimit -t 600; exec", "the time that it may compute is limited"),
        ("ulimit -v 4000000; exec", "its memory is limited"),
        ("exec nice -n 5", "its priority is lowered"),
    ],
)
def test_a_client_with_limits_of_its_own_leaves_no_daemon_to_others(
    place_of_agents: World, line: str, why: str
) -> None:
    place = place_of_agents
    assert place.ask("rm -rf build", through=through(line)).blocks
    eventually(lambda: f"does not stay as the daemon: {why}" in place.log)
    eventually(lambda: not place.serving())
    found = place.daemon()
    assert os.getpriority(os.PRIO_PROCESS, found.pid) == 0


def test_limits_that_a_client_could_lift_itself_are_lifted(place_of_agents: World) -> None:
    place = place_of_agents
    assert place.ask("rm -rf build", through=through("ulimit -S -f 4000; exec")).blocks
    soft, hard = resource.prlimit(eventually(place.status).pid, resource.RLIMIT_FSIZE)
    assert soft == hard == resource.getrlimit(resource.RLIMIT_FSIZE)[1]


def test_where_no_daemon_is_wanted_none_is_left(place_of_agents: World) -> None:
    place = place_of_agents
    said = place.ask("rm -rf build", through=through("HOOKLINE_NO_DAEMON=1 exec"))
    assert said.blocks
    assert not said.is_last
    eventually(lambda: not place.serving())
    assert not place.dir.exists()
    assert not place.log


def can_unshare() -> bool:
    """Whether processes can have mounts of their own here."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-m", "true"], check=False, timeout=60).returncode == 0


@pytest.mark.skipif(not can_unshare(), reason="only root has mounts of its own")
def test_one_that_sees_other_files_does_not_judge_for_us(place_of_agents: World) -> None:
    """As in a container that shares the state, and has no config of the person's."""
    place = place_of_agents
    hidden = f"mount -t tmpfs none {place.user_dir} && exec"
    inside = ("unshare", "-m", *through(hidden))
    assert not place.ask("rm -rf build", through=inside).blocks
    assert len(eventually(place.serving)) == 1
    said = place.ask("rm -rf build")
    assert said.blocks
    assert not said.is_last
    eventually(lambda: len(place.serving()) == 2)  # each has its own, and both stay


# What was begun elsewhere

SLOW = """\
version: 1
hooks:
  - name: a slow program says no
    on: pre_tool_use
    match: {command: "rm *"}
    run: "cd $HOOKLINE_PROJECT_DIR; echo $HOOKLINE_ATTEMPT >> ran; while [ ! -e go ]; do sleep 0.02; done; echo No. >&2; exit 2"
"""


def test_told_twice_in_the_middle_of_an_event_another_attempt_is_made(tmp_path: Path) -> None:
    with world(tmp_path, config=SLOW) as place:
        daemon, ran = place.daemon(), place.project / "ran"
        with place.begin() as asking:
            eventually(ran.exists)
            os.kill(daemon.pid, signal.SIGTERM)
            eventually(lambda: "SIGTERM" in place.log)
            os.kill(daemon.pid, signal.SIGTERM)
            eventually(lambda: ran.read_text().split() == ["1", "2"])
            (place.project / "go").touch()
            said = asking.said()
        assert said.blocks
        assert "No." in said.effect.reason
        rows = place.rows("session_id, attempt, verdict")
        assert (said.session, 2, "deny") in rows


GUARDS_OUTPUT = """\
version: 1
hooks:
  - {name: scrub, on: post_tool_use, on_error: block, run: "touch $HOOKLINE_PROJECT_DIR/begun; sleep 600"}
"""


@pytest.mark.slow
def test_the_time_that_a_frozen_daemon_took_is_not_given_again(tmp_path: Path) -> None:
    """The hooks' own deadline has to come before the client's, whoever had the event before."""
    with world(tmp_path, config=GUARDS_OUTPUT) as place:
        daemon, begun = place.daemon(), place.project / "begun"
        keys = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
        output = {"stdout": "not for the model", "stderr": ""}
        options = {"event": "PostToolUse", "timeout": 14, "tool_response": output, **keys}
        with place.begin("ls", **options) as asking:
            eventually(begun.exists)
            os.kill(daemon.pid, signal.SIGSTOP)
            said = asking.said()
        assert not said.is_last, said
        assert "scrub" in said.effect.reason
        assert b"not for the model" not in said.reply.stdout
