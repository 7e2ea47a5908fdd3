"""A daemon that is frozen, out of reach or not ours: the same verdict comes another way."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.faults import LIMIT, World, world
from support.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

NOBODY = 65534


def is_judged(place: World) -> bool:
    """Whether a command that is denied is denied by the rule itself, and one that is not goes on."""
    said, other = place.ask("rm -rf build"), place.ask("ls")
    assert said.blocks
    assert "Nothing is removed here." in said.effect.reason, said
    assert not other.blocks, other
    sessions = {session for (session,) in place.rows("session_id")}
    assert {said.session, other.session} <= sessions
    return True


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


# Frozen


def test_behind_a_frozen_daemon_events_are_judged_and_it_goes_on_when_it_thaws(
    place: World,
) -> None:
    daemon = place.daemon()
    os.kill(daemon.pid, signal.SIGSTOP)
    eventually(lambda: state_of(daemon.pid) == "T")
    assert is_judged(place)
    assert daemon.pid in place.serving()
    os.kill(daemon.pid, signal.SIGCONT)
    thawed = eventually(place.status)
    assert thawed.pid == daemon.pid
    assert is_judged(place)
    assert place.daemon().answered > thawed.answered
    eventually(lambda: place.serving() == [daemon.pid])


def test_a_daemon_that_freezes_in_the_middle_of_an_event_loses_no_verdict(tmp_path: Path) -> None:
    config = """\
version: 1
hooks:
  - name: a slow program says no
    on: pre_tool_use
    match: {command: "rm *"}
    run: "cd $HOOKLINE_PROJECT_DIR; touch begun; while [ ! -e go ]; do sleep 0.02; done; echo No. >&2; exit 2"
"""
    with world(tmp_path, config=config) as place:
        daemon = place.daemon()
        with place.begin() as asking:
            eventually((place.project / "begun").exists)
            os.kill(daemon.pid, signal.SIGSTOP)
            (place.project / "begun").unlink()
            eventually((place.project / "begun").exists)  # the second attempt, by another process
            (place.project / "go").touch()
            said = asking.said()
        assert said.blocks
        assert "No." in said.effect.reason
        os.kill(daemon.pid, signal.SIGCONT)
        eventually(lambda: place.serving() == [daemon.pid])
        rows = [
            row[1:]
            for row in place.rows("session_id, id, attempt, verdict")
            if row[0] == said.session
        ]
        # One event, told apart by its attempts; what became of the first nobody was told.
        assert {id for id, _, _ in rows} == {rows[0][0]}
        assert (2, "deny") in {(attempt, verdict) for _, attempt, verdict in rows}


# Its directory and its socket


def removed(place: World) -> None:
    shutil.rmtree(place.dir)


def a_file(place: World) -> None:
    shutil.rmtree(place.dir)
    place.dir.write_bytes(b"")


def a_link(place: World) -> None:
    shutil.rmtree(place.dir)
    elsewhere = place.base / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    place.dir.symlink_to(elsewhere)


def open_to_others(place: World) -> None:
    place.dir.chmod(0o755)


def without_any_right(place: World) -> None:
    place.dir.chmod(0)


def a_plain_file_for_a_socket(place: World) -> None:
    (place.dir / "daemon.sock").unlink()
    (place.dir / "daemon.sock").write_bytes(b"")


def a_directory_for_a_socket(place: World) -> None:
    (place.dir / "daemon.sock").unlink()
    (place.dir / "daemon.sock").mkdir()


def a_link_for_a_socket(place: World) -> None:
    (place.dir / "daemon.sock").unlink()
    (place.dir / "daemon.sock").symlink_to("/dev/null")


def a_dead_socket(place: World) -> None:
    (place.dir / "daemon.sock").unlink()
    with socket.socket(socket.AF_UNIX) as dead:
        bound_in(dead, place.dir)


def a_fifo_for_a_lock(place: World) -> None:
    (place.dir / "lock").unlink()
    os.mkfifo(place.dir / "lock")


def bound_in(listener: socket.socket, directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        listener.bind(f"/proc/self/fd/{handle}/daemon.sock")
    finally:
        os.close(handle)


HARMS = (
    removed, a_file, a_link, open_to_others, without_any_right, a_plain_file_for_a_socket,
    a_directory_for_a_socket, a_link_for_a_socket, a_dead_socket, a_fifo_for_a_lock,
)  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_whatever_becomes_of_the_daemons_files_events_are_judged(
    place: World, harm: Callable[[World], None]
) -> None:
    place.daemon()
    harm(place)
    assert is_judged(place)
    # And again, whether or not it has been mended meanwhile.
    assert is_judged(place)


@pytest.mark.parametrize("harm", HARMS)
def test_whatever_lies_in_the_place_before_a_daemon_events_are_judged(
    place: World, harm: Callable[[World], None]
) -> None:
    place.dir.mkdir(mode=0o700)
    (place.dir / "daemon.sock").write_bytes(b"")
    (place.dir / "lock").write_bytes(b"")
    harm(place)
    assert is_judged(place)
    assert is_judged(place)


# Somebody else in its place

IMPOSTOR = """
import os, signal, socket, sys
signal.alarm({limit})
os.chdir({directory!r})
asked = open({notes!r}, "w")
listener = socket.socket(socket.AF_UNIX)
listener.bind("daemon.sock")
os.chmod("daemon.sock", 0o777)
if {uid}:
    os.setresgid({uid}, {uid}, {uid})
    os.setresuid({uid}, {uid}, {uid})
listener.listen(16)  # whose socket it is, the system decides here
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    print("asked", file=asked, flush=True)
    try:
        connection.sendall(b"AR" + bytes(9))  # "go on"
        connection.recv(1 << 16)
    except OSError:
        pass
    connection.close()
"""


@contextmanager
def impostor(place: World, directory: Path, uid: int) -> Iterator[Callable[[], bool]]:
    """A process that lets everything pass, at the daemon's address; says whether it was asked."""
    notes = place.base / "asked"
    script = IMPOSTOR.format(limit=int(LIMIT), directory=str(directory), uid=uid, notes=str(notes))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield lambda: notes.read_text() != ""
        finally:
            process.kill()


def test_the_impostor_of_these_tests_is_believed_where_it_is_our_own_user(place: World) -> None:
    place.dir.mkdir(mode=0o700)
    with impostor(place, place.dir, 0) as was_asked:
        assert not place.ask("rm -rf build").blocks
        assert was_asked()


@only_root
def test_a_socket_of_another_user_in_our_directory_is_not_believed(place: World) -> None:
    place.dir.mkdir(mode=0o700)
    with impostor(place, place.dir, NOBODY):
        assert is_judged(place)


@only_root
def test_a_directory_of_another_user_is_not_entered(place: World) -> None:
    place.dir.mkdir(mode=0o700)
    with impostor(place, place.dir, NOBODY) as was_asked:
        os.chown(place.dir, NOBODY, NOBODY)
        assert is_judged(place)
        assert not was_asked()


def test_behind_a_link_to_an_impostor_nobody_is_asked(place: World) -> None:
    elsewhere = place.base / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    place.dir.symlink_to(elsewhere)
    with impostor(place, elsewhere, 0) as was_asked:
        assert is_judged(place)
        assert not was_asked()


# All at once


@pytest.mark.slow
def test_of_a_hundred_clients_on_a_cold_start_all_are_denied_and_one_daemon_stays(
    place: World,
) -> None:
    with ThreadPoolExecutor(100) as pool:
        said = [each.result() for each in [pool.submit(place.ask) for _ in range(100)]]
    assert all(each.blocks for each in said)
    assert not any(each.is_last for each in said)
    eventually(lambda: len(place.serving()) == 1, LIMIT)
    assert place.serving() == [place.daemon().pid]
    assert sum("started" in line for line in place.log.splitlines()) == 1, place.log
    # A client that had to try twice is there with both attempts.
    written = {session for session, *_ in place.rows()}
    assert written == {each.session for each in said}
    assert place.is_sound()
